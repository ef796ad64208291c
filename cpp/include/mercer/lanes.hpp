// Vector lanes: one register of floats or doubles, and the few operations that the compiler's vector
// extension does not write as an operator. Compiled once per instruction set, in its own namespace.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#ifndef MERCER_ISA
#define MERCER_ISA baseline
#endif

// Lane loops are written for a fixed, small count: the compiler must flatten them for registers to stay registers.
#if defined(__clang__)
#define MERCER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define MERCER_UNROLL _Pragma("GCC unroll 32")
#endif
#define MERCER_INLINE [[gnu::always_inline]] inline
#define MERCER_LAMBDA __attribute__((always_inline))

namespace mercer::MERCER_ISA {

#if defined(__AVX512F__)
inline constexpr int kBytes = 64;
#elif defined(__AVX2__)
inline constexpr int kBytes = 32;
#else
inline constexpr int kBytes = 16;
#endif

template <class T>
inline constexpr int kWidth = kBytes / static_cast<int>(sizeof(T));

template <class T>
struct Bits;
template <>
struct Bits<float> {
    using type = std::int32_t;
    static constexpr int mantissa = 23;
    static constexpr int bias = 127;
};
template <>
struct Bits<double> {
    using type = std::int64_t;
    static constexpr int mantissa = 52;
    static constexpr int bias = 1023;
};
template <class T>
using Int = typename Bits<T>::type;

template <class T>
struct LanesOf {
    typedef T type __attribute__((vector_size(kBytes)));
    typedef Int<T> bits __attribute__((vector_size(kBytes)));
};
template <class T>
using V = typename LanesOf<T>::type;  // kWidth<T> numbers
template <class T>
using VI = typename LanesOf<T>::bits;  // as many integers of the same size; also the type of a comparison

template <class T>
MERCER_INLINE V<T> load(const T* p) {
    V<T> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
template <class T>
MERCER_INLINE void store(T* p, V<T> v) {
    std::memcpy(p, &v, sizeof v);
}
// Past the caches, to an address that is a multiple of kBytes: what is too large to be read again soon need not be read
// before it is written. `settle` before another thread may read it.
template <class T>
MERCER_INLINE void stream(T* p, V<T> v) {
#if defined(__AVX512F__)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), reinterpret_cast<__m512i>(v));
#elif defined(__AVX2__)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), reinterpret_cast<__m256i>(v));
#elif defined(__SSE2__)
    _mm_stream_si128(reinterpret_cast<__m128i*>(p), reinterpret_cast<__m128i>(v));
#else
    store<T>(p, v);
#endif
}
MERCER_INLINE void settle() {
#if defined(__SSE2__)
    _mm_sfence();
#endif
}
// kWidth<G> numbers of either precision as numbers of G, and back.
template <class G, class T>
struct Converted {
    typedef T type __attribute__((vector_size(kWidth<G> * sizeof(T))));
};
template <class G, class T>
MERCER_INLINE V<G> load_as(const T* p) {
    typename Converted<G, T>::type v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, V<G>);
}
template <class G, class T>
MERCER_INLINE void store_as(T* p, V<G> x) {
    const auto v = __builtin_convertvector(x, typename Converted<G, T>::type);
    std::memcpy(p, &v, sizeof v);
}
template <class T>
MERCER_INLINE V<T> fill(T x) {
    return x - V<T>{};  // x - 0 keeps the sign of a zero, x + 0 would not
}
template <class T>
MERCER_INLINE VI<T> as_int(V<T> v) {
    return reinterpret_cast<VI<T>>(v);
}
template <class T>
MERCER_INLINE V<T> as_real(VI<T> v) {
    return reinterpret_cast<V<T>>(v);
}
template <class T>
MERCER_INLINE V<T> select(VI<T> mask, V<T> yes, V<T> no) {
    return mask ? yes : no;
}
template <class T>
MERCER_INLINE V<T> absolute(V<T> v) {
    constexpr Int<T> sign = static_cast<Int<T>>(~(Int<T>{1} << (8 * sizeof(T) - 1)));
    return as_real<T>(as_int<T>(v) & (sign + VI<T>{}));
}

// About 1 / x, to three digits at least: enough to choose by.
template <class T>
MERCER_INLINE V<T> rough_inverse(V<T> x) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_maskz_rcp14_ps(0xffff, x);
    else return _mm512_maskz_rcp14_pd(0xff, x);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) return _mm256_rcp_ps(x);
#endif
    return T{1} / x;
}

// max(a, b) and min(a, b): b when a is not a number, as the hardware does. The masked forms with a full mask are the
// plain instructions; gcc 12 warns about the plain intrinsics.
template <class T>
MERCER_INLINE V<T> maximum(V<T> a, V<T> b) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_maskz_max_ps(0xffff, a, b);
    else return _mm512_maskz_max_pd(0xff, a, b);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) return _mm256_max_ps(a, b);
    else return _mm256_max_pd(a, b);
