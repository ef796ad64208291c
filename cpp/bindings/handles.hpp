// Side and Basis as Python sees them, and the watch for Ctrl-C; shared by the files of the module.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "mercer/basis.hpp"
#include "mercer/network.hpp"

namespace mercer::bindings {

namespace nb = nanobind;

template <class T, class... Shape>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;
using AnyIn = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Table = In<double, nb::ndim<2>>;

inline void require(bool holds, const char* message) {
    if (!holds) throw std::invalid_argument(message);
}

template <class T>
nb::ndarray<nb::numpy, T> fresh(std::initializer_list<std::size_t> shape) {
    std::size_t count = 1;
    for (const std::size_t side : shape) count *= side;
    auto memory = std::make_unique<T[]>(count);
    T* data = memory.release();
    return nb::ndarray<nb::numpy, T>(data, shape,
                                     nb::capsule(data, [](void* p) noexcept { delete[] static_cast<T*>(p); }));
}

inline mercer::Numbers numbers(const AnyIn& array) {
    const bool single = array.dtype() == nb::dtype<float>();
    require(single || array.dtype() == nb::dtype<double>(), "numbers must be float32 or float64");
    return {array.data(), single};
}

// A user's function may hold the model that holds this object: the cycle must be visible to Python's collector.
template <class Holder>
int traverse(PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<Holder>(self)->traverse(visit, arg) : 0;
}
template <class Holder>
int clear(PyObject* self) {
    nb::inst_ptr<Holder>(self)->clear();
    return 0;
}
template <class Holder>
inline PyType_Slot kCollected[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<Holder>)},
                                   {Py_tp_clear, reinterpret_cast<void*>(clear<Holder>)},
                                   {0, nullptr}};

// A side of a Gram matrix and the Python objects whose memory it looks at.
class Side {
   public:
    explicit Side(Index n) { side.n = n; }

    void dense(AnyIn rows) {
        require(rows.ndim() == 2 && static_cast<Index>(rows.shape(0)) == side.n, "dense: (n, d) expected");
        side.sources.push_back(mercer::Dense{numbers(rows), side.n, static_cast<Index>(rows.shape(1))});
        keep(rows);
    }
    void sparse(In<std::int64_t, nb::ndim<1>> offsets, In<std::int32_t, nb::ndim<1>> columns,
                std::optional<AnyIn> values, Index d, std::optional<In<double, nb::ndim<1>>> sizes) {
        require(static_cast<Index>(offsets.shape(0)) == side.n + 1, "sparse: n + 1 offsets expected");
        const Index stored = offsets(offsets.shape(0) - 1);
        require(offsets(0) == 0 && stored == static_cast<Index>(columns.shape(0)),
                "sparse: offsets and columns disagree");
        for (std::size_t i = 0; i + 1 < offsets.shape(0); ++i)
            require(offsets(i) <= offsets(i + 1), "sparse: offsets must not decrease");
        for (Index at = 0; at < stored; ++at)
            require(columns(static_cast<std::size_t>(at)) >= 0 && columns(static_cast<std::size_t>(at)) < d,
                    "sparse: a column lies outside the width");
        require(!values || static_cast<Index>(values->size()) == stored, "sparse: as many values as columns expected");
        require(!sizes || static_cast<Index>(sizes->shape(0)) == side.n, "sparse: n sizes expected");
        side.sources.push_back(mercer::Sparse{offsets.data(), columns.data(),
                                              values ? numbers(*values) : mercer::Numbers{},
                                              sizes ? sizes->data() : nullptr, side.n, d});
        keep(offsets), keep(columns);
        if (values) keep(*values);
        if (sizes) keep(*sizes);
    }
    void codes(In<std::int64_t, nb::ndim<1>> codes) {
        require(static_cast<Index>(codes.shape(0)) == side.n, "codes: n expected");
        side.sources.push_back(mercer::Codes{codes.data(), side.n});
        keep(codes);
    }
    void letters(In<std::int64_t, nb::ndim<1>> offsets, In<std::int32_t, nb::ndim<1>> codes) {
        require_offsets(offsets, codes.shape(0));
        side.sources.push_back(mercer::Letters{offsets.data(), codes.data(), side.n});
        keep(offsets), keep(codes);
    }
    void networks(In<std::int64_t, nb::ndim<1>> offsets, In<std::int32_t, nb::ndim<1>> words) {
        letters(offsets, words);
        for (Index i = 0; i < side.n; ++i)
            require(mercer::Network::is_whole({words.data() + offsets.data()[i], words.data() + offsets.data()[i + 1]}),
                    "networks: a graph that is none");
    }
    void parts(In<std::int64_t, nb::ndim<1>> offsets, AnyIn rows) {
        require(rows.ndim() == 2, "parts: (m, d) expected");
        require_offsets(offsets, rows.shape(0));
        side.sources.push_back(mercer::Parts{offsets.data(), numbers(rows), side.n, static_cast<Index>(rows.shape(1))});
        keep(offsets), keep(rows);
    }
    void matrix(AnyIn rows) {
        require(rows.ndim() == 2 && static_cast<Index>(rows.shape(0)) == side.n, "matrix: (n, m) expected");
        side.sources.push_back(mercer::Matrix{numbers(rows), side.n, static_cast<Index>(rows.shape(1))});
        keep(rows);
    }
    // fn(i0, i1, j0, j1) -> (i1 - i0, j1 - j0) float64. The side owns fn where the garbage collector sees it; the
    // source only borrows it.
    void call(nb::callable fn) {
        const auto fill = [borrowed = nb::handle(fn)](Index i0, Index i1, Index j0, Index j1, double* out) {
            const nb::gil_scoped_acquire held;
            const Table made = nb::cast<Table>(borrowed(i0, i1, j0, j1));
            require(static_cast<Index>(made.shape(0)) == i1 - i0 && static_cast<Index>(made.shape(1)) == j1 - j0,
                    "callback: the function returned a block of the wrong shape");
            std::copy_n(made.data(), made.size(), out);
        };
        side.sources.push_back(mercer::Call{fill, side.n});
        kept_.push_back(fn);
    }
    // The parts of the bags are points of their own, with a plan of their own.
    void bags(In<std::int64_t, nb::ndim<1>> offsets, const mercer::Plan& plan, nb::handle parts);
    void rows(In<double, nb::ndim<1>> values) {
        require(static_cast<Index>(values.shape(0)) == side.n, "rows: n expected");
        side.rows.push_back(values.data());
        keep(values);
    }

