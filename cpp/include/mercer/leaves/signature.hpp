// The kernel of the signatures of two series, taken as paths from point to point (Király and Oberhauser, Kernels for
// sequentially ordered data, JMLR 20, 2019), in double.
//
// The signature of a path of steps d_1, d_2, ... is the product of exp(d_a) in the tensor algebra. Here each exp is its
// series up to `order` terms, so that k(x, z) is exactly the inner product of two tensors, of all levels or of those up
// to one. With g(a, b) = <d_a, e_b>, sum over chains of pairs of steps, which advance in both series or stay:
//
//     R[1, 1](a, b) = g(a, b) K(a - 1, b - 1)                    both advance
//     R[r, 1](a, b) = g(a, b) / r P[r - 1](a, b - 1)             r steps a, one step b: P sums the R[r, s] before b
//     R[1, s](a, b) = g(a, b) / s Q[s - 1](a - 1, b)             one step a, s steps b: Q sums the R[r, s] above a
//     R[r, s](a, b) = g(a, b) / (r s) R[r - 1, s - 1](a, b)      both stay
//     K(a, b)       = 1 + the sum of R over all places up to (a, b)
//
// Where levels are counted, what stands on the right is that of the level below.
#pragma once

#include "mercer/abreast.hpp"
#include "mercer/vmath.hpp"

namespace mercer::MERCER_ISA {

inline constexpr int kMostOrder = 6;

struct Signatures {
    Index level = 0;  // 0: all
    int order = 1;
    bool lifted = false;  // the points stand for their features under a gaussian
    double factor = 0.0;  // in its exponent, to the base 2

