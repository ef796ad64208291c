// A basis: packed when first needed, in the precision that holds its accuracy.
#include "check.hpp"
#include "mercer/basis.hpp"
#include "oracle.hpp"

#include <thread>

using mercer::Basis;
using mercer::Index;
using mercer::Kind;
using mercer::Op;
using mercer::Watch;
using oracle::Draw;
using oracle::Formula;
using oracle::Points;

namespace {

constexpr Index kBudget = Index{48} << 20;

Formula gaussian() {
    Formula f;
    f.add(Op::exp, f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), -0.5));
    return f;
}

std::vector<double> clusters(Index n, Index d, double apart, double within) {
    Draw draw(3);
    const std::vector<double> centres = draw.normals(10 * d);
    std::vector<double> values;
    for (Index i = 0; i < n; ++i) {
        for (Index k = 0; k < d; ++k)
            values.push_back(apart * centres[static_cast<std::size_t>(i * 10 / n * d + k)] + within * draw.normal());
    }
    return values;
}

std::vector<double> sums(const Basis& basis, const mercer::Side* left, bool single) {
    std::vector<double> out(static_cast<std::size_t>(left != nullptr ? left->n : basis.right().n));
    Watch watch;
    basis.matvec(left, single, watch, {nullptr, 1, out.data()});
    return out;
}

std::vector<long double> exact_sums(const Formula& formula, const mercer::Side& left, const mercer::Side& right,
                                    Index rows) {
    std::vector<long double> out;
    for (Index i = 0; i < rows; ++i) {
        out.push_back(0);
        for (Index j = 0; j < right.n; ++j) out.back() += oracle::entry(formula, left, i, right, j);
    }
    return out;
}

}  // namespace

TEST("Each precision is packed when first needed, and once") {
    Draw draw(1);
    Points points(300);
    points.dense(draw.normals(300 * 4), 4);
    const Basis basis(gaussian().plan(), points.side(), mercer::choose_engine(), kBudget);
    CHECK_EQUAL(basis.packed_bytes(), 0);
    sums(basis, nullptr, true);
    const Index single = basis.packed_bytes();
    CHECK(single >= 300 * 4 * 4);
    CHECK(single < 300 * 4 * 4 * 3);
    sums(basis, nullptr, true);
    CHECK_EQUAL(basis.packed_bytes(), single);
    sums(basis, nullptr, false);
    const Index both = basis.packed_bytes();
    CHECK(both >= single + 300 * 4 * 8);
    sums(basis, &points.side(), false);
    CHECK_EQUAL(basis.packed_bytes(), both);
}

TEST("Two threads may use a fresh basis at once") {
    Draw draw(1);
    Points points(400);
    points.dense(draw.normals(400 * 4), 4);
    const Basis basis(gaussian().plan(), points.side(), mercer::choose_engine(), kBudget);
    std::vector<double> first, second;
    std::thread other([&] { first = sums(basis, nullptr, true); });
    second = sums(basis, nullptr, true);
    other.join();
    CHECK(first == second);
}

TEST("Spread data stays in float") {
    Draw draw(2);
    Points points(1100);
    points.dense(draw.normals(1100 * 6), 6);
    const Basis basis(gaussian().plan(), points.side(), mercer::choose_engine(), kBudget);
    sums(basis, nullptr, true);
    const Index single = basis.packed_bytes();
    sums(basis, nullptr, false);
    CHECK_NEAR(static_cast<double>(basis.packed_bytes() - single), 2.0 * static_cast<double>(single),
               0.1 * static_cast<double>(single));
}

TEST("Tightly clustered data falls back to double, where most distances would cancel") {
    const Index n = 1100;
    Points points(n);
    points.dense(clusters(n, 3, 1000.0, 1e-3), 3);
    const Formula formula = gaussian();
    const std::vector<long double> exact = exact_sums(formula, points.side(), points.side(), 40);
    for (const mercer::Side* left : {static_cast<const mercer::Side*>(nullptr), &points.side()}) {
        const Basis basis(formula.plan(), points.side(), mercer::choose_engine(), kBudget);
        const std::vector<double> got = sums(basis, left, true);
        CHECK(basis.packed_bytes() > 2 * n * 3 * 8);  // the float sample, and the doubles that were used
        for (std::size_t i = 0; i < exact.size(); ++i) CHECK_NEAR(got[i], exact[i], 1e-10);
        std::vector<float> K(static_cast<std::size_t>(n * n));  // doubles computed, floats stored
        Watch watch;
        basis.store(left, true, watch, {K.data(), mercer::Format::real32});
        double row = 0.0;
        for (Index j = 0; j < n; ++j) row += static_cast<double>(K[static_cast<std::size_t>(j)]);
        CHECK_NEAR(row, exact[0], 1e-4);
    }
}

TEST("Every reducer through a basis with a budget of one tile") {
    const Index n = 210;
    Draw draw(5);
    Points points(n);
    points.dense(draw.normals(n * 5), 5);
    const Formula formula = gaussian();
    const Basis tight(formula.plan(), points.side(), mercer::choose_engine(), 1);
    const Basis roomy(formula.plan(), points.side(), mercer::choose_engine(), kBudget);
    for (const bool single : {false, true}) {
        const double limit = single ? 1e-4 : 1e-12;
        const auto both = [&](auto work, Index size) {
            std::vector<double> a(static_cast<std::size_t>(size)), b(static_cast<std::size_t>(size));
            Watch watch;
            work(tight, watch, a.data());
            work(roomy, watch, b.data());
            for (std::size_t at = 0; at < a.size(); ++at) CHECK_NEAR(a[at], b[at], limit);
        };
        const std::vector<double> v = draw.normals(n * 5);
        both([&](const Basis& b, Watch& w, double* out) { b.store(nullptr, single, w, {out}); }, n * n);
        both([&](const Basis& b, Watch& w, double* out) { b.matvec(nullptr, single, w, {v.data(), 5, out}); }, n * 5);
        both([&](const Basis& b, Watch& w, double* out) { b.normal(nullptr, single, w, {v.data(), nullptr, 5, out}); },
             n * 5);
        std::vector<Index> indices(static_cast<std::size_t>(n * 3));
        both([&](const Basis& b, Watch& w, double* out) { b.topk(nullptr, single, w, {3, true, out, indices.data()}); },
             n * 3);
    }
}
