#include "mercer/counting.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>
#include <stdexcept>

#include "seen_keys.hpp"

namespace mercer {

namespace {

constexpr int kRankBits = 32;
// Letters that are worth a task, and the most tasks.
constexpr Index kLettersPerTask = Index{1} << 14;
constexpr Index kMostTasks = 64;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }
int bits_of(Index number) { return static_cast<int>(std::bit_width(static_cast<Key>(number))); }

// Rows that one task takes, by letters and never by threads.
std::vector<Index> cut(const Letters& strings) {
    const Index total = strings.offsets[strings.n];
    const Index tasks = std::clamp<Index>(total / kLettersPerTask, 1, kMostTasks);
    std::vector<Index> cuts = {0};
    for (Index task = 1; task <= tasks; ++task) {
        const Index* end = std::lower_bound(strings.offsets, strings.offsets + strings.n, total * task / tasks);
        const Index row = task == tasks ? strings.n : end - strings.offsets;
        if (row > cuts.back()) cuts.push_back(row);
    }
    return cuts;
}

// What all windows of a kind are read with.
struct Reading {
    const Window& window;
    const std::vector<Counter::Stage>& stages;
    Index letters;
    int letter_bits;
    int position_bits;

    // The ranks of the stages before `stage`, and the key of this one; false where it has none. `position` is -1 where
    // it does not matter.
    bool key(const std::int32_t* from, Index position, std::size_t stage, Key& key) const {
        key = 0;
        if (position >= 0) {
            if (bits_of(position) > position_bits) return false;
            key = static_cast<Key>(position);
        }
        for (std::size_t s = 0;; ++s) {
            for (std::size_t p = stages[s].begin; p < stages[s].end; ++p) {
                const std::int32_t code = from[window.places[p]];
                if (code < 0 || code >= letters) return false;
                key = key << letter_bits | static_cast<Key>(code);
            }
            if (s == stage) return true;
            const Index rank = stages[s].ranks.find(key);
            if (rank < 0) return false;
            key = static_cast<Key>(rank);
        }
    }

    // known(key) or lost(start, position) for all windows of a string, of which `stage` is the last that is read.
    template <class Known, class Lost>
    void each(const std::int32_t* string, Index length, std::size_t stage, Known known, Lost lost) const {
        const auto read = [&](Index start, Index position) {
            Key found = 0;
            if (key(string + start, position, stage, found)) known(found, start, position);
            else lost(start, position);
        };
        if (is_rolling()) return roll(string, length, known, lost);
        for (Index start = 0; start + window.span <= length; ++start) {
            if (window.shifts < 0) read(start, -1);
            for (Index s = 0; s <= window.shifts; ++s) read(start, start + s);
        }
    }

    // Whether the key of a window is that of the one before, a letter further.
    bool is_rolling() const {
        return window.shifts < 0 && stages.size() == 1 && window.span == static_cast<Index>(window.places.size());
    }
    template <class Known, class Lost>
    void roll(const std::int32_t* string, Index length, Known known, Lost lost) const {
        const int bits = letter_bits * static_cast<int>(window.span);
        const Key mask = bits == kKeyBits ? ~Key{0} : (Key{1} << bits) - 1;
        Key key = 0;
        Index unread = window.span;  // letters until a window has none that is new
        for (Index at = 0; at < length; ++at) {
            const std::int32_t code = string[at];
            const bool is_new = code < 0 || code >= letters;
            key = (key << letter_bits | static_cast<Key>(is_new ? 0 : code)) & mask;
            unread = is_new ? window.span : std::max<Index>(unread - 1, 0);
            const Index start = at + 1 - window.span;
            if (start < 0) continue;
            if (unread == 0) known(key, start, Index{-1});
            else lost(start, Index{-1});
        }
    }

    // act(start) for all windows of a string
    template <class Act>
    void each_start(Index length, Act act) const {
        for (Index start = 0; start + window.span <= length; ++start) act(start);
    }

