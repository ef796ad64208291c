// Plans: what is refused, when a gaussian is fused, and that reused slots never lose a live value.
#include <cstdint>
#include <random>
#include <set>

#include "check.hpp"
#include "oracle.hpp"

using mercer::Instruction;
using mercer::Kind;
using mercer::Op;
using mercer::Plan;
using oracle::Formula;

namespace {

Plan plan_of(std::vector<Instruction> tape, int registers, int rows = 0, int result = 0) {
    return Plan({Kind::dot, Kind::l1}, std::move(tape), registers, rows, result);
}

// The values of a tape as symbols: two tapes that compute the same have the same symbol.
using Symbol = std::uint64_t;

Symbol mix(std::initializer_list<Symbol> parts) {
    Symbol h = 0x9e3779b97f4a7c15u;
    for (const Symbol part : parts) {
        h = (h ^ part) * 0xff51afd7ed558ccdu;
        h ^= h >> 29;
    }
    return h;
}
Symbol number(double x) { return static_cast<Symbol>(static_cast<std::int64_t>(x * 1024)); }

Symbol symbol(const Instruction& step, const std::vector<Symbol>& at) {
    const unsigned uses = mercer::operands(step.op);
    const auto read = [&](int reg) { return at[static_cast<std::size_t>(reg)]; };
    Symbol a = uses & mercer::kA ? read(step.a) : mercer::reads_leaf(step.op) ? Symbol(step.a) : 0;
    if (step.scale != 1.0 || step.offset != 0.0)
        a = mix({Symbol(Op::affine), a, 0, number(step.scale), number(step.offset)});
    const Symbol b = uses & mercer::kB ? read(step.b) : uses & mercer::kR ? Symbol(step.b) : 0;
    return mix({Symbol(step.op), a, b, number(step.s), number(step.t)});
}

Symbol meaning_of(const std::vector<Instruction>& tape, int registers, int result) {
    std::vector<Symbol> at(static_cast<std::size_t>(registers), 0);
    for (const Instruction& step : tape) at[static_cast<std::size_t>(step.out)] = symbol(step, at);
    return at[static_cast<std::size_t>(result)];
}

// The same of a plan, where a gaussian leaf's reading stands for three instructions.
Symbol meaning_of(const Plan& plan) {
    std::vector<Symbol> at(static_cast<std::size_t>(plan.slots()), 0);
    for (const Instruction& step : plan.tape()) {
        Symbol value = symbol(step, at);
        if (step.op == Op::sqdist && plan.uses()[static_cast<std::size_t>(step.a)].gaussian) {
            const double scale = plan.uses()[static_cast<std::size_t>(step.a)].scale;
            value = mix({Symbol(Op::affine), value, 0, number(scale), 0});
            value = mix({Symbol(Op::exp), value, 0, 0, 0});
        }
        at[static_cast<std::size_t>(step.out)] = value;
    }
    return at[static_cast<std::size_t>(plan.result())];
}

bool fuses(const Formula& formula, std::size_t leaf = 0) { return formula.plan().uses()[leaf].gaussian; }

}  // namespace

TEST("An affine map is absorbed by its only reader, where it is the first operand") {
    const auto steps_of = [](const Formula& f) { return f.plan().tape().size(); };
    Formula once;
    once.add(Op::sqrt, once.scaled(once.add(Op::inner, once.leaf(Kind::dot)), 2.0, 1.0));
    const Plan plan = once.plan();
    CHECK_EQUAL(plan.tape().size(), std::size_t{2});
    CHECK_EQUAL(plan.tape().back().scale, 2.0);
    CHECK_EQUAL(plan.tape().back().offset, 1.0);
    Formula twice;  // both operands
    const int both = twice.scaled(twice.add(Op::inner, twice.leaf(Kind::dot)), 2.0);
    twice.add(Op::mul, both, both);
    CHECK_EQUAL(steps_of(twice), std::size_t{3});
    Formula second;  // the second operand
    const int plain = second.add(Op::inner, second.leaf(Kind::dot));
    second.add(Op::add, plain, second.scaled(plain, 2.0));
    CHECK_EQUAL(steps_of(second), std::size_t{3});
    Formula result;  // read by the caller
    result.scaled(result.add(Op::inner, result.leaf(Kind::dot)), 2.0);
    CHECK_EQUAL(steps_of(result), std::size_t{2});
}

TEST("A register is written once, and inside the file") {
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::inner, 0, 0}}, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 1, 0}}, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, -1, 0}}, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}}, -1), std::invalid_argument);
}

TEST("A register is written before it is read") {
    CHECK_THROWS(plan_of({{Op::exp, 0, 0}}, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::add, 1, 0, 1}}, 2, 0, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::add, 1, 0, 2}, {Op::inner, 2, 0}}, 3, 0, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::exp, 1, 7}}, 2, 0, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::exp, 1, -1}}, 2, 0, 1), std::invalid_argument);
}

TEST("The result is a register that was written") {
    CHECK_THROWS(plan_of({}, 0), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}}, 2, 0, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}}, 1, 0, -1), std::invalid_argument);
}

