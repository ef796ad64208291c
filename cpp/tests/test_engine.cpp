// Every row of the table of instruction sets that runs here, in both precisions, against the plain double loop.
#include <chrono>
#include <functional>
#include <numeric>

#include "check.hpp"
#include "mercer/engine.hpp"
#include "oracle.hpp"

using mercer::Engine;
using mercer::Index;
using mercer::Kind;
using mercer::Op;
using mercer::Plan;
using mercer::Side;
using oracle::Draw;
using oracle::Formula;
using oracle::Kernel;
using oracle::Make;
using oracle::Points;
using oracle::Real;

namespace {

constexpr Index kPlenty = Index{48} << 20;

std::vector<const Engine*> rows_that_run() {
    std::vector<const Engine*> rows;
    for (const Engine* row : mercer::engines()) {
        if (row->runs_here()) rows.push_back(row);
    }
    return rows;
}

// One way to walk: a row of the table, a precision, a budget.
struct Way {
    const Engine& engine;
    bool single;
    Index budget = kPlenty;

    std::string text() const {
        return std::string(engine.name) + (single ? " float" : " double") + (budget < kPlenty ? " one tile" : "");
    }
};

std::vector<Way> ways(bool with_budgets = false) {
    std::vector<Way> all;
    for (const Engine* row : rows_that_run()) {
        for (const bool single : {false, true}) {
            all.push_back({*row, single});
            if (with_budgets) all.push_back({*row, single, 1});
        }
    }
    return all;
}

// A Gram matrix to be walked: K(left, right), or K(right, right) when there is no left.
class Gram {
   public:
    Gram(const Plan& plan, const Side* left, const Side& right, const Way& way)
        : plan_(plan), left_(left), right_(right), way_(way), packed_(way.engine.pack(plan, right, way.single)) {}

    Index n() const { return (left_ != nullptr ? *left_ : right_).n; }
    Index m() const { return right_.n; }
    mercer::Walk walk(mercer::Watch& watch) const {
        return {plan_, left_ != nullptr ? *left_ : right_, right_, *packed_, left_ == nullptr, watch, way_.budget};
    }
    template <class T = double>
    std::vector<T> store() const {
        std::vector<T> out(size(n() * m()), T(-77));
        mercer::Watch watch;
        way_.engine.store(walk(watch), {out.data(), sizeof(T) == 4});
        return out;
    }
    std::vector<double> matvec(const std::vector<double>* v, Index t) const {
        std::vector<double> out(size(n() * t), -77.0);
        mercer::Watch watch;
        way_.engine.matvec(walk(watch), {v != nullptr ? v->data() : nullptr, t, out.data()});
        return out;
    }
    std::vector<double> normal(const std::vector<double>& v, const std::vector<double>* w, Index t) const {
        std::vector<double> out(size(m() * t), -77.0);
        mercer::Watch watch;
        way_.engine.normal(walk(watch), {v.data(), w != nullptr ? w->data() : nullptr, t, out.data()});
        return out;
    }
    std::pair<std::vector<double>, std::vector<Index>> topk(Index k, bool largest) const {
        std::vector<double> values(size(n() * k), -77.0);
        std::vector<Index> indices(size(n() * k), -77);
        mercer::Watch watch;
        way_.engine.topk(walk(watch), {k, largest, values.data(), indices.data()});
        return {values, indices};
    }
    double mended_share() const {
        mercer::Watch watch;
        return way_.engine.mended_share(walk(watch));
    }

    static std::size_t size(Index count) { return static_cast<std::size_t>(count); }

   private:
    const Plan& plan_;
    const Side* left_;
    const Side& right_;
    Way way_;
    std::unique_ptr<mercer::Packed> packed_;
};

void expect_within(double error, double limit, const std::string& what) {
    if (!(error <= limit))
        check::fail(__FILE__, __LINE__, what + ": error " + std::to_string(error / limit) + " times the limit");
}

template <class A, class B>
double worst(const std::vector<A>& got, const std::vector<B>& wanted) {
    if (got.size() != wanted.size()) return INFINITY;
    double most = 0.0;
    for (std::size_t at = 0; at < got.size(); ++at) {
        const double error = static_cast<double>(std::abs(static_cast<Real>(got[at]) - static_cast<Real>(wanted[at])));
        if (!(error <= most)) most = std::isnan(error) ? INFINITY : error;
    }
    return most;
}

template <class A>
double largest(const std::vector<A>& values) {
    double most = 0.0;
    for (const A& x : values) most = std::max(most, static_cast<double>(std::abs(x)));
    return most;
}

// The first t columns of a matrix with `width` of them.
template <class A>
std::vector<A> columns(const std::vector<A>& all, Index width, Index t) {
    std::vector<A> out;
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (static_cast<Index>(at) % width < t) out.push_back(all[at]);
    }
    return out;
}

