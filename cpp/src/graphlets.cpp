// Connected induced subgraphs, each found once (the ESU algorithm of Wernicke, 2006): from its smallest node on, nodes
// join that are larger than it and not yet next to those before.
#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "mercer/graphs.hpp"

namespace mercer {

namespace {

// The graphs of k nodes up to isomorphism. The arcs among k nodes are the bits of a code; each shape is known by the
// smallest code that it has.
class Shapes {
   public:
    explicit Shapes(int nodes) : nodes_(nodes), shape_(std::size_t{1} << (nodes * nodes - nodes), kUnknown) {
        std::vector<std::uint32_t> orbit;
        for (std::uint32_t code = 0; code < shape_.size(); ++code) {
            if (shape_[code] != kUnknown) continue;
            // All codes that swaps of neighbours lead to, which are all permutations.
            const std::uint32_t shape = static_cast<std::uint32_t>(smallest_.size());
            smallest_.push_back(code);
            orbit.assign(1, code);
            shape_[code] = shape;
            for (std::size_t at = 0; at < orbit.size(); ++at) {
                for (int p = 0; p + 1 < nodes; ++p) {
                    const std::uint32_t other = swapped(orbit[at], p);
                    if (shape_[other] != kUnknown) continue;
                    shape_[other] = shape;
                    orbit.push_back(other);
                }
            }
        }
    }

    std::size_t count() const { return smallest_.size(); }
    std::uint32_t shape(std::uint32_t code) const { return shape_[code]; }
    std::uint32_t smallest(std::size_t shape) const { return smallest_[shape]; }
    // The bit of the arc from p to q; there is none from p to p.
    std::uint32_t bit(int p, int q) const { return std::uint32_t{1} << (p * (nodes_ - 1) + (q > p ? q - 1 : q)); }

    // Made when they are first asked for.
    static const Shapes& of(int nodes) {
        static std::array<std::once_flag, kMostGraphlet + 1> made;
        static std::array<std::unique_ptr<const Shapes>, kMostGraphlet + 1> all;
        const std::size_t at = static_cast<std::size_t>(nodes);
        std::call_once(made[at], [&] { all[at] = std::make_unique<const Shapes>(nodes); });
        return *all[at];
    }

   private:
    static constexpr std::uint32_t kUnknown = ~std::uint32_t{0};

    std::uint32_t swapped(std::uint32_t code, int p) const {
        const auto turned = [p](int node) { return node == p ? p + 1 : node == p + 1 ? p : node; };
        std::uint32_t out = 0;
        for (int a = 0; a < nodes_; ++a) {
            for (int b = 0; b < nodes_; ++b) {
                if (a != b && (code & bit(a, b)) != 0) out |= bit(turned(a), turned(b));
            }
        }
        return out;
    }

    int nodes_;
    std::vector<std::uint32_t> shape_;     // of each code
    std::vector<std::uint32_t> smallest_;  // code of each shape, increasing
};

class Search {
   public:
    Search(const Graphs& graphs, Index graph, int nodes, Watch& watch)
        : shapes_(Shapes::of(nodes)), nodes_(nodes), watch_(watch), found_(shapes_.count()) {
        const Index first = graphs.begin(graph);
        const std::size_t count = static_cast<std::size_t>(graphs.end(graph) - first);
        near_.resize(count);
        to_.resize(count);
        for (std::size_t node = 0; node < count; ++node) {
            for (const Arc arc : graphs.out(first + static_cast<Index>(node))) to_[node].push_back(arc.node);
            near_[node] = to_[node];
            for (const Arc arc : graphs.in(first + static_cast<Index>(node))) near_[node].push_back(arc.node);
            std::sort(near_[node].begin(), near_[node].end());
            near_[node].erase(std::unique(near_[node].begin(), near_[node].end()), near_[node].end());
            std::erase(near_[node], static_cast<std::int32_t>(node));
        }
        is_near_.assign(count, 0);
    }

    // How often each shape occurs.
    std::vector<Index> run() {
        for (std::size_t node = 0; node < near_.size(); ++node) {
            watch_.look();
            root_ = static_cast<std::int32_t>(node);
            ++is_near_[node];
            extend(root_, 0, 0, {});
            --is_near_[node];
        }
        return found_;
    }

   private:
    bool has_arc(std::int32_t from, std::int32_t to) const {
        const auto& ends = to_[static_cast<std::size_t>(from)];
        return std::binary_search(ends.begin(), ends.end(), to);
    }

    // `node` joins at place p those before it, whose arcs are `code`; `open` are the other nodes that may follow.
    void extend(std::int32_t node, int p, std::uint32_t code, std::vector<std::int32_t> open) {
        chosen_[static_cast<std::size_t>(p)] = node;
        for (int q = 0; q < p; ++q) {
            const std::int32_t other = chosen_[static_cast<std::size_t>(q)];
            if (has_arc(node, other)) code |= shapes_.bit(p, q);
            if (has_arc(other, node)) code |= shapes_.bit(q, p);
        }
        if (p + 1 == nodes_) {
            ++found_[shapes_.shape(code)];
            return;
        }
        for (const std::int32_t next : near_[static_cast<std::size_t>(node)]) {
            if (is_near_[static_cast<std::size_t>(next)]++ == 0 && next > root_) open.push_back(next);
        }
        while (!open.empty()) {
            const std::int32_t next = open.back();
            open.pop_back();
            extend(next, p + 1, code, p + 2 == nodes_ ? std::vector<std::int32_t>{} : open);
        }
        for (const std::int32_t next : near_[static_cast<std::size_t>(node)])
            --is_near_[static_cast<std::size_t>(next)];
    }

    const Shapes& shapes_;
    int nodes_;
    Watch& watch_;
    std::vector<std::vector<std::int32_t>> near_, to_;
    std::vector<std::int32_t> is_near_;  // how many of the chosen nodes a node is, or is next to
    std::array<std::int32_t, kMostGraphlet> chosen_{};
    std::int32_t root_ = 0;
    std::vector<Index> found_;
};

}  // namespace

KeyCounts graphlets(const Graphs& graphs, int nodes, Watch& watch) {
    if (nodes < kLeastGraphlet || nodes > kMostGraphlet)
        throw std::invalid_argument("graphs: graphlets have 3 to 5 nodes");
    const Shapes& shapes = Shapes::of(nodes);
    std::vector<std::vector<std::pair<std::uint32_t, Index>>> rows(static_cast<std::size_t>(graphs.size()));
    parallel(graphs.size(), watch, [&](Index graph) {
        const std::vector<Index> found = Search(graphs, graph, nodes, watch).run();
        for (std::size_t shape = 0; shape < found.size(); ++shape) {
            if (found[shape] > 0)
                rows[static_cast<std::size_t>(graph)].emplace_back(shapes.smallest(shape), found[shape]);
        }
    });
    KeyCounts counts;
    counts.offsets.push_back(0);
    for (const auto& row : rows) {
        for (const auto& [key, times] : row) {
            counts.keys.push_back(key);
            counts.times.push_back(times);
        }
        counts.offsets.push_back(static_cast<Index>(counts.keys.size()));
    }
    return counts;
}

}  // namespace mercer
