// The sequential part of the support vector machines: second-order steps of two variables inside a block, and the
// passes over a gradient. Everything is vectorised, and every sum has a fixed order.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mercer/block.hpp"
#include "mercer/lanes.hpp"

namespace mercer::MERCER_ISA {

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

// The largest so far in each lane and its place.
template <class G>
struct Largest {
    V<G> value;
    V<G> at;

    MERCER_INLINE void take(V<G> other, V<G> place) {
        const VI<G> is_larger = other > value;
        value = select<G>(is_larger, other, value);
        at = select<G>(is_larger, place, at);
    }
};

// The largest of some lanes and its place; ties go to the lowest place.
template <class G, int kSets>
MERCER_INLINE Place largest(const Largest<G> (&sets)[kSets]) {
    V<G> top = sets[0].value;
    for (const Largest<G>& set : sets) top = maximum<G>(set.value, top);
    top = largest_lane<G>(top);
    V<G> first = fill<G>(std::numeric_limits<G>::max());
    for (const Largest<G>& set : sets) first = minimum<G>(select<G>(set.value == top, set.at, first), first);
    first = least_lane<G>(first);
    return {static_cast<double>(top[0]), static_cast<Index>(first[0])};
}

// Sets of lanes that a pass keeps apart, so that one need not wait for the other.
template <class G>
inline constexpr int kSets = kBlockPad / kWidth<G> > 1 ? 2 : 1;

// A block while it is solved: the gradient without width, and what is to be added to it for the slopes, in G.
template <class T, class G>
struct Work {
    explicit Work(const Block<T>& block)
        : size(block.size),
          K(block.K),
          diagonal(block.diagonal),
          g(block.g, block.g + size),
          up(block.up, block.up + size),
          down(block.down, block.down + size) {}

