// A Cholesky factor in 16 bits, for a preconditioner: one instruction multiplies twice as many numbers of 16 bits as
// one of floats, and their sums in 32 bits are exact.
//
// The matrix is scaled to a diagonal of 1. The rows of its factor L then have length 1: no number of L, and no sum of
// products of two rows, exceeds 1, so that numbers are whole multiples of 2^-15 and their sums fit into 32 bits. Column
// blocks are made from left to right,
//
//     C = A_IJ - sum_(K < J) L_IK L_JK',    L_JJ L_JJ' = C_JJ,    L_IJ = C L_JJ^-T,                        (1)
//
// so that what rounding L_IJ loses is seen by every later column: L L' differs from A by the last rounding alone.
#pragma once

#include <atomic>
#include <cmath>

#include "mercer/engine.hpp"
#include "mercer/numbers.hpp"
#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

// Rows and columns of a block, columns that are multiplied in one stretch, and rows of a panel in registers.
inline constexpr Index kCoarseBlock = 128;
inline constexpr Index kCoarseDepth = 256;
inline constexpr int kCoarseRows = kBytes == 64 ? 8 : 4;
// Blocks that one step of a solve takes together.
inline constexpr Index kSolvedBlocks = 8;
inline constexpr float kOne = 32768.0F;

