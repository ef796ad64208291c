// Sums over the pairs of parts of two bags. The parts have a plan of their own, which is walked tile by tile inside a
// tile of bags (parts.hpp), so that no matrix of parts is ever stored.
#pragma once

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

// Bags on the left against bags on the right.
class PartSums {
   public:
    virtual ~PartSums() = default;
    // The left bags that sums are made of, until others are taken.
    virtual void take(Index i0, Index i1) = 0;
    // out[r * stride + c] is the sum of bag i0 + r against bag j0 + c.
    virtual void fill(Index j0, Index j1, double* out, Index stride) = 0;
    // The share of the pairs of parts whose distance had to be recomputed.
    virtual double mended_share() const = 0;
};

template <class T>
std::unique_ptr<Packed> pack_side(const Plan& plan, const Side& side);
// `packed`: the parts on the right.
template <class T>
std::shared_ptr<PartSums> part_sums(const Bags& left, const Bags& right, std::shared_ptr<const Packed> packed);

template <class T>
struct LeftMemory<Kind::convolution, T> {
    std::shared_ptr<PartSums> sums;
    Buffer<double> summed;  // (kStripRows, kStripCols)
};
template <class T>
struct RightMemory<Kind::convolution, T> {
    Bags bags;
    std::shared_ptr<const Packed> parts;

    Index bytes() const { return parts ? parts->bytes() : 0; }
};

template <>
struct Leaf<Kind::convolution> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse&, Index, PackedLeaf<T>& leaf) {
        leaf.bags = std::get<Bags>(source);
        leaf.parts = pack_side<T>(*leaf.bags.plan, *leaf.bags.parts);
    }
    template <class T>
    static void take_rows(const Source& source, const PackedLeaf<T>& right, Index, Index, LeftLeaf<T>& leaf) {
        if (leaf.sums != nullptr) return;
        leaf.sums = part_sums<T>(std::get<Bags>(source), right.bags, right.parts);
        leaf.summed.reset(kStripRows * kStripCols<T>);
    }
    template <class T>
    static void take_strip(const Source&, Index i0, Index i1, LeftLeaf<T>& leaf) {
        leaf.sums->take(i0, i1);
    }
    template <class T>
    static void fill_tile(const Source&, LeftLeaf<T>& left, const PackedLeaf<T>&, const Patch& patch, T* tile) {
        left.sums->fill(patch.j0, patch.j0 + patch.columns, left.summed.data(), kStripCols<T>);
        fill_copied<T>(patch, tile, [&](Index r, Index c) { return left.summed[r * kStripCols<T> + c]; });
    }
    // Of the right side all parts are packed: for many pairs, keep the sums (pairs.hpp).
    static double pair(const LeafUse&, const Source& left, const Source& right, Index i) {
        return pair(*pairs_of(left, right), i);
    }
    static std::shared_ptr<PartSums> pairs_of(const Source& left, const Source& right) {
        const Bags& bags = std::get<Bags>(right);
        return part_sums<double>(std::get<Bags>(left), bags, pack_side<double>(*bags.plan, *bags.parts));
    }
    static double pair(PartSums& sums, Index i) {
        double value = 0.0;
        sums.take(i, i + 1);
        sums.fill(i, i + 1, &value, 1);
        return value;
    }
};

}  // namespace mercer::MERCER_ISA