    Signatures() = default;
    explicit Signatures(const LeafUse& use)
        : level(static_cast<Index>(use.parameters[0])),
          order(std::clamp(static_cast<int>(use.parameters[1]), 1, kMostOrder)),
          lifted(use.parameters[2] > 0.0),
          factor(lifted ? exponent_factor(use.parameters[2]) : 0.0) {
        if (level > 0) order = static_cast<int>(std::min<Index>(order, level));
    }
    Index levels() const { return std::max<Index>(level, 1); }
};

// Memory of one thread, for the lanes of one register.
struct SignatureSpace {
    Abreast x, z;
    Buffer<double> near;    // the gaussian of one x and all z, and of the x before it: (2, most, kWidth)
    Buffer<double> steps;   // g(a, b) for all b: (most, kWidth)
    Buffer<double> levels;  // for each b and level: K, Q[1], ..., Q[order - 1]: (most, levels, order, kWidth)
    double found[kAbreast];
};

// One place and one level: R, and what it adds to K, P and Q. `below` are those of the level that R is made from, which
// may be the same.
template <int kOrder>
MERCER_INLINE V<double> chains(V<double> g, V<double> corner, const V<double>* P, const V<double>* Q,
                               const V<double> (*below)[kOrder], V<double> (*R)[kOrder]) {
    R[0][0] = g * corner;
    MERCER_UNROLL
    for (int r = 1; r < kOrder; ++r) {
        const V<double> shared = g * fill<double>(1.0 / (r + 1));
        R[r][0] = shared * P[r - 1];
        R[0][r] = shared * Q[r - 1];
    }
    V<double> sum{};
    MERCER_UNROLL
    for (int r = 0; r < kOrder; ++r) {
        MERCER_UNROLL
        for (int s = 0; s < kOrder; ++s) {
            if (r > 0 && s > 0) R[r][s] = g * fill<double>(1.0 / ((r + 1) * (s + 1))) * below[r - 1][s - 1];
            sum += R[r][s];
        }
    }
    return sum;
}

// The R of one place added up: over s to P[r], over r to Q[s].
template <int kOrder>
MERCER_INLINE void gather_chains(const V<double> (*R)[kOrder], V<double>* P, V<double>* Q) {
    MERCER_UNROLL
    for (int r = 0; r + 1 < kOrder; ++r) {
        V<double> row{}, column{};
        MERCER_UNROLL
        for (int s = 0; s < kOrder; ++s) {
            row += R[r][s];
            column += R[s][r];
        }
        P[r] += row;
        Q[r] += column;
    }
}

// One step of x along all steps of z, all levels together.
template <int kOrder>
void sign_row(const double* steps, Index count, double* levels) {
    V<double> P[kOrder] = {}, along{}, corner = fill<double>(1.0);
    for (Index b = 0; b < count; ++b) {
        double* const here = levels + b * kOrder * kWidth<double>;
        V<double> Q[kOrder], R[kOrder][kOrder];
        MERCER_UNROLL
        for (int s = 0; s + 1 < kOrder; ++s) Q[s] = load<double>(here + (s + 1) * kWidth<double>);
        along += chains<kOrder>(load<double>(steps + b * kWidth<double>), corner, P, Q, R, R);
        gather_chains<kOrder>(R, P, Q);
        corner = load<double>(here);
        store<double>(here, corner + along);
        MERCER_UNROLL
        for (int s = 0; s + 1 < kOrder; ++s) store<double>(here + (s + 1) * kWidth<double>, Q[s]);
    }
}

// The same with each level for itself; `sums` holds P, what was found along the row, and K one place before.
template <int kOrder>
void sign_row_by_levels(const double* steps, Index count, Index most_level, Buffer<double>& sums, double* levels) {
    constexpr Index kUnit = kOrder * kWidth<double>, kSums = (kOrder + 1) * kWidth<double>;
    std::fill_n(sums.data(), most_level * kSums, 0.0);
    for (Index b = 0; b < count; ++b) {
        const V<double> g = load<double>(steps + b * kWidth<double>);
        // Of the level below, before this place was added; of level 0 there is K = 1 only.
        V<double> P_below[kOrder] = {}, Q_below[kOrder] = {}, R_below[kOrder][kOrder] = {}, corner = fill<double>(1.0);
        for (Index m = 0; m < most_level; ++m) {
            double* const here = levels + (b * most_level + m) * kUnit;
            double* const sum = sums.data() + m * kSums;
            V<double> P[kOrder], Q[kOrder], R[kOrder][kOrder];
            const V<double> along = load<double>(sum) + chains<kOrder>(g, corner, P_below, Q_below, R_below, R);
            corner = load<double>(sum + kOrder * kWidth<double>);
            const V<double> above = load<double>(here);
            store<double>(sum, along);
            store<double>(sum + kOrder * kWidth<double>, above);
            store<double>(here, above + along);
            MERCER_UNROLL
            for (int s = 0; s + 1 < kOrder; ++s) {
                P_below[s] = P[s] = load<double>(sum + (s + 1) * kWidth<double>);
                Q_below[s] = Q[s] = load<double>(here + (s + 1) * kWidth<double>);
            }
            gather_chains<kOrder>(R, P, Q);
            MERCER_UNROLL
            for (int s = 0; s + 1 < kOrder; ++s) {
                store<double>(sum + (s + 1) * kWidth<double>, P[s]);
                store<double>(here + (s + 1) * kWidth<double>, Q[s]);
            }
            std::copy_n(&R[0][0], kOrder * kOrder, &R_below[0][0]);
        }
    }
}

// g(a, b) for all steps b of z, in the lanes of register s.
inline void make_steps(const Signatures& of, SignatureSpace& space, int s, Index a) {
    const Abreast &x = space.x, &z = space.z;
    const Index lane = s * kWidth<double>, count = z.most - 1;
    if (!of.lifted) {
        for (Index b = 0; b < count; ++b) {
            V<double> sum{};
            for (Index k = lane; k < lane + x.d * kAbreast; k += kAbreast)
                sum = fma<double>(load<double>(x.point(a + 1) + k) - load<double>(x.point(a) + k),
                                  load<double>(z.point(b + 1) + k) - load<double>(z.point(b) + k), sum);
            store<double>(space.steps.data() + b * kWidth<double>, sum);
        }
        return;
    }
    const V<double> factor = fill<double>(of.factor);
    const auto near = [&](Index at, double* out) {
        for (Index b = 0; b < z.most; ++b)
            store<double>(out + b * kWidth<double>,
                          exp2_link<double>(factor * square_between(x.point(at) + lane, z.point(b) + lane, x.d)));
    };
    const Index half = z.most * kWidth<double>;
    double* const before = space.near.data() + (a % 2) * half;
    double* const after = space.near.data() + (1 - a % 2) * half;
    if (a == 0) near(0, before);
    near(a + 1, after);
    for (Index b = 0; b < count; ++b) {
        const Index left = b * kWidth<double>, right = left + kWidth<double>;
        const V<double> ahead = load<double>(after + right) - load<double>(after + left);
        store<double>(space.steps.data() + left, ahead - (load<double>(before + right) - load<double>(before + left)));
    }
}

// The kernel of the series that stand abreast, lane by lane. Where a series has ended, its steps are 0.
template <int kOrder>
void sign(const Signatures& of, SignatureSpace& space) {
    const Index count = space.z.most - 1, levels = of.levels(), size = count * levels * kOrder * kWidth<double>;
    std::fill_n(space.found, kAbreast, 1.0);
    if (space.x.most < 2 || count < 1) return;
    if (space.levels.size() < size) space.levels.reset_raw(size);
    if (space.steps.size() < count * kWidth<double>) space.steps.reset_raw(count * kWidth<double>);
    if (of.lifted && space.near.size() < 2 * space.z.most * kWidth<double>)
        space.near.reset_raw(2 * space.z.most * kWidth<double>);
    Buffer<double> sums(levels * (kOrder + 1) * kWidth<double>);
    for (int s = 0; s < kRegisters; ++s) {
        double* const at = space.levels.data();
        std::fill_n(at, size, 0.0);
        for (Index b = 0; of.level == 0 && b < count; ++b)
            store<double>(at + b * kOrder * kWidth<double>, fill<double>(1.0));
        for (Index a = 0; a + 1 < space.x.most; ++a) {
            make_steps(of, space, s, a);
            if (of.level == 0) sign_row<kOrder>(space.steps.data(), count, at);
            else sign_row_by_levels<kOrder>(space.steps.data(), count, levels, sums, at);
        }
        V<double> total = fill<double>(of.level == 0 ? 0.0 : 1.0);
        for (Index m = 0; m < levels; ++m)
            total += load<double>(at + ((count - 1) * levels + m) * kOrder * kWidth<double>);
        store<double>(space.found + s * kWidth<double>, total);
    }
}

inline void sign(const Signatures& of, SignatureSpace& space) {
    static constexpr auto kSigns = std::array{&sign<1>, &sign<2>, &sign<3>, &sign<4>, &sign<5>, &sign<6>};
    static_assert(kSigns.size() == kMostOrder);
    kSigns[static_cast<std::size_t>(of.order - 1)](of, space);
}

template <class T>
struct LeftMemory<Kind::signature, T> {
    SignatureSpace signature;
};
template <class T>
struct RightMemory<Kind::signature, T> {
    Signatures signatures;
    Parts signed_series;

