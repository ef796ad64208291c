// Kernels as tapes, and random points of every kind.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mercer/plan.hpp"
#include "mercer/view.hpp"
#include "networks.hpp"

namespace oracle {

using mercer::Index;
using mercer::Kind;
using mercer::Op;

// A kernel before it is a plan. Each method appends one instruction and returns its register.
struct Formula {
    std::vector<Kind> leaves;
    std::vector<mercer::Instruction> tape;
    int rows = 0;
    std::vector<std::vector<double>> parameters = {};

    int leaf(Kind kind, std::vector<double> of_leaf = {}) {
        leaves.push_back(kind);
        parameters.push_back(std::move(of_leaf));
        return static_cast<int>(leaves.size()) - 1;
    }
    int add(Op op, int a = -1, int b = -1, double s = 0.0, double t = 0.0) {
        tape.push_back({op, static_cast<int>(tape.size()), a, b, s, t, -1});
        return tape.back().out;
    }
    int scaled(int a, double s, double t = 0.0) { return add(Op::affine, a, -1, s, t); }
    mercer::Plan plan() const {
        const int registers = static_cast<int>(tape.size());
        return mercer::Plan(leaves, tape, registers, rows, registers - 1, parameters);
    }
};

// What the points of a leaf look like.
enum class Make { dense, positive, unit, sparse, set, codes, stored, callback, bags, nested, letters, parts, networks };

// Points and the memory that a Side looks at, in both precisions. Every number is a float, so that both precisions are
// given the same points.
class Points {
   public:
    Points() = default;
    explicit Points(Index n) { side_[0].n = side_[1].n = n; }
    Points(const Points&) = delete;
    Points& operator=(const Points&) = delete;

    const mercer::Side& side(bool single = false) const { return side_[single ? 0 : 1]; }
    Index n() const { return side_[0].n; }

    void dense(const std::vector<double>& values, Index d) {
        each([&](mercer::Side& side, bool single) {
            side.sources.push_back(mercer::Dense{keep(values, single), n(), d});
        });
    }
    void sparse(std::vector<Index> offsets, std::vector<std::int32_t> columns, const std::vector<double>& values,
                Index d, std::vector<double> sizes = {}) {
        const Index* o = integers_.emplace_back(std::move(offsets)).data();
        const std::int32_t* c = columns_.emplace_back(std::move(columns)).data();
        const double* s = sizes.empty() ? nullptr : doubles_.emplace_back(std::move(sizes)).data();
        each([&](mercer::Side& side, bool single) {
            side.sources.push_back(
                mercer::Sparse{o, c, values.empty() ? mercer::Numbers{} : keep(values, single), s, n(), d});
        });
    }
    void codes(std::vector<Index> codes) {
        const Index* c = integers_.emplace_back(std::move(codes)).data();
        each([&](mercer::Side& side, bool) { side.sources.push_back(mercer::Codes{c, n()}); });
    }
    void stored(const std::vector<double>& values, Index m) {
        each([&](mercer::Side& side, bool single) {
            side.sources.push_back(mercer::Matrix{keep(values, single), n(), m});
        });
    }
    void call(std::function<double(Index, Index)> entry) {
        const auto fill = [entry = std::move(entry)](Index i0, Index i1, Index j0, Index j1, double* out) {
            for (Index i = i0; i < i1; ++i) {
                for (Index j = j0; j < j1; ++j) *out++ = entry(i, j);
            }
        };
        each([&](mercer::Side& side, bool) { side.sources.push_back(mercer::Call{fill, n()}); });
    }
    void letters(std::vector<Index> offsets, std::vector<std::int32_t> codes) {
        const Index* o = integers_.emplace_back(std::move(offsets)).data();
        const std::int32_t* c = columns_.emplace_back(std::move(codes)).data();
        each([&](mercer::Side& side, bool) { side.sources.push_back(mercer::Letters{o, c, n()}); });
    }
    void parts(std::vector<Index> offsets, const std::vector<double>& values, Index d) {
        const Index* o = integers_.emplace_back(std::move(offsets)).data();
        each([&](mercer::Side& side, bool single) {
            side.sources.push_back(mercer::Parts{o, keep(values, single), n(), d});
        });
    }
    void row(std::vector<double> values) {
        const double* r = doubles_.emplace_back(std::move(values)).data();
        each([&](mercer::Side& side, bool) { side.rows.push_back(r); });
    }

