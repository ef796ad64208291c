// The solver of the support vector machines and its parts, against two variables at a time in plain loops.
#include "mercer/smo.hpp"

#include <numeric>

#include "check.hpp"
#include "mercer/gather.hpp"
#include "mercer/segments.hpp"
#include "oracle.hpp"

using mercer::Basis;
using mercer::Block;
using mercer::Engine;
using mercer::GramSource;
using mercer::Index;
using mercer::MarginBatch;
using mercer::MarginOptions;
using mercer::MarginReport;
using mercer::Watch;
using oracle::Draw;
using oracle::Formula;
using oracle::Kernel;
using oracle::Points;

namespace {

constexpr Index kBudget = Index{48} << 20;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

std::vector<const Engine*> rows_that_run() {
    std::vector<const Engine*> rows;
    for (const Engine* row : mercer::engines()) {
        if (row->runs_here()) rows.push_back(row);
    }
    return rows;
}

Formula gaussian(double scale) {
    Formula f;
    f.add(mercer::Op::exp, f.scaled(f.add(mercer::Op::sqdist, f.leaf(mercer::Kind::dot)), scale));
    return f;
}

// ---- The slow version ---------------------------------------------------------------------------------------------

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
std::vector<double> solve_slowly(Program& p, double tol) {
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

double furthest(const std::vector<double>& a, const std::vector<double>& b) {
    double most = a.size() == b.size() ? 0.0 : kInfinity;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
    return most;
}

// ---- Batches ------------------------------------------------------------------------------------------------------

enum class Machine { classes, tube, one_class, nu_classes, nu_tube };
constexpr Machine kMachines[] = {Machine::classes, Machine::tube, Machine::one_class, Machine::nu_classes,
                                 Machine::nu_tube};

struct Geometry {
    std::vector<Index> cuts;
    std::vector<Index> uses;
    Index uses_each;
};
// One range; two ranges of one problem; three classes in pairs.
const Geometry kOne{{0, 150}, {0}, 1};
const Geometry kTwo{{0, 61, 150}, {0, 1}, 2};
const Geometry kPairs{{0, 70, 80, 150}, {0, 1, 0, 2, 1, 2}, 2};

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
    Formula formula = gaussian(-0.3);
    Points points;
    std::vector<double> K, diagonal;
    std::vector<float> single;
};

const Data& data() {
    static const Data made(150);
    return made;
}

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

// The images at the optima, all problems one after the other; found once.
const std::vector<std::vector<double>>& optima(Machine machine, const Geometry& geometry) {
    static std::vector<std::pair<std::pair<Machine, const Geometry*>, std::vector<std::vector<double>>>> known;
    for (const auto& [key, found] : known) {
        if (key.first == machine && key.second == &geometry) return found;
    }
    std::vector<std::vector<double>> found;
    for (Program program : Batch(machine, geometry).programs) found.push_back(solve_slowly(program, 1e-9));
    known.push_back({{machine, &geometry}, found});
    return known.back().second;
}

void check_optimal(const Batch& batch, Machine machine, const Geometry& geometry, double tol) {
    batch.check_feasible();
    for (std::size_t p = 0; p < batch.programs.size(); ++p) {
        const Program found = batch.program(p);
        CHECK(violation(found) <= tol);
        CHECK(furthest(found.image(), optima(machine, geometry)[p]) <= 20.0 * tol);
    }
}

// As small problems are solved: to 1e-3, and finished; floats to what they can.
MarginOptions options(bool single) {
    MarginOptions wishes;
    wishes.single = single;
    if (single) return wishes;
    wishes.finish = 1e-9;
    wishes.finish_steps = 400;
    return wishes;
}
double reached(bool single) { return single ? 1.1e-3 : 1e-6; }

void run(const GramSource& gram, const MarginBatch& batch, const MarginOptions& wishes, MarginReport& report,
         const Engine& engine = mercer::choose_engine()) {
    Watch watch;
    std::atomic<double> shown{0.0};
    mercer::solve_margins(gram, batch, wishes, engine, watch, shown, report);
}

GramSource stored(bool single) {
    if (single) return mercer::StoredGram{{data().single.data(), true}, data().n};
    return mercer::StoredGram{{data().K.data(), false}, data().n};
}

// ---- Rows of K ----------------------------------------------------------------------------------------------------

std::vector<double> made(const Engine& engine, const mercer::Plan& plan, const mercer::Side& left,
                         const mercer::Side& right, bool single) {
    const Basis basis(plan, right, engine, kBudget);
    std::vector<double> out(at(left.n * right.n));
    Watch watch;
    basis.store(&left, single, watch, {out.data(), false});
    return out;
}

bool has_rows(const Kernel& kernel) {
    return std::none_of(kernel.sources.begin(), kernel.sources.end(), [](oracle::Make make) {
        return make == oracle::Make::stored || make == oracle::Make::callback;
    });
}

}  // namespace

