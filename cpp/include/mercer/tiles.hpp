// THE loop that walks a Gram matrix: a leaf fills a tile, the tape folds it, a reducer consumes it.
#pragma once

#include "mercer/parts.hpp"

namespace mercer::MERCER_ISA {

inline Index blocks_of(Index n) { return (n + kBlockRows - 1) / kBlockRows; }

// The bytes of one packed column, on average.
template <class T>
Index column_bytes(const Side& right) {
    Index bytes = 1;
    for (const Source& source : right.sources) {
        if (const Dense* rows = std::get_if<Dense>(&source)) bytes += rows->d * static_cast<Index>(sizeof(T));
        if (const Sparse* rows = std::get_if<Sparse>(&source))
            bytes += rows->offsets[rows->n] / std::max<Index>(rows->n, 1) * static_cast<Index>(sizeof(T) + 4);
        if (const Bags* bags = std::get_if<Bags>(&source))
            bytes += bags->parts->n * column_bytes<T>(*bags->parts) / std::max<Index>(bags->n, 1);
        if (const Letters* rows = std::get_if<Letters>(&source))
            bytes += rows->offsets[rows->n] / std::max<Index>(rows->n, 1) * Index{sizeof(*rows->codes)};
        if (const Parts* rows = std::get_if<Parts>(&source))
            bytes += rows->offsets[rows->n] / std::max<Index>(rows->n, 1) * rows->d * static_cast<Index>(sizeof(T));
    }
    return bytes;
}

// How many columns one sweep takes at a time: their packed rows should stay in L2 while a block of rows passes.
template <class T>
Index sweep_columns(const Walk& walk) {
    const Index bytes = column_bytes<T>(walk.right);
    const Index cache = std::min<Index>(Index{192} << 10, walk.budget);
    const Index wanted = std::clamp<Index>(cache / bytes, 1, 2048);
    const Index unit = walk.symmetric ? kBlockRows : kStripCols<T>;
    return std::max<Index>(wanted / unit, 1) * unit;
}

// Sweeps the block of rows [i0, i1) over the columns [j0, j1). A drink has
//   strip(int strip, Index j)                  asks the walker for one strip of K
//   end_strip(int strip)                       after a strip of rows has crossed the current columns
//   end_columns(Index c0, Index c1)            after the whole block has crossed them
template <class T, class Drink>
void sweep(Walker<T>& walker, const Walk& walk, Index i0, Index i1, Index j0, Index j1, Drink& drink) {
    walker.take_rows(i0, i1);
    const Index width = sweep_columns<T>(walk);
    for (Index c0 = j0; c0 < j1; c0 += width) {
        const Index c1 = std::min(c0 + width, j1);
        walk.watch.look();
        walker.take_columns(c0, c1);
        for (int strip = 0; strip < walker.strips(); ++strip) {
            walker.take_strip(strip);
            for (Index j = c0; j < c1; j += kStripCols<T>) drink.strip(strip, j);
            walker.leave_strip(strip);
            drink.end_strip(strip);
        }
        drink.end_columns(c0, c1);
    }
}

// Looks for the first value in a row of K that is not finite, and throws NotFinite if there is one.
template <class T>
void refuse_not_finite(const Walk& walk, Index row) {
    Walker<T> walker(walk);
    struct Look {
        const Walk& walk;
        Walker<T>& walker;
        Index row;
        void strip(int, Index j) {
            const T* tile = walker.fold(0, j);
            for (Index c = 0; c < kStripCols<T>; ++c) {
                if (std::isfinite(tile[c])) continue;
                throw mercer::NotFinite(row, j + c, walker.first_not_finite(0, j, 0, c));
            }
        }
        void end_strip(int) {}
        void end_columns(Index, Index) {}
    } look{walk, walker, row};
    sweep<T>(walker, walk, row, row + 1, 0, walk.right.n, look);
}

// The same where a strip, with row i of K first, holds a value that is not finite.
template <class T>
void refuse_not_finite_rows(const Walk& walk, const Walker<T>& walker, const T* tile, Index i, Index rows) {
    if (walker.is_bounded()) return;
    for (Index r = 0; r < rows; ++r) {
        const T* from = tile + r * kStripCols<T>;
        V<T> bad{};
        for (Index c = 0; c < kStripCols<T>; c += kWidth<T>) bad = fma<T>(load<T>(from + c), V<T>{}, bad);
        if (!std::isfinite(sum<T>(bad))) refuse_not_finite<T>(walk, i + r);
    }
}

// The row blocks of a symmetric walk that one slot takes: back and forth, so that slots have equal work.
inline std::vector<Index> blocks_of_slot(Index slot, Index slots, Index blocks) {
    std::vector<Index> mine;
    for (Index block = 0; block < blocks; ++block) {
        const Index turn = block % (2 * slots);
        if ((turn < slots ? turn : 2 * slots - 1 - turn) == slot) mine.push_back(block);
    }
    return mine;
}

// The number of slots depends on sizes alone, never on threads, so that sums are reproducible. Each holds `numbers`
// doubles; none at all when fewer than four fit.
inline Index slots_for(Index pieces, Index numbers, Index budget) {
    const Index fitting = budget / std::max<Index>(numbers * static_cast<Index>(sizeof(double)), 1);
    return fitting < 4 ? 0 : std::clamp<Index>(pieces, 1, std::min<Index>(32, fitting));
}

}  // namespace mercer::MERCER_ISA
