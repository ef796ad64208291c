// Equality of codes.
#pragma once

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

// An integer's bits as a number of the tile's type, for comparison only.
template <class T>
T code_bits(Index code) {
    const Int<T> bits = static_cast<Int<T>>(code);
    T out;
    std::memcpy(&out, &bits, sizeof out);
    return out;
}

template <>
struct Leaf<Kind::equal> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse&, Index padded, PackedLeaf<T>& leaf) {
        const Codes& rows = std::get<Codes>(source);
        leaf.panels.reset(padded);
        for (Index i = 0; i < rows.n; ++i) leaf.panels[i] = code_bits<T>(rows.codes[i]);
    }
    template <class T>
    static void take_rows(const Source& source, const PackedLeaf<T>&, Index i0, Index i1, LeftLeaf<T>& leaf) {
        const Codes& rows = std::get<Codes>(source);
        if (leaf.panels.size() == 0) leaf.panels.reset(kBlockRows);
        for (Index i = i0; i < i1; ++i) leaf.panels[i - i0] = code_bits<T>(rows.codes[i]);
    }
    template <class T>
    static void fill_tile(const Source&, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch, T* tile) {
        const V<T> one = fill<T>(T{1});
        for (int r = 0; r < kStripRows; ++r) {
            Int<T> bits;
            std::memcpy(&bits, left.panels.data() + patch.strip * kStripRows + r, sizeof bits);
            for (int c = 0; c < kStripCols<T>; c += kWidth<T>) {
                const VI<T> other = as_int<T>(load<T>(right.panels.data() + patch.j0 + c));
                store<T>(tile + r * kStripCols<T> + c, select<T>(other == bits, one, V<T>{}));
            }
        }
    }
    static double pair(const LeafUse&, const Source& left, const Source& right, Index i) {
        return std::get<Codes>(left).codes[i] == std::get<Codes>(right).codes[i] ? 1.0 : 0.0;
    }
};

}  // namespace mercer::MERCER_ISA