// a (n, m) times b (m, t), or a' (m, n) times b (n, t).
std::vector<Real> product(const std::vector<Real>& a, Index n, Index m, const std::vector<Real>& b, Index t,
                          bool flip) {
    std::vector<Real> out(Gram::size((flip ? m : n) * t), 0);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < m; ++j) {
            const Real x = a[Gram::size(i * m + j)];
            for (Index c = 0; c < t; ++c)
                out[Gram::size((flip ? j : i) * t + c)] += x * b[Gram::size((flip ? i : j) * t + c)];
        }
    }
    return out;
}

std::vector<Real> widened(const std::vector<double>& values) { return {values.begin(), values.end()}; }

// The columns of each row of K from the best to the worst, as they are stored: of equal values the smaller first.
std::vector<Index> sorted_columns(const std::vector<double>& K, Index n, Index m, bool largest) {
    std::vector<Index> all(Gram::size(n * m));
    for (Index i = 0; i < n; ++i) {
        const auto order = all.begin() + i * m;
        std::iota(order, order + m, Index{0});
        const double* row = K.data() + i * m;
        std::stable_sort(order, order + m,
                         [&](Index a, Index b) { return largest ? row[a] > row[b] : row[a] < row[b]; });
    }
    return all;
}

// All reducers against the oracle, on one shape. m = 0: a symmetric walk.
void compare(const Kernel& kernel, Index n, Index m, Index d) {
    constexpr Index kWide = 17;
    const bool symmetric = m == 0;
    if (symmetric) m = n;
    Points left(n);
    Points right(m);
    oracle::draw_points(kernel, m, d, static_cast<unsigned>(1000 + n + 7 * d), symmetric ? 0 : 2, left);
    if (!symmetric) oracle::draw_points(kernel, m, d, static_cast<unsigned>(2000 + m + 7 * d), 0, right);
    const Points& basis = symmetric ? left : right;
    const Plan plan = kernel.formula.plan();

    Draw draw(3);
    const std::vector<double> v = draw.normals(m * kWide);
    const std::vector<double> w = draw.normals(n * kWide);
    const std::vector<Real> K = oracle::gram(kernel.formula, left.side(), basis.side());
    const std::vector<Real> Kv = product(K, n, m, widened(v), kWide, false);
    std::vector<Real> Kvw = Kv;
    for (std::size_t at = 0; at < w.size(); ++at) Kvw[at] += w[at];
    const std::vector<Real> normal = product(K, n, m, Kv, kWide, true);
    const std::vector<Real> normal_w = product(K, n, m, Kvw, kWide, true);
    const std::vector<Real> sums = product(K, n, m, std::vector<Real>(Gram::size(m), 1), 1, false);
    const double top = (largest(K) + 1.0) * kernel.slack;

    for (const Way& way : ways(true)) {
        const std::string name = std::string(kernel.name) + (symmetric ? " symmetric " : " ") + std::to_string(n) +
                                 " x " + std::to_string(m) + ", d = " + std::to_string(d) + ", " + way.text();
        const double unit = way.single ? 2e-6 : 2e-14;  // of an entry; sums of m terms grow as its root
        const double root_n = std::sqrt(static_cast<double>(n));
        const double root_m = std::sqrt(static_cast<double>(m));
        const Gram gram(plan, symmetric ? nullptr : &left.side(way.single), basis.side(way.single), way);

        const std::vector<double> stored = gram.store();
        expect_within(worst(stored, K), unit * top, "store, " + name);
        expect_within(worst(gram.store<float>(), K), 3e-6 * top, "store as float, " + name);
        if (symmetric) {
            for (Index i = 0; i < n; ++i) {
                for (Index j = 0; j < i; ++j) {
                    if (stored[Gram::size(i * n + j)] == stored[Gram::size(j * n + i)]) continue;
                    check::fail(__FILE__, __LINE__, "store is not exactly symmetric, " + name);
                    i = j = n;
                }
            }
        }

        expect_within(worst(gram.matvec(nullptr, 1), sums), 3 * unit * top * root_m, "row sums, " + name);
        const std::vector<double> six = gram.matvec(nullptr, 6);  // the same six times
        for (std::size_t at = 0; at < six.size(); ++at)
            if (at % 6 != 0 && six[at] != six[at - 1]) check::fail(__FILE__, __LINE__, "row sums, t = 6, " + name);
        expect_within(worst(columns(six, 6, 1), sums), 3 * unit * top * root_m, "row sums, t = 6, " + name);
        for (const Index t : {1, 3, 4, 5, 17}) {
            const std::vector<double> part = columns(v, kWide, t);
            expect_within(worst(gram.matvec(&part, t), columns(Kv, kWide, t)), 8 * unit * top * root_m,
                          "matvec, t = " + std::to_string(t) + ", " + name);
        }
        for (const Index t : {1, 3, 9}) {
            const std::vector<double> part = columns(v, kWide, t);
            const std::vector<double> start = columns(w, kWide, t);
            const double limit = 4 * unit * top * root_n * (largest(Kvw) + 1.0);
            const std::string what = "normal, t = " + std::to_string(t) + ", " + name;
            expect_within(worst(gram.normal(part, nullptr, t), columns(normal, kWide, t)), limit, what);
            expect_within(worst(gram.normal(part, &start, t), columns(normal_w, kWide, t)), limit, what + " with w");
        }
        std::vector<Index> ks = {1};
        if (m > 5) ks.push_back(5);
        if (m > 1 && n * m < 20000) ks.push_back(m);
        for (const bool up : {true, false}) {
            // A symmetric store mirrors what topk computes twice, so only a general one has the very same values.
            const std::vector<Index> best = symmetric ? std::vector<Index>{} : sorted_columns(stored, n, m, up);
            for (const Index k : ks) {
                const std::string what = "topk, k = " + std::to_string(k) + (up ? " largest, " : " smallest, ") + name;
                const auto [values, indices] = gram.topk(k, up);
                bool sorted = true;
                double error = 0.0;
                for (Index i = 0; i < n; ++i) {
                    for (Index h = 0; h < k; ++h) {
                        const std::size_t at = Gram::size(i * k + h);
                        error = std::max(error, std::abs(values[at] - double(K[Gram::size(i * m + indices[at])])));
                        if (h == 0) continue;
                        sorted = sorted && (values[at] == values[at - 1] ? indices[at - 1] < indices[at]
                                                                         : (values[at - 1] > values[at]) == up);
                    }
                }
                if (!sorted) check::fail(__FILE__, __LINE__, "not in order: " + what);
                expect_within(error, unit * top, what);
                if (!symmetric && indices != columns(best, m, k))
                    check::fail(__FILE__, __LINE__, "not the best: " + what);
            }
        }
        // Pairs are the diagonal.
        if (n == m) {
            std::vector<double> diagonal(Gram::size(n), -77.0);
            std::vector<Real> wanted;
            for (Index i = 0; i < n; ++i) wanted.push_back(K[Gram::size(i * m + i)]);
            mercer::Watch watch;
            way.engine.pairs(plan, left.side(way.single), basis.side(way.single), diagonal.data(), watch);
            expect_within(worst(diagonal, wanted), 2e-14 * top, "pairs, " + name);
        }
    }
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStride = 2;  // every other shape: these runs are slow
#else
constexpr std::size_t kStride = 1;
#endif
const std::vector<Index> kSizes = {1, 5, 23, 24, 25, 63, 64, 65, 191, 192, 193, 400};
const std::vector<Index> kWidths = {1, 2, 3, 7, 16, 33};

const Kernel& kernel_named(const std::string& name) {
    static const std::vector<Kernel> all = oracle::kernels();
    for (const Kernel& kernel : all) {
        if (kernel.name == name) return kernel;
    }
    throw std::invalid_argument(name);
}

Formula gaussian_of(double scale) {
    Formula f;
    f.add(Op::exp, f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), scale));
    return f;
}

