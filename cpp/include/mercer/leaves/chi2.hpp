// The additive chi-squared kernel.
#pragma once

#include "mercer/leaves/dense.hpp"

namespace mercer::MERCER_ISA {

struct ChiSquareStep {
    template <class T>
    MERCER_INLINE static V<T> step(V<T> sum, V<T> x, V<T> z) {
        return sum + quotient<T>((x + x) * z, x + z);
    }
    static double value(double x, double z) { return x + z == 0.0 ? 0.0 : 2.0 * x * z / (x + z); }
};

template <>
struct Leaf<Kind::chi2> : Coordinates<ChiSquareStep> {};

}  // namespace mercer::MERCER_ISA
