// Packing: the right side once per fit, the left side one block of rows at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <vector>

#include "mercer/engine.hpp"
#include "mercer/micro.hpp"

namespace mercer::MERCER_ISA {

// Memory aligned to a register, zeroed.
template <class T>
class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(Index n) { reset(n); }
    Buffer(Buffer&& other) noexcept : data_(other.data_), n_(other.n_) {
        other.data_ = nullptr;
        other.n_ = 0;
    }
    Buffer& operator=(Buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(n_, other.n_);
        return *this;
    }
    ~Buffer() { ::operator delete(data_, std::align_val_t{64}); }

    void reset(Index n) {
        reset_raw(n);
        std::fill_n(data_, n, T{});
    }
    // For memory that is written before it is read.
    void reset_raw(Index n) {
        ::operator delete(data_, std::align_val_t{64});
        data_ = nullptr;
        n_ = 0;
        data_ = static_cast<T*>(::operator new(static_cast<std::size_t>(n) * sizeof(T), std::align_val_t{64}));
        n_ = n;
    }
    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](Index i) { return data_[i]; }
    const T& operator[](Index i) const { return data_[i]; }
    Index size() const { return n_; }

   private:
    T* data_ = nullptr;
    Index n_ = 0;
};

template <class T>
Index bytes_of(const Buffer<T>& buffer) {
    return buffer.size() * static_cast<Index>(sizeof(T));
}

inline Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }

inline constexpr double kLog2E = 1.4426950408889634;

// How a source's rows are shifted and scaled before packing, and the rounding error of a distance.
struct Frame {
    std::vector<double> mean;  // empty: not centred
    double half_norm = 0.0;    // |mean|^2 / 2
    double scale = 1.0;        // gaussian leaves carry their exponent in the data
    bool gaussian = false;
    double noise = 0.0;  // |error of a distance| <= noise * (|x|^2 + |z|^2), see noise_of
};

// Distances below kTrust * noise * (|x|^2 + |z|^2) are recomputed, so that their relative error stays near 1 / kTrust;
// gaussian values are recomputed where their absolute error could pass kGaussianError.
template <class T>
inline constexpr double kTrust = sizeof(T) == 4 ? 5e5 : 1e13;
template <class T>
inline constexpr double kGaussianError = sizeof(T) == 4 ? 8e-7 : 1e-14;

// With so few features a distance is a sum of squared differences of the rows as they are: that never cancels, and
// takes no longer than products do. In double, which holds every row exactly.
inline constexpr Index kFewFeatures = 4;

// What the leaves share: of a block of left rows,
template <class T>
struct LeftRows {
    Buffer<T> panels;  // dense: panels of kPanelRows rows; codes: their bits
    Buffer<T> norms;   // (kBlockRows)
    Buffer<T> shifts;
    T peaks[kBlockRows / kStripRows] = {};  // the largest |norm| of each strip
    double noise = 0.0;                     // of these rows; see Frame::noise
};
// and of the right side.
template <class T>
struct RightRows {
    Frame frame;
    Index d = 0;
    bool differences = false;  // dense: see kFewFeatures
    Buffer<T> panels;          // dense: panels of kPanelCols rows, feature by feature; codes: their bits
    Buffer<T> norms;           // |z|^2, or -|z|^2 / 2 of a gaussian leaf
    Buffer<T> shifts;          // <z, mean> - |mean|^2 / 2
    Buffer<T> peaks;           // the largest |norm| of each strip of columns

    Index bytes() const { return bytes_of(panels) + bytes_of(norms) + bytes_of(shifts) + bytes_of(peaks); }
};
// With what single kinds of leaves keep: leaves.hpp.
template <class T>
struct LeftLeaf;
template <class T>
struct PackedLeaf;

// Four standard deviations of the rounding of |x|^2 + |z|^2 - 2 <x, z> for x near z, in units of |x|^2 + |z|^2. The sum
// of d products walks from 0 to |x|^2 (a gaussian leaf's from -|x|^2/2 to |x|^2/2, which halves it); the constant is
// the rounding of the norms themselves.
template <class T>
double noise_of(Index d, bool gaussian) {
    return std::sqrt((gaussian ? 0.25 : 1.0) * static_cast<double>(d) + 1.5) * std::numeric_limits<T>::epsilon() / 2;
}

// Products that are read beside distances are put together again from the centred rows, with the rounding of |mean|^2.
// Beside rows that are shorter than this share of the mean, that would be more than the rounding of the product itself;
// and where some are, the mean is no offset that all rows have.
inline constexpr double kShortRow = 0.25;

