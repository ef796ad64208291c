// One problem of a batch: choose a block, solve it, update f, until nothing is violated.
#pragma once

#include <cmath>
#include <limits>

#include "margin_blocks.hpp"
#include "margin_slopes.hpp"
#include "running_f.hpp"

namespace mercer {

enum class Ended : std::uint8_t { kSolved, kStopped, kCrawling };

template <class T>
class MarginSolver {
   public:
    MarginSolver(const MarginBatch& batch, Index problem, Index variable0, Index row0, const MarginGram<T>& gram,
                 const Tables<T>& tables, Shared& shared)
        : image_(parts_of(batch, problem), batch.image + row0, gram, tables, shared),
          n_(image_.rows()),
          variables_(n_ * batch.copies),
          is_whole_(is_one_block(variables_, tables.shared && !gram.is_stored())),
          size_(is_whole_ ? variables_ : block_size(variables_)),
          width_(batch.width),
          linear_(batch.linear + variable0),
          low_(batch.low + variable0),
          high_(batch.high + variable0),
          group_(batch.group + variable0),
          b_(batch.b + variable0),
          diagonal_(batch.diagonal),
          shared_(shared),
          slopes_(n_, variables_, group_),
          place_(at(variables_), -1) {
        for (Index v = 0; v < variables_; ++v) settle(v);
        if (is_whole_) make_whole();
        if (!batch.has_image) start_image();
    }

    // Counts its steps.
    Ended run(Index& steps) {
        constexpr Index kNever = std::numeric_limits<Index>::max();
        const MarginOptions& options = shared_.options;
        const Index last = options.max_steps < 0 ? kNever : options.max_steps;
        Index finishing = kNever;     // the step at which finishing is given up
        Index tried = 0;              // the steps after which the free variables were minimised over last
        double wanted = options.tol;  // less where that leaves a gap
        for (;;) {
            shared_.watch.look();
            const double violation = slopes_.measure(image_.values(), shared_.engine);
            shared_.sight.violation.store(violation, std::memory_order_relaxed);
            if (shared_.sight.wanted) shared_.sight.gap.store(relative_gap(), std::memory_order_relaxed);
            if (!(violation > wanted)) wanted = closer(wanted, violation);
            if (!(violation > std::min(wanted, options.finish))) return Ended::kSolved;
            const bool is_solved = !(violation > wanted);
            if (is_solved && finishing == kNever) finishing = steps + options.finish_steps * variables_;
            // The violation is not monotone: when finishing is given up, the problem may have to be solved again.
            const bool is_given_up = steps >= finishing;
            if (is_solved && (is_given_up || !(violation > options.finish))) return Ended::kSolved;
            if (steps >= last) return is_solved ? Ended::kSolved : Ended::kStopped;
            // Newton's method knows of no gap: where only that is left, the referee says which violation closes it.
            if (is_crawling()) return violation > options.tol ? Ended::kCrawling : Ended::kSolved;
            if (!is_whole_) {
                choose();
                assemble();
            }
            fill_block();
            if (is_solved && !is_given_up && can_try() && violation <= trial_) {
                trial_ = kNextTrial * violation;
                if (is_worth(steps - tried)) {
                    tried = steps;
                    const bool is_found = shared_.engine.template inner<T>().minimise_free(block_);
                    if (move_to_block() && is_found) continue;
                    fill_block();
                }
            }
            const double end = is_given_up ? wanted : std::min(wanted, options.finish);
            aim_ = can_try() ? std::max(end, std::min(trial_, wanted)) : end;
            const Index taken = solve(violation, std::min(last, is_given_up ? kNever : finishing) - steps);
            steps += taken;
            if (taken == 0) return Ended::kSolved;  // rounding: no pair in the block can move
        }
    }

   private:
    static constexpr double kInfinity = std::numeric_limits<double>::infinity();
    // Tasks into which the copies of a block's matrix are cut.
    static constexpr Index kAssembly = 16;
    // Variables cubed of a factorisation that costs as much as a step costs for each of a block's variables.
    static constexpr double kFactorisation = 16.0;
    // Where the minimum over the free variables lies outside the box, steps go on to this share of the violation first.
    static constexpr double kNextTrial = 0.03;

    Index row_of(Index variable) const { return variable < n_ ? variable : variable - n_; }
    bool is_free(Index v) const { return b_[v] > low_[v] && b_[v] < high_[v]; }