struct Threads {
    explicit Threads(int count) : before(mercer::thread_count()) { mercer::set_thread_count(count); }
    ~Threads() { mercer::set_thread_count(before); }
    int before;
};

}  // namespace

TEST("The table of instruction sets") {
    CHECK_EQUAL(mercer::engines()[0]->name, "baseline");
    CHECK(mercer::engines()[0]->runs_here());
    CHECK_EQUAL(mercer::choose_engine("baseline").name, "baseline");
    CHECK(mercer::choose_engine().name != "avx512");
    CHECK_THROWS(mercer::choose_engine("abacus"), std::invalid_argument);
}

TEST("Every kernel and reducer agrees with the double loop, on shapes that are multiples of nothing") {
    const std::vector<Kernel> all = oracle::kernels();
    for (std::size_t at = 0; at < all.size(); ++at) {
        // Each kernel meets nearly every size on either side, each width twice, and four symmetric walks.
        for (std::size_t s = at % kStride; s < kSizes.size(); s += kStride) {
            const Index n = kSizes[s];
            const Index m = kSizes[(5 * s + 3 + at) % kSizes.size()];
            const Index d = kWidths[(s + at) % kWidths.size()];
            if (n * m <= 13000) compare(all[at], n, m, d);
            if ((s + at) % 3 == 0 && n < 400) compare(all[at], n, 0, d);
        }
    }
}

