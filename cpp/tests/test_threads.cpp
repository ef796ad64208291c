// The pool: every task once, errors to the caller, stopping, nesting, forking.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "check.hpp"
#include "mercer/threads.hpp"

using mercer::Index;
using mercer::parallel;
using mercer::Watch;

namespace {

struct Threads {  // a thread count for one test
    explicit Threads(int count) : before(mercer::thread_count()) { mercer::set_thread_count(count); }
    ~Threads() { mercer::set_thread_count(before); }
    int before;
};

bool runs_each_once(Index count) {
    std::vector<std::atomic<int>> runs(static_cast<std::size_t>(count));
    Watch watch;
    parallel(count, watch, [&](Index at) { runs[static_cast<std::size_t>(at)].fetch_add(1); });
    return std::all_of(runs.begin(), runs.end(), [](const std::atomic<int>& n) { return n.load() == 1; });
}

std::string message_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const std::exception& error) {
        return error.what();
    }
    return "";
}

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The thread sanitizer does not follow threads that a forked child starts, and qemu cannot fork beside threads.
#if defined(__SANITIZE_THREAD__) || defined(MERCER_EMULATED)
#define MERCER_NO_FORK
#endif

#ifndef MERCER_NO_FORK
// Runs `body` in a forked child; its exit code, or -1 if it did not end within a minute.
int exit_code_of_child(const std::function<int()>& body) {
    const pid_t child = fork();
    if (child == 0) {
        int code = 99;
        try {
            code = body();
        } catch (...) {
        }
        _exit(code);
    }
    for (int tries = 0; tries < 6000; ++tries) {
        int status = 0;
        if (waitpid(child, &status, WNOHANG) == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -2;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return -1;
}
#endif

// A signal that keeps the thread which receives it until something is written to the pipe.
int held[2];
std::atomic<bool> is_held{false};

void hold(int) {
    is_held = true;
    char released = 0;
    while (read(held[0], &released, 1) < 0) {
    }
}

}  // namespace

TEST("Every task runs exactly once, for any number of tasks and threads") {
    for (const int threads : {1, 2, 3, 5, 16}) {
        const Threads set(threads);
        CHECK_EQUAL(mercer::thread_count(), threads);
        for (const Index count : {0, 1, 2, 3, 7, 64, 1000}) CHECK(runs_each_once(count));
    }
}

TEST("A thread count below one means one") {
    const Threads set(0);
    CHECK_EQUAL(mercer::thread_count(), 1);
    mercer::set_thread_count(-3);
    CHECK_EQUAL(mercer::thread_count(), 1);
}

TEST("One thread runs on the caller, in order") {
    const Threads set(1);
    std::vector<Index> order;
    Watch watch;
    const auto caller = std::this_thread::get_id();
    bool elsewhere = false;
    parallel(20, watch, [&](Index at) {
        order.push_back(at);
        elsewhere = elsewhere || std::this_thread::get_id() != caller;
    });
    CHECK(!elsewhere);
    for (std::size_t at = 0; at < order.size(); ++at) CHECK_EQUAL(order[at], static_cast<Index>(at));
}

TEST("A worker that gets no processor is not waited for") {
    const Threads set(2);
    CHECK_EQUAL(pipe(held), 0);
    struct sigaction holding = {}, before = {};
    holding.sa_handler = hold;
    CHECK_EQUAL(sigaction(SIGUSR1, &holding, &before), 0);
    const pthread_t caller = pthread_self();
    std::atomic<bool> is_known{false};
    pthread_t worker{};
    Watch watch;
    parallel(2, watch, [&](Index) {  // both threads have one of the tasks
        if (!pthread_equal(pthread_self(), caller)) {
            worker = pthread_self();
            is_known = true;
        }
        while (!is_known) std::this_thread::yield();
    });
    CHECK_EQUAL(pthread_kill(worker, SIGUSR1), 0);
    while (!is_held) std::this_thread::yield();
    CHECK(runs_each_once(100));
    CHECK_EQUAL(write(held[1], "x", 1), 1);
    CHECK(runs_each_once(100));
    CHECK_EQUAL(sigaction(SIGUSR1, &before, nullptr), 0);
    close(held[0]);
    close(held[1]);
}

TEST("Several threads take part") {
    const Threads set(2);
    std::atomic<int> inside{0};
    std::atomic<bool> met{false};
    Watch watch;
    parallel(2, watch, [&](Index) {
        ++inside;
        const auto start = std::chrono::steady_clock::now();
        while (inside.load() < 2 && seconds_since(start) < 20) std::this_thread::yield();
        if (inside.load() == 2) met = true;
    });
    CHECK(met.load());
}

TEST("What a task wrote is seen by the caller") {
    const Threads set(3);
    std::vector<Index> out(10000);
    for (int round = 0; round < 50; ++round) {
        Watch watch;
        parallel(100, watch, [&](Index at) { std::fill_n(out.begin() + at * 100, 100, at + round); });
        CHECK_EQUAL(std::accumulate(out.begin(), out.end(), Index{0}), 495000 + 10000 * round);
    }
}

TEST("An exception reaches the caller, later tasks do not start, and the pool lives on") {
    for (const int threads : {1, 2, 5}) {
        const Threads set(threads);
        std::atomic<int> begun{0};
        Watch watch;
        CHECK_EQUAL(message_of([&] {
                        parallel(100000, watch, [&](Index at) {
                            ++begun;
                            if (at == 3) throw std::runtime_error("task three");
                        });
                    }),
                    "task three");
        CHECK(begun.load() < 100000);
        CHECK(runs_each_once(100));
    }
}

TEST("The first error wins over the cancellations that it causes") {
    const Threads set(4);
    for (int round = 0; round < 50; ++round) {
        Watch watch;
        std::atomic<int> inside{0};
        CHECK_EQUAL(message_of([&] {
                        parallel(4, watch, [&](Index at) {
                            ++inside;
                            const auto start = std::chrono::steady_clock::now();
                            if (at == 2) {
                                while (inside.load() < 2 && seconds_since(start) < 20) std::this_thread::yield();
                                throw std::runtime_error("the cause");
                            }
                            while (seconds_since(start) < 20) watch.look();
                        });
                    }),
                    "the cause");
    }
}

TEST("An error of a nested call wins over the cancellations that it causes outside") {
    const Threads set(4);
    for (int round = 0; round < 50; ++round) {
        Watch watch;
        std::atomic<int> inside{0};
        CHECK_EQUAL(message_of([&] {
                        parallel(4, watch, [&](Index at) {
                            ++inside;
                            const auto start = std::chrono::steady_clock::now();
                            if (at != 2) {
                                while (seconds_since(start) < 20) watch.look();
                                return;
                            }
                            while (inside.load() < 4 && seconds_since(start) < 20) std::this_thread::yield();
                            try {
                                parallel(3, watch, [&](Index) { throw std::runtime_error("the cause"); });
                            } catch (...) {
                                std::this_thread::sleep_for(std::chrono::milliseconds(2));  // the others notice first
                                throw;
                            }
                        });
                    }),
                    "the cause");
    }
}

TEST("A task may call parallel itself") {
    for (const int threads : {1, 3}) {
        const Threads set(threads);
        std::atomic<int> runs{0};
        Watch watch;
        parallel(8, watch,
                 [&](Index) { parallel(8, watch, [&](Index) { parallel(4, watch, [&](Index) { ++runs; }); }); });
        CHECK_EQUAL(runs.load(), 256);
    }
}

TEST("Two threads may call parallel at once, with other threads changing the count") {
    const Threads set(3);
    std::atomic<int> wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 3; ++caller) {
        callers.emplace_back([&] {
            for (int round = 0; round < 200; ++round) wrong += !runs_each_once(37);
        });
    }
    for (int round = 0; round < 100; ++round) mercer::set_thread_count(1 + round % 4);
    for (std::thread& caller : callers) caller.join();
    CHECK_EQUAL(wrong.load(), 0);
}

