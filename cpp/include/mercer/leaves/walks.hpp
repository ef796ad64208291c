// Common walks of two graphs, by the decay of their steps (Gärtner et al., 2003).
//
// d[0](u, v) = 1 where u and v have one label, and d[n + 1](u, v) = decay times the sum of d[n] over pairs of arcs of
// one label that leave u and v, is decay^n times the number of walks of n steps from (u, v) that read the same. Its sum
// falls by the factor q = decay degree degree or faster, so what is left out is known.
#pragma once

#include <limits>

#include "mercer/leaf.hpp"
#include "mercer/network.hpp"

namespace mercer::MERCER_ISA {

template <class T>
struct LeftMemory<Kind::walks, T> {
    Buffer<double> walks;
};
template <class T>
struct RightMemory<Kind::walks, T> {
    double decay = 0.0;
    Letters graphs;

    Index bytes() const { return 0; }
};

// The places of the next arcs of one label.
struct SameLabel {
    std::size_t begin = 0, end = 0;

    bool next(const Network& of) {
        for (begin = end; end < of.arcs() && of.arc(end)[0] == of.arc(begin)[0];) ++end;
        return begin < end;
    }
    std::int32_t label(const Network& of) const { return of.arc(begin)[0]; }
};

// after(u, v) += the sum of before over the ends of arcs x from u and arcs z from v.
inline void step_walks(const Network& x, SameLabel in_x, const Network& z, SameLabel in_z, const double* before,
                       double* after, double* row) {
    const Index width = z.nodes();
    for (std::size_t at = in_x.begin; at < in_x.end;) {
        const Index u = x.arc(at)[1];
        std::fill_n(row, width, 0.0);
        for (; at < in_x.end && x.arc(at)[1] == u; ++at) {
            const double* from = before + x.arc(at)[2] * width;
            for (Index v = 0; v < width; ++v) row[v] += from[v];
        }
        for (std::size_t other = in_z.begin; other < in_z.end; ++other) {
            const auto [label, v, to] = z.arc(other);
            after[u * width + v] += row[to];
        }
    }
}

inline double common_walks(const Network& x, const Network& z, double decay, Buffer<double>& memory) {
    const Index width = z.nodes(), cells = x.nodes() * width;
    if (memory.size() < 3 * cells + width) memory.reset_raw(3 * cells + width);
    double* const same = memory.data();
    double* now = same + cells;
    double* after = now + cells;
    double* const row = same + 3 * cells;
    double total = 0.0;
    for (Index u = 0; u < x.nodes(); ++u) {
        for (Index v = 0; v < width; ++v) {
            const double equal = x.labels[static_cast<std::size_t>(u)] == z.labels[static_cast<std::size_t>(v)] ? 1 : 0;
            same[u * width + v] = now[u * width + v] = equal;
            total += equal;
        }
    }
    const double ratio = decay * static_cast<double>(x.degree) * static_cast<double>(z.degree);
    if (!(ratio < 1.0)) return std::numeric_limits<double>::infinity();
    // All that follows d[n] is at most this times its largest number.
    const double rest = total * ratio / (1.0 - ratio);
    for (double largest = 1.0; largest * rest > 0x1p-54 * total;) {
        std::fill_n(after, cells, 0.0);
        SameLabel in_x, in_z;
        bool more = in_x.next(x) && in_z.next(z);
        while (more) {
            const std::int32_t left = in_x.label(x), right = in_z.label(z);
            if (left == right) step_walks(x, in_x, z, in_z, now, after, row);
            more = (left > right || in_x.next(x)) && (left < right || in_z.next(z));
        }
        largest = 0.0;
        double sum = 0.0;
        for (Index at = 0; at < cells; ++at) {
            now[at] = decay * same[at] * after[at];
            largest = std::max(largest, now[at]);
            sum += now[at];
        }
        total += sum;
    }
    return total;
}

template <>
struct Leaf<Kind::walks> : PlainLeaf {
    template <class T>
    static void pack(const Source& source, const LeafUse& use, Index, PackedLeaf<T>& leaf) {
        leaf.decay = use.parameters[0];
        leaf.graphs = std::get<Letters>(source);
    }
    template <class T>
    static void fill_tile(const Source& source, LeftLeaf<T>& left, const PackedLeaf<T>& right, const Patch& patch,
                          T* tile) {
        const Letters& rows = std::get<Letters>(source);
        fill_copied<T>(patch, tile, [&](Index r, Index c) {
            return common_walks(Network::of(rows, patch.i0 + r), Network::of(right.graphs, patch.j0 + c), right.decay,
                                left.walks);
        });
    }
    static double pair(const LeafUse& use, const Source& left, const Source& right, Index i) {
        Buffer<double> memory;
        return common_walks(Network::of(std::get<Letters>(left), i), Network::of(std::get<Letters>(right), i),
                            use.parameters[0], memory);
    }
};

}  // namespace mercer::MERCER_ISA
