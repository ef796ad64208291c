// TopK: the best of every row.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "mercer/heap.hpp"
#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

// The k best of every row, best first; of equal values the smaller index is better.
template <class T>
class TopKDrink {
   public:
    // For the rows from i0 on.
    TopKDrink(const Walk& walk, const TopK& job, Walker<T>& walker, bool may_search, Index i0)
        : walk_(walk),
          job_(job),
          walker_(walker),
          heaps_(kBlockRows),
          limits_(kBlockRows),
          searches_(may_search && walker.has_keys() && !job.largest) {
        std::fill_n(limits_.data(), kBlockRows, std::numeric_limits<T>::max());
        std::fill_n(limits_.data(), std::min<Index>(kBlockRows, walk.left.n - i0), -std::numeric_limits<T>::infinity());
    }

    void strip(int strip, Index j) {
        const Index columns = std::min<Index>(kStripCols<T>, walk_.right.n - j);
        if (searches_) {
            search(strip, j, columns);
            return;
        }
        const T* tile = walker_.fold(strip, j);
        for (Index r = 0; r < walker_.rows_of(strip); ++r) {
            std::vector<Hit<T>>& heap = heap_of(strip, r);
            const T* row = tile + r * kStripCols<T>;
            const bool full = static_cast<Index>(heap.size()) == job_.k;
            // Most rows of most strips hold nothing better: one branch for all of their numbers.
            if (full && columns == kStripCols<T> && !any_passes(row, heap.front().value)) continue;
            for (Index c = 0; c < columns; c += kWidth<T>) {
                if (full && !any<T>(passes(load<T>(row + c), heap.front().value))) continue;
                for (Index lane = c; lane < std::min<Index>(c + kWidth<T>, columns); ++lane)
                    offer(heap, Hit<T>{row[lane], j + lane}, walker_.first_row() + strip * kStripRows + r);
            }
        }
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}
    void finish() {
        for (Index r = 0; r < std::min<Index>(kBlockRows, walk_.left.n - walker_.first_row()); ++r) {
            std::vector<Hit<T>>& heap = heaps_[static_cast<std::size_t>(r)];
            std::sort_heap(heap.begin(), heap.end(), better());
            const Index at = (walker_.first_row() + r) * job_.k;
            for (std::size_t h = 0; h < heap.size(); ++h) {
                job_.values[at + static_cast<Index>(h)] = static_cast<double>(heap[h].value);
                job_.indices[at + static_cast<Index>(h)] = heap[h].index;
            }
            heap.clear();
        }
    }

   private:
    // The strip of a search for the smallest keys: most panels hold none that is small enough, and are not stored.
    void search(int strip, Index j, Index columns) {
        T* limits = limits_.data() + strip * kStripRows;
        const Index rows = walker_.rows_of(strip);
        walker_.each_beyond(strip, j, limits, [&](int first, int column, const T* panel) {
            for (Index r = first; r < std::min<Index>(first + kPanelRows, rows); ++r, panel += kStripCols<T>)
                take(strip, r, j + column, panel, columns - column, limits[r]);
        });
    }
    // A row of such a panel. Hits are few: a bit for each, where a branch for each lane would often be guessed wrong.
    void take(int strip, Index r, Index first, const T* values, Index columns, T& limit) {
        const V<T> least = fill<T>(limit);
        unsigned hits = bits_of<T>(~(load<T>(values) < least));
        hits |= bits_of<T>(~(load<T>(values + kWidth<T>) < least)) << kWidth<T>;
        for (; hits != 0; hits &= hits - 1) {
            const Index lane = std::countr_zero(hits);
            if (lane >= columns) return;
            const T key = walker_.key_start(strip, r) - 2 * values[lane];
            offer(heap_of(strip, r), Hit<T>{key, first + lane}, walker_.first_row() + strip * kStripRows + r);
            limit = limit_of(strip, r);
        }
    }
    // The nearness v from which on a key may be below the worst one kept: r(x) - 2 v < worst, rounded or not, and
    // rounding keeps an order.
    T limit_of(int strip, Index r) {
        const std::vector<Hit<T>>& heap = heap_of(strip, r);
        if (static_cast<Index>(heap.size()) < job_.k) return -std::numeric_limits<T>::infinity();
        return (walker_.key_start(strip, r) - heap.front().value) / 2;
    }
    std::vector<Hit<T>>& heap_of(int strip, Index r) {
        return heaps_[static_cast<std::size_t>(strip * kStripRows + r)];
    }

    auto better() const {
        return [largest = job_.largest](const Hit<T>& a, const Hit<T>& b) {
            const bool is_better = largest ? a.value > b.value : a.value < b.value;
            return is_better | ((a.value == b.value) & (a.index < b.index));
        };
    }
    // Those that are not finite pass too: they are refused, not ignored.
    VI<T> passes(V<T> values, T worst) const {
        const VI<T> finite = absolute<T>(values) <= std::numeric_limits<T>::max();
        return ~finite | (job_.largest ? values > worst : values < worst);
    }
    // Whether some number of a row of a strip passes.
    bool any_passes(const T* row, T worst) const {
        return job_.largest ? any_passes<true>(row, worst) : any_passes<false>(row, worst);
    }
    template <bool Largest>
    static bool any_passes(const T* row, T worst) {
        const V<T> most = fill<T>(std::numeric_limits<T>::max());
        const V<T> low = Largest ? -most : fill<T>(worst);
        const V<T> high = Largest ? fill<T>(worst) : most;
        VI<T> fails = (load<T>(row) >= low) & (load<T>(row) <= high);
        MERCER_UNROLL
        for (int c = kWidth<T>; c < kStripCols<T>; c += kWidth<T>)
            fails &= (load<T>(row + c) >= low) & (load<T>(row + c) <= high);
        return any<T>(~fails);
    }
    void offer(std::vector<Hit<T>>& heap, Hit<T> hit, Index row) const {
        if (!std::isfinite(hit.value)) refuse_not_finite<T>(walk_, row);
        MERCER_ISA::offer(heap, job_.k, hit, better());
    }

    const Walk& walk_;
    const TopK& job_;
    Walker<T>& walker_;
    std::vector<std::vector<Hit<T>>> heaps_;
    // Of every row as `limit_of` has it, which would fetch as many heaps for every strip; of rows that are not there,
    // one that nothing passes.
    Buffer<T> limits_;
    bool searches_;
};

// Whether no key r(x) + r(z) - 2 <x, z> can overflow, r being squared norms; a search looks for no infinite key.
template <class T>
bool has_finite_keys(const Walk& walk) {
    constexpr double kMost = std::numeric_limits<T>::max() / 16;
    const auto all_small = [](const Side& side) {
        return std::all_of(side.rows.begin(), side.rows.end(), [&](const double* values) {
            return std::all_of(values, values + side.n, [](double x) { return std::abs(x) <= kMost; });
        });
    };
    return all_small(walk.left) && all_small(walk.right);
}

template <class T>
void run_topk(const Walk& walk, const TopK& job) {
    const bool may_search = has_finite_keys<T>(walk);
    parallel(blocks_of(walk.left.n), walk.watch, [&](Index block) {
        Walker<T> walker(walk);
        const Index i0 = block * kBlockRows;
        TopKDrink<T> drink(walk, job, walker, may_search, i0);
        sweep<T>(walker, walk, i0, std::min(i0 + kBlockRows, walk.left.n), 0, walk.right.n, drink);
        drink.finish();
    });
}

}  // namespace mercer::MERCER_ISA