    // Bags of parts, with the plan of a kernel of these.
    Points& bags(std::vector<Index> offsets, const mercer::Plan& plan) {
        Points& parts = parts_.emplace_back(offsets.back());
        const Index* o = integers_.emplace_back(std::move(offsets)).data();
        const auto shared = std::make_shared<const mercer::Plan>(plan);
        each([&](mercer::Side& side, bool single) {
            const std::shared_ptr<const mercer::Side> inside(std::shared_ptr<void>(), &parts.side(single));
            side.sources.push_back(mercer::Bags{o, inside, shared, n()});
        });
        return parts;
    }

   private:
    template <class Add>
    void each(Add add) {
        add(side_[0], true);
        add(side_[1], false);
    }
    mercer::Numbers keep(const std::vector<double>& values, bool single) {
        if (single) return {floats_.emplace_back(values.begin(), values.end()).data(), true};
        return {doubles_.emplace_back(values).data(), false};
    }

    mercer::Side side_[2];
    std::deque<std::vector<float>> floats_;
    std::deque<std::vector<double>> doubles_;
    std::deque<std::vector<Index>> integers_;
    std::deque<std::vector<std::int32_t>> columns_;
    std::deque<Points> parts_;
};

struct Draw {
    explicit Draw(unsigned seed) : bits(seed) {}
    double normal() { return as_float(std::normal_distribution<double>()(bits)); }
    double uniform(double low = 0.0, double high = 1.0) {
        return as_float(std::uniform_real_distribution<double>(low, high)(bits));
    }
    Index below(Index n) { return std::uniform_int_distribution<Index>(0, n - 1)(bits); }
    std::vector<double> normals(Index count) {
        std::vector<double> values(static_cast<std::size_t>(count));
        for (double& x : values) x = normal();
        return values;
    }
    static double as_float(double x) { return static_cast<double>(static_cast<float>(x)); }
    std::mt19937_64 bits;
};

struct Kernel {
    const char* name;
    Formula formula;
    std::vector<Make> sources;
    double slack = 1.0;  // what its condition does to the rounding of a distance
};

inline double called_entry(Index i, Index j) {
    return std::cos(0.37 * double(i)) * std::cos(0.37 * double(j)) + (i == j);
}

// The kernel of the parts of bags: a gaussian with a row register; of bags of bags, the sum of it.
inline Kernel part_kernel(bool nested) {
    if (nested) {
        Kernel kernel{"sum", {}, {Make::bags}};
        kernel.formula.add(Op::value, kernel.formula.leaf(Kind::convolution));
        return kernel;
    }
    Kernel kernel{"weighted gaussian", {}, {Make::dense}};
    Formula& f = kernel.formula;
    f.rows = 1;
    f.add(Op::mul_rows, f.add(Op::exp, f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), -0.2)), 0);
    return kernel;
}

