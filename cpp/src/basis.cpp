#include "mercer/basis.hpp"

#include <algorithm>

namespace mercer {

namespace {

// Above this share of recomputed pairs, a double tile is cheaper than a mended float tile.
constexpr double kMostMended = 0.02;
// Below this many pairs the sample that estimates the share would cost more than it saves.
constexpr Index kWorthSampling = Index{1} << 20;

bool measures_distances(const Plan& plan, const Side& side) {
    return std::any_of(plan.uses().begin(), plan.uses().end(), [](const LeafUse& use) { return use.centred; }) ||
           std::any_of(side.sources.begin(), side.sources.end(), [](const Source& source) {
               const Bags* bags = std::get_if<Bags>(&source);
               return bags != nullptr && measures_distances(*bags->plan, *bags->parts);
           });
}

// Points, or the parts of bags.
Index size_of(const Side& side) {
    Index size = side.n;
    for (const Source& source : side.sources) {
        if (const Bags* bags = std::get_if<Bags>(&source)) size = std::max(size, size_of(*bags->parts));
    }
    return size;
}

}  // namespace

Basis::Basis(Plan plan, Side right, const Engine& engine, Index budget)
    : plan_(std::move(plan)), right_(std::move(right)), engine_(engine), budget_(budget) {}

const Packed& Basis::packed(bool single) const {
    const std::lock_guard lock(guard_);
    std::unique_ptr<Packed>& kept = packed_[single ? 0 : 1];
    if (!kept) kept = engine_.pack(plan_, right_, single);
    return *kept;
}

Index Basis::packed_bytes() const {
    const std::lock_guard lock(guard_);
    Index total = 0;
    for (const std::unique_ptr<Packed>& kept : packed_) total += kept ? kept->bytes() : 0;
    return total;
}

template <class Job>
void Basis::run(void (*reduce)(const Walk&, const Job&), const Side* left, bool single, Watch& watch,
                const Job& job) const {
    const Side& side = left != nullptr ? *left : right_;
    const bool symmetric = left == nullptr;
    if (single && size_of(side) * size_of(right_) >= kWorthSampling) single = holds_single(side, symmetric, watch);
    reduce(Walk{plan_, side, right_, packed(single), symmetric, watch, budget_}, job);
}

bool Basis::holds_single(const Side& left, bool symmetric, Watch& watch) const {
    if (!measures_distances(plan_, right_)) return true;
    return engine_.mended_share(Walk{plan_, left, right_, packed(true), symmetric, watch, budget_}) <= kMostMended;
}

bool Basis::holds_single(Watch& watch) const { return holds_single(right_, true, watch); }

void Basis::scatter(const Side& left, bool single, Watch& watch, const Scatter& job) const {
    engine_.scatter(Walk{plan_, left, right_, packed(single), false, watch, budget_}, job);
}

void Basis::store(const Side* left, bool single, Watch& watch, const Store& job) const {
    run(engine_.store, left, single, watch, job);
}
void Basis::matvec(const Side* left, bool single, Watch& watch, const MatVec& job) const {
    run(engine_.matvec, left, single, watch, job);
}
void Basis::normal(const Side* left, bool single, Watch& watch, const Normal& job) const {
    run(engine_.normal, left, single, watch, job);
}
void Basis::topk(const Side* left, bool single, Watch& watch, const TopK& job) const {
    run(engine_.topk, left, single, watch, job);
}

}  // namespace mercer
