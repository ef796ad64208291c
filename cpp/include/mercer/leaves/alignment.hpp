// The global alignment kernel of two series (Cuturi, Vert, Birkenes and Matsui, ICASSP 2007; Cuturi, Fast global
// alignment kernels, ICML 2011), in double. Over all alignments, the product of what each aligned pair of points
// counts:
//
//     M(a, b) = c(a, b) (M(a - 1, b) + M(a, b - 1) + M(a - 1, b - 1)),  M(0, 0) = 1, else M(a, 0) = M(0, b) = 0
//     c = r / (2 - r),  r = w exp(-|x_a - z_b|^2 / (2 length^2)),  w = max(0, 1 - |a - b| / triangular), or 1
//
// M grows by powers, along rows and columns, so each lane keeps a power of two for each block of columns, and takes it
// out where numbers grow. What is then too small for a double is too small beside sqrt(k(x, x) k(z, z)): M(a, b) is at
// most the root of the product of both series with themselves up to there, what follows is at most that of what
// follows, and a point more makes k(z, z) at most 5.83 times as large, so that the columns of a block are alike.
#pragma once

#include "mercer/abreast.hpp"
#include "mercer/vmath.hpp"

namespace mercer::MERCER_ISA {

// part * 2^exponent, part in [1/2, 1), or 0.
struct Wide {
    double part = 0.0;
    int exponent = 0;

    double value() const { return std::ldexp(part, exponent); }
    double log() const { return std::log(part) + exponent / kLog2E; }
    // This over the geometric mean of two others; 1 for three equal ones.
    double over(const Wide& x, const Wide& z) const {
        const int sum = x.exponent + z.exponent, odd = sum & 1;
        return std::ldexp(part / std::sqrt(x.part * z.part * (odd ? 2.0 : 1.0)), exponent - (sum - odd) / 2);
    }
};

struct Alignments {
    enum class Gives { value, cosine, log };

    double factor = 0.0;   // in the exponent, to the base 2
    Index triangular = 0;  // 0: no weights
    Gives gives = Gives::value;

    Alignments() = default;
    explicit Alignments(const LeafUse& use)
        : factor(exponent_factor(use.parameters[0])),
          triangular(static_cast<Index>(use.parameters[1])),
          gives(static_cast<Gives>(static_cast<int>(use.parameters[2]))) {}