TEST("A cancelled watch stops the work, before it starts and while it runs") {
    for (const int threads : {1, 3}) {
        const Threads set(threads);
        Watch before;
        before.cancel();
        std::atomic<int> runs{0};
        CHECK_THROWS(parallel(10, before, [&](Index) { ++runs; }), mercer::Cancelled);
        CHECK_EQUAL(runs.load(), 0);
        CHECK_THROWS(before.look(), mercer::Cancelled);

        Watch watch;
        CHECK_THROWS(parallel(100000, watch,
                              [&](Index at) {
                                  ++runs;
                                  if (at == 5) watch.cancel();
                                  watch.look();
                              }),
                     mercer::Cancelled);
        CHECK(runs.load() < 100000);
    }
}

TEST("A watch asks its caller's thread, soon but not at once") {
    for (const int threads : {1, 2}) {
        const Threads set(threads);
        const auto caller = std::this_thread::get_id();
        std::atomic<bool> elsewhere{false};
        int asked = 0;
        Watch watch([&] {
            if (std::this_thread::get_id() != caller) elsewhere = true;
            return ++asked == 2;
        });
        watch.look();
        CHECK_EQUAL(asked, 0);
        const auto start = std::chrono::steady_clock::now();
        CHECK_THROWS(parallel(1 << 30, watch, [&](Index) { watch.look(); }), mercer::Cancelled);
        CHECK_EQUAL(asked, 2);
        CHECK(!elsewhere.load());
        CHECK(seconds_since(start) < 5.0);
        CHECK(watch.cancelled());
    }
}

TEST("A watch is asked while its caller waits for the last task of a worker") {
    const Threads set(2);
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> worker_began{false};
    Watch watch([] { return true; });
    const auto start = std::chrono::steady_clock::now();
    CHECK_THROWS(parallel(2, watch,
                          [&](Index) {
                              if (std::this_thread::get_id() ==
                                  caller) {  // ends at once, as soon as the worker has the other task
                                  while (!worker_began.load() && seconds_since(start) < 10) std::this_thread::yield();
                                  return;
                              }
                              worker_began = true;
                              while (seconds_since(start) < 10) watch.look();
                          }),
                 mercer::Cancelled);
    CHECK(seconds_since(start) < 5.0);
}

#ifndef MERCER_NO_FORK
TEST("The pool works in a forked child, also one forked from a task") {
    const Threads set(3);
    CHECK(runs_each_once(100));  // the parent's pool exists
    CHECK_EQUAL(exit_code_of_child([] { return runs_each_once(100) && runs_each_once(1000) ? 7 : 1; }), 7);
    CHECK(runs_each_once(100));
    std::atomic<int> code{0};
    Watch watch;
    parallel(2, watch, [&](Index at) {
        if (at == 0) code = exit_code_of_child([] { return runs_each_once(100) ? 8 : 1; });
    });
    CHECK_EQUAL(code.load(), 8);
    CHECK_EQUAL(exit_code_of_child([] {  // two threads of the child ask for the pool at once
                    std::atomic<int> good{0};
                    std::vector<std::thread> callers;
                    for (int caller = 0; caller < 4; ++caller)
                        callers.emplace_back([&] { good += runs_each_once(200); });
                    for (std::thread& caller : callers) caller.join();
                    return good.load();
                }),
                4);
}
#endif
