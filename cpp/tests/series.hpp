// Kernels of series by their definitions: alignments in long double, signatures as tensors.
#pragma once

#include <cmath>
#include <vector>

#include "mercer/view.hpp"

namespace oracle {

using Point = std::vector<long double>;

inline std::vector<Point> points_of(const mercer::Parts& from, mercer::Index i) {
    std::vector<Point> points;
    for (mercer::Index row = from.offsets[i]; row < from.offsets[i + 1]; ++row) {
        Point& point = points.emplace_back();
        for (mercer::Index k = 0; k < from.d; ++k) point.push_back(from.values.at<double>(row * from.d + k));
    }
    return points;
}

inline long double alignments(const std::vector<Point>& x, const std::vector<Point>& z, long double length,
                              std::size_t triangular) {
    std::vector<std::vector<long double>> M(x.size() + 1, std::vector<long double>(z.size() + 1, 0));
    M[0][0] = 1;
    for (std::size_t a = 0; a < x.size(); ++a) {
        for (std::size_t b = 0; b < z.size(); ++b) {
            long double square = 0;
            for (std::size_t k = 0; k < x[a].size(); ++k) square += (x[a][k] - z[b][k]) * (x[a][k] - z[b][k]);
            const long double apart = a > b ? static_cast<long double>(a - b) : static_cast<long double>(b - a);
            const long double weight =
                triangular == 0 ? 1 : std::fmax(0.0L, 1 - apart / static_cast<long double>(triangular));
            const long double r = weight * std::exp(-square / (2 * length * length)) / 2;
            M[a + 1][b + 1] = r / (1 - r) * (M[a][b] + M[a][b + 1] + M[a + 1][b]);
        }
    }
    return M[x.size()][z.size()];
}

inline std::vector<long double> outer(const std::vector<long double>& a, const std::vector<long double>& b) {
    std::vector<long double> made;
    for (const long double left : a) {
        for (const long double right : b) made.push_back(left * right);
    }
    return made;
}

// The levels 0, ..., `level` of the product of exp(step), each exp up to `order` terms.
inline std::vector<std::vector<long double>> signature(const std::vector<Point>& x, std::size_t level,
                                                       std::size_t order) {
    const std::size_t d = x.empty() ? 1 : x[0].size();
    std::vector<std::vector<long double>> S = {{1}};
    for (std::size_t m = 1, size = d; m <= level; ++m, size *= d) S.emplace_back(size, 0.0L);
    for (std::size_t a = 0; a + 1 < x.size(); ++a) {
        Point step;
        for (std::size_t k = 0; k < d; ++k) step.push_back(x[a + 1][k] - x[a][k]);
        std::vector<std::vector<long double>> E = {{1}};
        for (std::size_t p = 1; p <= std::min(order, level); ++p) {
            E.push_back(outer(E.back(), step));
            for (long double& entry : E.back()) entry /= static_cast<long double>(p);
        }
        for (std::size_t m = level; m > 0; --m) {
            for (std::size_t p = 1; p < E.size() && p <= m; ++p) {
                const std::vector<long double> more = outer(S[m - p], E[p]);
                for (std::size_t at = 0; at < more.size(); ++at) S[m][at] += more[at];
            }
        }
    }
    return S;
}

inline long double signatures(const std::vector<Point>& x, const std::vector<Point>& z, std::size_t level,
                              std::size_t order) {
    const auto S = signature(x, level, order), T = signature(z, level, order);
    long double sum = 0;
    for (std::size_t m = 0; m <= level; ++m) {
        for (std::size_t at = 0; m == 0 ? at < 1 : x.size() > 1 && z.size() > 1 && at < S[m].size(); ++at)
            sum += S[m][at] * T[m][at];
    }
    return sum;
}

}  // namespace oracle