    bool is_cosine() const { return gives == Gives::cosine; }
    bool reach(Index a, Index b) const { return triangular == 0 || std::abs(a - b) < triangular; }
};

// Memory of one thread.
struct AlignmentSpace {
    Abreast x, z;
    Buffer<double> row;              // M(a, b), b = 0, 1, ...: (most + 1, kAbreast)
    Buffer<std::int64_t> exponents;  // that were taken out of each block of columns: (blocks, kAbreast)
    Buffer<double> carries;          // from a block to the next one: (blocks, kAbreast)
    std::array<Wide, static_cast<std::size_t>(kAbreast)> found;  // of each lane
};

inline constexpr Index kAlignedColumns = 64;  // of a block

// One row of M, made from the one before it.
template <bool kWeighted>
void align_row(const Alignments& of, const double* x, const Abreast& z, Index a, const double* carries, double* row) {
    const Index first = kWeighted ? std::max<Index>(0, a - of.triangular + 1) : 0;
    const Index last = kWeighted ? std::min(z.most, a + of.triangular) : z.most;
    if (first > z.most) return;
    const V<double> factor = fill<double>(of.factor), two = fill<double>(2.0);
    V<double> left[kRegisters] = {}, before[kRegisters];
    for (int s = 0; s < kRegisters; ++s) {
        double* const start = row + first * kAbreast + s * kWidth<double>;
        before[s] = load<double>(start);
        store<double>(start, V<double>{});
    }
    for (Index b = first; b < last;) {
        const Index block = (b + 1) / kAlignedColumns, end = std::min(last, (block + 1) * kAlignedColumns - 1);
        for (int s = 0; (b + 1) % kAlignedColumns == 0 && s < kRegisters; ++s) {
            const V<double> carry = load<double>(carries + block * kAbreast + s * kWidth<double>);
            left[s] *= carry;
            before[s] *= carry;
        }
        for (; b < end; ++b) {
            V<double> weight{};
            if constexpr (kWeighted)
                weight = fill<double>(1.0 - static_cast<double>(std::abs(a - b)) / static_cast<double>(of.triangular));
            MERCER_UNROLL
            for (int s = 0; s < kRegisters; ++s) {
                const int lane = s * kWidth<double>;
                V<double> r = exp2_link<double>(factor * square_between(x + lane, z.point(b) + lane, z.d));
                if constexpr (kWeighted) r *= weight;
                const V<double> c = r / (two - r);
                double* const here = row + (b + 1) * kAbreast + lane;
                const V<double> above = load<double>(here);
                left[s] = fma<double>(c, left[s], c * (above + before[s]));
                before[s] = above;
                store<double>(here, left[s]);
            }
        }
    }
}

// Takes powers of two out of the blocks of one lane that have grown, or stand beside one that has.
inline void scale_down(AlignmentSpace& space, Index columns, Index lane) {
    constexpr double kLarge = 0x1p300;
    constexpr std::int64_t kSteep = 100;
    for (Index block = 0, from = 0; from < columns; ++block, from += kAlignedColumns) {
        const Index end = std::min(from + kAlignedColumns, columns);
        double largest = 0.0;
        for (Index b = from; b < end; ++b) largest = std::max(largest, space.row[b * kAbreast + lane]);
        std::int64_t& exponent = space.exponents[block * kAbreast + lane];
        const std::int64_t was = exponent;
        if (largest > kLarge) exponent += std::ilogb(largest);
        if (block > 0) {
            const std::int64_t beside = space.exponents[(block - 1) * kAbreast + lane];
            if (beside - exponent > kSteep) exponent = beside;
            space.carries[block * kAbreast + lane] = std::ldexp(1.0, static_cast<int>(beside - exponent));
        }
        if (exponent == was) continue;
        const double factor = std::ldexp(1.0, static_cast<int>(was - exponent));
        for (Index b = from; b < end; ++b) space.row[b * kAbreast + lane] *= factor;
    }
}

// Whether some lane is to be scaled down.
inline bool has_grown(const double* row, Index columns) {
    V<double> largest{};
    for (Index at = 0; at < columns * kAbreast; at += kWidth<double>)
        largest = maximum<double>(largest, load<double>(row + at));
    return any<double>(largest > fill<double>(0x1p300));
}

// The kernel of the series that stand abreast, lane by lane.
inline void align(const Alignments& of, AlignmentSpace& space) {
    // A row grows by a factor of at most twice its columns, of which there are fewer than 2^40.
    constexpr Index kRowsBetween = 12;
    const Abreast &x = space.x, &z = space.z;
    const Index columns = z.most + 1, blocks = columns / kAlignedColumns + 1;
    if (space.row.size() < columns * kAbreast) space.row.reset_raw(columns * kAbreast);
    if (space.carries.size() < blocks * kAbreast) {
        space.carries.reset_raw(blocks * kAbreast);
        space.exponents.reset_raw(blocks * kAbreast);
    }
    double* const row = space.row.data();
    std::fill_n(row, columns * kAbreast, 0.0);
    std::fill_n(row, kAbreast, 1.0);
    std::fill_n(space.carries.data(), blocks * kAbreast, 1.0);
    std::fill_n(space.exponents.data(), blocks * kAbreast, 0);
    const auto read = [&](Index a) {
        for (Index c = 0; c < kAbreast; ++c) {
            if (x.length(c) != a) continue;
            const Index b = z.length(c);
            Wide& found = space.found[static_cast<std::size_t>(c)] = {};
            if (!of.reach(a, b)) continue;
            found.part = std::frexp(row[b * kAbreast + c], &found.exponent);
            found.exponent += static_cast<int>(space.exponents[b / kAlignedColumns * kAbreast + c]);
        }
    };
    read(0);
    for (Index a = 0; a < x.most; ++a) {
        (of.triangular > 0 ? align_row<true> : align_row<false>)(of, x.point(a), z, a, space.carries.data(), row);
        if (a % kRowsBetween == kRowsBetween - 1 && has_grown(row, columns)) {
            for (Index lane = 0; lane < kAbreast; ++lane) scale_down(space, columns, lane);
        }
        read(a + 1);
    }
}

// k(x, x) of the series i0, ..., i1 - 1.
inline void align_selves(const Alignments& of, const Parts& points, Index i0, Index i1, AlignmentSpace& space,
                         Buffer<Wide>& out) {
    if (out.size() < i1 - i0) out.reset_raw(i1 - i0);
    for (Index i = i0; i < i1; i += kAbreast) {
        const Index count = std::min(kAbreast, i1 - i);
        space.x.take(points, count, [&](Index c) { return i + c; });
        space.z.take(points, count, [&](Index c) { return i + c; });
        align(of, space);
        std::copy_n(space.found.begin(), count, out.data() + (i - i0));
    }
}

template <class T>
struct LeftMemory<Kind::alignment, T> {
    AlignmentSpace alignment;
    Buffer<Wide> selves;  // of the block of rows
    Index first_self = 0;
};
template <class T>
struct RightMemory<Kind::alignment, T> {
    Alignments alignments;
    Parts aligned;
    Buffer<Wide> selves;