TEST("Square shapes, where pairs are the diagonal of two different sides") {
    for (const Kernel& kernel : oracle::kernels()) compare(kernel, 65, 65, 5);
}

TEST("Several blocks of rows, few rows against many columns, and nothing at all") {
    for (const char* name : {"gaussian", "row registers"}) {
        compare(kernel_named(name), 430, 130, 3);
        compare(kernel_named(name), 390, 0, 3);
        compare(kernel_named(name), 2, 16500, 2);
        for (const Way& way : ways(true)) {
            const Kernel& kernel = kernel_named(name);
            const Plan plan = kernel.formula.plan();
            Points none(0);
            Points some(5);
            oracle::draw_points(kernel, 5, 3, 1, 0, none);
            oracle::draw_points(kernel, 5, 3, 2, 0, some);
            const Gram flat(plan, &none.side(way.single), some.side(way.single), way);
            const std::vector<double> v(5, 1.0);
            CHECK(flat.store().empty());
            CHECK(flat.matvec(&v, 1).empty());
            CHECK(flat.normal(v, nullptr, 1) == std::vector<double>(5, 0.0));
            CHECK(flat.topk(1, true).first.empty());
            const Gram tall(plan, &some.side(way.single), none.side(way.single), way);
            CHECK(tall.store().empty());
            CHECK(tall.matvec(nullptr, 2) == std::vector<double>(10, 0.0));
            const Gram empty(plan, nullptr, none.side(way.single), way);
            CHECK(empty.store().empty());
            CHECK(empty.matvec(nullptr, 7).empty());
        }
    }
}

TEST("A symmetric walk gives what the general one gives") {
    for (const Kernel& kernel : oracle::kernels()) {
        Points points(217);
        oracle::draw_points(kernel, 217, 4, 5, 0, points);
        const Plan plan = kernel.formula.plan();
        for (const Way& way : ways()) {
            const Side& side = points.side(way.single);
            const Gram half(plan, nullptr, side, way);
            const Gram whole(plan, &side, side, way);
            const double unit = way.single ? 4e-6 : 4e-14;
            const std::vector<double> K = whole.store();
            expect_within(worst(half.store(), K), unit * kernel.slack * (largest(K) + 1),
                          std::string("store ") + kernel.name + way.text());
            Draw draw(1);
            const std::vector<double> v = draw.normals(217 * 6);
            for (const Index t : {1, 6}) {
                const std::vector<double> part = columns(v, 6, t);
                expect_within(worst(half.matvec(&part, t), whole.matvec(&part, t)),
                              100 * unit * kernel.slack * (largest(K) + 1),
                              std::string("matvec ") + kernel.name + way.text());
            }
        }
    }
}

TEST("Results are bitwise equal for any number of threads") {
    const auto everything = [](const Kernel& kernel, const Way& way, Index n, Index m) {
        Points left(n);
        Points right(m);
        oracle::draw_points(kernel, m, 3, 1, 0, left);
        oracle::draw_points(kernel, m, 3, 2, 0, right);
        const Plan plan = kernel.formula.plan();
        const Gram gram(plan, n == m ? nullptr : &left.side(way.single), right.side(way.single), way);
        Draw draw(9);
        const std::vector<double> v = draw.normals(m * 5);
        const std::vector<double> v1(v.begin(), v.begin() + m);
        std::vector<double> all = gram.matvec(&v, 5);
        const auto append = [&](const std::vector<double>& more) { all.insert(all.end(), more.begin(), more.end()); };
        append(gram.matvec(&v1, 1));
        append(gram.normal(v1, nullptr, 1));
        append(gram.topk(3, true).first);
        if (n * m < 1000000) append(gram.store());
        append({gram.mended_share()});
        return all;
    };
    for (const char* name : {"gaussian", "0.7 gaussian + linear * matern 3/2"}) {
        const Kernel& kernel = kernel_named(name);
        for (const Way& way : ways()) {
            for (const auto& [n, m] : std::vector<std::pair<Index, Index>>{{450, 170}, {600, 600}, {10, 16500}}) {
                std::vector<double> first;
                for (const int count : {1, 2, 3, 5}) {
                    const Threads set(count);
                    const std::vector<double> got = everything(kernel, way, n, m);
                    if (first.empty()) first = got;
                    if (got != first) check::fail(__FILE__, __LINE__, std::string(name) + ", " + way.text());
                }
            }
        }
    }
}

