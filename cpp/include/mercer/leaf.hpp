// What a kind of leaf is made of. A header of leaves/ specialises Leaf for its kind, and LeftMemory and RightMemory
// where it keeps what other kinds do not.
#pragma once

#include "mercer/kinds.hpp"
#include "mercer/pack.hpp"

namespace mercer::MERCER_ISA {

// What one kind keeps of a block of left rows, and of the packed right side.
template <Kind K, class T>
struct LeftMemory {};
template <Kind K, class T>
struct RightMemory {
    Index bytes() const { return 0; }
};

// Where a tile lies in K: one strip of the block of left rows, and some columns.
struct Patch {
    int strip = 0;
    Index i0 = 0;    // the strip's first row
    Index rows = 0;  // of the strip, at most kStripRows
    Index j0 = 0;
    Index columns = 0;  // at most kStripCols
};

// Leaf<K> has `fill_tile`; `pair`, one value in double, of use, left, right and i; and whichever of the following it
// needs.
template <Kind K>
struct Leaf;

struct PlainLeaf {
    // The right side, once.
    template <class Right>
    static void pack(const Source&, const LeafUse&, Index /*padded*/, Right&) {}
    // A block of left rows, before it is swept over the columns,
    template <class Left, class Right>
    static void take_rows(const Source&, const Right&, Index /*i0*/, Index /*i1*/, Left&) {}
    // and over each block of columns,
    template <class Left>
    static void take_columns(const Source&, Index /*i0*/, Index /*i1*/, Index /*j0*/, Index /*j1*/, Left&) {}
    // in which one strip of rows comes after the other.
    template <class Left>
    static void take_strip(const Source&, Index /*i0*/, Index /*i1*/, Left&) {}
    template <class Left>
    static void leave_strip(const Source&, Index /*i0*/, Index /*i1*/, Left&) {}
};

// Entries that exist already, or that a function has just made: copied, zero outside of K.
template <class T, class At>
void fill_copied(const Patch& patch, T* tile, At at) {
    for (Index r = 0; r < kStripRows; ++r, tile += kStripCols<T>) {
        const Index columns = r < patch.rows ? patch.columns : 0;
        for (Index c = 0; c < columns; ++c) tile[c] = static_cast<T>(at(r, c));
        std::fill(tile + columns, tile + kStripCols<T>, T{});
    }
}

}  // namespace mercer::MERCER_ISA
