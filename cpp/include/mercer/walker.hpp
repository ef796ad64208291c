// The walker: holds one block of left rows and hands out strips of K against any columns. A leaf fills a tile, the
// tape folds it; what happens to the strip then is the reducer's business.
#pragma once

#include "mercer/distances.hpp"
#include "mercer/fold.hpp"

namespace mercer::MERCER_ISA {

template <class T>
class Walker {
   public:
    explicit Walker(const Walk& walk)
        : block_(walk),
          distances_(block_),
          walk_(walk),
          right_(block_.right),
          left_(block_.leaves),
          memory_((walk.plan.slots() + static_cast<Index>(walk.plan.leaves().size())) * kTile),
          left_rows_(static_cast<Index>(walk.plan.rows()) * kBlockRows) {
        for (Index at = 0; at < walk.plan.slots(); ++at) slots_.push_back(memory_.data() + at * kTile);
        for (Index at = 0; at < static_cast<Index>(left_.size()); ++at)
            leaf_tiles_.push_back(memory_.data() + (walk.plan.slots() + at) * kTile);
        left_at_.resize(static_cast<std::size_t>(walk.plan.rows()));
        alone_ = is_gaussian_alone();
        keys_ = is_key();
        right_at_.resize(left_at_.size());
    }

    Walker(const Walker&) = delete;  // its parts refer to each other
    Walker& operator=(const Walker&) = delete;

    // From now on, leave the diagonal of a symmetric walk out of its strips.
    void hollow_out() { hollow_ = true; }

    void take_rows(Index i0, Index i1) {
        block_.i0 = i0;
        block_.i1 = i1;
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf)
            MERCER_ISA::take_rows<T>(kind(leaf), walk_.left.sources[leaf], right_.leaves[leaf], i0, i1, left_[leaf]);
        for (std::size_t row = 0; row < left_at_.size(); ++row) {
            T* out = left_rows_.data() + static_cast<Index>(row) * kBlockRows;
            std::transform(walk_.left.rows[row] + i0, walk_.left.rows[row] + i1, out,
                           [](double x) { return static_cast<T>(x); });
        }
    }

