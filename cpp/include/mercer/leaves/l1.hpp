// The city-block distance.
#pragma once

#include "mercer/leaves/dense.hpp"

namespace mercer::MERCER_ISA {

struct CityStep {
    template <class T>
    MERCER_INLINE static V<T> step(V<T> sum, V<T> x, V<T> z) {
        return sum + absolute<T>(x - z);
    }
    static double value(double x, double z) { return std::abs(x - z); }
};

template <>
struct Leaf<Kind::l1> : Coordinates<CityStep> {};

}  // namespace mercer::MERCER_ISA
