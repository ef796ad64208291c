// MatVec: K v, and on demand the same for powers of the entries. Sums run in the tile's type over at most 128 numbers a
// lane, 256 columns or one block of rows, then in double.
#pragma once

#include <cmath>
#include <limits>

#include "mercer/reduce/products.hpp"
#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

// A few columns are multiplied one by one, lanes along the columns of K; many at once, lanes along the columns of V.
inline constexpr Index kFew = 4;
// Columns between two spills into double, of few columns of V and of many. A spill of few sums 24 registers across
// their lanes: every 256 columns that is a tenth of the time of a gaussian in 8 dimensions.
template <class T>
inline constexpr Index kFewSpill = 128 * kWidth<T>;
inline constexpr Index kManySpill = 256;
// Blocks of rows of a symmetric product that are taken one by one.
inline constexpr Index kFewBlocks = 8;
// Slots that a symmetric product may always have.
inline constexpr Index kSomeSlots = 16;

// V in the tile's type, padded with zeros: column after column when few, row by row when many.
template <class T>
struct Vectors {
    Index n = 0;
    Index t = 1;
    bool many = false;
    Index stride = 0;  // between columns (few) or rows (many)
    Buffer<T> values;

    Vectors(const double* v, Index n_, Index padded, Index t_, bool many_)
        : n(n_), t(t_), many(many_), stride(many ? round_up(t, kWidth<T>) : padded) {
        values.reset(many ? padded * stride : padded * t);
        if (t == 1 && !many && v != nullptr) {  // nothing to transpose
            std::transform(v, v + n, values.data(), [](double x) { return static_cast<T>(x); });
            return;
        }
        for (Index i = 0; i < n; ++i) {
            for (Index c = 0; c < t; ++c)
                values[many ? i * stride + c : c * stride + i] = v != nullptr ? static_cast<T>(v[i * t + c]) : T{1};
        }
    }
};

template <class T>
class FewDrink {
   public:
    FewDrink(const Vectors<T>& v, const MatVec& job, Walker<T>& walker, bool mirror, double* out)
        : v_(v),
          walker_(walker),
          mirror_(mirror),
          out_(out),
          width_(job.width()),
          doublings_(job.doublings),
          least_(static_cast<T>(std::exp2(std::ldexp(std::log2(std::numeric_limits<T>::min()), -job.doublings)))),
          row_sums_(width_ * kBlockRows),
          lanes_(width_ * kLanes) {
        if (mirror) column_sums_.reset(v.stride * width_);
    }

    void strip(int strip, Index j) {
        const Index row = strip * kStripRows, column = j - walker_.first_row();
        if (kHalves && mirror_ && row >= kHalf && column < kHalf) return;  // the mirror image of what is beside it
        const Index i = walker_.first_row() + row;
        const bool mirrored = mirror_ && column >= (kHalves && row < kHalf ? kHalf : Index{kBlockRows});
        columns_ += kStripCols<T>;
        const T* v = v_.values.data();
        if (width_ != 1 || !walker_.multiply(strip, j, v + j, lanes_.data(), mirrored ? v + i : nullptr,
                                             mirrored ? column_sums_.data() + j : nullptr))
            through_memory(strip, i, j, mirrored);
        if (columns_ >= kFewSpill<T>) spill(strip);
    }
    void end_strip(int strip) { spill(strip); }
    void end_columns(Index c0, Index c1) {
        if (!mirror_) return;
        for (Index c = 0; c < width_; ++c) {
            T* sums = column_sums_.data() + c * v_.stride;
            for (Index j = c0; j < c1; ++j) {
                out_[j * width_ + c] += static_cast<double>(sums[j]);
                sums[j] = T{};
            }
        }
    }
    void finish() {
        const Index i0 = walker_.first_row();
        for (int strip = 0; strip < walker_.strips(); ++strip) {
            for (Index r = 0; r < walker_.rows_of(strip); ++r) {
                for (Index c = 0; c < width_; ++c) {
                    double& sum = row_sums_[c * kBlockRows + strip * kStripRows + r];
                    out_[(i0 + strip * kStripRows + r) * width_ + c] += sum;
                    sum = 0.0;
                }
            }
        }
    }

   private:
    static constexpr Index kLanes = kStripRows * kWidth<T>;
    // Where strips end in the middle of a block, a block on the diagonal is made but for a quarter.
    static constexpr Index kHalf = kBlockRows / 2;
    static constexpr bool kHalves = kHalf % kStripRows == 0 && kHalf % kStripCols<T> == 0;

