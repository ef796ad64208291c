// The micro-kernel: a panel of rows against a panel of columns, all accumulators in registers. Dot products,
// city-block distances and the histogram kernels are the same outer-product loop with another step.
#pragma once

#include <limits>

#include "mercer/lanes.hpp"
#include "mercer/view.hpp"
#include "mercer/vmath.hpp"

namespace mercer::MERCER_ISA {

// A tile in registers is kPanelRows x kPanelCols; a strip of tiles in L1 is kStripRows x kStripCols; a block of rows
// shares one sweep over the columns. 192 is a multiple of every strip side, so blocks of a symmetric walk align.
inline constexpr int kPanelRows = kBytes == 64 ? 12 : 6;
template <class T>
inline constexpr int kPanelCols = 2 * kWidth<T>;
inline constexpr int kStripRows = 24;
template <class T>
inline constexpr int kStripCols = 256 / static_cast<int>(sizeof(T));
inline constexpr int kBlockRows = 192;

// a / b with 0 / 0 = 0.
template <class T>
MERCER_INLINE V<T> quotient(V<T> a, V<T> b) {
    const V<T> zero{};
    return select<T>(b == zero && a == zero, zero, a / b);
}
// a / (both - a) with 0 / 0 = 1: two empty sets are equal.
template <class T>
MERCER_INLINE V<T> tanimoto(V<T> a, V<T> both) {
    const V<T> below = both - a;
    return select<T>(below == V<T>{}, fill<T>(T{1}), a / below);
}

struct DotStep {
    template <class T>
    MERCER_INLINE static V<T> step(V<T> sum, V<T> x, V<T> z) {
        return fma<T>(x, z, sum);
    }
};
struct SquareStep {
    template <class T>
    MERCER_INLINE static V<T> step(V<T> sum, V<T> x, V<T> z) {
        const V<T> gap = x - z;
        return fma<T>(gap, gap, sum);
    }
};

// Of the first `kRows` rows of a panel: all of them, or one, since a single row is what a served model is asked for.
template <class T, int kRows = kPanelRows>
using Accumulators = V<T>[kRows][2];

template <class T, class Step, int kRows>
MERCER_INLINE void accumulate(const T* a, const T* b, Index d, Accumulators<T, kRows>& sum) {
    for (Index k = 0; k < d; ++k) {
        const V<T> z0 = load<T>(b);
        const V<T> z1 = load<T>(b + kWidth<T>);
        MERCER_UNROLL
        for (int r = 0; r < kRows; ++r) {
            const V<T> x = fill<T>(a[r]);
            sum[r][0] = Step::template step<T>(sum[r][0], x, z0);
            sum[r][1] = Step::template step<T>(sum[r][1], x, z1);
        }
        a += kPanelRows;
        b += kPanelCols<T>;
    }
}

template <class T, int kRows>
MERCER_INLINE void start_at(V<T> right0, V<T> right1, Accumulators<T, kRows>& sum) {
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        sum[r][0] = right0;
        sum[r][1] = right1;
    }
}

// out (kRows x kPanelCols, rows `stride` apart) = the sums over d features.
template <class T, class Step, int kRows>
void panel(const T* a, const T* b, Index d, T* out, Index stride) {
    Accumulators<T, kRows> sum = {};
    accumulate<T, Step, kRows>(a, b, d, sum);
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        store<T>(out + r * stride, sum[r][0]);
        store<T>(out + r * stride + kWidth<T>, sum[r][1]);
    }
}

// out = scale * |a - b|^2, from differences.
template <class T, int kRows>
void difference_panel(const T* a, const T* b, Index d, T scale, T* out, Index stride) {
    Accumulators<T, kRows> sum = {};
    accumulate<T, SquareStep, kRows>(a, b, d, sum);
    const V<T> by = fill<T>(scale);
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        store<T>(out + r * stride, sum[r][0] * by);
        store<T>(out + r * stride + kWidth<T>, sum[r][1] * by);
    }
}