    int traverse(visitproc visit, void* arg) const {
        for (const nb::object& object : kept_) Py_VISIT(object.ptr());
        return 0;
    }
    void clear() {
        side = {};
        kept_.clear();
    }

    mercer::Side side;

   private:
    void require_offsets(const In<std::int64_t, nb::ndim<1>>& offsets, std::size_t stored) const {
        require(static_cast<Index>(offsets.shape(0)) == side.n + 1, "ragged points: n + 1 offsets expected");
        const Index* at = offsets.data();
        require(at[0] == 0 && at[side.n] == static_cast<Index>(stored) && std::is_sorted(at, at + side.n + 1),
                "ragged points: offsets increase from 0 to the number of letters or parts");
    }
    template <class Array>
    void keep(const Array& array) {
        kept_.push_back(nb::cast(array));
    }
    std::vector<nb::object> kept_;
};

inline void require_fits(const mercer::Plan& plan, const mercer::Side& side) {
    require(side.sources.size() == plan.leaves().size(), "a side needs one source for each leaf");
    require(side.rows.size() == static_cast<std::size_t>(plan.rows()), "a side needs every row register");
    for (std::size_t leaf = 0; leaf < side.sources.size(); ++leaf) {
        const mercer::LeafRow& row = mercer::row_of(plan.leaves()[leaf]);
        if (mercer::fits(row.takes, side.sources[leaf])) continue;
        throw std::invalid_argument("leaf " + std::string(row.name) + " takes " +
                                    std::string(mercer::kTakes[static_cast<std::size_t>(row.takes)]));
    }
}

inline void Side::bags(In<std::int64_t, nb::ndim<1>> offsets, const mercer::Plan& plan, nb::handle parts) {
    const mercer::Side& inside = nb::cast<const Side&>(parts).side;
    require_offsets(offsets, static_cast<std::size_t>(inside.n));
    require_fits(plan, inside);
    side.sources.push_back(mercer::Bags{offsets.data(), std::make_shared<mercer::Side>(inside),
                                        std::make_shared<mercer::Plan>(plan), side.n});
    keep(offsets);
    kept_.push_back(nb::borrow(parts));
}