TEST("A leaf exists and has the reading asked for") {
    CHECK_THROWS(plan_of({{Op::inner, 0, 2}}, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, -1}}, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::value, 0, 0}}, 1), std::invalid_argument);  // a dot leaf
    CHECK_THROWS(plan_of({{Op::inner, 0, 1}}, 1), std::invalid_argument);  // a city-block leaf
    CHECK_THROWS(plan_of({{Op::sqdist, 0, 1}}, 1), std::invalid_argument);
    CHECK_EQUAL(plan_of({{Op::value, 0, 1}}, 1).slots(), 1);
}

TEST("A row register exists") {
    CHECK_THROWS(plan_of({{Op::inverse_sum, 0, -1, 0}}, 1, 0), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::mul_rows, 1, 0, -1}}, 2, 1, 1), std::invalid_argument);
    CHECK_THROWS(plan_of({{Op::inner, 0, 0}, {Op::mul_rows, 1, 0, 1}}, 2, 1, 1), std::invalid_argument);
    CHECK_EQUAL(plan_of({{Op::inner, 0, 0}, {Op::mul_rows, 1, 0, 0}}, 2, 1, 1).rows(), 1);
}

TEST("exp(s |x - z|^2), s < 0, alone on its leaf becomes one reading") {
    Formula f;
    const int leaf = f.leaf(Kind::dot);
    f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), -0.5));
    const Plan plan = f.plan();
    CHECK(plan.uses()[0].gaussian);
    CHECK(plan.uses()[0].centred);
    CHECK(plan.uses()[0].read_once);
    CHECK_EQUAL(plan.uses()[0].scale, -0.5);
    CHECK_EQUAL(plan.tape().size(), 1u);
    CHECK_EQUAL(plan.tape()[0].origin, 2);
    CHECK_EQUAL(plan.slots(), 1);
}

TEST("Several gaussians are fused, each on its leaf, and keep their origins") {
    Formula f;
    const int first = f.leaf(Kind::dot);
    const int other = f.leaf(Kind::l1);
    const int second = f.leaf(Kind::dot);
    const int a = f.add(Op::sqdist, first);                     // 0
    const int b = f.add(Op::sqdist, second);                    // 1
    const int sb = f.scaled(b, -2.0);                           // 2
    const int sa = f.scaled(a, -1.0);                           // 3
    const int c = f.add(Op::value, other);                      // 4
    const int product = f.add(Op::mul, f.add(Op::exp, sb), c);  // 5, 6
    f.add(Op::add, product, f.add(Op::exp, sa));                // 7, 8
    const Plan plan = f.plan();
    CHECK(plan.uses()[0].gaussian && plan.uses()[2].gaussian && !plan.uses()[1].gaussian);
    CHECK_EQUAL(plan.uses()[0].scale, -1.0);
    CHECK_EQUAL(plan.uses()[2].scale, -2.0);
    CHECK_EQUAL(plan.tape().size(), 5u);
    const int origins[] = {4, 5, 6, 7, 8};
    for (std::size_t at = 0; at < 5; ++at) CHECK_EQUAL(plan.tape()[at].origin, origins[at]);
    CHECK_EQUAL(meaning_of(plan), meaning_of(f.tape, 9, 8));
}

TEST("A growing, constant or shifted exponent is not fused") {
    for (const auto& [s, t] :
         std::vector<std::pair<double, double>>{{0.5, 0.0}, {0.0, 0.0}, {-0.5, 1.0}, {-0.5, -1e-9}}) {
        Formula f;
        f.add(Op::exp, f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), s, t));
        CHECK(!fuses(f));
        CHECK_EQUAL(f.plan().tape().size(), 2u);
    }
    Formula bare;
    bare.add(Op::exp, bare.add(Op::sqdist, bare.leaf(Kind::dot)));
    CHECK(!fuses(bare));
    Formula inner;
    inner.add(Op::exp, inner.scaled(inner.add(Op::inner, inner.leaf(Kind::dot)), -1.0));
    CHECK(!fuses(inner));
    Formula city;
    city.add(Op::exp, city.scaled(city.add(Op::value, city.leaf(Kind::l1)), -1.0));
    CHECK(!fuses(city));
}

