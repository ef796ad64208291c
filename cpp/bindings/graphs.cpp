#include "graphs.hpp"

#include "handles.hpp"
#include "mercer/graphs.hpp"

namespace mercer::bindings {

namespace {

using namespace nb::literals;

using Offsets = In<std::int64_t, nb::ndim<1>>;
using Keys = In<std::int64_t, nb::ndim<1>>;
using Codes = In<std::int32_t, nb::ndim<1>>;
using Ends = In<std::int32_t, nb::ndim<2>>;
using Flags = In<bool, nb::ndim<1>>;
using Array = nb::ndarray<nb::numpy, std::int64_t>;
using Counted = std::tuple<Array, Array, Array>;

template <class T, class Shape>
std::span<const T> span_of(const nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape>& array) {
    return {array.data(), array.size()};
}

// The numbers of a vector, which moves.
Array array_of(std::vector<std::int64_t> numbers, std::initializer_list<std::size_t> shape) {
    auto* kept = new std::vector<std::int64_t>(std::move(numbers));
    const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return {kept->data(), shape, owner};
}

Array array_of(std::vector<std::int64_t> numbers) {
    const std::size_t count = numbers.size();
    return array_of(std::move(numbers), {count});
}

Counted tuple_of(mercer::KeyCounts counts) {
    return {array_of(std::move(counts.offsets)), array_of(std::move(counts.keys)), array_of(std::move(counts.times))};
}

template <class Work>
auto computed(Work work) {
    decltype(work(std::declval<mercer::Watch&>())) found{};
    run([&](mercer::Watch& watch) { found = work(watch); });
    return found;
}

mercer::Graphs graphs_of(const Offsets& nodes, const Offsets& edges, const Ends& ends, const Flags& directed,
                         const Codes& node_labels, const Codes& edge_labels) {
    require(ends.shape(1) == 2, "graphs: two ends an edge");
    const std::vector<std::uint8_t> flags(directed.data(), directed.data() + directed.size());
    return {span_of(nodes), span_of(edges), span_of(ends), flags, span_of(node_labels), span_of(edge_labels)};
}

// Colours (rounds, nodes), and the palette with what was new.
std::tuple<Array, Array, Array> refined(const mercer::Graphs& graphs, int depth, const Offsets& offsets,
                                        const Keys& items) {
    require(depth >= 0, "refined: the depth is at least 0");
    mercer::Palette palette{{offsets.data(), offsets.data() + offsets.size()},
                            {items.data(), items.data() + items.size()}};
    require(!palette.offsets.empty() && palette.offsets.front() == 0 &&
                std::is_sorted(palette.offsets.begin(), palette.offsets.end()) &&
                palette.offsets.back() == static_cast<Index>(palette.items.size()),
            "refined: a palette that is none");
    auto colours = computed([&](mercer::Watch& watch) { return mercer::refined(graphs, depth, palette, watch); });
    return {array_of(std::move(colours),
                     {static_cast<std::size_t>(depth) + 1, static_cast<std::size_t>(graphs.node_count())}),
            array_of(std::move(palette.offsets)), array_of(std::move(palette.items))};
}

}  // namespace

void bind_graphs(nb::module_& m) {
    nb::class_<mercer::Graphs>(m, "Graphs", "Graphs, ready to be counted in.")
        .def(
            "__init__",
            [](mercer::Graphs* self, const Offsets& nodes, const Offsets& edges, const Ends& ends,
               const Flags& directed, const Codes& node_labels, const Codes& edge_labels) {
                new (self) mercer::Graphs(graphs_of(nodes, edges, ends, directed, node_labels, edge_labels));
            },
            "nodes"_a, "edges"_a, "ends"_a, "directed"_a, "node_labels"_a, "edge_labels"_a)
        .def("refined", &refined, "depth"_a, "offsets"_a, "items"_a,
             "Colours of all nodes after 0 to depth rounds, and the palette, to which new colours are added.")
        .def(
            "shortest_paths",
            [](const mercer::Graphs& self) {
                return tuple_of(computed([&](mercer::Watch& watch) { return mercer::shortest_paths(self, watch); }));
            },
            "Offsets, keys and counts: pairs of nodes by labels and distance.")
        .def(
            "graphlets",
            [](const mercer::Graphs& self, int nodes) {
                return tuple_of(computed([&](mercer::Watch& watch) { return mercer::graphlets(self, nodes, watch); }));
            },
            "nodes"_a, "Offsets, keys and counts: connected induced subgraphs by shape.");
    m.def(
        "counted",
        [](const Offsets& offsets, const Keys& keys) {
            return tuple_of(computed(
                [&](mercer::Watch& watch) { return mercer::counted(span_of(offsets), span_of(keys), watch); }));
        },
        "offsets"_a, "keys"_a, "Offsets, different keys and counts of each object.");
    m.attr("PATH_LABEL_BITS") = mercer::kPathLabelBits;
    m.attr("PATH_LENGTH_BITS") = mercer::kPathLengthBits;
}

}  // namespace mercer::bindings
