// The solver of the support vector machines: block decomposition with second-order steps of two variables inside.
//
//     minimise 1/2 b'Kb + q'b + width |b|_1   over   low <= b <= high,   the sum of b in each of two groups kept.
//
// A batch holds many such problems over one Gram matrix: the pairs of classes, the folds of a cross-validation. They
// share what they can of its entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "mercer/basis.hpp"

namespace mercer {

// Rows of K fall into ranges; a problem consists of some of them, one after the other, once or twice (copies).
struct MarginBatch {
    std::span<const Index> cuts;  // (ranges + 1)
    const Index* uses = nullptr;  // (problems, uses_each)
    Index problems = 0;
    Index uses_each = 0;
    Index copies = 1;
    double width = 0.0;
    const double* linear = nullptr;  // q; this and the next four over all variables of all problems
    const double* low = nullptr;
    const double* high = nullptr;
    const std::uint8_t* group = nullptr;  // 0 or 1
    double* b = nullptr;                  // in: where to start, inside the box; out: the best so far
    double* image = nullptr;              // K b on the rows of each problem; in, where has_image; out
    bool has_image = false;
    const double* diagonal = nullptr;  // of K
};

struct MarginOptions {
    double tol = 1e-3;     // the violation to reach
    double finish = 1e-3;  // the violation to be reached if that takes few steps more (finish_steps a variable)
    Index finish_steps = 0;
    Index max_steps = -1;  // of each problem; none below 0
    Index cache_bytes = Index{200} << 20;
    bool single = true;  // entries of K in float
    // A problem is slow if it has taken `patience` times the steps that Newton's method on its free variables is
    // worth, and has no more than crawl_free of them: it is then left to that.
    double patience = std::numeric_limits<double>::infinity();
    Index crawl_free = 0;
    double gap = std::numeric_limits<double>::infinity();  // relative; where it is larger at tol, steps go on
};

struct MarginReport {
    std::vector<Index> steps;           // of each problem
    std::atomic<Index> evaluations{0};  // entries of K that were made
    bool stopped = false;               // at max_steps
    bool crawling = false;              // some problem was left to Newton's method
};

// Entries of K: computed by the engine, or all stored.
struct StoredGram {
    Numbers values;
    Index n = 0;
};
using GramSource = std::variant<const Basis*, StoredGram>;

// What a progress bar shows: of the problem in hand, as it is.
struct MarginSight {
    bool wanted = false;  // the gap is computed only for this
    std::atomic<double> violation{std::numeric_limits<double>::infinity()};
    std::atomic<double> gap{std::numeric_limits<double>::infinity()};  // of primal and dual, relative to them
};

// Throws Cancelled when the watch
// does; b and the report are then the best so far.
void solve_margins(const GramSource& gram, const MarginBatch& batch, const MarginOptions& options, const Engine& engine,
                   Watch& watch, MarginSight& sight, MarginReport& report);

// image = K b in double on the rows of each problem, except for those flagged as left.
void margin_images(const GramSource& gram, const MarginBatch& batch, const std::uint8_t* left, Watch& watch);

}  // namespace mercer
