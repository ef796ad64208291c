// A kernel of every leaf and every instruction, with the points that it is tried on.
#pragma once

#include <vector>

#include "formulas.hpp"

namespace oracle {

inline std::vector<Kernel> kernels() {
    std::vector<Kernel> all;
    const auto begin = [&](const char* name, std::vector<Make> sources, int rows = 0) -> Formula& {
        all.push_back({name, {}, std::move(sources), 1.0});
        all.back().formula.rows = rows;
        return all.back().formula;
    };
    const auto gaussian = [](Formula& f, int leaf, double scale) {
        return f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), scale));
    };
    {
        Formula& f = begin("linear", {Make::dense});
        f.add(Op::inner, f.leaf(Kind::dot));
    }
    {
        Formula& f = begin("gaussian", {Make::dense});
        gaussian(f, f.leaf(Kind::dot), -0.2);
    }
    {
        Formula& f = begin("0.7 gaussian + linear * matern 3/2", {Make::dense});
        const int leaf = f.leaf(Kind::dot);
        const int square = f.add(Op::sqdist, leaf);
        const int smooth = f.scaled(f.add(Op::exp, f.scaled(square, -0.5)), 0.7);
        const int far = f.add(Op::sqrt, f.scaled(square, 3.0));
        const int matern = f.add(Op::mul, f.scaled(far, 1.0, 1.0), f.add(Op::decay, f.scaled(far, -1.0)));
        f.add(Op::add, smooth, f.add(Op::mul, f.add(Op::inner, leaf), matern));
    }
    {
        Formula& f = begin("gaussian of one leaf * exponential city-block of another", {Make::dense, Make::dense});
        const int smooth = gaussian(f, f.leaf(Kind::dot), -0.1);
        const int rough = f.add(Op::decay, f.scaled(f.add(Op::value, f.leaf(Kind::l1)), -0.2));
        f.add(Op::mul, smooth, rough);
    }
    {
        Formula& f = begin("minimum", {Make::positive});
        f.add(Op::value, f.leaf(Kind::min));
    }
    {
        Formula& f = begin("chi-squared", {Make::positive});
        f.add(Op::value, f.leaf(Kind::chi2));
    }
    {
        Formula& f = begin("equality", {Make::codes});
        f.add(Op::value, f.leaf(Kind::equal));
    }
    {
        Formula& f = begin("sparse linear", {Make::sparse});
        f.add(Op::inner, f.leaf(Kind::dot));
    }
    {
        Formula& f = begin("sparse gaussian", {Make::sparse});
        gaussian(f, f.leaf(Kind::dot), -0.1);
    }
    {
        Formula& f = begin("tanimoto of sets + gaussian of their difference", {Make::set}, 1);
        const int leaf = f.leaf(Kind::dot);
        const int common = f.add(Op::tanimoto, f.add(Op::inner, leaf), 0);
        f.add(Op::add, common, f.add(Op::exp, f.scaled(f.add(Op::sqdist, leaf), -0.25)));
    }
    {
        Formula& f = begin("gaussian of sets", {Make::set}, 1);
        gaussian(f, f.leaf(Kind::dot), -0.25);
    }
    {
        Formula& f = begin("stored * gaussian", {Make::stored, Make::dense});
        const int stored = f.add(Op::value, f.leaf(Kind::stored));
        f.add(Op::mul, stored, gaussian(f, f.leaf(Kind::dot), -0.2));
    }
    {
        Formula& f = begin("callback + 1", {Make::callback});
        f.scaled(f.add(Op::value, f.leaf(Kind::callback)), 1.0, 1.0);
    }
    {
        Formula& f = begin("alignments + signatures up to level 3", {Make::parts, Make::parts});
        const int aligned = f.add(Op::value, f.leaf(Kind::alignment, {1.5, 0.0, 1.0}));
        f.add(Op::add, aligned, f.add(Op::value, f.leaf(Kind::signature, {3.0, 2.0, 0.0})));
    }
    {
        Formula& f = begin("near alignments, not normalised", {Make::parts});
        f.add(Op::value, f.leaf(Kind::alignment, {2.0, 4.0, 0.0}));
    }
    {
        Formula& f = begin("two lengths of subsequences", {Make::letters, Make::letters});
        const int longer = f.add(Op::value, f.leaf(Kind::subsequence, {5.0, 0.75}));
        f.add(Op::add, longer, f.add(Op::value, f.leaf(Kind::subsequence, {2.0, 1.0})));
    }
    {
        Formula& f = begin("common walks", {Make::networks});
        f.add(Op::value, f.leaf(Kind::walks, {0x1p-12}));
    }
    {
        Formula& f = begin("weighted degree at one place, and shifted", {Make::letters, Make::letters});
        const int fixed = f.add(Op::value, f.leaf(Kind::weighted_degree, {4.0, 0.0}));
        f.add(Op::add, fixed, f.add(Op::value, f.leaf(Kind::weighted_degree, {3.0, 9.0})));
    }
    {
        Formula& f = begin("sum over the parts of bags, normalised", {Make::bags}, 1);
        f.add(Op::mul_rows, f.add(Op::value, f.leaf(Kind::convolution)), 0);
        all.back().slack = 64.0;  // as many pairs of parts
    }
    {
        Formula& f = begin("sum over the parts of bags of bags", {Make::nested});
        f.add(Op::value, f.leaf(Kind::convolution));
        all.back().slack = 256.0;
    }
    {
        Formula& f = begin("row registers", {Make::dense}, 2);
        const int inner = f.add(Op::inner, f.leaf(Kind::dot));
        const int scaled = f.add(Op::mul_rows, inner, 0);
        const int shifted = f.add(Op::add_rows, scaled, 1);
        const int ratio = f.add(Op::tanimoto, f.scaled(f.add(Op::tanh, inner), 0.1), 0);
        f.add(Op::add, f.add(Op::mul, shifted, f.add(Op::inverse_sum, -1, 1)), ratio);
    }
    {
        Formula& f = begin("arc-cosine of orders 0, 1, 2", {Make::unit});
        const int square = f.add(Op::sqdist, f.leaf(Kind::dot));
        const int step = f.add(Op::arccosine, square, -1, 0.0);
        const int ramp = f.add(Op::arccosine, square, -1, 1.0);
        f.add(Op::add, f.add(Op::add, step, ramp), f.add(Op::arccosine, square, -1, 2.0));
        all.back().slack = 100.0;  // order 0 falls steeply where points are opposite
    }
    {
        Formula& f = begin("every other instruction", {Make::dense});
        const int leaf = f.leaf(Kind::dot);
        const int square = f.add(Op::sqdist, leaf);
        const int inner = f.add(Op::inner, leaf);
        const int quadratic = f.add(Op::pow, f.scaled(square, 0.3, 1.0), -1, -1.5);
        const int cubic = f.add(Op::powi, f.scaled(f.add(Op::clamp0, inner), 0.02, 0.5), -1, 3.0);
        const int slow = f.add(Op::div, f.add(Op::constant, -1, -1, 1.0), f.scaled(f.add(Op::log1p, square), 1.0, 1.0));
        f.add(Op::add, f.add(Op::add, quadratic, cubic), slow);
    }
    return all;
}

}  // namespace oracle
