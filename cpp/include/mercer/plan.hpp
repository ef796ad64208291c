// A plan: what a kernel formula becomes when it is lowered. Leaves make tiles, a tape of elementwise
// instructions folds them into one tile. Knows neither points nor instruction sets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "mercer/kinds.hpp"

namespace mercer {

// Three readings of a leaf's tile, then the rows of ops.def.
enum class Op : std::uint8_t {
    inner,   // <x, z> of a dot leaf
    sqdist,  // |x - z|^2 of a dot leaf, free of cancellation
    value,   // the tile of any other leaf
#define MERCER_OP(name, uses, expression) name,
#include "mercer/ops.def"
#undef MERCER_OP
};

inline constexpr auto kOpNames = std::to_array<std::string_view>({
    "inner",
    "sqdist",
    "value",
#define MERCER_OP(name, uses, expression) #name,
#include "mercer/ops.def"
#undef MERCER_OP
});

struct Instruction {
    Op op{};
    int out = -1;
    int a = -1;  // a tile register; the leaf for the three readings
    int b = -1;  // a tile register, or a row register
    double s = 0.0;
    double t = 0.0;
    int origin = -1;     // its place on the tape as it was lowered, for messages
    double scale = 1.0;  // a is read as scale * a + offset: an affine map that was absorbed
    double offset = 0.0;
};

// How a leaf is computed: its parameters, and what is decided from how the tape reads it.
struct LeafUse {
    std::vector<double> parameters;
    bool centred = false;   // some reading is a distance: rows are shifted by the mean of the right side
    bool apart = false;     // every reading is a distance
    bool gaussian = false;  // its only reading is exp(scale * |x - z|^2): dense tiles hold its exponents
    double scale = 0.0;     // (then: scale < 0)
    bool read_once = false;
};

class Plan {
   public:
    // `parameters`: of each leaf; none where no leaf has any.
    Plan(std::vector<Kind> leaves, std::vector<Instruction> tape, int registers, int rows, int result,
         std::vector<std::vector<double>> parameters = {});

    const std::vector<Kind>& leaves() const { return leaves_; }
    const std::vector<LeafUse>& uses() const { return uses_; }
    const std::vector<Instruction>& tape() const { return tape_; }  // registers renamed to few, reused slots
    int slots() const { return slots_; }
    int rows() const { return rows_; }
    int result() const { return result_; }

   private:
    void check(int registers) const;
    std::ptrdiff_t readers(int reg) const;
    void fuse_gaussians();
    void absorb_affine();
    void reuse_slots(int registers);

    std::vector<Kind> leaves_;
    std::vector<LeafUse> uses_;
    std::vector<Instruction> tape_;
    int slots_ = 0;
    int rows_ = 0;
    int result_ = 0;
};

// Which operands an instruction reads: a leaf, registers, a row register, its two numbers.
enum Uses : unsigned { kLeaf = 1, kA = 2, kB = 4, kR = 8, kS = 16, kT = 32 };
inline constexpr auto kUses = std::to_array<std::string_view>({"leaf", "a", "b", "row", "s", "t"});
unsigned operands(Op op);
inline bool reads_leaf(Op op) { return op <= Op::value; }

}  // namespace mercer
