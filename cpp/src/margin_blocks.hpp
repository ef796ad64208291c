// How large the blocks of a support vector machine's solver are, and how well they are solved.
#pragma once

#include <algorithm>

#include "mercer/block.hpp"

namespace mercer {

// A problem of few variables is one block. Of problems that share rows, fewer: to make the block's entries for each of
// them takes longer than to share them, unless they are stored.
inline constexpr Index kFewVariables = 1024;
inline constexpr Index kFewOfMany = 256;
inline bool is_one_block(Index variables, bool shares_made_rows) {
    return variables <= (shares_made_rows ? kFewOfMany : kFewVariables);
}
// Variables in a block: a twelfth of them, within limits. Few enough that making the block's own matrix costs little,
// enough that rows are made in batches.
inline constexpr Index kLeastBlock = 64;
inline constexpr Index kUsualBlock = 512;
inline constexpr Index kLargeBlock = 1024;  // of a problem with so many variables:
inline constexpr Index kManyVariables = 20000;
inline Index block_size(Index variables) {
    const Index most = variables < kManyVariables ? kUsualBlock : kLargeBlock;
    return std::min(variables, std::clamp<Index>(variables / 12 / kBlockPad * kBlockPad, kLeastBlock, most));
}
// A problem is hard when its blocks, over some of them, take many steps for each variable: a large C, many free
// variables that interact. Its blocks then hold all free variables if possible, and are solved less accurately.
inline constexpr Index kHardBlock = 2048;
inline constexpr Index kHardWindow = 8;
// The inner solver stops at this share of the violation it was given, or after so many steps for each variable. Steps
// cost little beside the rows of the variables they move, so a block is solved well, unless it is hard.
inline constexpr double kInnerShare = 0.02;
inline constexpr Index kInnerSteps = 2;
inline constexpr double kHardShare = 0.3;
inline constexpr Index kHardSteps = 50;

// Steps in hard blocks that cost about as much as Newton's method on this many free variables: its factorisations, and
// bringing f up to date in double.
inline Index newton_steps(Index free, Index variables) {
    constexpr Index kLeast = 20000;
    constexpr Index kFactorisation = 16;
    constexpr Index kImage = 8;
    return std::max(kLeast, free * free / kFactorisation + kImage * variables);
}

}  // namespace mercer
