#include "smo.hpp"

#include <nanobind/stl/variant.h>

#include <chrono>
#include <cmath>

#include "handles.hpp"
#include "mercer/smo.hpp"

namespace mercer::bindings {

namespace {

using namespace nb::literals;

using Vector = In<double, nb::ndim<1>>;
using Indices = In<std::int64_t, nb::ndim<1>>;
using Uses = In<std::int64_t, nb::ndim<2>>;
using Groups = In<std::uint8_t, nb::ndim<1>>;
using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix64 = In<double, nb::ndim<2>>;
using Matrix32 = In<float, nb::ndim<2>>;
using Gram = std::variant<const Basis*, Matrix64, Matrix32>;

// How a solve ended, beside what it has changed in place.
struct Outcome {
    std::vector<Index> steps;  // of each problem
    Index evaluations = 0;     // entries of K that were made
    std::string ended;         // "solved", "steps", "crawling", "time" or "interrupted"
};

// The rows of a batch's problems. Ranges that would read outside of memory are refused here, once; what is asked of the
// rows, and the coefficients with f = K coef, come with each call.
class Batch {
   public:
    Batch(Gram gram, Indices cuts, Uses uses, Index copies)
        : gram_(std::move(gram)), cuts_(std::move(cuts)), uses_(std::move(uses)) {
        const Index n = take_gram();
        const Index ranges = static_cast<Index>(cuts_.shape(0)) - 1;
        require(ranges >= 1 && cuts_(0) == 0 && cuts_(static_cast<std::size_t>(ranges)) == n,
                "margins: cuts run from 0 to n");
        for (std::size_t r = 0; r + 1 < cuts_.shape(0); ++r) require(cuts_(r) < cuts_(r + 1), "margins: cuts increase");
        require(uses_.shape(0) >= 1 && (uses_.shape(1) == 1 || uses_.shape(1) == 2),
                "margins: one or two ranges a problem");
        require(copies == 1 || copies == 2, "margins: one or two copies");
        for (std::size_t p = 0; p < uses_.shape(0); ++p) {
            for (std::size_t at = 0; at < uses_.shape(1); ++at) {
                const Index range = uses_(p, at);
                require(range >= 0 && range < ranges, "margins: there is no such range");
                const std::size_t r = static_cast<std::size_t>(range);
                rows_ += cuts_(r + 1) - cuts_(r);
            }
        }
        batch_.cuts = {cuts_.data(), cuts_.shape(0)};
        batch_.uses = uses_.data();
        batch_.problems = static_cast<Index>(uses_.shape(0));
        batch_.uses_each = static_cast<Index>(uses_.shape(1));
        batch_.copies = copies;
    }

    Outcome solve(const Out& coef, const Out& f, const Vector& linear, const Vector& low, const Vector& high,
                  const Groups& group, double width, const Vector& diagonal, bool has_f, bool single, double tol,
                  double finish, Index finish_steps, Index max_steps, Index cache_bytes, double patience,
                  Index crawl_free, double gap, double max_seconds, const std::optional<nb::callable>& progress) const {
        for (const std::size_t length : {linear.shape(0), low.shape(0), high.shape(0), group.shape(0)})
            require(length == coef.shape(0), "margins: one number for each variable expected");
        for (std::size_t v = 0; v < group.shape(0); ++v) require(group(v) <= 1, "margins: there are two groups");
        require(static_cast<Index>(diagonal.shape(0)) == batch_.cuts.back(), "margins: the diagonal has n entries");
        MarginBatch batch = at(coef, f);
        batch.width = width;
        batch.linear = linear.data();
        batch.low = low.data();
        batch.high = high.data();
        batch.group = group.data();
        batch.diagonal = diagonal.data();
        batch.has_image = has_f;
        const MarginOptions options{tol,    finish,   finish_steps, max_steps, cache_bytes,
                                    single, patience, crawl_free,   gap};
        MarginReport report;
        MarginSight sight;
        sight.wanted = progress.has_value();
        std::string ended = "solved";
        const auto begun = std::chrono::steady_clock::now();
        Watch watch([&] {
            const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
            if (seconds >= max_seconds) {
                ended = "time";
                return true;
            }
            const nb::gil_scoped_acquire held;
            try {  // Ctrl-C is raised by whichever of the two is first
                if (progress) (*progress)(sight.violation.load(), sight.gap.load(), seconds);
                if (PyErr_CheckSignals() == 0) return false;
                nb::raise_python_error();
            } catch (const nb::python_error& error) {
                if (!error.matches(PyExc_KeyboardInterrupt)) throw;
            }
            ended = "interrupted";
            return true;
        });
        try {
            const nb::gil_scoped_release released;
            solve_margins(source_, batch, options, *engine_, watch, sight, report);
            if (report.stopped) ended = "steps";
            if (report.crawling) ended = "crawling";
        } catch (const Cancelled&) {
            // Callers that do not want the best so far raise KeyboardInterrupt again.
            if (ended != "time" && ended != "interrupted") throw;
        }
        report.steps.resize(static_cast<std::size_t>(batch.problems));
        return {report.steps, report.evaluations.load(), ended};
    }

