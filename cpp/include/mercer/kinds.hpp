// The table of leaves as every part of the core sees it; their code is compiled once for each instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "mercer/view.hpp"

namespace mercer {

enum class Kind : std::uint8_t {
#define MERCER_LEAF(name, ...) name,
#include "mercer/leaves.def"
#undef MERCER_LEAF
};

// What a leaf takes from the points of both sides.
enum class Takes : std::uint8_t {
    vectors,      // rows with inner products: dense, sparse, or sets
    coordinates,  // dense rows
    amounts,      // dense rows without negative numbers
    codes,
    entries,   // of a matrix
    calls,     // of a function
    bags,      // of points of any kind
    letters,   // in a string of them
    parts,     // vectors: of a bag, or of a series
    networks,  // graphs, in letters
};
inline constexpr auto kTakes = std::to_array<std::string_view>(
    {"vectors", "coordinates", "amounts", "codes", "entries", "calls", "bags", "letters", "parts", "networks"});

// What a tape reads of a leaf's tile: inner products, and distances that are made of them; or the tile as it is.
enum class Reading : std::uint8_t { products, value };

struct LeafRow {
    std::string_view name;
    Takes takes;
    Reading reading;
    std::size_t parameters;
    std::string_view text;
};
inline constexpr auto kLeaves = std::to_array<LeafRow>({
#define MERCER_LEAF(name, takes, reading, parameters, text) {#name, Takes::takes, Reading::reading, parameters, text},
#include "mercer/leaves.def"
#undef MERCER_LEAF
});

inline constexpr const LeafRow& row_of(Kind kind) { return kLeaves[static_cast<std::size_t>(kind)]; }

// Whether a source holds what a leaf takes, as far as its type says so.
inline bool fits(Takes takes, const Source& source) {
    switch (takes) {
        case Takes::vectors:
            return std::holds_alternative<Dense>(source) || std::holds_alternative<Sparse>(source);
        case Takes::coordinates:
        case Takes::amounts:
            return std::holds_alternative<Dense>(source);
        case Takes::codes:
            return std::holds_alternative<Codes>(source);
        case Takes::entries:
            return std::holds_alternative<Matrix>(source);
        case Takes::calls:
            return std::holds_alternative<Call>(source);
        case Takes::bags:
            return std::holds_alternative<Bags>(source);
        case Takes::letters:
        case Takes::networks:
            return std::holds_alternative<Letters>(source);
        case Takes::parts:
            return std::holds_alternative<Parts>(source);
    }
    return false;
}

}  // namespace mercer
