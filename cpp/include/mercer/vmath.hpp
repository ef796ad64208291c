// Elementary functions on vector lanes, as the kernels need them, in float and double.
//
// Every function works on V<T> without branches or tables: arguments are reduced to a short interval, a polynomial
// (coefficients by cpp/tools/minimax.py) answers there, and the exponent is put back with integer arithmetic. The
// bounds stated are asserted by cpp/tests/test_vmath.cpp. They hold in the default rounding mode.
#pragma once

#include "mercer/lanes.hpp"

#include <bit>
#include <cstddef>
#include <iterator>
#include <limits>

namespace mercer::MERCER_ISA {

// exp2_tail: 2^f = 1 + f tail(f) for |f| <= 1/2. exp_tail: e^r = 1 + r tail(r) for |r| <= ln 2 / 2, its first
// coefficient exactly 1 so that e^r - 1 is good near 0. log_tail: log((1+s)/(1-s)) = 2 s + s z tail(z), z = s^2, up to
// (1+s)/(1-s) = sqrt 2. atan_tail: atan(t) = t + t z tail(z), z = t^2, up to t = tan(pi/8).
template <class T>
struct Table;
template <>
struct Table<float> {
    static constexpr float exp2_tail[] = {0x1.62e42ap-1f, 0x1.ebf9c4p-3f, 0x1.c6b6d4p-5f, 0x1.3ce7c8p-7f,
                                          0x1.5bdaeep-10f};
    static constexpr float exp_tail[] = {0x1p+0f,        0x1.fffffep-2f, 0x1.5554b6p-3f,
                                         0x1.5556f4p-5f, 0x1.1223d4p-7f, 0x1.6b9906p-10f};
    static constexpr float log_tail[] = {0x1.555554p-1f, 0x1.999c28p-2f, 0x1.23d30ep-2f, 0x1.f1633ap-3f};
    static constexpr float atan_tail[] = {-0x1.55554ap-2f, 0x1.9991e2p-3f, -0x1.23b9a4p-3f, 0x1.b2249ap-4f,
                                          -0x1.f2e7ccp-5f};
    // ln 2 and 2 / ln 2 as sums of two; the first part of ln 2 is short, so that its product with an exponent is exact.
    static constexpr float ln2[] = {0x1.62e4p-1f, 0x1.7f7d1cp-20f};
    static constexpr float two_over_ln2[] = {0x1.715476p+1f, 0x1.4ae0cp-25f};
    static constexpr float half_pi[] = {0x1.921fb6p+0f, -0x1.777a5cp-25f};
    static constexpr float exp_range[] = {-104.0f, 89.0f};  // beyond these e^x is 0 or infinite
    static constexpr float tanh_range = 9.5f;               // from here on tanh rounds to 1
};
template <>
struct Table<double> {
    static constexpr double exp2_tail[] = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c59cp-3,  0x1.c6b08d704a0d6p-5,
                                           0x1.3b2ab6fba123p-7,   0x1.5d87fe78b34c5p-10, 0x1.4309130becf4ap-13,
                                           0x1.ffcbfbfaab9adp-17, 0x1.62bfce21c1525p-20, 0x1.b5260a5b78b2cp-24,
                                           0x1.e61114476e9cep-28, 0x1.e812954822c88p-32};
    static constexpr double exp_tail[] = {0x1p+0,
                                          0x1.0000000000005p-1,
                                          0x1.5555555555553p-3,
                                          0x1.55555555522eap-5,
                                          0x1.1111111114184p-7,
                                          0x1.6c16c17e9f46dp-10,
                                          0x1.a01a018a40503p-13,
                                          0x1.a019a8570fc0dp-16,
                                          0x1.71de610fdba2bp-19,
                                          0x1.28a0e54adacap-22,
                                          0x1.ae9f744ece8d2p-26};
    static constexpr double log_tail[] = {0x1.5555555555592p-1, 0x1.999999997ffa3p-2, 0x1.24924941d57acp-2,
                                          0x1.c71c522031bf3p-3, 0x1.74663a28197cdp-3, 0x1.39a236fd34712p-3,
                                          0x1.2f006ebfbabc8p-3};
    static constexpr double atan_tail[] = {-0x1.555555555531ap-2, 0x1.9999999949b57p-3,  -0x1.249249059373ap-3,
                                           0x1.c71c65d724e48p-4,  -0x1.745bc3e81d655p-4, 0x1.3afc3fe1b7fa8p-4,
                                           -0x1.10058d2814d8p-4,  0x1.d258ef7e3526ap-5,  -0x1.6523e6c59b57ap-5,
                                           0x1.5c6dda12d90e9p-6};
    static constexpr double ln2[] = {0x1.62e42fefa4p-1, -0x1.8432a1b0e2634p-43};
    static constexpr double two_over_ln2[] = {0x1.71547652b82fep+1, 0x1.777d0ffda0d24p-55};
    static constexpr double half_pi[] = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
    static constexpr double exp_range[] = {-746.0, 710.0};
    static constexpr double tanh_range = 20.0;
};

