// The table of instruction sets, and what each row of it can do: walk a Gram matrix tile by tile into a reducer.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "mercer/block.hpp"
#include "mercer/plan.hpp"
#include "mercer/threads.hpp"
#include "mercer/view.hpp"

namespace mercer {

// The right side of a Gram matrix, packed for one instruction set and precision. Made once, read by many.
class Packed {
   public:
    virtual ~Packed() = default;
    virtual bool single() const = 0;
    virtual Index bytes() const = 0;
};

// A value of K that is not finite: where, and which instruction of the tape as lowered made it.
struct NotFinite : std::runtime_error {
    NotFinite(Index row_, Index column_, int origin_)
        : std::runtime_error("a kernel value is not finite"), row(row_), column(column_), origin(origin_) {}
    Index row;
    Index column;
    int origin;
};

// A walk over K(left, right). `symmetric`: left and right are the same points, so half of the tiles will do and
// the diagonal is exact.
struct Walk {
    const Plan& plan;
    const Side& left;
    const Side& right;
    const Packed& packed;
    bool symmetric = false;
    Watch& watch;
    Index budget = Index{48} << 20;  // bytes of working memory; the least is one strip of tiles
};

// Reducers: what drinks the tiles. All arrays are row by row; sums are kept in double.
enum class Format { real64, real32, code16 };
// Values of K in 16 bits: k is low + step code, to half a step.
struct Code {
    double low = 0.0;
    double step = 1.0;
};
struct Store {
    void* out = nullptr;  // (n, m)
    Format format = Format::real64;
    Code code = {};     // of code16
    bool half = false;  // in a symmetric walk, leave what is below the blocks of the diagonal as it is
};
struct MatVec {
    const double* v = nullptr;  // (m, t); none: a column of ones, that is the row sums
    Index t = 1;
    double* out = nullptr;  // (n, rungs t)
    bool hollow = false;    // K without its diagonal, in a symmetric walk
    Index rungs = 1;        // after K v the same for powers of the entries: rung r for k^(2^(r doublings))
    int doublings = 0;

