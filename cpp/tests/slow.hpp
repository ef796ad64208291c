// The duals of support vector machines in plain loops, two variables at a time; the points and problems of their tests.
#pragma once

#include <numeric>

#include "mercer/gather.hpp"
#include "mercer/row_cache.hpp"
#include "mercer/smo.hpp"
#include "walks.hpp"

namespace slow {

using mercer::Basis;
using mercer::Block;
using mercer::GramSource;
using mercer::MarginBatch;
using mercer::MarginOptions;
using mercer::MarginReport;
using mercer::Watch;
using oracle::Draw;
using oracle::Kernel;
using oracle::Points;
using namespace walks;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline std::size_t at(Index i) { return static_cast<std::size_t>(i); }

struct Program {  // minimise 1/2 b'Kb + q'b + width |b|_1 in the box, sums of both groups kept
    std::vector<double> K, q, low, high, b;
    std::vector<std::uint8_t> group;
    double width = 0.0;

    Index n() const { return static_cast<Index>(q.size()); }
    std::vector<double> image() const {
        std::vector<double> f(q.size(), 0.0);
        for (std::size_t i = 0; i < q.size(); ++i) {
            for (std::size_t j = 0; j < q.size(); ++j) f[i] += K[i * q.size() + j] * b[j];
        }
        return f;
    }
    double sum(int of) const {
        double total = 0.0;
        for (std::size_t i = 0; i < q.size(); ++i) total += group[i] == of ? b[i] : 0.0;
        return total;
    }
    bool is_inside() const {
        for (std::size_t i = 0; i < q.size(); ++i) {
            if (!(low[i] <= b[i] && b[i] <= high[i])) return false;
        }
        return true;
    }
};

struct Pair {
    std::size_t i = 0;
    std::size_t j = 0;
    double violation = 0.0;
};

Pair worst_pair(const Program& p, const std::vector<double>& f) {
    Pair worst;
    for (int group = 0; group < 2; ++group) {
        double least = kInfinity, most = -kInfinity;
        std::size_t i = 0, j = 0;
        for (std::size_t v = 0; v < p.q.size(); ++v) {
            if (p.group[v] != group) continue;
            const double up = f[v] + p.q[v] + (p.b[v] >= 0.0 ? p.width : -p.width);
            const double down = f[v] + p.q[v] + (p.b[v] > 0.0 ? p.width : -p.width);
            if (p.b[v] < p.high[v] && up < least) least = up, i = v;
            if (p.b[v] > p.low[v] && down > most) most = down, j = v;
        }
        if (most - least > worst.violation) worst = {i, j, most - least};
    }
    return worst;
}

double violation(const Program& p) { return worst_pair(p, p.image()).violation; }

// The image K b at the optimum, which is unique.
inline std::vector<double> solve_slowly(Program& p, double tol) {
    std::vector<double> f = p.image();
    const std::size_t n = p.q.size();
    for (int step = 0; step < 2'000'000; ++step) {
        const Pair pair = worst_pair(p, f);
        if (pair.violation <= tol) return p.image();
        const std::size_t i = pair.i, j = pair.j;
        const double eta = std::max(p.K[i * n + i] + p.K[j * n + j] - 2.0 * p.K[i * n + j], 1e-12);
        // Not beyond the kink at 0 in one step.
        const double up = (p.width > 0.0 && p.b[i] < 0.0 ? 0.0 : p.high[i]) - p.b[i];
        const double down = p.b[j] - (p.width > 0.0 && p.b[j] > 0.0 ? 0.0 : p.low[j]);
        const double t = std::min({pair.violation / eta, up, down});
        p.b[i] = t == up ? (p.width > 0.0 && p.b[i] < 0.0 ? 0.0 : p.high[i]) : p.b[i] + t;
        p.b[j] = t == down ? (p.width > 0.0 && p.b[j] > 0.0 ? 0.0 : p.low[j]) : p.b[j] - t;
        for (std::size_t v = 0; v < n; ++v) f[v] += t * (p.K[i * n + v] - p.K[j * n + v]);
    }
    check::fail(__FILE__, __LINE__, "the slow version does not end");
    return p.image();
}

inline double furthest(const std::vector<double>& a, const std::vector<double>& b) {
    double most = a.size() == b.size() ? 0.0 : kInfinity;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
    return most;
}

// Points in three dimensions, their Gaussian Gram matrix by the oracle, in both precisions.
struct Data {
    explicit Data(Index count) : n(count), points(count) {
        Draw draw(11);
        points.dense(draw.normals(n * 3), 3);
        for (Index i = 0; i < n; ++i) {
            for (Index j = 0; j < n; ++j)
                K.push_back(static_cast<double>(oracle::entry(formula, points.side(), i, points.side(), j)));
            diagonal.push_back(1.0);
        }
        single.assign(K.begin(), K.end());
    }
    Index n;
    Formula formula = gaussian_of(-0.3);
    Points points;
    std::vector<double> K, diagonal;
    std::vector<float> single;
};

inline const Data& data() {
    static const Data made(150);
    return made;
}

enum class Machine { classes, tube, one_class, nu_classes, nu_tube };
inline constexpr Machine kMachines[] = {Machine::classes, Machine::tube, Machine::one_class, Machine::nu_classes,
                                        Machine::nu_tube};

struct Geometry {
    std::vector<Index> cuts;
    std::vector<Index> uses;
    Index uses_each;
};
// One range; two ranges of one problem; three classes in pairs.
inline const Geometry kOne{{0, 150}, {0}, 1};
inline const Geometry kTwo{{0, 61, 150}, {0, 1}, 2};
inline const Geometry kPairs{{0, 70, 80, 150}, {0, 1, 0, 2, 1, 2}, 2};

class Batch {
   public:
    Batch(Machine machine, const Geometry& geometry, double cost = 1.0) : geometry_(geometry) {
        copies = machine == Machine::nu_tube ? 2 : 1;
        const bool is_classes = machine == Machine::classes || machine == Machine::nu_classes;
        Draw draw(5);
        for (std::size_t p = 0; p < geometry.uses.size(); p += at(geometry.uses_each)) {
            std::vector<Index> rows;
            std::vector<double> y;
            for (Index k = 0; k < geometry.uses_each; ++k) {
                const std::size_t range = at(geometry.uses[p + at(k)]);
                for (Index r = geometry.cuts[range]; r < geometry.cuts[range + 1]; ++r) {
                    rows.push_back(r);
                    const double side = geometry.uses_each == 2 ? (k == 0 ? 1.0 : -1.0) : (r % 3 == 0 ? 1.0 : -1.0);
                    y.push_back(is_classes ? side : side + 0.3 * draw.normal());
                }
            }
            Program& q = programs.emplace_back();
            q.width = machine == Machine::tube ? 0.2 : 0.0;
            for (Index copy = 0; copy < copies; ++copy) {
                for (std::size_t r = 0; r < rows.size(); ++r) {
                    const double c = cost * (0.5 + draw.uniform());
                    const bool is_down = is_classes ? y[r] < 0.0 : copy == 1;
                    q.q.push_back(machine == Machine::one_class || machine == Machine::nu_classes ? 0.0 : -y[r]);
                    q.low.push_back(is_down || machine == Machine::tube ? -c : 0.0);
                    q.high.push_back(is_down ? 0.0 : c);
                    const bool starts = machine != Machine::classes && machine != Machine::tube;
                    q.b.push_back(starts && r % 4 == 1 ? (is_down ? -c : c) : 0.0);
                    q.group.push_back(machine == Machine::nu_classes || machine == Machine::nu_tube ? is_down : 0);
                    row_of_.push_back(rows[r]);
                }
            }
            const std::size_t first = row_of_.size() - q.q.size();
            for (std::size_t v = 0; v < q.q.size(); ++v) {
                for (std::size_t w = 0; w < q.q.size(); ++w)
                    q.K.push_back(data().K[at(row_of_[first + v] * data().n + row_of_[first + w])]);
            }
            image.resize(image.size() + rows.size());
            join(q);
        }
    }

