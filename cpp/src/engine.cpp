// One row of the table of instruction sets. Compiled once for each of them.
#include "mercer/engine.hpp"

#include "mercer/coarse.hpp"
#include "mercer/free_minimum.hpp"
#include "mercer/pairs.hpp"
#include "mercer/reduce/held.hpp"
#include "mercer/reduce/matvec.hpp"
#include "mercer/reduce/normal.hpp"
#include "mercer/reduce/scatter.hpp"
#include "mercer/reduce/store.hpp"
#include "mercer/reduce/topk.hpp"
#include "mercer/tridiagonal.hpp"
#include "mercer/whole.hpp"

#define MERCER_TEXT_OF(name) #name
#define MERCER_TEXT(name) MERCER_TEXT_OF(name)

namespace mercer::MERCER_ISA {

namespace {

bool runs_here() {
#if defined(__AVX512F__)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#elif defined(__AVX2__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return true;
#endif
}

std::unique_ptr<Packed> pack(const Plan& plan, const Side& right, bool single) {
    return single ? pack_side<float>(plan, right) : pack_side<double>(plan, right);
}

template <class T>
double mended_share_of(const Walk& walk) {
    // Of bags a few tiles hold parts enough.
    const bool has_parts = mercer::has_parts(walk.right);
    const Index row_samples = has_parts ? 2 : 8;
    const Index column_samples = has_parts ? 4 : 32;
    Walker<T> walker(walk);
    Index pairs = 0;
    const Index row_strips = std::max<Index>(walk.left.n / kStripRows, 1);
    const Index column_strips = std::max<Index>(walk.right.n / kStripCols<T>, 1);
    const Index rows = std::min(row_samples, row_strips);
    const Index columns = std::min(column_samples, column_strips);
    struct Ignore {
        Walker<T>& walker;
        void strip(int strip, Index j) { walker.open(strip, j); }
        void end_strip(int) {}
        void end_columns(Index, Index) {}
    } ignore{walker};
    for (Index r = 0; r < rows; ++r) {
        const Index i0 = r * row_strips / rows * kStripRows;
        const Index i1 = std::min<Index>(i0 + kStripRows, walk.left.n);
        for (Index c = 0; c < columns; ++c) {
            const Index j0 = c * column_strips / columns * kStripCols<T>;
            const Index j1 = std::min<Index>(j0 + kStripCols<T>, walk.right.n);
            sweep<T>(walker, walk, i0, i1, j0, j1, ignore);
            pairs += (i1 - i0) * (j1 - j0);
        }
    }
    const double share = static_cast<double>(walker.mended()) / static_cast<double>(std::max<Index>(pairs, 1));
    return std::max(share, walker.mended_share_of_parts());
}

// The precision is the packed side's.
template <class Job, auto Single, auto Double>
void by_precision(const Walk& walk, const Job& job) {
    if (walk.packed.single()) Single(walk, job);
    else Double(walk, job);
}

double mended_share(const Walk& walk) {
    return walk.packed.single() ? mended_share_of<float>(walk) : mended_share_of<double>(walk);
}

}  // namespace

const Engine& engine() {
    static const Engine row{
        MERCER_TEXT(MERCER_ISA),
        runs_here,
        pack,
        mended_share,
        by_precision<Store, run_store<float>, run_store<double>>,
        by_precision<MatVec, run_matvec<float>, run_matvec<double>>,
        by_precision<Normal, run_normal<float>, run_normal<double>>,
        by_precision<TopK, run_topk<float>, run_topk<double>>,
        by_precision<Scatter, run_scatter<float>, run_scatter<double>>,
        run_held,
        run_deflate,
        make_coarse,
        run_diagonals,
        pack_whole,
        run_nearest,
        pairs,
        {solve_block<float>, minimise_free<float>, add_rows<float>},
        {solve_block<double>, minimise_free<double>, add_rows<double>},
        extremes,
    };
    return row;
}

}  // namespace mercer::MERCER_ISA
