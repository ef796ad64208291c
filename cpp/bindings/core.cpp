// The module mercer._core: arrays in, arrays out. Everything is validated in Python before it comes here; what is
// checked again is only what would read outside memory.
#include "counting.hpp"
#include "graphs.hpp"
#include "handles.hpp"
#include "mercer/memory.hpp"
#include "smo.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using mercer::Index;
using mercer::bindings::Basis;
using mercer::bindings::kCollected;
using mercer::bindings::Side;

using Step = std::tuple<std::string, int, int, int, double, double>;
using Leaf = std::pair<std::string, std::vector<double>>;  // with its parameters

std::string_view name_of(std::string_view name) { return name; }
std::string_view name_of(const mercer::LeafRow& row) { return row.name; }

// The place of a name in a table is the value of its enumeration.
template <class Enum, class Rows>
Enum named(const Rows& rows, const std::string& name) {
    for (std::size_t at = 0; at < rows.size(); ++at) {
        if (name_of(rows[at]) == name) return static_cast<Enum>(at);
    }
    throw std::invalid_argument("unknown name '" + name + "'");
}

mercer::Plan plan_of(const std::vector<Leaf>& leaves, const std::vector<Step>& tape, int registers, int rows,
                     int result) {
    std::vector<mercer::Kind> kinds;
    std::vector<std::vector<double>> parameters;
    for (const auto& [name, numbers] : leaves) {
        kinds.push_back(named<mercer::Kind>(mercer::kLeaves, name));
        parameters.push_back(numbers);
    }
    std::vector<mercer::Instruction> steps;
    for (const auto& [op, out, a, b, s, t] : tape)
        steps.push_back({named<mercer::Op>(mercer::kOpNames, op), out, a, b, s, t, -1});
    return mercer::Plan(std::move(kinds), std::move(steps), registers, rows, result, std::move(parameters));
}

// name -> its operands
nb::dict operations() {
    nb::dict rows;
    for (std::size_t at = 0; at < mercer::kOpNames.size(); ++at) {
        const unsigned uses = mercer::operands(static_cast<mercer::Op>(at));
        nb::list names;
        for (std::size_t bit = 0; bit < mercer::kUses.size(); ++bit) {
            if (uses >> bit & 1U) names.append(std::string(mercer::kUses[bit]));
        }
        rows[std::string(mercer::kOpNames[at]).c_str()] = nb::tuple(names);
    }
    return rows;
}

// name -> what it takes, how many parameters it has, what it is
nb::dict leaves() {
    nb::dict rows;
    for (const mercer::LeafRow& row : mercer::kLeaves)
        rows[std::string(row.name).c_str()] = nb::make_tuple(
            std::string(mercer::kTakes[static_cast<std::size_t>(row.takes)]), row.parameters, std::string(row.text));
    return rows;
}

