// The nearest of vectors of whole numbers, against a sort of all distances.
#include <limits>

#include "walks.hpp"

using oracle::Draw;
using namespace walks;

namespace {

using Matrix16 = std::vector<std::int16_t>;

Matrix16 whole_rows(Draw& draw, Index n, Index d, int most) {
    Matrix16 rows;
    for (Index i = 0; i < n * d; ++i) rows.push_back(static_cast<std::int16_t>(draw.uniform(-most - 0.5, most + 0.5)));
    return rows;
}

void compare(const Engine& row, const Matrix16& left, const Matrix16& right, Index d, Index k) {
    const Index m = static_cast<Index>(left.size()) / d, n = static_cast<Index>(right.size()) / d;
    std::vector<double> values(static_cast<std::size_t>(m * k), -77.0);
    std::vector<Index> indices(static_cast<std::size_t>(m * k), -77);
    const auto packed = row.whole(right.data(), n, d);
    CHECK_EQUAL(packed->n(), n);
    CHECK_EQUAL(packed->d(), d);
    mercer::Watch watch;
    row.nearest({*packed, left.data(), m, k, values.data(), indices.data()}, watch);
    for (Index i = 0; i < m; ++i) {
        std::vector<std::pair<Index, Index>> all;
        for (Index j = 0; j < n; ++j) {
            Index square = 0;
            for (Index f = 0; f < d; ++f) {
                const Index gap =
                    left[static_cast<std::size_t>(i * d + f)] - right[static_cast<std::size_t>(j * d + f)];
                square += gap * gap;
            }
            all.emplace_back(square, j);
        }
        std::sort(all.begin(), all.end());
        for (Index h = 0; h < k; ++h) {
            const std::size_t at = static_cast<std::size_t>(i * k + h);
            CHECK_EQUAL(indices[at], all[static_cast<std::size_t>(h)].second);
            CHECK_EQUAL(values[at], static_cast<double>(all[static_cast<std::size_t>(h)].first));
        }
    }
}

}  // namespace

TEST("The nearest are those of a sort, ties by index, on shapes that are multiples of nothing") {
    Draw draw(3);
    for (const Engine* row : rows_that_run()) {
        for (const Index n : {1, 5, 33, 200, 471}) {
            for (const Index d : {1, 2, 3, 16, 37}) {
                for (const Index m : {1, 13, 205}) {
                    const Matrix16 right = whole_rows(draw, n, d, d == 1 ? 20 : 3), left = whole_rows(draw, m, d, 4);
                    compare(*row, left, right, d, 1);
                    compare(*row, left, right, d, std::min<Index>(n, 7));
                }
                compare(*row, whole_rows(draw, 3, d, 4), whole_rows(draw, n, d, 900), d, n);
            }
        }
    }
}

TEST("Numbers as large as 32 bits allow are exact, and larger ones refused") {
    // d z (2 x + z) just below 2^31 for x = z.
    const Index d = 4;
    const std::int16_t most = 13377;
    const Matrix16 right = {most, most, most, most, most, most, most, -most, -most, -most, -most, -most};
    const Matrix16 left = {-most, -most, -most, -most, most, -most, most, -most};
    for (const Engine* row : rows_that_run()) {
        compare(*row, left, right, d, 3);
        Matrix16 larger = right;
        larger[5] = most + 1;
        const auto packed = row->whole(larger.data(), 3, d);
        std::vector<double> values(2);
        std::vector<Index> indices(2);
        mercer::Watch watch;
        CHECK_THROWS(row->nearest({*packed, left.data(), 2, 1, values.data(), indices.data()}, watch),
                     std::invalid_argument);
        const Matrix16 one = {1}, far = {std::numeric_limits<std::int16_t>::min()};
        const auto single = row->whole(one.data(), 1, 1);
        CHECK_THROWS(row->nearest({*single, far.data(), 1, 1, values.data(), indices.data()}, watch),
                     std::invalid_argument);
    }
}
