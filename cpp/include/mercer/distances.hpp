// Distances between a block of left rows and packed columns, and the exponents of gaussians: which of them rounding has
// has left accurate enough, and the others from the original rows.
#pragma once

#include "mercer/leaves.hpp"
#include "mercer/mend.hpp"

namespace mercer::MERCER_ISA {

// A block of left rows, and the columns it is compared with.
template <class T>
struct LeftBlock {
    explicit LeftBlock(const Walk& walk)
        : walk(walk), right(static_cast<const PackedSide<T>&>(walk.packed)), leaves(walk.plan.leaves().size()) {}

    Index rows_of(int strip) const { return std::min<Index>(kStripRows, i1 - i0 - strip * kStripRows); }

    bool touches_diagonal(int strip, Index j0) const {
        const Index first = i0 + strip * kStripRows;
        return walk.symmetric && j0 < first + kStripRows && first < j0 + kStripCols<T>;
    }

    // In a symmetric walk, calls back for the places of this strip that lie on the diagonal.
    template <class Place>
    void each_diagonal(int strip, Index j0, Place place) const {
        if (!walk.symmetric) return;
        const Index first = i0 + strip * kStripRows;
        for (Index i = 0; i < kStripRows; ++i) {
            const Index j = first + i - j0;
            if (j >= 0 && j < kStripCols<T>) place(i * kStripCols<T> + j);
        }
    }

    const Walk& walk;
    const PackedSide<T>& right;
    std::vector<LeftLeaf<T>> leaves;
    Index i0 = 0;
    Index i1 = 0;
};

template <class T>
class Distances {
   public:
    explicit Distances(const LeftBlock<T>& block)
        : block_(block),
          walk_(block.walk),
          right_(block.right),
          left_(block.leaves),
          links_(block.leaves.size(), Link::none) {}

    // Whether a leaf's tile holds the exponents of a gaussian.
    bool has_exponents(std::size_t leaf) const {
        return walk_.plan.uses()[leaf].gaussian && std::holds_alternative<Dense>(walk_.left.sources[leaf]);
    }

    // What remains to be done to the exponents of the current strip.
    Link link(std::size_t leaf) const { return links_[leaf]; }
    Index mended() const { return mended_; }

    // lanes += K v for a plan that is one gaussian, with K in registers only; with `rows`, sums += K'v too. False (and
    // nothing done) where that is not possible: a strip on the diagonal, exponents out of range.
    bool multiply(int strip, Index j0, const T* v, T* lanes, const T* rows, T* sums, T* scratch) {
        if (right_.leaves[0].differences || block_.touches_diagonal(strip, j0)) return false;
        const LeftLeaf<T>& left = left_[0];
        const PackedLeaf<T>& right = right_.leaves[0];
        const T reach = left.peaks[strip] + right.peaks[j0 / kStripCols<T>];
        if (link_of(reach) != Link::near) return false;
        const T limit = gaussian_limit(0, reach);
        // In few dimensions near pairs are common: most panels would be made twice.
        if (limit < T{1} && right.d <= 4) return false;
        const PanelGuard<T> guard{exponent_of(limit), has_own_errors(limit) ? trusted_product(0) : T{}};
        const int count = static_cast<int>(block_.rows_of(strip));
        const auto make = (count == 1 ? kProducts<1> : kProducts<kPanelRows>)[limit < T{1}][rows != nullptr];
        for (int r = 0; r < count; r += kPanelRows) {
            const T* a = left.panels.data() + (strip * kStripRows + r) * right.d;
            const T* a0 = left.norms.data() + strip * kStripRows + r;
            for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
                const PanelProduct<T> to{v + c, lanes + r * kWidth<T>, rows == nullptr ? nullptr : rows + r,
                                         rows == nullptr ? nullptr : sums + c};
                const T* b = right.panels.data() + (j0 + c) * right.d;
                const T* b0 = right.norms.data() + j0 + c;
                if (make(a, b, right.d, a0, b0, guard, to)) multiply_mended(strip, r, j0, c, limit, to, scratch);
            }
        }
        return true;
    }

    // Distances, or the exponents of a gaussian, straight into the tile of a leaf of which nothing else is read. False
    // (and nothing done) for other leaves.
    bool fill_tile(std::size_t leaf, const Patch& at, T* tile) {
        if (right_.leaves[leaf].differences) fill_differences(leaf, at.strip, at.j0, at.rows, tile);
        else if (has_exponents(leaf)) fill_exponents(leaf, at.strip, at.j0, at.rows, at.columns, tile);
        else return false;
        return true;
    }