// The left side must be of the same kind and width as the right one, leaf by leaf.
inline void require_matches(const mercer::Side& left, const mercer::Side& right) {
    for (std::size_t leaf = 0; leaf < left.sources.size(); ++leaf) {
        const mercer::Source& a = left.sources[leaf];
        const mercer::Source& b = right.sources[leaf];
        require(a.index() == b.index(), "the two sides hold different kinds of rows");
        if (const auto* rows = std::get_if<mercer::Dense>(&a))
            require(rows->d == std::get<mercer::Dense>(b).d, "widths differ");
        if (const auto* rows = std::get_if<mercer::Sparse>(&a))
            require(rows->d == std::get<mercer::Sparse>(b).d, "widths differ");
        if (const auto* rows = std::get_if<mercer::Parts>(&a))
            require(rows->d == std::get<mercer::Parts>(b).d, "widths differ");
        if (const auto* rows = std::get_if<mercer::Matrix>(&a))
            require(rows->m == right.n, "the matrix has the wrong width");
        if (const auto* bags = std::get_if<mercer::Bags>(&a)) {
            const auto& other = std::get<mercer::Bags>(b);
            require_fits(*other.plan, *bags->parts);
            require_matches(*bags->parts, *other.parts);
        }
    }
}

// The calling thread checks for Ctrl-C while the GIL is released.
inline bool interrupted() {
    const nb::gil_scoped_acquire held;
    return PyErr_CheckSignals() != 0;
}

template <class Work>
void run(Work work) {
    mercer::Watch watch(interrupted);
    try {
        const nb::gil_scoped_release released;
        work(watch);
    } catch (const mercer::Cancelled&) {
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        throw;
    }
}

class Basis {
   public:
    Basis(const mercer::Plan& plan, Side right, const std::string& isa, Index budget)
        : side_(std::move(right)), basis_(plan, side_.side, mercer::choose_engine(isa), budget) {
        require_fits(plan, side_.side);
    }

    void store(const Side* left, nb::ndarray<nb::c_contig, nb::device::cpu, nb::ndim<2>> out, bool single, bool half,
               std::pair<double, double> code) const {
        const mercer::Side* other = check(left);
        require(static_cast<Index>(out.shape(0)) == rows(left) && static_cast<Index>(out.shape(1)) == side_.side.n,
                "store: out has the wrong shape");
        mercer::Store job{out.data(), mercer::Format::real64, {code.first, code.second}, half};
        if (out.dtype() == nb::dtype<float>()) job.format = mercer::Format::real32;
        else if (out.dtype() == nb::dtype<std::uint16_t>()) job.format = mercer::Format::code16;
        else require(out.dtype() == nb::dtype<double>(), "store: out must be float64, float32 or uint16");
        run([&](mercer::Watch& watch) { basis_.store(other, single, watch, job); });
    }
    nb::ndarray<nb::numpy, double> matvec(const Side* left, std::optional<Table> v, bool single, bool hollow,
                                          Index rungs, int doublings) const {
        const mercer::Side* other = check(left);
        require(!v || static_cast<Index>(v->shape(0)) == side_.side.n, "matvec: V has the wrong number of rows");
        const std::size_t t = v ? v->shape(1) : 1;
        require(rungs >= 1 && doublings >= 0, "matvec: rungs are counted from 1, doublings from 0");
        auto out = fresh<double>({static_cast<std::size_t>(rows(left)), static_cast<std::size_t>(rungs) * t});
        const mercer::MatVec job{v ? v->data() : nullptr, static_cast<Index>(t), out.data(), hollow, rungs, doublings};
        run([&](mercer::Watch& watch) { basis_.matvec(other, single, watch, job); });
        return out;
    }
    nb::ndarray<nb::numpy, double> normal(const Side* left, Table v, std::optional<Table> w, bool single) const {
        const mercer::Side* other = check(left);
        require(static_cast<Index>(v.shape(0)) == side_.side.n, "normal: V has the wrong number of rows");
        require(!w || (static_cast<Index>(w->shape(0)) == rows(left) && w->shape(1) == v.shape(1)),
                "normal: W has the wrong shape");
        auto out = fresh<double>({v.shape(0), v.shape(1)});
        const mercer::Normal job{v.data(), w ? w->data() : nullptr, static_cast<Index>(v.shape(1)), out.data()};
        run([&](mercer::Watch& watch) { basis_.normal(other, single, watch, job); });
        return out;
    }
    std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int64_t>> topk(const Side* left, Index k,
                                                                                         bool largest,
                                                                                         bool single) const {
        const mercer::Side* other = check(left);
        require(k >= 1 && k <= side_.side.n, "topk: k lies between 1 and the number of basis points");
        const std::size_t n = static_cast<std::size_t>(rows(left));
        auto values = fresh<double>({n, static_cast<std::size_t>(k)});
        auto indices = fresh<std::int64_t>({n, static_cast<std::size_t>(k)});
        const mercer::TopK job{k, largest, values.data(), indices.data()};
        run([&](mercer::Watch& watch) { basis_.topk(other, single, watch, job); });
        return {values, indices};
    }
    nb::ndarray<nb::numpy, double> pairs(const Side& left) const {
        static_cast<void>(check(&left));
        require(left.side.n == side_.side.n, "pairs: the two sides have different lengths");
        auto out = fresh<double>({static_cast<std::size_t>(left.side.n)});
        double* data = out.data();
        run([&](mercer::Watch& watch) {
            basis_.engine().pairs(basis_.plan(), left.side, basis_.right(), data, watch);
        });
        return out;
    }
    int traverse(visitproc visit, void* arg) const { return side_.traverse(visit, arg); }
    void clear() { side_.clear(); }
    Index packed_bytes() const { return basis_.packed_bytes(); }
    const mercer::Basis& native() const { return basis_; }
    std::string isa() const { return std::string(basis_.engine().name); }