TEST("A gaussian whose distance, exponent or leaf is wanted elsewhere is not fused") {
    {
        Formula f;  // the distance
        const int square = f.add(Op::sqdist, f.leaf(Kind::dot));
        f.add(Op::add, f.add(Op::exp, f.scaled(square, -1.0)), square);
        CHECK(!fuses(f));
        CHECK(!f.plan().uses()[0].read_once || f.plan().tape().size() == 3);
    }
    {
        Formula f;  // the exponent
        const int exponent = f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), -1.0);
        f.add(Op::mul, f.add(Op::exp, exponent), exponent);
        CHECK(!fuses(f));
    }
    {
        Formula f;  // the leaf, as a product
        const int leaf = f.leaf(Kind::dot);
        f.add(Op::add, f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), -1.0)), f.add(Op::inner, leaf));
        CHECK(!fuses(f));
        CHECK(!f.plan().uses()[0].read_once);
    }
    {
        Formula f;  // the leaf, by another gaussian
        const int leaf = f.leaf(Kind::dot);
        const int one = f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), -1.0));
        f.add(Op::add, one, f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), -2.0)));
        CHECK(!fuses(f));
    }
    {
        Formula f;  // the exponent is the result
        const int exponent = f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), -1.0);
        f.add(Op::exp, exponent);
        CHECK(!Plan(f.leaves, f.tape, 3, 0, exponent).uses()[0].gaussian);
        CHECK(!Plan(f.leaves, f.tape, 3, 0, 0).uses()[0].gaussian);
    }
}

TEST("Only distances ask for centring") {
    Formula f;
    const int far = f.leaf(Kind::dot);
    const int near = f.leaf(Kind::dot);
    f.add(Op::mul, f.add(Op::sqrt, f.add(Op::sqdist, far)), f.add(Op::inner, near));
    CHECK(f.plan().uses()[0].centred);
    CHECK(!f.plan().uses()[1].centred);
}

TEST("A chain needs one slot, a sum of readings two") {
    Formula chain;
    int at = chain.add(Op::inner, chain.leaf(Kind::dot));
    for (int k = 0; k < 20; ++k) at = chain.scaled(at, 1.0, k);
    CHECK_EQUAL(chain.plan().slots(), 1);
    Formula sum;
    const int leaf = sum.leaf(Kind::dot);
    at = sum.add(Op::inner, leaf);
    for (int k = 0; k < 20; ++k) at = sum.add(Op::add, at, sum.add(Op::inner, leaf));
    CHECK_EQUAL(sum.plan().slots(), 2);
    Formula square;  // both operands are the same register, free once
    at = square.add(Op::inner, square.leaf(Kind::dot));
    at = square.add(Op::mul, at, at);
    const int other = square.add(Op::inner, 0);
    square.add(Op::add, at, other);
    CHECK_EQUAL(square.plan().slots(), 2);
}

TEST("Random tapes mean the same in reused slots") {
    std::mt19937 draw(1);
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(draw); };
    const int ops = static_cast<int>(mercer::kOpNames.size());
    int fused = 0;
    std::set<int> sizes;
    for (int trial = 0; trial < 3000; ++trial) {
        std::vector<Kind> leaves;
        for (int leaf = 1 + below(4); leaf > 0; --leaf) leaves.push_back(below(3) == 0 ? Kind::l1 : Kind::dot);
        std::vector<Instruction> tape;
        const int registers = 1 + below(30);
        std::vector<int> names(static_cast<std::size_t>(registers));  // registers are written in any order
        for (int r = 0; r < registers; ++r) names[static_cast<std::size_t>(r)] = r;
        std::shuffle(names.begin(), names.end(), draw);
        const int count = 1 + below(registers);
        // The register written last is read more often.
        const auto written = [&] {
            const int back = below(2) == 0 ? 1 : 1 + below(static_cast<int>(tape.size()));
            return tape[tape.size() - static_cast<std::size_t>(back)].out;
        };
        while (static_cast<int>(tape.size()) < count) {
            Op op = static_cast<Op>(below(ops));
            const bool chain = !tape.empty() && below(3) != 0;  // gaussians would be rare
            if (chain && tape.back().op == Op::sqdist) op = Op::affine;
            else if (chain && tape.back().op == Op::affine) op = Op::exp;
            else if (below(4) == 0) op = Op::sqdist;
            const unsigned uses = mercer::operands(op);
            if ((uses & (mercer::kA | mercer::kB)) && tape.empty()) continue;
            Instruction step{op, names[tape.size()]};
            if (mercer::reads_leaf(op)) {
                step.a = below(static_cast<int>(leaves.size()));
                if ((leaves[static_cast<std::size_t>(step.a)] == Kind::dot) == (op == Op::value)) continue;
            }
            if (uses & mercer::kA) step.a = chain ? tape.back().out : written();
            if (uses & mercer::kB) step.b = written();
            if (uses & mercer::kR) step.b = below(2);
            step.s = op == Op::affine ? -0.25 * (below(4) - 1) : 0.0;
            step.t = op == Op::affine ? 0.5 * (below(4) == 0) : 0.0;
            tape.push_back(step);
        }
        const int result = tape[static_cast<std::size_t>(below(3) == 0 ? below(count) : count - 1)].out;
        const Plan plan(leaves, tape, registers, 2, result);
        CHECK_EQUAL(meaning_of(plan), meaning_of(tape, registers, result));
        CHECK(plan.slots() <= count);
        sizes.insert(plan.slots());
        for (const mercer::LeafUse& use : plan.uses()) fused += use.gaussian;
    }
    CHECK(fused > 100);       // so the random tapes do have gaussians in them,
    CHECK(sizes.size() > 5);  // and slots that are alive together
}
