// The minimum of a block over its free variables, in one step of Newton's method, where steps of two variables have
// found which these are and would take long to finish.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "mercer/block.hpp"

namespace mercer::MERCER_ISA {

// A wall that is met on the way takes its variable out; after so many of them there is another set to be found.
inline constexpr int kMostWalls = 4;
// A pivot below this share of the diagonal is rounding: the minimum is not unique.
inline constexpr double kLeastPivot = 1e-12;
// A sum that should be 0 may miss it by this share of its terms.
inline constexpr double kLeastSum = 1e-13;

// K = U'U of some variables, in the upper half of a square; rows are padded, so that loops run over whole vectors.
class UpperFactor {
   public:
    explicit UpperFactor(Index m) : m_(m), stride_((m + 7) / 8 * 8), u_(static_cast<std::size_t>(m * stride_), 0.0) {}

    double* row(Index i) { return u_.data() + i * stride_; }
    const double* row(Index i) const { return u_.data() + i * stride_; }

    // In place; false where K is singular to rounding.
    bool factorise() {
        double largest = 0.0;
        for (Index j = 0; j < m_; ++j) largest = std::max(largest, row(j)[j]);
        for (Index j = 0; j < m_; ++j) {
            double* mine = row(j);
            Index k = 0;
            for (; k + 4 <= j; k += 4) subtract4(k, j, mine);
            for (; k < j; ++k) subtract(row(k)[j], row(k), j, mine);
            if (!(mine[j] > kLeastPivot * largest)) return false;
            const double scale = 1.0 / std::sqrt(mine[j]);
            for (Index i = j; i < m_; ++i) mine[i] *= scale;
        }
        return true;
    }

    void solve(std::vector<double>& x) const {
        for (Index j = 0; j < m_; ++j) {
            x[static_cast<std::size_t>(j)] /= row(j)[j];
            subtract(x[static_cast<std::size_t>(j)], row(j), j + 1, x.data());
        }
        for (Index j = m_ - 1; j >= 0; --j) {
            double sum = x[static_cast<std::size_t>(j)];
            for (Index i = j + 1; i < m_; ++i) sum -= row(j)[i] * x[static_cast<std::size_t>(i)];
            x[static_cast<std::size_t>(j)] = sum / row(j)[j];
        }
    }

   private:
    void subtract(double factor, const double* __restrict from, Index begin, double* __restrict to) const {
        for (Index i = begin; i < m_; ++i) to[i] -= factor * from[i];
    }
    void subtract4(Index k, Index j, double* __restrict to) const {
        const double* __restrict a = row(k), * __restrict b = row(k + 1), * __restrict c = row(k + 2), * __restrict d = row(k + 3);
        const double fa = a[j], fb = b[j], fc = c[j], fd = d[j];
        for (Index i = j; i < m_; ++i) to[i] -= (fa * a[i] + fb * b[i]) + (fc * c[i] + fd * d[i]);
    }

    Index m_;
    Index stride_;
    std::vector<double> u_;
};

// What brings the sums of a step over both groups to 0: so much of the two units; and how far they are from it.
struct Levels {
    double of[2] = {};
    double missed = 0.0;
    double length = 0.0;

