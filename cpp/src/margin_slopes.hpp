// Who violates the conditions of optimality, and by how much.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "margin_parts.hpp"

namespace mercer {

// The slopes of a problem's variables, f + up and f + down, group by group.
class MarginSlopes {
   public:
    MarginSlopes(Index rows, Index variables, const std::uint8_t* group)
        : rows_(rows), up_(at(variables)), down_(at(variables)) {
        for (Index v = 0; v < variables;) {
            Index end = v + 1;
            while (end < variables && end % rows != 0 && group[end] == group[v]) ++end;
            runs_.push_back({v, end, group[v]});
            v = end;
        }
    }

    void set(Index v, double up, double down) {
        up_[at(v)] = up;
        down_[at(v)] = down;
    }

    // The violation: how far the largest slope downwards lies above the least slope upwards, in the worse group.
    double measure(const double* f, const Engine& engine) {
        constexpr double kInfinity = std::numeric_limits<double>::infinity();
        seen_[0] = seen_[1] = {kInfinity, -kInfinity};
        for (const Run& run : runs_) {
            const Extremes found = engine.extremes(f + row_of(run.first), up_.data() + run.first,
                                                   down_.data() + run.first, run.last - run.first);
            Extremes& seen = seen_[run.group];
            seen.least = std::min(seen.least, found.least);
            seen.most = std::max(seen.most, found.most);
        }
        return std::max(seen_[0].most - seen_[0].least, seen_[1].most - seen_[1].least);
    }

    // Between the two ends of a group, as last measured; 0 where it has none.
    double level(int group) const {
        const double middle = 0.5 * (seen_[group].least + seen_[group].most);
        return std::isfinite(middle) ? middle : 0.0;
    }

    // The variables that violate most, the worst first, as last measured; in turn from those that would rise and those
    // that would fall in each group, so that the worst pair of each group comes first. take(v) says whether v counts.
    template <class Take>
    void each_violator(const double* f, Index wanted, Take take) {
        rank(f, wanted);
        std::size_t next[4] = {};
        for (bool some = true; some && wanted > 0;) {
            some = false;
            for (int list = 0; list < 4 && wanted > 0; ++list) {
                while (next[list] < ranked_[list].size()) {
                    some = true;
                    if (take(ranked_[list][next[list]++].variable)) {
                        --wanted;
                        break;
                    }
                }
            }
        }
    }

   private:
    // Bins of the histogram that finds the worst.
    static constexpr Index kBins = 256;
    // A list holds this many times what is needed, since some entries may be rejected.
    static constexpr Index kAmple = 2;

    struct Run {
        Index first;
        Index last;
        int group;
    };
    struct Candidate {
        double value;
        std::uint32_t turn;  // ties are broken in an order unrelated to that of the rows
        Index variable;
        bool operator<(const Candidate& other) const {
            return value != other.value ? value < other.value : turn < other.turn;
        }
    };

    Index row_of(Index variable) const { return variable < rows_ ? variable : variable - rows_; }

    void rank(const double* f, Index wanted) {
        const Index most_wanted = kAmple * wanted;
        for (auto& list : ranked_) list.clear();
        for (int group = 0; group < 2; ++group) {
            const double least = seen_[group].least, most = seen_[group].most;
            if (!(most > least)) continue;
            // A histogram of the slopes says where to cut, so that little more than what is needed gets sorted.
            const double scale = kBins / (most - least);
            const auto bin = [&](double beyond) {
                return std::min<Index>(static_cast<Index>(beyond * scale), kBins - 1);
            };
            Index rising[kBins] = {}, falling[kBins] = {};
            each_of(group, f, [&](Index, double up, double down) {
                if (up < most) ++rising[bin(up - least)];
                if (down > least) ++falling[bin(most - down)];
            });
            const Index last_rising = last_bin(rising, most_wanted), last_falling = last_bin(falling, most_wanted);
            each_of(group, f, [&](Index v, double up, double down) {
                const std::uint32_t turn = static_cast<std::uint32_t>(v) * 2654435761u;
                if (up < most && bin(up - least) <= last_rising) ranked_[2 * group].push_back({up, turn, v});
                if (down > least && bin(most - down) <= last_falling)
                    ranked_[2 * group + 1].push_back({-down, turn, v});
            });
        }
        for (auto& list : ranked_) {
            const auto kept = static_cast<std::ptrdiff_t>(std::min<std::size_t>(list.size(), at(most_wanted)));
            if (kept < static_cast<std::ptrdiff_t>(list.size()))
                std::nth_element(list.begin(), list.begin() + kept, list.end());
            list.resize(static_cast<std::size_t>(kept));
            std::sort(list.begin(), list.end());
        }
    }

    template <class Use>
    void each_of(int group, const double* f, Use use) const {
        for (const Run& run : runs_) {
            if (run.group != group) continue;
            const double* mine = f + row_of(run.first) - run.first;
            for (Index v = run.first; v < run.last; ++v) use(v, mine[v] + up_[at(v)], mine[v] + down_[at(v)]);
        }
    }

    static Index last_bin(const Index (&counts)[kBins], Index wanted) {
        Index total = 0;
        for (Index bin = 0; bin < kBins; ++bin) {
            total += counts[bin];
            if (total >= wanted) return bin;
        }
        return kBins - 1;
    }

    Index rows_;
    std::vector<double> up_;
    std::vector<double> down_;
    std::vector<Run> runs_;
    Extremes seen_[2] = {};
    std::vector<Candidate> ranked_[4];
};

}  // namespace mercer