nb::tuple sources() {
    nb::list names;
    for (const std::string_view takes : mercer::kTakes) names.append(std::string(takes));
    return nb::tuple(names);
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
            [](mercer::Plan* self, const std::vector<Leaf>& leaves, const std::vector<Step>& tape, int registers,
               int rows, int result) { new (self) mercer::Plan(plan_of(leaves, tape, registers, rows, result)); },
            "leaves"_a, "tape"_a, "registers"_a, "rows"_a, "result"_a)
        .def_prop_ro("slots", &mercer::Plan::slots);

    nb::class_<Side>(m, "Side", nb::type_slots(kCollected<Side>),
                     "One side of a Gram matrix: a source for each leaf, and the row registers.")
        .def(nb::init<Index>(), "n"_a)
        .def("dense", &Side::dense, "rows"_a)
        .def("sparse", &Side::sparse, "offsets"_a, "columns"_a, "values"_a.none(), "d"_a, "sizes"_a.none())
        .def("codes", &Side::codes, "codes"_a)
        .def("letters", &Side::letters, "offsets"_a, "codes"_a)
        .def("networks", &Side::networks, "offsets"_a, "words"_a)
        .def("parts", &Side::parts, "offsets"_a, "rows"_a)
        .def("matrix", &Side::matrix, "rows"_a)
        .def("call", &Side::call, "fn"_a)
        .def("bags", &Side::bags, "offsets"_a, "plan"_a, "parts"_a)
        .def("rows", &Side::rows, "values"_a)
        .def_prop_ro("n", [](const Side& self) { return self.side.n; });

    nb::class_<Basis>(m, "Basis", nb::type_slots(kCollected<Basis>), "A plan bound to its right side, packed once.")
        .def(nb::init<const mercer::Plan&, Side, const std::string&, Index>(), "plan"_a, "right"_a, "isa"_a = "",
             "budget"_a = Index{48} << 20)
        .def("store", &Basis::store, "left"_a.none(), "out"_a, "single"_a, "half"_a = false,
             "code"_a = std::pair(0.0, 1.0),
             "Fill out with K(left, basis); `half`: of K(basis, basis) leave what is below the diagonal's blocks. "
             "In uint16 a value k is the nearest whole number to (k - low) / step, with `code` = (low, step).")
        .def("matvec", &Basis::matvec, "left"_a.none(), "v"_a.none(), "single"_a, "hollow"_a = false, "rungs"_a = 1,
             "doublings"_a = 0,
             "K(left, basis) @ v; the row sums without v. `hollow` leaves out the diagonal of K(basis, basis). "
             "More columns follow for every further rung r: those of the entries' powers of 2**(r*doublings).")
        .def("normal", &Basis::normal, "left"_a.none(), "v"_a.none(), "w"_a.none(), "d"_a.none(), "single"_a,
             "K.T @ (d * (K @ v + w)), one pass; without v, w or d they are 0, 0 and 1.")
        .def("topk", &Basis::topk, "left"_a.none(), "k"_a, "largest"_a, "single"_a,
             "The k best of each row: values and indices.")
        .def("pairs", &Basis::pairs, "left"_a, "k(left[i], basis[i]) for every i.")
        .def_prop_ro("packed_bytes", &Basis::packed_bytes)
        .def_prop_ro("isa", &Basis::isa);

    using mercer::bindings::Whole;
    nb::class_<Whole>(m, "Whole", "Vectors of integers, packed once for a search.")
        .def(nb::init<Whole::Matrix16, const std::string&>(), "rows"_a, "isa"_a = "")
        .def("nearest", &Whole::nearest, "left"_a, "k"_a,
             "The k nearest of each row of left: squared distances, which are exact, and indices; ties by index.");

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

    m.def(
        "held_product",
        [](mercer::bindings::In<std::uint16_t, nb::ndim<2>> K, mercer::bindings::In<double, nb::ndim<1>> v,
           std::pair<double, double> code) {
            const std::size_t n = K.shape(0);
            mercer::bindings::require(K.shape(1) == n && v.shape(0) == n, "held_product: (n, n) and (n,) expected");
            auto out = mercer::bindings::fresh<double>({n});
            const mercer::Held job{K.data(), static_cast<Index>(n), {code.first, code.second}, v.data(), out.data()};
            mercer::bindings::run([&](mercer::Watch& watch) { mercer::choose_engine().held(job, watch); });
            return out;
        },
        "K"_a, "v"_a, "code"_a, "K @ v of a symmetric K in 16 bits, reading half of it; `code` = (low, step).");

    m.def(
        "deflated",
        [](mercer::bindings::In<float, nb::ndim<2>> G, mercer::bindings::In<double, nb::ndim<1>> x) {
            const std::size_t r = G.shape(0), n = G.shape(1);
            mercer::bindings::require(x.shape(0) == n, "deflated: (r, n) and (n,) expected");
            auto out = mercer::bindings::fresh<double>({n});
            const mercer::Deflate job{G.data(), static_cast<Index>(n), static_cast<Index>(r), x.data(), out.data()};
            mercer::bindings::run([&](mercer::Watch& watch) { mercer::choose_engine().deflate(job, watch); });
            return out;
        },
        "G"_a, "x"_a, "x - G' (G x), the rows of G in float32.");

    using mercer::bindings::Coarse;
    nb::class_<Coarse>(m, "Coarse", "A Cholesky factor in 16 bits of W K W with another diagonal.")
        .def(nb::init<mercer::bindings::In<std::uint16_t, nb::ndim<2>>, std::pair<double, double>,
                      mercer::bindings::In<float, nb::ndim<1>>, mercer::bindings::In<double, nb::ndim<1>>, float>(),
             "codes"_a, "code"_a, "weights"_a, "diagonal"_a, "smallest"_a)
        .def_prop_ro("share", &Coarse::share, "The share of the work that is done; 1 at the end.")
        .def("advance", &Coarse::advance, "columns"_a, "Compute some more columns; False if a pivot is too small.")
        .def("solve", &Coarse::solve, "right"_a, "(L L')^-1 right.");

    m.def(
        "tridiagonal_diagonals",
        [](mercer::bindings::In<double, nb::ndim<2>> Q, mercer::bindings::In<double, nb::ndim<1>> diagonal,
           mercer::bindings::In<double, nb::ndim<1>> beside, mercer::bindings::In<double, nb::ndim<1>> shifts) {
            const std::size_t k = Q.shape(0), n = Q.shape(1), count = shifts.shape(0);
            mercer::bindings::require(diagonal.shape(0) == k && beside.shape(0) + 1 == std::max<std::size_t>(k, 1),
                                      "tridiagonal_diagonals: (k, n), (k,), (k - 1,) and (m,) expected");
            auto out = mercer::bindings::fresh<double>({count, n});
            const mercer::Diagonals job{
                Q.data(),      static_cast<Index>(n), static_cast<Index>(k),     diagonal.data(),
                beside.data(), shifts.data(),         static_cast<Index>(count), out.data()};
            bool is_positive = false;
            mercer::bindings::run(
                [&](mercer::Watch& watch) { is_positive = mercer::choose_engine().diagonals(job, watch); });
            return is_positive ? std::optional(out) : std::nullopt;
        },
        "Q"_a, "diagonal"_a, "beside"_a, "shifts"_a,
        "The diagonals of Q' (T + shift)^-1 Q for a tridiagonal T; None where some T + shift is not positive.");

    mercer::bindings::bind_smo(m);
    mercer::bindings::bind_counting(m);
    mercer::bindings::bind_graphs(m);
    m.def("version", [] { return std::string(MERCER_VERSION); });
    m.def("operations", &operations, nb::sig("def operations() -> dict[str, tuple[str, ...]]"),
          "The tape's instructions: name -> operands, of leaf, a, b, row, s, t.");
    m.def("leaves", &leaves, nb::sig("def leaves() -> dict[str, tuple[str, int, str]]"),
          "The kinds of leaves: name -> what one takes from the points, how many parameters it has, what it is.");
    m.def("sources", &sources, nb::sig("def sources() -> tuple[str, ...]"), "What a leaf may take from the points.");
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
    m.def("available_memory", &mercer::available_memory,
          "Bytes that a new allocation may take: of the machine, its control groups, the limits of the process.");
}
