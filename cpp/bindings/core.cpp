// The module mercer._core: arrays in, arrays out. Everything is validated in Python before it comes here; what is
// checked again is only what would read outside memory.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "mercer/basis.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using mercer::Index;

template <class T, class... Shape>
using In = nb::ndarray<const T, nb::c_contig, nb::device::cpu, Shape...>;
using AnyIn = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using Table = In<double, nb::ndim<2>>;

void require(bool holds, const char* message) {
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

mercer::Numbers numbers(const AnyIn& array) {
    const bool single = array.dtype() == nb::dtype<float>();
    require(single || array.dtype() == nb::dtype<double>(), "numbers must be float32 or float64");
    return {array.data(), single};
}

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
            require(offsets(i) <= offsets(i + 1), "sparse: offsets must not fall");
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
                    "callback: a block of another shape came back");
            std::copy_n(made.data(), made.size(), out);
        };
        side.sources.push_back(mercer::Call{fill, side.n});
        kept_.push_back(fn);
    }
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
    template <class Array>
    void keep(const Array& array) {
        kept_.push_back(nb::cast(array));
    }
    std::vector<nb::object> kept_;
};

void require_fits(const mercer::Plan& plan, const mercer::Side& side) {
    require(side.sources.size() == plan.leaves().size(), "a side needs one source for each leaf");
    require(side.rows.size() == static_cast<std::size_t>(plan.rows()), "a side needs every row register");
    constexpr std::size_t kDense = 0, kSparse = 1, kCodes = 2, kMatrix = 3, kCall = 4;
    for (std::size_t leaf = 0; leaf < side.sources.size(); ++leaf) {
        const std::size_t got = side.sources[leaf].index();
        switch (plan.leaves()[leaf]) {
            case mercer::Kind::dot:
                require(got == kDense || got == kSparse, "a dot leaf takes dense or sparse rows");
                break;
            case mercer::Kind::l1:
            case mercer::Kind::minimum:
            case mercer::Kind::chi2:
                require(got == kDense, "this leaf takes dense rows");
                break;
            case mercer::Kind::equal:
                require(got == kCodes, "an equality leaf takes codes");
                break;
            case mercer::Kind::stored:
                require(got == kMatrix, "a stored leaf takes a matrix");
                break;
            case mercer::Kind::callback:
                require(got == kCall, "a callback leaf takes a function");
                break;
        }
    }
}

// The left side must be of the same kind and width as the right one, leaf by leaf.
void require_matches(const mercer::Side& left, const mercer::Side& right) {
    for (std::size_t leaf = 0; leaf < left.sources.size(); ++leaf) {
        const mercer::Source& a = left.sources[leaf];
        const mercer::Source& b = right.sources[leaf];
        require(a.index() == b.index(), "the two sides hold different kinds of rows");
        if (const auto* rows = std::get_if<mercer::Dense>(&a))
            require(rows->d == std::get<mercer::Dense>(b).d, "widths differ");
        if (const auto* rows = std::get_if<mercer::Sparse>(&a))
            require(rows->d == std::get<mercer::Sparse>(b).d, "widths differ");
        if (const auto* rows = std::get_if<mercer::Matrix>(&a))
            require(rows->m == right.n, "the matrix has another width");
    }
}

// Ctrl-C is looked for on the calling thread while the GIL is released.
bool interrupted() {
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

    void store(const Side* left, nb::ndarray<nb::c_contig, nb::device::cpu, nb::ndim<2>> out, bool single) const {
        const mercer::Side* other = check(left);
        require(static_cast<Index>(out.shape(0)) == rows(left) && static_cast<Index>(out.shape(1)) == side_.side.n,
                "store: out has another shape");
        const bool narrow = out.dtype() == nb::dtype<float>();
        require(narrow || out.dtype() == nb::dtype<double>(), "store: out must be float32 or float64");
        void* data = out.data();
        run([&](mercer::Watch& watch) { basis_.store(other, single, watch, {data, narrow}); });
    }
    nb::ndarray<nb::numpy, double> matvec(const Side* left, std::optional<Table> v, bool single) const {
        const mercer::Side* other = check(left);
        require(!v || static_cast<Index>(v->shape(0)) == side_.side.n, "matvec: V has another number of rows");
        const std::size_t t = v ? v->shape(1) : 1;
        auto out = fresh<double>({static_cast<std::size_t>(rows(left)), t});
        const mercer::MatVec job{v ? v->data() : nullptr, static_cast<Index>(t), out.data()};
        run([&](mercer::Watch& watch) { basis_.matvec(other, single, watch, job); });
        return out;
    }
    nb::ndarray<nb::numpy, double> normal(const Side* left, Table v, std::optional<Table> w, bool single) const {
        const mercer::Side* other = check(left);
        require(static_cast<Index>(v.shape(0)) == side_.side.n, "normal: V has another number of rows");
        require(!w || (static_cast<Index>(w->shape(0)) == rows(left) && w->shape(1) == v.shape(1)),
                "normal: W has another shape");
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
PyType_Slot kCollected[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse<Holder>)},
                            {Py_tp_clear, reinterpret_cast<void*>(clear<Holder>)},
                            {0, nullptr}};

using Step = std::tuple<std::string, int, int, int, double, double>;