    Index size;
    const T* K;
    const T* diagonal;
    std::vector<G> g;
    std::vector<G> up;
    std::vector<G> down;
};

struct Pass {
    Place up;     // minus the least slope upwards
    double down;  // the largest slope downwards
};

// g += t (K_i - K_j) over [c0, c1), and the extreme slopes there.
template <class T, class G>
Pass update(Work<T, G>& work, Index c0, Index c1, const T* row_i, const T* row_j, double t) {
    constexpr G kNone = -std::numeric_limits<G>::infinity();
    constexpr int kStep = kWidth<G>;
    G* const g = work.g.data();
    const G* const up = work.up.data();
    const G* const down = work.down.data();
    const V<G> step = fill<G>(static_cast<G>(t));
    Largest<G> rising[kSets<G>];
    V<G> falling[kSets<G>];
    for (int set = 0; set < kSets<G>; ++set) {
        falling[set] = fill<G>(kNone);
        rising[set] = {falling[set], V<G>{}};
    }
    V<G> places = counting<G>() + static_cast<G>(c0);
    for (Index c = c0; c < c1; c += kStep * kSets<G>) {
        MERCER_UNROLL
        for (int set = 0; set < kSets<G>; ++set) {
            const Index at = c + set * kStep;
            const V<G> change = load_as<G>(row_i + at) - load_as<G>(row_j + at);
            const V<G> now = fma<G>(step, change, load<G>(g + at));
            store<G>(g + at, now);
            rising[set].take(-(now + load<G>(up + at)), places);
            falling[set] = maximum<G>(now + load<G>(down + at), falling[set]);
            places += static_cast<G>(kStep);
        }
    }
    for (const V<G>& set : falling) falling[0] = maximum<G>(set, falling[0]);
    return {largest(rising), static_cast<double>(largest_lane<G>(falling[0])[0])};
}

// Curvature below this share of the diagonal is rounding.
template <class T>
inline constexpr double kFlat = sizeof(T) == 4 ? 1e-7 : 1e-13;

// The variable whose decrease together with the increase of i gains most: (slope difference)^2 / curvature.
template <class T, class G>
Place partner(const Work<T, G>& work, Index c0, Index c1, Index i, double least) {
    constexpr int kStep = kWidth<G>;
    const T* const row = work.K + i * work.size;
    const G* const g = work.g.data();
    const G* const down = work.down.data();
    const G own = static_cast<G>(work.diagonal[i]);
    const V<G> level = fill<G>(static_cast<G>(least));
    const V<G> curvature = fill<G>(own);
    const V<G> flat = fill<G>(static_cast<G>(kFlat<T>) * std::max(own, std::numeric_limits<G>::min()));
    const V<G> none = fill<G>(G{-1});
    Largest<G> best[kSets<G>];
    for (Largest<G>& set : best) set = {none, V<G>{}};
    V<G> places = counting<G>() + static_cast<G>(c0);
    for (Index c = c0; c < c1; c += kStep * kSets<G>) {
        MERCER_UNROLL
        for (int set = 0; set < kSets<G>; ++set) {
            const Index at = c + set * kStep;
            const V<G> slack = load<G>(g + at) + load<G>(down + at) - level;
            const V<G> k = load_as<G>(row + at);
            const V<G> eta = maximum<G>(curvature + load_as<G>(work.diagonal + at) - (k + k), flat);
            best[set].take(select<G>(slack > V<G>{}, slack * slack * rough_inverse<G>(eta), none), places);
            places += static_cast<G>(kStep);
        }
    }
    return largest(best);
}

// How far b may move before it reaches a bound or the kink at 0.
inline double room_up(double b, double high, double width) {
    return width > 0.0 && b < 0.0 ? std::min(high, 0.0) - b : high - b;
}
inline double room_down(double b, double low, double width) {
    return width > 0.0 && b > 0.0 ? b - std::max(low, 0.0) : b - low;
}

template <class T, class G>
Index solve_in(Block<T>& block) {
    Work<T, G> work(block);
    const Index size = block.size;
    const bool two = block.split < size;
    Index i = 0, j = 0;
    double t = 0.0;
    double excess[2] = {0.0, 0.0};  // what rounding has added to the sum of each group; the next step takes it back
    for (Index steps = 0;; ++steps) {
        const T* row_i = block.K + i * size;
        const T* row_j = block.K + j * size;
        Pass chosen = update(work, 0, block.split, row_i, row_j, t);
        Place with = partner(work, 0, block.split, chosen.up.at, -chosen.up.value);
        double violation = chosen.down + chosen.up.value;
        if (two) {
            const Pass other = update(work, block.split, size, row_i, row_j, t);
            const Place other_with = partner(work, block.split, size, other.up.at, -other.up.value);
            const double other_violation = other.down + other.up.value;
            if (other_with.value > with.value || (other_with.value == with.value && other_violation > violation)) {
                chosen = other;
                with = other_with;
            }
            violation = std::max(violation, other_violation);
        }
        block.violation = violation;
        if (!(violation > block.tol) || steps == block.max_steps) return steps;
        if (!(with.value > 0.0)) return steps;  // rounding: nothing to gain
        i = chosen.up.at;
        j = with.at;
        const double slack =
            static_cast<double>(work.g[static_cast<std::size_t>(j)] + work.down[static_cast<std::size_t>(j)]) +
            chosen.up.value;
        const double k_ii = static_cast<double>(block.diagonal[i]), k_jj = static_cast<double>(block.diagonal[j]);
        const double eta = std::max(k_ii + k_jj - 2.0 * static_cast<double>(block.K[i * size + j]),
                                    std::max(kFlat<T> * k_ii, std::numeric_limits<double>::min()));
        const double up = room_up(block.b[i], block.high[i], block.width);
        const double down = room_down(block.b[j], block.low[j], block.width);
        t = std::min(slack / eta, std::min(up, down));
        const bool kink = block.width > 0.0;
        double& off = excess[i < block.split ? 0 : 1];
        const double b_i = block.b[i], b_j = block.b[j];
        const double back = t + off > 0.0 && t + off < down ? t + off : t;
        block.b[i] = t < up ? b_i + t : (kink && b_i < 0.0 ? std::min(block.high[i], 0.0) : block.high[i]);
        block.b[j] = t < down ? b_j - back : (kink && b_j > 0.0 ? std::max(block.low[j], 0.0) : block.low[j]);
        off += (block.b[i] - b_i) - (b_j - block.b[j]);
        for (const Index v : {i, j}) {
            work.up[static_cast<std::size_t>(v)] = static_cast<G>(slope_up(block.b[v], block.high[v], block.width));
            work.down[static_cast<std::size_t>(v)] = static_cast<G>(slope_down(block.b[v], block.low[v], block.width));
        }
    }
}

// Whether a gradient of this size, and so the slopes, may be rounded to single precision.
template <class T>
bool may_round(const Block<T>& block) {
    constexpr double kShare = 0.05;  // of tol
    double largest = block.width;
    for (Index v = 0; v < block.size; ++v) largest = std::max(largest, std::abs(block.g[v]));
    return largest * std::numeric_limits<float>::epsilon() <= kShare * block.tol;
}

// With K in single precision, so is the gradient, where that is precise enough: the passes over it are all the work.
template <class T>
Index solve_block(Block<T>& block) {
    if constexpr (sizeof(T) == 4) {
        if (may_round(block)) return solve_in<T, float>(block);
    }
    return solve_in<T, double>(block);
}

// g[c] += sum over rows of delta * row[c], for c in [c0, c1): the rows in their order. What it waits for is memory: the
// longer the stretches of a row, up to some thousand columns, the better.
template <class T>
void add_rows(const T* const* rows, const double* delta, Index count, Index c0, Index c1, double* g) {
    Index r = 0;
    for (; r + 4 <= count; r += 4) {
        const T *a = rows[r], *b = rows[r + 1], *c = rows[r + 2], *d = rows[r + 3];
        const V<double> da = fill<double>(delta[r]), db = fill<double>(delta[r + 1]);
        const V<double> dc = fill<double>(delta[r + 2]), dd = fill<double>(delta[r + 3]);
        Index at = c0;
        for (; at + kWidth<double> <= c1; at += kWidth<double>) {
            V<double> sum = fma<double>(da, load_as<double>(a + at), load<double>(g + at));
            sum = fma<double>(db, load_as<double>(b + at), sum);
            sum = fma<double>(dc, load_as<double>(c + at), sum);
            store<double>(g + at, fma<double>(dd, load_as<double>(d + at), sum));
        }
        for (; at < c1; ++at)
            g[at] += delta[r] * static_cast<double>(a[at]) + delta[r + 1] * static_cast<double>(b[at]) +
                     delta[r + 2] * static_cast<double>(c[at]) + delta[r + 3] * static_cast<double>(d[at]);
    }
    for (; r < count; ++r) {
        for (Index at = c0; at < c1; ++at) g[at] += delta[r] * static_cast<double>(rows[r][at]);
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
