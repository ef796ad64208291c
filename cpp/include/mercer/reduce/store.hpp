// Store: the strips as they are, and their mirror image in a symmetric walk.
#pragma once

#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

// A value as it is written.
template <class T, class Out>
struct Written {
    explicit Written(const Code&) {}
    Out operator()(T x) const { return static_cast<Out>(x); }
};
template <class T>
struct Written<T, std::uint16_t> {
    explicit Written(const Code& code)
        : scale(static_cast<T>(1.0 / code.step)), shift(static_cast<T>(0.5 - code.low / code.step)) {}
    std::uint16_t operator()(T x) const {
        const T code = std::min(std::max(x * scale + shift, T{0}), T{65535});
        return static_cast<std::uint16_t>(static_cast<std::int32_t>(code));
    }
    T scale, shift;
};

template <class T, class Out>
class StoreDrink {
   public:
    StoreDrink(const Walk& walk, Out* out, const Store& to, Walker<T>& walker)
        : walk_(walk),
          out_(out),
          written_(to.code),
          mirrors_(walk.symmetric && !to.half),
          walker_(walker),
          streams_(may_stream(walk, out)) {}

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
                std::transform(from, from + columns, out_ + (i + r) * m + j, written_);
                if constexpr (std::is_floating_point_v<Out> &&
                              sizeof(Out) < sizeof(T)) {  // finite in double, but perhaps not in float
                    const Out* row = out_ + (i + r) * m + j;
                    const Out* bad_at = std::find_if(row, row + columns, [](Out x) { return !std::isfinite(x); });
                    if (bad_at != row + columns) throw mercer::NotFinite(i + r, j + (bad_at - row), -1);
                }
            }
        }
        if (!mirrors_ || j < end_of_block(walker_.first_row())) return;
        if (is_whole && kTurnedLines) {
            for (int c = 0; c < kStripCols<T>; ++c) {
                for (int r = 0; r < kStripRows; ++r) turned_[c * kStripRows + r] = tile[r * kStripCols<T> + c];
            }
            stream_tile(turned_, kStripRows, kStripCols<T>, kStripRows, j, i);
            return;
        }
        for (Index c = 0; c < columns; ++c) {
            Out* to = out_ + (j + c) * m + i;
            for (Index r = 0; r < rows; ++r) to[r] = written_(tile[r * kStripCols<T> + c]);
        }
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}

   private:
    static constexpr Index kLine = 64;
    static Index end_of_block(Index row) { return (row / kBlockRows + 1) * kBlockRows; }
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
    Written<T, Out> written_;
    bool mirrors_;
    Walker<T>& walker_;
    bool streams_;
    alignas(64) T turned_[kStripRows * kStripCols<T>];
};

template <class T, class Out>
void store_as(const Walk& walk, const Store& to) {
    Out* out = static_cast<Out*>(to.out);
    const Index n = walk.left.n;
    // A strip of bags is work enough for one task.
    const Index rows = has_parts(walk.right) ? kStripRows : kBlockRows;
    parallel((n + rows - 1) / rows, walk.watch, [&](Index task) {
        Walker<T> walker(walk);
        StoreDrink<T, Out> drink(walk, out, to, walker);
        const Index i0 = task * rows;
        const Index j0 = walk.symmetric ? i0 / kStripCols<T> * kStripCols<T> : 0;
        sweep<T>(walker, walk, i0, std::min(i0 + rows, n), j0, walk.right.n, drink);
        settle();
    });
    if (!walk.symmetric) return;
    // Both halves of a block on the diagonal were made, with sums in another order: keep one, to be exactly symmetric.
    parallel(blocks_of(n), walk.watch, [&](Index block) {
        const Index i0 = block * kBlockRows;
        for (Index i = i0; i < std::min(i0 + kBlockRows, n); ++i) {
            for (Index j = i0; j < i; ++j) out[i * n + j] = out[j * n + i];
        }
    });
}

template <class T>
void run_store(const Walk& walk, const Store& to) {
    switch (to.format) {
        case Format::real64:
            return store_as<T, double>(walk, to);
        case Format::real32:
            return store_as<T, float>(walk, to);
        case Format::code16:
            return store_as<T, std::uint16_t>(walk, to);
    }
}

}  // namespace mercer::MERCER_ISA
