// What is counted in graphs, on graphs small enough to count by hand; and that threads change nothing.
#include "check.hpp"
#include "mercer/graphs.hpp"
#include "mercer/network.hpp"
#include "oracle.hpp"

using mercer::Graphs;
using mercer::Index;
using mercer::KeyCounts;
using mercer::Palette;

namespace {

struct Made {
    std::vector<Index> nodes = {0}, edges = {0};
    std::vector<std::int32_t> ends, labels, edge_labels;
    std::vector<std::uint8_t> directed;

    Made& add(std::vector<std::int32_t> of_nodes, std::vector<std::int32_t> of_edges, bool is_directed = false) {
        labels.insert(labels.end(), of_nodes.begin(), of_nodes.end());
        ends.insert(ends.end(), of_edges.begin(), of_edges.end());
        edge_labels.resize(ends.size() / 2);
        nodes.push_back(static_cast<Index>(labels.size()));
        edges.push_back(static_cast<Index>(edge_labels.size()));
        directed.push_back(is_directed);
        return *this;
    }
    Graphs graphs() const { return {nodes, edges, ends, directed, labels, edge_labels}; }
};

std::vector<Index> times(const KeyCounts& counts, Index graph) {
    const std::size_t at = static_cast<std::size_t>(graph);
    return {counts.times.begin() + counts.offsets[at], counts.times.begin() + counts.offsets[at + 1]};
}

Made random_graphs(Index count) {
    oracle::Draw draw(5);
    Made made;
    for (Index graph = 0; graph < count; ++graph) {
        std::vector<std::int32_t> labels, ends;
        const Index nodes = draw.below(30);
        for (Index node = 0; node < nodes; ++node) labels.push_back(static_cast<std::int32_t>(draw.below(3)));
        for (Index edge = 0; nodes > 0 && edge < 40; ++edge) {
            ends.push_back(static_cast<std::int32_t>(draw.below(nodes)));
            ends.push_back(static_cast<std::int32_t>(draw.below(nodes)));
        }
        made.add(labels, ends, graph % 2 == 0);
    }
    return made;
}

}  // namespace

TEST("Nodes have one colour where their labels and all around them are the same") {
    const Graphs graphs = Made().add({0, 0, 0, 1}, {0, 1, 1, 2, 2, 3}).add({0, 0}, {0, 1}).graphs();
    Palette palette;
    mercer::Watch watch;
    const std::vector<std::int64_t> colours = refined(graphs, 1, palette, watch);
    // Labels 0 and 1 are colours 0 and 1; then an end of a path, its middle, next to a 1, the 1.
    CHECK(colours == (std::vector<std::int64_t>{0, 0, 0, 1, 0, 0, 2, 3, 4, 5, 2, 2}));
    CHECK_EQUAL(palette.size(), 6);
}

TEST("A palette names what it knows, and adds what is new") {
    mercer::Watch watch;
    Palette palette;
    refined(Made().add({0, 0}, {0, 1}).graphs(), 1, palette, watch);
    const Graphs other = Made().add({0, 0, 7}, {0, 1, 1, 2}).graphs();
    CHECK(refined(other, 1, palette, watch) == (std::vector<std::int64_t>{0, 0, 2, 1, 3, 4}));
}

TEST("Arcs that leave and arcs that come in are told apart, and both ways are an undirected edge") {
    mercer::Watch watch;
    Palette palette;
    const Graphs graphs = Made().add({0, 0}, {0, 1}, true).add({0, 0}, {0, 1, 1, 0}, true).add({0, 0}, {0, 1}).graphs();
    CHECK(refined(graphs, 1, palette, watch) == (std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 1, 2, 3, 3, 3, 3}));
}

TEST("Shortest paths are counted by both ends and length") {
    mercer::Watch watch;
    const KeyCounts counts =
        shortest_paths(Made().add({0, 0, 1}, {0, 1, 1, 2, 2, 2}).add({}, {}).add({0, 0}, {0, 1}, true).graphs(), watch);
    CHECK_EQUAL(counts.offsets.back(), 6);
    // (0, 0, 1) both ways, (0, 1, 1), (0, 1, 2), (1, 0, 1), (1, 0, 2); and one way alone.
    CHECK(times(counts, 0) == (std::vector<Index>{2, 1, 1, 1, 1}));
    CHECK(times(counts, 1).empty());
    CHECK(times(counts, 2) == std::vector<Index>{1});
}