    void take_columns(Index j0, Index j1) {
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf) {
            with_leaf(kind(leaf), [&](auto row) {
                row.take_columns(walk_.left.sources[leaf], block_.i0, block_.i1, j0, j1, left_[leaf]);
            });
        }
    }

    void take_strip(int strip) {
        each_leaf(strip, [](auto row, auto&&... at) { row.take_strip(at...); });
    }
    void leave_strip(int strip) {
        each_leaf(strip, [](auto row, auto&&... at) { row.leave_strip(at...); });
    }

    // A strip of K at rows i0 + 24 strip, columns j0 …, but for its link; a number outside of K is zero after it.
    struct Strip {
        T* tile;
        Link link;
    };
    Strip open(int strip, Index j0) {
        const Index rows = rows_of(strip);
        const Index columns = std::min<Index>(kStripCols<T>, right_.n - j0);
        fill_leaves(strip, j0, rows, columns);
        if (alone_) {
            wipe(strip, j0, T(-Bits<T>::bias), leaf_tiles_[0]);
            return {leaf_tiles_[0], distances_.link(0)};
        }
        for (const Instruction& step : walk_.plan.tape()) run(step, strip, j0, rows, columns);
        T* tile = slots_[static_cast<std::size_t>(walk_.plan.result())];
        wipe(strip, j0, T{}, tile);
        return {tile, Link::none};
    }

    // lanes += K v for a plan that is one gaussian, and sums += K'v with `rows`; see Distances. False for other plans.
    bool multiply(int strip, Index j0, const T* v, T* lanes, const T* rows, T* sums) {
        return alone_ && distances_.multiply(strip, j0, v, lanes, rows, sums, leaf_tiles_[0]);
    }

    // Whether every value is a number between 0 and 1: a gaussian, unless its exponents are 0 times an infinite scale.
    bool is_bounded() const { return alone_ && std::isfinite(walk_.plan.uses()[0].scale * kLog2E); }

    // Whether the plan is r(x) + r(z) - 2 <x, z> of dense rows, as a search has it.
    bool has_keys() const { return keys_; }
    // r(x) of a row of the strip.
    T key_start(int strip, Index row) const { return left_rows_[strip * kStripRows + row]; }

    // Calls back with the panels of a strip that hold a nearness <x, z> - r(z)/2 above its row's limit; the limits may
    // change meanwhile. The panel of columns stays in L1 while the rows of the strip pass.
    template <class Panel>
    void each_beyond(int strip, Index j0, const T* limits, Panel found) {
        const Index d = right_.leaves[0].d;
        const T* rows = left_[0].panels.data() + strip * kStripRows * d;
        for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
            const T* b = right_.leaves[0].panels.data() + (j0 + c) * d;
            const T* b2 = right_.rows[0].data() + j0 + c;
            for (int r = 0; r < rows_of(strip); r += kPanelRows) {
                T* out = leaf_tiles_[0] + r * kStripCols<T> + c;
                if (beyond_panel<T>(rows + r * d, b, d, b2, limits + r, out, kStripCols<T>)) found(r, c, out);
            }
        }
    }

    // The strip, finished.
    const T* fold(int strip, Index j0) {
        const Strip made = open(strip, j0);
        if (made.link == Link::none) return made.tile;
        const Index count = rows_of(strip) * kStripCols<T>;
        apply(made.link, rows_of(strip), made.tile);
        std::fill(made.tile + count, made.tile + kTile, T{});
        return made.tile;
    }

    // The first instruction whose value at (row, column) of this strip is not finite, or -1.
    int first_not_finite(int strip, Index j0, Index row, Index column) {
        const Index rows = rows_of(strip);
        const Index columns = std::min<Index>(kStripCols<T>, right_.n - j0);
        fill_leaves(strip, j0, rows, columns);
        for (const Instruction& step : walk_.plan.tape()) {
            run(step, strip, j0, rows, columns);
            if (!std::isfinite(slots_[static_cast<std::size_t>(step.out)][row * kStripCols<T> + column]))
                return step.origin;
        }
        return -1;
    }

    Index rows_of(int strip) const { return block_.rows_of(strip); }
    Index first_row() const { return block_.i0; }
    int strips() const { return static_cast<int>((block_.i1 - block_.i0 + kStripRows - 1) / kStripRows); }
    Index mended() const { return distances_.mended(); }
    // The share of the pairs of parts, inside bags, whose distance had to be recomputed.
    double mended_share_of_parts() const {
        double most = 0.0;
        for (const LeftLeaf<T>& leaf : left_) {
            if (leaf.sums != nullptr) most = std::max(most, leaf.sums->mended_share());
        }
        return most;
    }

   private:
    static constexpr Index kTile = kStripRows * kStripCols<T>;

    Kind kind(std::size_t leaf) const { return walk_.plan.leaves()[leaf]; }

    // act(row of the table, source, the rows of a strip, its leaf)
    template <class Act>
    void each_leaf(int strip, Act act) {
        const Index first = block_.i0 + strip * kStripRows;
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf) {
            with_leaf(kind(leaf), [&](auto row) {
                act(row, walk_.left.sources[leaf], first, first + rows_of(strip), left_[leaf]);
            });
        }
    }

    // A plan may have no leaf at all (a constant), but one instruction that reads a leaf reads the only one.
    bool is_gaussian_alone() const {
        return walk_.plan.tape().size() == 1 && walk_.plan.tape()[0].op == Op::sqdist && distances_.has_exponents(0);
    }

    bool is_key() const {
        const std::vector<Instruction>& tape = walk_.plan.tape();
        return tape.size() == 2 && walk_.plan.leaves().size() == 1 && walk_.plan.rows() == 1 &&
               tape[0].op == Op::inner && tape[1].op == Op::add_rows && tape[1].scale == -2.0 &&
               tape[1].offset == 0.0 && std::holds_alternative<Dense>(walk_.left.sources[0]) &&
               right_.leaves[0].shifts.size() == 0;
    }

    void fill_leaves(int strip, Index j0, Index rows, Index columns) {
        const Patch patch{strip, block_.i0 + strip * kStripRows, rows, j0, columns};
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf) {
            T* tile = leaf_tiles_[leaf];
            if (distances_.fill_tile(leaf, patch, tile)) continue;
            with_leaf(kind(leaf), [&](auto row) {
                row.fill_tile(walk_.left.sources[leaf], left_[leaf], right_.leaves[leaf], patch, tile);
            });
        }
    }

    void run(const Instruction& step, int strip, Index j0, Index rows, Index columns) {
        if (!reads_leaf(step.op)) {
            for (std::size_t row = 0; row < left_at_.size(); ++row) {
                left_at_[row] = left_rows_.data() + static_cast<Index>(row) * kBlockRows + strip * kStripRows;
                right_at_[row] = right_.rows[row].data() + j0;
            }
            execute<T, false>(Fold<T>{slots_.data(), left_at_.data(), right_at_.data(), static_cast<int>(rows)}, step);
            return;
        }
        const std::size_t leaf = static_cast<std::size_t>(step.a);
        T* out = slots_[static_cast<std::size_t>(step.out)];
        if (step.op == Op::sqdist && !distances_.has_exponents(leaf) && !right_.leaves[leaf].differences) {
            distances_.read(leaf, strip, j0, rows, columns, leaf_tiles_[leaf], out);
        } else if (step.op == Op::inner && right_.leaves[leaf].shifts.size() > 0) {
            read_shifted(leaf, strip, j0, rows, out);
        } else if (walk_.plan.uses()[leaf].read_once) {
            std::swap(slots_[static_cast<std::size_t>(step.out)], leaf_tiles_[leaf]);
        } else {
            std::copy_n(leaf_tiles_[leaf], kTile, out);
        }
        if (distances_.has_exponents(leaf))
            apply(distances_.link(leaf), rows, slots_[static_cast<std::size_t>(step.out)]);
    }

    static void apply(Link link, Index rows, T* tile) {
        if (link == Link::near) apply<Link::near>(rows, tile);
        if (link == Link::far) apply<Link::far>(rows, tile);
    }
    template <Link L>
    static void apply(Index rows, T* tile) {
        for (Index at = 0; at < rows * kStripCols<T>; at += kWidth<T>)
            store<T>(tile + at, linked<T, L>(load<T>(tile + at)));
    }

    void read_shifted(std::size_t leaf, int strip, Index j0, Index rows, T* out) const {
        const T* in = leaf_tiles_[leaf];
        const T* right = right_.leaves[leaf].shifts.data() + j0;
        for (int i = 0; i < rows; ++i) {
            const V<T> left = fill<T>(left_[leaf].shifts[strip * kStripRows + i]);
            for (int j = 0; j < kStripCols<T>; j += kWidth<T>)
                store<T>(out + i * kStripCols<T> + j,
                         load<T>(in + i * kStripCols<T> + j) + (left + load<T>(right + j)));
        }
    }

    // `nothing` wherever the strip has no number of K to give.
    void wipe(int strip, Index j0, T nothing, T* tile) const {
        wipe_outside(rows_of(strip), std::min<Index>(kStripCols<T>, right_.n - j0), nothing, tile);
        if (hollow_) block_.each_diagonal(strip, j0, [&](Index at) { tile[at] = nothing; });
    }

    static void wipe_outside(Index rows, Index columns, T nothing, T* tile) {
        for (Index i = rows; i < kStripRows; ++i) std::fill_n(tile + i * kStripCols<T>, kStripCols<T>, nothing);
        if (columns == kStripCols<T>) return;
        for (Index i = 0; i < rows; ++i)
            std::fill_n(tile + i * kStripCols<T> + columns, kStripCols<T> - columns, nothing);
    }

    LeftBlock<T> block_;
    Distances<T> distances_;
    const Walk& walk_;
    const PackedSide<T>& right_;
    std::vector<LeftLeaf<T>>& left_;
    Buffer<T> memory_;
    Buffer<T> left_rows_;
    std::vector<T*> slots_;
    std::vector<T*> leaf_tiles_;
    std::vector<const T*> left_at_;
    std::vector<const T*> right_at_;
    bool alone_ = false;  // the plan is one gaussian
    bool keys_ = false;   // the plan is the key of a search
    bool hollow_ = false;
};

}  // namespace mercer::MERCER_ISA
