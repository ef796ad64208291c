// A symmetric matrix that lies in memory, in float, times a vector: half of its blocks are read, and each number of
// them is used for its row and for its column. What it waits for is memory.
#pragma once

#include "mercer/reduce/matvec.hpp"

namespace mercer::MERCER_ISA {

// Rows that are read together.
inline constexpr int kHeldRows = 4;
// Columns in one stretch: sums run in float over these, then in double.
inline constexpr Index kHeldColumns = 2048;

// sums += K v of some rows; with `Mirrored`, columns += K'v of the same numbers.
template <int Rows, bool Mirrored>
void held_stretch(const float* K, Index n, Index i, Index c0, Index c1, const float* v, float* columns, double* sums) {
    V<float> sum[Rows] = {};
    V<float> left[Rows];
    MERCER_UNROLL
    for (int r = 0; r < Rows; ++r) left[r] = fill<float>(v[i + r]);
    const float* row = K + i * n;
    Index j = c0;
    for (; j + kWidth<float> <= c1; j += kWidth<float>) {
        const V<float> x = load<float>(v + j);
        V<float> down{};
        if constexpr (Mirrored) down = load<float>(columns + j);
        MERCER_UNROLL
        for (int r = 0; r < Rows; ++r) {
            const V<float> k = load<float>(row + r * n + j);
            sum[r] = fma<float>(k, x, sum[r]);
            if constexpr (Mirrored) down = fma<float>(k, left[r], down);
        }
        if constexpr (Mirrored) store<float>(columns + j, down);
    }
    for (int r = 0; r < Rows; ++r) {
        double rest = 0.0;
        for (Index c = j; c < c1; ++c) {
            rest += static_cast<double>(row[r * n + c]) * static_cast<double>(v[c]);
            if constexpr (Mirrored) columns[c] += row[r * n + c] * v[i + r];
        }
        sums[i + r] += static_cast<double>(MERCER_ISA::sum<float>(sum[r])) + rest;
    }
}

template <bool Mirrored>
void held_block(const float* K, Index n, Index i0, Index i1, Index c0, Index c1, const float* v, float* columns,
                double* sums) {
    Index i = i0;
    for (; i + kHeldRows <= i1; i += kHeldRows) held_stretch<kHeldRows, Mirrored>(K, n, i, c0, c1, v, columns, sums);
    for (; i < i1; ++i) held_stretch<1, Mirrored>(K, n, i, c0, c1, v, columns, sums);
}

inline void run_held(const Held& job, Watch& watch) {
    const Index n = job.n;
    const Index blocks = blocks_of(n);
    const Index count = std::max<Index>(slots_for((blocks + 1) / 2, n, Index{48} << 20), 1);
    const std::vector<float> v(job.v, job.v + n);
    std::vector<Buffer<double>> slots(static_cast<std::size_t>(count));
    parallel(count, watch, [&](Index slot) {
        Buffer<double>& mine = slots[static_cast<std::size_t>(slot)];
        mine.reset(n);
        Buffer<float> columns(n);
        for (const Index block : blocks_of_slot(slot, count, blocks)) {
            watch.look();
            const Index i0 = block * kBlockRows, i1 = std::min(i0 + kBlockRows, n);
            held_block<false>(job.K, n, i0, i1, i0, i1, v.data(), nullptr, mine.data());
            for (Index c0 = i1; c0 < n; c0 += kHeldColumns)
                held_block<true>(job.K, n, i0, i1, c0, std::min(c0 + kHeldColumns, n), v.data(), columns.data(),
                                 mine.data());
            for (Index c = i1; c < n; ++c) {
                mine[c] += static_cast<double>(columns[c]);
                columns[c] = 0.0F;
            }
        }
    });
    add_slots(slots, n, job.out);
}

}  // namespace mercer::MERCER_ISA