TEST("Rows that were gathered have the kernel values of the whole") {
    const Index n = 90;
    const std::vector<Index> chosen = {5, 0, 41, 5, 89, 12, 13, 14, 33};
    const Engine& engine = mercer::choose_engine();
    for (const Kernel& kernel : oracle::kernels()) {
        Points points(n);
        oracle::draw_points(kernel, n, 4, 3, 0, points);
        const mercer::Plan plan = kernel.formula.plan();
        for (const bool single : {false, true}) {
            const mercer::Side& whole = points.side(single);
            if (!has_rows(kernel)) {
                CHECK_THROWS(mercer::Gathered(whole, chosen), std::invalid_argument);
                continue;
            }
            const mercer::Gathered some(whole, chosen);
            CHECK_EQUAL(some.side().n, static_cast<Index>(chosen.size()));
            const std::vector<double> all = made(engine, plan, whole, whole, false);
            const std::vector<double> left = made(engine, plan, some.side(), whole, false);
            const std::vector<double> right = made(engine, plan, whole, some.side(), false);
            const double limit = 1e-10 * kernel.slack;
            for (std::size_t r = 0; r < chosen.size(); ++r) {
                for (Index j = 0; j < n; ++j) {
                    CHECK_NEAR(left[r * at(n) + at(j)], all[at(chosen[r] * n + j)], limit);
                    CHECK_NEAR(right[at(j) * chosen.size() + r], all[at(j * n + chosen[r])], limit);
                }
            }
        }
    }
}

TEST("No rows can be gathered, and all of them") {
    Draw draw(1);
    Points points(7);
    points.dense(draw.normals(7 * 2), 2);
    const mercer::Gathered nothing(points.side(), {});
    CHECK_EQUAL(nothing.side().n, 0);
    std::vector<Index> all(7);
    std::iota(all.begin(), all.end(), Index{0});
    const mercer::Gathered copy(points.side(), all);
    const auto& of = std::get<mercer::Dense>(copy.side().sources[0]);
    for (Index i = 0; i < 14; ++i)
        CHECK_EQUAL(of.values.at<double>(i), std::get<mercer::Dense>(points.side().sources[0]).values.at<double>(i));
}

TEST("Rows go where they are wanted, and their sum to the gradient, made or kept alike") {
    const Index n = 150;
    const std::vector<Index> chosen = {3, 77, 149, 20, 21, 22};
    const std::vector<double> delta = {0.5, -1.0, 2.0, 0.25, -0.125, 1.0};
    const mercer::Gathered left(data().points.side(), chosen);
    for (const Engine* engine : rows_that_run()) {
        const Basis basis(data().formula.plan(), data().points.side(), *engine, kBudget);
        for (const bool single : {false, true}) {
            Watch watch;
            std::vector<double> doubles(at(3 * n), -7.0);
            std::vector<float> floats(at(3 * n), -7.0F);
            std::vector<void*> to(chosen.size(), nullptr);
            for (std::size_t r = 0; r < 3; ++r)
                to[2 * r] = single ? static_cast<void*>(&floats[r * at(n)]) : static_cast<void*>(&doubles[r * at(n)]);
            std::vector<double> g(at(n), 1.0), expected(at(n), 1.0);
            basis.rows(left.side(), single, watch, {to.data(), single, delta.data(), g.data(), 3});
            const double limit = single ? 1e-5 : 1e-12;
            for (Index j = 0; j < n; ++j) {
                for (std::size_t r = 0; r < chosen.size(); ++r) {
                    const double k = data().K[at(chosen[r] * n + j)];
                    expected[at(j)] += delta[r] * k;
                    const std::size_t place = r / 2 * at(n) + at(j);
                    if (r % 2 == 0) CHECK_NEAR(single ? static_cast<double>(floats[place]) : doubles[place], k, limit);
                }
            }
            CHECK(furthest(g, expected) <= limit);
        }
    }
}