    Index bytes() const { return bytes_of(selves); }
};

template <>
struct Leaf<Kind::alignment> : PlainLeaf {
    using Gives = Alignments::Gives;

    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index, PackedLeaf<T>& leaf) {
        RightMemory<Kind::alignment, T>& right = leaf;
        right.alignments = Alignments(use);
        right.aligned = std::get<Parts>(source);
        if (!right.alignments.is_cosine()) return;
        AlignmentSpace space;
        align_selves(right.alignments, right.aligned, 0, right.aligned.n, space, right.selves);
    }
    template <class T>
    static void take_rows(const Source& source, const PackedLeaf<T>& packed, Index i0, Index i1, LeftLeaf<T>& leaf) {
        const RightMemory<Kind::alignment, T>& right = packed;
        LeftMemory<Kind::alignment, T>& left = leaf;
        left.first_self = i0;
        if (right.alignments.is_cosine())
            align_selves(right.alignments, std::get<Parts>(source), i0, i1, left.alignment, left.selves);
    }
    template <class T>
    static void fill_tile(const Source& source, LeftLeaf<T>& leaf, const PackedLeaf<T>& packed, const Patch& patch,
                          T* tile) {
        const RightMemory<Kind::alignment, T>& right = packed;
        LeftMemory<Kind::alignment, T>& left = leaf;
        AlignmentSpace& space = left.alignment;
        std::fill_n(tile, kStripRows * kStripCols<T>, T{});
        for (Index c0 = 0; c0 < patch.columns; c0 += kAbreast) {
            const Index count = std::min(kAbreast, patch.columns - c0), j = patch.j0 + c0;
            space.z.take(right.aligned, count, [&](Index c) { return j + c; });
            for (Index r = 0; r < patch.rows; ++r) {
                const Index i = patch.i0 + r;
                space.x.take(std::get<Parts>(source), count, [&](Index) { return i; });
                align(right.alignments, space);
                for (Index c = 0; c < count; ++c) {
                    const Wide& found = space.found[static_cast<std::size_t>(c)];
                    const double value = right.alignments.is_cosine()
                                             ? found.over(left.selves[i - left.first_self], right.selves[j + c])
                                             : given(right.alignments, found);
                    tile[r * kStripCols<T> + c0 + c] = static_cast<T>(value);
                }
            }
        }
    }
    static double pair(const LeafUse& use, const Source& left, const Source& right, Index i) {
        const Alignments of(use);
        const Parts &x = std::get<Parts>(left), &z = std::get<Parts>(right);
        AlignmentSpace space;
        space.x.take(x, 1, [&](Index) { return i; });
        space.z.take(z, 1, [&](Index) { return i; });
        align(of, space);
        const Wide found = space.found[0];
        if (!of.is_cosine()) return given(of, found);
        Buffer<Wide> x_self, z_self;
        align_selves(of, x, i, i + 1, space, x_self);
        align_selves(of, z, i, i + 1, space, z_self);
        return found.over(x_self[0], z_self[0]);
    }

   private:
    static double given(const Alignments& of, const Wide& found) {
        return of.gives == Gives::log ? found.log() : found.value();
    }
};

}  // namespace mercer::MERCER_ISA
