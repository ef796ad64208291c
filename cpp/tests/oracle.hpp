// A slow and obvious second engine: kernels as tapes, points of every kind, and K entry by entry in long double.
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
#include "series.hpp"

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

inline std::vector<Kernel> kernels() {
    std::vector<Kernel> all;
    const auto begin = [&](const char* name, std::vector<Make> sources, int rows = 0) -> Formula& {
        all.push_back({name, {}, std::move(sources), 1.0});
        all.back().formula.rows = rows;
        return all.back().formula;
    };
    const auto gaussian = [](Formula& f, int leaf, double scale) {
        return f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), scale));
    };
    {
        Formula& f = begin("linear", {Make::dense});
        f.add(Op::inner, f.leaf(Kind::dot));
    }
    {
        Formula& f = begin("gaussian", {Make::dense});
        gaussian(f, f.leaf(Kind::dot), -0.2);
    }
    {
        Formula& f = begin("0.7 gaussian + linear * matern 3/2", {Make::dense});
        const int leaf = f.leaf(Kind::dot);
        const int square = f.add(Op::sqdist, leaf);
        const int smooth = f.scaled(f.add(Op::exp, f.scaled(square, -0.5)), 0.7);
        const int far = f.add(Op::sqrt, f.scaled(square, 3.0));
        const int matern = f.add(Op::mul, f.scaled(far, 1.0, 1.0), f.add(Op::decay, f.scaled(far, -1.0)));
        f.add(Op::add, smooth, f.add(Op::mul, f.add(Op::inner, leaf), matern));
    }
    {
        Formula& f = begin("gaussian of one leaf * exponential city-block of another", {Make::dense, Make::dense});
        const int smooth = gaussian(f, f.leaf(Kind::dot), -0.1);
        const int rough = f.add(Op::decay, f.scaled(f.add(Op::value, f.leaf(Kind::l1)), -0.2));
        f.add(Op::mul, smooth, rough);
    }
    {
        Formula& f = begin("minimum", {Make::positive});
        f.add(Op::value, f.leaf(Kind::min));
    }
    {
        Formula& f = begin("chi-squared", {Make::positive});
        f.add(Op::value, f.leaf(Kind::chi2));
    }
    {
        Formula& f = begin("equality", {Make::codes});
        f.add(Op::value, f.leaf(Kind::equal));
    }
    {
        Formula& f = begin("sparse linear", {Make::sparse});
        f.add(Op::inner, f.leaf(Kind::dot));
    }
    {
        Formula& f = begin("sparse gaussian", {Make::sparse});
        gaussian(f, f.leaf(Kind::dot), -0.1);
    }
    {
        Formula& f = begin("tanimoto of sets + gaussian of their difference", {Make::set}, 1);
        const int leaf = f.leaf(Kind::dot);
        const int common = f.add(Op::tanimoto, f.add(Op::inner, leaf), 0);
        f.add(Op::add, common, f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), -0.25)));
    }
    {
        Formula& f = begin("gaussian of sets", {Make::set}, 1);
        gaussian(f, f.leaf(Kind::dot), -0.25);
    }
    {
        Formula& f = begin("stored * gaussian", {Make::stored, Make::dense});
        const int stored = f.add(Op::value, f.leaf(Kind::stored));
        f.add(Op::mul, stored, gaussian(f, f.leaf(Kind::dot), -0.2));
    }
    {
        Formula& f = begin("callback + 1", {Make::callback});
        f.scaled(f.add(Op::value, f.leaf(Kind::callback)), 1.0, 1.0);
    }
    {
        Formula& f = begin("alignments + signatures up to level 3", {Make::parts, Make::parts});
        const int aligned = f.add(Op::value, f.leaf(Kind::alignment, {1.5, 0.0, 1.0}));
        f.add(Op::add, aligned, f.add(Op::value, f.leaf(Kind::signature, {3.0, 2.0, 0.0})));
    }
    {
        Formula& f = begin("near alignments, not normalised", {Make::parts});
        f.add(Op::value, f.leaf(Kind::alignment, {2.0, 4.0, 0.0}));
    }
    {
        Formula& f = begin("two lengths of subsequences", {Make::letters, Make::letters});
        const int longer = f.add(Op::value, f.leaf(Kind::subsequence, {5.0, 0.75}));
        f.add(Op::add, longer, f.add(Op::value, f.leaf(Kind::subsequence, {2.0, 1.0})));
    }
    {
        Formula& f = begin("common walks", {Make::networks});
        f.add(Op::value, f.leaf(Kind::walks, {0x1p-12}));
    }
    {
        Formula& f = begin("weighted degree at one place, and shifted", {Make::letters, Make::letters});
        const int fixed = f.add(Op::value, f.leaf(Kind::weighted_degree, {4.0, 0.0}));
        f.add(Op::add, fixed, f.add(Op::value, f.leaf(Kind::weighted_degree, {3.0, 9.0})));
    }
    {
        Formula& f = begin("sum over the parts of bags, normalised", {Make::bags}, 1);
        f.add(Op::mul_rows, f.add(Op::value, f.leaf(Kind::convolution)), 0);
        all.back().slack = 64.0;  // as many pairs of parts
    }
    {
        Formula& f = begin("sum over the parts of bags of bags", {Make::nested});
        f.add(Op::value, f.leaf(Kind::convolution));
        all.back().slack = 256.0;
    }
    {
        Formula& f = begin("row registers", {Make::dense}, 2);
        const int inner = f.add(Op::inner, f.leaf(Kind::dot));
        const int scaled = f.add(Op::mul_rows, inner, 0);
        const int shifted = f.add(Op::add_rows, scaled, 1);
        const int ratio = f.add(Op::tanimoto, f.scaled(f.add(Op::tanh, inner), 0.1), 0);
        f.add(Op::add, f.add(Op::mul, shifted, f.add(Op::inverse_sum, -1, 1)), ratio);
    }
    {
        Formula& f = begin("arc-cosine of orders 0, 1, 2", {Make::unit});
        const int square = f.add(Op::sqdist, f.leaf(Kind::dot));
        const int step = f.add(Op::arccosine, square, -1, 0.0);
        const int ramp = f.add(Op::arccosine, square, -1, 1.0);
        f.add(Op::add, f.add(Op::add, step, ramp), f.add(Op::arccosine, square, -1, 2.0));
        all.back().slack = 100.0;  // order 0 falls steeply where points are opposite
    }
    {
        Formula& f = begin("every other instruction", {Make::dense});
        const int leaf = f.leaf(Kind::dot);
        const int square = f.add(Op::sqdist, leaf);
        const int inner = f.add(Op::inner, leaf);
        const int quadratic = f.add(Op::pow, f.scaled(square, 0.3, 1.0), -1, -1.5);
        const int cubic = f.add(Op::powi, f.scaled(f.add(Op::clamp0, inner), 0.02, 0.5), -1, 3.0);
        const int slow = f.add(Op::div, f.add(Op::constant, -1, -1, 1.0), f.scaled(f.add(Op::log1p, square), 1.0, 1.0));
        f.add(Op::add, f.add(Op::add, quadratic, cubic), slow);
    }
    return all;
}

