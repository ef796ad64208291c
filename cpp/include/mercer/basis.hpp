// A basis: a plan and its right side, packed when first needed in each precision, then shared by every product.
#pragma once

#include <array>
#include <memory>
#include <mutex>

#include "mercer/engine.hpp"

namespace mercer {

class Basis {
   public:
    Basis(Plan plan, Side right, const Engine& engine, Index budget);

    // `left`: other points, or none for the basis itself (a symmetric walk). `single`: float where it holds its
    // accuracy, double where it would not.
    void store(const Side* left, bool single, Watch& watch, const Store& job) const;
    void matvec(const Side* left, bool single, Watch& watch, const MatVec& job) const;
    void normal(const Side* left, bool single, Watch& watch, const Normal& job) const;
    void topk(const Side* left, bool single, Watch& watch, const TopK& job) const;

    // Rows are requested many times with few points on the left: the caller decides once whether float suffices.
    bool holds_single(Watch& watch) const;
    void scatter(const Side& left, bool single, Watch& watch, const Scatter& job) const;

    const Plan& plan() const { return plan_; }
    const Side& right() const { return right_; }
    const Engine& engine() const { return engine_; }
    Index packed_bytes() const;

   private:
    template <class Job>
    void run(void (*reduce)(const Walk&, const Job&), const Side* left, bool single, Watch& watch,
             const Job& job) const;
    const Packed& packed(bool single) const;
    bool holds_single(const Side& left, bool symmetric, Watch& watch) const;

    Plan plan_;
    Side right_;
    const Engine& engine_;
    Index budget_;
    mutable std::mutex guard_;
    mutable std::array<std::unique_ptr<Packed>, 2> packed_;
};

}  // namespace mercer
