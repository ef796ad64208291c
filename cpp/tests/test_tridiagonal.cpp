// The diagonals of Q (T + rho)^-1 Q', against a solve for every row of Q.
#include "walks.hpp"

using oracle::Draw;
using namespace walks;

namespace {

struct Problem {
    Problem(Index n, Index k, Index count) : n(n), k(k) {
        Draw draw(7);
        Q = draw.normals(n * k);
        for (Index j = 0; j < k; ++j) diagonal.push_back(2.5 + draw.uniform());
        for (Index j = 1; j < k; ++j) beside.push_back(draw.uniform(-1.0, 1.0));
        for (Index s = 0; s < count; ++s) shifts.push_back(draw.uniform(0.0, 3.0));
        out.assign(static_cast<std::size_t>(count * n), -77.0);
    }

    bool run(const Engine& row) {
        mercer::Watch watch;
        return row.diagonals({Q.data(), n, k, diagonal.data(), beside.data(), shifts.data(),
                              static_cast<Index>(shifts.size()), out.data()},
                             watch);
    }

    // q'x with (T + shift) x = q, by elimination.
    Real entry(Index i, Real shift) const {
        const auto at = [](const std::vector<double>& values, Index j) {
            return static_cast<Real>(values[static_cast<std::size_t>(j)]);
        };
        std::vector<Real> pivots, rest;
        for (Index j = 0; j < k; ++j) {
            const Real step = j > 0 ? at(beside, j - 1) / pivots.back() : 0;
            pivots.push_back(at(diagonal, j) + shift - (j > 0 ? step * at(beside, j - 1) : 0));
            rest.push_back(at(Q, j * n + i) - (j > 0 ? step * rest.back() : 0));
        }
        Real x = 0, sum = 0;
        for (Index j = k - 1; j >= 0; --j) {
            const std::size_t here = static_cast<std::size_t>(j);
            x = (rest[here] - (j + 1 < k ? at(beside, j) * x : 0)) / pivots[here];
            sum += at(Q, j * n + i) * x;
        }
        return sum;
    }

    Index n, k;
    std::vector<double> Q, diagonal, beside, shifts, out;
};

}  // namespace

TEST("Every entry is that of a solve, for any number of rows, columns and shifts") {
    for (const Index n : {1, 7, 8, 17, 130}) {
        for (const Index k : {1, 2, 61}) {
            for (const Index count : {1, 2, 5}) {
                Problem problem(n, k, count);
                for (const Engine* row : rows_that_run()) {
                    CHECK(problem.run(*row));
                    for (Index s = 0; s < count; ++s) {
                        for (Index i = 0; i < n; ++i) {
                            const Real wanted = problem.entry(i, problem.shifts[static_cast<std::size_t>(s)]);
                            const Real got = problem.out[static_cast<std::size_t>(s * n + i)];
                            expect_within(static_cast<double>(std::abs(got - wanted) / (wanted + 1e-30L)), 1e-13,
                                          std::string(row->name));
                        }
                    }
                }
            }
        }
    }
}

TEST("Threads change nothing") {
    Problem problem(300, 40, 4);
    for (const Engine* row : rows_that_run()) {
        problem.run(*row);
        const std::vector<double> before = problem.out;
        const Threads one(1);
        problem.run(*row);
        CHECK(problem.out == before);
    }
}

TEST("What is not positive is refused") {
    for (const Engine* row : rows_that_run()) {
        Problem problem(5, 6, 3);
        problem.diagonal[4] = -100.0;
        CHECK(!problem.run(*row));
        CHECK_EQUAL(problem.out[0], -77.0);
    }
}

TEST("Nothing gives nothing") {
    for (const Engine* row : rows_that_run()) {
        Problem none(0, 3, 2), no_shift(4, 3, 0);
        CHECK(none.run(*row));
        CHECK(no_shift.run(*row));
    }
}
