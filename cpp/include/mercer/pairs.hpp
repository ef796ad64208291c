// The same plan on pairs (x_i, z_i): a strip of one row in which the left side runs along the columns.
#pragma once

#include "mercer/parts.hpp"

namespace mercer::MERCER_ISA {

inline void pairs(const Plan& plan, const Side& left, const Side& right, double* out, Watch& watch) {
    constexpr Index kCount = kStripCols<double>;
    Buffer<double> memory(plan.slots() * kCount);
    Buffer<double> left_rows(std::max<Index>(plan.rows(), 1) * kCount);
    Buffer<double> right_rows(std::max<Index>(plan.rows(), 1) * kCount);
    std::vector<double*> slots;
    for (Index at = 0; at < plan.slots(); ++at) slots.push_back(memory.data() + at * kCount);
    std::vector<const double*> left_at;
    std::vector<const double*> right_at;
    for (Index row = 0; row < plan.rows(); ++row) {
        left_at.push_back(left_rows.data() + row * kCount);
        right_at.push_back(right_rows.data() + row * kCount);
    }
    std::vector<std::shared_ptr<PartSums>> sums(plan.leaves().size());
    for (std::size_t leaf = 0; leaf < sums.size(); ++leaf) {
        if (std::holds_alternative<Bags>(right.sources[leaf]))
            sums[leaf] = Leaf<Kind::convolution>::pairs_of(left.sources[leaf], right.sources[leaf]);
    }
    const auto run = [&](const Instruction& step, Index i0, Index count) {
        if (!reads_leaf(step.op)) {
            execute<double, true>(Fold<double>{slots.data(), left_at.data(), right_at.data(), 1}, step);
            return;
        }
        const std::size_t leaf = static_cast<std::size_t>(step.a);
        const LeafUse& use = plan.uses()[leaf];
        for (Index at = 0; at < count; ++at) {
            double value = 0.0;
            if (step.op == Op::sqdist) {
                value = exact_sqdist(left.sources[leaf], i0 + at, right.sources[leaf], i0 + at);
                if (use.gaussian) value = std::exp(use.scale * value);
            } else if (sums[leaf] != nullptr) {
                value = Leaf<Kind::convolution>::pair(*sums[leaf], i0 + at);
            } else {
                value = with_leaf(plan.leaves()[leaf], [&](auto row) {
                    return row.pair(use, left.sources[leaf], right.sources[leaf], i0 + at);
                });
            }
            slots[static_cast<std::size_t>(step.out)][at] = value;
        }
    };
    for (Index i0 = 0; i0 < left.n; i0 += kCount) {
        watch.look();
        const Index count = std::min(kCount, left.n - i0);
        for (Index row = 0; row < plan.rows(); ++row) {
            std::copy_n(left.rows[static_cast<std::size_t>(row)] + i0, count, left_rows.data() + row * kCount);
            std::copy_n(right.rows[static_cast<std::size_t>(row)] + i0, count, right_rows.data() + row * kCount);
        }
        for (const Instruction& step : plan.tape()) run(step, i0, count);
        const double* result = slots[static_cast<std::size_t>(plan.result())];
        for (Index at = 0; at < count; ++at) {
            out[i0 + at] = result[at];
            if (std::isfinite(result[at])) continue;
            for (const Instruction& step : plan.tape()) {
                run(step, i0, count);
                if (!std::isfinite(slots[static_cast<std::size_t>(step.out)][at]))
                    throw mercer::NotFinite(i0 + at, i0 + at, step.origin);
            }
        }
    }
}

}  // namespace mercer::MERCER_ISA