    Index bytes() const { return 0; }
};

template <>
struct Leaf<Kind::signature> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index, PackedLeaf<T>& leaf) {
        leaf.signatures = Signatures(use);
        leaf.signed_series = std::get<Parts>(source);
    }
    template <class T>
    static void fill_tile(const Source& source, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch,
                          T* tile) {
        SignatureSpace& space = left.signature;
        std::fill_n(tile, kStripRows * kStripCols<T>, T{});
        for (Index c0 = 0; c0 < patch.columns; c0 += kAbreast) {
            const Index count = std::min(kAbreast, patch.columns - c0);
            space.z.take(right.signed_series, count, [&](Index c) { return patch.j0 + c0 + c; });
            for (Index r = 0; r < patch.rows; ++r) {
                space.x.take(std::get<Parts>(source), count, [&](Index) { return patch.i0 + r; });
                sign(right.signatures, space);
                for (Index c = 0; c < count; ++c) tile[r * kStripCols<T> + c0 + c] = static_cast<T>(space.found[c]);
            }
        }
    }
    static double pair(const LeafUse& use, const Source& left, const Source& right, Index i) {
        SignatureSpace space;
        space.x.take(std::get<Parts>(left), 1, [&](Index) { return i; });
        space.z.take(std::get<Parts>(right), 1, [&](Index) { return i; });
        sign(Signatures(use), space);
        return space.found[0];
    }
};

}  // namespace mercer::MERCER_ISA