#else
    return a > b ? a : b;
#endif
}
template <class T>
MERCER_INLINE V<T> minimum(V<T> a, V<T> b) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_maskz_min_ps(0xffff, a, b);
    else return _mm512_maskz_min_pd(0xff, a, b);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) return _mm256_min_ps(a, b);
    else return _mm256_min_pd(a, b);
#else
    return a < b ? a : b;
#endif
}

// a * b + c: fused where the machine can, two roundings where it cannot.
template <class T>
MERCER_INLINE V<T> fma(V<T> a, V<T> b, V<T> c) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_fmadd_ps(a, b, c);
    else return _mm512_fmadd_pd(a, b, c);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) return _mm256_fmadd_ps(a, b, c);
    else return _mm256_fmadd_pd(a, b, c);
#else
    return a * b + c;
#endif
}
// Two whole numbers of 16 bits in each lane of x and of z: sum + the sum of their two products, in 32 bits.
MERCER_INLINE VI<float> add_products(VI<float> sum, VI<float> x, VI<float> z) {
#if defined(__AVX512BW__)
    return sum +
           reinterpret_cast<VI<float>>(_mm512_madd_epi16(reinterpret_cast<__m512i>(x), reinterpret_cast<__m512i>(z)));
#elif defined(__AVX2__)
    return sum +
           reinterpret_cast<VI<float>>(_mm256_madd_epi16(reinterpret_cast<__m256i>(x), reinterpret_cast<__m256i>(z)));
#elif defined(__SSE2__)
    return sum +
           reinterpret_cast<VI<float>>(_mm_madd_epi16(reinterpret_cast<__m128i>(x), reinterpret_cast<__m128i>(z)));
#else
    typedef std::int16_t Halves __attribute__((vector_size(kBytes)));
    const Halves a = reinterpret_cast<Halves>(x), b = reinterpret_cast<Halves>(z);
    for (int i = 0; i < kWidth<float>; ++i) sum[i] += a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
    return sum;
#endif
}
// a * b + c with one rounding on every machine: for error-free transformations, slow without hardware.
template <class T>
MERCER_INLINE V<T> fma_exact(V<T> a, V<T> b, V<T> c) {
#if defined(__AVX2__) || defined(__AVX512F__)
    return fma<T>(a, b, c);
#else
    V<T> out;
    for (int i = 0; i < kWidth<T>; ++i) out[i] = std::fma(a[i], b[i], c[i]);
    return out;
#endif
}
template <class T>
MERCER_INLINE V<T> root(V<T> v) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_maskz_sqrt_ps(0xffff, v);
    else return _mm512_maskz_sqrt_pd(0xff, v);
#elif defined(__AVX2__)
    if constexpr (std::is_same_v<T, float>) return _mm256_sqrt_ps(v);
    else return _mm256_sqrt_pd(v);
#else
    V<T> out;
    for (int i = 0; i < kWidth<T>; ++i) out[i] = std::sqrt(v[i]);
    return out;
#endif
}
template <class T>
MERCER_INLINE bool any(VI<T> mask) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<T, float>) return _mm512_movepi32_mask(reinterpret_cast<__m512i>(mask)) != 0;
    else return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask)) != 0;
#elif defined(__AVX2__)
    return _mm256_movemask_ps(reinterpret_cast<__m256>(mask)) != 0;
#else
    bool found = false;
    for (int i = 0; i < kWidth<T>; ++i) found = found || mask[i] != 0;
    return found;
#endif
}
// The sum of the lanes, halves first: a fixed order, so that results repeat.
template <class T>
MERCER_INLINE T sum(V<T> v) {
    T part[kWidth<T>];
    store<T>(part, v);
    MERCER_UNROLL
    for (int half = kWidth<T> / 2; half > 0; half /= 2) {
        for (int i = 0; i < half; ++i) part[i] += part[i + half];
    }
    return part[0];
}

// The largest and the least of the lanes, in every lane.
template <class T, int kApart, std::size_t... kLane>
MERCER_INLINE V<T> exchanged(V<T> v, std::index_sequence<kLane...>) {
    return __builtin_shufflevector(v, v, (kLane ^ kApart)...);
}
template <class T, V<T> (*kPick)(V<T>, V<T>), int kApart = kWidth<T> / 2>
MERCER_INLINE V<T> across(V<T> v) {
    if constexpr (kApart == 0) return v;
    else return across<T, kPick, kApart / 2>(kPick(v, exchanged<T, kApart>(v, std::make_index_sequence<kWidth<T>>{})));
}
template <class T>
MERCER_INLINE V<T> largest_lane(V<T> v) {
    return across<T, maximum<T>>(v);
}
template <class T>
MERCER_INLINE V<T> least_lane(V<T> v) {
    return across<T, minimum<T>>(v);
}

}  // namespace mercer::MERCER_ISA