    Index width() const { return rungs * t; }
};
struct Normal {                 // out = K' D (K v + w), D diagonal for each column
    const double* v = nullptr;  // (m, t); none is zero
    const double* w = nullptr;  // (n, t), may be none
    Index t = 1;
    double* out = nullptr;      // (m, t)
    const double* d = nullptr;  // (n, d_width); none is one
    Index d_width = 1;          // t, or 1 for all columns alike
};
struct TopK {
    Index k = 1;
    bool largest = true;
    double* values = nullptr;  // (n, k), best first; ties by index
    Index* indices = nullptr;  // (n, k)
};

struct Scatter {                    // rows of K, each into memory of its own, and g += delta'K
    void* const* rows = nullptr;    // (n) pointers to m numbers each, may be none
    bool single = false;            // of these numbers
    const double* delta = nullptr;  // (n), may be none
    double* g = nullptr;            // (m)
    Index tasks = 4;                // parts into which the columns are cut at least
};

struct Held {                          // out = K v for a symmetric matrix in memory
    const std::uint16_t* K = nullptr;  // (n, n), of which nothing below the blocks of the diagonal is read
    Index n = 0;
    Code code = {};
    const double* v = nullptr;  // (n)
    double* out = nullptr;      // (n)
};

struct Deflate {               // out = x - G G'x
    const float* G = nullptr;  // (r, n): a column after the other
    Index n = 0;
    Index r = 0;
    const double* x = nullptr;  // (n)
    double* out = nullptr;      // (n)
};

struct Coarsened {                         // A = W K W + a diagonal, for a factor in 16 bits
    const std::uint16_t* codes = nullptr;  // (n, n), of which nothing below the diagonal is read
    Index n = 0;
    Code code = {};
    const float* weights = nullptr;    // (n)
    const double* diagonal = nullptr;  // (n), of A, > 0
    float smallest = 0.0F;             // a pivot, of the matrix scaled to a diagonal of 1, that is still believed
};
// A ~ L L', made by some columns after the other from what the caller keeps in its place.
class Coarse {
   public:
    virtual ~Coarse() = default;
    virtual Index n() const = 0;
    virtual double share() const = 0;  // of the work that is done
    // Some more columns; false where a pivot is too small, which is the end of it.
    virtual bool advance(Index columns, Watch& watch) = 0;
    virtual void solve(const double* right, double* out, Watch& watch) const = 0;  // (n), (n)
};

struct Diagonals {              // of Q (T + rho)^-1 Q', T tridiagonal, for some rho
    const double* Q = nullptr;  // (k, n): a column of Q after the other
    Index n = 0;
    Index k = 0;
    const double* diagonal = nullptr;  // (k), of T
    const double* beside = nullptr;    // (k - 1)
    const double* shifts = nullptr;    // (count)
    Index count = 0;
    double* out = nullptr;  // (count, n)
};

// Vectors of whole numbers of 16 bits, packed for a search by one instruction set. Made once, read by many.
class Whole {
   public:
    virtual ~Whole() = default;
    virtual Index n() const = 0;
    virtual Index d() const = 0;
    virtual Index largest() const = 0;  // modulus of a number
};
struct Nearest {  // of whole vectors z, by |x - z|^2, which is exact
    const Whole& right;
    const std::int16_t* left = nullptr;  // (m, d)
    Index m = 0;
    Index k = 1;
    double* values = nullptr;  // (m, k), nearest first; ties by index
    Index* indices = nullptr;  // (m, k)
};

// The inner loops of the support vector machines, in one precision of K.
template <class T>
struct Inner {
    Index (*solve_block)(Block<T>&);   // the number of steps taken
    bool (*minimise_free)(Block<T>&);  // whether b is at the minimum over its free variables now
    void (*add_rows)(const T* const* rows, const double* delta, Index count, Index c0, Index c1, double* g);
};

// One row of the table.
struct Engine {
    std::string_view name;
    bool (*runs_here)();
    // Packs the right side in float (single) or double.
    std::unique_ptr<Packed> (*pack)(const Plan&, const Side& right, bool single);
    // The share of pairs whose distance had to be recomputed, on a sample: decides whether float is worth it.
    double (*mended_share)(const Walk&);
    void (*store)(const Walk&, const Store&);
    void (*matvec)(const Walk&, const MatVec&);
    void (*normal)(const Walk&, const Normal&);
    void (*topk)(const Walk&, const TopK&);
    void (*scatter)(const Walk&, const Scatter&);
    void (*held)(const Held&, Watch&);
    void (*deflate)(const Deflate&, Watch&);
    std::unique_ptr<Coarse> (*coarse)(const Coarsened&);
    // False, and nothing done, where some T + rho is not positive.
    bool (*diagonals)(const Diagonals&, Watch&);
    std::unique_ptr<Whole> (*whole)(const std::int16_t* rows, Index n, Index d);
    // Throws std::invalid_argument where 32 bits do not hold 2 <x, z> - |z|^2 for all of them.
    void (*nearest)(const Nearest&, Watch&);
    // k(x_i, z_i) for the i-th of both sides, in double.
    void (*pairs)(const Plan&, const Side& left, const Side& right, double* out, Watch&);
    Inner<float> inner_single;
    Inner<double> inner_double;
    Extremes (*extremes)(const double* g, const double* up, const double* down, Index n);

    template <class T>
    const Inner<T>& inner() const {
        if constexpr (sizeof(T) == 4) return inner_single;
        else return inner_double;
    }
};

// Best last. Built from what was compiled in; rows the machine cannot run say so.
std::span<const Engine* const> engines();
// The row named, or the one that MERCER_INSTRUCTION_SET names, or the best; throws if this machine cannot run it.
const Engine& choose_engine(std::string_view name = {});

namespace baseline {
const Engine& engine();
}
namespace avx2 {
const Engine& engine();
}
namespace avx512 {
const Engine& engine();
}

}  // namespace mercer