TEST("Instruction sets agree") {
    for (const Kernel& kernel : oracle::kernels()) {
        Points left(100);
        Points right(150);
        oracle::draw_points(kernel, 150, 6, 1, 0, left);
        oracle::draw_points(kernel, 150, 6, 2, 0, right);
        const Plan plan = kernel.formula.plan();
        for (const bool single : {false, true}) {
            std::vector<double> first;
            for (const Engine* row : rows_that_run()) {
                const Way way{*row, single};
                const std::vector<double> K = Gram(plan, &left.side(single), right.side(single), way).store();
                if (first.empty()) first = K;
                expect_within(worst(K, first), (single ? 4e-6 : 4e-14) * kernel.slack * (largest(K) + 1),
                              kernel.name + way.text());
            }
        }
    }
}

TEST("Points of either precision may be packed in either") {
    const Kernel& kernel = kernel_named("0.7 gaussian + linear * matern 3/2");
    Points left(70);
    Points right(90);
    oracle::draw_points(kernel, 90, 6, 1, 0, left);
    oracle::draw_points(kernel, 90, 6, 2, 0, right);
    const Plan plan = kernel.formula.plan();
    const std::vector<Real> K = oracle::gram(kernel.formula, left.side(), right.side());
    for (const Way& way : ways()) {
        for (const bool input : {false, true}) {
            const Gram gram(plan, &left.side(!input), right.side(input), way);
            expect_within(worst(gram.store(), K), (way.single ? 2e-6 : 2e-14) * (largest(K) + 1), way.text());
        }
    }
}

TEST("Equal values come in the order of their indices, however many there are") {
    const Index m = 300;
    Points left(30);
    Points right(m);
    const Kernel& kernel = kernel_named("equality");
    oracle::draw_points(kernel, m, 1, 1, 0, left);
    oracle::draw_points(kernel, m, 1, 2, 0, right);
    const Plan plan = kernel.formula.plan();
    for (const Way& way : ways(true)) {
        const Gram gram(plan, &left.side(), right.side(), way);
        for (const bool up : {true, false}) {
            const std::vector<Index> best = sorted_columns(gram.store(), 30, m, up);
            for (const Index k : {1, 2, 7, 100, 299, 300}) CHECK(gram.topk(k, up).second == columns(best, m, k));
        }
    }
}

// ---- Accuracy of distances ----------------------------------------------------------------------------------------

namespace {

// The gaussian within `limit` of the truth, at most 1, and exactly 1 on the diagonal, whichever way it is walked.
void check_gaussian(const std::vector<double>& values, Index d, double scale, double limit, const std::string& name) {
    const Index n = static_cast<Index>(values.size()) / d;
    const Formula formula = gaussian_of(scale);
    const Plan plan = formula.plan();
    Points points(n);
    points.dense(values, d);
    for (const bool input : {false, true}) {  // the truth of the numbers given, which are rounded when given as floats
        const Side& side = points.side(input);
        const std::vector<Real> K = oracle::gram(formula, side, side);
        for (const Engine* row : rows_that_run()) {
            for (const bool symmetric : {false, true}) {
                const Gram gram(plan, symmetric ? nullptr : &side, side, {*row, true});
                const std::vector<double> got = gram.store();
                const std::string what = name + ", d = " + std::to_string(d) + ", " + std::string(row->name);
                expect_within(worst(got, K), limit, what);
                if (*std::max_element(got.begin(), got.end()) > 1.0)
                    check::fail(__FILE__, __LINE__, "above 1: " + what);
                for (Index i = 0; symmetric && i < n; ++i) CHECK_EQUAL(got[static_cast<std::size_t>(i * n + i)], 1.0);
            }
        }
    }
}

}  // namespace

TEST("The gaussian in float is good to 1e-6 on data with offset 1e4 and spread 1") {
    for (const Index d : {1, 3, 16, 64}) {
        Draw draw(static_cast<unsigned>(d));
        std::vector<double> values;
        for (Index at = 0; at < 200 * d; ++at) values.push_back(1e4 + std::normal_distribution<double>()(draw.bits));
        check_gaussian(values, d, -0.5, 1e-6, "offset 1e4");
        check_gaussian(values, d, -0.5 / static_cast<double>(d), 1e-6, "offset 1e4, wide");
    }
}

TEST("The gaussian in float is good to 1e-6 on clusters far apart, with points 1e-3 apart") {
    for (const Index d : {1, 2, 8, 40}) {
        Draw draw(static_cast<unsigned>(d));
        std::vector<double> centres = draw.normals(7 * d);
        std::vector<double> values;
        for (Index i = 0; i < 200; ++i) {
            for (Index k = 0; k < d; ++k)
                values.push_back(1e3 * centres[static_cast<std::size_t>(i % 7 * d + k)] + 1e-3 * draw.normal());
        }
        check_gaussian(values, d, -0.5, 1e-6, "clusters");
        check_gaussian(values, d, -0.5e6, 1e-6, "clusters, narrow");
    }
}