    // act(key) for all keys of the alphabet that differ from a window in at most `left` letters, from place p on.
    template <class Act>
    void each_near(const std::int32_t* from, std::size_t p, Index left, Key key, Act& act) const {
        if (p == window.places.size()) return act(key);
        const std::int32_t code = from[window.places[p]];
        if (left == 0) {
            if (code >= 0 && code < letters)
                each_near(from, p + 1, left, key << letter_bits | static_cast<Key>(code), act);
            return;
        }
        for (Index letter = 0; letter < letters; ++letter) {
            each_near(from, p + 1, left - (letter != code), key << letter_bits | static_cast<Key>(letter), act);
        }
    }
    template <class Act>
    void each_near(const std::int32_t* from, Act act) const {
        each_near(from, 0, window.mismatches, 0, act);
    }
};

// One string after the other, counted.
class Tally {
   public:
    Tally(const Letters& strings, Counts& out) : strings_(strings), out_(out) {}

    void count(Index row, const Reading& of, Index first_column, double& outside) {
        const std::int32_t* string = strings_.codes + strings_.offsets[row];
        ranks_.clear(), lost_.clear(), lost_keys_.clear();
        const Ranks& keys = of.stages.back().ranks;
        const auto lost = [&](Index start, Index position) { lost_.push_back({start, position}); };
        const auto known = [&](Key key, Index start, Index position) {
            const Index rank = keys.find(key);
            if (rank >= 0) ranks_.push_back(static_cast<std::int32_t>(rank));
            else lost(start, position);
        };
        const auto near = [&](Key key) {
            const Index rank = keys.find(key);
            if (rank >= 0) ranks_.push_back(static_cast<std::int32_t>(rank));
            else lost_keys_.push_back(key);
        };
        if (of.window.mismatches > 0)
            of.each_start(strings_.length(row), [&](Index start) { of.each_near(string + start, near); });
        else of.each(string, strings_.length(row), of.stages.size() - 1, known, lost);
        write(keys.size(), first_column, of.window.weight);
        outside += of.window.weight * of.window.weight * (squares_of_keys() + squares_of_places(string, of.window));
    }

   private:
    struct Place {
        Index start;
        Index position;
    };

    // The ranks in order, with how often each is there.
    void write(Index size, Index first_column, double weight) {
        const auto put = [&](Index rank, Index times) {
            out_.columns.push_back(static_cast<std::int32_t>(first_column + rank));
            out_.values.push_back(weight * static_cast<double>(times));
        };
        constexpr Index kWorthAScan = 16;
        if (size <= kWorthAScan * static_cast<Index>(ranks_.size())) {
            if (static_cast<Index>(times_.size()) < size) times_.resize(at(size));
            for (const std::int32_t rank : ranks_) ++times_[at(rank)];
            for (Index rank = 0; rank < size; ++rank) {
                if (times_[at(rank)] == 0) continue;
                put(rank, times_[at(rank)]);
                times_[at(rank)] = 0;
            }
            return;
        }
        std::sort(ranks_.begin(), ranks_.end());
        each_run(ranks_, std::equal_to<>(), [&](std::int32_t rank, Index times) { put(rank, times); });
    }

    double squares_of_keys() {
        double sum = 0.0;
        std::sort(lost_keys_.begin(), lost_keys_.end());
        each_run(lost_keys_, std::equal_to<>(), [&](Key, Index times) { sum += static_cast<double>(times * times); });
        return sum;
    }

    // Of windows that have no key they are compared letter by letter.
    double squares_of_places(const std::int32_t* string, const Window& window) {
        const auto compare = [&](const Place& a, const Place& b) {
            if (a.position != b.position) return a.position < b.position ? -1 : 1;
            for (const Index place : window.places) {
                const std::int32_t x = string[a.start + place], z = string[b.start + place];
                if (x != z) return x < z ? -1 : 1;
            }
            return 0;
        };
        double sum = 0.0;
        std::sort(lost_.begin(), lost_.end(), [&](const Place& a, const Place& b) { return compare(a, b) < 0; });
        each_run(
            lost_, [&](const Place& a, const Place& b) { return compare(a, b) == 0; },
            [&](const Place&, Index times) { sum += static_cast<double>(times * times); });
        return sum;
    }

