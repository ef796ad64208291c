// Normal: K' D (K v + w) in one pass.
#pragma once

#include "mercer/reduce/matvec.hpp"

namespace mercer::MERCER_ISA {

// Strips between two spills of column sums into double: as many numbers as of a row.
inline constexpr int kStripSpill = 10;

// Each strip of rows is kept, tile by tile, while it is used twice, so that every entry is made once.
template <class T>
class NormalDrink {
   public:
    NormalDrink(const Vectors<T>& v, const Normal& job, Walker<T>& walker, Index padded, double* out)
        : v_(v),
          job_(job),
          walker_(walker),
          out_(out),
          strip_(padded * kStripRows),
          lanes_(v.many ? v.stride * kStripRows : v.t * kLanes),
          products_(v.t * kStripRows),
          factors_(v.many ? v.stride * kStripRows : v.t * kStripRows),
          sums_(v.many ? padded * v.stride : padded * v.t),
          padded_(padded) {}

    void strip(int strip, Index j) {
        const T* made = walker_.fold(strip, j);
        T* tile = strip_.data() + j * kStripRows;
        std::copy_n(made, kStripRows * kStripCols<T>, tile);
        if (job_.v == nullptr) return;
        const T* v = v_.values.data();
        columns_ += kStripCols<T>;
        if (v_.many) {
            tile_times<T, kStripRows, kStripCols<T>, kStripCols<T>, 1>(tile, v + j * v_.stride, v_.stride,
                                                                       lanes_.data());
            if (columns_ >= kManySpill) spill();
            return;
        }
        Index c = 0;
        for (; c + 2 <= v_.t; c += 2)
            along_rows<T, Link::none, false, 2>(tile, v + c * v_.stride + j, v_.stride, lanes_.data() + c * kLanes);
        if (c < v_.t)
            along_rows<T, Link::none, false, 1>(tile, v + c * v_.stride + j, v_.stride, lanes_.data() + c * kLanes);
        if (columns_ >= kFewSpill<T>) spill();
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}

    // sums += K_strip' D (K_strip v + w)
    void apply() {
        spill();
        finish_products();
        for (Index j = 0; j < v_.n; j += kStripCols<T>) {
            const T* tile = strip_.data() + j * kStripRows;
            if (v_.many) {
                tile_times<T, kStripCols<T>, kStripRows, 1, kStripCols<T>>(tile, factors_.data(), v_.stride,
                                                                           sums_.data() + j * v_.stride);
                continue;
            }
            Index c = 0;
            for (; c + 2 <= v_.t; c += 2)
                along_columns<T, 2>(tile, factors_.data() + c * kStripRows, kStripRows, sums_.data() + c * padded_ + j,
                                    padded_);
            if (c < v_.t)
                along_columns<T, 1>(tile, factors_.data() + c * kStripRows, kStripRows, sums_.data() + c * padded_ + j,
                                    padded_);
        }
        if (++strips_ == kStripSpill) finish();
    }
    void finish() {
        strips_ = 0;
        for (Index j = 0; j < v_.n; ++j) {
            for (Index c = 0; c < v_.t; ++c) {
                T& sum = sums_[v_.many ? j * v_.stride + c : c * padded_ + j];
                out_[j * v_.t + c] += static_cast<double>(sum);
                sum = T{};
            }
        }
    }

   private:
    static constexpr Index kLanes = kStripRows * kWidth<T>;

    void spill() {
        columns_ = 0;
        for (Index c = 0; c < v_.t; ++c) {
            for (Index r = 0; r < kStripRows; ++r) {
                double& product = products_[c * kStripRows + r];
                if (v_.many) {
                    T& lane = lanes_[r * v_.stride + c];
                    product += static_cast<double>(lane);
                    lane = T{};
                } else {
                    T* lanes = lanes_.data() + c * kLanes + r * kWidth<T>;
                    product += static_cast<double>(sum<T>(load<T>(lanes)));
                    store<T>(lanes, V<T>{});
                }
            }
        }
    }
    // factors = D (K_strip v + w), zero for rows that are not there.
    void finish_products() {
        const Index first = walker_.first_row(), rows = walker_.rows_of(0);
        for (Index c = 0; c < v_.t; ++c) {
            for (Index r = 0; r < kStripRows; ++r) {
                double& product = products_[c * kStripRows + r];
                T& factor = factors_[v_.many ? r * v_.stride + c : c * kStripRows + r];
                factor = T{};
                if (r < rows) {
                    const Index i = first + r;
                    double whole = product;
                    if (job_.w != nullptr) whole += job_.w[i * v_.t + c];
                    if (job_.d != nullptr) whole *= job_.d[i * job_.d_width + (job_.d_width == 1 ? 0 : c)];
                    factor = static_cast<T>(whole);
                }
                product = 0.0;
            }
        }
    }

    const Vectors<T>& v_;
    const Normal& job_;
    Walker<T>& walker_;
    double* out_;
    Buffer<T> strip_;
    Buffer<T> lanes_;
    Buffer<double> products_;
    Buffer<T> factors_;
    Buffer<T> sums_;
    Index padded_;
    Index columns_ = 0;
    int strips_ = 0;
};

template <class T>
void run_normal(const Walk& walk, const Normal& job) {
    const Index n = walk.left.n;
    const Index m = walk.right.n;
    const Index padded = round_up(static_cast<const PackedSide<T>&>(walk.packed).padded, kStripCols<T>);
    const Vectors<T> v(job.v, m, padded, job.t, job.t > kFew);
    const Index strips = (n + kStripRows - 1) / kStripRows;
    const Index count = std::max<Index>(slots_for(strips, m * job.t, walk.budget), 1);
    std::vector<Buffer<double>> slots(static_cast<std::size_t>(count));
    parallel(count, walk.watch, [&](Index slot) {
        Buffer<double>& mine = slots[static_cast<std::size_t>(slot)];
        mine.reset(m * job.t);
        Walker<T> walker(walk);
        NormalDrink<T> drink(v, job, walker, padded, mine.data());
        for (Index strip = slot * strips / count; strip < (slot + 1) * strips / count; ++strip) {
            const Index i0 = strip * kStripRows;
            sweep<T>(walker, walk, i0, std::min<Index>(i0 + kStripRows, n), 0, m, drink);
            drink.apply();
        }
        drink.finish();
    });
    add_slots(slots, m * job.t, job.out);
    if (std::all_of(job.out, job.out + m * job.t, [](double x) { return std::isfinite(x); })) return;
    for (Index i = 0; i < n; ++i) refuse_not_finite<T>(walk, i);
}

}  // namespace mercer::MERCER_ISA