TEST("The gaussian in float is good to 1e-6 on a long series, whose ends are many length scales away") {
    for (const double length : {1e3, 1e4, 1e5, 1e7}) {
        Draw draw(1);
        std::vector<double> values;
        for (Index i = 0; i < 300; ++i) values.push_back(length * static_cast<double>(i / 3) + draw.uniform());
        check_gaussian(values, 1, -0.5, 1e-6, "series");
    }
}

TEST("The gaussian in float is good to 1e-6 on data with norms of 100 length scales") {
    for (const Index d : {2, 5, 30}) {
        Draw draw(static_cast<unsigned>(d));
        std::vector<double> values;
        // Pairs of neighbours within a length scale, on a sphere of 100 of them.
        for (Index i = 0; i < 100; ++i) {
            const std::vector<double> at = draw.normals(d);
            double norm = 0.0;
            for (const double x : at) norm += x * x;
            for (int twin = 0; twin < 2; ++twin) {
                for (const double x : at)
                    values.push_back(100 * x / std::sqrt(norm) +
                                     twin * draw.normal() / std::sqrt(static_cast<double>(d)));
            }
        }
        check_gaussian(values, d, -0.5, 1e-6, "norm 100");
    }
}

TEST("Distances of near-duplicates keep their digits") {
    Formula squares;
    squares.add(Op::sqdist, squares.leaf(Kind::dot));
    Formula matern;
    matern.add(Op::exp, matern.scaled(matern.add(Op::sqrt, matern.add(Op::sqdist, matern.leaf(Kind::dot))), -1.0));
    const Index n = 120;
    for (const Index d : {1, 4, 20}) {
        for (const double gap : {1e-1, 1e-2, 1e-4, 1e-7}) {
            Draw draw(static_cast<unsigned>(d));
            std::vector<double> x = draw.normals(n * d);
            std::vector<double> z = x;
            for (double& value : z) value += gap * draw.normal();
            Points left(n);
            Points right(n);
            left.dense(x, d);
            right.dense(z, d);
            for (const Way& way : ways()) {
                for (const Formula& formula : {squares, matern}) {
                    const Plan plan = formula.plan();
                    const std::vector<double> got = Gram(plan, &left.side(), right.side(), way).store();
                    const std::vector<Real> K = oracle::gram(formula, left.side(), right.side());
                    double most = 0.0;
                    for (std::size_t at = 0; at < got.size(); ++at)
                        most = std::max(most, static_cast<double>(std::abs(got[at] - K[at]) / K[at]));
                    expect_within(most, way.single ? 3e-6 : 3e-13, "d = " + std::to_string(d) + ", " + way.text());
                }
            }
        }
    }
}

TEST("Sparse near-duplicates keep their digits too") {
    Formula squares;
    squares.add(Op::sqdist, squares.leaf(Kind::dot));
    const Plan plan = squares.plan();
    const Index n = 60, d = 30;
    for (const double gap : {1e-2, 1e-6}) {
        std::vector<std::unique_ptr<Points>> sides;
        for (int side = 0; side < 2; ++side) {
            Draw draw(4);
            std::vector<Index> offsets = {0};
            std::vector<std::int32_t> columns;
            std::vector<double> values;
            for (Index i = 0; i < n; ++i) {
                for (Index k = 0; k < d; ++k) {
                    const double x = draw.normal();
                    if (draw.below(2) == 0) continue;
                    columns.push_back(static_cast<std::int32_t>(k));
                    values.push_back(side == 0 ? x : x + gap * draw.normal());
                    if (side == 0) draw.normal();
                }
                offsets.push_back(static_cast<Index>(columns.size()));
            }
            sides.push_back(std::make_unique<Points>(n));
            sides.back()->sparse(offsets, columns, values, d);
        }
        const std::vector<Real> K = oracle::gram(squares, sides[0]->side(), sides[1]->side());
        for (const Way& way : ways()) {
            const std::vector<double> got = Gram(plan, &sides[0]->side(), sides[1]->side(), way).store();
            double most = 0.0;
            for (std::size_t at = 0; at < got.size(); ++at)
                most = std::max(most, static_cast<double>(std::abs(got[at] - K[at]) / K[at]));
            expect_within(most, way.single ? 3e-6 : 3e-13, way.text());
        }
    }
}