    // The violation to go on to where this one leaves a gap that is too large: a gap falls at least as the violation
    // does. To stop first, and be sent back by the referee, would compute rows again.
    double closer(double wanted, double violation) const {
        constexpr double kEnough = 0.7, kLeast = 0.01, kRounded = 16 * std::numeric_limits<double>::epsilon();
        const MarginOptions& options = shared_.options;
        if (!(options.gap < kInfinity)) return wanted;
        double size = 0.0, longest = 0.0;  // of the terms of f: no violation is less than what these round
        for (Index v = 0; v < variables_; ++v) {
            size += std::abs(b_[v]);
            longest = std::max(longest, diagonal_[image_.global(row_of(v))]);
        }
        const double least = std::max(kLeast * options.tol, kRounded * size * longest);
        if (!(wanted > least)) return wanted;
        const double gap = relative_gap();
        if (!(gap > kEnough * options.gap)) return wanted;
        return std::max(least, std::min(wanted, violation) * std::max(kEnough * options.gap / gap, kLeast));
    }

    // A sum of terms that are at least 0 (Fenchel-Young), at the levels between the ends; boxes hold 0.
    double relative_gap() const {
        const double level[2] = {slopes_.level(0), slopes_.level(1)};
        double gap = 0.0, primal = 0.0;
        for (Index v = 0; v < variables_; ++v) {
            const double f = image_.values()[row_of(v)], h = level[group_[v]];
            const double r = h - f - linear_[v];
            const double loss = std::max({high_[v] * (r - width_), low_[v] * (r + width_), 0.0});
            gap += std::max(loss + width_ * std::abs(b_[v]) - b_[v] * r, 0.0);
            primal += 0.5 * b_[v] * f + loss - h * b_[v];
        }
        return gap / std::max({std::abs(primal), std::abs(primal - gap), std::numeric_limits<double>::min()});
    }

    void settle(Index v) {
        slopes_.set(v, linear_[v] + slope_up(b_[v], high_[v], width_), linear_[v] + slope_down(b_[v], low_[v], width_));
    }

    void start_image() {
        image_.clear();
        std::vector<double> sums(at(n_), 0.0);
        for (Index v = 0; v < variables_; ++v) sums[at(row_of(v))] += b_[v];
        for (Index r = 0; r < n_;) {
            std::vector<Change> changes;
            for (; r < n_ && static_cast<Index>(changes.size()) < kUsualBlock; ++r) {
                if (sums[at(r)] != 0.0) changes.push_back({r, sums[at(r)], false});
            }
            add(changes);
        }
    }

    // The next block: half of the last one at most (free variables first), then the worst violators.
    void choose() {
        std::vector<Index> chosen[2];
        std::vector<std::uint8_t> taken(at(variables_), 0);
        const auto take = [&](Index v) {
            if (taken[at(v)] != 0) return false;
            taken[at(v)] = 1;
            chosen[group_[v]].push_back(v);
            return true;
        };
        Index kept = 0;
        for (int priority = 0; priority < 3 && variables_ > size_; ++priority) {
            for (std::size_t m = 0; m < members_.size() && kept < size_ / 2; ++m) {
                const Index v = members_[m];
                if (v < 0) continue;
                const bool moved = moved_[m] != 0;
                const int mine = is_free(v) ? (moved ? 0 : 1) : (moved ? 2 : 3);
                if (mine == priority && take(v)) ++kept;
            }
        }
        slopes_.each_violator(image_.values(), size_ - kept, take);
        lay_out(chosen);
    }

    // Members in their order, each group padded; padding is variable -1.
    void lay_out(std::vector<Index> (&chosen)[2]) {
        last_members_.swap(members_);
        for (std::size_t m = 0; m < last_members_.size(); ++m) {
            if (last_members_[m] >= 0) place_[at(last_members_[m])] = static_cast<Index>(m);
        }
        members_.clear();
        is_in_place_ = chosen[1].empty() && padded(chosen[0].size()) == last_members_.size() &&
                       block_.split == static_cast<Index>(last_members_.size());
        if (is_in_place_) return stay(chosen[0]);
        for (int g = 0; g < 2; ++g) {
            members_.insert(members_.end(), chosen[g].begin(), chosen[g].end());
            members_.resize(padded(members_.size()), -1);
            if (g == 0) block_.split = static_cast<Index>(members_.size());
        }
        if (block_.split == 0) block_.split = static_cast<Index>(members_.size());  // the second group only
    }

    static std::size_t padded(std::size_t size) {
        constexpr std::size_t kPad = kBlockPad;
        return (size + kPad - 1) / kPad * kPad;
    }

    // Those of the last block where they are, so that their entries need not move; the others in the places left.
    void stay(const std::vector<Index>& chosen) {
        members_.assign(last_members_.size(), -1);
        for (const Index v : chosen) {
            if (place_[at(v)] >= 0) members_[at(place_[at(v)])] = v;
        }
        std::size_t m = 0;
        for (const Index v : chosen) {
            if (place_[at(v)] >= 0) continue;
            while (members_[m] >= 0) ++m;
            members_[m] = v;
        }
    }

