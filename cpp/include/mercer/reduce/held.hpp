// Products with what lies in memory, for the many steps of an iteration. They wait for memory, so what they read is
// small: of a symmetric matrix half of the blocks, in 16 bits, each number of which is used for its row and for its
// column.
#pragma once

#include <numeric>

#include "mercer/reduce/matvec.hpp"

namespace mercer::MERCER_ISA {

// Rows that are read together.
inline constexpr int kHeldRows = 4;
// Columns in one stretch: sums run in float over these, then in double.
inline constexpr Index kHeldColumns = 2048;

// sums += Q v of some rows of the codes Q; with `Mirrored`, columns += Q'v of the same numbers.
template <int Rows, bool Mirrored>
void held_stretch(const std::uint16_t* K, Index n, Index i, Index c0, Index c1, const float* v, float* columns,
                  double* sums) {
    V<float> sum[Rows] = {};
    V<float> left[Rows];
    MERCER_UNROLL
    for (int r = 0; r < Rows; ++r) left[r] = fill<float>(v[i + r]);
    const std::uint16_t* row = K + i * n;
    Index j = c0;
    for (; j + kWidth<float> <= c1; j += kWidth<float>) {
        const V<float> x = load<float>(v + j);
        V<float> down{};
        if constexpr (Mirrored) down = load<float>(columns + j);
        MERCER_UNROLL
        for (int r = 0; r < Rows; ++r) {
            const V<float> k = load_as<float>(row + r * n + j);
            sum[r] = fma<float>(k, x, sum[r]);
            if constexpr (Mirrored) down = fma<float>(k, left[r], down);
        }
        if constexpr (Mirrored) store<float>(columns + j, down);
    }
    for (int r = 0; r < Rows; ++r) {
        double rest = 0.0;
        for (Index c = j; c < c1; ++c) {
            const auto k = static_cast<float>(row[r * n + c]);
            rest += static_cast<double>(k) * static_cast<double>(v[c]);
            if constexpr (Mirrored) columns[c] += k * v[i + r];
        }
        sums[i + r] += static_cast<double>(MERCER_ISA::sum<float>(sum[r])) + rest;
    }
}

template <bool Mirrored>
void held_block(const std::uint16_t* K, Index n, Index i0, Index i1, Index c0, Index c1, const float* v, float* columns,
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
    const double whole = job.code.low * std::accumulate(job.v, job.v + n, 0.0);
    for (Index i = 0; i < n; ++i) job.out[i] = whole + job.code.step * job.out[i];
}

// Rows of G that are one piece of the work, and columns that are read together.
inline constexpr Index kDeflatedRows = 512;
inline constexpr int kDeflatedColumns = 4;

// Of some rows of G and so many columns from the j-th on: t = G'x, or x -= G t.
template <int Columns>
void deflated_dots(const Deflate& job, Index j, Index i0, Index rows, const float* x, double* t) {
    V<float> sum[Columns] = {};
    double rest[Columns] = {};
    const float* G = job.G + j * job.n + i0;
    Index i = 0;
    for (; i + kWidth<float> <= rows; i += kWidth<float>) {
        const V<float> at = load<float>(x + i);
        MERCER_UNROLL
        for (int c = 0; c < Columns; ++c) sum[c] = fma<float>(load<float>(G + c * job.n + i), at, sum[c]);
    }
    for (; i < rows; ++i)
        for (int c = 0; c < Columns; ++c) rest[c] += static_cast<double>(G[c * job.n + i] * x[i]);
    for (int c = 0; c < Columns; ++c) t[j + c] = static_cast<double>(MERCER_ISA::sum<float>(sum[c])) + rest[c];
}
template <int Columns>
void deflated_rest(const Deflate& job, Index j, Index i0, Index rows, const float* t, float* x) {
    V<float> by[Columns];
    MERCER_UNROLL
    for (int c = 0; c < Columns; ++c) by[c] = fill<float>(-t[j + c]);
    const float* G = job.G + j * job.n + i0;
    Index i = 0;
    for (; i + kWidth<float> <= rows; i += kWidth<float>) {
        V<float> at = load<float>(x + i);
        MERCER_UNROLL
        for (int c = 0; c < Columns; ++c) at = fma<float>(load<float>(G + c * job.n + i), by[c], at);
        store<float>(x + i, at);
    }
    for (; i < rows; ++i)
        for (int c = 0; c < Columns; ++c) x[i] -= G[c * job.n + i] * t[j + c];
}

// Both passes over G: the sums of each piece have a place of their own, and are added in their order.
inline void run_deflate(const Deflate& job, Watch& watch) {
    const Index n = job.n, r = job.r;
    const Index pieces = (n + kDeflatedRows - 1) / kDeflatedRows;
    const Index even = r - r % kDeflatedColumns;
    Buffer<float> x(n);
    std::copy(job.x, job.x + n, x.data());
    Buffer<double> sums(pieces * r);
    parallel(pieces, watch, [&](Index piece) {
        const Index i0 = piece * kDeflatedRows, rows = std::min(kDeflatedRows, n - i0);
        double* t = sums.data() + piece * r;
        for (Index j = 0; j < even; j += kDeflatedColumns)
            deflated_dots<kDeflatedColumns>(job, j, i0, rows, x.data() + i0, t);
        for (Index j = even; j < r; ++j) deflated_dots<1>(job, j, i0, rows, x.data() + i0, t);
    });
    Buffer<float> t(r);
    for (Index j = 0; j < r; ++j) {
        double whole = 0.0;
        for (Index piece = 0; piece < pieces; ++piece) whole += sums[piece * r + j];
        t[j] = static_cast<float>(whole);
    }
    parallel(pieces, watch, [&](Index piece) {
        const Index i0 = piece * kDeflatedRows, rows = std::min(kDeflatedRows, n - i0);
        for (Index j = 0; j < even; j += kDeflatedColumns)
            deflated_rest<kDeflatedColumns>(job, j, i0, rows, t.data(), x.data() + i0);
        for (Index j = even; j < r; ++j) deflated_rest<1>(job, j, i0, rows, t.data(), x.data() + i0);
    });
    std::copy(x.data(), x.data() + n, job.out);
}

}  // namespace mercer::MERCER_ISA