    void through_memory(int strip, Index i, Index j, bool mirrored) {
        const auto made = walker_.open(strip, j);
        for (Index first = 0; first < width_; first += v_.t) {
            if (first > 0) raise(made.tile);
            Index c = 0;
            for (; c + 2 <= v_.t; c += 2)
                take<2>(made.tile, first + c == 0 ? made.link : Link::none, strip, first, c, i, j, mirrored);
            if (c < v_.t) take<1>(made.tile, first + c == 0 ? made.link : Link::none, strip, first, c, i, j, mirrored);
        }
    }
    // So many columns of V from the c-th on, for the rung whose sums begin at `first`.
    template <int Columns>
    void take(T* tile, Link link, int strip, Index first, Index c, Index i, Index j, bool mirrored) {
        const bool last = first + c + Columns == width_ && !mirrored;
        const T* v = v_.values.data() + c * v_.stride;
        const bool single = walker_.rows_of(strip) == 1;
        const auto along = (single ? kAlongOne<Columns> : kAlongRows<Columns>)[static_cast<int>(link)][last ? 0 : 1];
        along(tile, v + j, v_.stride, lanes_.data() + (first + c) * kLanes);
        if (mirrored)
            along_columns<T, Columns>(tile, v + i, v_.stride, column_sums_.data() + (first + c) * v_.stride + j,
                                      v_.stride);
    }
    // The tile to the power of the next rung. What would fall below the normal numbers is 0: without all its digits it
    // would count for little, and take long.
    void raise(T* tile) const {
        const V<T> least = fill<T>(least_);
        for (Index at = 0; at < kStripRows * kStripCols<T>; at += kWidth<T>) {
            V<T> k = load<T>(tile + at);
            k = select<T>(absolute<T>(k) < least, V<T>{}, k);
            for (int time = 0; time < doublings_; ++time) k = k * k;
            store<T>(tile + at, k);
        }
    }

    using AlongRows = void (*)(T*, const T*, Index, T*);
    template <int Columns>
    static constexpr AlongRows kAlongRows[3][2] = {
        {along_rows<T, Link::none, false, Columns>, along_rows<T, Link::none, true, Columns>},
        {along_rows<T, Link::near, false, Columns>, along_rows<T, Link::near, true, Columns>},
        {along_rows<T, Link::far, false, Columns>, along_rows<T, Link::far, true, Columns>},
    };
    template <int Columns>
    static constexpr AlongRows kAlongOne[3][2] = {
        {along_rows<T, Link::none, false, Columns, 1>, along_rows<T, Link::none, true, Columns, 1>},
        {along_rows<T, Link::near, false, Columns, 1>, along_rows<T, Link::near, true, Columns, 1>},
        {along_rows<T, Link::far, false, Columns, 1>, along_rows<T, Link::far, true, Columns, 1>},
    };
    void spill(int strip) {
        columns_ = 0;
        for (Index c = 0; c < width_; ++c) {
            for (int r = 0; r < kStripRows; ++r) {
                T* lanes = lanes_.data() + c * kLanes + r * kWidth<T>;
                row_sums_[c * kBlockRows + strip * kStripRows + r] += static_cast<double>(sum<T>(load<T>(lanes)));
                store<T>(lanes, V<T>{});
            }
        }
    }

    const Vectors<T>& v_;
    Walker<T>& walker_;
    bool mirror_;
    double* out_;
    Index width_;
    int doublings_;
    T least_;  // that a power of the next rung does not take below the normal numbers
    Buffer<double> row_sums_;
    Buffer<T> lanes_;
    Buffer<T> column_sums_;
    Index columns_ = 0;
};

template <class T>
class ManyDrink {
   public:
    ManyDrink(const Vectors<T>& v, const MatVec&, Walker<T>& walker, bool mirror, double* out)
        : v_(v),
          walker_(walker),
          mirror_(mirror),
          out_(out),
          row_sums_(v.stride * kBlockRows),
          lanes_(v.stride * kStripRows),
          column_lanes_(v.stride * kStripCols<T>) {}

    void strip(int strip, Index j) {
        const T* tile = walker_.fold(strip, j);
        const Index i = walker_.first_row() + strip * kStripRows;
        tile_times<T, kStripRows, kStripCols<T>, kStripCols<T>, 1>(tile, v_.values.data() + j * v_.stride, v_.stride,
                                                                   lanes_.data());
        if (mirror_ && j >= walker_.first_row() + kBlockRows) {
            tile_times<T, kStripCols<T>, kStripRows, 1, kStripCols<T>>(tile, v_.values.data() + i * v_.stride,
                                                                       v_.stride, column_lanes_.data());
            for (Index c = 0; c < std::min<Index>(kStripCols<T>, v_.n - j); ++c)
                add(column_lanes_.data() + c * v_.stride, out_ + (j + c) * v_.t);
        }
        columns_ += kStripCols<T>;
        if (columns_ >= kManySpill) spill(strip);
    }
    void end_strip(int strip) { spill(strip); }
    void end_columns(Index, Index) {}
    void finish() {
        const Index i0 = walker_.first_row();
        for (int strip = 0; strip < walker_.strips(); ++strip) {
            for (Index r = 0; r < walker_.rows_of(strip); ++r) {
                double* sums = row_sums_.data() + (strip * kStripRows + r) * v_.stride;
                for (Index c = 0; c < v_.t; ++c) {
                    out_[(i0 + strip * kStripRows + r) * v_.t + c] += sums[c];
                    sums[c] = 0.0;
                }
            }
        }
    }

