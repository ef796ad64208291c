#include "mercer/threads.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace mercer {

namespace {

std::size_t this_thread() { return std::hash<std::thread::id>{}(std::this_thread::get_id()); }

int default_count() {
    for (const char* name : {"MERCER_NUM_THREADS", "OMP_NUM_THREADS"}) {
        if (const char* text = std::getenv(name)) {
            const int count = std::atoi(text);
            if (count > 0) return count;
        }
    }
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::atomic<int>& requested() {
    static std::atomic<int> count{default_count()};
    return count;
}

// One call of parallel(): workers and caller draw task numbers from a counter.
struct Run {
    Index count;
    Watch& watch;
    const std::function<void(Index)>& task;
    std::atomic<Index> next{0};
    std::mutex guard;
    std::exception_ptr error;
    bool only_cancelled = false;  // the error is no more than that

    void work() {
        for (Index at; (at = next.fetch_add(1, std::memory_order_relaxed)) < count;) {
            if (watch.cancelled() || !attempt([&] { task(at); })) return;
        }
    }
    // False if the task has thrown, which stops all others.
    template <class Piece>
    bool attempt(Piece piece) {
        try {
            piece();
            return true;
        } catch (const Cancelled&) {
            keep(true);
        } catch (...) {
            keep(false);
        }
        watch.cancel();
        return false;
    }
    // The first error wins, and over any Cancelled: it may have caused that elsewhere.
    void keep(bool cancelled) {
        const std::lock_guard lock(guard);
        if (error && (cancelled || !only_cancelled)) return;
        error = std::current_exception();
        only_cancelled = cancelled;
    }
};

// Waking a sleeping thread takes tens of microseconds, longer than many tasks; the next work often comes
// within that time. So a thread spins for a while before it sleeps. Returns whether it has seen what it waited for.
template <class Condition>
bool looked_for(Condition condition) {
    constexpr auto kPatience = std::chrono::microseconds(100);
    constexpr int kBetweenClocks = 32;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    do {
        for (int i = 0; i < kBetweenClocks; ++i) {
            if (condition()) return true;
#if defined(__x86_64__)
            __builtin_ia32_pause();
#endif
        }
    } while (std::chrono::steady_clock::now() < end);
    return false;
}

class Pool {
   public:
    explicit Pool(int workers) : wanted_(workers) {
        try {
            for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {
            // The system gives no more threads: fewer will do the work.
        }
    }
    ~Pool() {
        {
            const std::lock_guard lock(guard_);
            closing_ = true;
        }
        wake_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    int wanted() const { return wanted_; }

    void run(Run& work) {
        {
            const std::lock_guard lock(guard_);
            work_ = &work;
            ++round_;
        }
        wake_.notify_all();
        work.work();
        {
            // All tasks are taken: a worker that has not begun, since its processor is busy, is not waited for.
            const std::lock_guard lock(guard_);
            work_ = nullptr;
        }
        if (looked_for([this] { return busy_ == 0; })) return;
        // Only the calling thread checks whether to stop, so it checks while it waits, too.
        std::unique_lock lock(guard_);
        while (!done_.wait_for(lock, std::chrono::milliseconds(50), [this] { return busy_ == 0; })) {
            lock.unlock();
            work.attempt([&] { work.watch.look(); });
            lock.lock();
        }
    }

   private:
    void serve() {
        std::uint64_t seen = 0;
        for (;;) {
            Run* work = nullptr;
            looked_for([&] { return closing_ || round_ != seen; });
            {
                std::unique_lock lock(guard_);
                wake_.wait(lock, [&] { return closing_ || round_ != seen; });
                if (closing_) return;
                seen = round_;
                work = work_;
                if (work == nullptr) continue;
                ++busy_;
            }
            work->work();
            if (--busy_ == 0) {
                const std::lock_guard lock(guard_);  // so that the caller is not between its look and its sleep
                done_.notify_one();
            }
        }
    }

    int wanted_;
    std::mutex guard_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::vector<std::thread> threads_;
    Run* work_ = nullptr;  // while there may be tasks left
    std::atomic<std::uint64_t> round_{0};
    std::atomic<std::size_t> busy_{0};  // workers that have begun
    std::atomic<bool> closing_{false};
};

// The pool serves one caller at a time; a second caller, or a task that calls parallel() itself, works alone.
class Lender {
   public:
    Pool* borrow(int workers) {
        if (lent_.exchange(true, std::memory_order_acquire)) return nullptr;
        if (pool_ != nullptr && pool_->wanted() != workers) {
            delete pool_;
            pool_ = nullptr;
        }
        if (pool_ == nullptr) pool_ = new Pool(workers);
        return pool_;
    }
    void give_back() { lent_.store(false, std::memory_order_release); }
    // A forked child inherits the memory but not the threads: the parent's pool is dropped, never destroyed.
    void forget() {
        pool_ = nullptr;
        lent_.store(false, std::memory_order_release);
    }

   private:
    std::atomic<bool> lent_{false};
    Pool* pool_ = nullptr;  // leaked on purpose: joining the workers from a static destructor can hang
};

constinit Lender lender;
#if !defined(_WIN32)  // which has no fork
[[maybe_unused]] const int forgets_in_child = pthread_atfork(nullptr, nullptr, [] { lender.forget(); });
#endif

}  // namespace

Watch::Watch(std::function<bool()> interrupted)
    : interrupted_(std::move(interrupted)),
      next_(std::chrono::steady_clock::now() + std::chrono::milliseconds(50)),
      caller_(this_thread()) {}

void Watch::look() {
    if (cancelled()) throw Cancelled();
    if (!interrupted_ || this_thread() != caller_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::milliseconds(50);
    if (interrupted_()) {
        cancel();
        throw Cancelled();
    }
}

int thread_count() { return requested().load(std::memory_order_relaxed); }

void set_thread_count(int count) { requested().store(std::max(1, count), std::memory_order_relaxed); }

void parallel(Index count, Watch& watch, const std::function<void(Index)>& task) {
    Run run{count, watch, task, {}, {}, {}};
    const int workers = static_cast<int>(std::min<Index>(thread_count(), count)) - 1;
    Pool* pool = workers > 0 ? lender.borrow(thread_count() - 1) : nullptr;
    if (pool == nullptr) {
        run.work();
    } else {
        pool->run(run);
        lender.give_back();
    }
    if (run.error) std::rethrow_exception(run.error);
    if (watch.cancelled()) throw Cancelled();
}

}  // namespace mercer
