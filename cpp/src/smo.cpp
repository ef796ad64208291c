#include "mercer/smo.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "margin_gram.hpp"
#include "mercer/segments.hpp"

namespace mercer {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Variables in a block: an eighth of them, within limits. Few enough that making the block's own matrix costs little,
// enough that rows are made in batches.
constexpr Index kLeastBlock = 64;
constexpr Index kUsualBlock = 512;
constexpr Index kLargeBlock = 1024;  // of a problem with so many variables:
constexpr Index kManyVariables = 20000;
Index block_size(Index variables) {
    const Index most = variables < kManyVariables ? kUsualBlock : kLargeBlock;
    return std::min(variables, std::clamp<Index>(variables / 8 / kBlockPad * kBlockPad, kLeastBlock, most));
}
// A problem is hard when its blocks, over some of them, take many steps for each variable: a large C, many free
// variables that pull at each other. Its blocks then hold all free variables if they can, and are solved less far.
constexpr Index kHardBlock = 2048;
constexpr Index kHardWindow = 8;
// A problem of so many rows has the threads for itself; smaller ones are solved side by side.
constexpr Index kLargeProblem = 6000;
// The inner solver stops at this share of the violation it was given, or after so many steps for each variable. Steps
// cost little beside the rows of the variables they move, so a block is solved well, unless it is hard.
constexpr double kInnerShare = 0.02;
constexpr Index kInnerSteps = 2;
constexpr double kHardShare = 0.3;
constexpr Index kHardSteps = 50;
// A row that was not used for so many blocks may be forgotten.
constexpr std::int32_t kForget = 12;
// Tasks into which the making of rows is cut at least, where the problem has the threads for itself.
constexpr Index kTasks = 4;
// A problem of so few rows is solved before another thread has woken up.
constexpr Index kSmallProblem = 1000;
Index tasks_for(Index rows, bool side_by_side) {
    return rows < (side_by_side ? kLargeProblem : kSmallProblem) ? 1 : kTasks;
}
// Of the histogram that finds the worst violators.
constexpr Index kBins = 256;
// Tasks into which the copies of a block's matrix are cut.
constexpr Index kAssembly = 16;
// Rows that are added to the gradient together, where problems share them.
constexpr std::size_t kTogether = 64;
// Columns of the gradient that one task updates.
constexpr Index kColumns = 4096;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

// Where the problem's rows lie: its k-th range is the range `id` of K, with the rows first … of it, at start … here.
struct Part {
    Index id;
    Index first;
    Index start;
    Index size;
};

std::vector<Part> parts_of(const MarginBatch& batch, Index problem) {
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
template <class T>
struct Tables {
    std::vector<Segments<T>*> of;
    bool shared = false;
};

struct Shared {
    const MarginOptions& options;
    const Engine& engine;
    Watch& watch;
    std::atomic<double>& violation;
    MarginReport& report;
};

// One problem of the batch.
template <class T>
class Solver {
   public:
    Solver(const MarginBatch& batch, Index problem, Index variable0, Index row0, const MarginGram<T>& gram,
           const Tables<T>& tables, Shared& shared)
        : parts_(parts_of(batch, problem)),
          n_(parts_.back().start + parts_.back().size),
          variables_(n_ * batch.copies),
          size_(block_size(variables_)),
          width_(batch.width),
          linear_(batch.linear + variable0),
          low_(batch.low + variable0),
          high_(batch.high + variable0),
          group_(batch.group + variable0),
          b_(batch.b + variable0),
          f_(batch.image + row0),
          diagonal_(batch.diagonal),
          gram_(gram),
          tables_(tables),
          shared_(shared),
          tasks_(tasks_for(n_, tables.shared)),
          up_(at(variables_)),
          down_(at(variables_)),
          place_(at(variables_), -1) {
        for (Index v = 0; v < variables_; ++v) settle(v);
        for (Index v = 0; v < variables_;) {
            Index end = v + 1;
            while (end < variables_ && end % n_ != 0 && group_[end] == group_[v]) ++end;
            runs_.push_back({v, end, group_[v]});
            v = end;
        }
        if (!batch.has_image) start_image();
    }

    // Counts its steps; false where max_steps ended it.
    bool run(Index& steps) {
        constexpr Index kNever = std::numeric_limits<Index>::max();
        const MarginOptions& options = shared_.options;
        const Index last = options.max_steps < 0 ? kNever : options.max_steps;
        Index finishing = kNever;  // the step at which finishing is given up
        for (;;) {
            shared_.watch.look();
            measure();
            const double violation = std::max(seen_[0].most - seen_[0].least, seen_[1].most - seen_[1].least);
            shared_.violation.store(violation, std::memory_order_relaxed);
            if (!(violation > std::min(options.tol, options.finish))) return true;
            const bool is_solved = !(violation > options.tol);
            if (is_solved && finishing == kNever) finishing = steps + options.finish_steps * variables_;
            // The violation is not monotone: when finishing is given up, the problem may have to be solved again.
            const bool is_given_up = steps >= finishing;
            if (is_solved && (is_given_up || !(violation > options.finish))) return true;
            if (steps >= last) return is_solved;
            choose();
            assemble();
            aim_ = is_given_up ? options.tol : std::min(options.tol, options.finish);
            const Index taken = solve(violation, std::min(last, is_given_up ? kNever : finishing) - steps);
            steps += taken;
            if (taken == 0) return true;  // rounding: no pair of the block can move
        }
    }

   private:
    struct Run {
        Index first;
        Index last;
        int group;
    };
    struct Change {
        Index row;
        double delta;
        bool keep;
    };
    struct Candidate {
        double value;
        std::uint32_t turn;  // ties are broken in an order that has nothing to do with that of the rows
        Index variable;
        bool operator<(const Candidate& other) const {
            return value != other.value ? value < other.value : turn < other.turn;
        }
    };

    Index row_of(Index variable) const { return variable < n_ ? variable : variable - n_; }
    const Part& part_of(Index row) const { return parts_.size() == 1 || row < parts_[1].start ? parts_[0] : parts_[1]; }
    Index global(Index row) const {
        const Part& part = part_of(row);
        return part.first + row - part.start;
    }
    bool is_free(Index v) const { return b_[v] > low_[v] && b_[v] < high_[v]; }

    void settle(Index v) {
        up_[at(v)] = linear_[v] + slope_up(b_[v], high_[v], width_);
        down_[at(v)] = linear_[v] + slope_down(b_[v], low_[v], width_);
    }

    void start_image() {
        std::fill_n(f_, n_, 0.0);
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

    void measure() {
        seen_[0] = seen_[1] = {kInfinity, -kInfinity};
        for (const Run& run : runs_) {
            const Extremes found = shared_.engine.extremes(f_ + row_of(run.first), up_.data() + run.first,
                                                           down_.data() + run.first, run.last - run.first);
            Extremes& seen = seen_[run.group];
            seen.least = std::min(seen.least, found.least);
            seen.most = std::max(seen.most, found.most);
        }
    }

    // The next block: half of the last one at most (free variables first), then the worst violators.
    void choose() {
        std::vector<Index> kept;
        if (variables_ > size_) {
            for (int priority = 0; priority < 3; ++priority) {
                for (std::size_t m = 0; m < members_.size(); ++m) {
                    const Index v = members_[m];
                    if (v < 0 || static_cast<Index>(kept.size()) >= size_ / 2) continue;
                    const bool moved = moved_[m] != 0;
                    const int mine = is_free(v) ? (moved ? 0 : 1) : (moved ? 2 : 3);
                    if (mine == priority) kept.push_back(v);
                }
            }
        }
        std::vector<Index> chosen[2];
        std::vector<std::uint8_t> taken(at(variables_), 0);
        const auto take = [&](Index v) {
            if (taken[at(v)] != 0) return false;
            taken[at(v)] = 1;
            chosen[group_[v]].push_back(v);
            return true;
        };
        for (const Index v : kept) take(v);
        rank();
        Index room = size_ - static_cast<Index>(kept.size());
        // In turn from each list, so that the worst pair of each group is inside.
        std::size_t next[4] = {};
        for (bool some = true; some && room > 0;) {
            some = false;
            for (int list = 0; list < 4 && room > 0; ++list) {
                while (next[list] < ranked_[list].size()) {
                    some = true;
                    if (take(ranked_[list][next[list]++].variable)) {
                        --room;
                        break;
                    }
                }
            }
        }
        lay_out(chosen);
    }

    // Who violates the conditions of optimality, the worst first: two lists for each group.
    void rank() {
        for (auto& list : ranked_) list.clear();
        for (int group = 0; group < 2; ++group) {
            const double least = seen_[group].least, most = seen_[group].most;
            if (!(most > least)) continue;
            // A histogram of the slopes says where to cut, so that little more than what is wanted need be put in
            // order.
            const double scale = kBins / (most - least);
            const auto bin = [&](double beyond) {
                return std::min<Index>(static_cast<Index>(beyond * scale), kBins - 1);
            };
            Index rising[kBins] = {}, falling[kBins] = {};
            each_of(group, [&](Index, double up, double down) {
                if (up < most) ++rising[bin(up - least)];
                if (down > least) ++falling[bin(most - down)];
            });
            const Index last_rising = last_bin(rising), last_falling = last_bin(falling);
            each_of(group, [&](Index v, double up, double down) {
                const std::uint32_t turn = static_cast<std::uint32_t>(v) * 2654435761u;
                if (up < most && bin(up - least) <= last_rising) ranked_[2 * group].push_back({up, turn, v});
                if (down > least && bin(most - down) <= last_falling)
                    ranked_[2 * group + 1].push_back({-down, turn, v});
            });
        }
        for (auto& list : ranked_) {
            const auto wanted = static_cast<std::ptrdiff_t>(std::min<std::size_t>(list.size(), at(size_)));
            if (wanted < static_cast<std::ptrdiff_t>(list.size()))
                std::nth_element(list.begin(), list.begin() + wanted, list.end());
            list.resize(static_cast<std::size_t>(wanted));
            std::sort(list.begin(), list.end());
        }
    }

    template <class Use>
    void each_of(int group, Use use) const {
        for (const Run& run : runs_) {
            if (run.group != group) continue;
            const double* f = f_ + row_of(run.first) - run.first;
            for (Index v = run.first; v < run.last; ++v) use(v, f[v] + up_[at(v)], f[v] + down_[at(v)]);
        }
    }

    Index last_bin(const Index (&counts)[kBins]) const {
        Index total = 0;
        for (Index bin = 0; bin < kBins; ++bin) {
            total += counts[bin];
            if (total >= size_) return bin;
        }
        return kBins - 1;
    }

    // Members in their order, each group padded; padding is variable -1.
    void lay_out(std::vector<Index> (&chosen)[2]) {
        last_members_.swap(members_);
        for (std::size_t m = 0; m < last_members_.size(); ++m) {
            if (last_members_[m] >= 0) place_[at(last_members_[m])] = static_cast<Index>(m);
        }
        members_.clear();
        for (int g = 0; g < 2; ++g) {
            members_.insert(members_.end(), chosen[g].begin(), chosen[g].end());
            while (members_.size() % kBlockPad != 0) members_.push_back(-1);
            if (g == 0) block_.split = static_cast<Index>(members_.size());
        }
        if (block_.split == 0) block_.split = static_cast<Index>(members_.size());  // the second group only
    }

    // K of the block: what the last block had, then rows that are kept, and the rest is made.
    void assemble() {
        const Index size = static_cast<Index>(members_.size());
        const Index last_size = static_cast<Index>(last_members_.size());
        last_K_.swap(K_);
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
        std::vector<Index> make;
        for (const Index m : fresh) {
            if (!copy_kept(m, size)) make.push_back(m);
        }
        make_rows(make, size);
        // The rows that both blocks have, and the mirror image of the new ones.
        const auto copy_old = [&](Index task) {
            const std::size_t first = old.size() * at(task) / kAssembly, last = old.size() * at(task + 1) / kAssembly;
            for (std::size_t i = first; i < last; ++i) {
                const T* from = last_K_.data() + old_at[i] * last_size;
                T* to = K_.data() + old[i] * size;
                for (std::size_t j = 0; j < old.size(); ++j) to[old[j]] = from[old_at[j]];
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
        if (!old.empty()) each_task(kAssembly, copy_old);
        fill_block(size);
    }

    // Row m of the block from the rows that are kept; false where a part of it is not there.
    bool copy_kept(Index m, Index size) {
        if (tables_.shared || gram_.is_cheap())
            return false;  // to make entries one by one takes less than to find them in memory
        const Index row = row_of(members_[at(m)]);
        const Part& mine = part_of(row);
        const std::size_t a = static_cast<std::size_t>(&mine - parts_.data());
        const T* kept[2] = {};
        for (std::size_t c = 0; c < parts_.size(); ++c) {
            Segments<T>& table = *tables_.of[a * parts_.size() + c];
            kept[c] = table.find(row - mine.start);
            if (kept[c] == nullptr) return false;
            if (!tables_.shared) table.touch(row - mine.start, now_);
        }
        T* to = K_.data() + m * size;
        for (Index j = 0; j < size; ++j) {
            to[j] = T{};
            if (members_[at(j)] < 0) continue;
            const Index column = row_of(members_[at(j)]);
            const Part& part = part_of(column);
            to[j] = kept[&part - parts_.data()][column - part.start];
        }
        return true;
    }

    void make_rows(const std::vector<Index>& make, Index size) {
        if (make.empty()) return;
        std::vector<Index> left, right;
        for (const Index m : make) left.push_back(global(row_of(members_[at(m)])));
        // Padding is a copy of some row, wiped afterwards.
        for (const Index v : members_) right.push_back(global(row_of(std::max<Index>(v, 0))));
        std::vector<T*> to;
        for (const Index m : make) to.push_back(K_.data() + m * size);
        gram_.block(left, right, to.data(), tasks_, shared_.watch);
        shared_.report.evaluations += static_cast<Index>(make.size()) * size;
        for (Index j = 0; j < size; ++j) {
            if (members_[at(j)] >= 0) continue;
            for (T* row : to) row[j] = T{};
        }
    }

    void fill_block(Index size) {
        for (auto* numbers : {&block_b_, &block_g_, &block_up_, &block_down_, &block_low_, &block_high_})
            numbers->assign(at(size), 0.0);
        block_diagonal_.assign(at(size), T{1});
        block_slope_.assign(at(size), T{});
        for (Index m = 0; m < size; ++m) {
            const Index v = members_[at(m)];
            if (v < 0) {
                block_up_[at(m)] = kInfinity;
                block_down_[at(m)] = -kInfinity;
                continue;
            }
            block_b_[at(m)] = b_[v];
            block_g_[at(m)] = f_[row_of(v)] + linear_[v];
            block_low_[at(m)] = low_[v];
            block_high_[at(m)] = high_[v];
            block_up_[at(m)] = slope_up(b_[v], high_[v], width_);
            block_down_[at(m)] = slope_down(b_[v], low_[v], width_);
            K_[at(m * size + m)] = block_diagonal_[at(m)] = static_cast<T>(diagonal_[global(row_of(v))]);
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
        block_.slope = block_slope_.data();
        block_.width = width_;
    }

    Index solve(double violation, Index max_steps) {
        const bool is_all = variables_ <= size_;
        block_.tol = is_all ? aim_ : std::max(0.5 * aim_, (is_hard_ ? kHardShare : kInnerShare) * violation);
        block_.max_steps = std::min(max_steps, (is_all || is_hard_ ? kHardSteps : kInnerSteps) * block_.size);
        const Index taken = shared_.engine.template inner<T>().solve_block(block_);
        if (!is_all) look_whether_hard(taken);
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
        ++now_;
        return taken;
    }

    void look_whether_hard(Index taken) {
        window_steps_ += taken;
        if (++window_ < kHardWindow) return;
        is_hard_ = is_hard_ || 2 * window_steps_ > 3 * kHardWindow * size_;
        window_ = window_steps_ = 0;
        if (!is_hard_) return;
        Index free = 0;
        for (Index v = 0; v < variables_; ++v) free += is_free(v) ? 1 : 0;
        const Index wanted = (free + kBlockPad) / kBlockPad * kBlockPad;
        size_ = std::min(variables_, std::clamp(wanted, block_size(variables_), kHardBlock));
    }

    // f += K[:, rows] delta, the rows in their order. The row of a variable between its bounds will be wanted again and
    // is kept. That of a variable which went to a bound is not: it is seldom wanted again, and to touch memory for the
    // first time can cost more than to make a row. What problems share is always kept.
    void add(std::vector<Change>& changes) {
        std::stable_sort(changes.begin(), changes.end(),
                         [](const Change& x, const Change& y) { return x.row < y.row; });
        std::size_t count = 0;
        for (const Change& change : changes) {
            if (count > 0 && changes[count - 1].row == change.row) {
                changes[count - 1].delta += change.delta;
                changes[count - 1].keep = changes[count - 1].keep || change.keep;
            } else {
                changes[count++] = change;
            }
        }
        changes.resize(count);
        for (std::size_t c = 0; c < parts_.size(); ++c) add_part(changes, c);
    }

    Segments<T>& table_of(Index row, std::size_t c) {
        const std::size_t a = static_cast<std::size_t>(&part_of(row) - parts_.data());
        return *tables_.of[a * parts_.size() + c];
    }
    Index local(Index row) const { return row - part_of(row).start; }

    void add_part(const std::vector<Change>& changes, std::size_t c) {
        if (tables_.shared) return add_shared(changes, c);
        const Part& columns = parts_[c];
        std::vector<const Change*> missing;
        std::vector<T*> memory;
        bool full = false;
        for (const Change& change : changes) {
            Segments<T>& table = table_of(change.row, c);
            table.touch(local(change.row), now_);
            if (table.find(local(change.row)) != nullptr) continue;
            T* claimed = change.keep ? table.claim() : nullptr;
            if (change.keep && claimed == nullptr && !full) {
                table.forget_before(now_ - kForget);
                claimed = table.claim();
                full = claimed == nullptr;
            }
            missing.push_back(&change);
            memory.push_back(claimed);
        }
        std::vector<const T*> kept;
        std::vector<double> delta;
        for (const Change& change : changes) {
            const T* found = table_of(change.row, c).find(local(change.row));
            if (found == nullptr) continue;
            kept.push_back(found);
            delta.push_back(change.delta);
        }
        add_kept(kept, delta, columns);
        make(missing, memory, columns, true);
        for (std::size_t r = 0; r < missing.size(); ++r) {
            if (memory[r] != nullptr) table_of(missing[r]->row, c).keep(local(missing[r]->row), memory[r]);
        }
    }

    // What is shared may be made by another problem meanwhile, and what there is room for depends on who came first. So
    // rows are made where they are missing, and then all are added alike, in their order and so many at a time.
    void add_shared(const std::vector<Change>& changes, std::size_t c) {
        const Part& columns = parts_[c];
        for (std::size_t from = 0; from < changes.size(); from += kTogether) {
            const std::size_t count = std::min(kTogether, changes.size() - from);
            std::vector<const T*> rows(count);
            std::vector<double> delta(count);
            std::vector<const Change*> missing;
            std::vector<T*> memory;
            std::size_t spare = 0;
            for (std::size_t r = 0; r < count; ++r) {
                const Change& change = changes[from + r];
                delta[r] = change.delta;
                rows[r] = table_of(change.row, c).find(local(change.row));
                if (rows[r] != nullptr) continue;
                T* to = table_of(change.row, c).claim();
                if (to == nullptr) {
                    spare_.resize(kTogether * at(n_));
                    rows[r] = to = spare_.data() + at(columns.size) * spare++;
                }
                missing.push_back(&change);
                memory.push_back(to);
            }
            make(missing, memory, columns, false);
            for (std::size_t m = 0; m < missing.size(); ++m) {
                const std::size_t r = static_cast<std::size_t>(missing[m] - changes.data()) - from;
                if (rows[r] != nullptr) continue;  // in spare memory
                Segments<T>& table = table_of(missing[m]->row, c);
                table.keep(local(missing[m]->row), memory[m]);
                rows[r] = table.find(local(missing[m]->row));
            }
            add_kept(rows, delta, columns);
        }
    }

    // Makes rows against some columns, into memory where there is some; and adds them to f.
    void make(const std::vector<const Change*>& changes, const std::vector<T*>& memory, const Part& columns, bool add) {
        std::vector<Index> rows;
        std::vector<T*> to;
        std::vector<double> delta;
        for (std::size_t r = 0; r < changes.size(); ++r) {
            if (!add && memory[r] == nullptr) continue;
            rows.push_back(global(changes[r]->row));
            to.push_back(memory[r]);
            delta.push_back(changes[r]->delta);
        }
        if (rows.empty()) return;
        gram_.rows(rows, columns.id, to.data(), add ? delta.data() : nullptr, f_ + columns.start, tasks_,
                   shared_.watch);
        shared_.report.evaluations += static_cast<Index>(rows.size()) * columns.size;
    }

    void add_kept(const std::vector<const T*>& kept, const std::vector<double>& delta, const Part& columns) {
        if (kept.empty()) return;
        const auto add_rows = shared_.engine.template inner<T>().add_rows;
        const Index count = static_cast<Index>(kept.size());
        const Index tasks = (columns.size + kColumns - 1) / kColumns;
        const auto task = [&](Index chunk) {
            const Index c0 = chunk * kColumns;
            add_rows(kept.data(), delta.data(), count, c0, std::min(c0 + kColumns, columns.size), f_ + columns.start);
        };
        each_task(tasks, task);
    }

    template <class Task>
    void each_task(Index count, const Task& task) {
        if (tasks_ > 1 && count > 1) return parallel(count, shared_.watch, task);
        for (Index at = 0; at < count; ++at) task(at);
    }

    std::vector<Part> parts_;
    Index n_;
    Index variables_;
    Index size_;  // of a block
    double width_;
    const double* linear_;
    const double* low_;
    const double* high_;
    const std::uint8_t* group_;
    double* b_;
    double* f_;
    const double* diagonal_;
    const MarginGram<T>& gram_;
    const Tables<T>& tables_;
    Shared& shared_;
    Index tasks_;               // into which work is cut at least; 1 where whole problems are the tasks
    std::vector<double> up_;    // f + up: the slope upwards
    std::vector<double> down_;  // f + down: the slope downwards
    std::vector<Index> place_;  // in the last block, -1 elsewhere
    std::vector<Run> runs_;
    Extremes seen_[2] = {};
    std::vector<Candidate> ranked_[4];
    std::vector<Index> members_, last_members_;
    std::vector<std::uint8_t> moved_;
    std::vector<T> K_, last_K_, block_diagonal_, block_slope_, spare_;
    std::vector<double> block_b_, block_g_, block_up_, block_down_, block_low_, block_high_;
    Block<T> block_;
    std::int32_t now_ = 0;
    double aim_ = 0.0;  // the violation to be reached now
    bool is_hard_ = false;
    Index window_ = 0;  // blocks since it was last looked whether the problem is hard, and their steps
    Index window_steps_ = 0;
};

// Problems that consist of the same ranges share all their rows.
struct Group {
    std::vector<Index> problems;
    Index rows = 0;
};

std::vector<Group> groups_of(const MarginBatch& batch) {
    std::vector<Group> groups;
    for (Index p = 0; p < batch.problems; ++p) {
        const Index* mine = batch.uses + p * batch.uses_each;
        const Index* last = groups.empty() ? nullptr : batch.uses + groups.back().problems[0] * batch.uses_each;
        if (last == nullptr || !std::equal(mine, mine + batch.uses_each, last)) {
            groups.emplace_back();
            for (const Part& part : parts_of(batch, p)) groups.back().rows += part.size;
        }
        groups.back().problems.push_back(p);
    }
    return groups;
}

template <class T>
void solve_as(const GramSource& source, const MarginBatch& batch, Shared& shared) {
    MarginReport& report = shared.report;
    report.steps.assign(at(batch.problems), 0);
    const auto gram = margin_gram<T>(source, batch.cuts, shared.watch);
    const Index ranges = static_cast<Index>(batch.cuts.size()) - 1;
    const Index n = batch.cuts[at(ranges)];
    const bool alone = ranges == 1;
    const Index budget = alone ? shared.options.cache_bytes : shared.options.cache_bytes / 2;
    std::vector<std::unique_ptr<Segments<T>>> own;
    for (Index r = 0; r < ranges; ++r) {
        const Index size = batch.cuts[at(r) + 1] - batch.cuts[at(r)];
        own.push_back(std::make_unique<Segments<T>>(size, size, budget / std::max<Index>(n, 1) * size));
    }
    std::vector<Index> row0(at(batch.problems) + 1, 0);
    for (Index p = 0; p < batch.problems; ++p) {
        row0[at(p) + 1] = row0[at(p)];
        for (const Part& part : parts_of(batch, p)) row0[at(p) + 1] += part.size;
    }
    std::vector<std::uint8_t> stopped(at(batch.problems), 0);
    const auto solve_group = [&](const Group& group, Index cross_bytes) {
        const std::vector<Part> parts = parts_of(batch, group.problems[0]);
        std::vector<std::unique_ptr<Segments<T>>> cross;
        Tables<T> tables;
        tables.shared = !alone;
        for (const Part& a : parts) {
            for (const Part& c : parts) {
                if (&a == &c) {
                    tables.of.push_back(own[at(a.id)].get());
                    continue;
                }
                cross.push_back(std::make_unique<Segments<T>>(a.size, c.size, cross_bytes / 2));
                tables.of.push_back(cross.back().get());
            }
        }
        for (const Index p : group.problems) {
            Solver<T> solver(batch, p, row0[at(p)] * batch.copies, row0[at(p)], *gram, tables, shared);
            stopped[at(p)] = solver.run(report.steps[at(p)]) ? 0 : 1;
        }
    };
    std::vector<Group> groups = groups_of(batch);
    std::stable_sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) { return a.rows > b.rows; });
    const auto small =
        std::find_if(groups.begin(), groups.end(), [](const Group& g) { return g.rows < kLargeProblem; });
    for (auto large = groups.begin(); large != small; ++large) solve_group(*large, budget);
    const Index count = groups.end() - small;
    const Index threads = std::max<Index>(std::min<Index>(thread_count(), count), 1);
    if (count == 1) solve_group(*small, budget);
    else parallel(count, shared.watch, [&](Index g) { solve_group(small[g], budget / threads); });
    report.stopped = std::any_of(stopped.begin(), stopped.end(), [](std::uint8_t is) { return is != 0; });
}

}  // namespace

void solve_margins(const GramSource& gram, const MarginBatch& batch, const MarginOptions& options, const Engine& engine,
                   Watch& watch, std::atomic<double>& violation, MarginReport& report) {
    Shared shared{options, engine, watch, violation, report};
    if (options.single) solve_as<float>(gram, batch, shared);
    else solve_as<double>(gram, batch, shared);
}

void margin_images(const GramSource& gram, const MarginBatch& batch, Watch& watch) {
    const auto whole = margin_gram<double>(gram, batch.cuts, watch);
    std::vector<Index> row0(at(batch.problems) + 1, 0);
    for (Index p = 0; p < batch.problems; ++p) {
        row0[at(p) + 1] = row0[at(p)];
        for (const Part& part : parts_of(batch, p)) row0[at(p) + 1] += part.size;
    }
    const Index tasks = batch.problems > 1 ? 1 : tasks_for(row0.back(), false);
    const auto image = [&](Index p) {
        const Index rows = row0[at(p) + 1] - row0[at(p)];
        double* out = batch.image + row0[at(p)];
        const double* b = batch.b + row0[at(p)] * batch.copies;
        std::fill_n(out, rows, 0.0);
        std::vector<Index> support;
        std::vector<double> delta;
        for (const Part& part : parts_of(batch, p)) {
            for (Index r = part.start; r < part.start + part.size; ++r) {
                double sum = 0.0;
                for (Index copy = 0; copy < batch.copies; ++copy) sum += b[copy * rows + r];
                if (sum == 0.0) continue;
                support.push_back(part.first + r - part.start);
                delta.push_back(sum);
            }
        }
        if (support.empty()) return;
        const std::vector<double*> nowhere(support.size(), nullptr);
        for (const Part& part : parts_of(batch, p))
            whole->rows(support, part.id, nowhere.data(), delta.data(), out + part.start, tasks, watch);
    };
    if (batch.problems == 1) image(0);
    else parallel(batch.problems, watch, image);
}

}  // namespace mercer
