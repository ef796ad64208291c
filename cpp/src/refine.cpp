// Colour refinement (Weisfeiler and Lehman). In each round a node's signature is its colour and those around it, and
// equal signatures get the same new colour. Signatures are compared as they are: a hash only says where to look.
#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>

#include "mercer/graphs.hpp"

namespace mercer {

namespace {

using Item = std::int64_t;
using Signature = std::span<const Item>;

// Items that stand for no colour: what follows is a label; what follows comes in.
constexpr Item kLabel = -1, kComesIn = -2;
constexpr Index kNodesEach = 2048;
// Tables, each for the hashes that begin with its number: they are filled side by side.
constexpr int kShardBits = 6;
constexpr std::size_t kShards = std::size_t{1} << kShardBits;
constexpr Item kMostColours = std::numeric_limits<std::int32_t>::max();

std::uint64_t hash_of(Signature signature) {
    std::uint64_t hash = 0x9e3779b97f4a7c15U ^ signature.size();
    for (const Item item : signature) {
        hash = std::rotl((hash ^ static_cast<std::uint64_t>(item)) * 0xff51afd7ed558ccdU, 29);
        hash *= 0xc4ceb9fe1a85ec53U;
    }
    return hash ^ hash >> 32;
}

std::size_t shard_of(std::uint64_t hash) { return static_cast<std::size_t>(hash >> (64 - kShardBits)); }

bool same(Signature a, Signature b) { return std::equal(a.begin(), a.end(), b.begin(), b.end()); }

// Finds who had a signature first, by its hash.
class Table {
   public:
    void reserve(std::size_t count) {
        slots_.assign(std::bit_ceil(2 * count + 1), Slot{});
        mask_ = slots_.size() - 1;
    }
    // The owner of the same signature; `owner`, which now has it, where nobody had.
    template <class SameAs>
    Index find_or_put(std::uint64_t hash, Index owner, SameAs is_mine) {
        for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
            Slot& slot = slots_[at];
            if (slot.owner < 0) {
                slot = {hash, owner};
                return owner;
            }
            if (slot.hash == hash && is_mine(slot.owner)) return slot.owner;
        }
    }
    // The same, or −1.
    template <class SameAs>
    Index find(std::uint64_t hash, SameAs is_mine) const {
        if (slots_.empty()) return -1;
        for (std::size_t at = hash & mask_; slots_[at].owner >= 0; at = (at + 1) & mask_) {
            if (slots_[at].hash == hash && is_mine(slots_[at].owner)) return slots_[at].owner;
        }
        return -1;
    }

   private:
    struct Slot {
        std::uint64_t hash = 0;
        Index owner = -1;
    };
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
};

// What belongs to which shard, in its order.
struct Shards {
    std::vector<Index> members;
    std::vector<std::size_t> offsets;

    explicit Shards(const std::vector<std::uint64_t>& hashes) : members(hashes.size()), offsets(kShards + 1) {
        for (const std::uint64_t hash : hashes) ++offsets[shard_of(hash) + 1];
        for (std::size_t shard = 0; shard < kShards; ++shard) offsets[shard + 1] += offsets[shard];
        std::vector<std::size_t> next(offsets.begin(), offsets.end() - 1);
        for (std::size_t at = 0; at < hashes.size(); ++at)
            members[next[shard_of(hashes[at])]++] = static_cast<Index>(at);
    }
    std::span<const Index> of(std::size_t shard) const {
        return {members.data() + offsets[shard], members.data() + offsets[shard + 1]};
    }
};

class Refinement {
   public:
    Refinement(const Graphs& graphs, Palette& palette, Watch& watch)
        : graphs_(graphs), palette_(palette), watch_(watch), known_(kShards), owner_(count()), hashes_(count()) {
        std::vector<std::uint64_t> hashes(static_cast<std::size_t>(palette.size()));
        each_range(palette.size(),
                   [&](Index colour) { hashes[static_cast<std::size_t>(colour)] = hash_of(palette.of(colour)); });
        const Shards shards(hashes);
        each_shard([&](std::size_t shard) {
            known_[shard].reserve(shards.of(shard).size());
            for (const Index colour : shards.of(shard))
                known_[shard].find_or_put(hashes[static_cast<std::size_t>(colour)], colour,
                                          [&](Index other) { return same(palette.of(other), palette.of(colour)); });
        });
        room_.assign(count() + 1, 0);
        lengths_.assign(count(), 0);
        for (Index graph = 0; graph < graphs.size(); ++graph) {
            for (Index node = graphs.begin(graph); node < graphs.end(graph); ++node) {
                const std::size_t at = static_cast<std::size_t>(node);
                room_[at + 1] = room_[at] + 2 + static_cast<Index>(graphs.out(node).size() + graphs.in(node).size());
            }
        }
        items_.resize(static_cast<std::size_t>(room_.back()));
    }

