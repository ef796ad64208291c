// Common subsequences of a given length, each worth the decay to the power of the letters that it spans (Lodhi et al.,
// Text classification using string kernels, JMLR 2, 2002), in double.
//
// K'[i](a, b) weighs the common subsequences of i letters of the first a letters of x and the first b of z by what they
// span to the ends of both. With K'[0] = 1 and K''[i](a, 0) = 0,
//
//     K''[i](a, b) = decay K''[i](a, b - 1) + (x_a = z_b) K'[i - 1](a - 1, b - 1)
//     K'[i](a, b)  = decay K'[i](a - 1, b) + K''[i](a, b)
//     k(x, z)      = decay^(2 length) sum over (x_a = z_b) of K'[length - 1](a - 1, b - 1)
//
// which leaves one factor decay for each letter of each side to the end. Several strings z pass in the lanes of
// registers; a shorter one is filled up with a code that no letter has.
#pragma once

#include <array>

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

inline constexpr std::int64_t kNoLetter = -2;  // a letter that the basis lacks may be -1
inline constexpr int kStreams = 2;             // registers of strings at a time, that one may wait for the other
inline constexpr Index kTogether = kStreams * kWidth<double>;

struct Subsequences {
    Index length = 1;
    double decay = 1.0;

    explicit Subsequences(const LeafUse& use)
        : length(static_cast<Index>(use.parameters[0])), decay(use.parameters[1]) {}
    Subsequences() = default;
    double weight() const { return std::pow(decay, 2.0 * static_cast<double>(length)); }
};

template <class T>
struct LeftMemory<Kind::subsequence, T> {
    Buffer<double> levels;         // K'[0], ..., K'[length - 1] for b = 0, 1, ...: (length, most + 1, kTogether)
    Buffer<std::int64_t> aligned;  // the letters of z: (most, kTogether)
};
template <class T>
struct RightMemory<Kind::subsequence, T> {
    Subsequences subsequences;
    Letters strings;

    Index bytes() const { return 0; }
};

using Streams = V<double>[kStreams];

// One letter of x passes along all z, and makes N levels of K' above one that is still that of a - 1. To `sum` come the
// matches above the last of them.
template <int N>
void pass(std::int64_t letter, double decay, const std::int64_t* z, Index most, double* below, Streams& sum) {
    const Index level = (most + 1) * kTogether;
    const V<double> fading = fill<double>(decay);
    const VI<double> x = letter + VI<double>{};
    Streams open[N + 1] = {};    // K''[i](a, b)
    Streams before[N + 1] = {};  // K'[i](a - 1, b - 1)
    double* const above = below + level;
    for (Index b = 0; b < most; ++b) {
        MERCER_UNROLL
        for (int s = 0; s < kStreams; ++s) {
            const Index at = b * kTogether + s * kWidth<double>;
            VI<double> letters;
            std::memcpy(&letters, z + at, sizeof letters);
            const VI<double> equal = letters == x;
            V<double> carried = load<double>(below + at);
            MERCER_UNROLL
            for (int i = 0; i < N; ++i) {
                open[i][s] = fma<double>(fading, open[i][s], select<double>(equal, carried, V<double>{}));
                double* const here = above + i * level + kTogether + at;
                const V<double> old = load<double>(here);
                store<double>(here, fma<double>(fading, old, open[i][s]));
                carried = before[i][s];
                before[i][s] = old;
            }
            sum[s] += select<double>(equal, carried, V<double>{});
        }
    }
}

// K of one x and the strings z that are aligned.
inline void walk_subsequences(const std::int32_t* x, Index letters, const Subsequences& of, const std::int64_t* z,
                              Index most, double* levels, double* out) {
    const Index level = (most + 1) * kTogether;
    std::fill_n(out, kTogether, 0.0);
    if (std::min(letters, most) < of.length) return;
    std::fill_n(levels, level, 1.0);
    std::fill_n(levels + level, (of.length - 1) * level, 0.0);
    constexpr auto kPasses = std::array{&pass<0>, &pass<1>, &pass<2>, &pass<3>};
    constexpr Index kMost = static_cast<Index>(kPasses.size()) - 1;
    Streams sum = {};
    for (Index a = 0; a < letters; ++a) {
        // From the top, so that what lies below is still that of a - 1.
        Streams unused = {};
        for (Index top = of.length - 1, first = 0; top >= 0; top = first > 0 ? first : -1) {
            first = std::max<Index>(top - 1, 0) / kMost * kMost;
            const auto made = kPasses[static_cast<std::size_t>(top - first)];
            made(x[a], of.decay, z, most, levels + first * level, top + 1 == of.length ? sum : unused);
        }
    }
    const V<double> weight = fill<double>(of.weight());
    for (int s = 0; s < kStreams; ++s) store<double>(out + s * kWidth<double>, weight * sum[s]);
}

// What the levels of so many letters z take.
inline Index size_of_levels(const Subsequences& of, Index most) {
    return most < of.length ? 0 : of.length * (most + 1) * kTogether;
}

// The letters of strings from j on, side by side; the longest of them.
inline Index align_letters(const Letters& strings, Index j, Index count, Buffer<std::int64_t>& aligned) {
    Index most = 0;
    for (Index c = 0; c < count; ++c) most = std::max(most, strings.length(j + c));
    if (aligned.size() < most * kTogether) aligned.reset_raw(most * kTogether);
    std::fill_n(aligned.data(), most * kTogether, kNoLetter);
    for (Index c = 0; c < count; ++c) {
        const std::int32_t* codes = strings.codes + strings.offsets[j + c];
        for (Index b = 0; b < strings.length(j + c); ++b) aligned[b * kTogether + c] = codes[b];
    }
    return most;
}

template <>
struct Leaf<Kind::subsequence> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index, PackedLeaf<T>& leaf) {
        leaf.subsequences = Subsequences(use);
        leaf.strings = std::get<Letters>(source);
    }
    template <class T>
    static void fill_tile(const Source& source, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch,
                          T* tile) {
        const Letters& rows = std::get<Letters>(source);
        double values[kTogether];
        std::fill_n(tile, kStripRows * kStripCols<T>, T{});
        for (Index c = 0; c < patch.columns; c += kTogether) {
            const Index count = std::min(kTogether, patch.columns - c);
            const Index most = align_letters(right.strings, patch.j0 + c, count, left.aligned);
            const Index needed = size_of_levels(right.subsequences, most);
            if (left.levels.size() < needed) left.levels.reset_raw(needed);
            for (Index r = 0; r < patch.rows; ++r) {
                const Index i = patch.i0 + r;
                walk_subsequences(rows.codes + rows.offsets[i], rows.length(i), right.subsequences, left.aligned.data(),
                                  most, left.levels.data(), values);
                for (Index at = 0; at < count; ++at) tile[r * kStripCols<T> + c + at] = static_cast<T>(values[at]);
            }
        }
    }
    static double pair(const LeafUse& use, const Source& left, const Source& right, Index i) {
        const Letters& x = std::get<Letters>(left);
        const Subsequences of(use);
        Buffer<std::int64_t> aligned;
        const Index most = align_letters(std::get<Letters>(right), i, 1, aligned);
        Buffer<double> levels(size_of_levels(of, most));
        double values[kTogether];
        walk_subsequences(x.codes + x.offsets[i], x.length(i), of, aligned.data(), most, levels.data(), values);
        return values[0];
    }
};

}  // namespace mercer::MERCER_ISA
