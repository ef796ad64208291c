// The nearest of many vectors of whole numbers: one instruction multiplies twice as many numbers of 16 bits as one of
// floats, and nothing is rounded. What is compared is v = 2 <x, z> - |z|^2 = |x|^2 - |x - z|^2.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "mercer/engine.hpp"
#include "mercer/heap.hpp"
#include "mercer/micro.hpp"
#include "mercer/numbers.hpp"
#include "mercer/pack.hpp"
#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

inline constexpr Number kLeast = std::numeric_limits<Number>::min();
inline constexpr Number kMost = std::numeric_limits<Number>::max();

// Rows of 16-bit numbers in panels of `rows` of them: (panels, pairs, rows) pairs. Missing rows and an odd last number
// are 0.
inline void pack_pairs(const std::int16_t* from, Index n, Index d, int rows, int factor, Number* to) {
    const Index pairs = (d + 1) / 2;
    for (Index i = 0; i < n; ++i) {
        const std::int16_t* row = from + i * d;
        Number* at = to + (i / rows) * rows * pairs + i % rows;
        for (Index p = 0; p < pairs; ++p)
            at[p * rows] = pair_of(factor * row[2 * p], 2 * p + 1 < d ? factor * row[2 * p + 1] : 0);
    }
}

class PackedWhole final : public Whole {
   public:
    static constexpr int kColumns = kPanelCols<float>;

    PackedWhole(const std::int16_t* rows, Index n, Index d) : n_(n), d_(d), starts_(n_panels() * kColumns) {
        numbers_.reset(n_panels() * kColumns * pairs());
        pack_pairs(rows, n, d, kColumns, 1, numbers_.data());
        std::fill_n(starts_.data(), n_panels() * kColumns, kLeast);  // below every limit
        for (Index i = 0; i < n; ++i) {
            Index square = 0;
            for (Index f = 0; f < d; ++f) {
                const Index x = rows[i * d + f];
                largest_ = std::max(largest_, x < 0 ? -x : x);
                square += x * x;
            }
            starts_[i] = static_cast<Number>(-std::min<Index>(square, kMost));
        }
    }
    Index n() const override { return n_; }
    Index d() const override { return d_; }
    Index largest() const override { return largest_; }
    Index pairs() const { return (d_ + 1) / 2; }
    Index n_panels() const { return (n_ + kColumns - 1) / kColumns; }
    const Number* panel(Index at) const { return numbers_.data() + at * kColumns * pairs(); }
    const Number* starts(Index at) const { return starts_.data() + at * kColumns; }

   private:
    Index n_, d_;
    Index largest_ = 0;
    Buffer<Number> numbers_;  // (panels, pairs, kColumns)
    Buffer<Number> starts_;   // -|z|^2
};

// v of a panel of rows against one of columns: true, and it is stored, when one exceeds its row's limit.
inline bool nearer_panel(const Number* a, const Number* b, Index pairs, const Number* start, const Number* limits,
                         Number* out) {
    constexpr int width = kWidth<float>;
    VI<float> sum[kPanelRows][2];
    MERCER_UNROLL
    for (int r = 0; r < kPanelRows; ++r) {
        sum[r][0] = load_numbers(start);
        sum[r][1] = load_numbers(start + width);
    }
    for (Index p = 0; p < pairs; ++p, a += kPanelRows, b += 2 * width) {
        const VI<float> z0 = load_numbers(b), z1 = load_numbers(b + width);
        MERCER_UNROLL
        for (int r = 0; r < kPanelRows; ++r) {
            const VI<float> x = a[r] + VI<float>{};
            sum[r][0] = add_products(sum[r][0], x, z0);
            sum[r][1] = add_products(sum[r][1], x, z1);
        }
    }
    VI<float> hits{};
    MERCER_UNROLL
    for (int r = 0; r < kPanelRows; ++r) {
        const VI<float> most = sum[r][0] > sum[r][1] ? sum[r][0] : sum[r][1];
        hits |= most > limits[r] + VI<float>{};
    }
    if (!any<float>(hits)) return false;
    MERCER_UNROLL
    for (int r = 0; r < kPanelRows; ++r) {
        std::memcpy(out + 2 * r * width, &sum[r][0], sizeof sum[r][0]);
        std::memcpy(out + (2 * r + 1) * width, &sum[r][1], sizeof sum[r][1]);
    }
    return true;
}

