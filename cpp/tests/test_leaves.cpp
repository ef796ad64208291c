// The table of leaves: its rows are whole, and each fills tiles with what it says of one pair.
#include <set>

#include "mercer/parts.hpp"
#include "walks.hpp"

namespace {

using mercer::Index;
using mercer::Kind;
using mercer::LeafRow;
using mercer::Op;
using mercer::Reading;
using mercer::Takes;
using namespace mercer::MERCER_ISA;

std::vector<oracle::Make> makes(Takes takes) {
    switch (takes) {
        case Takes::vectors:
            return {oracle::Make::dense, oracle::Make::sparse, oracle::Make::set};
        case Takes::coordinates:
            return {oracle::Make::dense};
        case Takes::amounts:
            return {oracle::Make::positive};
        case Takes::codes:
            return {oracle::Make::codes};
        case Takes::entries:
            return {oracle::Make::stored};
        case Takes::calls:
            return {oracle::Make::callback};
        case Takes::bags:
            return {oracle::Make::bags, oracle::Make::nested};
        case Takes::letters:
            return {oracle::Make::letters};
        case Takes::parts:
            return {oracle::Make::parts};
        case Takes::networks:
            return {oracle::Make::networks};
    }
    return {};
}

// Some that each kind may have.
std::vector<double> parameters(Kind kind) {
    if (kind == Kind::alignment) return {1.5, 6.0, 1.0};
    if (kind == Kind::signature) return {0.0, 3.0, 1.5};
    if (kind == Kind::subsequence) return {5.0, 0.75};
    if (kind == Kind::walks) return {0x1p-12};
    if (kind == Kind::weighted_degree) return {3.0, 2.0};
    return {};
}

// A kernel that is one reading of one leaf; sets bring a row register, which nothing reads.
oracle::Kernel alone(std::size_t kind, oracle::Make make) {
    oracle::Kernel kernel{"alone", {}, {make}};
    const Op reading = mercer::kLeaves[kind].reading == Reading::products ? Op::inner : Op::value;
    kernel.formula.rows = make == oracle::Make::set ? 1 : 0;
    kernel.formula.add(reading, kernel.formula.leaf(static_cast<Kind>(kind), parameters(static_cast<Kind>(kind))));
    return kernel;
}

template <class Check>
void each_leaf(Check check) {
    for (std::size_t kind = 0; kind < mercer::kLeaves.size(); ++kind) {
        for (const oracle::Make make : makes(mercer::kLeaves[kind].takes)) {
            const oracle::Kernel kernel = alone(kind, make);
            oracle::Points points(50);
            oracle::draw_points(kernel, 50, 5, 7, 0, points);
            check(static_cast<Kind>(kind), kernel.formula.plan(), points);
        }
    }
}

}  // namespace

TEST("Every kind of leaf has a name of its own, and says what it is") {
    std::set<std::string_view> names;
    for (const LeafRow& row : mercer::kLeaves) {
        names.insert(row.name);
        CHECK(!row.text.empty());
    }
    CHECK_EQUAL(names.size(), mercer::kLeaves.size());
    CHECK_EQUAL(std::string(mercer::row_of(Kind::chi2).name), std::string("chi2"));
    CHECK(mercer::row_of(Kind::dot).reading == Reading::products);
    CHECK(mercer::row_of(Kind::callback).takes == Takes::calls);
}

TEST("A leaf takes the sources that its row names, and no others") {
    each_leaf([](Kind kind, const mercer::Plan&, const oracle::Points& points) {
        CHECK(mercer::fits(mercer::row_of(kind).takes, points.side().sources[0]));
    });
    const mercer::Source dense = mercer::Dense{}, sparse = mercer::Sparse{}, codes = mercer::Codes{};
    CHECK(mercer::fits(Takes::vectors, dense) && mercer::fits(Takes::vectors, sparse));
    CHECK(!mercer::fits(Takes::amounts, sparse));
    for (const Takes takes : {Takes::vectors, Takes::coordinates, Takes::amounts, Takes::entries, Takes::calls})
        CHECK(!mercer::fits(takes, codes));
    CHECK(!mercer::fits(Takes::codes, dense));
}

TEST("A plan reads products of the leaves that have them, and the value of the others") {
    for (std::size_t kind = 0; kind < mercer::kLeaves.size(); ++kind) {
        for (const Op op : {Op::inner, Op::sqdist, Op::value}) {
            oracle::Formula formula;
            formula.add(op, formula.leaf(static_cast<Kind>(kind), parameters(static_cast<Kind>(kind))));
            const bool is_right = (op == Op::value) == (mercer::kLeaves[kind].reading == Reading::value);
            bool is_taken = true;
            try {
                formula.plan();
            } catch (const std::invalid_argument&) {
                is_taken = false;
            }
            CHECK_EQUAL(is_taken, is_right);
        }
    }
}

TEST("A tile holds what a leaf gives for each pair") {
    each_leaf([](Kind kind, const mercer::Plan& plan, const oracle::Points& points) {
        const mercer::Side& side = points.side();
        for (const walks::Way& way : walks::ways(true)) {
            const walks::Gram gram(plan, &side, side, way);
            const std::vector<double> K = gram.store();
            for (Index i = 0; i < side.n; ++i) {
                const double value = with_leaf(
                    kind, [&](auto row) { return row.pair(plan.uses()[0], side.sources[0], side.sources[0], i); });
                CHECK_NEAR(K[static_cast<std::size_t>(i * side.n + i)], value, (way.single ? 1e-5 : 1e-13) * 20.0);
            }
        }
    });
}

TEST("What a leaf has packed is counted") {
    each_leaf([](Kind kind, const mercer::Plan& plan, const oracle::Points& points) {
        const std::unique_ptr<mercer::Packed> packed = pack_side<double>(plan, points.side());
        const bool is_packed = kind != Kind::stored && kind != Kind::callback && kind != Kind::signature &&
                               kind != Kind::subsequence && kind != Kind::walks;
        const Index rows = plan.rows() * Index{kBlockRows} * Index{sizeof(double)};
        CHECK_EQUAL(packed->bytes() > rows, is_packed);
    });
}

TEST("A plan refuses a leaf with too few or too many parameters") {
    for (std::size_t kind = 0; kind < mercer::kLeaves.size(); ++kind) {
        for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
            oracle::Formula formula;
            const Op op = mercer::kLeaves[kind].reading == Reading::products ? Op::inner : Op::value;
            formula.add(op, formula.leaf(static_cast<Kind>(kind), std::vector<double>(count, 1.0)));
            bool is_taken = true;
            try {
                formula.plan();
            } catch (const std::invalid_argument&) {
                is_taken = false;
            }
            CHECK_EQUAL(is_taken, count == mercer::kLeaves[kind].parameters);
        }
    }
}