// ---- One entry of K -----------------------------------------------------------------------------------------------

using Real = long double;

inline std::pair<Real, Real> inner_and_sqdist(const mercer::Source& left, Index i, const mercer::Source& right,
                                              Index j) {
    std::vector<Real> x;
    std::vector<Real> z;
    const auto spread = [](const mercer::Source& source, Index row, std::vector<Real>& out) {
        if (const auto* rows = std::get_if<mercer::Dense>(&source)) {
            for (Index k = 0; k < rows->d; ++k) out.push_back(rows->values.at<double>(row * rows->d + k));
            return Real{0};
        }
        const auto& rows = std::get<mercer::Sparse>(source);
        out.assign(static_cast<std::size_t>(rows.d), Real{0});
        for (Index at = rows.offsets[row]; at < rows.offsets[row + 1]; ++at)
            out[static_cast<std::size_t>(rows.columns[at])] =
                rows.values.data != nullptr ? rows.values.at<double>(at) : 1.0;
        // Items that the other side does not have.
        return rows.sizes == nullptr ? Real{0}
                                     : Real(rows.sizes[row]) - Real(rows.offsets[row + 1] - rows.offsets[row]);
    };
    Real square = spread(left, i, x) + spread(right, j, z);
    Real inner = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        inner += x[k] * z[k];
        square += (x[k] - z[k]) * (x[k] - z[k]);
    }
    return {inner, square};
}

