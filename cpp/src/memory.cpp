#include "mercer/memory.hpp"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

namespace mercer {

namespace {

Index number_in(const std::string& path) {
    std::ifstream file(path);
    Index value = kNoLimit;
    return file >> value ? value : kNoLimit;  // "max" is not a number: no limit
}

// The number beside a key in a file of "key number …" lines; `missing` where there is none.
Index number_of(const std::string& path, std::string_view key, Index missing) {
    std::ifstream file(path);
    std::string rest;
    for (std::string found; file >> found; std::getline(file, rest)) {
        Index value = 0;
        if (found == key && file >> value) return value;
    }
    return missing;
}

Index left_of(Index limit, Index used) { return limit == kNoLimit ? kNoLimit : std::max<Index>(limit - used, 0); }

// Whether a list with commas holds a word.
bool is_listed(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(','), list.size());
        if (list.substr(0, end) == word) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

// The files of one version of control groups.
struct GroupFiles {
    const char* mount;
    const char* limit;
    const char* soft_limit;  // beyond it the kernel slows the process down; or none
    const char* used;
    const char* cached;  // the key of memory.stat for pages of files that were not used lately
};
constexpr GroupFiles kUnified{"/sys/fs/cgroup", "/memory.max", "/memory.high", "/memory.current", "inactive_file"};
constexpr GroupFiles kHybrid{"/sys/fs/cgroup/unified", "/memory.max", "/memory.high", "/memory.current",
                             "inactive_file"};
constexpr GroupFiles kFirst{"/sys/fs/cgroup/memory", "/memory.limit_in_bytes", nullptr, "/memory.usage_in_bytes",
                            "total_inactive_file"};
// How the first version says that there is no limit: this, rounded down to a page.
constexpr Index kBeyond = kNoLimit - (Index{1} << 20);

// A directory that says how much one group may use.
struct Group {
    std::string path;
    const GroupFiles& files;

    Index limit() const {
        const Index soft = files.soft_limit != nullptr ? number_in(path + files.soft_limit) : kNoLimit;
        const Index least = std::min(soft, number_in(path + files.limit));
        return least < kBeyond ? least : kNoLimit;
    }
    Index left() const {
        const Index used = number_in(path + files.used);
        if (used == kNoLimit) return kNoLimit;
        return left_of(limit(), used - number_of(path + "/memory.stat", files.cached, 0));
    }
};

// Adds a group and those above it, as far as they have a limit. In a container the files of its own group may be at the
// mount itself.
void add_up_from(const std::string& root, const GroupFiles& files, std::string name, std::vector<Group>& groups) {
    for (;;) {
        Group group{root + files.mount + name, files};
        if (group.limit() != kNoLimit) groups.push_back(std::move(group));
        if (name.empty()) return;
        name.erase(name.rfind('/'));
    }
}

std::vector<Group> groups_of_process(const std::string& root) {
    std::ifstream file(root + "/proc/self/cgroup");
    std::vector<Group> groups;
    for (std::string line; std::getline(file, line);) {  // id:controllers:path
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
        std::string name = line.substr(second + 1);
        if (name.empty() || name.front() != '/') continue;
        if (name == "/") name.clear();
        if (controllers.empty()) {
            add_up_from(root, kUnified, name, groups);
            add_up_from(root, kHybrid, name, groups);
        } else if (is_listed(controllers, "memory")) {
            add_up_from(root, kFirst, name, groups);
        }
    }
    return groups;
}

Index least_of(const std::vector<Group>& groups) {
    Index least = kNoLimit;
    for (const Group& group : groups) least = std::min(least, group.left());
    return least;
}

}  // namespace

Index machine_available(const std::string& root) {
    const Index kilobytes = number_of(root + "/proc/meminfo", "MemAvailable:", kNoLimit);
    if (kilobytes != kNoLimit) return kilobytes * 1024;
#if defined(_WIN32)
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof status;
    return GlobalMemoryStatusEx(&status) ? static_cast<Index>(status.ullAvailPhys) : kNoLimit;
#else
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? static_cast<Index>(pages) * page : kNoLimit;
#endif
}

Index group_available(const std::string& root) { return least_of(groups_of_process(root)); }

Index process_available() {
#if defined(__linux__)
    const auto limit_of = [](auto resource) {
        rlimit limit{};
        const bool is_set = getrlimit(resource, &limit) == 0 && limit.rlim_cur < static_cast<rlim_t>(kNoLimit);
        return is_set ? static_cast<Index>(limit.rlim_cur) : kNoLimit;
    };
    const Index space = limit_of(RLIMIT_AS);
    const Index data = limit_of(RLIMIT_DATA);
    if (space == kNoLimit && data == kNoLimit) return kNoLimit;
    // size resident shared text lib data dt, in pages
    std::ifstream file("/proc/self/statm");
    Index mapped = 0, resident = 0, shared = 0, text = 0, unused = 0, written = 0;
    if (!(file >> mapped >> resident >> shared >> text >> unused >> written)) return kNoLimit;
    const Index page = sysconf(_SC_PAGESIZE);
    return std::min(left_of(space, mapped * page), left_of(data, written * page));
#else
    return kNoLimit;
#endif
}

Index available_memory() {
    // Limits may change while a process runs. Which groups have one hardly ever does, and is found out once: this is
    // asked several times in every fit.
    static const std::vector<Group> groups = groups_of_process("");
    return std::min({machine_available(), least_of(groups), process_available()});
}

}  // namespace mercer
