// Dense rows in panels, as several kinds of leaves have them, and the kinds that are a sum over coordinates.
#pragma once

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

template <class T>
void pack_dense_side(const Dense& rows, const LeafUse& use, Index padded, PackedLeaf<T>& leaf) {
    leaf.d = rows.d;
    if (!leaf.differences) leaf.frame = frame_of<T>(rows, use);
    leaf.panels.reset_raw(padded * rows.d);
    const Index whole = rows.n / kPanelCols<T> * kPanelCols<T> * rows.d;  // the other panels have padding
    std::fill_n(leaf.panels.data() + whole, padded * rows.d - whole, T{});
    leaf.norms.reset(padded);
    if (use.centred && !use.gaussian && !leaf.differences) leaf.shifts.reset(padded);
    pack_dense<T, kPanelCols<T>>(rows, 0, rows.n, leaf.frame, leaf.panels.data(), leaf.norms.data(),
                                 leaf.shifts.data());
}

template <class T>
void take_dense_rows(const Dense& rows, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
    if (leaf.panels.size() == 0) {
        const Index most = std::min<Index>(kBlockRows, round_up(rows.n, kStripRows));
        leaf.panels.reset(most * std::max<Index>(rows.d, 1));
        leaf.norms.reset(kBlockRows);
        leaf.shifts.reset(kBlockRows);
    }
    pack_dense<T, kPanelRows>(rows, i0, i1, right.frame, leaf.panels.data(), leaf.norms.data(), leaf.shifts.data());
}

template <class T, class Step>
void fill_dense(const LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch, T* tile) {
    const Index d = right.d;
    const auto make = patch.rows == 1 ? panel<T, Step, 1> : panel<T, Step, kPanelRows>;
    for (int r = 0; r < patch.rows; r += kPanelRows) {
        const T* a = left.panels.data() + (patch.strip * kStripRows + r) * d;
        for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>)
            make(a, right.panels.data() + (patch.j0 + c) * d, d, tile + r * kStripCols<T> + c, kStripCols<T>);
    }
}

// A sum over coordinates. A Step has `step`, which adds one coordinate to a register of sums, and `value`, what it adds
// for two numbers.
template <class Step>
struct Coordinates : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index padded, PackedLeaf<T>& leaf) {
        pack_dense_side(std::get<Dense>(source), use, padded, leaf);
    }
    template <class T>
    static void take_rows(const Source& source, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
        take_dense_rows(std::get<Dense>(source), right, i0, i1, leaf);
    }
    template <class T>
    static void fill_tile(const Source&, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch, T* tile) {
        fill_dense<T, Step>(left, right, patch, tile);
    }
    static double pair(const LeafUse&, const Source& left, const Source& right, Index i) {
        const Dense& a = std::get<Dense>(left);
        const Dense& b = std::get<Dense>(right);
        double sum = 0.0;
        for (Index k = 0; k < a.d; ++k)
            sum += Step::value(a.values.at<double>(i * a.d + k), b.values.at<double>(i * b.d + k));
        return sum;
    }
};

}  // namespace mercer::MERCER_ISA