    // Distances, or the exponents of a gaussian, by differences: nothing to mend, and exactly 0 on a diagonal.
    void fill_differences(std::size_t leaf, int strip, Index j0, Index rows, T* tile) {
        const Index d = right_.leaves[leaf].d;
        const LeafUse& use = walk_.plan.uses()[leaf];
        const T scale = use.gaussian ? static_cast<T>(use.scale * kLog2E) : T{1};
        links_[leaf] = Link::far;
        const auto make = rows == 1 ? difference_panel<T, 1> : difference_panel<T, kPanelRows>;
        for (int r = 0; r < rows; r += kPanelRows) {
            const T* a = left_[leaf].panels.data() + (strip * kStripRows + r) * d;
            for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
                const T* b = right_.leaves[leaf].panels.data() + (j0 + c) * d;
                make(a, b, d, scale, tile + r * kStripCols<T> + c, kStripCols<T>);
            }
        }
    }

    // The exponents of exp(-g |x - z|^2) to the base 2; those that have cancelled are recomputed.
    void fill_exponents(std::size_t leaf, int strip, Index j0, Index rows, Index columns, T* tile) {
        const LeftLeaf<T>& left = left_[leaf];
        const PackedLeaf<T>& right = right_.leaves[leaf];
        const Index d = right.d;
        const T reach = left.peaks[strip] + right.peaks[j0 / kStripCols<T>];
        links_[leaf] = link_of(reach);
        const T limit = gaussian_limit(leaf, reach);
        const auto make = (rows == 1 ? kExponents<1> : kExponents<kPanelRows>)[limit < T{1}];
        const T exponent_limit = exponent_of(limit);
        for (int r = 0; r < rows; r += kPanelRows) {
            const T* a = left.panels.data() + (strip * kStripRows + r) * d;
            const T* a0 = left.norms.data() + strip * kStripRows + r;
            for (int c = 0; c < kStripCols<T>; c += kPanelCols<T>) {
                const T* b = right.panels.data() + (j0 + c) * d;
                const T* b0 = right.norms.data() + j0 + c;
                T* out = tile + r * kStripCols<T> + c;
                if (make(a, b, d, a0, b0, exponent_limit, out, kStripCols<T>))
                    mend_panel(leaf, strip, r, j0, c, rows, columns, limit, tile);
            }
        }
        block_.each_diagonal(strip, j0, [&](Index at) { tile[at] = T{}; });
    }

    // Distances from the inner products of a tile.
    void read(std::size_t leaf, int strip, Index j0, Index rows, Index columns, const T* in, T* out) {
        const T* right = right_.leaves[leaf].norms.data() + j0;
        const V<T> minus_two = fill<T>(T{-2});
        // Rounding grows with <x, z>, that is with both - found: a distance is trusted from noise * (both - found) on.
        const double noise = kTrust<T> * std::max(right_.leaves[leaf].frame.noise, left_[leaf].noise);
        const V<T> share = fill<T>(static_cast<T>(noise / (1.0 + noise)));
        for (int i = 0; i < rows; ++i) {
            const V<T> left = fill<T>(left_[leaf].norms[strip * kStripRows + i]);
            for (int j = 0; j < kStripCols<T>; j += kWidth<T>) {
                const V<T> both = left + load<T>(right + j);
                const V<T> found = fma<T>(load<T>(in + i * kStripCols<T> + j), minus_two, both);
                store<T>(out + i * kStripCols<T> + j, maximum<T>(found, V<T>{}));
                const VI<T> trusted = found >= share * both;  // not when the squares have overflown
                if (any<T>(~trusted)) mend_lanes(leaf, strip, i, j0, j, rows, columns, ~trusted, out);
            }
        }
        block_.each_diagonal(strip, j0, [&](Index at) { out[at] = T{}; });
        const LeafUse& use = walk_.plan.uses()[leaf];
        if (use.gaussian) {  // sparse rows, whose tiles hold no exponents
            const V<T> scale = fill<T>(static_cast<T>(use.scale));
            for (Index at = 0; at < rows * kStripCols<T>; at += kWidth<T>)
                store<T>(out + at, exp<T>(load<T>(out + at) * scale));
        }
    }

   private:
    static constexpr Index kTile = kStripRows * kStripCols<T>;
    // By whether they are guarded, and mirrored.
    template <int kRows>
    static constexpr decltype(&product_panel<T, kRows, false, false>) kProducts[2][2] = {
        {product_panel<T, kRows, false, false>, product_panel<T, kRows, false, true>},
        {product_panel<T, kRows, true, false>, product_panel<T, kRows, true, true>},
    };
    // By whether they are guarded.
    template <int kRows>
    static constexpr decltype(&exponent_panel<T, kRows, false>) kExponents[2] = {exponent_panel<T, kRows, false>,
                                                                                 exponent_panel<T, kRows, true>};

    // The exponent is at least -|x - z|^2 / 2 >= -(|x|^2 + |z|^2), and reach is half of that.
    static Link link_of(T reach) { return T{2} * reach < T(Bits<T>::bias - 1) ? Link::near : Link::far; }
    static T exponent_of(T limit) {
        if (limit >= T{1}) return T{1};
        return limit > T{} ? std::log2(limit) : -std::numeric_limits<T>::infinity();
    }

    // One panel of `multiply` that has exponents to mend: through memory.
    void multiply_mended(int strip, int r, Index j0, int c, T limit, const PanelProduct<T>& to, T* tile) {
        const PackedLeaf<T>& right = right_.leaves[0];
        T* out = tile + r * kStripCols<T> + c;
        exponent_panel<T, kPanelRows, false>(left_[0].panels.data() + (strip * kStripRows + r) * right.d,
                                             right.panels.data() + (j0 + c) * right.d, right.d,
                                             left_[0].norms.data() + strip * kStripRows + r,
                                             right.norms.data() + j0 + c, T{}, out, kStripCols<T>);
        mend_panel(0, strip, r, j0, c, block_.rows_of(strip), std::min<Index>(kStripCols<T>, right_.n - j0), limit,
                   tile);
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
        return exact_sqdist(walk_.left.sources[leaf], block_.i0 + strip * kStripRows + i, walk_.right.sources[leaf], j);
    }

    void mend_lanes(std::size_t leaf, int strip, Index i, Index j0, Index j, Index rows, Index columns, VI<T> wanted,
                    T* out) {
        for (int lane = 0; lane < kWidth<T>; ++lane) {
            if (wanted[lane] != 0 && i < rows && j + lane < columns)
                out[i * kStripCols<T> + j + lane] = static_cast<T>(mended(leaf, strip, i, j0 + j + lane));
        }
    }

    const LeftBlock<T>& block_;
    const Walk& walk_;
    const PackedSide<T>& right_;
    const std::vector<LeftLeaf<T>>& left_;
    std::vector<Link> links_;  // of the gaussian leaves, for the current strip
    Index mended_ = 0;
};

}  // namespace mercer::MERCER_ISA
