// Distances recomputed from the original rows, in double, as a sum of squared differences: for the few pairs where
// |x|^2 + |z|^2 - 2 <x, z> cancels.
#pragma once

#include "mercer/lanes.hpp"
#include "mercer/view.hpp"

namespace mercer::MERCER_ISA {

inline double exact_sqdist(const Dense& left, Index i, const Dense& right, Index j) {
    return left.values.as_they_are([&](const auto* x) {
        return right.values.as_they_are([&](const auto* z) {
            double sum = 0.0;
            for (Index k = 0; k < left.d; ++k) {
                const double gap = static_cast<double>(x[i * left.d + k]) - static_cast<double>(z[j * right.d + k]);
                sum += gap * gap;
            }
            return sum;
        });
    });
}

// Items of a set outside the dictionary differ from all items of another set, and from none of the set itself.
inline double exact_sqdist(const Sparse& left, Index i, const Sparse& right, Index j) {
    if (left.offsets == right.offsets && i == j) return 0.0;
    const auto outside = [](const Sparse& rows, Index row) {
        return rows.sizes != nullptr ? rows.sizes[row] - static_cast<double>(rows.offsets[row + 1] - rows.offsets[row])
                                     : 0.0;
    };
    double sum = outside(left, i) + outside(right, j);
    Index p = left.offsets[i];
    Index q = right.offsets[j];
    const Index p_end = left.offsets[i + 1];
    const Index q_end = right.offsets[j + 1];
    const auto value = [](const Sparse& rows, Index at) {
        return rows.values.data != nullptr ? rows.values.at<double>(at) : 1.0;
    };
    while (p < p_end || q < q_end) {
        const bool from_left = q >= q_end || (p < p_end && left.columns[p] <= right.columns[q]);
        const bool from_right = p >= p_end || (q < q_end && right.columns[q] <= left.columns[p]);
        const double gap = (from_left ? value(left, p) : 0.0) - (from_right ? value(right, q) : 0.0);
        sum += gap * gap;
        p += from_left ? 1 : 0;
        q += from_right ? 1 : 0;
    }
    return sum;
}

// Sources of a dot leaf are of one kind on both sides.
inline double exact_sqdist(const Source& left, Index i, const Source& right, Index j) {
    if (const Dense* rows = std::get_if<Dense>(&left)) return exact_sqdist(*rows, i, std::get<Dense>(right), j);
    return exact_sqdist(std::get<Sparse>(left), i, std::get<Sparse>(right), j);
}

}  // namespace mercer::MERCER_ISA
