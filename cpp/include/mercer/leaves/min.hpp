// The intersection of histograms.
#pragma once

#include "mercer/leaves/dense.hpp"

namespace mercer::MERCER_ISA {

struct MinimumStep {
    template <class T>
    MERCER_INLINE static V<T> step(V<T> sum, V<T> x, V<T> z) {
        return sum + minimum<T>(x, z);
    }
    static double value(double x, double z) { return std::min(x, z); }
};

template <>
struct Leaf<Kind::min> : Coordinates<MinimumStep> {};

}  // namespace mercer::MERCER_ISA
