// A cache of rows of K against one range of columns, filled until its budget is used up.
#pragma once

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "mercer/view.hpp"

namespace mercer {

// Several threads may find rows and keep new ones; evicting rows is for a cache with a single user.
template <class T>
class RowCache {
   public:
    RowCache(Index rows, Index columns, Index bytes)
        : columns_(columns),
          capacity_(std::min(rows, bytes / std::max<Index>(columns * static_cast<Index>(sizeof(T)), 1))),
          at_(static_cast<std::size_t>(rows)),
          used_(static_cast<std::size_t>(rows), 0) {}

    const T* find(Index row) const { return at_[static_cast<std::size_t>(row)].load(std::memory_order_acquire); }
    void touch(Index row, std::int32_t now) { used_[static_cast<std::size_t>(row)] = now; }

    // Memory for a row that is about to be made; none when the budget is used up.
    T* claim() {
        const std::lock_guard lock(guard_);
        if (free_.empty() && !grow()) return nullptr;
        T* found = free_.back();
        free_.pop_back();
        return found;
    }
    // False if another thread has kept the same row first.
    bool keep(Index row, T* made) {
        T* nothing = nullptr;
        if (at_[static_cast<std::size_t>(row)].compare_exchange_strong(nothing, made, std::memory_order_acq_rel))
            return true;
        const std::lock_guard lock(guard_);
        free_.push_back(made);
        return false;
    }
    // Evicts the rows last touched before `then`. For a single user only.
    void forget_before(std::int32_t then) {
        for (std::size_t row = 0; row < at_.size(); ++row) {
            if (used_[row] >= then) continue;
            T* kept = at_[row].exchange(nullptr, std::memory_order_relaxed);
            if (kept != nullptr) free_.push_back(kept);
        }
    }

   private:
    // Memory comes in pieces of a few megabytes, in huge pages where the system has them: first touch is expensive.
    static constexpr Index kPiece = Index{8} << 20;
    static constexpr std::size_t kAlign = std::size_t{2} << 20;

    struct Free {
        std::align_val_t align;
        void operator()(T* p) const { ::operator delete(static_cast<void*>(p), align); }
    };

    bool grow() {
        const Index row_bytes = columns_ * static_cast<Index>(sizeof(T));
        const Index rows = std::min(capacity_ - made_, std::max<Index>(kPiece / std::max<Index>(row_bytes, 1), 1));
        if (rows <= 0) return false;
        const std::size_t asked = static_cast<std::size_t>(std::max<Index>(rows * row_bytes, 1));
        const std::size_t align = asked >= kAlign ? kAlign : 64;
        const std::size_t bytes = (asked + align - 1) / align * align;
        T* piece = static_cast<T*>(::operator new(bytes, std::align_val_t{align}, std::nothrow));
        if (piece == nullptr) return false;  // what cannot be kept is recomputed
#if defined(__linux__)
        if (align == kAlign) madvise(piece, bytes, MADV_HUGEPAGE);
#endif
        pieces_.emplace_back(piece, Free{std::align_val_t{align}});
        for (Index r = rows - 1; r >= 0; --r) free_.push_back(piece + r * columns_);
        made_ += rows;
        return true;
    }

    Index columns_;
    Index capacity_;
    Index made_ = 0;
    std::mutex guard_;
    std::vector<std::atomic<T*>> at_;
    std::vector<std::int32_t> used_;
    std::vector<T*> free_;
    std::vector<std::unique_ptr<T[], Free>> pieces_;
};

}  // namespace mercer