// Bits are added and shifted as unsigned integers, which may wrap.
template <class T>
struct BitsOf {
    typedef std::make_unsigned_t<Int<T>> type __attribute__((vector_size(kBytes)));
};
template <class T>
using VB = typename BitsOf<T>::type;
template <class T>
MERCER_INLINE VB<T> as_bits(V<T> v) {
    return reinterpret_cast<VB<T>>(v);
}
template <class T>
MERCER_INLINE V<T> from_bits(VB<T> v) {
    return reinterpret_cast<V<T>>(v);
}

// Adding kRound leaves a number rounded to an integer in the low bits; kRoundBiased adds the exponent's bias to it, so
// that the low bits, shifted up, are the number 2^n itself.
template <class T>
inline constexpr T kRound = static_cast<T>(Int<T>{3} << (Bits<T>::mantissa - 1));
template <class T>
inline constexpr T kRoundBiased = kRound<T> + static_cast<T>(Bits<T>::bias);

// c[0] + c[1] x + ... by Horner's rule. A long chain waits for itself more than for the multipliers: it is cut into its
// even and its odd powers, for one more multiplication. With 11 terms exp2_link gains a tenth by that (8.5 to 7.6
// cycles on Zen 3), with 5 terms it loses as much; the limit is between them.
template <class T, std::size_t N>
MERCER_INLINE V<T> polynomial(V<T> x, const T (&c)[N]) {
    V<T> p = fill<T>(c[N - 1]);
    if constexpr (N < 8) {
        MERCER_UNROLL
        for (std::size_t k = N - 1; k > 0; --k) p = fma<T>(p, x, fill<T>(c[k - 1]));
        return p;
    } else {
        const V<T> square = x * x;
        V<T> q = fill<T>(c[N - 2]);
        MERCER_UNROLL
        for (std::size_t k = N - 2; k > 0; --k) {
            V<T>& turn = k % 2 == N % 2 ? p : q;
            turn = fma<T>(turn, square, fill<T>(c[k - 1]));
        }
        return N % 2 == 1 ? fma<T>(q, x, p) : fma<T>(p, x, q);
    }
}

// 2^n of a number to which kRoundBiased was added.
template <class T>
MERCER_INLINE V<T> power_of_two(V<T> rounded) {
    return from_bits<T>(as_bits<T>(rounded) << Bits<T>::mantissa);
}
// p * 2^n for |n| up to twice the range of exponents: in two halves, so that the end overflows to infinity or
// underflows gradually with one rounding.
template <class T>
MERCER_INLINE V<T> scale(V<T> p, V<T> n) {
    const V<T> round = fill<T>(kRoundBiased<T>);
    const V<T> first = fma<T>(n, fill<T>(T(0.5)), round);
    const V<T> second = n - (first - round) + round;
    return p * power_of_two<T>(first) * power_of_two<T>(second);
}

// 2^x for -126 <= x <= 0 (-1022): the link of the gaussian, without a clamp. In float the polynomial is split in pairs,
// which shortens the chain behind the last product of a panel.
template <class T>
MERCER_INLINE V<T> exp2_near(V<T> x) {
    const V<T> rounded = x + fill<T>(kRound<T>);
    const V<T> f = x - (rounded - fill<T>(kRound<T>));
    const auto& c = Table<T>::exp2_tail;
    V<T> p;
    if constexpr (std::size(Table<T>::exp2_tail) == 5) {
        const V<T> square = f * f;
        const V<T> low = fma<T>(f, fill<T>(c[0]), fill<T>(T(1)));
        const V<T> middle = fma<T>(f, fill<T>(c[2]), fill<T>(c[1]));
        const V<T> high = fma<T>(f, fill<T>(c[4]), fill<T>(c[3]));
        p = fma<T>(fma<T>(high, square, middle), square, low);
    } else {
        p = fma<T>(polynomial<T>(f, c), f, fill<T>(T(1)));
    }
    return from_bits<T>(as_bits<T>(p) + (as_bits<T>(rounded) << Bits<T>::mantissa));
}

