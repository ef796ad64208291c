// The parts of one problem of a batch, and what its solver shares with those of the others.
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "mercer/row_cache.hpp"
#include "mercer/smo.hpp"

namespace mercer {

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// A problem of this many rows gets all threads; smaller ones are solved side by side.
inline constexpr Index kLargeProblem = 6000;
// A problem of so few rows is solved before another thread has woken up.
inline constexpr Index kSmallProblem = 1000;
// The minimum number of tasks for computing rows, if the problem has all threads.
inline constexpr Index kTasks = 4;
inline Index tasks_for(Index rows, bool side_by_side) {
    return rows < (side_by_side ? kLargeProblem : kSmallProblem) ? 1 : kTasks;
}

// Where the problem's rows lie: its k-th range is the range `id` of K, with the rows first … of it, at start … here.
struct Part {
    Index id;
    Index first;
    Index start;
    Index size;
};

inline std::vector<Part> parts_of(const MarginBatch& batch, Index problem) {
    std::vector<Part> parts;
    Index start = 0;
    for (Index k = 0; k < batch.uses_each; ++k) {
        const Index id = batch.uses[problem * batch.uses_each + k];
        const Index first = batch.cuts[at(id)];
        const Index size = batch.cuts[at(id) + 1] - first;
        parts.push_back({id, first, start, size});
        start += size;
    }
    return parts;
}

// Rows that one problem, or all of them, may keep: table (a, c) holds rows of part a against the columns of part c.
// Problems that are a single block have none.
template <class T>
struct Tables {
    std::vector<RowCache<T>*> of;
    bool shared = false;
};

struct Shared {
    const MarginOptions& options;
    const Engine& engine;
    Watch& watch;
    MarginSight& sight;
    MarginReport& report;
};

}  // namespace mercer
