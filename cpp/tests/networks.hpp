// Random graphs in the words of network.hpp, and their common walks by the definition.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "mercer/network.hpp"

namespace oracle {

// Up to four nodes of two labels, no node with more than three arcs of two labels; `below(n)` draws a number below n.
template <class Below>
std::vector<std::int32_t> network(Below below) {
    const int nodes = static_cast<int>(below(5));
    std::vector<std::int32_t> labels;
    std::vector<mercer::NetworkArc> arcs;
    int most = 0;
    for (int node = 0; node < nodes; ++node) {
        labels.push_back(static_cast<std::int32_t>(below(2)));
        const int leaving = static_cast<int>(below(4));
        most = std::max(most, leaving);
        for (int arc = 0; arc < leaving; ++arc)
            arcs.push_back({static_cast<std::int32_t>(below(2)), node, static_cast<std::int32_t>(below(nodes))});
    }
    std::sort(arcs.begin(), arcs.end());
    std::vector<std::int32_t> words = {nodes, static_cast<std::int32_t>(arcs.size()), most};
    words.insert(words.end(), labels.begin(), labels.end());
    for (const mercer::NetworkArc& arc : arcs) words.insert(words.end(), arc.begin(), arc.end());
    return words;
}

// Those of up to eight steps, counted from their ends; with at most nine ways for each step and a decay of 1/4096, what
// is left out is lost in rounding.
template <class Real>
Real walks_in_common(const mercer::Network& x, const mercer::Network& z, Real decay) {
    using Ways = std::array<std::array<Real, 4>, 4>;
    Ways ways{};
    Real sum = 0;
    for (int steps = 0; steps <= 8; ++steps) {
        Ways longer{};
        for (std::size_t u = 0; u < x.labels.size(); ++u) {
            for (std::size_t v = 0; v < z.labels.size(); ++v) longer[u][v] = steps == 0 ? 1 : 0;
        }
        for (std::size_t a = 0; steps > 0 && a < x.arcs(); ++a) {
            for (std::size_t b = 0; b < z.arcs(); ++b) {
                const auto [label, from, to] = x.arc(a);
                const auto [other, start, end] = z.arc(b);
                const Real further = ways[static_cast<std::size_t>(to)][static_cast<std::size_t>(end)];
                if (label == other)
                    longer[static_cast<std::size_t>(from)][static_cast<std::size_t>(start)] += decay * further;
            }
        }
        for (std::size_t u = 0; u < x.labels.size(); ++u) {
            for (std::size_t v = 0; v < z.labels.size(); ++v) {
                if (x.labels[u] != z.labels[v]) longer[u][v] = 0;
                sum += longer[u][v];
            }
        }
        ways = longer;
    }
    return sum;
}

}  // namespace oracle