   private:
    Index rows(const Side* left) const { return left != nullptr ? left->side.n : side_.side.n; }
    const mercer::Side* check(const Side* left) const {
        if (left == nullptr) return nullptr;
        require_fits(basis_.plan(), left->side);
        require_matches(left->side, side_.side);
        return &left->side;
    }

    Side side_;
    mercer::Basis basis_;
};

class Whole {
   public:
    using Matrix16 = In<std::int16_t, nb::ndim<2>>;

    Whole(Matrix16 rows, const std::string& isa)
        : engine_(mercer::choose_engine(isa)),
          packed_(engine_.whole(rows.data(), static_cast<Index>(rows.shape(0)), static_cast<Index>(rows.shape(1)))) {}

    std::pair<nb::ndarray<nb::numpy, double>, nb::ndarray<nb::numpy, std::int64_t>> nearest(Matrix16 left,
                                                                                            Index k) const {
        require(static_cast<Index>(left.shape(1)) == packed_->d(), "nearest: widths differ");
        require(k >= 1 && k <= packed_->n(), "nearest: k lies between 1 and the number of vectors");
        const std::size_t m = left.shape(0);
        auto values = fresh<double>({m, static_cast<std::size_t>(k)});
        auto indices = fresh<std::int64_t>({m, static_cast<std::size_t>(k)});
        const mercer::Nearest job{*packed_, left.data(), static_cast<Index>(m), k, values.data(), indices.data()};
        run([&](mercer::Watch& watch) { engine_.nearest(job, watch); });
        return {values, indices};
    }

   private:
    const mercer::Engine& engine_;
    std::unique_ptr<mercer::Whole> packed_;
};

class Coarse {
   public:
    Coarse(In<std::uint16_t, nb::ndim<2>> codes, std::pair<double, double> code, In<float, nb::ndim<1>> weights,
           In<double, nb::ndim<1>> diagonal, float smallest)
        : codes_(std::move(codes)), weights_(std::move(weights)), diagonal_(std::move(diagonal)) {
        const std::size_t n = codes_.shape(0);
        require(codes_.shape(1) == n && weights_.shape(0) == n && diagonal_.shape(0) == n,
                "Coarse: (n, n), (n,) and (n,) expected");
        factor_ = mercer::choose_engine().coarse({codes_.data(),
                                                  static_cast<Index>(n),
                                                  {code.first, code.second},
                                                  weights_.data(),
                                                  diagonal_.data(),
                                                  smallest});
    }

    double share() const { return factor_->share(); }
    bool advance(Index columns) {
        bool is_whole = false;
        run([&](mercer::Watch& watch) { is_whole = factor_->advance(columns, watch); });
        return is_whole;
    }
    nb::ndarray<nb::numpy, double> solve(In<double, nb::ndim<1>> right) const {
        const std::size_t n = right.shape(0);
        require(static_cast<Index>(n) == factor_->n() && factor_->share() == 1.0,
                "solve: another number of rows, or the factor is not done");
        auto out = fresh<double>({n});
        run([&](mercer::Watch& watch) { factor_->solve(right.data(), out.data(), watch); });
        return out;
    }

   private:
    In<std::uint16_t, nb::ndim<2>> codes_;
    In<float, nb::ndim<1>> weights_;
    In<double, nb::ndim<1>> diagonal_;
    std::unique_ptr<mercer::Coarse> factor_;
};

}  // namespace mercer::bindings