// sums (rows of `stride`) += products of kCoarseRows rows, in lanes of the panel a, with the rows of two panels.
inline void coarse_panel(const Number* a, const Number* b0, const Number* b1, Index pairs, Number* sums, Index stride) {
    constexpr int width = kWidth<float>;
    VI<float> sum[kCoarseRows][2];
    MERCER_UNROLL
    for (int r = 0; r < kCoarseRows; ++r) {
        sum[r][0] = load_numbers(sums + r * stride);
        sum[r][1] = load_numbers(sums + r * stride + width);
    }
    for (Index p = 0; p < pairs; ++p, a += width, b0 += width, b1 += width) {
        const VI<float> z0 = load_numbers(b0), z1 = load_numbers(b1);
        MERCER_UNROLL
        for (int r = 0; r < kCoarseRows; ++r) {
            const VI<float> x = a[r] + VI<float>{};
            sum[r][0] = add_products(sum[r][0], x, z0);
            sum[r][1] = add_products(sum[r][1], x, z1);
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kCoarseRows; ++r) {
        store_numbers(sums + r * stride, sum[r][0]);
        store_numbers(sums + r * stride + width, sum[r][1]);
    }
}
#if defined(__AVX512BW__)
// The same with the instruction that multiplies and adds in one.
__attribute__((target("avx512vnni"))) inline void coarse_panel_vnni(const Number* a, const Number* b0, const Number* b1,
                                                                    Index pairs, Number* sums, Index stride) {
    __m512i sum[kCoarseRows][2];
    MERCER_UNROLL
    for (int r = 0; r < kCoarseRows; ++r) {
        sum[r][0] = _mm512_loadu_si512(sums + r * stride);
        sum[r][1] = _mm512_loadu_si512(sums + r * stride + 16);
    }
    for (Index p = 0; p < pairs; ++p, a += 16, b0 += 16, b1 += 16) {
        const __m512i z0 = _mm512_loadu_si512(b0), z1 = _mm512_loadu_si512(b1);
        MERCER_UNROLL
        for (int r = 0; r < kCoarseRows; ++r) {
            const __m512i x = _mm512_set1_epi32(a[r]);
            sum[r][0] = _mm512_dpwssd_epi32(sum[r][0], x, z0);
            sum[r][1] = _mm512_dpwssd_epi32(sum[r][1], x, z1);
        }
    }
    MERCER_UNROLL
    for (int r = 0; r < kCoarseRows; ++r) {
        _mm512_storeu_si512(sums + r * stride, sum[r][0]);
        _mm512_storeu_si512(sums + r * stride + 16, sum[r][1]);
    }
}
#endif
using CoarsePanel = void (*)(const Number*, const Number*, const Number*, Index, Number*, Index);
inline CoarsePanel choose_coarse_panel() {
#if defined(__AVX512BW__)
    if (__builtin_cpu_supports("avx512vnni")) return coarse_panel_vnni;
#endif
    return coarse_panel;
}

class CoarseFactor final : public Coarse {
   public:
    explicit CoarseFactor(const Coarsened& job)
        : job_(job), n_(job.n), blocks_((job.n + kCoarseBlock - 1) / kCoarseBlock), scale_(blocks_ * kCoarseBlock) {
        for (Index i = 0; i < n_; ++i) scale_[i] = static_cast<float>(1.0 / std::sqrt(job.diagonal[i]));
        numbers_.reset_raw(offset(blocks_));
        corners_.reset(blocks_ * kCoarseBlock * kCoarseBlock);
    }
    Index n() const override { return n_; }

    double share() const override {
        const double x = static_cast<double>(done_) / static_cast<double>(std::max<Index>(blocks_, 1));
        return done_ == blocks_ ? 1.0 : x * x * (3.0 - 2.0 * x);
    }

    // Column J is done when L_JJ and all below it are; L_JJ of the next is made meanwhile.
    bool advance(Index columns, Watch& watch) override {
        if (done_ == 0 && blocks_ > 0) corner(0);
        const Index last = std::min(blocks_, done_ + (columns + kCoarseBlock - 1) / kCoarseBlock);
        for (; done_ < last && !broken_; ++done_) {
            watch.look();
            parallel(blocks_ - done_ - 1, watch, [&](Index task) {
                const Index row = done_ + 1 + task;
                below(row, done_);
                if (task == 0) corner(row);
            });
        }
        return !broken_;
    }

    void solve(const double* right, double* out, Watch& watch) const override {
        Buffer<float> x(blocks_ * kCoarseBlock);
        for (Index i = 0; i < n_; ++i) x[i] = static_cast<float>(right[i]) * scale_[i];
        for (Index first = 0; first < blocks_; first += kSolvedBlocks) {
            const Index last = std::min(first + kSolvedBlocks, blocks_);
            watch.look();
            parallel(last - first, watch, [&](Index task) { subtract_rows(first + task, 0, first, x.data()); });
            for (Index block = first; block < last; ++block) {
                subtract_rows(block, first, block, x.data());
                forward(block, x.data());
            }
        }
        for (Index last = blocks_; last > 0;) {
            const Index first = std::max<Index>(last - kSolvedBlocks, 0);
            watch.look();
            for (Index block = last - 1; block >= first; --block) {
                backward(block, x.data());
                for (Index to = first; to < block; ++to) subtract_columns(block, block + 1, to, x.data());
            }
            parallel(first, watch, [&](Index to) { subtract_columns(first, last, to, x.data()); });
            last = first;
        }
        for (Index i = 0; i < n_; ++i) out[i] = static_cast<double>(x[i] * scale_[i]);
    }

   private:
    static constexpr int kLanes = kWidth<float>;
    static constexpr Index kPanels = kCoarseBlock / kLanes;

    // Where the numbers of a block of rows begin: panels of kLanes rows, each with all pairs up to its diagonal block.
    static Index offset(Index block) { return kCoarseBlock * kCoarseBlock / 2 * (block * (block + 1) / 2); }
    static Index panel_offset(Index block, Index at) {
        return offset(block) + at * (block + 1) * (kCoarseBlock / 2) * kLanes;
    }
    const Number* panel(Index block, Index at) const { return numbers_.data() + panel_offset(block, at); }
    const float* corner_of(Index block) const { return corners_.data() + block * kCoarseBlock * kCoarseBlock; }

    // C of (1), as the rows of its transpose.
    void remainder(Index row, Index column, float* C) const {
        alignas(64) thread_local Number sums[kCoarseBlock * kCoarseBlock];
        std::fill_n(sums, kCoarseBlock * kCoarseBlock, Number{0});
        const Index pairs = column * kCoarseBlock / 2;
        for (Index p0 = 0; p0 < pairs; p0 += kCoarseDepth / 2) {
            const Index depth = std::min(kCoarseDepth / 2, pairs - p0);
            for (Index at = 0; at < kPanels; at += 2) {
                const Number* b0 = panel(row, at) + p0 * kLanes;
                const Number* b1 = panel(row, at + 1) + p0 * kLanes;
                for (Index j = 0; j < kCoarseBlock; j += kCoarseRows)
                    products_(panel(column, j / kLanes) + p0 * kLanes + j % kLanes, b0, b1, depth,
                              sums + j * kCoarseBlock + at * kLanes, kCoarseBlock);
            }
        }
        const Index i0 = row * kCoarseBlock, j0 = column * kCoarseBlock;
        const Index rows = std::min(kCoarseBlock, n_ - i0), columns = std::min(kCoarseBlock, n_ - j0);
        const auto low = static_cast<float>(job_.code.low), step = static_cast<float>(job_.code.step);
        constexpr float kUnit = 1.0F / (kOne * kOne);
        for (Index j = 0; j < kCoarseBlock; ++j) {
            float* to = C + j * kCoarseBlock;
            const Number* sum = sums + j * kCoarseBlock;
            for (Index i = 0; i < kCoarseBlock; ++i) to[i] = -kUnit * static_cast<float>(sum[i]);
            if (j >= columns) continue;
            const float left = scale_[j0 + j] * job_.weights[j0 + j];
            const std::uint16_t* code = job_.codes + (j0 + j) * n_ + i0;
            for (Index i = 0; i < rows; ++i)
                to[i] += left * (scale_[i0 + i] * job_.weights[i0 + i]) * (low + step * static_cast<float>(code[i]));
            if (row == column) to[j] = 1.0F - kUnit * static_cast<float>(sum[j]);  // whatever the codes say
        }
    }

    // The numbers of L_JJ, and its inverse in corner_of(block).
    void corner(Index block) {
        alignas(64) thread_local float C[kCoarseBlock * kCoarseBlock];
        remainder(block, block, C);
        for (Index j = n_ - block * kCoarseBlock; j < kCoarseBlock; ++j) C[j * kCoarseBlock + j] = 1.0F;
        for (Index k = 0; k < kCoarseBlock; ++k) {  // the upper triangle of C becomes L_JJ'
            float* pivot = C + k * kCoarseBlock;
            if (!(pivot[k] > job_.smallest)) {
                broken_ = true;
                return;
            }
            const float by = 1.0F / std::sqrt(pivot[k]);
            for (Index i = k; i < kCoarseBlock; ++i) pivot[i] *= by;
            for (Index j = k + 1; j < kCoarseBlock; ++j) {
                const float x = pivot[j];
                float* to = C + j * kCoarseBlock;
                for (Index i = j; i < kCoarseBlock; ++i) to[i] -= x * pivot[i];
            }
            std::fill_n(pivot, k, 0.0F);
        }
        keep(block, block, C);
        float* inverse = corners_.data() + block * kCoarseBlock * kCoarseBlock;
        for (Index k = kCoarseBlock - 1; k >= 0; --k) {
            const float* from = C + k * kCoarseBlock;
            float* to = inverse + k * kCoarseBlock;
            to[k] = 1.0F;
            for (Index m = k + 1; m < kCoarseBlock; ++m) {
                const float* other = inverse + m * kCoarseBlock;
                const float x = from[m];
                for (Index j = m; j < kCoarseBlock; ++j) to[j] -= x * other[j];
            }
            const float by = 1.0F / from[k];
            for (Index j = k; j < kCoarseBlock; ++j) to[j] *= by;
        }
    }

    // L_IJ, I below J. The last columns come first: they ask for all of C, the first for little.
    void below(Index row, Index column) {
        alignas(64) thread_local float C[kCoarseBlock * kCoarseBlock];
        remainder(row, column, C);
        const float* inverse = corner_of(column);
        for (Index at = 0; at < kCoarseBlock; at += 2 * kLanes) {
            for (Index j = kCoarseBlock - kCoarseRows; j >= 0; j -= kCoarseRows) {
                V<float> sum[kCoarseRows][2] = {};
                for (Index k = 0; k < j + kCoarseRows; ++k) {
                    const V<float> c0 = load<float>(C + k * kCoarseBlock + at);
                    const V<float> c1 = load<float>(C + k * kCoarseBlock + at + kLanes);
                    MERCER_UNROLL
                    for (int r = 0; r < kCoarseRows; ++r) {
                        const V<float> x = fill<float>(inverse[k * kCoarseBlock + j + r]);
                        sum[r][0] = fma<float>(x, c0, sum[r][0]);
                        sum[r][1] = fma<float>(x, c1, sum[r][1]);
                    }
                }
                MERCER_UNROLL
                for (int r = 0; r < kCoarseRows; ++r) {
                    store<float>(C + (j + r) * kCoarseBlock + at, sum[r][0]);
                    store<float>(C + (j + r) * kCoarseBlock + at + kLanes, sum[r][1]);
                }
            }
        }
        keep(row, column, C);
    }

    // The transpose of a block of L, in its numbers.
    void keep(Index row, Index column, const float* C) {
        for (Index at = 0; at < kPanels; ++at) {
            Number* to = numbers_.data() + panel_offset(row, at) + column * (kCoarseBlock / 2) * kLanes;
            for (Index j = 0; j < kCoarseBlock; j += 2, to += kLanes) {
                const float* first = C + j * kCoarseBlock + at * kLanes;
                const float* second = first + kCoarseBlock;
                for (int lane = 0; lane < kLanes; ++lane)
                    to[lane] = pair_of(rounded(first[lane]), rounded(second[lane]));
            }
        }
    }
    static int rounded(float x) {
        const float y = std::min(std::max(x * kOne, -32767.0F), 32767.0F);
        return static_cast<int>(y + (y < 0.0F ? -0.5F : 0.5F));
    }

    // x of a block of rows, minus L times x of the blocks from first to last.
    void subtract_rows(Index block, Index first, Index last, float* x) const {
        const Index pairs = (last - first) * kCoarseBlock / 2;
        const float* from = x + first * kCoarseBlock;
        for (Index at = 0; at < kPanels; ++at) {
            const Number* a = panel(block, at) + first * (kCoarseBlock / 2) * kLanes;
            V<float> even{}, odd{};
            for (Index p = 0; p < pairs; ++p, a += kLanes) {
                const VI<float> both = load_numbers(a);
                even = fma<float>(first_of(both), fill<float>(from[2 * p]), even);
                odd = fma<float>(second_of(both), fill<float>(from[2 * p + 1]), odd);
            }
            float* to = x + block * kCoarseBlock + at * kLanes;
            store<float>(to, fma<float>(even + odd, fill<float>(-1.0F / kOne), load<float>(to)));
        }
    }
    // x of the block `to` minus L' times x of the blocks from first to last, which lie below it.
    void subtract_columns(Index first, Index last, Index to, float* x) const {
        constexpr int kAtOnce = 4;
        for (Index p = 0; p < kCoarseBlock / 2; p += kAtOnce) {
            V<float> even[kAtOnce] = {}, odd[kAtOnce] = {};
            for (Index block = first; block < last; ++block) {
                for (Index at = 0; at < kPanels; ++at) {
                    const Number* a = panel(block, at) + (to * (kCoarseBlock / 2) + p) * kLanes;
                    const V<float> by = load<float>(x + block * kCoarseBlock + at * kLanes);
                    MERCER_UNROLL
                    for (int q = 0; q < kAtOnce; ++q) {
                        const VI<float> both = load_numbers(a + q * kLanes);
                        even[q] = fma<float>(first_of(both), by, even[q]);
                        odd[q] = fma<float>(second_of(both), by, odd[q]);
                    }
                }
            }
            float* at = x + to * kCoarseBlock + 2 * p;
            for (int q = 0; q < kAtOnce; ++q) {
                at[2 * q] -= sum<float>(even[q]) / kOne;
                at[2 * q + 1] -= sum<float>(odd[q]) / kOne;
            }
        }
    }
    // x of a block times L_JJ^-1, and times its transpose.
    void forward(Index block, float* x) const {
        float out[kCoarseBlock] = {};
        float* at = x + block * kCoarseBlock;
        for (Index k = 0; k < kCoarseBlock; ++k) {
            const float* inverse = corner_of(block) + k * kCoarseBlock;
            for (Index j = k; j < kCoarseBlock; ++j) out[j] += inverse[j] * at[k];
        }
        std::copy_n(out, kCoarseBlock, at);
    }
    void backward(Index block, float* x) const {
        float* at = x + block * kCoarseBlock;
        for (Index k = 0; k < kCoarseBlock; ++k) {
            const float* inverse = corner_of(block) + k * kCoarseBlock;
            V<float> dots{};
            for (Index j = 0; j < kCoarseBlock; j += kLanes)
                dots = fma<float>(load<float>(inverse + j), load<float>(at + j), dots);  // zeros below k
            at[k] = sum<float>(dots);
        }
    }

    Coarsened job_;
    Index n_, blocks_;
    Index done_ = 0;  // columns of blocks
    CoarsePanel products_ = choose_coarse_panel();
    std::atomic<bool> broken_{false};
    Buffer<Number> numbers_;
    Buffer<float> corners_;  // (blocks, kCoarseBlock, kCoarseBlock): the transpose of L_JJ^-1, row by row
    Buffer<float> scale_;
};

inline std::unique_ptr<Coarse> make_coarse(const Coarsened& job) { return std::make_unique<CoarseFactor>(job); }

}  // namespace mercer::MERCER_ISA
