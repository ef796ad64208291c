// Store: the strips as they are, and their mirror image in a symmetric walk.
#pragma once

#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

template <class T, class Out>
class StoreDrink {
   public:
    StoreDrink(const Walk& walk, Out* out, bool mirrors, Walker<T>& walker)
        : walk_(walk), out_(out), mirrors_(mirrors), walker_(walker), streams_(may_stream(walk, out)) {}

    void strip(int strip, Index j) {
        const T* tile = walker_.fold(strip, j);
        const Index i = walker_.first_row() + strip * kStripRows;
        const Index rows = walker_.rows_of(strip);
        const Index m = walk_.right.n;
        const Index columns = std::min<Index>(kStripCols<T>, m - j);
        refuse_not_finite_rows<T>(walk_, walker_, tile, i, rows);
        const bool is_whole = streams_ && rows == kStripRows && columns == kStripCols<T>;
        if (is_whole) {
            stream_tile(tile, kStripCols<T>, kStripRows, kStripCols<T>, i, j);
        } else {
            for (Index r = 0; r < rows; ++r) {
                const T* from = tile + r * kStripCols<T>;
                std::transform(from, from + columns, out_ + (i + r) * m + j, [](T x) { return static_cast<Out>(x); });
                if constexpr (sizeof(Out) < sizeof(T)) {  // finite in double, but perhaps not in float
                    const Out* row = out_ + (i + r) * m + j;
                    const Out* bad_at = std::find_if(row, row + columns, [](Out x) { return !std::isfinite(x); });
                    if (bad_at != row + columns) throw mercer::NotFinite(i + r, j + (bad_at - row), -1);
                }
            }
        }
        if (!mirrors_ || j < walker_.first_row() + kBlockRows) return;
        if (is_whole && kTurnedLines) {
            for (int c = 0; c < kStripCols<T>; ++c) {
                for (int r = 0; r < kStripRows; ++r) turned_[c * kStripRows + r] = tile[r * kStripCols<T> + c];
            }
            stream_tile(turned_, kStripRows, kStripCols<T>, kStripRows, j, i);
            return;
        }
        for (Index c = 0; c < columns; ++c) {
            Out* to = out_ + (j + c) * m + i;
            for (Index r = 0; r < rows; ++r) to[r] = static_cast<Out>(tile[r * kStripCols<T> + c]);
        }
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}

   private:
    static constexpr Index kLine = 64;
    // Whether the columns of a strip, too, are whole lines.
    static constexpr bool kTurnedLines = kStripRows * sizeof(T) % kLine == 0;

    // Whether every row begins on a line of the cache, and the matrix is larger than caches are.
    static bool may_stream(const Walk& walk, const Out* out) {
        if (!std::is_same_v<T, Out>) return false;
        constexpr Index kCaches = Index{64} << 20;
        const Index row = walk.right.n * static_cast<Index>(sizeof(Out));
        return reinterpret_cast<std::uintptr_t>(out) % kLine == 0 && row % kLine == 0 && walk.left.n * row >= kCaches;
    }
    // A tile to the place of its first number; `stride` lies between its rows.
    void stream_tile(const T* tile, int stride, int rows, int columns, Index i, Index j) {
        for (int r = 0; r < rows; ++r) {
            T* to = reinterpret_cast<T*>(out_) + (i + r) * walk_.right.n + j;
            for (int c = 0; c < columns; c += kWidth<T>) stream<T>(to + c, load<T>(tile + r * stride + c));
        }
    }

    const Walk& walk_;
    Out* out_;
    bool mirrors_;
    Walker<T>& walker_;
    bool streams_;
    alignas(64) T turned_[kStripRows * kStripCols<T>];
};

template <class T, class Out>
void store_as(const Walk& walk, Out* out, bool half) {
    parallel(blocks_of(walk.left.n), walk.watch, [&](Index block) {
        Walker<T> walker(walk);
        StoreDrink<T, Out> drink(walk, out, walk.symmetric && !half, walker);
        const Index i0 = block * kBlockRows;
        const Index i1 = std::min(i0 + kBlockRows, walk.left.n);
        sweep<T>(walker, walk, i0, i1, walk.symmetric ? i0 : 0, walk.right.n, drink);
        settle();
        if (!walk.symmetric) return;
        // Both halves of a block on the diagonal were made, with sums in another order: keep one, to be exactly
        // symmetric.
        for (Index i = i0; i < i1; ++i) {
            for (Index j = i0; j < i; ++j) out[i * walk.right.n + j] = out[j * walk.right.n + i];
        }
    });
}

template <class T>
void run_store(const Walk& walk, const Store& to) {
    if (to.single) store_as<T>(walk, static_cast<float*>(to.out), to.half);
    else store_as<T>(walk, static_cast<double*>(to.out), to.half);
}

}  // namespace mercer::MERCER_ISA
