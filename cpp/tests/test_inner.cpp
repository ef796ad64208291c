// The inner solver of the support vector machines against two variables at a time in plain loops.
#include "slow.hpp"

using namespace slow;

namespace {

// A program whose variables 0 … first - 1 are the first group, as a padded block.
template <class T>
class Padded {
   public:
    Padded(const Program& p, Index first) {
        const auto round = [](Index n) { return (n + mercer::kBlockPad - 1) / mercer::kBlockPad * mercer::kBlockPad; };
        const Index size = round(first) + round(p.n() - first);
        for (Index v = 0; v < p.n(); ++v) places_.push_back(v < first ? v : round(first) + v - first);
        for (auto* numbers : {&low_, &high_, &b_, &g_}) numbers->assign(at(size), 0.0);
        up_.assign(at(size), kInfinity);
        down_.assign(at(size), -kInfinity);
        K_.assign(at(size * size), T{});
        diagonal_.assign(at(size), T{1});
        const std::vector<double> f = p.image();
        for (std::size_t v = 0; v < p.q.size(); ++v) {
            const std::size_t m = at(places_[v]);
            low_[m] = p.low[v];
            high_[m] = p.high[v];
            b_[m] = p.b[v];
            g_[m] = f[v] + p.q[v];
            up_[m] = mercer::slope_up(p.b[v], p.high[v], p.width);
            down_[m] = mercer::slope_down(p.b[v], p.low[v], p.width);
            diagonal_[m] = static_cast<T>(p.K[v * p.q.size() + v]);
            for (std::size_t w = 0; w < p.q.size(); ++w)
                K_[m * at(size) + at(places_[w])] = static_cast<T>(p.K[v * p.q.size() + w]);
        }
        block.size = size;
        block.split = round(first);
        block.K = K_.data();
        block.diagonal = diagonal_.data();
        block.low = low_.data();
        block.high = high_.data();
        block.b = b_.data();
        block.g = g_.data();
        block.up = up_.data();
        block.down = down_.data();
        block.width = p.width;
    }
    Program solution(Program p) const {
        for (std::size_t v = 0; v < p.q.size(); ++v) p.b[v] = b_[at(places_[v])];
        return p;
    }
    Block<T> block;

   private:
    std::vector<Index> places_;
    std::vector<double> low_, high_, b_, g_, up_, down_;
    std::vector<T> K_, diagonal_;
};

template <class T>
void check_block(const Engine& engine, const Program& begin, Index first, double tol) {
    Program exact = begin;
    const std::vector<double> best = solve_slowly(exact, 1e-10);
    Padded<T> padded(begin, first);
    padded.block.tol = tol;
    padded.block.max_steps = 100'000;
    CHECK(engine.inner<T>().solve_block(padded.block) > 0);
    CHECK(padded.block.violation <= tol);
    const Program found = padded.solution(begin);
    CHECK(found.is_inside());
    for (int group = 0; group < 2; ++group) CHECK_NEAR(found.sum(group), begin.sum(group), 1e-10);
    CHECK_NEAR(violation(found), padded.block.violation, sizeof(T) == 4 ? 1e-4 : 1e-11);
    CHECK(furthest(found.image(), best) <= 20.0 * tol);
    Padded<T> stopped(begin, first);
    stopped.block.max_steps = 3;
    CHECK_EQUAL(engine.inner<T>().solve_block(stopped.block), 3);
    CHECK(stopped.solution(begin).is_inside());
}

double objective(const Program& p) {
    const std::vector<double> f = p.image();
    double sum = 0.0;
    for (std::size_t v = 0; v < p.b.size(); ++v) sum += p.b[v] * (0.5 * f[v] + p.q[v]) + p.width * std::abs(p.b[v]);
    return sum;
}

// How far the slopes of the free variables of a group are apart.
double spread(const Program& p) {
    const std::vector<double> f = p.image();
    double least[2] = {kInfinity, kInfinity}, most[2] = {-kInfinity, -kInfinity};
    for (std::size_t v = 0; v < p.b.size(); ++v) {
        if (!(p.b[v] > p.low[v] && p.b[v] < p.high[v]) || (p.width > 0.0 && p.b[v] == 0.0)) continue;
        const double slope = f[v] + p.q[v] + (p.b[v] > 0.0 ? p.width : -p.width);
        least[p.group[v]] = std::min(least[p.group[v]], slope);
        most[p.group[v]] = std::max(most[p.group[v]], slope);
    }
    return std::max({most[0] - least[0], most[1] - least[1], 0.0});
}

// The minimum over free variables, from where steps to some violation have come.
void check_free(const Engine& engine, Program from, Index first, double tol) {
    Padded<double> steps(from, first);
    steps.block.tol = tol;
    steps.block.max_steps = 100'000;
    engine.inner<double>().solve_block(steps.block);
    from = steps.solution(from);
    Padded<double> padded(from, first);
    const bool is_there = engine.inner<double>().minimise_free(padded.block);
    const Program found = padded.solution(from);
    CHECK(found.is_inside());
    for (int group = 0; group < 2; ++group) CHECK_NEAR(found.sum(group), from.sum(group), 1e-10);
    CHECK(objective(found) <= objective(from) + 1e-12);
    if (is_there) CHECK(spread(found) <= 1e-9);
}

}  // namespace

TEST("The inner solver finds what plain loops find, with every instruction set, for one group and two") {
    for (const Machine machine : kMachines) {
        const Program whole = Batch(machine, kTwo).programs[0];
        // Of a nu machine some variables of each group, the first group first.
        std::vector<Index> chosen;
        Index first = 0;
        for (int group = 0; group < 2; ++group) {
            for (Index v = 0; v < whole.n(); v += machine == Machine::nu_tube ? 4 : 2) {
                if (whole.group[at(v)] == group) chosen.push_back(v);
            }
            if (group == 0) first = static_cast<Index>(chosen.size());
        }
        Program some;
        some.width = whole.width;
        for (const Index v : chosen) {
            some.q.push_back(whole.q[at(v)]);
            some.low.push_back(whole.low[at(v)]);
            some.high.push_back(whole.high[at(v)]);
            some.group.push_back(whole.group[at(v)]);
            some.b.push_back(some.q.size() % 3 == 1 ? whole.b[at(v)] : 0.0);
            for (const Index w : chosen) some.K.push_back(whole.K[at(v * whole.n() + w)]);
        }
        for (std::size_t v = 0; v < some.b.size(); v += 5) {
            if (machine != Machine::classes && machine != Machine::tube) some.b[v] = 0.5 * (some.low[v] + some.high[v]);
        }
        for (const Engine* engine : rows_that_run()) {
            check_block<double>(*engine, some, first, 1e-8);
            check_block<float>(*engine, some, first, 1e-3);
            for (const double tol : {10.0, 0.3, 1e-2, 1e-4}) check_free(*engine, some, first, tol);
        }
    }
}
