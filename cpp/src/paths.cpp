// Shortest paths between all pairs of nodes, breadth first from each; what is kept are counts by labels and length.
#include <algorithm>
#include <stdexcept>

#include "mercer/graphs.hpp"

namespace mercer {

namespace {

// What one graph has: keys, increasing, and how often.
struct Row {
    std::vector<std::int64_t> keys;
    std::vector<Index> times;
};

class Paths {
   public:
    Paths(const Graphs& graphs, Index graph, Watch& watch)
        : graphs_(graphs), first_(graphs.begin(graph)), count_(graphs.end(graph) - first_), watch_(watch) {}

    // Sources of one label after the other, so that a table of (label of the end, length) is enough at a time.
    Row row() {
        std::vector<Index> sources(static_cast<std::size_t>(count_));
        for (Index node = 0; node < count_; ++node) sources[static_cast<std::size_t>(node)] = node;
        std::stable_sort(sources.begin(), sources.end(), [&](Index a, Index b) { return label(a) < label(b); });
        for (const Index node : sources) {
            if (labels_.empty() || labels_.back() != label(node)) labels_.push_back(label(node));
            place_.emplace_back(node, static_cast<Index>(labels_.size()) - 1);
        }
        std::sort(place_.begin(), place_.end());
        times_.assign(labels_.size() * static_cast<std::size_t>(count_), 0);
        length_.assign(static_cast<std::size_t>(count_), -1);
        Row row;
        for (std::size_t at = 0; at < sources.size(); ++at) {
            watch_.look();
            search(sources[at]);
            if (at + 1 == sources.size() || label(sources[at + 1]) != label(sources[at]))
                flush(label(sources[at]), row);
        }
        return row;
    }

   private:
    std::int32_t label(Index node) const { return graphs_.label(first_ + node); }

    void search(Index source) {
        queue_.assign(1, source);
        length_[static_cast<std::size_t>(source)] = 0;
        for (std::size_t at = 0; at < queue_.size(); ++at) {
            const Index node = queue_[at], length = length_[static_cast<std::size_t>(node)];
            for (const Arc arc : graphs_.out(first_ + node)) {
                Index& reached = length_[static_cast<std::size_t>(arc.node)];
                if (reached >= 0) continue;
                reached = length + 1;
                queue_.push_back(arc.node);
                const std::size_t cell =
                    static_cast<std::size_t>(place_[static_cast<std::size_t>(arc.node)].second * count_ + reached);
                if (times_[cell]++ == 0) touched_.push_back(cell);
            }
        }
        for (const Index node : queue_) length_[static_cast<std::size_t>(node)] = -1;
    }

    void flush(std::int32_t source, Row& row) {
        std::sort(touched_.begin(), touched_.end());
        for (const std::size_t cell : touched_) {
            const std::int64_t end = labels_[cell / static_cast<std::size_t>(count_)];
            const std::int64_t length = static_cast<std::int64_t>(cell % static_cast<std::size_t>(count_));
            row.keys.push_back((std::int64_t{source} << kPathLabelBits | end) << kPathLengthBits | length);
            row.times.push_back(times_[cell]);
            times_[cell] = 0;
        }
        touched_.clear();
    }

    const Graphs& graphs_;
    Index first_, count_;
    Watch& watch_;
    std::vector<std::int32_t> labels_;            // of this graph, increasing
    std::vector<std::pair<Index, Index>> place_;  // each node with the place of its label
    std::vector<Index> times_, length_, queue_;
    std::vector<std::size_t> touched_;
};

}  // namespace

KeyCounts shortest_paths(const Graphs& graphs, Watch& watch) {
    for (Index node = 0; node < graphs.node_count(); ++node) {
        if (graphs.label(node) >> kPathLabelBits != 0) throw std::length_error("graphs: more than 2**20 labels");
    }
    std::vector<Row> rows(static_cast<std::size_t>(graphs.size()));
    parallel(graphs.size(), watch, [&](Index graph) {
        if ((graphs.end(graph) - graphs.begin(graph)) >> kPathLengthBits != 0)
            throw std::length_error("graphs: a graph of more than 2**23 nodes");
        rows[static_cast<std::size_t>(graph)] = Paths(graphs, graph, watch).row();
    });
    KeyCounts found;
    found.offsets.push_back(0);
    for (const Row& row : rows) {
        found.keys.insert(found.keys.end(), row.keys.begin(), row.keys.end());
        found.times.insert(found.times.end(), row.times.begin(), row.times.end());
        found.offsets.push_back(static_cast<Index>(found.keys.size()));
    }
    return found;
}

}  // namespace mercer