    // K of the block: from the last block, then from cached rows; the rest is computed.
    void assemble() {
        const Index size = static_cast<Index>(members_.size());
        const Index last_size = static_cast<Index>(last_members_.size());
        if (!is_in_place_) last_K_.swap(K_);
        K_.resize(at(size * size));
        std::vector<Index> fresh;  // places in the block that the last block did not have
        std::vector<Index> old, old_at;
        for (Index m = 0; m < size; ++m) {
            const Index v = members_[at(m)];
            if (v < 0) {
                std::fill_n(K_.data() + m * size, size, T{});
            } else if (place_[at(v)] < 0) {
                fresh.push_back(m);
            } else {
                old.push_back(m);
                old_at.push_back(place_[at(v)]);
            }
        }
        for (const Index v : last_members_) {
            if (v >= 0) place_[at(v)] = -1;
        }
        std::vector<Index> rows;
        for (const Index v : members_) rows.push_back(v < 0 ? -1 : row_of(v));
        std::vector<Index> make;
        for (const Index m : fresh) {
            if (!image_.copy_kept(rows[at(m)], rows, K_.data() + m * size)) make.push_back(m);
        }
        make_rows(make, rows);
        // The rows that both blocks have, and the mirror image of the new ones.
        const auto copy_old = [&](Index task) {
            const std::size_t first = old.size() * at(task) / kAssembly, last = old.size() * at(task + 1) / kAssembly;
            for (std::size_t i = first; i < last; ++i) {
                const T* from = is_in_place_ ? nullptr : last_K_.data() + old_at[i] * last_size;
                T* to = K_.data() + old[i] * size;
                for (std::size_t j = 0; j < old.size() && !is_in_place_; ++j) to[old[j]] = from[old_at[j]];
                for (Index m = 0; m < size; ++m) {
                    if (members_[at(m)] < 0) to[m] = T{};
                }
            }
            for (std::size_t j = 0; j < fresh.size(); j += kAssembly) {
                for (std::size_t i = first; i < last; ++i) {
                    for (std::size_t k = j; k < std::min<std::size_t>(j + kAssembly, fresh.size()); ++k)
                        K_[at(old[i] * size + fresh[k])] = K_[at(fresh[k] * size + old[i])];
                }
            }
        };
        if (!old.empty()) image_.each_task(kAssembly, copy_old);
    }

    // The one block of all variables, which stays; and where each is in it.
    void make_whole() {
        std::vector<Index> chosen[2];
        for (Index v = 0; v < variables_; ++v) chosen[group_[v]].push_back(v);
        lay_out(chosen);
        const std::size_t size = members_.size();
        std::vector<Index> rows;
        for (const Index v : members_) rows.push_back(row_of(std::max<Index>(v, 0)));
        K_.resize(size * size);
        image_.square(rows, K_.data());
        for (std::size_t m = 0; m < size; ++m) {
            if (members_[m] >= 0) place_[at(members_[m])] = static_cast<Index>(m);
            else wipe(m, size);
        }
    }

    // Padding is a copy of some row until then.
    void wipe(std::size_t m, std::size_t size) {
        std::fill_n(K_.data() + m * size, size, T{});
        for (std::size_t row = 0; row < size; ++row) K_[row * size + m] = T{};
    }

    void add(std::vector<Change>& changes) {
        if (is_whole_) image_.add_from(K_.data(), static_cast<Index>(members_.size()), place_.data(), changes);
        else image_.add(changes);
    }

    void make_rows(const std::vector<Index>& make, const std::vector<Index>& rows) {
        if (make.empty()) return;
        const std::size_t size = rows.size();
        std::vector<Index> left, right;
        std::vector<T*> to;
        for (const Index m : make) {
            left.push_back(rows[at(m)]);
            to.push_back(K_.data() + at(m) * size);
        }
        // Padding is a copy of some row, wiped afterwards.
        for (const Index row : rows) right.push_back(std::max<Index>(row, 0));
        image_.block(left, right, to.data());
        for (std::size_t m = 0; m < size; ++m) {
            if (rows[m] >= 0) continue;
            for (T* row : to) row[m] = T{};
        }
    }

