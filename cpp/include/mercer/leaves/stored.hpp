// Entries of a matrix that the user has made.
#pragma once

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

template <>
struct Leaf<Kind::stored> : PlainLeaf {
    template <class T>
    static void fill_tile(const Source& source, LeftLeaf<T>&, const PackedLeaf<T>&, const Patch& patch, T* tile) {
        const Matrix& matrix = std::get<Matrix>(source);
        const Index i0 = patch.i0, j0 = patch.j0;
        fill_copied<T>(patch, tile,
                       [&](Index r, Index c) { return matrix.values.at<T>((i0 + r) * matrix.m + j0 + c); });
    }
    static double pair(const LeafUse&, const Source& left, const Source&, Index i) {
        const Matrix& matrix = std::get<Matrix>(left);
        return matrix.values.at<double>(i * matrix.m + i);
    }
};

}  // namespace mercer::MERCER_ISA