    MarginBatch view(bool has_image = false) {
        MarginBatch view;
        view.cuts = geometry_.cuts;
        view.uses = geometry_.uses.data();
        view.uses_each = geometry_.uses_each;
        view.problems = static_cast<Index>(programs.size());
        view.copies = copies;
        view.width = programs[0].width;
        view.linear = linear_.data();
        view.low = low_.data();
        view.high = high_.data();
        view.group = group_.data();
        view.b = b.data();
        view.image = image.data();
        view.has_image = has_image;
        view.diagonal = data().diagonal.data();
        return view;
    }

    // Problem p where the solver has left it.
    Program program(std::size_t p) const {
        Program found = programs[p];
        std::size_t first = 0;
        for (std::size_t before = 0; before < p; ++before) first += programs[before].q.size();
        std::copy_n(b.begin() + static_cast<std::ptrdiff_t>(first), found.b.size(), found.b.begin());
        return found;
    }
    void check_feasible() const {
        for (std::size_t p = 0; p < programs.size(); ++p) {
            const Program found = program(p);
            CHECK(found.is_inside());
            for (int group = 0; group < 2; ++group) CHECK_NEAR(found.sum(group), programs[p].sum(group), 1e-9);
        }
    }

    Index copies = 1;
    std::vector<Program> programs;  // as they begin
    std::vector<double> b, image;

   private:
    void join(const Program& q) {
        linear_.insert(linear_.end(), q.q.begin(), q.q.end());
        low_.insert(low_.end(), q.low.begin(), q.low.end());
        high_.insert(high_.end(), q.high.begin(), q.high.end());
        group_.insert(group_.end(), q.group.begin(), q.group.end());
        b.insert(b.end(), q.b.begin(), q.b.end());
    }
    const Geometry& geometry_;
    std::vector<Index> row_of_;
    std::vector<double> linear_, low_, high_;
    std::vector<std::uint8_t> group_;
};

}  // namespace slow
