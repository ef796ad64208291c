// A slow and obvious second engine: K entry by entry, in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>
#include <vector>

#include "kernels.hpp"
#include "networks.hpp"
#include "series.hpp"

namespace oracle {

using Real = long double;

inline std::pair<Real, Real> inner_and_sqdist(const mercer::Source& left, Index i, const mercer::Source& right,
                                              Index j) {
    std::vector<Real> x;
    std::vector<Real> z;
    const auto spread = [](const mercer::Source& source, Index row, std::vector<Real>& out) {
        if (const auto* rows = std::get_if<mercer::Dense>(&source)) {
            for (Index k = 0; k < rows->d; ++k) out.push_back(rows->values.at<double>(row * rows->d + k));
            return Real{0};
        }
        const auto& rows = std::get<mercer::Sparse>(source);
        out.assign(static_cast<std::size_t>(rows.d), Real{0});
        for (Index at = rows.offsets[row]; at < rows.offsets[row + 1]; ++at)
            out[static_cast<std::size_t>(rows.columns[at])] =
                rows.values.data != nullptr ? rows.values.at<double>(at) : 1.0;
        // Items that the other side does not have.
        return rows.sizes == nullptr ? Real{0}
                                     : Real(rows.sizes[row]) - Real(rows.offsets[row + 1] - rows.offsets[row]);
    };
    Real square = spread(left, i, x) + spread(right, j, z);
    Real inner = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
        inner += x[k] * z[k];
        square += (x[k] - z[k]) * (x[k] - z[k]);
    }
    return {inner, square};
}

// By the definition: the weight of every choice of places in both strings that reads the same.
inline Real subsequences(const std::int32_t* x, const std::int32_t* x_end, const std::int32_t* z,
                         const std::int32_t* z_end, int left, bool begun, Real decay) {
    if (left == 0) return 1;
    Real sum = 0;
    for (const std::int32_t* a = x; a < x_end; ++a) {
        for (const std::int32_t* b = z; b < z_end; ++b) {
            if (*a != *b) continue;
            const Real spans = begun ? Real(a - x) + Real(b - z) + 2 : 2;
            sum += std::pow(decay, spans) * subsequences(a + 1, x_end, b + 1, z_end, left - 1, true, decay);
        }
    }
    return sum;
}

// By the definition: all pairs of places, and all lengths.
inline Real weighted_degree(const std::int32_t* x, Index x_length, const std::int32_t* z, Index z_length, Index degree,
                            Index shift) {
    Real sum = 0;
    for (Index p = 0; p < x_length; ++p) {
        for (Index q = 0; q < z_length; ++q) {
            const Real nearness = 1 - Real(std::abs(p - q)) / Real(shift + 1);
            for (Index k = 1; nearness > 0 && k <= degree && p + k <= x_length && q + k <= z_length; ++k) {
                if (std::equal(x + p, x + p + k, z + q))
                    sum += nearness * 2 * Real(degree - k + 1) / Real(degree * (degree + 1));
            }
        }
    }
    return sum;
}

inline Real entry(const Formula& formula, const mercer::Side& left, Index i, const mercer::Side& right, Index j);

inline Real sum_of_parts(const mercer::Bags& left, Index i, const mercer::Bags& right, Index j) {
    const bool nested = std::holds_alternative<mercer::Bags>(left.parts->sources[0]);
    const Formula formula = part_kernel(nested).formula;
    Real sum = 0;
    for (Index p = left.offsets[i]; p < left.offsets[i + 1]; ++p) {
        for (Index q = right.offsets[j]; q < right.offsets[j + 1]; ++q)
            sum += entry(formula, *left.parts, p, *right.parts, q);
    }
    return sum;
}

