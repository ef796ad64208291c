#include "mercer/graphs.hpp"

#include <algorithm>
#include <stdexcept>

namespace mercer {

namespace {

void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

void require_offsets(std::span<const Index> offsets, std::size_t count) {
    require(!offsets.empty() && offsets.front() == 0 && std::is_sorted(offsets.begin(), offsets.end()) &&
                offsets.back() == static_cast<Index>(count),
            "graphs: offsets rise from 0 to the number of what they divide");
}

// Lists of arcs, sized first and then filled.
class Lists {
   public:
    explicit Lists(Index nodes) : offsets_(static_cast<std::size_t>(nodes) + 1) {}

    void make_room(Index node) { ++offsets_[static_cast<std::size_t>(node) + 1]; }
    void begin() {
        for (std::size_t at = 1; at < offsets_.size(); ++at) offsets_[at] += offsets_[at - 1];
        arcs_.resize(static_cast<std::size_t>(offsets_.back()));
        next_.assign(offsets_.begin(), offsets_.end() - 1);
    }
    void put(Index node, Arc arc) { arcs_[static_cast<std::size_t>(next_[static_cast<std::size_t>(node)]++)] = arc; }
    void finish(std::vector<Index>& offsets, std::vector<Arc>& arcs) {
        for (std::size_t at = 0; at + 1 < offsets_.size(); ++at)
            std::sort(arcs_.begin() + offsets_[at], arcs_.begin() + offsets_[at + 1]);
        offsets = std::move(offsets_);
        arcs = std::move(arcs_);
    }

   private:
    std::vector<Index> offsets_, next_;
    std::vector<Arc> arcs_;
};

}  // namespace

Graphs::Graphs(std::span<const Index> nodes, std::span<const Index> edges, std::span<const std::int32_t> ends,
               std::span<const std::uint8_t> directed, std::span<const std::int32_t> node_labels,
               std::span<const std::int32_t> edge_labels)
    : nodes_(nodes.begin(), nodes.end()),
      directed_(directed.begin(), directed.end()),
      labels_(node_labels.begin(), node_labels.end()) {
    require_offsets(nodes, node_labels.size());
    require_offsets(edges, edge_labels.size());
    require(
        nodes.size() == edges.size() && directed.size() + 1 == nodes.size() && ends.size() == 2 * edge_labels.size(),
        "graphs: the arrays disagree");
    const auto each_edge = [&](auto use) {
        for (Index graph = 0; graph < size(); ++graph) {
            for (Index edge = edges[static_cast<std::size_t>(graph)]; edge < edges[static_cast<std::size_t>(graph) + 1];
                 ++edge)
                use(graph, ends[static_cast<std::size_t>(2 * edge)], ends[static_cast<std::size_t>(2 * edge) + 1],
                    edge_labels[static_cast<std::size_t>(edge)]);
        }
    };
    Lists out(node_count()), in(node_count());
    each_edge([&](Index graph, std::int32_t from, std::int32_t to, std::int32_t) {
        const Index many = end(graph) - begin(graph);
        require(from >= 0 && to >= 0 && from < many && to < many, "graphs: an edge ends outside its graph");
        out.make_room(begin(graph) + from);
        if (this->directed(graph)) in.make_room(begin(graph) + to);
        else if (from != to) out.make_room(begin(graph) + to);
    });
    out.begin();
    in.begin();
    each_edge([&](Index graph, std::int32_t from, std::int32_t to, std::int32_t label) {
        out.put(begin(graph) + from, {to, label});
        if (this->directed(graph)) in.put(begin(graph) + to, {from, label});
        else if (from != to) out.put(begin(graph) + to, {from, label});
    });
    out.finish(out_offsets_, out_);
    in.finish(in_offsets_, in_);
}

KeyCounts counted(std::span<const Index> offsets, std::span<const std::int64_t> keys, Watch& watch) {
    require_offsets(offsets, keys.size());
    constexpr Index kObjectsEach = 64;
    const Index n = static_cast<Index>(offsets.size()) - 1;
    std::vector<std::int64_t> sorted(keys.begin(), keys.end());
    KeyCounts found;
    found.offsets.assign(static_cast<std::size_t>(n) + 1, 0);
    std::vector<Index> times(keys.size());
    // Each object's different keys come to stand at the beginning of its part.
    parallel((n + kObjectsEach - 1) / kObjectsEach, watch, [&](Index task) {
        watch.look();
        for (Index i = task * kObjectsEach; i < std::min(n, (task + 1) * kObjectsEach); ++i) {
            const std::size_t first = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
            const std::size_t last = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
            std::sort(sorted.begin() + static_cast<std::ptrdiff_t>(first),
                      sorted.begin() + static_cast<std::ptrdiff_t>(last));
            std::size_t to = first;
            for (std::size_t at = first; at < last; ++to) {
                const std::size_t begin = at;
                const std::int64_t key = sorted[begin];
                while (at < last && sorted[at] == key) ++at;
                sorted[to] = key;
                times[to] = static_cast<Index>(at - begin);
            }
            found.offsets[static_cast<std::size_t>(i) + 1] = static_cast<Index>(to - first);
        }
    });
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) found.offsets[i + 1] += found.offsets[i];
    found.keys.resize(static_cast<std::size_t>(found.offsets.back()));
    found.times.resize(found.keys.size());
    for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
        const Index many = found.offsets[i + 1] - found.offsets[i];
        std::copy_n(sorted.begin() + offsets[i], many, found.keys.begin() + found.offsets[i]);
        std::copy_n(times.begin() + offsets[i], many, found.times.begin() + found.offsets[i]);
    }
    return found;
}

}  // namespace mercer