// 2^x for the links of the radial kernels, x <= 0 up to rounding (x < 127 is right, beyond is not). Within 2.5 ulp in
// float and 2 in double; exactly 1 at 0 and never above 1 for x <= 0; neighbours may come out of order by one ulp.
// Below the normal range (x < -126, -1022) the exponent field is empty and the bits read as a subnormal number: the
// result falls to exactly 0 at -127 (-1023), not quite as 2^x but monotone and below the smallest normal number, and
// stays 0. That is what integer addition gives for free. On AVX2 (Zen 3) 4.1 cycles per vector of floats and 7.6 of
// doubles; tables of 2^(i/n), by gather or by permutation, take 9 to 10 for doubles, and squaring 2^(x/2) exceeds 2
// ulp.
template <class T>
MERCER_INLINE V<T> exp2_link(V<T> x) {
    return exp2_near<T>(maximum<T>(fill<T>(T(-Bits<T>::bias)), x));  // this order keeps NaN
}

// e^x for x <= 0, up to rounding: its absolute error is within 2.5 ulp of 1, its relative one grows with |x|. Half the
// instructions of exp.
template <class T>
MERCER_INLINE V<T> decay(V<T> x) {
    return exp2_link<T>(x * fill<T>(Table<T>::two_over_ln2[0] / 2));
}

// x = n ln 2 + r with |r| <= ln 2 / 2; the rounded n still carries kRoundBiased.
template <class T>
MERCER_INLINE V<T> reduce_exp(V<T> x, V<T>& rounded, V<T>& n) {
    rounded = fma<T>(x, fill<T>(Table<T>::two_over_ln2[0] / 2), fill<T>(kRoundBiased<T>));
    n = rounded - fill<T>(kRoundBiased<T>);
    return fma<T>(n, fill<T>(-Table<T>::ln2[1]), fma<T>(n, fill<T>(-Table<T>::ln2[0]), x));
}

// e^x over the whole range, subnormal results included: within 2.5 ulp in float, 2 in double.
template <class T>
MERCER_INLINE V<T> exp(V<T> x) {
    x = minimum<T>(fill<T>(Table<T>::exp_range[1]), maximum<T>(fill<T>(Table<T>::exp_range[0]), x));
    V<T> rounded, n;
    const V<T> r = reduce_exp<T>(x, rounded, n);
    return scale<T>(fma<T>(polynomial<T>(r, Table<T>::exp_tail), r, fill<T>(T(1))), n);
}

// x = 2^e (1 + f) with 1 + f in [sqrt 1/2, sqrt 2), for positive finite x; f is exact.
template <class T>
MERCER_INLINE V<T> split(V<T> x, V<T>& e) {
    constexpr int mantissa = Bits<T>::mantissa;
    using Word = std::make_unsigned_t<Int<T>>;
    constexpr Word low = std::bit_cast<Word>(static_cast<T>(0.70710678118654752440));
    constexpr Word one = std::bit_cast<Word>(T(1));
    constexpr T integers = static_cast<T>(Int<T>{1} << mantissa);  // its low bits count in ones
    const VI<T> small = x < fill<T>(std::numeric_limits<T>::min());
    x = select<T>(small, x * fill<T>(integers * 4), x);
    const VB<T> moved = as_bits<T>(x) + (one - low);
    const V<T> shift =
        select<T>(small, fill<T>(integers + (Bits<T>::bias + mantissa + 2)), fill<T>(integers + Bits<T>::bias));
    e = from_bits<T>((moved >> mantissa) | std::bit_cast<Word>(integers)) - shift;
    return from_bits<T>((moved & ((Word{1} << mantissa) - 1)) + low) - fill<T>(T(1));
}