TEST("Kept rows stay until they are forgotten, and the budget holds") {
    mercer::Segments<float> table(10, 100, 3 * 100 * static_cast<Index>(sizeof(float)) + 8);
    float* made[3] = {};
    for (Index row = 0; row < 3; ++row) {
        CHECK(table.find(row) == nullptr);
        made[row] = table.claim();
        CHECK(made[row] != nullptr);
        std::fill_n(made[row], 100, static_cast<float>(row));
        CHECK(table.keep(row, made[row]));
        CHECK(table.find(row) == made[row]);
        table.touch(row, static_cast<std::int32_t>(10 + row));
    }
    CHECK(table.claim() == nullptr);
    table.forget_before(11);
    CHECK(table.find(0) == nullptr);
    CHECK(table.find(1) == made[1]);
    CHECK(table.claim() == made[0]);
    CHECK(table.claim() == nullptr);
    for (int c = 0; c < 100; ++c) CHECK_EQUAL(table.find(2)[c], 2.0F);
}

TEST("Who loses the race for a row gives its memory back") {
    mercer::Segments<double> table(4, 8, 2 * 8 * static_cast<Index>(sizeof(double)));
    double* first = table.claim();
    double* second = table.claim();
    CHECK(first != second);
    CHECK(table.claim() == nullptr);
    CHECK(table.keep(2, first));
    CHECK(!table.keep(2, second));
    CHECK(table.find(2) == first);
    CHECK(table.claim() == second);
}

TEST("Without a budget nothing is kept") {
    mercer::Segments<double> table(4, 8, 0);
    CHECK(table.claim() == nullptr);
    table.forget_before(5);
    CHECK(table.find(3) == nullptr);
}

// ---- The inner solver ---------------------------------------------------------------------------------------------

namespace {

// A program whose variables 0 … first - 1 are the first group, as a padded block.
template <class T>
class Padded {
   public:
    Padded(const Program& p, Index first) {
        const auto round = [](Index n) { return (n + mercer::kBlockPad - 1) / mercer::kBlockPad * mercer::kBlockPad; };
        const Index size = round(first) + round(p.n() - first);
        for (Index v = 0; v < p.n(); ++v) places_.push_back(v < first ? v : round(first) + v - first);
        for (auto* numbers : {&low_, &high_, &b_, &g_}) numbers->assign(at(size), 0.0);
        up_.assign(at(size), kInfinity);
        down_.assign(at(size), -kInfinity);
        K_.assign(at(size * size), T{});
        diagonal_.assign(at(size), T{1});
        const std::vector<double> f = p.image();
        for (std::size_t v = 0; v < p.q.size(); ++v) {
            const std::size_t m = at(places_[v]);
            low_[m] = p.low[v];
            high_[m] = p.high[v];
            b_[m] = p.b[v];
            g_[m] = f[v] + p.q[v];
            up_[m] = mercer::slope_up(p.b[v], p.high[v], p.width);
            down_[m] = mercer::slope_down(p.b[v], p.low[v], p.width);
            diagonal_[m] = static_cast<T>(p.K[v * p.q.size() + v]);
            for (std::size_t w = 0; w < p.q.size(); ++w)
                K_[m * at(size) + at(places_[w])] = static_cast<T>(p.K[v * p.q.size() + w]);
        }
        block.size = size;
        block.split = round(first);
        block.K = K_.data();
        block.diagonal = diagonal_.data();
        block.low = low_.data();
        block.high = high_.data();
        block.b = b_.data();
        block.g = g_.data();
        block.up = up_.data();
        block.down = down_.data();
        block.width = p.width;
    }
    Program solution(Program p) const {
        for (std::size_t v = 0; v < p.q.size(); ++v) p.b[v] = b_[at(places_[v])];
        return p;
    }
    Block<T> block;

   private:
    std::vector<Index> places_;
    std::vector<double> low_, high_, b_, g_, up_, down_;
    std::vector<T> K_, diagonal_;
};

template <class T>
void check_block(const Engine& engine, const Program& begin, Index first, double tol) {
    Program exact = begin;
    const std::vector<double> best = solve_slowly(exact, 1e-10);
    Padded<T> padded(begin, first);
    padded.block.tol = tol;
    padded.block.max_steps = 100'000;
    CHECK(engine.inner<T>().solve_block(padded.block) > 0);
    CHECK(padded.block.violation <= tol);
    const Program found = padded.solution(begin);
    CHECK(found.is_inside());
    for (int group = 0; group < 2; ++group) CHECK_NEAR(found.sum(group), begin.sum(group), 1e-10);
    CHECK_NEAR(violation(found), padded.block.violation, sizeof(T) == 4 ? 1e-4 : 1e-11);
    CHECK(furthest(found.image(), best) <= 20.0 * tol);
    Padded<T> stopped(begin, first);
    stopped.block.max_steps = 3;
    CHECK_EQUAL(engine.inner<T>().solve_block(stopped.block), 3);
    CHECK(stopped.solution(begin).is_inside());
}

}  // namespace

