// Leaves: what fills a strip of tiles from the points.
#pragma once

#include "mercer/pack.hpp"

namespace mercer::MERCER_ISA {

// The rows of a sparse strip, spread out as lanes: one group of kSpread numbers for each feature that they have.
template <class T>
inline constexpr int kSpread = (kStripRows + kWidth<T> - 1) / kWidth<T> * kWidth<T>;

// One block of left rows of one leaf, ready for the micro-kernel.
template <class T>
struct LeftLeaf {
    Buffer<T> panels;  // dense: panels of kPanelRows rows; codes: their bits
    Buffer<T> norms;   // (kBlockRows)
    Buffer<T> shifts;
    T peaks[kBlockRows / kStripRows] = {};  // the largest |norm| of each strip
    double noise = 0.0;                     // of these rows; see Frame::noise
    Buffer<T> spread;  // sparse: (1 + features of the strip, kSpread), zero between strips; group 0 stays zero
    Buffer<std::int32_t> group;  // sparse: (d) the group of a feature, 0 for one that the strip does not have
    Buffer<T> transposed;        // sparse: (kStripCols, kSpread)
    Buffer<double> called;       // callback: (block rows, block columns)
    Index called_columns = 0;
    Index called_first = 0;
};

template <class T>
void take_rows(const Source& source, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
    if (const Dense* rows = std::get_if<Dense>(&source)) {
        if (leaf.panels.size() == 0) {
            const Index most = std::min<Index>(kBlockRows, round_up(rows->n, kStripRows));
            leaf.panels.reset(most * std::max<Index>(rows->d, 1));
            leaf.norms.reset(kBlockRows);
            leaf.shifts.reset(kBlockRows);
        }
        pack_dense<T, kPanelRows>(*rows, i0, i1, right.frame, leaf.panels.data(), leaf.norms.data(),
                                  leaf.shifts.data());
    } else if (const Sparse* rows = std::get_if<Sparse>(&source)) {
        if (leaf.norms.size() == 0) {
            leaf.norms.reset(kBlockRows);
            leaf.group.reset(rows->d);
            leaf.transposed.reset(kStripCols<T> * kSpread<T>);
        }
        Index most = 0;
        for (Index i = i0; i < i1; i += kStripRows)
            most = std::max(most, rows->offsets[std::min<Index>(i + kStripRows, i1)] - rows->offsets[i]);
        const Index groups = 1 + std::min(most, rows->d);
        if (leaf.spread.size() < groups * kSpread<T>) leaf.spread.reset(groups * kSpread<T>);
        for (Index i = i0; i < i1; ++i) leaf.norms[i - i0] = static_cast<T>(sparse_norm(*rows, i));
        leaf.noise = noise_of<T>(*rows, i0, i1);
    } else if (const Codes* rows = std::get_if<Codes>(&source)) {
        if (leaf.panels.size() == 0) leaf.panels.reset(kBlockRows);
        for (Index i = i0; i < i1; ++i) leaf.panels[i - i0] = code_bits<T>(rows->codes[i]);
    }
    if (leaf.norms.size() > 0) {
        std::fill(std::begin(leaf.peaks), std::end(leaf.peaks), T{});
        for (Index at = 0; at < i1 - i0; ++at) {
            T& peak = leaf.peaks[at / kStripRows];
            peak = std::max(peak, std::abs(leaf.norms[at]));
        }
    }
}

// Writes a strip's rows into the spread.
template <class T>
void spread_rows(const Sparse& rows, Index i0, Index i1, LeftLeaf<T>& leaf) {
    std::int32_t groups = 0;
    for (Index i = i0; i < i1; ++i) {
        for (Index at = rows.offsets[i]; at < rows.offsets[i + 1]; ++at) {
            std::int32_t& group = leaf.group[rows.columns[at]];
            if (group == 0) group = ++groups;
            leaf.spread[group * Index{kSpread<T>} + (i - i0)] =
                rows.values.data != nullptr ? rows.values.at<T>(at) : T{1};
        }
    }
}

// Undoes spread_rows, at the cost of what it wrote.
template <class T>
void wipe_rows(const Sparse& rows, Index i0, Index i1, LeftLeaf<T>& leaf) {
    for (Index i = i0; i < i1; ++i) {
        for (Index at = rows.offsets[i]; at < rows.offsets[i + 1]; ++at)
            leaf.spread[leaf.group[rows.columns[at]] * Index{kSpread<T>} + (i - i0)] = T{};
    }
    for (Index at = rows.offsets[i0]; at < rows.offsets[i1]; ++at) leaf.group[rows.columns[at]] = 0;
}

template <class T, class Step>
void fill_dense(const LeftLeaf<T>& left, const PackedLeaf<T>& right, int strip, Index j0, Index rows, T* tile) {
    const Index d = right.d;
    const auto make = rows == 1 ? panel<T, Step, 1> : panel<T, Step, kPanelRows>;
    for (int r = 0; r < rows; r += kPanelRows) {
        const T* a = left.panels.data() + (strip * kStripRows + r) * d;
        for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>)
            make(a, right.panels.data() + (j0 + c) * d, d, tile + r * kStripCols<T> + c, kStripCols<T>);
    }
}

template <class T>
void fill_sparse(LeftLeaf<T>& left, const PackedLeaf<T>& right, Index j0, Index columns, T* tile) {
    constexpr int kVectors = kSpread<T> / kWidth<T>;
    const T* spread = left.spread.data();
    const std::int32_t* group = left.group.data();
    for (Index c = 0; c < columns; ++c) {
        V<T> sum[kVectors] = {};
        const Index end = right.offsets[j0 + c + 1];
        for (Index at = right.offsets[j0 + c]; at < end; ++at) {
            const T* rows = spread + static_cast<Index>(group[right.columns[at]]) * kSpread<T>;
            const V<T> value = fill<T>(right.values[at]);
            MERCER_UNROLL
            for (int v = 0; v < kVectors; ++v) sum[v] = fma<T>(load<T>(rows + v * kWidth<T>), value, sum[v]);
        }
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) store<T>(left.transposed.data() + c * kSpread<T> + v * kWidth<T>, sum[v]);
    }
    for (int r = 0; r < kStripRows; ++r) {
        for (Index c = 0; c < kStripCols<T>; ++c)
            tile[r * kStripCols<T> + c] = c < columns ? left.transposed[c * kSpread<T> + r] : T{};
    }
}

template <class T>
void fill_codes(const LeftLeaf<T>& left, const PackedLeaf<T>& right, int strip, Index j0, T* tile) {
    const V<T> one = fill<T>(T{1});
    for (int r = 0; r < kStripRows; ++r) {
        Int<T> bits;
        std::memcpy(&bits, left.panels.data() + strip * kStripRows + r, sizeof bits);
        for (int c = 0; c < kStripCols<T>; c += kWidth<T>) {
            const VI<T> other = as_int<T>(load<T>(right.panels.data() + j0 + c));
            store<T>(tile + r * kStripCols<T> + c, select<T>(other == bits, one, V<T>{}));
        }
    }
}

// Entries that exist already, or that a callback has just made: copied.
template <class T, class At>
void fill_copied(Index rows, Index columns, T* tile, At at) {
    for (int r = 0; r < kStripRows; ++r) {
        for (Index c = 0; c < kStripCols<T>; ++c)
            tile[r * kStripCols<T> + c] = r < rows && c < columns ? static_cast<T>(at(r, c)) : T{};
    }
}

}  // namespace mercer::MERCER_ISA