// log(x) + c, where c is at most what rounding x loses of its logarithm: the shared end of log and log1p.
template <class T>
MERCER_INLINE V<T> log_plus(V<T> x, V<T> c) {
    V<T> e;
    const V<T> f = split<T>(x, e);
    const V<T> s = f / (f + fill<T>(T(2)));
    const V<T> z = s * s;
    // 2 s + s R = f - s (f - R), and f is exact: only the small term carries rounding errors.
    const V<T> small = s * (f - z * polynomial<T>(z, Table<T>::log_tail));
    const V<T> result = fma<T>(e, fill<T>(Table<T>::ln2[0]), f - (small - fma<T>(e, fill<T>(Table<T>::ln2[1]), c)));
    constexpr T infinity = std::numeric_limits<T>::infinity();
    const V<T> finite = select<T>(x < fill<T>(infinity), result, x);  // NaN and infinity pass
    const V<T> edge = select<T>(x == V<T>{}, fill<T>(-infinity), fill<T>(std::numeric_limits<T>::quiet_NaN()));
    return select<T>(x <= V<T>{}, edge, finite);
}
// log x: within 2 ulp; -infinity at 0, NaN below.
template <class T>
MERCER_INLINE V<T> log(V<T> x) {
    return log_plus<T>(x, V<T>{});
}
// log(1 + x): within 2 ulp, small x included.
template <class T>
MERCER_INLINE V<T> log1p(V<T> x) {
    const V<T> u = fill<T>(T(1)) + x;
    return log_plus<T>(u, (x - (u - fill<T>(T(1)))) / u);  // what rounding u lost, as a change of the logarithm
}

// x^a for x >= 0: relative error below 1e-14 in double (2 ulp while |a log2 x| < 50), 4 ulp in float. x^0 is 1,
// negative x gives NaN. The logarithm is a sum of two numbers, because its error is multiplied by up to the largest
// exponent.
template <class T>
MERCER_INLINE V<T> power(V<T> x, T a) {
    if (a == T(0)) return fill<T>(T(1));
    constexpr T infinity = std::numeric_limits<T>::infinity();
    constexpr T huge = static_cast<T>(std::int64_t{1} << 62) * 4;  // any x but 1 overflows: keeps a log2 x finite
    const V<T> exponent = fill<T>(a > huge ? huge : a < -huge ? -huge : a);
    const V<T> unit = fill<T>(Table<T>::two_over_ln2[0]);
    V<T> e;
    const V<T> f = split<T>(x, e);
    // s = f / (2 + f) as s + s_low, from the exact remainder of the division.
    const V<T> d = f + fill<T>(T(2));
    const V<T> d_low = f - (d - fill<T>(T(2)));
    const V<T> inverse = fill<T>(T(1)) / d;
    const V<T> s = f * inverse;
    const V<T> z = s * s;
    const V<T> rest = (fma_exact<T>(-s, d, f) - s * d_low) * inverse;
    const V<T> s_low = fma<T>(rest, z, rest);  // d log / d s is 2 / (1 - z), not 2
    const V<T> tail = s * z * polynomial<T>(z, Table<T>::log_tail);
    // log2(1 + f) as a + b, then log2 x as high + low.
    const V<T> first = s * unit;
    const V<T> second = fma_exact<T>(s, unit, -first) +
                        fma<T>(s, fill<T>(Table<T>::two_over_ln2[1]), fma<T>(tail, fill<T>(T(0.5)), s_low) * unit);
    const V<T> sum = first + second;
    const V<T> high = e + sum;  // e is 0 or the larger
    const V<T> low = (sum - (high - e)) + (second - (sum - first));
    const V<T> y = exponent * high;
    const V<T> bounded =
        minimum<T>(fill<T>(T(2 * Bits<T>::bias - 100)), maximum<T>(fill<T>(T(100 - 2 * Bits<T>::bias)), y));
    const V<T> y_low = select<T>(y == bounded, fma_exact<T>(exponent, high, -y) + exponent * low, V<T>{});
    const V<T> n = (bounded + fill<T>(kRound<T>)) - fill<T>(kRound<T>);
    const V<T> g = (bounded - n) + y_low;
    const V<T> result = scale<T>(fma<T>(polynomial<T>(g, Table<T>::exp2_tail), g, fill<T>(T(1))), n);
    const V<T> edge =
        select<T>(x == V<T>{}, fill<T>(a > T(0) ? T(0) : infinity), fill<T>(std::numeric_limits<T>::quiet_NaN()));
    const V<T> finite = select<T>(x == fill<T>(infinity), fill<T>(a > T(0) ? infinity : T(0)), result);
    return select<T>(x > V<T>{}, finite, edge);
}

