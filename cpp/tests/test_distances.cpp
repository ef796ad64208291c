// Distances and what is made of them keep their digits, whatever the data: the cancellation of |x|^2 + |z|^2 - 2 <x,
// z>.
#include <numeric>

#include "walks.hpp"

using oracle::Draw;
using oracle::Points;
using namespace walks;

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

TEST("Few features lose nothing in double, however narrow the gaussian and however far the data from 0") {
    for (const Index d : {1, 2, 4}) {
        Draw draw(static_cast<unsigned>(d));
        std::vector<double> values;
        for (Index at = 0; at < 150 * d; ++at) values.push_back(1e3 + draw.uniform());
        Points points(150);
        points.dense(values, d);
        for (const double scale : {-0.5, -5e2, -5e5}) {
            const Formula formula = gaussian_of(scale);
            const Plan plan = formula.plan();
            const std::vector<Real> K = oracle::gram(formula, points.side(), points.side());
            for (const Engine* row : rows_that_run()) {
                for (const Side* left : {&points.side(), static_cast<const Side*>(nullptr)}) {
                    const std::vector<double> got = Gram(plan, left, points.side(), {*row, false}).store();
                    expect_within(worst(got, K), 1e-15, "d = " + std::to_string(d) + ", " + std::string(row->name));
                }
            }
        }
    }
}

TEST("One row of clusters far apart is good to 1e-6 in float, where most of its exponents are mended") {
    for (const Index d : {2, 8, 40}) {
        Draw draw(static_cast<unsigned>(d));
        const std::vector<double> centres = draw.normals(3 * d);
        std::vector<double> values;
        for (Index at = 0; at < 200 * d; ++at)
            values.push_back(30.0 * centres[static_cast<std::size_t>(at % (3 * d))] + 0.3 * draw.normal());
        Points one(1), all(200);
        one.dense({values.begin(), values.begin() + d}, d);
        all.dense(values, d);
        const Formula formula = gaussian_of(-0.5);
        const Plan plan = formula.plan();
        const std::vector<double> v(200, 1.0);
        const std::vector<Real> K = oracle::gram(formula, one.side(), all.side());
        const std::vector<Real> sum = {std::accumulate(K.begin(), K.end(), Real{})};
        for (const Way& way : ways()) {
            const Gram gram(plan, &one.side(), all.side(), way);
            const double limit = way.single ? 1e-6 : 1e-13;
            expect_within(worst(gram.store(), K), limit, "one row, d = " + std::to_string(d) + ", " + way.text());
            expect_within(worst(gram.matvec(&v, 1), sum), 200 * limit, "its sum, " + way.text());
        }
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
