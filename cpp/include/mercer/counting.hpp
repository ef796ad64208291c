// Strings as sparse rows of counts: how often each has which of the windows of a basis. What is read at the places of a
// window is its key, and every key of the basis has a column; new keys have none, and only their norm is given.
#pragma once

#include <cstdint>
#include <vector>

#include "mercer/threads.hpp"
#include "mercer/view.hpp"

namespace mercer {

struct Window {
    std::vector<Index> places;  // the letters that are read, counted from where the window begins; increasing, from 0
    Index span = 1;             // the letters that it covers
    double weight = 1.0;        // of each occurrence
    Index shifts = -1;          // -1: wherever it stands. s: at p it has the features (p, key), ..., (p + s, key)
    Index mismatches = 0;       // m: it counts for each key of the alphabet that differs in at most m letters
};

// Numbers that have a place: the sorted ones of a set, and a table that finds them. Small numbers are looked up in it
// directly, others by hashing.
class Ranks {
   public:
    Ranks() = default;
    explicit Ranks(std::vector<std::uint64_t> sorted);

    Index find(std::uint64_t key) const;  // -1 where it is not among them
    Index size() const { return static_cast<Index>(sorted_.size()); }
    const std::vector<std::uint64_t>& sorted() const { return sorted_; }

   private:
    std::vector<std::uint64_t> sorted_;
    std::vector<std::int32_t> slots_;  // a rank, or -1
    int shift_ = 0;
    bool is_direct_ = false;
};

// Sparse rows.
struct Counts {
    std::vector<Index> offsets;
    std::vector<std::int32_t> columns;
    std::vector<double> values;
};

class Counter {
   public:
    // What one window has learnt. A key of more than 64 bits is read in stages, each of which replaces what was read so
    // far by its rank.
    struct Stage {
        std::size_t begin = 0;  // the first of its places
        std::size_t end = 0;
        Ranks ranks;
    };
    struct Learnt {
        std::vector<Stage> stages;
        const Ranks& keys() const { return stages.back().ranks; }
    };

    // Letters are 0, ..., letters - 1; any other is one that the basis does not have.
    Counter(std::vector<Window> windows, Index letters);

    // Learns the keys of the basis.
    void learn(const Letters& basis, Watch& watch);
    // A column for each key, window by window, and one more: the norm of what a string has beside them.
    Counts count(const Letters& strings, Watch& watch) const;

    Index columns() const;
    const std::vector<Window>& windows() const { return windows_; }
    Index letters() const { return letters_; }
    // What was learnt, to be given to another counter of the same windows.
    int position_bits() const { return position_bits_; }
    std::vector<std::vector<std::uint64_t>> learnt() const;  // the keys of every stage of every window
    void restore(int position_bits, std::vector<std::vector<std::uint64_t>> keys);

   private:
    void plan_stages();

    std::vector<Window> windows_;
    Index letters_ = 0;
    int letter_bits_ = 1;
    int position_bits_ = 0;
    std::vector<Learnt> learnt_;
};

}  // namespace mercer
