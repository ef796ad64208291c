// The sequential part of the support vector machines: second-order steps of two variables inside a block, and the
// passes over a gradient. Everything is vectorised, and every sum has a fixed order.
#pragma once

#include <algorithm>
#include <limits>

#include "mercer/block.hpp"
#include "mercer/lanes.hpp"

namespace mercer::MERCER_ISA {

// kWidth<double> numbers of either precision as doubles, and back.
template <class T>
struct Half {
    typedef T type __attribute__((vector_size(kWidth<double> * sizeof(T))));
};
template <class T>
MERCER_INLINE V<double> load_wide(const T* p) {
    typename Half<T>::type v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, V<double>);
}
template <class T>
MERCER_INLINE void store_narrow(T* p, V<double> x) {
    const auto v = __builtin_convertvector(x, typename Half<T>::type);
    std::memcpy(p, &v, sizeof v);
}

template <class T>
MERCER_INLINE V<T> counting() {
    V<T> v;
    for (int i = 0; i < kWidth<T>; ++i) v[i] = static_cast<T>(i);
    return v;
}

struct Place {
    double value;
    Index at;
};

// The largest of the lanes and its place; ties go to the lowest place.
template <class T>
MERCER_INLINE Place largest(V<T> values, V<T> places) {
    Place best{static_cast<double>(values[0]), static_cast<Index>(places[0])};
    for (int lane = 1; lane < kWidth<T>; ++lane) {
        const Place other{static_cast<double>(values[lane]), static_cast<Index>(places[lane])};
        if (other.value > best.value || (other.value == best.value && other.at < best.at)) best = other;
    }
    return best;
}

struct Pass {
    Place up;    // minus the least slope upwards
    Place down;  // the largest slope downwards
};

// g += t (K_i - K_j) over [c0, c1), and the extreme slopes there.
template <class T>
Pass update(const Block<T>& block, Index c0, Index c1, const T* row_i, const T* row_j, double t) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    const V<double> step = fill<double>(t);
    V<double> up = fill<double>(kNone), down = fill<double>(kNone);
    V<double> up_at{}, down_at{};
    V<double> at = counting<double>() + static_cast<double>(c0);
    for (Index c = c0; c < c1; c += kWidth<double>) {
        const V<double> change = load_wide<T>(row_i + c) - load_wide<T>(row_j + c);
        const V<double> g = fma<double>(step, change, load<double>(block.g + c));
        store<double>(block.g + c, g);
        const V<double> rising = -(g + load<double>(block.up + c));
        const V<double> falling = g + load<double>(block.down + c);
        store_narrow<T>(block.slope + c, falling);
        const VI<double> is_up = rising > up;
        const VI<double> is_down = falling > down;
        up = select<double>(is_up, rising, up);
        up_at = select<double>(is_up, at, up_at);
        down = select<double>(is_down, falling, down);
        down_at = select<double>(is_down, at, down_at);
        at += static_cast<double>(kWidth<double>);
    }
    return {largest<double>(up, up_at), largest<double>(down, down_at)};
}

// Curvature below this share of the diagonal is rounding.
template <class T>
inline constexpr double kFlat = sizeof(T) == 4 ? 1e-7 : 1e-13;

// The variable whose decrease together with the increase of i gains most: (slope difference)^2 / curvature.
template <class T>
Place partner(const Block<T>& block, Index c0, Index c1, Index i, double least) {
    const T* row = block.K + i * block.size;
    const T own = block.diagonal[i];
    const V<T> level = fill<T>(static_cast<T>(least));
    const V<T> curvature = fill<T>(own);
    const V<T> flat = fill<T>(static_cast<T>(kFlat<T>) * std::max(own, std::numeric_limits<T>::min()));
    V<T> best = fill<T>(T{-1}), best_at{};
    V<T> at = counting<T>() + static_cast<T>(c0);
    for (Index c = c0; c < c1; c += kWidth<T>) {
        const V<T> slack = load<T>(block.slope + c) - level;
        const V<T> k = load<T>(row + c);
        const V<T> eta = maximum<T>(curvature + load<T>(block.diagonal + c) - (k + k), flat);
        const V<T> gain = select<T>(slack > V<T>{}, slack * slack / eta, fill<T>(T{-1}));
        const VI<T> better = gain > best;
        best = select<T>(better, gain, best);
        best_at = select<T>(better, at, best_at);
        at += static_cast<T>(kWidth<T>);
    }
    return largest<T>(best, best_at);
}

// How far b may move before it meets a bound or the kink at 0.
inline double room_up(double b, double high, double width) {
    return width > 0.0 && b < 0.0 ? std::min(high, 0.0) - b : high - b;
}
inline double room_down(double b, double low, double width) {
    return width > 0.0 && b > 0.0 ? b - std::max(low, 0.0) : b - low;
}

