// What the solver needs from a Gram matrix, whether the engine computes its entries or they are all stored.
#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "mercer/gather.hpp"
#include "mercer/smo.hpp"

namespace mercer {

// Rows are numbered as in K; T is the precision in which entries are kept.
template <class T>
class MarginGram {
   public:
    virtual ~MarginGram() = default;
    // out[r] = K[rows[r], range], where there is such memory; g += delta' K[rows, range]. In `tasks` parts at least.
    virtual void rows(std::span<const Index> rows, Index range, T* const* out, const double* delta, double* g,
                      Index tasks, Watch& watch) const = 0;
    // out[r][c] = K[left[r], right[c]].
    virtual void block(std::span<const Index> left, std::span<const Index> right, T* const* out, Index tasks,
                       Watch& watch) const = 0;
    // Where K[row, range] lies, if it lies in memory as T; else null.
    virtual const T* stored(Index, Index) const { return nullptr; }
    // Computing an entry takes as long as for vectors with this many features.
    virtual Index features() const = 0;
};

template <class T>
std::unique_ptr<MarginGram<T>> margin_gram(const GramSource& gram, std::span<const Index> cuts, Watch& watch);

// Coefficients of some rows, the others being 0.
struct Support {
    std::vector<Index> rows;  // increasing
    std::vector<double> v;
};

// K[rows, support] v in double; the rows rise.
std::vector<double> margin_product(const GramSource& gram, const std::vector<Index>& rows, const Support& support,
                                   Watch& watch);

}  // namespace mercer