TEST("Points whose squares overflow float are far apart, not equal") {
    const Index n = 40;
    Draw draw(1);
    std::vector<double> values = draw.normals(n * 3);
    for (double& x : values) x *= 1e20;
    Points points(n);
    points.dense(values, 3);
    Formula laplace;  // |x - z| itself would not fit either, so its gaussian's and exponential's limit: 0
    laplace.add(Op::exp, laplace.scaled(laplace.add(Op::sqrt, laplace.add(Op::sqdist, laplace.leaf(Kind::dot))), -1.0));
    for (const Formula& formula : {laplace, gaussian_of(-1.0)}) {
        const Plan plan = formula.plan();
        for (const Way& way : ways()) {
            const Side& side = points.side(way.single);
            const Gram whole(plan, &side, side, way);
            const std::vector<double> K = whole.store();
            double wrong = 0.0;
            for (Index i = 0; i < n; ++i) {
                for (Index j = 0; j < n; ++j)
                    wrong = std::max(wrong, std::abs(K[static_cast<std::size_t>(i * n + j)] - (i == j ? 1.0 : 0.0)));
            }
            if (wrong != 0.0) check::fail(__FILE__, __LINE__, way.text() + ", error " + std::to_string(wrong));
        }
    }
}

TEST("A set's pair with itself counts the items outside the dictionary, with another their difference") {
    Formula f;
    const int leaf = f.leaf(Kind::dot);
    f.add(Op::add, f.scaled(f.add(Op::inner, leaf), 100.0), f.add(Op::sqdist, leaf));
    const Plan plan = f.plan();
    Points one(2);
    Points two(2);
    one.sparse({0, 2, 3}, {0, 2, 1}, {}, 3, {4.0, 1.0});  // {a, c, ?, ?}, {b}
    two.sparse({0, 1, 2}, {2, 2}, {}, 3, {1.0, 1.0});     // {c}, {c}
    for (const Engine* row : rows_that_run()) {
        double out[2];
        mercer::Watch watch;
        row->pairs(plan, one.side(), one.side(), out, watch);
        CHECK_EQUAL(out[0], 400.0);
        CHECK_EQUAL(out[1], 100.0);
        row->pairs(plan, one.side(), two.side(), out, watch);
        CHECK_EQUAL(out[0], 103.0);
        CHECK_EQUAL(out[1], 2.0);
        CHECK(Gram(plan, &one.side(), two.side(), {*row, true}).store() ==
              std::vector<double>({103.0, 103.0, 2.0, 2.0}));
    }
}

// ---- Values that are not finite, and stopping ---------------------------------------------------------------------

namespace {

struct Found {
    Index row = -1;
    Index column = -1;
    int origin = -9;
};

Found not_finite(const std::function<void()>& work) {
    try {
        work();
    } catch (const mercer::NotFinite& found) {
        return {found.row, found.column, found.origin};
    }
    return {};
}

void check_found(const std::function<void()>& work, Index row, Index column, int origin, const std::string& what) {
    const Found found = not_finite(work);
    if (found.row == row && found.column == column && found.origin == origin) return;
    check::fail(__FILE__, __LINE__,
                what + ": found row " + std::to_string(found.row) + ", column " + std::to_string(found.column) +
                    ", instruction " + std::to_string(found.origin));
}

}  // namespace

TEST("A value that is not finite is found, with its row, column and instruction") {
    // exp(|x - z|^2 gaussian) * exp(<x, z>): only the pair (i, j) is large enough to overflow.
    Formula f;
    const int near = f.leaf(Kind::dot);
    const int smooth = f.add(Op::exp, f.scaled(f.add(Op::sqdist, near), -1.0));  // 0, 1, 2: fused
    const int inner = f.add(Op::inner, f.leaf(Kind::dot));                       // 3
    f.add(Op::mul, smooth, f.add(Op::exp, f.scaled(inner, 1.0)));                // 4, 5, 6
    const Plan plan = f.plan();
    const Index n = 230, m = 310;
    for (const auto& [i, j] : std::vector<std::pair<Index, Index>>{{0, 0}, {201, 307}, {229, 5}, {47, 309}}) {
        for (const Way& way : ways(true)) {
            const double big = way.single ? 10.0 : 27.0;  // e^100, e^729
            Points left(n);
            Points right(m);
            std::vector<double> zeros(static_cast<std::size_t>(m), 0.0);
            left.dense(std::vector<double>(static_cast<std::size_t>(n), 0.0), 1);
            right.dense(zeros, 1);
            std::vector<double> x(static_cast<std::size_t>(n), 0.0);
            x[static_cast<std::size_t>(i)] = big;
            zeros[static_cast<std::size_t>(j)] = big;
            left.dense(x, 1);
            right.dense(zeros, 1);
            const Gram gram(plan, &left.side(), right.side(), way);
            const std::vector<double> v(static_cast<std::size_t>(5 * m), 1.0);
            const std::vector<double> v1(static_cast<std::size_t>(m), 1.0);
            check_found([&] { gram.store(); }, i, j, 5, "store " + way.text());
            check_found([&] { gram.matvec(nullptr, 1); }, i, j, 5, "matvec " + way.text());
            check_found([&] { gram.matvec(&v, 5); }, i, j, 5, "matvec " + way.text());
            check_found([&] { gram.normal(v1, nullptr, 1); }, i, j, 5, "normal " + way.text());
            for (const Index k : {Index{1}, Index{4}, m}) {
                for (const bool up : {true, false})
                    check_found([&] { gram.topk(k, up); }, i, j, 5,
                                "topk " + std::to_string(k) + (up ? " largest " : " smallest ") + way.text());
            }
        }
    }
}

