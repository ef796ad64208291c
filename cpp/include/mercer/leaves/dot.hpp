// Inner products of dense rows, sparse rows and sets. Where only distances are read, they may be made directly: see
// distances.hpp.
#pragma once

#include "mercer/leaves/dense.hpp"

namespace mercer::MERCER_ISA {

// The rows of a sparse strip, spread out as lanes: one group of kSpread numbers for each feature that they have.
template <class T>
inline constexpr int kSpread = (kStripRows + kWidth<T> - 1) / kWidth<T> * kWidth<T>;
template <class T>
struct Spread {
    Buffer<T> rows;        // (1 + features of the strip, kSpread), zero between strips; group 0 stays zero
    Buffer<T> transposed;  // (kStripCols, kSpread)
};

// Of sparse rows. Where both sides are small whole numbers, floats give the same sums as doubles.
template <class T>
struct LeftMemory<Kind::dot, T> {
    Spread<T> spread;
    Spread<float> whole_spread;
    Buffer<std::int32_t> group;  // (d) the group of a feature, 0 for one that the strip does not have
    bool is_whole = false;
};
template <class T>
struct RightMemory<Kind::dot, T> {
    Buffer<T> values;
    Buffer<float> whole_values;  // instead, of small whole numbers
    Buffer<std::int32_t> columns;
    const Index* offsets = nullptr;
    bool has_whole = false;

