// Normal: K'(K v + w) in one pass.
#pragma once

#include "mercer/reduce/matvec.hpp"

namespace mercer::MERCER_ISA {

// K'(K v + w): each strip of rows is kept while it is used twice, so every entry is made once.
template <class T>
class NormalDrink {
   public:
    NormalDrink(Index padded, Walker<T>& walker) : padded_(padded), walker_(walker), rows_(padded * kStripRows) {}

    void strip(int strip, Index j) {
        const T* tile = walker_.fold(strip, j);
        for (int r = 0; r < kStripRows; ++r)
            std::copy_n(tile + r * kStripCols<T>, kStripCols<T>, rows_.data() + r * padded_ + j);
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}

    // out (columns of V apart) += K_strip' (K_strip v + w)
    void apply(const Vectors<T>& v, const double* w, Index m, double* out) {
        const Index first = walker_.first_row();
        for (Index c = 0; c < v.t; ++c) {
            T u[kStripRows] = {};
            for (Index r = 0; r < walker_.rows_of(0); ++r) {
                double product = w != nullptr ? w[(first + r) * v.t + c] : 0.0;
                product += along_row(rows_.data() + r * padded_, v, c, m);
                u[r] = static_cast<T>(product);
            }
            for (Index j = 0; j < m; j += kWidth<T>) {
                V<T> sum{};
                for (int r = 0; r < kStripRows; ++r)
                    sum = fma<T>(load<T>(rows_.data() + r * padded_ + j), fill<T>(u[r]), sum);
                for (int lane = 0; lane < kWidth<T> && j + lane < m; ++lane)
                    out[(j + lane) * v.t + c] += static_cast<double>(sum[lane]);
            }
        }
    }

   private:
    static double along_row(const T* row, const Vectors<T>& v, Index c, Index m) {
        double total = 0.0;
        for (Index j0 = 0; j0 < m; j0 += 256) {
            if (v.many) {
                for (Index j = j0; j < std::min(j0 + 256, m); ++j)
                    total += static_cast<double>(row[j]) * static_cast<double>(v.values[j * v.stride + c]);
                continue;
            }
            V<T> lanes{};
            for (Index j = j0; j < std::min(j0 + 256, round_up(m, kWidth<T>)); j += kWidth<T>)
                lanes = fma<T>(load<T>(row + j), load<T>(v.values.data() + c * v.stride + j), lanes);
            total += static_cast<double>(sum<T>(lanes));
        }
        return total;
    }

    Index padded_;
    Walker<T>& walker_;
    Buffer<T> rows_;
};

template <class T>
void run_normal(const Walk& walk, const Normal& job) {
    const Index n = walk.left.n;
    const Index m = walk.right.n;
    const Index padded = static_cast<const PackedSide<T>&>(walk.packed).padded;
    const Vectors<T> v(job.v, m, padded, job.t, job.t > kFew);
    const Index strips = (n + kStripRows - 1) / kStripRows;
    const Index count = std::max<Index>(slots_for(strips, m * job.t, walk.budget), 1);
    std::vector<Buffer<double>> slots(static_cast<std::size_t>(count));
    parallel(count, walk.watch, [&](Index slot) {
        Buffer<double>& mine = slots[static_cast<std::size_t>(slot)];
        mine.reset(m * job.t);
        Walker<T> walker(walk);
        NormalDrink<T> drink(padded, walker);
        for (Index strip = slot * strips / count; strip < (slot + 1) * strips / count; ++strip) {
            const Index i0 = strip * kStripRows;
            sweep<T>(walker, walk, i0, std::min<Index>(i0 + kStripRows, n), 0, m, drink);
            drink.apply(v, job.w, m, mine.data());
        }
    });
    add_slots(slots, m * job.t, job.out);
    if (std::all_of(job.out, job.out + m * job.t, [](double x) { return std::isfinite(x); })) return;
    for (Index i = 0; i < n; ++i) refuse_not_finite<T>(walk, i);
}

}  // namespace mercer::MERCER_ISA
