// Products of one tile with some vectors, on the side of its rows and on that of its columns.
#pragma once

#include <algorithm>

#include "mercer/fold.hpp"

namespace mercer::MERCER_ISA {

// lanes += K v for some columns v, where K is the tile after its link, or its first row alone; `Keep` writes K back
// for whoever reads it next.
template <class T, Link L, bool Keep, int Columns, int Rows = kStripRows>
void along_rows(T* tile, const T* v, Index stride, T* lanes) {
    constexpr int kGroup = std::min(6, Rows);
    for (int r = 0; r < Rows; r += kGroup) {
        V<T> sum[Columns][kGroup];
        MERCER_UNROLL
        for (int g = 0; g < kGroup; ++g)
            for (int q = 0; q < Columns; ++q)
                sum[q][g] = load<T>(lanes + q * kStripRows * kWidth<T> + (r + g) * kWidth<T>);
        for (int c = 0; c < kStripCols<T>; c += kWidth<T>) {
            V<T> x[Columns];
            for (int q = 0; q < Columns; ++q) x[q] = load<T>(v + q * stride + c);
            MERCER_UNROLL
            for (int g = 0; g < kGroup; ++g) {
                T* at = tile + (r + g) * kStripCols<T> + c;
                const V<T> k = linked<T, L>(load<T>(at));
                if constexpr (Keep && L != Link::none) store<T>(at, k);
                for (int q = 0; q < Columns; ++q) sum[q][g] = fma<T>(k, x[q], sum[q][g]);
            }
        }
        MERCER_UNROLL
        for (int g = 0; g < kGroup; ++g)
            for (int q = 0; q < Columns; ++q)
                store<T>(lanes + q * kStripRows * kWidth<T> + (r + g) * kWidth<T>, sum[q][g]);
    }
}

// sums += K' v for some columns v of the tile's rows.
template <class T, int Columns>
void along_columns(const T* tile, const T* v, Index v_stride, T* sums, Index stride) {
    constexpr int kGroup = 4;
    for (int c = 0; c < kStripCols<T>; c += kGroup * kWidth<T>) {
        V<T> sum[Columns][kGroup];
        MERCER_UNROLL
        for (int g = 0; g < kGroup; ++g)
            for (int q = 0; q < Columns; ++q) sum[q][g] = load<T>(sums + q * stride + c + g * kWidth<T>);
        for (int r = 0; r < kStripRows; ++r) {
            V<T> x[Columns];
            for (int q = 0; q < Columns; ++q) x[q] = fill<T>(v[q * v_stride + r]);
            MERCER_UNROLL
            for (int g = 0; g < kGroup; ++g) {
                const V<T> k = load<T>(tile + r * kStripCols<T> + c + g * kWidth<T>);
                for (int q = 0; q < Columns; ++q) sum[q][g] = fma<T>(k, x[q], sum[q][g]);
            }
        }
        MERCER_UNROLL
        for (int g = 0; g < kGroup; ++g)
            for (int q = 0; q < Columns; ++q) store<T>(sums + q * stride + c + g * kWidth<T>, sum[q][g]);
    }
}

// out (Rows x stride) += tile (Rows x Inner, steps given) times v (Inner x stride).
template <class T, int Rows, int Inner, int RowStep, int InnerStep>
void tile_times(const T* tile, const T* v, Index stride, T* out) {
    constexpr int kGroup = 4;
    for (Index c = 0; c < stride; c += kWidth<T>) {
        for (int r = 0; r < Rows; r += kGroup) {
            V<T> sum[kGroup];
            MERCER_UNROLL
            for (int g = 0; g < kGroup; ++g) sum[g] = load<T>(out + (r + g) * stride + c);
            for (int k = 0; k < Inner; ++k) {
                const V<T> x = load<T>(v + k * stride + c);
                MERCER_UNROLL
                for (int g = 0; g < kGroup; ++g)
                    sum[g] = fma<T>(fill<T>(tile[(r + g) * RowStep + k * InnerStep]), x, sum[g]);
            }
            MERCER_UNROLL
            for (int g = 0; g < kGroup; ++g) store<T>(out + (r + g) * stride + c, sum[g]);
        }
    }
}

}  // namespace mercer::MERCER_ISA
