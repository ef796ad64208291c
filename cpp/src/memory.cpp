#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "mercer/basis.hpp"

namespace mercer {

namespace {

constexpr Index kNoLimit = std::numeric_limits<Index>::max();

Index number_in(const char* path) {
    std::ifstream file(path);
    Index value = kNoLimit;
    return file >> value ? value : kNoLimit;  // "max" is not a number: no limit
}

Index system_available() {
    std::ifstream file("/proc/meminfo");
    for (std::string key, unit; file >> key;) {
        Index value = 0;
        file >> value;
        std::getline(file, unit);
        if (key == "MemAvailable:") return value * 1024;
    }
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<Index>(pages) * page : kNoLimit;
}

Index group_available() {
    const Index limit = number_in("/sys/fs/cgroup/memory.max");
    const Index used = number_in("/sys/fs/cgroup/memory.current");
    return limit == kNoLimit || used == kNoLimit ? kNoLimit : std::max<Index>(limit - used, 0);
}

}  // namespace

Index available_memory() { return std::min(system_available(), group_available()); }

}  // namespace mercer