template <class T>
Index solve_block(Block<T>& block) {
    const Index size = block.size;
    const bool two = block.split < size;
    Index i = 0, j = 0;
    double t = 0.0;
    for (Index steps = 0;; ++steps) {
        const T* row_i = block.K + i * size;
        const T* row_j = block.K + j * size;
        Pass chosen = update<T>(block, 0, block.split, row_i, row_j, t);
        Place with = partner<T>(block, 0, block.split, chosen.up.at, -chosen.up.value);
        double violation = chosen.down.value + chosen.up.value;
        if (two) {
            const Pass other = update<T>(block, block.split, size, row_i, row_j, t);
            const Place other_with = partner<T>(block, block.split, size, other.up.at, -other.up.value);
            const double other_violation = other.down.value + other.up.value;
            if (other_with.value > with.value || (other_with.value == with.value && other_violation > violation)) {
                chosen = other;
                with = other_with;
            }
            violation = std::max(violation, other_violation);
        }
        block.violation = violation;
        if (!(violation > block.tol) || steps == block.max_steps) return steps;
        i = chosen.up.at;
        j = with.value > 0.0 ? with.at : chosen.down.at;
        double slack = block.g[j] + block.down[j] + chosen.up.value;
        if (!(slack > 0.0)) {  // the second pass rounds
            j = chosen.down.at;
            slack = chosen.down.value + chosen.up.value;
        }
        if (!(slack > 0.0)) return steps;
        const double k_ii = static_cast<double>(block.diagonal[i]), k_jj = static_cast<double>(block.diagonal[j]);
        const double eta = std::max(k_ii + k_jj - 2.0 * static_cast<double>(block.K[i * size + j]),
                                    std::max(kFlat<T> * k_ii, std::numeric_limits<double>::min()));
        const double up = room_up(block.b[i], block.high[i], block.width);
        const double down = room_down(block.b[j], block.low[j], block.width);
        t = std::min(slack / eta, std::min(up, down));
        const bool kink = block.width > 0.0;
        block.b[i] =
            t < up ? block.b[i] + t : (kink && block.b[i] < 0.0 ? std::min(block.high[i], 0.0) : block.high[i]);
        block.b[j] =
            t < down ? block.b[j] - t : (kink && block.b[j] > 0.0 ? std::max(block.low[j], 0.0) : block.low[j]);
        block.up[i] = slope_up(block.b[i], block.high[i], block.width);
        block.down[i] = slope_down(block.b[i], block.low[i], block.width);
        block.up[j] = slope_up(block.b[j], block.high[j], block.width);
        block.down[j] = slope_down(block.b[j], block.low[j], block.width);
    }
}

// g[c] += sum over rows of delta * row[c], for c in [c0, c1): the rows in their order.
template <class T>
void add_rows(const T* const* rows, const double* delta, Index count, Index c0, Index c1, double* g) {
    constexpr Index kChunk = 1024;  // doubles that stay in L1
    for (Index from = c0; from < c1; from += kChunk) {
        const Index to = std::min(from + kChunk, c1);
        Index r = 0;
        for (; r + 4 <= count; r += 4) {
            const T *a = rows[r], *b = rows[r + 1], *c = rows[r + 2], *d = rows[r + 3];
            const V<double> da = fill<double>(delta[r]), db = fill<double>(delta[r + 1]);
            const V<double> dc = fill<double>(delta[r + 2]), dd = fill<double>(delta[r + 3]);
            Index at = from;
            for (; at + kWidth<double> <= to; at += kWidth<double>) {
                V<double> sum = fma<double>(da, load_wide<T>(a + at), load<double>(g + at));
                sum = fma<double>(db, load_wide<T>(b + at), sum);
                sum = fma<double>(dc, load_wide<T>(c + at), sum);
                store<double>(g + at, fma<double>(dd, load_wide<T>(d + at), sum));
            }
            for (; at < to; ++at)
                g[at] += delta[r] * static_cast<double>(a[at]) + delta[r + 1] * static_cast<double>(b[at]) +
                         delta[r + 2] * static_cast<double>(c[at]) + delta[r + 3] * static_cast<double>(d[at]);
        }
        for (; r < count; ++r) {
            for (Index at = from; at < to; ++at) g[at] += delta[r] * static_cast<double>(rows[r][at]);
        }
    }
}

// The extreme slopes of many variables, g + up and g + down.
inline Extremes extremes(const double* g, const double* up, const double* down, Index n) {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    V<double> least = fill<double>(kInfinity), most = fill<double>(-kInfinity);
    Index at = 0;
    for (; at + kWidth<double> <= n; at += kWidth<double>) {
        const V<double> slope = load<double>(g + at);
        least = minimum<double>(slope + load<double>(up + at), least);
        most = maximum<double>(slope + load<double>(down + at), most);
    }
    Extremes found{kInfinity, -kInfinity};
    for (int lane = 0; lane < kWidth<double>; ++lane) {
        found.least = std::min(found.least, static_cast<double>(least[lane]));
        found.most = std::max(found.most, static_cast<double>(most[lane]));
    }
    for (; at < n; ++at) {
        found.least = std::min(found.least, g[at] + up[at]);
        found.most = std::max(found.most, g[at] + down[at]);
    }
    return found;
}

}  // namespace mercer::MERCER_ISA
