// TopK: the best of every row.
#pragma once

#include <algorithm>
#include <vector>

#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

// The k best of every row, best first; of equal values the smaller index is better.
template <class T>
class TopKDrink {
   public:
    TopKDrink(const Walk& walk, const TopK& job, Walker<T>& walker)
        : walk_(walk), job_(job), walker_(walker), heaps_(kBlockRows) {}

    void strip(int strip, Index j) {
        const T* tile = walker_.fold(strip, j);
        const Index columns = std::min<Index>(kStripCols<T>, walk_.right.n - j);
        for (Index r = 0; r < walker_.rows_of(strip); ++r) {
            std::vector<Hit>& heap = heaps_[static_cast<std::size_t>(strip * kStripRows + r)];
            const T* row = tile + r * kStripCols<T>;
            const bool full = static_cast<Index>(heap.size()) == job_.k;
            // Most rows of most strips hold nothing better: one branch for all of their numbers.
            if (full && columns == kStripCols<T> && !any_passes(row, heap.front().value)) continue;
            for (Index c = 0; c < columns; c += kWidth<T>) {
                if (full && !any<T>(passes(load<T>(row + c), heap.front().value))) continue;
                for (Index lane = c; lane < std::min<Index>(c + kWidth<T>, columns); ++lane)
                    offer(heap, Hit{row[lane], j + lane}, walker_.first_row() + strip * kStripRows + r);
            }
        }
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}
    void finish() {
        for (Index r = 0; r < std::min<Index>(kBlockRows, walk_.left.n - walker_.first_row()); ++r) {
            std::vector<Hit>& heap = heaps_[static_cast<std::size_t>(r)];
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
    struct Hit {
        T value;
        Index index;
    };
    auto better() const {
        return [largest = job_.largest](const Hit& a, const Hit& b) {
            if (a.value != b.value) return largest ? a.value > b.value : a.value < b.value;
            return a.index < b.index;
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
    void offer(std::vector<Hit>& heap, Hit hit, Index row) const {
        if (!std::isfinite(hit.value)) refuse_not_finite<T>(walk_, row);
        if (static_cast<Index>(heap.size()) < job_.k) {
            heap.push_back(hit);
            std::push_heap(heap.begin(), heap.end(), better());
        } else if (better()(hit, heap.front())) {
            std::pop_heap(heap.begin(), heap.end(), better());
            heap.back() = hit;
            std::push_heap(heap.begin(), heap.end(), better());
        }
    }

    const Walk& walk_;
    const TopK& job_;
    Walker<T>& walker_;
    std::vector<std::vector<Hit>> heaps_;
};

template <class T>
void run_topk(const Walk& walk, const TopK& job) {
    parallel(blocks_of(walk.left.n), walk.watch, [&](Index block) {
        Walker<T> walker(walk);
        TopKDrink<T> drink(walk, job, walker);
        const Index i0 = block * kBlockRows;
        sweep<T>(walker, walk, i0, std::min(i0 + kBlockRows, walk.left.n), 0, walk.right.n, drink);
        drink.finish();
    });
}

}  // namespace mercer::MERCER_ISA