    Index bytes() const { return bytes_of(values) + bytes_of(whole_values) + bytes_of(columns); }
};

// use(the spread of the strip), which is of floats where that is exact.
template <class T, class Use>
void with_spread(LeftMemory<Kind::dot, T>& left, Use use) {
    if (left.is_whole) use(left.whole_spread);
    else use(left.spread);
}

// |row|^2 of a sparse row; of a set, its true size.
inline double sparse_norm(const Sparse& rows, Index i) {
    if (rows.sizes != nullptr) return rows.sizes[i];
    double norm = 0.0;
    for (Index at = rows.offsets[i]; at < rows.offsets[i + 1]; ++at) {
        const double value = rows.values.data != nullptr ? rows.values.at<double>(at) : 1.0;
        norm += value * value;
    }
    return norm;
}

// Rows of counts, and sets, have none: sums of whole numbers are exact while they fit the significand.
template <class T>
double noise_of(const Sparse& rows, Index i0, Index i1) {
    constexpr double kWhole = 0.25 / std::numeric_limits<T>::epsilon();
    Index longest = 0;
    bool exact = true;
    for (Index i = i0; i < i1; ++i) {
        longest = std::max(longest, rows.offsets[i + 1] - rows.offsets[i]);
        exact = exact && sparse_norm(rows, i) < kWhole;
    }
    for (Index at = rows.offsets[i0]; exact && rows.values.data != nullptr && at < rows.offsets[i1]; ++at) {
        const double value = rows.values.at<double>(at);
        exact = value == std::trunc(value);
    }
    return exact ? 0.0 : noise_of<T>(longest, false);
}

template <class T>
void pack_sparse_side(const Sparse& rows, Index padded, PackedLeaf<T>& leaf) {
    leaf.d = rows.d;
    leaf.offsets = rows.offsets;
    const Index stored = rows.offsets[rows.n];
    leaf.columns.reset(stored);
    std::copy_n(rows.columns, stored, leaf.columns.data());
    leaf.has_whole = noise_of<float>(rows, 0, rows.n) == 0.0;
    const auto copy_values = [&]<class S>(Buffer<S>& values) {
        values.reset(stored);
        for (Index at = 0; at < stored; ++at) values[at] = rows.values.data != nullptr ? rows.values.at<S>(at) : S{1};
    };
    if (leaf.has_whole) copy_values(leaf.whole_values);
    else copy_values(leaf.values);
    leaf.norms.reset(padded);
    for (Index i = 0; i < rows.n; ++i) leaf.norms[i] = static_cast<T>(sparse_norm(rows, i));
    leaf.frame.noise = noise_of<T>(rows, 0, rows.n);
}

template <class T>
void take_sparse_rows(const Sparse& rows, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
    if (leaf.norms.size() == 0) {
        leaf.norms.reset(kBlockRows);
        leaf.group.reset(rows.d);
    }
    leaf.is_whole = right.has_whole && noise_of<float>(rows, i0, i1) == 0.0;
    Index most = 0;
    for (Index i = i0; i < i1; i += kStripRows)
        most = std::max(most, rows.offsets[std::min<Index>(i + kStripRows, i1)] - rows.offsets[i]);
    const Index groups = 1 + std::min(most, rows.d);
    with_spread<T>(leaf, [&]<class S>(Spread<S>& spread) {
        spread.transposed.reset_raw(kStripCols<T> * kSpread<S>);
        if (spread.rows.size() < groups * kSpread<S>) spread.rows.reset(groups * kSpread<S>);
    });
    for (Index i = i0; i < i1; ++i) leaf.norms[i - i0] = static_cast<T>(sparse_norm(rows, i));
    leaf.noise = noise_of<T>(rows, i0, i1);
}

// Writes a strip's rows into the spread.
template <class T>
void spread_rows(const Sparse& rows, Index i0, Index i1, LeftLeaf<T>& leaf) {
    std::int32_t groups = 0;
    with_spread<T>(leaf, [&]<class S>(Spread<S>& spread) {
        for (Index i = i0; i < i1; ++i) {
            for (Index at = rows.offsets[i]; at < rows.offsets[i + 1]; ++at) {
                std::int32_t& group = leaf.group[rows.columns[at]];
                if (group == 0) group = ++groups;
                spread.rows[group * Index{kSpread<S>} + (i - i0)] =
                    rows.values.data != nullptr ? rows.values.at<S>(at) : S{1};
            }
        }
    });
}

// Undoes spread_rows, at the cost of what it wrote.
template <class T>
void wipe_rows(const Sparse& rows, Index i0, Index i1, LeftLeaf<T>& leaf) {
    with_spread<T>(leaf, [&]<class S>(Spread<S>& spread) {
        for (Index i = i0; i < i1; ++i) {
            for (Index at = rows.offsets[i]; at < rows.offsets[i + 1]; ++at)
                spread.rows[leaf.group[rows.columns[at]] * Index{kSpread<S>} + (i - i0)] = S{};
        }
    });
    for (Index at = rows.offsets[i0]; at < rows.offsets[i1]; ++at) leaf.group[rows.columns[at]] = 0;
}

template <class S, class Value, class T>
void fill_spread(Spread<S>& spread, const std::int32_t* group, const Value* values, const PackedLeaf<T>& right,
                 const Patch& patch, T* tile) {
    constexpr int kVectors = kSpread<S> / kWidth<S>;
    const S* const spread_rows = spread.rows.data();
    for (Index c = 0; c < patch.columns; ++c) {
        V<S> sum[kVectors] = {};
        const Index end = right.offsets[patch.j0 + c + 1];
        for (Index at = right.offsets[patch.j0 + c]; at < end; ++at) {
            const S* rows = spread_rows + static_cast<Index>(group[right.columns[at]]) * kSpread<S>;
            const V<S> value = fill<S>(static_cast<S>(values[at]));
            MERCER_UNROLL
            for (int v = 0; v < kVectors; ++v) sum[v] = fma<S>(load<S>(rows + v * kWidth<S>), value, sum[v]);
        }
        MERCER_UNROLL
        for (int v = 0; v < kVectors; ++v) store<S>(spread.transposed.data() + c * kSpread<S> + v * kWidth<S>, sum[v]);
    }
    for (int r = 0; r < kStripRows; ++r) {
        for (Index c = 0; c < kStripCols<T>; ++c)
            tile[r * kStripCols<T> + c] =
                c < patch.columns ? static_cast<T>(spread.transposed[c * kSpread<S> + r]) : T{};
    }
}

template <class T>
void fill_sparse(LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch, T* tile) {
    with_spread<T>(left, [&]<class S>(Spread<S>& spread) {
        if (right.has_whole) fill_spread(spread, left.group.data(), right.whole_values.data(), right, patch, tile);
        else fill_spread(spread, left.group.data(), right.values.data(), right, patch, tile);
    });
}

inline double pair_product(const Dense& left, const Dense& right, Index i) {
    double sum = 0.0;
    for (Index k = 0; k < left.d; ++k)
        sum += left.values.at<double>(i * left.d + k) * right.values.at<double>(i * right.d + k);
    return sum;
}

// Of a set with itself, its true size.
inline double pair_product(const Sparse& left, const Sparse& right, Index i) {
    if (left.sizes != nullptr && left.offsets == right.offsets) return left.sizes[i];
    double sum = 0.0;
    Index q = right.offsets[i];
    for (Index p = left.offsets[i]; p < left.offsets[i + 1]; ++p) {
        while (q < right.offsets[i + 1] && right.columns[q] < left.columns[p]) ++q;
        if (q == right.offsets[i + 1] || right.columns[q] != left.columns[p]) continue;
        const double x = left.values.data != nullptr ? left.values.at<double>(p) : 1.0;
        const double z = right.values.data != nullptr ? right.values.at<double>(q) : 1.0;
        sum += x * z;
    }
    return sum;
}

template <>
struct Leaf<Kind::dot> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index padded, PackedLeaf<T>& leaf) {
        if (const Sparse* rows = std::get_if<Sparse>(&source)) return pack_sparse_side(*rows, padded, leaf);
        const Dense& rows = std::get<Dense>(source);
        leaf.differences = sizeof(T) == sizeof(double) && use.apart && rows.d <= kFewFeatures;
        pack_dense_side(rows, use, padded, leaf);
    }
    template <class T>
    static void take_rows(const Source& source, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
        if (const Sparse* rows = std::get_if<Sparse>(&source)) take_sparse_rows(*rows, right, i0, i1, leaf);
        else take_dense_rows(std::get<Dense>(source), right, i0, i1, leaf);
    }
    template <class T>
    static void take_strip(const Source& source, Index i0, Index i1, LeftLeaf<T>& leaf) {
        if (const Sparse* rows = std::get_if<Sparse>(&source)) spread_rows(*rows, i0, i1, leaf);
    }
    template <class T>
    static void leave_strip(const Source& source, Index i0, Index i1, LeftLeaf<T>& leaf) {
        if (const Sparse* rows = std::get_if<Sparse>(&source)) wipe_rows(*rows, i0, i1, leaf);
    }
    template <class T>
    static void fill_tile(const Source& source, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch,
                          T* tile) {
        if (std::holds_alternative<Sparse>(source)) fill_sparse(left, right, patch, tile);
        else fill_dense<T, DotStep>(left, right, patch, tile);
    }
    static double pair(const LeafUse&, const Source& left, const Source& right, Index i) {
        if (const Sparse* rows = std::get_if<Sparse>(&left)) return pair_product(*rows, std::get<Sparse>(right), i);
        return pair_product(std::get<Dense>(left), std::get<Dense>(right), i);
    }
};

}  // namespace mercer::MERCER_ISA