    void fill_block() {
        const Index size = static_cast<Index>(members_.size());
        for (auto* numbers : {&block_b_, &block_g_, &block_up_, &block_down_, &block_low_, &block_high_})
            numbers->assign(at(size), 0.0);
        block_diagonal_.assign(at(size), T{1});
        for (Index m = 0; m < size; ++m) {
            const Index v = members_[at(m)];
            if (v < 0) {
                block_up_[at(m)] = kInfinity;
                block_down_[at(m)] = -kInfinity;
                continue;
            }
            block_b_[at(m)] = b_[v];
            block_g_[at(m)] = image_.values()[row_of(v)] + linear_[v];
            block_low_[at(m)] = low_[v];
            block_high_[at(m)] = high_[v];
            block_up_[at(m)] = slope_up(b_[v], high_[v], width_);
            block_down_[at(m)] = slope_down(b_[v], low_[v], width_);
            K_[at(m * size + m)] = block_diagonal_[at(m)] = static_cast<T>(diagonal_[image_.global(row_of(v))]);
        }
        block_.size = size;
        block_.K = K_.data();
        block_.diagonal = block_diagonal_.data();
        block_.low = block_low_.data();
        block_.high = block_high_.data();
        block_.b = block_b_.data();
        block_.g = block_g_.data();
        block_.up = block_up_.data();
        block_.down = block_down_.data();
        block_.width = width_;
    }

    Index solve(double violation, Index max_steps) {
        const bool is_all = variables_ <= size_;
        block_.tol = is_all ? aim_ : std::max(0.5 * aim_, (is_hard_ ? kHardShare : kInnerShare) * violation);
        block_.max_steps = std::min(max_steps, (is_all || is_hard_ ? kHardSteps : kInnerSteps) * block_.size);
        const Index taken = shared_.engine.template inner<T>().solve_block(block_);
        if (!is_all) look_whether_hard(taken);
        if (is_all || is_hard_) hard_steps_ += taken;
        move_to_block();
        return taken;
    }

    // Takes over the block's b; whether anything has moved.
    bool move_to_block() {
        moved_.assign(members_.size(), 0);
        std::vector<Change> changes;
        for (Index m = 0; m < block_.size; ++m) {
            const Index v = members_[at(m)];
            if (v < 0 || block_b_[at(m)] == b_[v]) continue;
            moved_[at(m)] = 1;
            const bool is_free = block_b_[at(m)] > low_[v] && block_b_[at(m)] < high_[v];
            changes.push_back({row_of(v), block_b_[at(m)] - b_[v], is_free});
        }
        add(changes);
        for (Index m = 0; m < block_.size; ++m) {
            if (moved_[at(m)] == 0) continue;
            b_[members_[at(m)]] = block_b_[at(m)];
            settle(members_[at(m)]);
        }
        return !changes.empty();
    }

    // Entries in double are worth finishing by Newton's method.
    bool can_try() const { return is_whole_ && sizeof(T) == sizeof(double); }
    // Whether a factorisation costs no more than these steps.
    bool is_worth(Index steps) const {
        const auto count = static_cast<double>(free());
        return can_try() && count * count * count <= kFactorisation * static_cast<double>(steps * block_.size);
    }

    Index free() const {
        Index count = 0;
        for (Index v = 0; v < variables_; ++v) count += is_free(v) ? 1 : 0;
        return count;
    }

    bool is_crawling() const {
        const auto exceeds = [&](Index free) {
            const auto worth = static_cast<double>(newton_steps(free, variables_));
            return static_cast<double>(hard_steps_) > shared_.options.patience * worth;
        };
        if (!exceeds(0)) return false;
        const Index count = free();
        return count <= shared_.options.crawl_free && exceeds(count);
    }

    void look_whether_hard(Index taken) {
        window_steps_ += taken;
        if (++window_ < kHardWindow) return;
        is_hard_ = is_hard_ || 2 * window_steps_ > 3 * kHardWindow * size_;
        window_ = window_steps_ = 0;
        if (!is_hard_) return;
        const Index wanted = (free() + kBlockPad) / kBlockPad * kBlockPad;
        size_ = std::min(variables_, std::clamp(wanted, block_size(variables_), kHardBlock));
    }

    RunningF<T> image_;
    Index n_;
    Index variables_;
    bool is_whole_;
    Index size_;  // of a block
    double width_;
    const double* linear_;
    const double* low_;
    const double* high_;
    const std::uint8_t* group_;
    double* b_;
    const double* diagonal_;
    Shared& shared_;
    MarginSlopes slopes_;
    std::vector<Index> place_;  // in the last block, -1 elsewhere
    std::vector<Index> members_, last_members_;
    std::vector<std::uint8_t> moved_;
    bool is_in_place_ = false;  // whether the block's members that the last one had too are where they were
    std::vector<T> K_, last_K_, block_diagonal_;
    std::vector<double> block_b_, block_g_, block_up_, block_down_, block_low_, block_high_;
    Block<T> block_;
    double aim_ = 0.0;          // the violation to be reached now
    double trial_ = kInfinity;  // and that at which the free variables are minimised over
    bool is_hard_ = false;
    Index window_ = 0;  // blocks since it was last looked whether the problem is hard, and their steps
    Index window_steps_ = 0;
    Index hard_steps_ = 0;  // in all
};

}  // namespace mercer