   private:
    void add(T* lanes, double* to) const {
        for (Index c = 0; c < v_.t; ++c) {
            to[c] += static_cast<double>(lanes[c]);
            lanes[c] = T{};
        }
    }
    void spill(int strip) {
        columns_ = 0;
        for (int r = 0; r < kStripRows; ++r)
            add(lanes_.data() + r * v_.stride, row_sums_.data() + (strip * kStripRows + r) * v_.stride);
    }

    const Vectors<T>& v_;
    Walker<T>& walker_;
    bool mirror_;
    double* out_;
    Buffer<double> row_sums_;
    Buffer<T> lanes_;
    Buffer<T> column_lanes_;
    Index columns_ = 0;
};

// out = sum of the slots, in their order.
inline void add_slots(const std::vector<Buffer<double>>& slots, Index n, double* out) {
    std::fill_n(out, n, 0.0);
    for (const Buffer<double>& slot : slots) {
        for (Index i = 0; i < n; ++i) out[i] += slot[i];
    }
}

template <class T, class Drink>
void multiply(const Walk& walk, const MatVec& job, const Vectors<T>& v) {
    const Index n = walk.left.n;
    const Index m = walk.right.n;
    const Index blocks = blocks_of(n);
    const Index size = n * job.width();
    const auto block_rows = [&](Index block, Index j0, Index j1, Walker<T>& walker, Drink& drink) {
        sweep<T>(walker, walk, block * kBlockRows, std::min((block + 1) * kBlockRows, n), j0, j1, drink);
        drink.finish();
    };
    if (walk.symmetric) {
        // Two blocks a slot are alike in work; of a few, one each, the longest first, leave no thread waiting.
        const Index wanted = blocks <= kFewBlocks ? blocks : (blocks + 1) / 2;
        // Beyond some, they take no more memory than the points.
        const Index roomy = walk.packed.bytes() / std::max<Index>(size * static_cast<Index>(sizeof(double)), 1);
        if (const Index count = slots_for(std::min(wanted, std::max(roomy, kSomeSlots)), size, walk.budget);
            count > 0) {
            std::vector<Buffer<double>> slots(static_cast<std::size_t>(count));
            parallel(count, walk.watch, [&](Index slot) {
                Buffer<double>& mine = slots[static_cast<std::size_t>(slot)];
                mine.reset(size);
                Walker<T> walker(walk);
                if (job.hollow) walker.hollow_out();
                Drink drink(v, job, walker, true, mine.data());
                for (const Index block : blocks_of_slot(slot, count, blocks))
                    block_rows(block, block * kBlockRows, m, walker, drink);
            });
            add_slots(slots, size, job.out);
            return;
        }
    }
    // Few rows and many columns: the columns are cut too, into pieces whose number depends on sizes alone.
    const Index pieces = blocks >= 8 ? 1 : std::max<Index>(slots_for(m / 8192, size, walk.budget), 1);
    const Index width = round_up((m + pieces - 1) / pieces, kBlockRows);
    std::vector<Buffer<double>> slots(static_cast<std::size_t>(pieces));
    for (Buffer<double>& slot : slots) slot.reset(size);
    parallel(blocks * pieces, walk.watch, [&](Index task) {
        const Index piece = task / blocks;
        Walker<T> walker(walk);
        if (job.hollow) walker.hollow_out();
        Drink drink(v, job, walker, false, slots[static_cast<std::size_t>(piece)].data());
        block_rows(task % blocks, piece * width, std::min((piece + 1) * width, m), walker, drink);
    });
    add_slots(slots, size, job.out);
}

template <class T>
void run_matvec(const Walk& walk, const MatVec& job) {
    const bool many = job.t > kFew && job.rungs == 1;
    const Vectors<T> v(job.v, walk.right.n, static_cast<const PackedSide<T>&>(walk.packed).padded, job.t, many);
    if (many) multiply<T, ManyDrink<T>>(walk, job, v);
    else multiply<T, FewDrink<T>>(walk, job, v);
    for (Index i = 0; i < walk.left.n; ++i) {
        for (Index c = 0; c < job.width(); ++c) {
            if (!std::isfinite(job.out[i * job.width() + c])) refuse_not_finite<T>(walk, i);
        }
    }
}

}  // namespace mercer::MERCER_ISA
