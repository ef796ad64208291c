// A small pool of our own: no runtime to ship, works after fork, and the same answer for any number of threads
// because work is divided by its size alone (never by the number of threads).
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "mercer/view.hpp"

namespace mercer {

// Thrown inside a task when the caller asked to stop.
struct Cancelled : std::runtime_error {
    Cancelled() : std::runtime_error("cancelled") {}
};

// Long work checks this between blocks: has the caller (Ctrl-C, a budget) asked to stop?
class Watch {
   public:
    // `interrupted` is called on the calling thread only, at most every 50 ms; true stops the work.
    explicit Watch(std::function<bool()> interrupted = {});

    void look();  // throws Cancelled
    void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
    bool cancelled() const { return cancelled_.load(std::memory_order_relaxed); }

   private:
    std::function<bool()> interrupted_;
    std::atomic<bool> cancelled_{false};
    std::chrono::steady_clock::time_point next_;
    std::size_t caller_;
};

int thread_count();
void set_thread_count(int count);

// Runs task(0) … task(count - 1), each once, on the caller and the pool's workers. The first exception is rethrown
// on the caller after all have stopped.
void parallel(Index count, Watch& watch, const std::function<void(Index)>& task);

}  // namespace mercer
