// Graphs as one string of whole numbers each, so that points that are graphs are ragged points like others:
//
//     nodes, arcs, most arcs that leave a node, the label of each node, (label, from, to) of each arc
//
// with the arcs in increasing order.
#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "mercer/view.hpp"

namespace mercer {

using NetworkArc = std::array<std::int32_t, 3>;  // label, from, to

struct Network {
    Index degree = 0;  // most arcs that leave a node
    std::span<const std::int32_t> labels;
    std::span<const std::int32_t> words;  // of the arcs

    static constexpr std::size_t kHead = 3;

    explicit Network(std::span<const std::int32_t> whole)
        : degree(whole[2]),
          labels(whole.subspan(kHead, static_cast<std::size_t>(whole[0]))),
          words(whole.subspan(kHead + labels.size())) {}
    static Network of(const Letters& points, Index i) {
        return Network({points.codes + points.offsets[i], points.codes + points.offsets[i + 1]});
    }
    Index nodes() const { return static_cast<Index>(labels.size()); }
    std::size_t arcs() const { return words.size() / 3; }
    NetworkArc arc(std::size_t at) const { return {words[3 * at], words[3 * at + 1], words[3 * at + 2]}; }

    // Whether nothing in it leads outside of it.
    static bool is_whole(std::span<const std::int32_t> whole) {
        if (whole.size() < kHead || whole[0] < 0 || whole[1] < 0) return false;
        if (whole.size() != kHead + static_cast<std::size_t>(whole[0]) + 3 * static_cast<std::size_t>(whole[1]))
            return false;
        const Network found(whole);
        for (std::size_t at = 0; at < found.arcs(); ++at) {
            const auto [label, from, to] = found.arc(at);
            if (from < 0 || to < 0 || from >= whole[0] || to >= whole[0]) return false;
            if (at > 0 && found.arc(at) < found.arc(at - 1)) return false;
        }
        return true;
    }
};

}  // namespace mercer
