// Rows of a Gram matrix: gathered, made where they are wanted, kept and forgotten.
#include "slow.hpp"

using namespace slow;

namespace {

std::vector<double> made(const Engine& engine, const mercer::Plan& plan, const mercer::Side& left,
                         const mercer::Side& right, bool single) {
    const Basis basis(plan, right, engine, kPlenty);
    std::vector<double> out(at(left.n * right.n));
    Watch watch;
    basis.store(&left, single, watch, {out.data()});
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

TEST("Gathered bags have the parts that they had") {
    Points points(3);
    points.parts({0, 2, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 2);
    for (const bool single : {false, true}) {
        const mercer::Gathered some(points.side(single), std::vector<Index>{2, 1, 0});
        const auto& parts = std::get<mercer::Parts>(some.side().sources[0]);
        CHECK_EQUAL(parts.count(0), 3);
        CHECK_EQUAL(parts.count(1), 0);
        const std::vector<double> wanted = {5, 6, 7, 8, 9, 10, 1, 2, 3, 4};
        for (std::size_t i = 0; i < wanted.size(); ++i)
            CHECK_EQUAL(parts.values.at<double>(static_cast<Index>(i)), wanted[i]);
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
        const Basis basis(data().formula.plan(), data().points.side(), *engine, kPlenty);
        for (const bool single : {false, true}) {
            Watch watch;
            std::vector<double> doubles(at(3 * n), -7.0);
            std::vector<float> floats(at(3 * n), -7.0F);
            std::vector<void*> to(chosen.size(), nullptr);
            for (std::size_t r = 0; r < 3; ++r)
                to[2 * r] = single ? static_cast<void*>(&floats[r * at(n)]) : static_cast<void*>(&doubles[r * at(n)]);
            std::vector<double> g(at(n), 1.0), expected(at(n), 1.0);
            basis.scatter(left.side(), single, watch, {to.data(), single, delta.data(), g.data(), 3});
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
    mercer::RowCache<float> table(10, 100, 3 * 100 * static_cast<Index>(sizeof(float)) + 8);
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
    mercer::RowCache<double> table(4, 8, 2 * 8 * static_cast<Index>(sizeof(double)));
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
    mercer::RowCache<double> table(4, 8, 0);
    CHECK(table.claim() == nullptr);
    table.forget_before(5);
    CHECK(table.find(3) == nullptr);
}
