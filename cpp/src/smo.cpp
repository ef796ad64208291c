#include "mercer/smo.hpp"

#include <algorithm>

#include "margin_solver.hpp"

namespace mercer {

namespace {

// Problems that consist of the same ranges share all their rows; where rows need not be made, each is by itself.
struct Group {
    std::vector<Index> problems;
    Index rows = 0;
};

std::vector<Group> groups_of(const MarginBatch& batch, bool is_made) {
    std::vector<Group> groups;
    for (Index p = 0; p < batch.problems; ++p) {
        const Index* mine = batch.uses + p * batch.uses_each;
        const Index* last = groups.empty() ? nullptr : batch.uses + groups.back().problems[0] * batch.uses_each;
        if (last == nullptr || is_made || !std::equal(mine, mine + batch.uses_each, last)) {
            groups.emplace_back();
            for (const Part& part : parts_of(batch, p)) groups.back().rows += part.size;
        }
        groups.back().problems.push_back(p);
    }
    return groups;
}

// Where the rows of each problem begin among those of all.
std::vector<Index> row_starts(const MarginBatch& batch) {
    std::vector<Index> starts{0};
    for (Index p = 0; p < batch.problems; ++p) {
        const std::vector<Part> parts = parts_of(batch, p);
        starts.push_back(starts.back() + parts.back().start + parts.back().size);
    }
    return starts;
}

template <class T>
void solve_as(const GramSource& source, const MarginBatch& batch, Shared& shared) {
    MarginReport& report = shared.report;
    report.steps.assign(at(batch.problems), 0);
    const auto gram = margin_gram<T>(source, batch.cuts, shared.watch);
    const Index ranges = static_cast<Index>(batch.cuts.size()) - 1;
    const Index n = batch.cuts[at(ranges)];
    const bool is_made = gram->stored(0, 0) != nullptr;
    const bool is_apart = is_made && batch.problems > 1;
    const bool alone = ranges == 1 && !is_apart;
    const Index budget = alone ? shared.options.cache_bytes : shared.options.cache_bytes / 2;
    std::vector<std::unique_ptr<RowCache<T>>> own;
    for (Index r = 0; r < ranges && !is_made; ++r) {
        const Index size = batch.cuts[at(r) + 1] - batch.cuts[at(r)];
        own.push_back(std::make_unique<RowCache<T>>(size, size, budget / std::max<Index>(n, 1) * size));
    }
    const std::vector<Index> row0 = row_starts(batch);
    std::vector<Ended> ended(at(batch.problems), Ended::kSolved);
    const auto solve_group = [&](const Group& group, Index cross_bytes) {
        std::vector<Part> parts = parts_of(batch, group.problems[0]);
        if (is_made || is_one_block(group.rows * batch.copies)) parts.clear();
        std::vector<std::unique_ptr<RowCache<T>>> cross;
        Tables<T> tables;
        tables.shared = !alone;
        for (const Part& a : parts) {
            for (const Part& c : parts) {
                if (&a == &c) {
                    tables.of.push_back(own[at(a.id)].get());
                    continue;
                }
                cross.push_back(std::make_unique<RowCache<T>>(a.size, c.size, cross_bytes / 2));
                tables.of.push_back(cross.back().get());
            }
        }
        for (const Index p : group.problems) {
            MarginSolver<T> solver(batch, p, row0[at(p)] * batch.copies, row0[at(p)], *gram, tables, shared);
            ended[at(p)] = solver.run(report.steps[at(p)]);
        }
    };
    std::vector<Group> groups = groups_of(batch, is_made);
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.rows > b.rows; });
    const auto small =
        std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return is_apart || g.rows < kLargeProblem; });
    for (auto large = groups.begin(); large != small; ++large) solve_group(*large, budget);
    const Index count = groups.end() - small;
    const Index threads = std::max<Index>(std::min<Index>(thread_count(), count), 1);
    if (count == 1) solve_group(*small, budget);
    else parallel(count, shared.watch, [&](Index g) { solve_group(small[g], budget / threads); });
    report.stopped = std::find(ended.begin(), ended.end(), Ended::kStopped) != ended.end();
    report.crawling = std::find(ended.begin(), ended.end(), Ended::kCrawling) != ended.end();
}

}  // namespace

void solve_margins(const GramSource& gram, const MarginBatch& batch, const MarginOptions& options, const Engine& engine,
                   Watch& watch, MarginSight& sight, MarginReport& report) {
    Shared shared{options, engine, watch, sight, report};
    if (options.single) solve_as<float>(gram, batch, shared);
    else solve_as<double>(gram, batch, shared);
}

void margin_images(const GramSource& gram, const MarginBatch& batch, const std::uint8_t* left, Watch& watch) {
    const std::vector<Index> row0 = row_starts(batch);
    const auto image = [&](Index p) {
        const Index n = row0[at(p) + 1] - row0[at(p)];
        double* out = batch.image + row0[at(p)];
        const double* b = batch.b + row0[at(p)] * batch.copies;
        std::vector<Index> rows, places;
        Support support;
        for (const Part& part : parts_of(batch, p)) {
            for (Index r = part.start; r < part.start + part.size; ++r) {
                const Index row = part.first + r - part.start;
                double sum = 0.0;
                for (Index copy = 0; copy < batch.copies; ++copy) sum += b[copy * n + r];
                if (sum != 0.0) {
                    support.rows.push_back(row);
                    support.v.push_back(sum);
                }
                if (left != nullptr && left[row0[at(p)] + r] != 0) continue;
                rows.push_back(row);
                places.push_back(r);
            }
        }
        const std::vector<double> found = margin_product(gram, rows, support, watch);
        for (std::size_t r = 0; r < places.size(); ++r) out[places[r]] = found[r];
    };
    // A large problem gets all threads.
    std::vector<Index> small;
    for (Index p = 0; p < batch.problems; ++p) {
        if (row0[at(p) + 1] - row0[at(p)] >= kLargeProblem) image(p);
        else small.push_back(p);
    }
    if (small.size() == 1) image(small[0]);
    else parallel(static_cast<Index>(small.size()), watch, [&](Index k) { image(small[at(k)]); });
}

}  // namespace mercer