// A block of rows against all columns.
class NearestBlock {
   public:
    NearestBlock(const Nearest& job, Index first)
        : job_(job),
          right_(static_cast<const PackedWhole&>(job.right)),
          first_(first),
          rows_(std::min<Index>(kBlockRows, job.m - first)),
          left_(kBlockRows * right_.pairs()),
          limits_(kBlockRows),
          heaps_(static_cast<std::size_t>(rows_)) {
        pack_pairs(job.left + first * right_.d(), rows_, right_.d(), kPanelRows, 2, left_.data());
        std::fill_n(limits_.data(), kBlockRows, kMost);  // which nothing exceeds
        std::fill_n(limits_.data(), rows_, kLeast);
        for (std::vector<Hit<Number>>& heap : heaps_) heap.reserve(static_cast<std::size_t>(job.k));
    }

    void run(Watch& watch) {
        constexpr Index kLookEvery = 64;
        alignas(64) Number out[kPanelRows * PackedWhole::kColumns];
        for (Index panel = 0; panel < right_.n_panels(); ++panel) {
            if (panel % kLookEvery == 0) watch.look();
            for (Index r = 0; r < rows_; r += kPanelRows) {
                if (!nearer_panel(left_.data() + r * right_.pairs(), right_.panel(panel), right_.pairs(),
                                  right_.starts(panel), limits_.data() + r, out))
                    continue;
                for (Index i = r; i < std::min<Index>(r + kPanelRows, rows_); ++i)
                    take(i, panel * PackedWhole::kColumns, out + (i - r) * PackedWhole::kColumns);
            }
        }
        for (Index i = 0; i < rows_; ++i) finish(i);
    }

   private:
    static bool better(const Hit<Number>& a, const Hit<Number>& b) {
        return (a.value > b.value) | ((a.value == b.value) & (a.index < b.index));
    }
    // Columns come in their order: of equal ones the first is kept.
    void take(Index i, Index column, const Number* values) {
        constexpr int width = kWidth<float>;
        const VI<float> limit = limits_[i] + VI<float>{};
        unsigned hits = bits_of<float>(load_numbers(values) > limit);
        hits |= bits_of<float>(load_numbers(values + width) > limit) << width;
        std::vector<Hit<Number>>& heap = heaps_[static_cast<std::size_t>(i)];
        for (; hits != 0; hits &= hits - 1) {
            const int lane = std::countr_zero(hits);
            offer(heap, job_.k, Hit<Number>{values[lane], column + lane}, better);
        }
        if (static_cast<Index>(heap.size()) == job_.k) limits_[i] = heap.front().value;
    }
    void finish(Index i) {
        std::vector<Hit<Number>>& heap = heaps_[static_cast<std::size_t>(i)];
        std::sort_heap(heap.begin(), heap.end(), better);
        const std::int16_t* row = job_.left + (first_ + i) * right_.d();
        Index square = 0;
        for (Index f = 0; f < right_.d(); ++f) square += Index{row[f]} * row[f];
        const Index at = (first_ + i) * job_.k;
        for (std::size_t h = 0; h < heap.size(); ++h) {
            job_.values[at + static_cast<Index>(h)] = static_cast<double>(square - heap[h].value);
            job_.indices[at + static_cast<Index>(h)] = heap[h].index;
        }
    }

    const Nearest& job_;
    const PackedWhole& right_;
    Index first_, rows_;
    Buffer<Number> left_;    // (panels, pairs, kPanelRows), doubled
    Buffer<Number> limits_;  // the least v of the k best
    std::vector<std::vector<Hit<Number>>> heaps_;
};

inline std::unique_ptr<Whole> pack_whole(const std::int16_t* rows, Index n, Index d) {
    return std::make_unique<PackedWhole>(rows, n, d);
}

inline void run_nearest(const Nearest& job, Watch& watch) {
    const Index d = job.right.d(), z = job.right.largest();
    Index x = 0;
    for (Index i = 0; i < job.m * d; ++i) x = std::max<Index>(x, job.left[i] < 0 ? -job.left[i] : job.left[i]);
    if (2 * x > std::numeric_limits<std::int16_t>::max() || d * z * (2 * x + z) >= Index{kMost})
        throw std::invalid_argument("the numbers are too large for a search in whole numbers");
    parallel(blocks_of(job.m), watch, [&](Index block) { NearestBlock(job, block * kBlockRows).run(watch); });
}

}  // namespace mercer::MERCER_ISA
