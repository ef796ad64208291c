// Series side by side, one in each lane of a few registers: what programs of pairs of series walk along.
#pragma once

#include <array>

#include "mercer/leaf.hpp"

namespace mercer::MERCER_ISA {

inline constexpr int kRegisters = 2;  // that one may wait for the other
inline constexpr Index kAbreast = kRegisters * kWidth<double>;

// Shorter series stay at their last point; lanes without a series are empty, and stay at 0.
class Abreast {
   public:
    // The series which(0), …, which(count - 1) of a side.
    template <class Which>
    void take(const Parts& from, Index count, Which which) {
        d = from.d;
        most = 0;
        lengths.fill(0);
        for (Index c = 0; c < count; ++c) {
            lengths[static_cast<std::size_t>(c)] = from.count(which(c));
            most = std::max(most, from.count(which(c)));
        }
        const Index size = most * d * kAbreast;
        if (points_.size() < size) points_.reset_raw(size);
        std::fill_n(points_.data(), size, 0.0);
        for (Index c = 0; c < count; ++c) {
            const Index length = lengths[static_cast<std::size_t>(c)], first = from.offsets[which(c)];
            for (Index a = 0; a < (length > 0 ? most : 0); ++a) {
                const Index row = (first + std::min(a, length - 1)) * d;
                for (Index k = 0; k < d; ++k) points_[(a * d + k) * kAbreast + c] = from.values.at<double>(row + k);
            }
        }
    }
    // (d, kAbreast)
    const double* point(Index a) const { return points_.data() + a * d * kAbreast; }
    Index length(Index c) const { return lengths[static_cast<std::size_t>(c)]; }

    Index d = 0;
    Index most = 0;
    std::array<Index, static_cast<std::size_t>(kAbreast)> lengths{};

   private:
    Buffer<double> points_;
};

// ‖x − z‖² of two points in each lane of one register.
MERCER_INLINE V<double> square_between(const double* x, const double* z, Index d) {
    V<double> sum{};
    for (Index k = 0; k < d; ++k) {
        const V<double> apart = load<double>(x + k * kAbreast) - load<double>(z + k * kAbreast);
        sum = fma<double>(apart, apart, sum);
    }
    return sum;
}

// The factor of ‖x − z‖² in the exponent, to the base 2, of a gaussian of a length.
inline double exponent_factor(double length_scale) { return -0.5 * kLog2E / (length_scale * length_scale); }

}  // namespace mercer::MERCER_ISA