// Random points for a kernel: n of them, d wide, to be the left side of a Gram matrix with m columns. The points of a
// set on the left may have up to `outside` items that the right side has never seen.
inline void draw_points(const Kernel& kernel, Index m, Index d, unsigned seed, Index outside, Points& points) {
    Draw draw(seed);
    const Index n = points.n();
    for (const Make make : kernel.sources) {
        switch (make) {
            case Make::dense:
                points.dense(draw.normals(n * d), d);
                break;
            case Make::positive: {
                std::vector<double> values(static_cast<std::size_t>(n * d));
                for (double& x : values) x = draw.below(4) == 0 ? 0.0 : draw.uniform();
                points.dense(values, d);
                break;
            }
            case Make::unit: {
                std::vector<double> values = draw.normals(n * d);
                for (Index i = 0; i < n; ++i) {
                    double norm = 0.0;
                    for (Index k = 0; k < d; ++k)
                        norm += values[std::size_t(i * d + k)] * values[std::size_t(i * d + k)];
                    for (Index k = 0; k < d; ++k)
                        values[std::size_t(i * d + k)] =
                            Draw::as_float(values[std::size_t(i * d + k)] / std::sqrt(norm));
                }
                points.dense(values, d);
                break;
            }
            case Make::sparse:
            case Make::set: {
                const Index width = 3 * d + 2;
                std::vector<Index> offsets = {0};
                std::vector<std::int32_t> columns;
                std::vector<double> values;
                std::vector<double> sizes;
                for (Index i = 0; i < n; ++i) {
                    for (Index k = 0; k < width; ++k) {
                        if (draw.below(3) != 0 || i % 7 == 5) continue;  // every seventh row is empty
                        columns.push_back(static_cast<std::int32_t>(k));
                        if (make == Make::sparse) values.push_back(draw.normal());
                    }
                    offsets.push_back(static_cast<Index>(columns.size()));
                    if (make == Make::set)
                        sizes.push_back(
                            static_cast<double>(offsets.back() - offsets[std::size_t(i)] + draw.below(outside + 1)));
                }
                if (make == Make::set) points.row(sizes);
                points.sparse(offsets, columns, values, width, sizes);
                break;
            }
            case Make::codes: {
                std::vector<Index> codes(static_cast<std::size_t>(n));
                for (Index& code : codes) code = draw.below(5);
                points.codes(codes);
                break;
            }
            case Make::stored: {
                std::vector<double> values(static_cast<std::size_t>(n * m));
                for (Index i = 0; i < n; ++i) {
                    for (Index j = 0; j < m; ++j) values[std::size_t(i * m + j)] = Draw::as_float(called_entry(i, j));
                }
                points.stored(values, m);
                break;
            }
            case Make::callback:
                points.call(called_entry);
                break;
            case Make::bags:
            case Make::nested: {
                const bool nested = make == Make::nested;
                std::vector<Index> offsets = {0};  // every seventh bag is empty
                for (Index i = 0; i < n; ++i)
                    offsets.push_back(offsets.back() + (i % 7 == 5 ? 0 : draw.below(nested ? 3 : 9)));
                const Kernel part = part_kernel(nested);
                Points& parts = points.bags(std::move(offsets), part.formula.plan());
                draw_points(part, 0, d, seed + 1, 0, parts);
                break;
            }
            case Make::letters:
            case Make::parts: {
                std::vector<Index> offsets = {0};  // every seventh point is empty
                for (Index i = 0; i < n; ++i) offsets.push_back(offsets.back() + (i % 7 == 5 ? 0 : draw.below(9)));
                if (make == Make::parts) {
                    const std::vector<double> values = draw.normals(offsets.back() * d);
                    points.parts(std::move(offsets), values, d);
                    break;
                }
                std::vector<std::int32_t> codes(static_cast<std::size_t>(offsets.back()));
                for (std::int32_t& code : codes) code = static_cast<std::int32_t>(draw.below(4)) - 1;
                points.letters(std::move(offsets), std::move(codes));
                break;
            }
            case Make::networks: {
                std::vector<Index> offsets = {0};
                std::vector<std::int32_t> words;
                for (Index i = 0; i < n; ++i) {
                    const std::vector<std::int32_t> more = network([&](Index below) { return draw.below(below); });
                    words.insert(words.end(), more.begin(), more.end());
                    offsets.push_back(static_cast<Index>(words.size()));
                }
                points.letters(std::move(offsets), std::move(words));
                break;
            }
        }
    }
    while (static_cast<int>(points.side().rows.size()) < kernel.formula.rows) {
        std::vector<double> row(static_cast<std::size_t>(n));
        for (double& x : row) x = draw.uniform(0.5, 1.5);
        points.row(row);
    }
}

}  // namespace oracle
