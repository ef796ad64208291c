// Values of a function, called once per block of columns, never once per strip.
#pragma once

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

template <class T>
struct LeftMemory<Kind::callback, T> {
    Buffer<double> called;  // (block rows, block columns)
    Index called_columns = 0;
    Index called_first = 0;
};

template <>
struct Leaf<Kind::callback> : PlainLeaf {
    template <class T>
    static void take_columns(const Source& source, Index i0, Index i1, Index j0, Index j1, LeftLeaf<T>& leaf) {
        leaf.called.reset((i1 - i0) * (j1 - j0));
        leaf.called_columns = j1 - j0;
        leaf.called_first = j0;
        std::get<Call>(source).fill(i0, i1, j0, j1, leaf.called.data());
    }
    template <class T>
    static void fill_tile(const Source&, LeftLeaf<T>& left, const PackedLeaf<T>&, const Patch& patch, T* tile) {
        const Index i0 = patch.strip * kStripRows, j0 = patch.j0 - left.called_first;
        fill_copied<T>(patch, tile,
                       [&](Index r, Index c) { return left.called[(i0 + r) * left.called_columns + j0 + c]; });
    }
    static double pair(const LeafUse&, const Source& left, const Source&, Index i) {
        double value = 0.0;
        std::get<Call>(left).fill(i, i + 1, i, i + 1, &value);
        return value;
    }
};

}  // namespace mercer::MERCER_ISA
