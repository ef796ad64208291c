// The walker: holds one block of left rows and hands out strips of K against any columns. A leaf fills a tile, the
// tape folds it; what happens to the strip then is the reducer's business.
#pragma once

#include "mercer/fold.hpp"
#include "mercer/leaves.hpp"
#include "mercer/mend.hpp"

namespace mercer::MERCER_ISA {

template <class T>
class Walker {
   public:
    explicit Walker(const Walk& walk)
        : walk_(walk),
          right_(static_cast<const PackedSide<T>&>(walk.packed)),
          left_(walk.plan.leaves().size()),
          links_(walk.plan.leaves().size(), Link::none),
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

    // From now on the diagonal of a symmetric walk is left out of its strips.
    void hollow_out() { hollow_ = true; }

    void take_rows(Index i0, Index i1) {
        i0_ = i0;
        i1_ = i1;
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf)
            MERCER_ISA::take_rows<T>(walk_.left.sources[leaf], right_.leaves[leaf], i0, i1, left_[leaf]);
        for (std::size_t row = 0; row < left_at_.size(); ++row) {
            T* out = left_rows_.data() + static_cast<Index>(row) * kBlockRows;
            std::transform(walk_.left.rows[row] + i0, walk_.left.rows[row] + i1, out,
                           [](double x) { return static_cast<T>(x); });
        }
    }

