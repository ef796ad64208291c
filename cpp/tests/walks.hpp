// Every way to walk a Gram matrix: rows of the table of instruction sets, precisions, budgets; and how far two results
// are apart.
#pragma once

#include <memory>

#include "check.hpp"
#include "mercer/engine.hpp"
#include "oracle.hpp"

namespace walks {

using mercer::Engine;
using mercer::Index;
using mercer::Kind;
using mercer::Op;
using mercer::Plan;
using mercer::Side;
using oracle::Formula;
using oracle::Real;

inline constexpr Index kPlenty = Index{48} << 20;

// So many threads, until it goes out of scope.
struct Threads {
    explicit Threads(int count) : before(mercer::thread_count()) { mercer::set_thread_count(count); }
    ~Threads() { mercer::set_thread_count(before); }
    int before;
};

inline std::vector<const Engine*> rows_that_run() {
    std::vector<const Engine*> rows;
    for (const Engine* row : mercer::engines()) {
        if (row->runs_here()) rows.push_back(row);
    }
    return rows;
}

inline const oracle::Kernel& kernel_named(const std::string& name) {
    static const std::vector<oracle::Kernel> all = oracle::kernels();
    for (const oracle::Kernel& kernel : all) {
        if (kernel.name == name) return kernel;
    }
    throw std::invalid_argument(name);
}

// One way to walk: a row of the table, a precision, a budget.
struct Way {
    const Engine& engine;
    bool single;
    Index budget = kPlenty;

    std::string text() const {
        return std::string(engine.name) + (single ? " float" : " double") + (budget < kPlenty ? " one tile" : "");
    }
};

inline std::vector<Way> ways(bool with_budgets = false) {
    std::vector<Way> all;
    for (const Engine* row : rows_that_run()) {
        for (const bool single : {false, true}) {
            all.push_back({*row, single});
            if (with_budgets) all.push_back({*row, single, 1});
        }
    }
    return all;
}

// A Gram matrix to be walked: K(left, right), or K(right, right) when there is no left.
class Gram {
   public:
    Gram(const Plan& plan, const Side* left, const Side& right, const Way& way)
        : plan_(plan), left_(left), right_(right), way_(way), packed_(way.engine.pack(plan, right, way.single)) {}

    Index n() const { return (left_ != nullptr ? *left_ : right_).n; }
    Index m() const { return right_.n; }
    mercer::Walk walk(mercer::Watch& watch) const {
        return {plan_, left_ != nullptr ? *left_ : right_, right_, *packed_, left_ == nullptr, watch, way_.budget};
    }
    template <class T = double>
    std::vector<T> store(bool half = false, mercer::Code code = {}) const {
        using mercer::Format;
        constexpr Format format = sizeof(T) == 8 ? Format::real64 : sizeof(T) == 4 ? Format::real32 : Format::code16;
        std::vector<T> out(size(n() * m()), T(77));
        mercer::Watch watch;
        way_.engine.store(walk(watch), {out.data(), format, code, half});
        return out;
    }
    std::vector<double> matvec(const std::vector<double>* v, Index t, bool hollow = false, Index rungs = 1,
                               int doublings = 0) const {
        std::vector<double> out(size(n() * rungs * t), -77.0);
        mercer::Watch watch;
        way_.engine.matvec(walk(watch), {v != nullptr ? v->data() : nullptr, t, out.data(), hollow, rungs, doublings});
        return out;
    }
    std::vector<double> normal(const std::vector<double>& v, const std::vector<double>* w, Index t) const {
        return normal(&v, w, nullptr, t, 1);
    }
    std::vector<double> normal(const std::vector<double>* v, const std::vector<double>* w, const std::vector<double>* d,
                               Index t, Index d_width) const {
        std::vector<double> out(size(m() * t), -77.0);
        mercer::Watch watch;
        const auto start = [](const std::vector<double>* of) { return of != nullptr ? of->data() : nullptr; };
        way_.engine.normal(walk(watch), {start(v), start(w), t, out.data(), start(d), d_width});
        return out;
    }
    std::pair<std::vector<double>, std::vector<Index>> topk(Index k, bool largest) const {
        std::vector<double> values(size(n() * k), -77.0);
        std::vector<Index> indices(size(n() * k), -77);
        mercer::Watch watch;
        way_.engine.topk(walk(watch), {k, largest, values.data(), indices.data()});
        return {values, indices};
    }
    double mended_share() const {
        mercer::Watch watch;
        return way_.engine.mended_share(walk(watch));
    }

    static std::size_t size(Index count) { return static_cast<std::size_t>(count); }

   private:
    const Plan& plan_;
    const Side* left_;
    const Side& right_;
    Way way_;
    std::unique_ptr<mercer::Packed> packed_;
};

inline void expect_within(double error, double limit, const std::string& what) {
    if (!(error <= limit))
        check::fail(__FILE__, __LINE__, what + ": error " + std::to_string(error / limit) + " times the limit");
}

template <class A, class B>
double worst(const std::vector<A>& got, const std::vector<B>& wanted) {
    if (got.size() != wanted.size()) return INFINITY;
    double most = 0.0;
    for (std::size_t at = 0; at < got.size(); ++at) {
        const double error = static_cast<double>(std::abs(static_cast<Real>(got[at]) - static_cast<Real>(wanted[at])));
        if (!(error <= most)) most = std::isnan(error) ? INFINITY : error;
    }
    return most;
}

template <class A>
double largest(const std::vector<A>& values) {
    double most = 0.0;
    for (const A& x : values) most = std::max(most, static_cast<double>(std::abs(x)));
    return most;
}

// The first t columns of a matrix with `width` of them.
template <class A>
std::vector<A> columns(const std::vector<A>& all, Index width, Index t) {
    std::vector<A> out;
    for (std::size_t at = 0; at < all.size(); ++at) {
        if (static_cast<Index>(at) % width < t) out.push_back(all[at]);
    }
    return out;
}

inline Formula gaussian_of(double scale) {
    Formula f;
    f.add(Op::exp, f.scaled(f.add(Op::sqdist, f.leaf(Kind::dot)), scale));
    return f;
}

}  // namespace walks