// What remains to be done to a strip of K: nothing, or 2^x of exponents that all lie in the normal range, or of any.
enum class Link { none, near, far };

template <class T, Link L>
MERCER_INLINE V<T> linked(V<T> x) {
    if constexpr (L == Link::near) return exp2_near<T>(x);
    else if constexpr (L == Link::far) return exp2_link<T>(x);
    else return x;
}

// What a gaussian panel is multiplied with, and where the products go. Rows: lanes += K v. Columns (a symmetric walk
// only): sums += K'v of the panel's rows.
template <class T>
struct PanelProduct {
    const T* v;
    T* lanes;       // (kPanelRows, kWidth)
    const T* rows;  // v at the panel's rows, or none
    T* sums;
};

// Below `limit` no exponent of the strip is in doubt. Above, a value is trusted if it, times |a0 + b0|, to which its
// error is in proportion, is at most `trust`.
template <class T>
struct PanelGuard {
    T limit;
    T trust;
};

// Whether some value of a panel (rows, kPanelCols) is not to be trusted; its exponents are brought to at most 0.
// Not inlined, so that it takes no registers from the many panels that do not need it.
template <class T>
[[gnu::noinline]] bool wants_mending(T* exponents, int rows, const T* a0, const T* b0, T trust) {
    V<T> least{};  // of values times a0 + b0, which is negative
    for (int r = 0; r < rows; ++r) {
        const V<T> left = fill<T>(a0[r]);
        for (int c = 0; c < kPanelCols<T>; c += kWidth<T>) {
            T* at = exponents + r * kPanelCols<T> + c;
            const V<T> exponent = minimum<T>(load<T>(at), V<T>{});
            store<T>(at, exponent);
            least = minimum<T>(least, exp2_near<T>(exponent) * (left + load<T>(b0 + c)));
        }
    }
    return any<T>(least < fill<T>(-trust));
}

// lanes += 2^(<a, b> + a0 + b0) v with K in registers only. Stores of K would cost as much as the exponentials: loads
// of the next panel wait behind stores to addresses that agree with theirs in the low bits. Guarded: true (and nothing
// added) if some exponent needs mending. Otherwise rounding may put an exponent above 0.
template <class T, int kRows, bool Guarded, bool Mirrored>
bool product_panel(const T* a, const T* b, Index d, const T* a0, const T* b0, const PanelGuard<T>& guard,
                   const PanelProduct<T>& to) {
    Accumulators<T, kRows> sum;
    start_at<T, kRows>(load<T>(b0), load<T>(b0 + kWidth<T>), sum);
    accumulate<T, DotStep, kRows>(a, b, d, sum);
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        const V<T> left = fill<T>(a0[r]);
        sum[r][0] = sum[r][0] + left;
        sum[r][1] = sum[r][1] + left;
    }
    if constexpr (Guarded) {
        V<T> most = maximum<T>(sum[0][0], sum[0][1]);
        MERCER_UNROLL
        for (int r = 1; r < kRows; ++r) most = maximum<T>(most, maximum<T>(sum[r][0], sum[r][1]));
        if (any<T>(most >= fill<T>(guard.limit))) {
            T kept[kRows * kPanelCols<T>];
            MERCER_UNROLL
            for (int r = 0; r < kRows; ++r) {
                store<T>(kept + r * kPanelCols<T>, sum[r][0]);
                store<T>(kept + r * kPanelCols<T> + kWidth<T>, sum[r][1]);
            }
            if (wants_mending<T>(kept, kRows, a0, b0, guard.trust)) return true;
            MERCER_UNROLL
            for (int r = 0; r < kRows; ++r) {
                sum[r][0] = load<T>(kept + r * kPanelCols<T>);
                sum[r][1] = load<T>(kept + r * kPanelCols<T> + kWidth<T>);
            }
        }
    }
    const V<T> v0 = load<T>(to.v);
    const V<T> v1 = load<T>(to.v + kWidth<T>);
    V<T> column0{}, column1{};
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        const V<T> k0 = exp2_near<T>(sum[r][0]);
        const V<T> k1 = exp2_near<T>(sum[r][1]);
        T* lanes = to.lanes + r * kWidth<T>;
        store<T>(lanes, fma<T>(k1, v1, fma<T>(k0, v0, load<T>(lanes))));
        if constexpr (Mirrored) {
            const V<T> x = fill<T>(to.rows[r]);
            column0 = fma<T>(k0, x, column0);
            column1 = fma<T>(k1, x, column1);
        }
    }
    if constexpr (Mirrored) {
        store<T>(to.sums, load<T>(to.sums) + column0);
        store<T>(to.sums + kWidth<T>, load<T>(to.sums + kWidth<T>) + column1);
    }
    return false;
}