// By the definition: the weight of every choice of places in both strings that reads the same.
inline Real subsequences(const std::int32_t* x, const std::int32_t* x_end, const std::int32_t* z,
                         const std::int32_t* z_end, int left, bool begun, Real decay) {
    if (left == 0) return 1;
    Real sum = 0;
    for (const std::int32_t* a = x; a < x_end; ++a) {
        for (const std::int32_t* b = z; b < z_end; ++b) {
            if (*a != *b) continue;
            const Real spans = begun ? Real(a - x) + Real(b - z) + 2 : 2;
            sum += std::pow(decay, spans) * subsequences(a + 1, x_end, b + 1, z_end, left - 1, true, decay);
        }
    }
    return sum;
}

// By the definition: all pairs of places, and all lengths.
inline Real weighted_degree(const std::int32_t* x, Index x_length, const std::int32_t* z, Index z_length, Index degree,
                            Index shift) {
    Real sum = 0;
    for (Index p = 0; p < x_length; ++p) {
        for (Index q = 0; q < z_length; ++q) {
            const Real nearness = 1 - Real(std::abs(p - q)) / Real(shift + 1);
            for (Index k = 1; nearness > 0 && k <= degree && p + k <= x_length && q + k <= z_length; ++k) {
                if (std::equal(x + p, x + p + k, z + q))
                    sum += nearness * 2 * Real(degree - k + 1) / Real(degree * (degree + 1));
            }
        }
    }
    return sum;
}

inline Real entry(const Formula& formula, const mercer::Side& left, Index i, const mercer::Side& right, Index j);

inline Real sum_of_parts(const mercer::Bags& left, Index i, const mercer::Bags& right, Index j) {
    const bool nested = std::holds_alternative<mercer::Bags>(left.parts->sources[0]);
    const Formula formula = part_kernel(nested).formula;
    Real sum = 0;
    for (Index p = left.offsets[i]; p < left.offsets[i + 1]; ++p) {
        for (Index q = right.offsets[j]; q < right.offsets[j + 1]; ++q)
            sum += entry(formula, *left.parts, p, *right.parts, q);
    }
    return sum;
}

inline Real leaf_value(const Formula& formula, std::size_t leaf, const mercer::Source& left, Index i,
                       const mercer::Source& right, Index j) {
    const Kind kind = formula.leaves[leaf];
    if (kind == Kind::subsequence) {
        const auto& x = std::get<mercer::Letters>(left);
        const auto& z = std::get<mercer::Letters>(right);
        return subsequences(x.codes + x.offsets[i], x.codes + x.offsets[i + 1], z.codes + z.offsets[j],
                            z.codes + z.offsets[j + 1], static_cast<int>(formula.parameters[leaf][0]), false,
                            Real(formula.parameters[leaf][1]));
    }
    if (kind == Kind::walks)
        return walks_in_common(mercer::Network::of(std::get<mercer::Letters>(left), i),
                               mercer::Network::of(std::get<mercer::Letters>(right), j),
                               Real(formula.parameters[leaf][0]));
    if (kind == Kind::weighted_degree) {
        const auto& x = std::get<mercer::Letters>(left);
        const auto& z = std::get<mercer::Letters>(right);
        return weighted_degree(x.codes + x.offsets[i], x.length(i), z.codes + z.offsets[j], z.length(j),
                               static_cast<Index>(formula.parameters[leaf][0]),
                               static_cast<Index>(formula.parameters[leaf][1]));
    }
    if (kind == Kind::alignment || kind == Kind::signature) {
        const auto x = points_of(std::get<mercer::Parts>(left), i), z = points_of(std::get<mercer::Parts>(right), j);
        const std::vector<double>& of = formula.parameters[leaf];
        const auto second = static_cast<std::size_t>(of[1]);
        if (kind == Kind::signature) return signatures(x, z, static_cast<std::size_t>(of[0]), second);
        const Real value = alignments(x, z, of[0], second);
        if (of[2] == 0.0) return value;
        return value / std::sqrt(alignments(x, x, of[0], second) * alignments(z, z, of[0], second));
    }
    if (kind == Kind::convolution)
        return sum_of_parts(std::get<mercer::Bags>(left), i, std::get<mercer::Bags>(right), j);
    if (kind == Kind::equal) return std::get<mercer::Codes>(left).codes[i] == std::get<mercer::Codes>(right).codes[j];
    if (kind == Kind::stored) {
        const auto& matrix = std::get<mercer::Matrix>(left);
        return matrix.values.at<double>(i * matrix.m + j);
    }
    if (kind == Kind::callback) return called_entry(i, j);
    const auto& a = std::get<mercer::Dense>(left);
    const auto& b = std::get<mercer::Dense>(right);
    Real sum = 0;
    for (Index k = 0; k < a.d; ++k) {
        const Real x = a.values.at<double>(i * a.d + k);
        const Real z = b.values.at<double>(j * b.d + k);
        if (kind == Kind::l1) sum += std::abs(x - z);
        if (kind == Kind::min) sum += std::min(x, z);
        if (kind == Kind::chi2 && x + z != 0) sum += 2 * x * z / (x + z);
    }
    return sum;
}