inline bool has_short_rows(const Dense& rows, double mean_squared) {
    const double least = kShortRow * kShortRow * mean_squared;
    return rows.values.as_they_are([&](const auto* x) {
        for (Index i = 0; i < rows.n; ++i, x += rows.d) {
            double squared = 0.0;
            for (Index k = 0; k < rows.d; ++k) squared += static_cast<double>(x[k]) * static_cast<double>(x[k]);
            if (squared < least) return true;
        }
        return false;
    });
}

template <class T>
Frame frame_of(const Dense& rows, const LeafUse& use) {
    Frame frame;
    frame.noise = noise_of<T>(rows.d, use.gaussian);
    if (!use.centred) return frame;
    frame.mean.assign(static_cast<std::size_t>(rows.d), 0.0);
    rows.values.as_they_are([&](const auto* x) {
        for (Index i = 0; i < rows.n; ++i, x += rows.d) {
            for (Index k = 0; k < rows.d; ++k) frame.mean[static_cast<std::size_t>(k)] += static_cast<double>(x[k]);
        }
    });
    for (double& m : frame.mean) {
        m /= static_cast<double>(std::max<Index>(rows.n, 1));
        frame.half_norm += 0.5 * m * m;
    }
    if (!use.apart && has_short_rows(rows, 2.0 * frame.half_norm)) {
        frame.mean.clear();
        frame.half_norm = 0.0;
    }
    if (use.gaussian) {
        frame.gaussian = true;
        frame.scale = std::sqrt(-2.0 * use.scale * kLog2E);
    }
    return frame;
}

template <class T>
struct RowConstants {
    T norm;
    T shift;
};

// kRows rows from x on, `d` apart, side by side into `out`, where features are kPanel apart; returns their constants.
// The sums of one row wait for each other, and those of several rows do not. Norms are those of the rounded numbers,
// read back: in the loop that rounds them gcc 12 would take the numbers as they were.
template <class T, int kPanel, int kRows, class X>
std::array<RowConstants<T>, kRows> pack_rows(const X* x, Index d, const Frame& frame, T* out) {
    double norm[kRows] = {}, shift[kRows] = {};
    if (frame.mean.empty()) {
        for (Index k = 0; k < d; ++k) {
            MERCER_UNROLL
            for (int r = 0; r < kRows; ++r) out[k * kPanel + r] = static_cast<T>(x[r * d + k]);
        }
    } else {
        const double* mean = frame.mean.data();
        for (Index k = 0; k < d; ++k) {
            MERCER_UNROLL
            for (int r = 0; r < kRows; ++r) {
                const double value = static_cast<double>(x[r * d + k]);
                shift[r] += value * mean[k];
                out[k * kPanel + r] = static_cast<T>((value - mean[k]) * frame.scale);
            }
        }
    }
    for (Index k = 0; k < d; ++k) {
        MERCER_UNROLL
        for (int r = 0; r < kRows; ++r) {
            const double rounded = static_cast<double>(out[k * kPanel + r]);
            norm[r] += rounded * rounded;
        }
    }
    std::array<RowConstants<T>, kRows> made;
    for (int r = 0; r < kRows; ++r) {
        const auto at = static_cast<std::size_t>(r);
        made[at] = {static_cast<T>(frame.gaussian ? -0.5 * norm[r] : norm[r]),
                    static_cast<T>(shift[r] - frame.half_norm)};
    }
    return made;
}

// Rows [i0, i1) into panels of kPanel rows, feature by feature, and their constants; no shifts where there is no
// memory.
template <class T, int kPanel>
void pack_dense(const Dense& rows, Index i0, Index i1, const Frame& frame, T* panels, T* norms, T* shifts) {
    constexpr int kTogether = kPanel % 4 == 0 ? 4 : 3;
    static_assert(kPanel % kTogether == 0);
    rows.values.as_they_are([&](const auto* x) {
        const auto pack = [&]<int kRows>(Index at) {
            T* out = panels + at / kPanel * kPanel * rows.d + at % kPanel;
            const auto made = pack_rows<T, kPanel, kRows>(x + (i0 + at) * rows.d, rows.d, frame, out);
            for (const RowConstants<T>& row : made) {
                norms[at] = row.norm;
                if (shifts != nullptr) shifts[at] = row.shift;
                ++at;
            }
        };
        Index at = 0;
        for (; at + kTogether <= i1 - i0; at += kTogether) pack.template operator()<kTogether>(at);
        for (; at < i1 - i0; ++at) pack.template operator()<1>(at);
    });
}

}  // namespace mercer::MERCER_ISA
