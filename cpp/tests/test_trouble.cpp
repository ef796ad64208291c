// Values that are not finite, exceptions of callbacks, and stopping.
#include <chrono>
#include <functional>

#include "walks.hpp"

using oracle::Draw;
using oracle::Points;
using namespace walks;

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