TEST("Graphlets are counted once each, by shape") {
    mercer::Watch watch;
    // A complete graph of 5 nodes has C(5, k) complete subgraphs; a star of 4 leaves has stars.
    const Graphs graphs = Made()
                              .add({0, 0, 0, 0, 0}, {0, 1, 0, 2, 0, 3, 0, 4, 1, 2, 1, 3, 1, 4, 2, 3, 2, 4, 3, 4})
                              .add({0, 0, 0, 0, 0}, {0, 1, 0, 2, 0, 3, 0, 4})
                              .add({0, 0, 0, 0}, {0, 1, 1, 2, 2, 3, 1, 1})
                              .graphs();
    const Index complete[] = {10, 5, 1}, star[] = {6, 4, 1}, path[] = {2, 1, 0};
    for (int size = 3; size <= 5; ++size) {
        const KeyCounts counts = graphlets(graphs, size, watch);
        CHECK(times(counts, 0) == std::vector<Index>{complete[size - 3]});
        CHECK(times(counts, 1) == std::vector<Index>{star[size - 3]});
        CHECK(times(counts, 2) == (path[size - 3] > 0 ? std::vector<Index>{path[size - 3]} : std::vector<Index>{}));
    }
    CHECK_THROWS(graphlets(graphs, 2, watch), std::invalid_argument);
}

TEST("Equal keys are counted, in increasing order") {
    mercer::Watch watch;
    const std::vector<Index> offsets = {0, 4, 4, 5};
    const std::vector<std::int64_t> keys = {7, -1, 7, 3, 2};
    const KeyCounts counts = counted(offsets, keys, watch);
    CHECK(counts.keys == (std::vector<std::int64_t>{-1, 3, 7, 2}));
    CHECK(counts.times == (std::vector<Index>{1, 1, 2, 1}));
    CHECK(counts.offsets == (std::vector<Index>{0, 3, 3, 4}));
}

TEST("All is the same for any number of threads") {
    const Graphs graphs = random_graphs(300).graphs();
    const int before = mercer::thread_count();
    std::vector<std::vector<std::int64_t>> found;
    for (const int threads : {1, 2, 5}) {
        mercer::set_thread_count(threads);
        mercer::Watch watch;
        Palette palette;
        std::vector<std::int64_t> all = refined(graphs, 3, palette, watch);
        all.insert(all.end(), palette.items.begin(), palette.items.end());
        for (const KeyCounts& counts : {shortest_paths(graphs, watch), graphlets(graphs, 4, watch)}) {
            all.insert(all.end(), counts.keys.begin(), counts.keys.end());
            all.insert(all.end(), counts.times.begin(), counts.times.end());
        }
        found.push_back(std::move(all));
    }
    mercer::set_thread_count(before);
    CHECK(found[0] == found[1]);
    CHECK(found[0] == found[2]);
}

TEST("Graphs whose arrays disagree are refused") {
    Made outside = Made().add({0, 0}, {0, 2});
    CHECK_THROWS(outside.graphs(), std::invalid_argument);
    Made negative = Made().add({0, 0}, {0, -1});
    CHECK_THROWS(negative.graphs(), std::invalid_argument);
    Made short_of_labels = Made().add({0, 0}, {0, 1});
    short_of_labels.labels.pop_back();
    CHECK_THROWS(short_of_labels.graphs(), std::invalid_argument);
    Made falling = Made().add({0, 0}, {0, 1}).add({0}, {});
    falling.nodes[1] = 4;
    CHECK_THROWS(falling.graphs(), std::invalid_argument);
}

TEST("Words that are no graph are told from those that are") {
    using mercer::Network;
    const std::vector<std::int32_t> whole = {2, 2, 1, 0, 0, 0, 0, 1, 0, 1, 0};
    CHECK(Network::is_whole(whole));
    for (const auto& [at, word] : {std::pair{0, 3}, {0, -1}, {1, 1}, {1, -2}, {6, 2}, {7, -1}, {8, -1}}) {
        std::vector<std::int32_t> other = whole;
        other[static_cast<std::size_t>(at)] = word;
        CHECK(!Network::is_whole(other));
    }
    CHECK(!Network::is_whole({}));
}
