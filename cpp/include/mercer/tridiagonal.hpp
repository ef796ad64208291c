// The diagonals of Q (T + rho)^-1 Q' for many rho, T tridiagonal. With T + rho = L D L' and w = L^-1 q, q a row of Q,
// an entry is the sum of w_j^2 / D_j: three operations for each number of Q and rho, and a sum of terms of one sign.
#pragma once

#include <algorithm>
#include <vector>

#include "mercer/engine.hpp"
#include "mercer/pack.hpp"

namespace mercer::MERCER_ISA {

// Rows of Q that are taken together, two registers of them, and shifts: their w and sums stay in registers.
inline constexpr Index kRowsTogether = 2 * kWidth<double>;
inline constexpr int kShiftsTogether = 2;
// Rows of one task.
inline constexpr Index kRowsOfTask = 64;

// For some shifts, column by column of Q: -L_j of each, then 1/D_j of each.
struct ShiftedFactors {
    std::vector<double> numbers;  // (k, 2 kShiftsTogether)

    // False where T + rho is not positive.
    bool make(const Diagonals& job, Index first) {
        numbers.assign(static_cast<std::size_t>(2 * kShiftsTogether * job.k), 0.0);
        for (int s = 0; s < kShiftsTogether; ++s) {
            const double shift = job.shifts[std::min(first + s, job.count - 1)];
            double pivot = 1.0;
            for (Index j = 0; j < job.k; ++j) {
                const double beside = j > 0 ? job.beside[j - 1] : 0.0;
                const double step = beside / pivot;
                pivot = job.diagonal[j] + shift - step * beside;
                if (!(pivot > 0.0)) return false;
                double* at = numbers.data() + 2 * kShiftsTogether * j + s;
                at[0] = -step;
                at[kShiftsTogether] = 1.0 / pivot;
            }
        }
        return true;
    }
};

// sums (kShiftsTogether, kRowsTogether) of a panel (k, kRowsTogether) of Q.
inline void sum_panel(const double* panel, const double* factors, Index k, double* sums) {
    constexpr int width = kWidth<double>;
    V<double> w[kShiftsTogether][2] = {};
    V<double> sum[kShiftsTogether][2] = {};
    for (Index j = 0; j < k; ++j) {
        const V<double> q[2] = {load<double>(panel), load<double>(panel + width)};
        MERCER_UNROLL
        for (int s = 0; s < kShiftsTogether; ++s) {
            const V<double> step = fill<double>(factors[s]);
            const V<double> weight = fill<double>(factors[kShiftsTogether + s]);
            MERCER_UNROLL
            for (int r = 0; r < 2; ++r) {
                w[s][r] = fma<double>(step, w[s][r], q[r]);
                sum[s][r] = fma<double>(w[s][r] * weight, w[s][r], sum[s][r]);
            }
        }
        panel += kRowsTogether;
        factors += 2 * kShiftsTogether;
    }
    MERCER_UNROLL
    for (int s = 0; s < kShiftsTogether; ++s) {
        store<double>(sums + s * kRowsTogether, sum[s][0]);
        store<double>(sums + s * kRowsTogether + width, sum[s][1]);
    }
}

inline bool run_diagonals(const Diagonals& job, Watch& watch) {
    std::vector<ShiftedFactors> groups(static_cast<std::size_t>((job.count + kShiftsTogether - 1) / kShiftsTogether));
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (!groups[g].make(job, static_cast<Index>(g) * kShiftsTogether)) return false;
    }
    parallel((job.n + kRowsOfTask - 1) / kRowsOfTask, watch, [&](Index task) {
        Buffer<double> panel(kRowsTogether * job.k);
        Buffer<double> sums(kRowsTogether * kShiftsTogether);
        const Index end = std::min((task + 1) * kRowsOfTask, job.n);
        for (Index i = task * kRowsOfTask; i < end; i += kRowsTogether) {
            watch.look();
            const Index rows = std::min(kRowsTogether, end - i);
            for (Index j = 0; j < job.k; ++j)
                std::copy_n(job.Q + j * job.n + i, rows, panel.data() + j * kRowsTogether);
            for (std::size_t g = 0; g < groups.size(); ++g) {
                sum_panel(panel.data(), groups[g].numbers.data(), job.k, sums.data());
                const Index first = static_cast<Index>(g) * kShiftsTogether;
                for (Index s = 0; s < std::min<Index>(kShiftsTogether, job.count - first); ++s)
                    std::copy_n(sums.data() + s * kRowsTogether, rows, job.out + (first + s) * job.n + i);
            }
        }
    });
    return true;
}

}  // namespace mercer::MERCER_ISA