TEST("A symmetric walk finds the pair that is not finite, and pairs find theirs") {
    Formula f;
    const int logarithm = f.add(Op::log1p, f.add(Op::value, f.leaf(Kind::stored)));  // 0, 1
    f.scaled(logarithm, 2.0);                                                        // 2
    const Plan plan = f.plan();
    const Index n = 260;
    for (const auto& [i, j] : std::vector<std::pair<Index, Index>>{{3, 100}, {10, 250}, {77, 77}, {255, 259}}) {
        std::vector<double> values(static_cast<std::size_t>(n * n), 1.0);
        values[static_cast<std::size_t>(i * n + j)] = values[static_cast<std::size_t>(j * n + i)] = -2.0;
        Points points(n);
        points.stored(values, n);
        for (const Way& way : ways()) {
            const Gram gram(plan, nullptr, points.side(), way);
            const std::vector<double> v(static_cast<std::size_t>(5 * n), 1.0);
            const Found found = not_finite([&] { gram.store(); });  // (i, j) or (j, i), whichever is made first
            CHECK_EQUAL(std::min(found.row, found.column), i);
            CHECK_EQUAL(std::max(found.row, found.column), j);
            CHECK_EQUAL(found.origin, 1);
            check_found([&] { gram.matvec(nullptr, 1); }, i, j, 1, "matvec " + way.text());
            check_found([&] { gram.matvec(&v, 5); }, i, j, 1, "matvec " + way.text());
            check_found([&] { gram.normal(v, nullptr, 5); }, i, j, 1, "normal " + way.text());
            std::vector<double> out(static_cast<std::size_t>(n));
            mercer::Watch watch;
            const auto pairs = [&] { way.engine.pairs(plan, points.side(), points.side(), out.data(), watch); };
            if (i == j) check_found(pairs, i, i, 1, "pairs");
            else pairs();
        }
    }
}

TEST("A callback's exception reaches the caller") {
    Formula f;
    f.add(Op::value, f.leaf(Kind::callback));
    const Plan plan = f.plan();
    Points points(900);
    points.call([](Index i, Index j) -> double {
        if (i == 400 && j == 600) throw std::domain_error("no such entry");
        return 1.0;
    });
    for (const Way& way : ways()) {
        CHECK_THROWS(Gram(plan, &points.side(), points.side(), way).store(), std::domain_error);
        CHECK_THROWS(Gram(plan, &points.side(), points.side(), way).matvec(nullptr, 1), std::domain_error);
    }
}

TEST("A watch that says stop ends long work soon") {
    const Index n = 60000;
    Draw draw(1);
    Points points(n);
    points.dense(draw.normals(n * 8), 8);
    const Plan plan = gaussian_of(-1.0).plan();
    const Way way{mercer::choose_engine(), false};
    const Gram half(plan, nullptr, points.side(), way);
    const Gram whole(plan, &points.side(), points.side(), way);
    std::vector<double> out(static_cast<std::size_t>(n * 2));
    std::vector<Index> indices(static_cast<std::size_t>(n));
    const auto stops = [&](const auto& work) {
        int asked = 0;
        mercer::Watch watch([&] { return ++asked > 0; });
        const auto start = std::chrono::steady_clock::now();
        CHECK_THROWS(work(watch), mercer::Cancelled);
        CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 2.0);
        CHECK_EQUAL(asked, 1);
    };
    for (const Gram* gram : {&half, &whole}) {
        stops([&](mercer::Watch& watch) { way.engine.matvec(gram->walk(watch), {nullptr, 1, out.data()}); });
        stops([&](mercer::Watch& watch) { way.engine.matvec(gram->walk(watch), {out.data(), 2, out.data()}); });
        stops(
            [&](mercer::Watch& watch) { way.engine.normal(gram->walk(watch), {out.data(), nullptr, 1, out.data()}); });
        stops([&](mercer::Watch& watch) { way.engine.topk(gram->walk(watch), {1, true, out.data(), indices.data()}); });
    }
}