    void product(const Out& coef, const Out& f, const std::optional<Groups>& left) const {
        const MarginBatch batch = at(coef, f);
        require(!left || left->shape(0) == f.shape(0), "margins: one flag for each row expected");
        run([&](Watch& watch) { margin_images(source_, batch, left ? left->data() : nullptr, watch); });
    }

    int traverse(visitproc visit, void* arg) const {
        Py_VISIT(basis_.ptr());
        return 0;
    }
    void clear() { basis_.reset(); }

   private:
    Index take_gram() {
        if (const Basis* const* basis = std::get_if<const Basis*>(&gram_)) {
            basis_ = nb::find(**basis);
            const mercer::Basis& native = (*basis)->native();
            source_ = &native;
            engine_ = &native.engine();
            return native.right().n;
        }
        const auto stored = [&](const auto& matrix, bool single) {
            require(matrix.shape(0) == matrix.shape(1), "margins: a square matrix expected");
            const Index n = static_cast<Index>(matrix.shape(0));
            source_ = StoredGram{{matrix.data(), single}, n};
            return n;
        };
        engine_ = &choose_engine();
        if (const Matrix64* matrix = std::get_if<Matrix64>(&gram_)) return stored(*matrix, false);
        return stored(std::get<Matrix32>(gram_), true);
    }

    // The batch, or one problem of it, at these coefficients.
    MarginBatch at(const Out& coef, const Out& f) const {
        require(static_cast<Index>(f.shape(0)) == rows_, "margins: one f for each row expected");
        require(static_cast<Index>(coef.shape(0)) == rows_ * batch_.copies,
                "margins: one coefficient for each variable expected");
        MarginBatch batch = batch_;
        batch.b = coef.data();
        batch.image = f.data();
        return batch;
    }

    Gram gram_;
    nb::object basis_;
    Indices cuts_;
    Uses uses_;
    GramSource source_;
    const Engine* engine_ = nullptr;
    MarginBatch batch_;
    Index rows_ = 0;  // of all problems
};

}  // namespace

void bind_smo(nb::module_& m) {
    nb::class_<Outcome>(m, "MarginOutcome", "How a solve ended.")
        .def_ro("steps", &Outcome::steps, "Of each problem.")
        .def_ro("evaluations", &Outcome::evaluations, "Entries of K that were made.")
        .def_ro("ended", &Outcome::ended, "solved, steps, crawling, time or interrupted.");
    nb::class_<Batch>(m, "MarginBatch", nb::type_slots(kCollected<Batch>),
                      "The rows of problems that share one Gram matrix, checked once; coef are the coefficients over "
                      "the variables of all problems, f is K coef on their rows.")
        .def(nb::init<Gram, Indices, Uses, Index>(), "gram"_a, nb::kw_only(), "cuts"_a, "uses"_a, "copies"_a)
        .def("solve", &Batch::solve, "coef"_a.noconvert(), "f"_a.noconvert(), nb::kw_only(), "linear"_a, "low"_a,
             "high"_a, "group"_a, "width"_a, "diagonal"_a, "has_f"_a, "single"_a, "tol"_a, "finish"_a, "finish_steps"_a,
             "max_steps"_a, "cache_bytes"_a, "patience"_a, "crawl_free"_a, "gap"_a, "max_seconds"_a,
             "progress"_a.none(), "Improve the coefficients, and f with them, in place.")
        .def("product", &Batch::product, "coef"_a.noconvert(), "f"_a.noconvert(), nb::kw_only(), "left"_a = nb::none(),
             "Write f in float64, but for the rows that are left as they are.");
}

}  // namespace mercer::bindings