    // Callbacks are called once per block of columns, never once per strip.
    void take_columns(Index j0, Index j1) {
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf) {
            const Call* call = std::get_if<Call>(&walk_.left.sources[leaf]);
            if (call == nullptr) continue;
            left_[leaf].called.reset((i1_ - i0_) * (j1 - j0));
            left_[leaf].called_columns = j1 - j0;
            left_[leaf].called_first = j0;
            call->fill(i0_, i1_, j0, j1, left_[leaf].called.data());
        }
    }

    // Sparse rows are spread out while their strip is swept over a block of columns.
    void take_strip(int strip) { each_sparse(strip, spread_rows<T>); }
    void leave_strip(int strip) { each_sparse(strip, wipe_rows<T>); }

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
            return {leaf_tiles_[0], links_[0]};
        }
        for (const Instruction& step : walk_.plan.tape()) run(step, strip, j0, rows, columns);
        T* tile = slots_[static_cast<std::size_t>(walk_.plan.result())];
        wipe(strip, j0, T{}, tile);
        return {tile, Link::none};
    }

    // lanes += K v for a plan that is one gaussian, with K in registers only; with `rows`, sums += K'v too. False (and
    // nothing done) where that is not possible: another plan, a strip on the diagonal, exponents out of range or to be
    // mended.
    bool multiply(int strip, Index j0, const T* v, T* lanes, const T* rows, T* sums) {
        if (!alone_ || right_.leaves[0].differences || touches_diagonal(strip, j0)) return false;
        const LeftLeaf<T>& left = left_[0];
        const PackedLeaf<T>& right = right_.leaves[0];
        const T reach = strip_reach(0, strip, j0);
        if (link_of(reach) != Link::near) return false;
        const bool is_guarded = gaussian_limit(0, reach) < T{1};
        const T trust = trusted_product(0);
        // In few dimensions near pairs are common: most panels would be made twice.
        if (is_guarded && right.d <= 4) return false;
        constexpr decltype(&product_panel<T, false, false>) kPanels[] = {
            product_panel<T, false, false>, product_panel<T, false, true>, product_panel<T, true, false>,
            product_panel<T, true, true>};
        for (int r = 0; r < kStripRows; r += kPanelRows) {
            const T* a = left.panels.data() + (strip * kStripRows + r) * right.d;
            const T* a0 = left.norms.data() + strip * kStripRows + r;
            for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
                const PanelProduct<T> to{v + c, lanes + r * kWidth<T>, rows == nullptr ? nullptr : rows + r,
                                         rows == nullptr ? nullptr : sums + c};
                const T* b = right.panels.data() + (j0 + c) * right.d;
                const T* b0 = right.norms.data() + j0 + c;
                const T limit = is_guarded ? panel_limit(0, strip, r, j0, c) : T{1};
                const auto make = kPanels[(limit < T{1} ? 2 : 0) + (rows != nullptr ? 1 : 0)];
                if (!has_own_errors(limit) || make(a, b, right.d, a0, b0, trust, to))
                    multiply_mended(strip, r, j0, c, limit, to);
            }
        }
        return true;
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
            for (int r = 0; r < kStripRows; r += kPanelRows) {
                T* out = leaf_tiles_[0] + r * kStripCols<T> + c;
                if (beyond_panel<T>(rows + r * d, b, d, b2, limits + r, out, kStripCols<T>)) found(r, c, out);
            }
        }
    }

    // The strip, finished.
    const T* fold(int strip, Index j0) {
        const Strip made = open(strip, j0);
        apply(made.link, made.tile);
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

    Index rows_of(int strip) const { return std::min<Index>(kStripRows, i1_ - i0_ - strip * kStripRows); }
    Index first_row() const { return i0_; }
    int strips() const { return static_cast<int>((i1_ - i0_ + kStripRows - 1) / kStripRows); }
    Index mended() const { return mended_; }

   private:
    static constexpr Index kTile = kStripRows * kStripCols<T>;

    void each_sparse(int strip, void (*act)(const Sparse&, Index, Index, LeftLeaf<T>&)) {
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf) {
            if (const Sparse* rows = std::get_if<Sparse>(&walk_.left.sources[leaf])) {
                const Index first = i0_ + strip * kStripRows;
                act(*rows, first, first + rows_of(strip), left_[leaf]);
            }
        }
    }

    // A plan may have no leaf at all (a constant), but one instruction that reads a leaf reads the only one.
    bool is_gaussian_alone() const {
        return walk_.plan.tape().size() == 1 && walk_.plan.tape()[0].op == Op::sqdist && has_exponents(0);
    }

    bool is_key() const {
        const std::vector<Instruction>& tape = walk_.plan.tape();
        return tape.size() == 2 && walk_.plan.leaves().size() == 1 && walk_.plan.rows() == 1 &&
               tape[0].op == Op::inner && tape[1].op == Op::add_rows && tape[1].scale == -2.0 &&
               tape[1].offset == 0.0 && std::holds_alternative<Dense>(walk_.left.sources[0]) &&
               right_.leaves[0].shifts.size() == 0;
    }

    // Whether a leaf's tile holds the exponents of a gaussian.
    bool has_exponents(std::size_t leaf) const {
        return walk_.plan.uses()[leaf].gaussian && std::holds_alternative<Dense>(walk_.left.sources[leaf]);
    }

    void fill_leaves(int strip, Index j0, Index rows, Index columns) {
        for (std::size_t leaf = 0; leaf < left_.size(); ++leaf) {
            LeftLeaf<T>& left = left_[leaf];
            const PackedLeaf<T>& right = right_.leaves[leaf];
            T* tile = leaf_tiles_[leaf];
            const Source& source = walk_.left.sources[leaf];
            switch (walk_.plan.leaves()[leaf]) {
                case Kind::dot:
                    if (std::holds_alternative<Sparse>(source)) fill_sparse<T>(left, right, j0, columns, tile);
                    else if (right.differences) fill_differences(leaf, strip, j0, tile);
                    else if (has_exponents(leaf)) fill_exponents(leaf, strip, j0, rows, columns, tile);
                    else fill_dense<T, DotStep>(left, right, strip, j0, tile);
                    break;
                case Kind::l1:
                    fill_dense<T, CityStep>(left, right, strip, j0, tile);
                    break;
                case Kind::minimum:
                    fill_dense<T, MinimumStep>(left, right, strip, j0, tile);
                    break;
                case Kind::chi2:
                    fill_dense<T, ChiSquareStep>(left, right, strip, j0, tile);
                    break;
                case Kind::equal:
                    fill_codes<T>(left, right, strip, j0, tile);
                    break;
                case Kind::stored: {
                    const Matrix& matrix = std::get<Matrix>(source);
                    const Index first = i0_ + strip * kStripRows;
                    fill_copied<T>(rows, columns, tile, [&](Index r, Index c) {
                        return matrix.values.at<T>((first + r) * matrix.m + j0 + c);
                    });
                    break;
                }
                case Kind::callback: {
                    const Index first = strip * kStripRows;
                    fill_copied<T>(rows, columns, tile, [&](Index r, Index c) {
                        return left.called[(first + r) * left.called_columns + j0 - left.called_first + c];
                    });
                    break;
                }
            }
        }
    }

    // Distances, or the exponents of a gaussian, by differences: nothing to mend, and exactly 0 on a diagonal.
    void fill_differences(std::size_t leaf, int strip, Index j0, T* tile) {
        const Index d = right_.leaves[leaf].d;
        const LeafUse& use = walk_.plan.uses()[leaf];
        const T scale = use.gaussian ? static_cast<T>(use.scale * kLog2E) : T{1};
        links_[leaf] = Link::far;
        for (int r = 0; r < kStripRows; r += kPanelRows) {
            const T* a = left_[leaf].panels.data() + (strip * kStripRows + r) * d;
            for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
                const T* b = right_.leaves[leaf].panels.data() + (j0 + c) * d;
                difference_panel<T>(a, b, d, scale, tile + r * kStripCols<T> + c, kStripCols<T>);
            }
        }
    }

    // The exponents of exp(-g |x - z|^2) to the base 2; those that have cancelled are recomputed.
    void fill_exponents(std::size_t leaf, int strip, Index j0, Index rows, Index columns, T* tile) {
        const LeftLeaf<T>& left = left_[leaf];
        const PackedLeaf<T>& right = right_.leaves[leaf];
        const Index d = right.d;
        const T reach = strip_reach(leaf, strip, j0);
        links_[leaf] = link_of(reach);
        const bool is_guarded = gaussian_limit(leaf, reach) < T{1};
        for (int r = 0; r < kStripRows; r += kPanelRows) {
            const T* a = left.panels.data() + (strip * kStripRows + r) * d;
            const T* a0 = left.norms.data() + strip * kStripRows + r;
            for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
                const T* b = right.panels.data() + (j0 + c) * d;
                const T* b0 = right.norms.data() + j0 + c;
                T* out = tile + r * kStripCols<T> + c;
                const T limit = is_guarded ? panel_limit(leaf, strip, r, j0, c) : T{1};
                const auto make = limit < T{1} ? exponent_panel<T, true> : exponent_panel<T, false>;
                if (make(a, b, d, a0, b0, exponent_of(limit), out, kStripCols<T>))
                    mend_panel(leaf, strip, r, j0, c, rows, columns, limit, tile);
            }
        }
        each_diagonal(strip, j0, [&](Index at) { tile[at] = T{}; });
    }

    // The exponent is at least -|x - z|^2 / 2 >= -(|x|^2 + |z|^2), and reach is half of that.
    static Link link_of(T reach) { return T{2} * reach < T(Bits<T>::bias - 1) ? Link::near : Link::far; }
    static T exponent_of(T limit) {
        if (limit >= T{1}) return T{1};
        return limit > T{} ? std::log2(limit) : -std::numeric_limits<T>::infinity();
    }

    // One panel of `multiply` that has exponents to mend: through memory.
    void multiply_mended(int strip, int r, Index j0, int c, T limit, const PanelProduct<T>& to) {
        const PackedLeaf<T>& right = right_.leaves[0];
        T* tile = leaf_tiles_[0];
        T* out = tile + r * kStripCols<T> + c;
        exponent_panel<T, false>(left_[0].panels.data() + (strip * kStripRows + r) * right.d,
                                 right.panels.data() + (j0 + c) * right.d, right.d,
                                 left_[0].norms.data() + strip * kStripRows + r, right.norms.data() + j0 + c, T{}, out,
                                 kStripCols<T>);
        mend_panel(0, strip, r, j0, c, rows_of(strip), std::min<Index>(kStripCols<T>, right_.n - j0), limit, tile);
        for (int i = 0; i < kPanelRows; ++i) {
            for (int j = 0; j < kPanelCols<T>; j += kWidth<T>) {
                const V<T> k = exp2_near<T>(load<T>(out + i * kStripCols<T> + j));
                T* lanes = to.lanes + i * kWidth<T>;
                store<T>(lanes, fma<T>(k, load<T>(to.v + j), load<T>(lanes)));
                if (to.rows != nullptr) store<T>(to.sums + j, fma<T>(k, fill<T>(to.rows[i]), load<T>(to.sums + j)));
            }
        }
    }

    // A gaussian value is trusted up to this, where |a0| + |b0| <= reach: the error of v = 2^e is v ln 2 times that of
    // e while that is small, then up to 2^error times v. Beyond all range, nothing is trusted.
    T gaussian_limit(std::size_t leaf, T reach) const {
        const double error = right_.leaves[leaf].frame.noise * static_cast<double>(reach);
        if (error <= 1.0) return static_cast<T>(kGaussianError<T> / (0.7 * std::max(error, 1e-30)));
        return error < 100.0 ? static_cast<T>(kGaussianError<T> * std::exp2(-error)) : T{-1};
    }

    // Whether the errors of exponents are small, so that each value's own is in proportion to it.
    static bool has_own_errors(T limit) { return limit > static_cast<T>(kGaussianError<T>); }
    // Then a value times |a0 + b0| is trusted up to this.
    T trusted_product(std::size_t leaf) const {
        return static_cast<T>(kGaussianError<T> / (0.7 * right_.leaves[leaf].frame.noise));
    }

    // The largest |a0| + |b0| of a strip.
    T strip_reach(std::size_t leaf, int strip, Index j0) const {
        const T* rows = left_[leaf].peaks + strip * (kStripRows / kPanelRows);
        const T* columns = right_.leaves[leaf].peaks.data() + j0 / kPanelCols<T>;
        return *std::max_element(rows, rows + kStripRows / kPanelRows) +
               *std::max_element(columns, columns + kStripCols<T> / kPanelCols<T>);
    }

    // gaussian_limit of a panel: a few long rows in a strip leave most of its panels in peace.
    T panel_limit(std::size_t leaf, int strip, int r, Index j0, int c) const {
        return gaussian_limit(leaf, left_[leaf].peaks[(strip * kStripRows + r) / kPanelRows] +
                                        right_.leaves[leaf].peaks[(j0 + c) / kPanelCols<T>]);
    }

    void mend_panel(std::size_t leaf, int strip, int r, Index j0, int c, Index rows, Index columns, T limit, T* tile) {
        const bool small = has_own_errors(limit);
        const V<T> share = fill<T>(trusted_product(leaf));
        const double scale = walk_.plan.uses()[leaf].scale * kLog2E;
        const V<T> least = fill<T>(exponent_of(limit));
        for (int i = r; i < std::min<Index>(r + kPanelRows, rows); ++i) {
            const V<T> left = fill<T>(left_[leaf].norms[strip * kStripRows + i]);
            for (int j = c; j < std::min<Index>(c + kPanelCols<T>, columns); j += kWidth<T>) {
                T* values = tile + i * kStripCols<T> + j;
                if (!any<T>(load<T>(values) >= least)) continue;
                const V<T> reach = left + load<T>(right_.leaves[leaf].norms.data() + j0 + j);
                const V<T> value = exp2_link<T>(load<T>(values));
                const VI<T> wanted = small ? value * reach < -share : value > limit;
                if (!any<T>(wanted)) continue;
                for (int lane = 0; lane < std::min<Index>(kWidth<T>, columns - j); ++lane) {
                    if (wanted[lane] != 0) values[lane] = static_cast<T>(scale * mended(leaf, strip, i, j0 + j + lane));
                }
            }
        }
    }

    double mended(std::size_t leaf, int strip, Index i, Index j) {
        ++mended_;
        return exact_sqdist(walk_.left.sources[leaf], i0_ + strip * kStripRows + i, walk_.right.sources[leaf], j);
    }

    bool touches_diagonal(int strip, Index j0) const {
        const Index first = i0_ + strip * kStripRows;
        return walk_.symmetric && j0 < first + kStripRows && first < j0 + kStripCols<T>;
    }

    // In a symmetric walk, calls back for the places of this strip that lie on the diagonal.
    template <class Place>
    void each_diagonal(int strip, Index j0, Place place) const {
        if (!walk_.symmetric) return;
        const Index first = i0_ + strip * kStripRows;
        for (Index i = 0; i < kStripRows; ++i) {
            const Index j = first + i - j0;
            if (j >= 0 && j < kStripCols<T>) place(i * kStripCols<T> + j);
        }
    }

    void run(const Instruction& step, int strip, Index j0, Index rows, Index columns) {
        if (!reads_leaf(step.op)) {
            for (std::size_t row = 0; row < left_at_.size(); ++row) {
                left_at_[row] = left_rows_.data() + static_cast<Index>(row) * kBlockRows + strip * kStripRows;
                right_at_[row] = right_.rows[row].data() + j0;
            }
            execute<T, false>(Fold<T>{slots_.data(), left_at_.data(), right_at_.data(), kStripRows}, step);
            return;
        }
        const std::size_t leaf = static_cast<std::size_t>(step.a);
        T* out = slots_[static_cast<std::size_t>(step.out)];
        if (step.op == Op::sqdist && !has_exponents(leaf) && !right_.leaves[leaf].differences) {
            read_distance(leaf, strip, j0, rows, columns, out);
        } else if (step.op == Op::inner && right_.leaves[leaf].shifts.size() > 0) {
            read_shifted(leaf, strip, j0, out);
        } else if (walk_.plan.uses()[leaf].read_once) {
            std::swap(slots_[static_cast<std::size_t>(step.out)], leaf_tiles_[leaf]);
        } else {
            std::copy_n(leaf_tiles_[leaf], kTile, out);
        }
        if (has_exponents(leaf)) apply(links_[leaf], slots_[static_cast<std::size_t>(step.out)]);
    }

    static void apply(Link link, T* tile) {
        if (link == Link::near) apply<Link::near>(tile);
        if (link == Link::far) apply<Link::far>(tile);
    }
    template <Link L>
    static void apply(T* tile) {
        for (Index at = 0; at < kTile; at += kWidth<T>) store<T>(tile + at, linked<T, L>(load<T>(tile + at)));
    }

    void read_shifted(std::size_t leaf, int strip, Index j0, T* out) const {
        const T* in = leaf_tiles_[leaf];
        const T* right = right_.leaves[leaf].shifts.data() + j0;
        for (int i = 0; i < kStripRows; ++i) {
            const V<T> left = fill<T>(left_[leaf].shifts[strip * kStripRows + i]);
            for (int j = 0; j < kStripCols<T>; j += kWidth<T>)
                store<T>(out + i * kStripCols<T> + j,
                         load<T>(in + i * kStripCols<T> + j) + (left + load<T>(right + j)));
        }
    }

    void read_distance(std::size_t leaf, int strip, Index j0, Index rows, Index columns, T* out) {
        const T* in = leaf_tiles_[leaf];
        const T* right = right_.leaves[leaf].norms.data() + j0;
        const V<T> minus_two = fill<T>(T{-2});
        // Rounding grows with <x, z>, that is with both - found: a distance is trusted from noise * (both - found) on.
        const double noise = kTrust<T> * std::max(right_.leaves[leaf].frame.noise, left_[leaf].noise);
        const V<T> share = fill<T>(static_cast<T>(noise / (1.0 + noise)));
        for (int i = 0; i < kStripRows; ++i) {
            const V<T> left = fill<T>(left_[leaf].norms[strip * kStripRows + i]);
            for (int j = 0; j < kStripCols<T>; j += kWidth<T>) {
                const V<T> both = left + load<T>(right + j);
                const V<T> found = fma<T>(load<T>(in + i * kStripCols<T> + j), minus_two, both);
                store<T>(out + i * kStripCols<T> + j, maximum<T>(found, V<T>{}));
                const VI<T> trusted = found >= share * both;  // not when the squares have overflown
                if (any<T>(~trusted)) mend_lanes(leaf, strip, i, j0, j, rows, columns, ~trusted, out);
            }
        }
        each_diagonal(strip, j0, [&](Index at) { out[at] = T{}; });
        const LeafUse& use = walk_.plan.uses()[leaf];
        if (use.gaussian) {  // sparse rows, whose tiles hold no exponents
            const V<T> scale = fill<T>(static_cast<T>(use.scale));
            for (Index at = 0; at < kTile; at += kWidth<T>) store<T>(out + at, exp<T>(load<T>(out + at) * scale));
        }
    }

    void mend_lanes(std::size_t leaf, int strip, Index i, Index j0, Index j, Index rows, Index columns, VI<T> wanted,
                    T* out) {
        for (int lane = 0; lane < kWidth<T>; ++lane) {
            if (wanted[lane] != 0 && i < rows && j + lane < columns)
                out[i * kStripCols<T> + j + lane] = static_cast<T>(mended(leaf, strip, i, j0 + j + lane));
        }
    }

    // `nothing` wherever the strip has no number of K to give.
    void wipe(int strip, Index j0, T nothing, T* tile) const {
        wipe_outside(rows_of(strip), std::min<Index>(kStripCols<T>, right_.n - j0), nothing, tile);
        if (hollow_) each_diagonal(strip, j0, [&](Index at) { tile[at] = nothing; });
    }

    static void wipe_outside(Index rows, Index columns, T nothing, T* tile) {
        for (Index i = rows; i < kStripRows; ++i) std::fill_n(tile + i * kStripCols<T>, kStripCols<T>, nothing);
        if (columns == kStripCols<T>) return;
        for (Index i = 0; i < rows; ++i)
            std::fill_n(tile + i * kStripCols<T> + columns, kStripCols<T> - columns, nothing);
    }

    const Walk& walk_;
    const PackedSide<T>& right_;
    std::vector<LeftLeaf<T>> left_;
    std::vector<Link> links_;  // of the gaussian leaves, for the current strip
    Buffer<T> memory_;
    Buffer<T> left_rows_;
    std::vector<T*> slots_;
    std::vector<T*> leaf_tiles_;
    std::vector<const T*> left_at_;
    std::vector<const T*> right_at_;
    Index i0_ = 0;
    Index i1_ = 0;
    Index mended_ = 0;
    bool alone_ = false;  // the plan is one gaussian
    bool keys_ = false;   // the plan is the key of a search
    bool hollow_ = false;
};

}  // namespace mercer::MERCER_ISA