inline Real leaf_value(const Formula& formula, std::size_t leaf, const mercer::Source& left, Index i,
                       const mercer::Source& right, Index j) {
    const Kind kind = formula.leaves[leaf];
    if (kind == Kind::subsequence) {
        const auto& x = std::get<mercer::Letters>(left);
        const auto& z = std::get<mercer::Letters>(right);
        return subsequences(x.codes + x.offsets[i], x.codes + x.offsets[i + 1], z.codes + z.offsets[j],
                            z.codes + z.offsets[j + 1], static_cast<int>(formula.parameters[leaf][0]), false,
                            Real(formula.parameters[leaf][1]));
    }
    if (kind == Kind::walks)
        return walks_in_common(mercer::Network::of(std::get<mercer::Letters>(left), i),
                               mercer::Network::of(std::get<mercer::Letters>(right), j),
                               Real(formula.parameters[leaf][0]));
    if (kind == Kind::weighted_degree) {
        const auto& x = std::get<mercer::Letters>(left);
        const auto& z = std::get<mercer::Letters>(right);
        return weighted_degree(x.codes + x.offsets[i], x.length(i), z.codes + z.offsets[j], z.length(j),
                               static_cast<Index>(formula.parameters[leaf][0]),
                               static_cast<Index>(formula.parameters[leaf][1]));
    }
    if (kind == Kind::alignment || kind == Kind::signature) {
        const auto x = points_of(std::get<mercer::Parts>(left), i), z = points_of(std::get<mercer::Parts>(right), j);
        const std::vector<double>& of = formula.parameters[leaf];
        const auto second = static_cast<std::size_t>(of[1]);
        if (kind == Kind::signature) return signatures(x, z, static_cast<std::size_t>(of[0]), second);
        const Real value = alignments(x, z, of[0], second);
        if (of[2] == 0.0) return value;
        return value / std::sqrt(alignments(x, x, of[0], second) * alignments(z, z, of[0], second));
    }
    if (kind == Kind::convolution)
        return sum_of_parts(std::get<mercer::Bags>(left), i, std::get<mercer::Bags>(right), j);
    if (kind == Kind::equal) return std::get<mercer::Codes>(left).codes[i] == std::get<mercer::Codes>(right).codes[j];
    if (kind == Kind::stored) {
        const auto& matrix = std::get<mercer::Matrix>(left);
        return matrix.values.at<double>(i * matrix.m + j);
    }
    if (kind == Kind::callback) return called_entry(i, j);
    const auto& a = std::get<mercer::Dense>(left);
    const auto& b = std::get<mercer::Dense>(right);
    Real sum = 0;
    for (Index k = 0; k < a.d; ++k) {
        const Real x = a.values.at<double>(i * a.d + k);
        const Real z = b.values.at<double>(j * b.d + k);
        if (kind == Kind::l1) sum += std::abs(x - z);
        if (kind == Kind::min) sum += std::min(x, z);
        if (kind == Kind::chi2 && x + z != 0) sum += 2 * x * z / (x + z);
    }
    return sum;
}

inline Real arccosine(Real square, int order) {
    const Real pi = std::acos(Real{-1});
    const Real angle = 2 * std::asin(std::min(std::sqrt(square) / 2, Real{1}));
    if (order == 0) return (pi - angle) / pi;
    if (order == 1) return (std::sin(angle) + (pi - angle) * std::cos(angle)) / pi;
    return (3 * std::sin(angle) * std::cos(angle) + (pi - angle) * (1 + 2 * std::cos(angle) * std::cos(angle))) / pi;
}

inline Real entry(const Formula& formula, const mercer::Side& left, Index i, const mercer::Side& right, Index j) {
    std::vector<Real> reg(formula.tape.size());
    for (const mercer::Instruction& step : formula.tape) {
        const unsigned uses = mercer::operands(step.op);
        const Real a = uses & mercer::kA ? reg[static_cast<std::size_t>(step.a)] : 0;
        const Real b = uses & mercer::kB ? reg[static_cast<std::size_t>(step.b)] : 0;
        const Real l = uses & mercer::kR ? left.rows[static_cast<std::size_t>(step.b)][i] : 0;
        const Real r = uses & mercer::kR ? right.rows[static_cast<std::size_t>(step.b)][j] : 0;
        const std::size_t leaf = static_cast<std::size_t>(std::max(step.a, 0));
        Real value = 0;
        switch (step.op) {
            case Op::inner:
                value = inner_and_sqdist(left.sources[leaf], i, right.sources[leaf], j).first;
                break;
            case Op::sqdist:
                value = inner_and_sqdist(left.sources[leaf], i, right.sources[leaf], j).second;
                break;
            case Op::value:
                value = leaf_value(formula, leaf, left.sources[leaf], i, right.sources[leaf], j);
                break;
            case Op::constant:
                value = step.s;
                break;
            case Op::affine:
                value = a * step.s + step.t;
                break;
            case Op::add:
                value = a + b;
                break;
            case Op::mul:
                value = a * b;
                break;
            case Op::div:
                value = a == 0 && b == 0 ? 0 : a / b;
                break;
            case Op::exp:
            case Op::decay:
                value = std::exp(a);
                break;
            case Op::log1p:
                value = std::log1p(a);
                break;
            case Op::sqrt:
                value = std::sqrt(a);
                break;
            case Op::pow:
            case Op::powi:
                value = std::pow(a, Real(step.s));
                break;
            case Op::tanh:
                value = std::tanh(a);
                break;
            case Op::clamp0:
                value = std::max(a, Real{0});
                break;
            case Op::arccosine:
                value = arccosine(a, static_cast<int>(step.s));
                break;
            case Op::add_rows:
                value = a + l + r;
                break;
            case Op::mul_rows:
                value = a * l * r;
                break;
            case Op::tanimoto:
                value = l + r == a ? 1 : a / (l + r - a);
                break;
            case Op::inverse_sum:
                value = 1 / (l + r);
                break;
        }
        reg[static_cast<std::size_t>(step.out)] = value;
    }
    return reg.back();
}

inline std::vector<Real> gram(const Formula& formula, const mercer::Side& left, const mercer::Side& right) {
    std::vector<Real> K;
    for (Index i = 0; i < left.n; ++i) {
        for (Index j = 0; j < right.n; ++j) K.push_back(entry(formula, left, i, right, j));
    }
    return K;
}

}  // namespace oracle
