// Some rows of a side, copied: the working set of a solver, the support vectors. Dense rows that follow each other, as
// those of one range, stay where they are.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "mercer/view.hpp"

namespace mercer {

class Gathered {
   public:
    // Throws std::invalid_argument for entries that exist already or are made by a function: they have no rows to copy.
    Gathered(const Side& from, std::span<const Index> rows);

    const Side& side() const { return side_; }

   private:
    template <class T>
    T* own(Index count);
    void add(const Dense& from, std::span<const Index> rows);
    void add(const Sparse& from, std::span<const Index> rows);
    void add(const Codes& from, std::span<const Index> rows);
    void add(const Matrix& from, std::span<const Index> rows);
    void add(const Call& from, std::span<const Index> rows);
    void add(const Bags& from, std::span<const Index> rows);
    void add(const Letters& from, std::span<const Index> rows);
    void add(const Parts& from, std::span<const Index> rows);
    const Index* gathered_offsets(const Index* from, std::span<const Index> rows);

    Side side_;
    std::vector<std::shared_ptr<void>> memory_;
};

}  // namespace mercer
