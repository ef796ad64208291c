// What a working set of the support vector machines is to the vectorised inner solver; see solvers of smo.hpp.
#pragma once

#include "mercer/view.hpp"

namespace mercer {

// Variables of a block come in groups that are padded to this many, so that every vector belongs to one group.
inline constexpr Index kBlockPad = 16;

// minimise over b: 1/2 b'Kb + linear terms + width |b|_1, inside the box, with the sum of each group kept.
template <class T>
struct Block {
    Index size = 0;                // padded
    Index split = 0;               // where the second group begins; size if there is one group only
    const T* K = nullptr;          // (size, size), rows `size` apart
    const T* diagonal = nullptr;   // (size)
    const double* low = nullptr;   // (size)
    const double* high = nullptr;  // (size)
    const double* g = nullptr;     // (size) the gradient without width
    const double* up = nullptr;    // (size) g + up is the slope upwards; infinity at the upper bound
    const double* down = nullptr;  // (size) g + down is the slope downwards; -infinity at the lower bound
    double* b = nullptr;           // (size) in and out
    double width = 0.0;
    double tol = 0.0;  // stop at this violation
    Index max_steps = 0;
    double violation = 0.0;  // out: at the end
};

// The least slope upwards and the largest slope downwards.
struct Extremes {
    double least;
    double most;
};

// The slopes of one variable: what is to be added to its gradient, given where it stands.
inline double slope_up(double b, double high, double width) {
    return b < high ? (b >= 0.0 ? width : -width) : __builtin_huge_val();
}
inline double slope_down(double b, double low, double width) {
    return b > low ? (b > 0.0 ? width : -width) : -__builtin_huge_val();
}

}  // namespace mercer