// out = <a, b> + a0 + b0, at most 0: the exponents of a gaussian. True when some exponent reaches `limit`: it is a
// small difference of large numbers and needs mending. The sum starts at b0 and ends with a0: its way from
// -|z|^2/2 to |x|^2/2 crosses zero, which halves the rounding of one that starts at a0 + b0.
template <class T, int kRows, bool Guarded>
bool exponent_panel(const T* a, const T* b, Index d, const T* a0, const T* b0, T limit, T* out, Index stride) {
    Accumulators<T, kRows> sum;
    start_at<T, kRows>(load<T>(b0), load<T>(b0 + kWidth<T>), sum);
    accumulate<T, DotStep, kRows>(a, b, d, sum);
    V<T> most = fill<T>(-std::numeric_limits<T>::infinity());
    MERCER_UNROLL
    for (int r = 0; r < kRows; ++r) {
        const V<T> left = fill<T>(a0[r]);
        MERCER_UNROLL
        for (int c = 0; c < 2; ++c) {
            const V<T> exponent = minimum<T>(sum[r][c] + left, V<T>{});  // not a number becomes 0, and is mended
            store<T>(out + r * stride + c * kWidth<T>, exponent);
            if constexpr (Guarded) most = maximum<T>(most, exponent);
        }
    }
    if constexpr (Guarded) return any<T>(most >= fill<T>(limit));
    return false;
}

// One bit for each lane of a comparison, the first lane lowest.
template <class T>
MERCER_INLINE unsigned bits_of(VI<T> mask) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask));
    else return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask));
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>)
        return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
    else return static_cast<unsigned>(_mm256_movemask_pd(reinterpret_cast<__m256d>(mask)));
#else
    unsigned bits = 0;
    for (int i = 0; i < kWidth<T>; ++i) bits |= (mask[i] != 0 ? 1U : 0U) << i;
    return bits;
#endif
}

// Nearness in a search, <a, b> - b2/2: true, and it is stored, when one reaches its row's limit or is no number. The
// sum starts at -b2/2, so that all that remains of a panel without a hit is one comparison per vector.
template <class T>
bool beyond_panel(const T* a, const T* b, Index d, const T* b2, const T* limits, T* out, Index stride) {
    Accumulators<T> sum;
    start_at<T, kPanelRows>(fill<T>(T{-0.5}) * load<T>(b2), fill<T>(T{-0.5}) * load<T>(b2 + kWidth<T>), sum);
    accumulate<T, DotStep, kPanelRows>(a, b, d, sum);
    VI<T> hits{};
    MERCER_UNROLL
    for (int r = 0; r < kPanelRows; ++r) {
        const V<T> limit = fill<T>(limits[r]);
        hits |= ~(sum[r][0] < limit) | ~(sum[r][1] < limit);
    }
    if (!any<T>(hits)) return false;
    MERCER_UNROLL
    for (int r = 0; r < kPanelRows; ++r) {
        store<T>(out + r * stride, sum[r][0]);
        store<T>(out + r * stride + kWidth<T>, sum[r][1]);
    }
    return true;
}

}  // namespace mercer::MERCER_ISA
