// The leaves of a plan: what fills a strip of tiles from the points, by the table of kinds.
#pragma once

#include "mercer/leaf.hpp"
#include "mercer/leaves.def"

namespace mercer::MERCER_ISA {

// One block of left rows of one leaf, ready for the micro-kernel.
template <class T>
struct LeftLeaf : LeftRows<T>
#define MERCER_LEAF(name, ...) , LeftMemory<Kind::name, T>
#include "mercer/leaves.def"
#undef MERCER_LEAF
{
};

template <class T>
struct PackedLeaf : RightRows<T>
#define MERCER_LEAF(name, ...) , RightMemory<Kind::name, T>
#include "mercer/leaves.def"
#undef MERCER_LEAF
{
    Index bytes() const {
        Index total = RightRows<T>::bytes();
#define MERCER_LEAF(name, ...) total += RightMemory<Kind::name, T>::bytes();
#include "mercer/leaves.def"
#undef MERCER_LEAF
        return total;
    }
};

// use(the row of a kind), once for all entries of a tile.
template <class Use>
MERCER_INLINE auto with_leaf(Kind kind, Use use) {
    switch (kind) {
#define MERCER_LEAF(name, ...) \
    case Kind::name:           \
        return use(Leaf<Kind::name>{});
#include "mercer/leaves.def"
#undef MERCER_LEAF
    }
    __builtin_unreachable();
}

template <class T>
PackedLeaf<T> pack_leaf(Kind kind, const Source& source, const LeafUse& use, Index padded) {
    PackedLeaf<T> leaf;
    with_leaf(kind, [&](auto row) { row.pack(source, use, padded, leaf); });
    if (leaf.norms.size() > 0) {
        leaf.peaks.reset(padded / kStripCols<T>);
        for (Index i = 0; i < padded; ++i) {
            T& peak = leaf.peaks[i / kStripCols<T>];
            peak = std::max(peak, std::abs(leaf.norms[i]));
        }
    }
    return leaf;
}

template <class T>
void take_rows(Kind kind, const Source& source, const PackedLeaf<T>& right, Index i0, Index i1, LeftLeaf<T>& leaf) {
    with_leaf(kind, [&](auto row) { row.take_rows(source, right, i0, i1, leaf); });
    if (leaf.norms.size() > 0) {
        std::fill(std::begin(leaf.peaks), std::end(leaf.peaks), T{});
        for (Index at = 0; at < i1 - i0; ++at) {
            T& peak = leaf.peaks[at / kStripRows];
            peak = std::max(peak, std::abs(leaf.norms[at]));
        }
    }
}

template <class T>
class PackedSide final : public Packed {
   public:
    Index n = 0;
    Index padded = 0;  // to whole blocks of rows
    std::vector<PackedLeaf<T>> leaves;
    std::vector<Buffer<T>> rows;

    bool single() const override { return sizeof(T) == 4; }
    Index bytes() const override {
        Index total = 0;
        for (const PackedLeaf<T>& leaf : leaves) total += leaf.bytes();
        for (const Buffer<T>& row : rows) total += bytes_of(row);
        return total;
    }
};

template <class T>
std::unique_ptr<Packed> pack_side(const Plan& plan, const Side& side) {
    auto packed = std::make_unique<PackedSide<T>>();
    packed->n = side.n;
    packed->padded = round_up(std::max<Index>(side.n, 1), kBlockRows);
    for (std::size_t leaf = 0; leaf < plan.leaves().size(); ++leaf)
        packed->leaves.push_back(
            pack_leaf<T>(plan.leaves()[leaf], side.sources[leaf], plan.uses()[leaf], packed->padded));
    for (const double* row : side.rows) {
        Buffer<T> values(packed->padded);
        std::transform(row, row + side.n, values.data(), [](double x) { return static_cast<T>(x); });
        packed->rows.push_back(std::move(values));
    }
    return packed;
}

}  // namespace mercer::MERCER_ISA
