// What the engine is given: views on memory that the caller owns. One source per leaf and side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace mercer {

using Index = std::int64_t;

// Numbers of either precision, read as float or double.
struct Numbers {
    const void* data = nullptr;
    bool single = false;

    template <class T>
    T at(Index i) const {
        return single ? static_cast<T>(static_cast<const float*>(data)[i])
                      : static_cast<T>(static_cast<const double*>(data)[i]);
    }
    // use(pointer to the numbers as they are), for loops that should not ask at every step
    template <class Use>
    auto as_they_are(Use use) const {
        return single ? use(static_cast<const float*>(data)) : use(static_cast<const double*>(data));
    }
};

struct Dense {  // (n, d), row by row
    Numbers values;
    Index n = 0;
    Index d = 0;
};

struct Sparse {                      // (n, d) in compressed rows
    const Index* offsets = nullptr;  // (n + 1)
    const std::int32_t* columns = nullptr;
    Numbers values;                 // no data: every stored value is one (sets)
    const double* sizes = nullptr;  // (n) |S| of a set, items outside the dictionary included
    Index n = 0;
    Index d = 0;
};

struct Codes {  // (n) one integer per distinct point
    const Index* codes = nullptr;
    Index n = 0;
};

struct Matrix {  // entries that exist already: (n, m) on the left, nothing but m on the right
    Numbers values;
    Index n = 0;
    Index m = 0;
};

struct Call {  // entries made by a function: out is (i1 - i0, j1 - j0)
    std::function<void(Index i0, Index i1, Index j0, Index j1, double* out)> fill;
    Index n = 0;
};

class Plan;
struct Side;

struct Bags {                        // (n) bags of parts, and what is summed over pairs of parts
    const Index* offsets = nullptr;  // (n + 1), in parts
    std::shared_ptr<const Side> parts;
    std::shared_ptr<const Plan> plan;
    Index n = 0;
};

// Ragged points: those of point i are at [offsets[i], offsets[i + 1]).
struct Letters {                     // (n) strings; a letter is an integer, compared for equality only
    const Index* offsets = nullptr;  // (n + 1)
    const std::int32_t* codes = nullptr;
    Index n = 0;

    Index length(Index i) const { return offsets[i + 1] - offsets[i]; }
};

struct Parts {                       // (n) bags or series of vectors, d wide, row by row
    const Index* offsets = nullptr;  // (n + 1), in vectors
    Numbers values;
    Index n = 0;
    Index d = 0;

    Index count(Index i) const { return offsets[i + 1] - offsets[i]; }
};

using Source = std::variant<Dense, Sparse, Codes, Matrix, Call, Bags, Letters, Parts>;

// One side of a Gram matrix: a source for each leaf of the plan, and the plan's row registers.
struct Side {
    Index n = 0;
    std::vector<Source> sources;
    std::vector<const double*> rows;  // each (n)
};

inline bool has_parts(const Side& side) {
    return std::any_of(side.sources.begin(), side.sources.end(),
                       [](const Source& source) { return std::holds_alternative<Bags>(source); });
}

}  // namespace mercer
