// f = K b on the rows of one problem, kept up to date as b changes; and the rows of K that are kept for that.
#pragma once

#include "margin_gram.hpp"
#include "margin_parts.hpp"

namespace mercer {

// A row whose coefficient has changed, and whether that will happen again soon.
struct Change {
    Index row;
    double delta;
    bool keep;
};

template <class T>
class RunningF {
   public:
    RunningF(std::vector<Part> parts, double* f, const MarginGram<T>& gram, const Tables<T>& tables, Shared& shared)
        : parts_(std::move(parts)),
          n_(parts_.back().start + parts_.back().size),
          f_(f),
          gram_(gram),
          tables_(tables),
          shared_(shared),
          tasks_(tasks_for(n_, tables.shared)) {}

    Index rows() const { return n_; }
    const double* values() const { return f_; }
    Index tasks() const { return tasks_; }
    // The row's number in K.
    Index global(Index row) const {
        const Part& part = part_of(row);
        return part.first + row - part.start;
    }

    void clear() { std::fill_n(f_, n_, 0.0); }

    // f += K[:, rows] delta, the rows in their order. The row of a variable between its bounds will be wanted again and
    // is kept, once recomputing it has cost as much as touching new memory would. That of a variable which went to
    // a bound is not: it is seldom needed again. What problems share is always kept.
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
        for (std::size_t c = 0; c < parts_.size(); ++c) {
            if (!add_stored(changes, parts_[c])) add_part(changes, c);
        }
        ++now_;
    }

    // The same from a matrix that has all rows, at `place` among `size`.
    void add_from(const T* K, Index size, const Index* place, const std::vector<Change>& changes) {
        std::vector<const T*> rows;
        std::vector<double> delta;
        for (const Change& change : changes) {
            rows.push_back(K + place[change.row] * size);
            delta.push_back(change.delta);
        }
        std::vector<double> sums(at(size), 0.0);
        shared_.engine.template inner<T>().add_rows(rows.data(), delta.data(), static_cast<Index>(rows.size()), 0, size,
                                                    sums.data());
        for (Index row = 0; row < n_; ++row) f_[row] += sums[at(place[row])];
    }

    // out[m] = K[row, columns[m]] from what is kept; false where a part of it is not there, or where to make entries
    // takes less time than to find them in memory. Column -1 gives 0. What problems share may be there or not, as
    // threads come first: it is not looked for.
    bool copy_kept(Index row, const std::vector<Index>& columns, T* out) {
        if (tables_.of.empty() || tables_.shared || gram_.features() < kCheap) return false;
        const T* kept[2] = {};
        for (std::size_t c = 0; c < parts_.size(); ++c) {
            kept[c] = table_of(row, c).find(local(row));
            if (kept[c] == nullptr) return false;
            table_of(row, c).touch(local(row), now_);
        }
        for (std::size_t m = 0; m < columns.size(); ++m)
            out[m] = columns[m] < 0 ? T{} : kept[&part_of(columns[m]) - parts_.data()][local(columns[m])];
        return true;
    }

    // out[r][c] = K[left[r], right[c]].
    void block(const std::vector<Index>& left, const std::vector<Index>& right, T* const* out) {
        gram_.block(in_K(left), in_K(right), out, tasks_, shared_.watch);
        shared_.report.evaluations += static_cast<Index>(left.size() * right.size());
    }

    template <class Task>
    void each_task(Index count, const Task& task) {
        if (tasks_ > 1 && count > 1) return parallel(count, shared_.watch, task);
        for (Index at = 0; at < count; ++at) task(at);
    }

   private:
    // Below this many features, computing an entry is faster than loading it from uncached memory.
    static constexpr Index kCheap = 200;
    // An entry's share of new memory costs as much as this many features; the rest of computing it as much as those.
    static constexpr Index kNewMemory = 75;
    static constexpr Index kEntry = 25;
    // A row that was not used for this many changes may be evicted.
    static constexpr std::int32_t kForget = 12;
    // Rows that are added together, where problems share them.
    static constexpr std::size_t kTogether = 64;
    // Columns that one task updates.
    static constexpr Index kColumns = 4096;

    const Part& part_of(Index row) const { return parts_.size() == 1 || row < parts_[1].start ? parts_[0] : parts_[1]; }
    std::vector<Index> in_K(std::vector<Index> rows) const {
        for (Index& row : rows) row = global(row);
        return rows;
    }
    RowCache<T>& table_of(Index row, std::size_t c) {
        const std::size_t a = static_cast<std::size_t>(&part_of(row) - parts_.data());
        return *tables_.of[a * parts_.size() + c];
    }
    Index local(Index row) const { return row - part_of(row).start; }

    // From a matrix that is in memory, rows are added where they lie.
    bool add_stored(const std::vector<Change>& changes, const Part& columns) {
        std::vector<const T*> rows;
        std::vector<double> delta;
        for (const Change& change : changes) {
            rows.push_back(gram_.stored(global(change.row), columns.id));
            if (rows.back() == nullptr) return false;
            delta.push_back(change.delta);
        }
        add_kept(rows, delta, columns);
        return true;
    }

    void add_part(const std::vector<Change>& changes, std::size_t c) {
        if (tables_.shared) return add_shared(changes, c);
        const Part& columns = parts_[c];
        std::vector<const Change*> missing;
        std::vector<T*> memory;
        made_.resize(at(n_));
        bool full = false;
        for (const Change& change : changes) {
            RowCache<T>& table = table_of(change.row, c);
            table.touch(local(change.row), now_);
            if (table.find(local(change.row)) != nullptr) continue;
            const bool keep = change.keep && ++made_[at(change.row)] * (gram_.features() + kEntry) >= kNewMemory;
            T* claimed = keep ? table.claim() : nullptr;
            if (keep && claimed == nullptr && !full) {
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
                RowCache<T>& table = table_of(missing[m]->row, c);
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

    std::vector<Part> parts_;
    Index n_;
    double* f_;
    const MarginGram<T>& gram_;
    const Tables<T>& tables_;
    Shared& shared_;
    Index tasks_;  // into which work is cut at least; 1 where whole problems are the tasks
    std::vector<T> spare_;
    std::vector<Index> made_;  // how often a row was made that might have been kept
    std::int32_t now_ = 0;
};

}  // namespace mercer
