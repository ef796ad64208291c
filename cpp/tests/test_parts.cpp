// Sums over the parts of bags: sizes that cross every strip, block and sweep; threads; what is recomputed.
#include "mercer/basis.hpp"
#include "walks.hpp"

namespace {

using mercer::Index;
using oracle::Make;
using oracle::Real;

// Bags of the given sizes, of parts three wide around `centre`.
void draw(const std::vector<Index>& sizes, unsigned seed, double centre, oracle::Points& points) {
    oracle::Draw draw(seed);
    std::vector<Index> offsets = {0};
    for (const Index size : sizes) offsets.push_back(offsets.back() + size);
    const oracle::Kernel part = oracle::part_kernel(false);
    oracle::Points& parts = points.bags(offsets, part.formula.plan());
    std::vector<double> values(static_cast<std::size_t>(3 * offsets.back()));
    for (double& x : values) x = oracle::Draw::as_float(centre + draw.normal());
    parts.dense(values, 3);
    parts.row(std::vector<double>(static_cast<std::size_t>(offsets.back()), 1.0));
}

oracle::Formula sum() {
    oracle::Formula f;
    f.add(oracle::Op::value, f.leaf(mercer::Kind::convolution));
    return f;
}

const std::vector<Index> kSizes = {1, 0, 700, 3, 191, 192, 193, 24, 0, 0, 64, 65, 1, 1500};

}  // namespace

TEST("Bags of any size are summed over all pairs of their parts") {
    const oracle::Formula formula = sum();
    const mercer::Plan plan = formula.plan();
    oracle::Points left(static_cast<Index>(kSizes.size())), right(5);
    draw(kSizes, 1, 0.0, left);
    draw({2, 100, 0, 65, 1}, 2, 0.0, right);
    const std::vector<Real> K = oracle::gram(formula, left.side(), right.side());
    const double most = walks::largest(K);
    for (const walks::Way& way : walks::ways(true)) {
        const walks::Gram gram(plan, &left.side(way.single), right.side(way.single), way);
        walks::expect_within(walks::worst(gram.store(), K), most * (way.single ? 1e-6 : 1e-13), way.text());
    }
}

TEST("A symmetric matrix of bags is symmetric to the last bit, and has the pairs on its diagonal") {
    const mercer::Plan plan = sum().plan();
    oracle::Points points(static_cast<Index>(kSizes.size()));
    draw(kSizes, 3, 0.0, points);
    const Index n = points.n();
    for (const walks::Way& way : walks::ways()) {
        const std::vector<double> K = walks::Gram(plan, nullptr, points.side(way.single), way).store();
        std::vector<double> diagonal(static_cast<std::size_t>(n));
        mercer::Watch watch;
        way.engine.pairs(plan, points.side(), points.side(), diagonal.data(), watch);
        for (Index i = 0; i < n; ++i) {
            for (Index j = 0; j < i; ++j) CHECK(K[walks::Gram::size(i * n + j)] == K[walks::Gram::size(j * n + i)]);
            const double own = diagonal[walks::Gram::size(i)];
            CHECK_NEAR(K[walks::Gram::size(i * n + i)], own, (way.single ? 1e-6 : 1e-13) * (1.0 + own));
        }
    }
}

TEST("Sums over parts are the same for any number of threads") {
    const mercer::Plan plan = sum().plan();
    std::vector<Index> sizes;
    for (Index i = 0; i < 400; ++i) sizes.push_back(i * 7 % 5);
    oracle::Points points(400);
    draw(sizes, 4, 0.0, points);
    const std::vector<double> v(400, 0.5);
    for (const walks::Way& way : walks::ways()) {
        const walks::Gram gram(plan, nullptr, points.side(way.single), way);
        std::vector<double> stored, multiplied;
        for (const int count : {1, 3}) {
            const walks::Threads threads(count);
            const std::vector<double> K = gram.store();
            const std::vector<double> Kv = gram.matvec(&v, 1);
            CHECK(count == 1 || (K == stored && Kv == multiplied));
            stored = K;
            multiplied = Kv;
        }
    }
}

TEST("Parts too near each other for float are noticed, however few the bags") {
    const mercer::Plan plan = sum().plan();
    for (const bool crowded : {false, true}) {
        oracle::Points points(12);
        const std::vector<Index> offsets = {0, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 2000, 2200, 2400};
        oracle::Points& parts = points.bags(offsets, oracle::part_kernel(false).formula.plan());
        // Crowded: two heaps, each small and far from the mean of both.
        oracle::Draw noise(6);
        std::vector<double> values = noise.normals(3 * 2400);
        for (std::size_t at = 0; crowded && at < values.size(); ++at)
            values[at] = oracle::Draw::as_float(0.01 * values[at] + (at < values.size() / 2 ? 300.0 : -300.0));
        parts.dense(values, 3);
        parts.row(std::vector<double>(2400, 1.0));
        const mercer::Basis basis(plan, points.side(true), mercer::choose_engine(), walks::kPlenty);
        mercer::Watch watch;
        CHECK_EQUAL(basis.holds_single(watch), !crowded);
    }
}