    bool are_finite() const { return std::isfinite(of[0]) && std::isfinite(of[1]); }
};

inline Levels levels(const std::vector<double> (&unit)[2], const std::vector<double>& step, Index first) {
    double sums[2][3] = {};  // of both units and of the step, over each group
    Levels found;
    const Index m = static_cast<Index>(step.size());
    for (Index i = 0; i < m; ++i) {
        const auto at = static_cast<std::size_t>(i);
        double (&mine)[3] = sums[i < first ? 0 : 1];
        mine[0] += unit[0][at];
        mine[1] += unit[1][at];
        mine[2] += step[at];
        found.length += std::abs(step[at]);
    }
    found.missed = std::abs(sums[0][2]) + std::abs(sums[1][2]);
    if (first == 0 || first == m) {
        const int only = first == 0 ? 1 : 0;
        found.of[only] = -sums[only][2] / sums[only][only];
    } else {
        const double determinant = sums[0][0] * sums[1][1] - sums[0][1] * sums[1][0];
        found.of[0] = (sums[0][1] * sums[1][2] - sums[1][1] * sums[0][2]) / determinant;
        found.of[1] = (sums[1][0] * sums[0][2] - sums[0][0] * sums[1][2]) / determinant;
    }
    return found;
}

// The step to the minimum over these variables, sums kept: it solves K step = slope + level of the group. Empty where K
// is singular.
template <class T>
std::vector<double> newton_step(const Block<T>& block, const std::vector<Index>& free,
                                const std::vector<double>& slope) {
    const Index m = static_cast<Index>(free.size());
    UpperFactor factor(m);
    for (Index i = 0; i < m; ++i) {
        const T* from = block.K + free[static_cast<std::size_t>(i)] * block.size;
        for (Index j = i; j < m; ++j) factor.row(i)[j] = static_cast<double>(from[free[static_cast<std::size_t>(j)]]);
    }
    if (!factor.factorise()) return {};
    std::vector<double> step = slope;
    factor.solve(step);
    const Index first = std::lower_bound(free.begin(), free.end(), block.split) - free.begin();
    std::vector<double> unit[2];
    for (int group = 0; group < 2; ++group) {
        unit[group].assign(free.size(), 0.0);
        std::fill(unit[group].begin() + (group == 0 ? 0 : first), unit[group].begin() + (group == 0 ? first : m), 1.0);
        factor.solve(unit[group]);
    }
    // Twice: the second time takes away what rounding has left of the sums.
    for (int time = 0; time < 2; ++time) {
        const Levels level = levels(unit, step, first);
        if (!level.are_finite()) return {};
        for (std::size_t i = 0; i < free.size(); ++i) step[i] += level.of[0] * unit[0][i] + level.of[1] * unit[1][i];
    }
    const Levels left = levels(unit, step, first);
    return left.missed <= kLeastSum * left.length ? step : std::vector<double>{};
}

// Where a variable that moves this way leaves the box, or meets the kink of width |b|.
template <class T>
double wall(const Block<T>& block, Index v, double step) {
    const double b = block.b[v], end = step > 0.0 ? block.high[v] : block.low[v];
    return block.width > 0.0 && b * step < 0.0 && b * end < 0.0 ? 0.0 : end;
}

// Moves b to the minimum over the variables inside the box, or towards it up to the walls that are in between; whether
// it came there.
template <class T>
bool minimise_free(Block<T>& block) {
    std::vector<Index> free;
    std::vector<double> slope;  // downhill
    for (Index v = 0; v < block.size; ++v) {
        const double b = block.b[v];
        if (!(b > block.low[v] && b < block.high[v]) || (block.width > 0.0 && b == 0.0)) continue;
        free.push_back(v);
        slope.push_back(-block.g[v] - (b > 0.0 ? block.width : -block.width));
    }
    for (int walls = 0; walls <= kMostWalls && !free.empty(); ++walls) {
        const std::vector<double> step = newton_step(block, free, slope);
        if (step.empty()) return false;
        double length = 1.0, end = 0.0;
        std::size_t met = free.size();
        for (std::size_t i = 0; i < free.size(); ++i) {
            const double on = wall(block, free[i], step[i]), room = on - block.b[free[i]];
            if (length * std::abs(step[i]) < std::abs(room)) continue;
            length = room / step[i];
            met = i;
            end = on;
        }
        for (std::size_t i = 0; i < free.size(); ++i) {
            const Index v = free[i];
            block.b[v] = std::clamp(block.b[v] + length * step[i], block.low[v], block.high[v]);
        }
        if (met == free.size()) return true;
        block.b[free[met]] = end;
        // What K step has not yet taken away is left of the slopes; sums are kept, so levels do not matter.
        for (std::size_t i = 0; i < free.size(); ++i) slope[i] *= 1.0 - length;
        free.erase(free.begin() + static_cast<std::ptrdiff_t>(met));
        slope.erase(slope.begin() + static_cast<std::ptrdiff_t>(met));
    }
    return false;
}

}  // namespace mercer::MERCER_ISA
