// Graphs in flat arrays, and what is counted in each: refined colours, shortest paths, graphlets. Every result is the
// same for any number of threads.
#pragma once

#include <span>
#include <vector>

#include "mercer/threads.hpp"
#include "mercer/view.hpp"

namespace mercer {

// One arc at a node: where it leads to or comes from, a node of the same graph, and its label.
struct Arc {
    std::int32_t node = 0;
    std::int32_t label = 0;

    friend auto operator<=>(const Arc&, const Arc&) = default;
};

// Some graphs, their nodes numbered one after the other; an undirected edge is an arc both ways, a loop a single one.
class Graphs {
   public:
    // `nodes` and `edges` are offsets (n + 1); `ends` are pairs of nodes, numbered within their graph.
    Graphs(std::span<const Index> nodes, std::span<const Index> edges, std::span<const std::int32_t> ends,
           std::span<const std::uint8_t> directed, std::span<const std::int32_t> node_labels,
           std::span<const std::int32_t> edge_labels);

    Index size() const { return static_cast<Index>(nodes_.size()) - 1; }
    Index node_count() const { return nodes_.back(); }
    Index begin(Index graph) const { return nodes_[static_cast<std::size_t>(graph)]; }
    Index end(Index graph) const { return nodes_[static_cast<std::size_t>(graph) + 1]; }
    std::int32_t label(Index node) const { return labels_[static_cast<std::size_t>(node)]; }
    // By node and label. Those that come in are kept for directed graphs alone: in others they are those that go out.
    std::span<const Arc> out(Index node) const { return of(out_, out_offsets_, node); }
    std::span<const Arc> in(Index node) const { return of(in_, in_offsets_, node); }
    bool directed(Index graph) const { return directed_[static_cast<std::size_t>(graph)] != 0; }

   private:
    static std::span<const Arc> of(const std::vector<Arc>& arcs, const std::vector<Index>& offsets, Index node) {
        const std::size_t at = static_cast<std::size_t>(node);
        return {arcs.data() + offsets[at], arcs.data() + offsets[at + 1]};
    }

    std::vector<Index> nodes_;
    std::vector<std::uint8_t> directed_;
    std::vector<std::int32_t> labels_;
    std::vector<Index> out_offsets_, in_offsets_;  // (nodes + 1)
    std::vector<Arc> out_, in_;
};

// How often each of some objects has which key: those of object i from offsets[i] to offsets[i + 1], keys increasing.
struct KeyCounts {
    std::vector<Index> offsets;
    std::vector<std::int64_t> keys;
    std::vector<Index> times;
};

KeyCounts counted(std::span<const Index> offsets, std::span<const std::int64_t> keys, Watch& watch);

// What a colour stands for: a label, or a colour and those around it. Colour c has items[offsets[c]] and following.
struct Palette {
    std::vector<Index> offsets{0};
    std::vector<std::int64_t> items;

    Index size() const { return static_cast<Index>(offsets.size()) - 1; }
    std::span<const std::int64_t> of(Index colour) const {
        const std::size_t at = static_cast<std::size_t>(colour);
        return {items.data() + offsets[at], items.data() + offsets[at + 1]};
    }
};

// Colours after 0, 1, …, depth rounds of refinement: (depth + 1, nodes). What the palette does not know joins it, in
// order of round and node.
std::vector<std::int64_t> refined(const Graphs& graphs, int depth, Palette& palette, Watch& watch);

// Ordered pairs of different nodes that a path joins, by both labels and the length of the shortest one.
inline constexpr int kPathLabelBits = 20;
inline constexpr int kPathLengthBits = 23;
KeyCounts shortest_paths(const Graphs& graphs, Watch& watch);

// Connected induced subgraphs of 3, 4 or 5 nodes, by the smallest code of an isomorphic one.
inline constexpr int kLeastGraphlet = 3, kMostGraphlet = 5;
KeyCounts graphlets(const Graphs& graphs, int nodes, Watch& watch);

}  // namespace mercer