inline Real arccosine(Real square, int order) {
    const Real pi = std::acos(Real{-1});
    const Real angle = 2 * std::asin(std::min(std::sqrt(square) / 2, Real{1}));
    if (order == 0) return (pi - angle) / pi;
    if (order == 1) return (std::sin(angle) + (pi - angle) * std::cos(angle)) / pi;
    return (3 * std::sin(angle) * std::cos(angle) + (pi - angle) * (1 + 2 * std::cos(angle) * std::cos(angle))) / pi;
}

inline Real entry(const Formula& formula, const mercer::Side& left, Index i, const mercer::Side& right, Index j) {
    std::vector<Real> reg(formula.tape.size());
    for (const mercer::Instruction& step : formula.tape) {
        const unsigned uses = mercer::operands(step.op);
        const Real a = uses & mercer::kA ? reg[static_cast<std::size_t>(step.a)] : 0;
        const Real b = uses & mercer::kB ? reg[static_cast<std::size_t>(step.b)] : 0;
        const Real l = uses & mercer::kR ? left.rows[static_cast<std::size_t>(step.b)][i] : 0;
        const Real r = uses & mercer::kR ? right.rows[static_cast<std::size_t>(step.b)][j] : 0;
        const std::size_t leaf = static_cast<std::size_t>(std::max(step.a, 0));
        Real value = 0;
        switch (step.op) {
            case Op::inner:
                value = inner_and_sqdist(left.sources[leaf], i, right.sources[leaf], j).first;
                break;
            case Op::sqdist:
                value = inner_and_sqdist(left.sources[leaf], i, right.sources[leaf], j).second;
                break;
            case Op::value:
                value = leaf_value(formula, leaf, left.sources[leaf], i, right.sources[leaf], j);
                break;
            case Op::constant:
                value = step.s;
                break;
            case Op::affine:
                value = a * step.s + step.t;
                break;
            case Op::add:
                value = a + b;
                break;
            case Op::mul:
                value = a * b;
                break;
            case Op::div:
                value = a == 0 && b == 0 ? 0 : a / b;
                break;
            case Op::exp:
            case Op::decay:
                value = std::exp(a);
                break;
            case Op::log1p:
                value = std::log1p(a);
                break;
            case Op::sqrt:
                value = std::sqrt(a);
                break;
            case Op::pow:
            case Op::powi:
                value = std::pow(a, Real(step.s));
                break;
            case Op::tanh:
                value = std::tanh(a);
                break;
            case Op::clamp0:
                value = std::max(a, Real{0});
                break;
            case Op::arccosine:
                value = arccosine(a, static_cast<int>(step.s));
                break;
            case Op::add_rows:
                value = a + l + r;
                break;
            case Op::mul_rows:
                value = a * l * r;
                break;
            case Op::tanimoto:
                value = l + r == a ? 1 : a / (l + r - a);
                break;
            case Op::inverse_sum:
                value = 1 / (l + r);
                break;
        }
        reg[static_cast<std::size_t>(step.out)] = value;
    }
    return reg.back();
}

inline std::vector<Real> gram(const Formula& formula, const mercer::Side& left, const mercer::Side& right) {
    std::vector<Real> K;
    for (Index i = 0; i < left.n; ++i) {
        for (Index j = 0; j < right.n; ++j) K.push_back(entry(formula, left, i, right, j));
    }
    return K;
}

}  // namespace oracle
