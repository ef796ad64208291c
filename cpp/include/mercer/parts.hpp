// The parts of bags, walked tile by tile and summed by pairs of bags.
#pragma once

#include "mercer/walker.hpp"

namespace mercer::MERCER_ISA {

// The bags that some parts belong to, one after the other; empty bags have none.
class Owners {
   public:
    Owners(const Index* offsets, Index first_bag, Index last_bag, Index part) : offsets_(offsets) {
        bag_ = std::upper_bound(offsets + first_bag, offsets + last_bag, part) - offsets - 1;
    }
    Index bag() const { return bag_; }
    Index end() const { return offsets_[bag_ + 1]; }  // of its parts
    void next() {
        do ++bag_;
        while (offsets_[bag_ + 1] == offsets_[bag_]);
    }

   private:
    const Index* offsets_;
    Index bag_;
};

template <class T>
class TiledPartSums final : public PartSums {
   public:
    TiledPartSums(const Bags& left, const Bags& right, std::shared_ptr<const Packed> packed)
        : left_(left),
          right_(right),
          packed_(std::move(packed)),
          walk_{*right_.plan, *left_.parts, *right_.parts, *packed_, left_.parts == right_.parts, watch_} {}

    void take(Index i0, Index i1) override {
        i0_ = i0;
        i1_ = i1;
        const Index first = left_.offsets[i0], last = left_.offsets[i1];
        blocks_ = static_cast<std::size_t>((last - first + kBlockRows - 1) / kBlockRows);
        while (walkers_.size() < blocks_) walkers_.push_back(std::make_unique<Walker<T>>(walk_));
        for (std::size_t block = 0; block < blocks_; ++block) {
            const Index p0 = first + static_cast<Index>(block) * kBlockRows;
            walkers_[block]->take_rows(p0, std::min(p0 + kBlockRows, last));
        }
    }

    void fill(Index j0, Index j1, double* out, Index stride) override {
        for (Index r = 0; r < i1_ - i0_; ++r) std::fill_n(out + r * stride, j1 - j0, 0.0);
        const Index first = right_.offsets[j0], last = right_.offsets[j1];
        const Columns columns{j0, j1, first, last};
        const Index begin = first / kStripCols<T> * kStripCols<T>;
        for (Index q0 = begin; q0 < last; q0 += kSweep) {
            const Index q1 = std::min(q0 + kSweep, last);
            for (std::size_t block = 0; block < blocks_; ++block) {
                Walker<T>& walker = *walkers_[block];
                walker.take_columns(q0, q1);
                for (int strip = 0; strip < walker.strips(); ++strip) {
                    walker.take_strip(strip);
                    for (Index q = q0; q < q1; q += kStripCols<T>) add(walker, strip, q, columns, out, stride);
                    walker.leave_strip(strip);
                }
            }
        }
        made_ += (last - first) * (left_.offsets[i1_] - left_.offsets[i0_]);
    }

    double mended_share() const override {
        double inner = 0.0;
        Index mended = 0;
        for (const auto& walker : walkers_) {
            mended += walker->mended();
            inner = std::max(inner, walker->mended_share_of_parts());
        }
        return std::max(inner, static_cast<double>(mended) / static_cast<double>(std::max<Index>(made_, 1)));
    }

   private:
    // Of packed parts: as many as stay in cache while all rows of a strip of bags pass.
    static constexpr Index kSweep = 1024;

    struct Columns {
        Index j0, j1;       // bags
        Index first, last;  // their parts
    };

    // One tile of parts: its columns are summed over the rows of each bag, then these sums over the columns of each.
    void add(Walker<T>& walker, int strip, Index q, const Columns& columns, double* out, Index stride) {
        const T* tile = walker.fold(strip, q);
        const Index p0 = walker.first_row() + strip * kStripRows;
        const Index p1 = p0 + walker.rows_of(strip);
        const Index from = std::max(q, columns.first), to = std::min<Index>(q + kStripCols<T>, columns.last);
        const Owners first_owner(right_.offsets, columns.j0, columns.j1, from);
        Owners row(left_.offsets, i0_, i1_, p0);
        for (Index p = p0; p < p1; row.next()) {
            const Index end = std::min(row.end(), p1);
            double sums[kStripCols<T>];
            sum_rows(tile + (p - p0) * kStripCols<T>, end - p, sums);
            p = end;
            double* row_out = out + (row.bag() - i0_) * stride;
            Owners column = first_owner;
            for (Index at = from; at < to; column.next()) {
                const Index until = std::min(column.end(), to);
                row_out[column.bag() - columns.j0] += sum_of(sums + (at - q), until - at);
                at = until;
                if (at == to) break;
            }
            if (p == p1) break;
        }
    }

    static void sum_rows(const T* tile, Index rows, double* sums) {
        constexpr int kGroup = 4;
        for (Index c = 0; c < kStripCols<T>; c += kGroup * kWidth<double>) {
            V<double> sum[kGroup] = {};
            const T* from = tile + c;
            for (Index r = 0; r < rows; ++r, from += kStripCols<T>) {
                MERCER_UNROLL
                for (int g = 0; g < kGroup; ++g) sum[g] = sum[g] + load_as<double>(from + g * kWidth<double>);
            }
            MERCER_UNROLL
            for (int g = 0; g < kGroup; ++g) store<double>(sums + c + g * kWidth<double>, sum[g]);
        }
    }

    // Four sums side by side, which do not wait for each other.
    static double sum_of(const double* values, Index count) {
        double sum[4] = {};
        Index at = 0;
        for (; at + 4 <= count; at += 4) {
            MERCER_UNROLL
            for (int lane = 0; lane < 4; ++lane) sum[lane] += values[at + lane];
        }
        for (; at < count; ++at) sum[at % 4] += values[at];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }

    Bags left_;
    Bags right_;
    std::shared_ptr<const Packed> packed_;
    Watch watch_;  // of nobody: the loop over the bags looks at the caller's
    Walk walk_;
    std::vector<std::unique_ptr<Walker<T>>> walkers_;  // one for each block of the left parts
    std::size_t blocks_ = 0;
    Index i0_ = 0;
    Index i1_ = 0;
    Index made_ = 0;
};

template <class T>
std::shared_ptr<PartSums> part_sums(const Bags& left, const Bags& right, std::shared_ptr<const Packed> packed) {
    return std::make_shared<TiledPartSums<T>>(left, right, std::move(packed));
}

}  // namespace mercer::MERCER_ISA