// x^n by squaring.
template <class T>
MERCER_INLINE V<T> powi(V<T> x, int n) {
    V<T> result = n & 1 ? x : fill<T>(T(1));
    for (n >>= 1; n > 0; n >>= 1) {
        x *= x;
        if (n & 1) result *= x;
    }
    return result;
}

// tanh x = E / (E + 2) with E = e^(2|x|) - 1 = 2^n (e^r - 1) + (2^n - 1), where nothing cancels: within 4 ulp.
template <class T>
MERCER_INLINE V<T> tanh(V<T> x) {
    const V<T> size = minimum<T>(fill<T>(Table<T>::tanh_range), absolute<T>(x));
    V<T> rounded, n;
    const V<T> r = reduce_exp<T>(size + size, rounded, n);
    const V<T> two_n = power_of_two<T>(rounded);
    const V<T> grown = fma<T>(two_n, r * polynomial<T>(r, Table<T>::exp_tail), two_n - fill<T>(T(1)));
    const V<T> result = grown / (grown + fill<T>(T(2)));
    return as_real<T>(as_int<T>(result) | (as_int<T>(x) ^ as_int<T>(absolute<T>(x))));
}

// The angle of (x, y) for x, y >= 0, 0 at the origin: within 4 ulp, if the larger is normal and the sum finite.
template <class T>
MERCER_INLINE V<T> atan2_pos(V<T> y, V<T> x) {
    const V<T> small = minimum<T>(x, y);
    const V<T> large = maximum<T>(x, y);
    const VI<T> steep = y > x;
    const VI<T> fold = small > large * fill<T>(static_cast<T>(0.41421356237309504880));  // tan(pi/8): turn by pi/4
    const V<T> over = select<T>(fold, small - large, small);
    const V<T> under = select<T>(fold, small + large, large);
    const V<T> t = over / maximum<T>(fill<T>(std::numeric_limits<T>::denorm_min()), under);  // 0 / 0 is 0
    const V<T> z = t * t;
    const V<T> angle = fma<T>(t * z, polynomial<T>(z, Table<T>::atan_tail), t);
    const V<T> turned = select<T>(steep, -angle, angle);
    const V<T> base =
        select<T>(fold, fill<T>(Table<T>::half_pi[0] / 2), select<T>(steep, fill<T>(Table<T>::half_pi[0]), V<T>{}));
    return base + fma<T>(base, fill<T>(Table<T>::half_pi[1] / Table<T>::half_pi[0]), turned);
}

// The arc-cosine kernels of order 0, 1 and 2 over pi, from the squared distance s in [0, 4] of two points of the unit
// sphere: exactly 1, 1 and 3 at s = 0 and never above. The supplement of the angle is computed directly, not as pi
// minus it.
template <class T>
MERCER_INLINE V<T> arccosine(V<T> s, int order) {
    constexpr T two_over_pi = static_cast<T>(0.63661977236758134308);
    static_assert(two_over_pi * Table<T>::half_pi[0] == T(1), "exactly 1 at s = 0");
    s = minimum<T>(fill<T>(T(4)), maximum<T>(V<T>{}, s));
    const V<T> near = root<T>(s);
    const V<T> far = root<T>(fill<T>(T(4)) - s);
    const V<T> supplement = atan2_pos<T>(far, near) * fill<T>(two_over_pi);  // (pi - theta) / pi
    if (order == 0) return supplement;
    const V<T> sine = near * far * fill<T>(two_over_pi / 4);  // sin(theta) / pi
    const V<T> cosine = fma<T>(s, fill<T>(T(-0.5)), fill<T>(T(1)));
    if (order == 1) return minimum<T>(fill<T>(T(1)), fma<T>(supplement, cosine, sine));
    const V<T> square = fma<T>(cosine + cosine, cosine, fill<T>(T(1)));
    return minimum<T>(fill<T>(T(3)), fma<T>(supplement, square, sine * cosine * fill<T>(T(3))));
}

}  // namespace mercer::MERCER_ISA
