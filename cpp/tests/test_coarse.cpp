// Products and factors with K in 16 bits, against plain loops over K.
#include "walks.hpp"

using mercer::Code;
using oracle::Draw;
using oracle::Kernel;
using oracle::Points;
using namespace walks;

namespace {

constexpr Code kUnit{0.0, 1.0 / 65535.0}, kSigned{-1.0, 2.0 / 65535.0};

// A Gaussian, its codes, and a positive matrix W K W + ridge I.
struct Made {
    Made(const Engine& row, Index n_, Code code_, double ridge_)
        : n(n_), code(code_), ridge(ridge_), points(n_), plan(kernel_named("gaussian").formula.plan()) {
        const Kernel& kernel = kernel_named("gaussian");
        oracle::draw_points(kernel, n, 3, 5, 0, points);
        const Gram gram(plan, nullptr, points.side(true), {row, true});
        codes = gram.store<std::uint16_t>(true, code);
        K = oracle::gram(kernel.formula, points.side(), points.side());
        Draw draw(7);
        for (Index i = 0; i < n; ++i) {
            weights.push_back(static_cast<float>(draw.uniform(0.3, 1.0)));
            diagonal.push_back(entry(i, i));
        }
    }
    double entry(Index i, Index j) const {
        const auto w = [&](Index at) { return static_cast<double>(weights[Gram::size(at)]); };
        return w(i) * w(j) * static_cast<double>(K[Gram::size(i * n + j)]) + (i == j ? ridge : 0.0);
    }
    mercer::Coarsened job() const { return {codes.data(), n, code, weights.data(), diagonal.data(), 1e-4F}; }

    Index n;
    Code code;
    double ridge;
    Points points;
    Plan plan;
    std::vector<std::uint16_t> codes;
    std::vector<Real> K;
    std::vector<float> weights;
    std::vector<double> diagonal;
};

}  // namespace

TEST("Codes are the nearest, and half of them is all that a product reads") {
    for (const Engine* row : rows_that_run()) {
        for (const Index n : {1, 5, 33, 200, 471}) {
            for (const Code code : {kUnit, kSigned}) {
                const Made made(*row, n, code, 1.0);
                for (Index i = 0; i < n; ++i) {
                    for (Index j = 0; j < n; ++j) {
                        const std::uint16_t got = made.codes[Gram::size(i * n + j)];
                        if (j / 192 < i / 192) CHECK_EQUAL(got, 77);  // below the blocks of the diagonal
                        else
                            CHECK_NEAR(code.low + code.step * got, static_cast<double>(made.K[Gram::size(i * n + j)]),
                                       0.5 * code.step + 2e-6);
                    }
                }
                const std::vector<double> v = Draw(2).normals(n);
                std::vector<double> got(Gram::size(n), -77.0), again(Gram::size(n));
                mercer::Watch watch;
                row->held({made.codes.data(), n, code, v.data(), got.data()}, watch);
                for (Index i = 0; i < n; ++i) {
                    double wanted = 0.0, size = 0.0;
                    for (Index j = 0; j < n; ++j) {
                        wanted += static_cast<double>(made.K[Gram::size(i * n + j)]) * v[Gram::size(j)];
                        size += std::abs(v[Gram::size(j)]);
                    }
                    CHECK_NEAR(got[Gram::size(i)], wanted, (0.5 * code.step + 3e-6) * size);
                }
                const Threads one(1);
                row->held({made.codes.data(), n, code, v.data(), again.data()}, watch);
                CHECK(got == again);
            }
        }
    }
}

TEST("A deflation takes off what its columns span") {
    for (const Engine* row : rows_that_run()) {
        for (const Index n : {1, 17, 511, 512, 1300}) {
            for (const Index r : {1, 3, 4, 9}) {
                Draw draw(static_cast<unsigned>(n + r));
                const std::vector<double> numbers = draw.normals(n * r), x = draw.normals(n);
                const std::vector<float> G(numbers.begin(), numbers.end());
                std::vector<double> got(Gram::size(n), -77.0), again(Gram::size(n)), wanted = x;
                double size = 0.0;
                for (Index j = 0; j < r; ++j) {
                    double dot = 0.0;
                    const float* column = G.data() + j * n;
                    for (Index i = 0; i < n; ++i) dot += static_cast<double>(column[i]) * x[Gram::size(i)];
                    for (Index i = 0; i < n; ++i) wanted[Gram::size(i)] -= static_cast<double>(column[i]) * dot;
                    size += 4.0 * std::abs(dot);
                }
                mercer::Watch watch;
                row->deflate({G.data(), n, r, x.data(), got.data()}, watch);
                for (Index i = 0; i < n; ++i)
                    CHECK_NEAR(got[Gram::size(i)], wanted[Gram::size(i)], 1e-5 * (size + 10.0));
                const Threads one(1);
                row->deflate({G.data(), n, r, x.data(), again.data()}, watch);
                CHECK(got == again);
            }
        }
    }
}

TEST("A factor in 16 bits solves to three digits, the same for any number of threads") {
    for (const Engine* row : rows_that_run()) {
        for (const Index n : {1, 2, 127, 128, 129, 300, 1100}) {
            for (const Code code : {kUnit, kSigned}) {
                const Made made(*row, n, code, 0.3);
                mercer::Watch watch;
                const std::unique_ptr<mercer::Coarse> factor = row->coarse(made.job());
                CHECK_EQUAL(factor->n(), n);
                double before = 0.0;
                for (; factor->share() < 1.0; before = factor->share()) {
                    CHECK(factor->advance(200, watch));
                    CHECK(factor->share() > before);
                }
                const std::vector<double> right = Draw(2).normals(n);
                std::vector<double> x(Gram::size(n), -77.0), again(Gram::size(n));
                factor->solve(right.data(), x.data(), watch);
                double off = 0.0, size = 0.0;
                for (Index i = 0; i < n; ++i) {
                    double Ax = 0.0;
                    for (Index j = 0; j < n; ++j) Ax += made.entry(i, j) * x[Gram::size(j)];
                    off += (Ax - right[Gram::size(i)]) * (Ax - right[Gram::size(i)]);
                    size += right[Gram::size(i)] * right[Gram::size(i)];
                }
                expect_within(std::sqrt(off / size), 2e-3, std::string(row->name) + " n = " + std::to_string(n));
                const Threads one(1);
                const std::unique_ptr<mercer::Coarse> other = row->coarse(made.job());
                CHECK(other->advance(n, watch));
                other->solve(right.data(), again.data(), watch);
                CHECK(x == again);
            }
        }
    }
}

TEST("There is no factor where a pivot is too small") {
    for (const Engine* row : rows_that_run()) {
        for (const Index n : {2, 200, 500}) {
            Made made(*row, n, kUnit, 0.3);
            made.codes[1] = 65535;  // two points that are the same
            made.weights[0] = made.weights[1] = 1.0F;
            made.diagonal[0] = made.diagonal[1] = 1.0;
            mercer::Watch watch;
            CHECK(!row->coarse(made.job())->advance(n, watch));
        }
    }
}