TEST("The inner solver finds what plain loops find, with every instruction set, for one group and two") {
    for (const Machine machine : kMachines) {
        const Program whole = Batch(machine, kTwo).programs[0];
        // Of a nu machine some variables of each group, the first group first.
        std::vector<Index> chosen;
        Index first = 0;
        for (int group = 0; group < 2; ++group) {
            for (Index v = 0; v < whole.n(); v += machine == Machine::nu_tube ? 4 : 2) {
                if (whole.group[at(v)] == group) chosen.push_back(v);
            }
            if (group == 0) first = static_cast<Index>(chosen.size());
        }
        Program some;
        some.width = whole.width;
        for (const Index v : chosen) {
            some.q.push_back(whole.q[at(v)]);
            some.low.push_back(whole.low[at(v)]);
            some.high.push_back(whole.high[at(v)]);
            some.group.push_back(whole.group[at(v)]);
            some.b.push_back(some.q.size() % 3 == 1 ? whole.b[at(v)] : 0.0);
            for (const Index w : chosen) some.K.push_back(whole.K[at(v * whole.n() + w)]);
        }
        for (std::size_t v = 0; v < some.b.size(); v += 5) {
            if (machine != Machine::classes && machine != Machine::tube) some.b[v] = 0.5 * (some.low[v] + some.high[v]);
        }
        for (const Engine* engine : rows_that_run()) {
            check_block<double>(*engine, some, first, 1e-8);
            check_block<float>(*engine, some, first, 1e-3);
        }
    }
}

// ---- The whole ----------------------------------------------------------------------------------------------------

TEST("A batch over stored entries is solved as plain loops solve it, kept rows or none") {
    for (const Machine machine : kMachines) {
        for (const Geometry* geometry : {&kOne, &kTwo, &kPairs}) {
            for (const bool single : {false, true}) {
                for (const Index cache : {Index{0}, Index{1} << 14, Index{1} << 24}) {
                    Batch batch(machine, *geometry);
                    MarginOptions wishes = options(single);
                    wishes.cache_bytes = cache;
                    MarginReport report;
                    run(stored(single), batch.view(), wishes, report);
                    CHECK(!report.stopped);
                    CHECK_EQUAL(report.steps.size(), batch.programs.size());
                    check_optimal(batch, machine, *geometry, reached(single));
                }
            }
        }
    }
}

TEST("A batch over a formula is solved as plain loops solve it, with every instruction set") {
    for (const Engine* engine : rows_that_run()) {
        for (const bool single : {false, true}) {
            const Basis basis(data().formula.plan(), data().points.side(single), *engine, kBudget);
            for (const Machine machine : kMachines) {
                for (const Geometry* geometry : {&kOne, &kTwo, &kPairs}) {
                    Batch batch(machine, *geometry);
                    MarginReport report;
                    MarginOptions wishes = options(single);
                    wishes.cache_bytes = geometry == &kOne ? 0 : Index{1} << 24;
                    run(&basis, batch.view(), wishes, report, *engine);
                    CHECK(report.evaluations > 0);
                    check_optimal(batch, machine, *geometry, reached(single));
                }
            }
        }
    }
}

TEST("The image that is left is K b, and the referee's too") {
    for (const Machine machine : {Machine::classes, Machine::nu_tube}) {
        Batch batch(machine, kPairs);
        MarginReport report;
        run(stored(false), batch.view(), options(false), report);
        std::vector<double> expected;
        for (std::size_t p = 0; p < batch.programs.size(); ++p) {
            const std::vector<double> f = batch.program(p).image();
            expected.insert(expected.end(), f.begin(),
                            f.begin() + static_cast<std::ptrdiff_t>(f.size()) / batch.copies);
        }
        CHECK(furthest(batch.image, expected) <= 1e-10);
        std::fill(batch.image.begin(), batch.image.end(), -5.0);
        Watch watch;
        mercer::margin_images(stored(false), batch.view(), nullptr, watch);
        CHECK(furthest(batch.image, expected) <= 1e-10);
    }
}