template <class Enum, class Names>
Enum named(const Names& names, const std::string& name) {
    for (std::size_t at = 0; at < names.size(); ++at) {
        if (names[at] == name) return static_cast<Enum>(at);
    }
    throw std::invalid_argument("unknown name '" + name + "'");
}

mercer::Plan plan_of(const std::vector<std::string>& leaves, const std::vector<Step>& tape, int registers, int rows,
                     int result) {
    std::vector<mercer::Kind> kinds;
    for (const std::string& leaf : leaves) kinds.push_back(named<mercer::Kind>(mercer::kKindNames, leaf));
    std::vector<mercer::Instruction> steps;
    for (const auto& [op, out, a, b, s, t] : tape)
        steps.push_back({named<mercer::Op>(mercer::kOpNames, op), out, a, b, s, t, -1});
    return mercer::Plan(std::move(kinds), std::move(steps), registers, rows, result);
}

template <class Names>
std::vector<std::string> listed(const Names& names) {
    return {names.begin(), names.end()};
}

}  // namespace

// For threadpoolctl, which finds them by name in the shared object.
extern "C" {
__attribute__((visibility("default"))) int mercer_get_num_threads() { return mercer::thread_count(); }
__attribute__((visibility("default"))) void mercer_set_num_threads(int count) { mercer::set_thread_count(count); }
}

NB_MODULE(_core, m) {
    // What is alive when the interpreter ends is the user's business (a model in a notebook), not a leak.
    nb::set_leak_warnings(false);
    m.doc() = "The compiled core of mercer: plans, packed points, and the loop that walks a Gram matrix.";

    nb::class_<mercer::Plan>(m, "Plan", "A lowered kernel: leaves and a tape of elementwise instructions.")
        .def(
            "__init__",
            [](mercer::Plan* self, const std::vector<std::string>& leaves, const std::vector<Step>& tape, int registers,
               int rows, int result) { new (self) mercer::Plan(plan_of(leaves, tape, registers, rows, result)); },
            "leaves"_a, "tape"_a, "registers"_a, "rows"_a, "result"_a)
        .def_prop_ro("slots", &mercer::Plan::slots);

    nb::class_<Side>(m, "Side", nb::type_slots(kCollected<Side>),
                     "One side of a Gram matrix: a source for each leaf, and the row registers.")
        .def(nb::init<Index>(), "n"_a)
        .def("dense", &Side::dense, "rows"_a)
        .def("sparse", &Side::sparse, "offsets"_a, "columns"_a, "values"_a.none(), "d"_a, "sizes"_a.none())
        .def("codes", &Side::codes, "codes"_a)
        .def("matrix", &Side::matrix, "rows"_a)
        .def("call", &Side::call, "fn"_a)
        .def("rows", &Side::rows, "values"_a)
        .def_prop_ro("n", [](const Side& self) { return self.side.n; });

    nb::class_<Basis>(m, "Basis", nb::type_slots(kCollected<Basis>), "A plan bound to its right side, packed once.")
        .def(nb::init<const mercer::Plan&, Side, const std::string&, Index>(), "plan"_a, "right"_a, "isa"_a = "",
             "budget"_a = Index{48} << 20)
        .def("store", &Basis::store, "left"_a.none(), "out"_a, "single"_a, "Fill out with K(left, basis).")
        .def("matvec", &Basis::matvec, "left"_a.none(), "v"_a.none(), "single"_a,
             "K(left, basis) @ v; the row sums without v.")
        .def("normal", &Basis::normal, "left"_a.none(), "v"_a, "w"_a.none(), "single"_a, "K.T @ (K @ v + w), one pass.")
        .def("topk", &Basis::topk, "left"_a.none(), "k"_a, "largest"_a, "single"_a,
             "The k best of each row: values and indices.")
        .def("pairs", &Basis::pairs, "left"_a, "k(left[i], basis[i]) for every i.")
        .def_prop_ro("packed_bytes", &Basis::packed_bytes)
        .def_prop_ro("isa", &Basis::isa);

    nb::exception<mercer::NotFinite>(m, "NotFiniteValue", PyExc_ArithmeticError);
    nb::register_exception_translator([](const std::exception_ptr& error, void*) {
        try {
            std::rethrow_exception(error);
        } catch (const mercer::NotFinite& found) {
            // args = (row, column, instruction): Python names the point and the node.
            const nb::object type = nb::module_::import_("mercer._core").attr("NotFiniteValue");
            PyErr_SetObject(type.ptr(), nb::make_tuple(found.row, found.column, found.origin).ptr());
        }
    });

    m.def("version", [] { return std::string(MERCER_VERSION); });
    m.def("ops", [] { return listed(mercer::kOpNames); }, "Names of the tape's instructions.");
    m.def("leaf_kinds", [] { return listed(mercer::kKindNames); }, "Names of the kinds of leaves.");
    m.def(
        "instruction_sets",
        [] {
            std::vector<std::pair<std::string, bool>> rows;
            for (const mercer::Engine* row : mercer::engines())
                rows.emplace_back(std::string(row->name), row->runs_here());
            return rows;
        },
        "The compiled instruction sets, and whether this machine runs each.");
    m.def("instruction_set", [] { return std::string(mercer::choose_engine().name); }, "The one in use by default.");
    m.def("thread_count", &mercer::thread_count);
    m.def("set_thread_count", &mercer::set_thread_count, "count"_a);
    m.def("available_memory", &mercer::available_memory, "Bytes that a new allocation may take.");
}
