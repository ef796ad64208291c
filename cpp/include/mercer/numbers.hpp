// Whole numbers of 16 bits, two in a lane: one instruction multiplies twice as many of them as of floats.
#pragma once

#include <cstdint>

#include "mercer/lanes.hpp"

namespace mercer::MERCER_ISA {

using Number = std::int32_t;  // also a pair of numbers of 16 bits, the first lowest

inline Number pair_of(int first, int second) {
    return static_cast<Number>(static_cast<std::uint32_t>(static_cast<std::uint16_t>(first)) |
                               static_cast<std::uint32_t>(static_cast<std::uint16_t>(second)) << 16);
}
MERCER_INLINE VI<float> load_numbers(const Number* p) {
    VI<float> v;
    std::memcpy(&v, p, sizeof v);
    return v;
}
MERCER_INLINE void store_numbers(Number* p, VI<float> v) { std::memcpy(p, &v, sizeof v); }
// The numbers of each pair, as floats.
MERCER_INLINE V<float> first_of(VI<float> pairs) { return __builtin_convertvector((pairs << 16) >> 16, V<float>); }
MERCER_INLINE V<float> second_of(VI<float> pairs) { return __builtin_convertvector(pairs >> 16, V<float>); }

}  // namespace mercer::MERCER_ISA