    // act(value, how often) for each run of equal values
    template <class T, class Equal, class Act>
    static void each_run(const std::vector<T>& values, Equal equal, Act act) {
        for (auto begin = values.begin(); begin != values.end();) {
            const auto end = std::find_if(begin, values.end(), [&](const T& value) { return !equal(*begin, value); });
            act(*begin, static_cast<Index>(end - begin));
            begin = end;
        }
    }

    const Letters& strings_;
    Counts& out_;
    std::vector<std::int32_t> ranks_;
    std::vector<Place> lost_;
    std::vector<Key> lost_keys_;
    std::vector<Index> times_;
};

}  // namespace

Ranks::Ranks(std::vector<Key> sorted) : sorted_(std::move(sorted)) {
    if (sorted_.size() > at(INT32_MAX)) throw std::length_error("counting: too many different keys");
    is_direct_ = !sorted_.empty() && sorted_.back() < kDirect;
    if (is_direct_) {
        slots_.assign(sorted_.back() + 1, -1);
        for (std::size_t rank = 0; rank < sorted_.size(); ++rank)
            slots_[sorted_[rank]] = static_cast<std::int32_t>(rank);
        return;
    }
    slots_.assign(slots_for(sorted_.size()), -1);
    shift_ = shift_for(slots_.size());
    for (std::size_t rank = 0; rank < sorted_.size(); ++rank) {
        std::size_t slot = slot_of(sorted_[rank], shift_);
        while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
        slots_[slot] = static_cast<std::int32_t>(rank);
    }
}

Index Ranks::find(Key key) const {
    if (is_direct_) return key < slots_.size() ? slots_[key] : -1;
    if (sorted_.empty()) return -1;
    for (std::size_t slot = slot_of(key, shift_);; slot = (slot + 1) & (slots_.size() - 1)) {
        const std::int32_t rank = slots_[slot];
        if (rank < 0 || sorted_[static_cast<std::size_t>(rank)] == key) return rank;
    }
}

Counter::Counter(std::vector<Window> windows, Index letters)
    : windows_(std::move(windows)),
      letters_(letters),
      letter_bits_(std::max(bits_of(std::max<Index>(letters - 1, 0)), 1)) {
    plan_stages();
}

void Counter::plan_stages() {
    learnt_.assign(windows_.size(), {});
    for (std::size_t w = 0; w < windows_.size(); ++w) {
        const std::size_t places = windows_[w].places.size();
        int free = kKeyBits - (windows_[w].shifts < 0 ? 0 : position_bits_);
        for (std::size_t begin = 0; begin < places; free = kKeyBits - kRankBits) {
            const std::size_t end = std::min(places, begin + static_cast<std::size_t>(free / letter_bits_));
            learnt_[w].stages.push_back({begin, end, {}});
            begin = end;
        }
        if (windows_[w].mismatches > 0 && learnt_[w].stages.size() > 1)
            throw std::invalid_argument("counting: windows with mismatches take keys of 64 bits");
    }
}

