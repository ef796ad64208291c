// Every row of the table of instruction sets that runs here, in both precisions, against the plain double loop.
#include <numeric>

#include "walks.hpp"

using oracle::Draw;
using oracle::Kernel;
using oracle::Points;
using namespace walks;

namespace {

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
    std::vector<Real> others = Kv;  // without the diagonal
    for (Index at = 0; symmetric && at < n * kWide; ++at)
        others[Gram::size(at)] -= K[Gram::size(at / kWide * (n + 1))] * v[Gram::size(at)];
    // [K v, K² v, K⁴ v] for powers of the entries, three columns each, all but the diagonal where it is symmetric.
    constexpr Index kRungs = 3, kColumns = 3;
    std::vector<Real> ladder(Gram::size(n * kRungs * kColumns), 0);
    for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < m; ++j) {
            Real k = symmetric && i == j ? 0 : K[Gram::size(i * m + j)];
            for (Index rung = 0; rung < kRungs; ++rung, k *= k) {
                for (Index c = 0; c < kColumns; ++c)
                    ladder[Gram::size((i * kRungs + rung) * kColumns + c)] += k * v[Gram::size(j * kWide + c)];
            }
        }
    }
    std::vector<Real> Kvw = Kv;
    for (std::size_t at = 0; at < w.size(); ++at) Kvw[at] += w[at];
    const std::vector<Real> normal = product(K, n, m, Kv, kWide, true);
    const std::vector<Real> normal_w = product(K, n, m, Kvw, kWide, true);
    const std::vector<double> factors = draw.normals(n * kWide);
    std::vector<Real> DKvw = Kvw, dw = widened(w);
    for (std::size_t at = 0; at < w.size(); ++at) {
        DKvw[at] *= factors[at];
        dw[at] *= factors[at / kWide * kWide];  // one number a row
    }
    const std::vector<Real> normal_d = product(K, n, m, DKvw, kWide, true);
    const std::vector<Real> transposed = product(K, n, m, dw, kWide, true);
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
            if (!symmetric) continue;
            expect_within(worst(gram.matvec(&part, t, true), columns(others, kWide, t)), 8 * unit * top * root_m,
                          "matvec without the diagonal, t = " + std::to_string(t) + ", " + name);
        }
        const std::vector<double> three = columns(v, kWide, kColumns);
        expect_within(worst(gram.matvec(&three, kColumns, symmetric, kRungs, 1), ladder),
                      32 * unit * std::pow(top, 4.0) * root_m, "powers of entries, " + name);
        for (const Index t : {1, 3, 9}) {
            const std::vector<double> part = columns(v, kWide, t);
            const std::vector<double> start = columns(w, kWide, t);
            const double limit = 4 * unit * top * root_n * (largest(Kvw) + 1.0);
            const std::string what = "normal, t = " + std::to_string(t) + ", " + name;
            expect_within(worst(gram.normal(part, nullptr, t), columns(normal, kWide, t)), limit, what);
            expect_within(worst(gram.normal(part, &start, t), columns(normal_w, kWide, t)), limit, what + " with w");
            const std::vector<double> weights = columns(factors, kWide, t), one = columns(factors, kWide, 1);
            expect_within(worst(gram.normal(&part, &start, &weights, t, t), columns(normal_d, kWide, t)),
                          limit * (largest(DKvw) + 1.0), what + " with w and d");
            expect_within(worst(gram.normal(nullptr, &start, &one, t, 1), columns(transposed, kWide, t)),
                          limit * (largest(DKvw) + 1.0), what + " without v");
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

#if defined(MERCER_EMULATED)
constexpr std::size_t kStride = 6;  // two shapes of a kernel, and over all kernels every shape: an emulator is slowest
#elif defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStride = 2;  // every other shape: these runs are slow
#else
constexpr std::size_t kStride = 1;
#endif
const std::vector<Index> kSizes = {1, 5, 23, 24, 25, 63, 64, 65, 191, 192, 193, 400};
const std::vector<Index> kWidths = {1, 2, 3, 7, 16, 33};

}  // namespace

TEST("The table of instruction sets") {
    CHECK_EQUAL(mercer::engines()[0]->name, "baseline");
    CHECK(mercer::engines()[0]->runs_here());
    CHECK_EQUAL(mercer::choose_engine("baseline").name, "baseline");
    const Engine* best = nullptr;
    for (const Engine* row : mercer::engines()) {
        if (row->runs_here()) best = row;
    }
    CHECK(&mercer::choose_engine() == best);
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

TEST("One row, which has panels of its own") {
    for (const Kernel& kernel : oracle::kernels()) {
        for (const Index d : {1, 3, 20}) compare(kernel, 1, 300, d);
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

TEST("Half of a symmetric matrix is stored") {
    const Kernel& kernel = kernel_named("gaussian");
    const Plan plan = kernel.formula.plan();
    for (const Index n : kSizes) {
        Points points(n);
        oracle::draw_points(kernel, n, 3, 5, 0, points);
        for (const Engine* row : rows_that_run()) {
            const Gram gram(plan, nullptr, points.side(true), {*row, true});
            const std::vector<float> whole = gram.store<float>(), half = gram.store<float>(true);
            for (Index i = 0; i < n; ++i) {
                for (Index j = 0; j < n; ++j) {
                    const bool is_left = j / 192 < i / 192;  // below the blocks of the diagonal
                    CHECK_EQUAL(half[Gram::size(i * n + j)], is_left ? 77.0F : whole[Gram::size(i * n + j)]);
                }
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
