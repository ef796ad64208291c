// What memory there is: made directory trees for the machine and the control groups, real limits for the process.
#include "mercer/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "check.hpp"

namespace {

using mercer::Index;
using mercer::kNoLimit;

constexpr Index kGiga = Index{1} << 30;

// A directory in place of the root of the file system, until it goes out of scope.
class Root {
   public:
    Root() {
        static int count = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("mercer-memory-" + std::to_string(getpid()) + "-" + std::to_string(count++));
        std::filesystem::create_directories(path_);
    }
    Root(const Root&) = delete;
    Root& operator=(const Root&) = delete;
    ~Root() { std::filesystem::remove_all(path_); }

    Root& file(const std::string& name, const std::string& text) {
        const std::filesystem::path path = path_.string() + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
        return *this;
    }
    Root& file(const std::string& name, Index number) { return file(name, std::to_string(number) + "\n"); }
    // A group of version 2.
    Root& group(const std::string& name, const std::string& most, Index used) {
        return file("/sys/fs/cgroup" + name + "/memory.max", most)
            .file("/sys/fs/cgroup" + name + "/memory.current", used);
    }
    std::string text() const { return path_.string(); }

   private:
    std::filesystem::path path_;
};

// A limit of the process at so many bytes above what it uses, until it goes out of scope.
class Limited {
   public:
    Limited(decltype(RLIMIT_AS) resource, Index most) : resource_(resource) {
        getrlimit(resource_, &before_);
        rlimit limit = before_;
        limit.rlim_cur = static_cast<rlim_t>(most);
        setrlimit(resource_, &limit);
    }
    Limited(const Limited&) = delete;
    Limited& operator=(const Limited&) = delete;
    ~Limited() { setrlimit(resource_, &before_); }

   private:
    decltype(RLIMIT_AS) resource_;
    rlimit before_{};
};

[[maybe_unused]] Index pages(int column) {
    std::ifstream file("/proc/self/statm");
    Index value = 0;
    for (int at = 0; at <= column; ++at) file >> value;
    return value * sysconf(_SC_PAGESIZE);
}

}  // namespace

TEST("There is memory, and not more than a machine has") {
    CHECK(mercer::available_memory() > (Index{1} << 20));
    CHECK(mercer::available_memory() < (Index{1} << 50));
}

TEST("The machine has what its kernel calls available") {
    Root root;
    root.file("/proc/meminfo",
              "MemTotal:       16000000 kB\nMemFree:  1 kB\nMemAvailable:    8000000 kB\nBuffers: 5 kB\n");
    CHECK_EQUAL(mercer::machine_available(root.text()), Index{8000000} * 1024);
    CHECK(mercer::machine_available(Root().text()) > (Index{1} << 20));  // no such file: all of it
}

TEST("Without control groups, or without limits in them, there is no limit") {
    CHECK_EQUAL(mercer::group_available(Root().text()), kNoLimit);
    Root root;
    root.file("/proc/self/cgroup", "0::/user.slice/a.scope\n").group("/user.slice/a.scope", "max\n", kGiga);
    CHECK_EQUAL(mercer::group_available(root.text()), kNoLimit);
    Root odd;
    odd.file("/proc/self/cgroup", "\nnonsense\n0:\n0::\n0::relative\n").group("", "5\n", 1);
    CHECK_EQUAL(mercer::group_available(odd.text()), kNoLimit);
}

TEST("The limit of a group is seen, and that of every group above it") {
    Root own;
    own.file("/proc/self/cgroup", "0::/a/b/c\n").group("/a/b/c", std::to_string(4 * kGiga), kGiga);
    CHECK_EQUAL(mercer::group_available(own.text()), 3 * kGiga);
    own.group("/a/b", "max\n", 7 * kGiga).group("/a", std::to_string(9 * kGiga), 7 * kGiga);
    CHECK_EQUAL(mercer::group_available(own.text()), 2 * kGiga);
    own.group("/a/other", "1\n", 1);  // not above this process
    CHECK_EQUAL(mercer::group_available(own.text()), 2 * kGiga);
    own.group("/a/b", std::to_string(kGiga), 7 * kGiga);  // the limit was lowered below what is used
    CHECK_EQUAL(mercer::group_available(own.text()), 0);
}

TEST("A container sees the limit of its own group at the mount") {
    Root named;
    named.file("/proc/self/cgroup", "0::/\n").group("", std::to_string(2 * kGiga), kGiga);
    CHECK_EQUAL(mercer::group_available(named.text()), kGiga);
    Root host;  // the path is the host's, which is not mounted
    host.file("/proc/self/cgroup", "0::/docker/0123\n").group("", std::to_string(2 * kGiga), kGiga);
    CHECK_EQUAL(mercer::group_available(host.text()), kGiga);
}

TEST("What slows the process down is a limit too") {
    Root root;
    root.file("/proc/self/cgroup", "0::/a\n").group("/a", std::to_string(8 * kGiga), kGiga);
    root.file("/sys/fs/cgroup/a/memory.high", 3 * kGiga);
    CHECK_EQUAL(mercer::group_available(root.text()), 2 * kGiga);
}

TEST("Pages of files that nobody uses count as free") {
    Root root;
    root.file("/proc/self/cgroup", "0::/a\n").group("/a", std::to_string(4 * kGiga), 3 * kGiga);
    root.file("/sys/fs/cgroup/a/memory.stat", "anon 5\ninactive_file " + std::to_string(2 * kGiga) + "\nfile 7\n");
    CHECK_EQUAL(mercer::group_available(root.text()), 3 * kGiga);
}

TEST("Groups of the first version are seen as well") {
    Root root;
    root.file("/proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/0123\n1:name=systemd:/y\n0::/z\n");
    root.file("/sys/fs/cgroup/memory/memory.limit_in_bytes", Index{9223372036854771712});  // how it says "none"
    root.file("/sys/fs/cgroup/memory/memory.usage_in_bytes", kGiga);
    CHECK_EQUAL(mercer::group_available(root.text()), kNoLimit);
    root.file("/sys/fs/cgroup/memory/docker/0123/memory.limit_in_bytes", 4 * kGiga);
    root.file("/sys/fs/cgroup/memory/docker/0123/memory.usage_in_bytes", 3 * kGiga);
    root.file("/sys/fs/cgroup/memory/docker/0123/memory.stat", "total_inactive_file " + std::to_string(kGiga) + "\n");
    CHECK_EQUAL(mercer::group_available(root.text()), 2 * kGiga);
}

#if defined(__linux__) && !defined(MERCER_EMULATED)  // qemu passes no limits on
TEST("The address space and the data of the process have limits of their own") {
    CHECK_EQUAL(mercer::process_available(), kNoLimit);
    {
        const Limited space(RLIMIT_AS, pages(0) + kGiga);
        CHECK_NEAR(mercer::process_available(), kGiga, double(kGiga >> 4));
        CHECK(mercer::available_memory() <= mercer::process_available());
        const Limited data(RLIMIT_DATA, pages(5) + kGiga / 2);
        CHECK_NEAR(mercer::process_available(), kGiga / 2, double(kGiga >> 4));
    }
    CHECK_EQUAL(mercer::process_available(), kNoLimit);
    const Limited passed(RLIMIT_DATA, 1);
    CHECK_EQUAL(mercer::process_available(), 0);
}
#endif