    void labels(std::span<Item> colours) {
        each_range(graphs_.node_count(), [&](Index node) {
            Item* to = items_.data() + room_[static_cast<std::size_t>(node)];
            to[0] = kLabel;
            to[1] = graphs_.label(node);
            finish(node, 2);
        });
        number(colours);
    }

    void round(std::span<const Item> before, std::span<Item> colours) {
        parallel(graphs_.size(), watch_, [&](Index graph) {
            watch_.look();
            const Index first = graphs_.begin(graph);
            const auto seen = [&](std::span<const Arc> arcs, Item* to) {
                for (std::size_t at = 0; at < arcs.size(); ++at)
                    to[at] = Item{arcs[at].label} << 32 | before[static_cast<std::size_t>(first + arcs[at].node)];
                std::sort(to, to + arcs.size());
                return arcs.size();
            };
            for (Index node = first; node < graphs_.end(graph); ++node) {
                Item* to = items_.data() + room_[static_cast<std::size_t>(node)];
                to[0] = before[static_cast<std::size_t>(node)];
                const std::size_t out = seen(graphs_.out(node), to + 1);
                Item* second = to + 1 + out;
                const std::size_t in = seen(graphs_.in(node), second + 1);
                // Arcs both ways are an undirected edge, whatever the graph is called.
                const bool both_ways =
                    !graphs_.directed(graph) || std::equal(to + 1, second, second + 1, second + 1 + in);
                *second = kComesIn;
                finish(node, 1 + out + (both_ways ? 0 : 1 + in));
            }
        });
        number(colours);
    }

   private:
    std::size_t count() const { return static_cast<std::size_t>(graphs_.node_count()); }
    Signature of(Index node) const {
        const std::size_t at = static_cast<std::size_t>(node);
        return {items_.data() + room_[at], lengths_[at]};
    }
    void finish(Index node, std::size_t length) {
        lengths_[static_cast<std::size_t>(node)] = length;
        hashes_[static_cast<std::size_t>(node)] = hash_of(of(node));
    }
    template <class Use>
    void each_range(Index count, Use use) {
        parallel((count + kNodesEach - 1) / kNodesEach, watch_, [&](Index task) {
            watch_.look();
            for (Index at = task * kNodesEach; at < std::min(count, (task + 1) * kNodesEach); ++at) use(at);
        });
    }
    template <class Use>
    void each_shard(Use use) {
        parallel(Index{kShards}, watch_, [&](Index shard) {
            watch_.look();
            use(static_cast<std::size_t>(shard));
        });
    }

    // Known signatures get their colours; new ones are numbered in order of the nodes that have them first.
    void number(std::span<Item> colours) {
        const Shards shards(hashes_);
        constexpr Index kKnown = -1;
        each_shard([&](std::size_t shard) {
            Table fresh;
            fresh.reserve(shards.of(shard).size());
            for (const Index node : shards.of(shard)) {
                const std::size_t at = static_cast<std::size_t>(node);
                const Signature mine = of(node);
                const Index known =
                    known_[shard].find(hashes_[at], [&](Index colour) { return same(palette_.of(colour), mine); });
                owner_[at] = known >= 0 ? kKnown : fresh.find_or_put(hashes_[at], node, [&](Index other) {
                    return same(of(other), mine);
                });
                colours[at] = known;
            }
        });
        for (Index node = 0; node < graphs_.node_count(); ++node) {
            const std::size_t at = static_cast<std::size_t>(node);
            if (owner_[at] == kKnown) continue;
            if (owner_[at] == node) {
                colours[at] = palette_.size();
                const Signature mine = of(node);
                palette_.items.insert(palette_.items.end(), mine.begin(), mine.end());
                palette_.offsets.push_back(static_cast<Index>(palette_.items.size()));
            } else {
                colours[at] = colours[static_cast<std::size_t>(owner_[at])];
            }
        }
        if (palette_.size() > kMostColours) throw std::length_error("graphs: more than 2**31 colours");
    }

    const Graphs& graphs_;
    Palette& palette_;
    Watch& watch_;
    std::vector<Table> known_;
    std::vector<Index> owner_;  // of each node: the first with its signature
    std::vector<std::uint64_t> hashes_;
    std::vector<Index> room_;
    std::vector<std::size_t> lengths_;
    std::vector<Item> items_;
};

}  // namespace

std::vector<std::int64_t> refined(const Graphs& graphs, int depth, Palette& palette, Watch& watch) {
    const std::size_t nodes = static_cast<std::size_t>(graphs.node_count());
    std::vector<Item> colours(nodes * static_cast<std::size_t>(depth + 1));
    Refinement refinement(graphs, palette, watch);
    const auto row = [&](int round) {
        return std::span(colours).subspan(static_cast<std::size_t>(round) * nodes, nodes);
    };
    refinement.labels(row(0));
    for (int round = 1; round <= depth; ++round) refinement.round(row(round - 1), row(round));
    return colours;
}

}  // namespace mercer