void Counter::learn(const Letters& basis, Watch& watch) {
    Index furthest = 0;
    for (Index row = 0; row < basis.n; ++row) furthest = std::max(furthest, basis.length(row));
    Index shifts = 0;
    for (const Window& window : windows_) shifts = std::max(shifts, window.shifts);
    position_bits_ = bits_of(furthest + shifts);
    plan_stages();
    const std::vector<Index> cuts = cut(basis);
    const Index tasks = static_cast<Index>(cuts.size()) - 1;
    for (std::size_t w = 0; w < windows_.size(); ++w) {
        const Reading of{windows_[w], learnt_[w].stages, letters_, letter_bits_, position_bits_};
        for (std::size_t stage = 0; stage < learnt_[w].stages.size(); ++stage) {
            std::vector<SeenKeys> seen(at(tasks));
            parallel(tasks, watch, [&](Index task) {
                SeenKeys& mine = seen[at(task)];
                for (Index row = cuts[at(task)]; row < cuts[at(task + 1)]; ++row) {
                    const std::int32_t* string = basis.codes + basis.offsets[row];
                    const auto insert = [&](Key key) { mine.insert(key); };
                    if (windows_[w].mismatches > 0)
                        of.each_start(basis.length(row), [&](Index start) { of.each_near(string + start, insert); });
                    else
                        of.each(
                            string, basis.length(row), stage, [&](Key key, Index, Index) { mine.insert(key); },
                            [](Index, Index) {});
                }
            });
            watch.look();
            for (std::size_t task = 1; task < seen.size(); ++task) {
                seen[0].insert(seen[task]);
                seen[task] = {};
            }
            learnt_[w].stages[stage].ranks = Ranks(seen[0].sorted());
        }
    }
    if (columns() > INT32_MAX) throw std::length_error("counting: too many different keys");
}

Index Counter::columns() const {
    Index total = 1;
    for (const Learnt& of : learnt_) total += of.keys().size();
    return total;
}

Counts Counter::count(const Letters& strings, Watch& watch) const {
    const std::vector<Index> cuts = cut(strings);
    const Index tasks = static_cast<Index>(cuts.size()) - 1;
    const Index last = columns() - 1;
    std::vector<Counts> parts(at(tasks));
    parallel(tasks, watch, [&](Index task) {
        Counts& part = parts[at(task)];
        Tally tally(strings, part);
        for (Index row = cuts[at(task)]; row < cuts[at(task + 1)]; ++row) {
            Index column = 0;
            double outside = 0.0;
            for (std::size_t w = 0; w < windows_.size(); ++w) {
                tally.count(row, {windows_[w], learnt_[w].stages, letters_, letter_bits_, position_bits_}, column,
                            outside);
                column += learnt_[w].keys().size();
            }
            if (outside > 0.0) {
                part.columns.push_back(static_cast<std::int32_t>(last));
                part.values.push_back(std::sqrt(outside));
            }
            part.offsets.push_back(static_cast<Index>(part.columns.size()));
        }
        watch.look();
    });
    Counts whole;
    whole.offsets = {0};
    std::vector<Index> begin;
    for (const Counts& part : parts) {
        begin.push_back(whole.offsets.back());
        for (const Index offset : part.offsets) whole.offsets.push_back(begin.back() + offset);
    }
    whole.columns.resize(at(whole.offsets.back()));
    whole.values.resize(at(whole.offsets.back()));
    parallel(tasks, watch, [&](Index task) {
        Counts& part = parts[at(task)];
        std::copy(part.columns.begin(), part.columns.end(), whole.columns.begin() + begin[at(task)]);
        std::copy(part.values.begin(), part.values.end(), whole.values.begin() + begin[at(task)]);
        part = {};
    });
    return whole;
}

std::vector<std::vector<Key>> Counter::learnt() const {
    std::vector<std::vector<Key>> keys;
    for (const Learnt& of : learnt_) {
        for (const Stage& stage : of.stages) keys.push_back(stage.ranks.sorted());
    }
    return keys;
}

void Counter::restore(int position_bits, std::vector<std::vector<Key>> keys) {
    position_bits_ = position_bits;
    plan_stages();
    std::size_t next = 0;
    for (Learnt& of : learnt_) {
        for (Stage& stage : of.stages) {
            if (next == keys.size() || !std::is_sorted(keys[next].begin(), keys[next].end()))
                throw std::invalid_argument("counting: what was learnt belongs to other windows");
            stage.ranks = Ranks(std::move(keys[next++]));
        }
    }
}

}  // namespace mercer
