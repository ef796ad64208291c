// Rows: the strips into rows that lie anywhere in memory, and their weighted sum added to a gradient while they are
// hot.
#pragma once

#include "mercer/inner.hpp"
#include "mercer/tiles.hpp"

namespace mercer::MERCER_ISA {

template <class T, class Out>
class ScatterDrink {
   public:
    ScatterDrink(const Walk& walk, const Scatter& to, Walker<T>& walker) : walk_(walk), to_(to), walker_(walker) {}

    void strip(int strip, Index j) {
        const T* tile = walker_.fold(strip, j);
        const Index i = walker_.first_row() + strip * kStripRows;
        const Index rows = walker_.rows_of(strip);
        const Index columns = std::min<Index>(kStripCols<T>, walk_.right.n - j);
        refuse_not_finite_rows<T>(walk_, walker_, tile, i, rows);
        for (Index r = 0; r < rows; ++r) {
            const T* from = tile + r * kStripCols<T>;
            Out* out = to_.rows == nullptr ? nullptr : static_cast<Out*>(to_.rows[i + r]);
            if (out == nullptr) continue;
            std::transform(from, from + columns, out + j, [](T x) { return static_cast<Out>(x); });
        }
        if (to_.delta != nullptr) add(tile, i, rows, j, columns);
    }
    void end_strip(int) {}
    void end_columns(Index, Index) {}

   private:
    void add(const T* tile, Index i, Index rows, Index j, Index columns) {
        constexpr int kGroup = 4;
        double sums[kStripCols<T>];
        for (Index c = 0; c < kStripCols<T>; c += kGroup * kWidth<double>) {
            V<double> sum[kGroup] = {};
            for (Index r = 0; r < rows; ++r) {
                const V<double> delta = fill<double>(to_.delta[i + r]);
                MERCER_UNROLL
                for (int g = 0; g < kGroup; ++g) {
                    // As it is kept, so that a row that was kept and one that is made again change the gradient alike.
                    const V<double> k = kept(tile + r * kStripCols<T> + c + g * kWidth<double>);
                    sum[g] = fma<double>(delta, k, sum[g]);
                }
            }
            MERCER_UNROLL
            for (int g = 0; g < kGroup; ++g) store<double>(sums + c + g * kWidth<double>, sum[g]);
        }
        for (Index c = 0; c < columns; ++c) to_.g[j + c] += sums[c];
    }
    static V<double> kept(const T* values) {
        if constexpr (sizeof(Out) >= sizeof(T)) return load_as<double>(values);
        Out narrow[kWidth<double>];
        store_as<double>(narrow, load_as<double>(values));
        return load_as<double>(narrow);
    }

    const Walk& walk_;
    const Scatter& to_;
    Walker<T>& walker_;
};

// Work is cut by columns: a task owns its part of the gradient and adds to it row by row.
template <class T, class Out>
void rows_as(const Walk& walk, const Scatter& to) {
    const Index wide = std::max<Index>(sweep_columns<T>(walk), 1024);
    const Index width =
        std::min(round_up(wide, kStripCols<T>), round_up((walk.right.n + to.tasks - 1) / to.tasks, kStripCols<T>));
    const Index chunks = (walk.right.n + width - 1) / width;
    parallel(chunks, walk.watch, [&](Index chunk) {
        Walker<T> walker(walk);
        ScatterDrink<T, Out> drink(walk, to, walker);
        const Index j0 = chunk * width;
        const Index j1 = std::min(j0 + width, walk.right.n);
        for (Index i0 = 0; i0 < walk.left.n; i0 += kBlockRows)
            sweep<T>(walker, walk, i0, std::min(i0 + kBlockRows, walk.left.n), j0, j1, drink);
    });
}

template <class T>
void run_scatter(const Walk& walk, const Scatter& to) {
    if (to.single) rows_as<T, float>(walk, to);
    else rows_as<T, double>(walk, to);
}

}  // namespace mercer::MERCER_ISA