TEST("A solve goes on where another left off, with its image or without") {
    for (const Machine machine : kMachines) {
        for (const Geometry* geometry : {&kTwo, &kPairs}) {
            for (const bool has_image : {false, true}) {
                Batch batch(machine, *geometry);
                MarginOptions few = options(false);
                few.max_steps = 7;
                MarginReport first, second, third;
                run(stored(false), batch.view(), few, first);
                CHECK(first.stopped);
                for (const Index steps : first.steps) CHECK(steps <= 7);
                batch.check_feasible();
                if (!has_image) std::fill(batch.image.begin(), batch.image.end(), 99.0);
                run(stored(false), batch.view(has_image), options(false), second);
                CHECK(!second.stopped);
                check_optimal(batch, machine, *geometry, reached(false));
                MarginOptions content = options(false);
                content.tol = content.finish = 1e-5;
                run(stored(false), batch.view(true), content, third);
                CHECK_EQUAL(std::accumulate(third.steps.begin(), third.steps.end(), Index{0}), 0);
            }
        }
    }
}

TEST("No steps at all leave the start as it was") {
    Batch batch(Machine::nu_classes, kPairs);
    const std::vector<double> before = batch.b;
    MarginOptions none = options(false);
    none.max_steps = 0;
    MarginReport report;
    run(stored(false), batch.view(), none, report);
    CHECK(report.stopped);
    CHECK(batch.b == before);
}

TEST("Rows that take no part keep their zero and have an image") {
    Batch batch(Machine::classes, kTwo);
    MarginBatch view = batch.view();
    std::vector<double> low(view.low, view.low + 150), high(view.high, view.high + 150);
    for (std::size_t v = 0; v < 150; v += 3) low[v] = high[v] = 0.0;
    view.low = low.data();
    view.high = high.data();
    MarginReport report;
    run(stored(false), view, options(false), report);
    for (std::size_t v = 0; v < 150; v += 3) CHECK_EQUAL(batch.b[v], 0.0);
    CHECK(furthest(batch.image, batch.program(0).image()) <= 1e-10);
}

TEST("Any number of threads makes the same steps, whatever is kept") {
    const int before = mercer::thread_count();
    const Basis basis(data().formula.plan(), data().points.side(), mercer::choose_engine(), kBudget);
    for (const Index cache : {Index{0}, Index{40'000}, Index{1} << 24}) {
        for (const bool single : {false, true}) {
            std::vector<std::vector<double>> found;
            for (const int threads : {1, 2, 4, 4}) {
                mercer::set_thread_count(threads);
                Batch batch(Machine::tube, kPairs);
                MarginOptions wishes = options(single);
                wishes.cache_bytes = cache;
                MarginReport report;
                run(&basis, batch.view(), wishes, report);
                found.push_back(batch.b);
            }
            for (const std::vector<double>& other : found) CHECK(other == found[0]);
        }
    }
    mercer::set_thread_count(before);
}

TEST("What is cancelled leaves a point of the box with the right sums, better than the first") {
    for (const Machine machine : kMachines) {
        for (const Geometry* geometry : {&kOne, &kPairs}) {
            Batch batch(machine, *geometry, 1e9);
            MarginOptions endless = options(false);
            endless.tol = endless.finish = -1.0;
            Watch watch([] { return true; });
            std::atomic<double> shown{0.0};
            MarginReport report;
            // A tolerance that cannot be met ends by rounding at last; most are cancelled long before.
            try {
                mercer::solve_margins(stored(false), batch.view(), endless, mercer::choose_engine(), watch, shown,
                                      report);
            } catch (const mercer::Cancelled&) {
            }
            for (std::size_t p = 0; p < batch.programs.size(); ++p) {
                const Program found = batch.program(p);
                CHECK(found.is_inside());
                for (int group = 0; group < 2; ++group) {
                    const double size = std::accumulate(found.high.begin(), found.high.end(), 1.0);
                    CHECK_NEAR(found.sum(group), batch.programs[p].sum(group), 1e-12 * size);
                }
            }
        }
    }
}

TEST("A watch that is cancelled beforehand stops it at once") {
    Batch batch(Machine::one_class, kOne);
    const std::vector<double> before = batch.b;
    Watch watch;
    watch.cancel();
    std::atomic<double> shown{0.0};
    MarginReport report;
    CHECK_THROWS(mercer::solve_margins(stored(false), batch.view(), options(false), mercer::choose_engine(), watch,
                                       shown, report),
                 mercer::Cancelled);
    CHECK(batch.b == before);
}
