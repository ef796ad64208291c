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

// A batch, and the arrays that it looks at. What would read outside of memory is checked here, once; the coefficients
// b and their image K b come with each call.
class Batch {
   public:
    Batch(Gram gram, Indices cuts, Uses uses, Index copies, Vector linear, Vector low, Vector high, Groups group,
          double width, Vector diagonal)
        : gram_(std::move(gram)),
          cuts_(std::move(cuts)),
          uses_(std::move(uses)),
          linear_(std::move(linear)),
          low_(std::move(low)),
          high_(std::move(high)),
          group_(std::move(group)),
          diagonal_(std::move(diagonal)) {
        const Index n = take_gram();
        const Index ranges = static_cast<Index>(cuts_.shape(0)) - 1;
        require(ranges >= 1 && cuts_(0) == 0 && cuts_(static_cast<std::size_t>(ranges)) == n,
                "margins: cuts run from 0 to n");
        for (std::size_t r = 0; r + 1 < cuts_.shape(0); ++r) require(cuts_(r) < cuts_(r + 1), "margins: cuts rise");
        require(uses_.shape(0) >= 1 && (uses_.shape(1) == 1 || uses_.shape(1) == 2),
                "margins: one or two ranges a problem");
        require(copies == 1 || copies == 2, "margins: one or two copies");
        for (std::size_t p = 0; p < uses_.shape(0); ++p) {
            starts_.push_back(starts_.back());
            for (std::size_t at = 0; at < uses_.shape(1); ++at) {
                const Index range = uses_(p, at);
                require(range >= 0 && range < ranges, "margins: there is no such range");
                const std::size_t r = static_cast<std::size_t>(range);
                starts_.back() += cuts_(r + 1) - cuts_(r);
            }
        }
        const std::size_t variables = static_cast<std::size_t>(starts_.back() * copies);
        for (const std::size_t length : {linear_.shape(0), low_.shape(0), high_.shape(0), group_.shape(0)})
            require(length == variables, "margins: one number for each variable expected");
        for (std::size_t v = 0; v < variables; ++v) require(group_(v) <= 1, "margins: there are two groups");
        require(static_cast<Index>(diagonal_.shape(0)) == n, "margins: the diagonal has n entries");
        batch_.cuts = {cuts_.data(), cuts_.shape(0)};
        batch_.uses = uses_.data();
        batch_.problems = static_cast<Index>(uses_.shape(0));
        batch_.uses_each = static_cast<Index>(uses_.shape(1));
        batch_.copies = copies;
        batch_.width = width;
        batch_.linear = linear_.data();
        batch_.low = low_.data();
        batch_.high = high_.data();
        batch_.group = group_.data();
        batch_.diagonal = diagonal_.data();
    }

    Outcome solve(const Out& b, const Out& image, bool has_image, bool single, double tol, double finish,
                  Index finish_steps, Index max_steps, Index cache_bytes, double patience, Index crawl_free,
                  double max_seconds, const std::optional<nb::callable>& progress) const {
        const MarginBatch batch = at(b, image, has_image);
        const MarginOptions options{tol, finish, finish_steps, max_steps, cache_bytes, single, patience, crawl_free};
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
            if (progress) (*progress)(sight.violation.load(), sight.gap.load(), seconds);
            if (PyErr_CheckSignals() == 0) return false;
            ended = "interrupted";
            return true;
        });
        try {
            const nb::gil_scoped_release released;
            solve_margins(source_, batch, options, *engine_, watch, sight, report);
            if (report.stopped) ended = "steps";
            if (report.crawling) ended = "crawling";
        } catch (const Cancelled&) {
            // The signal's exception is raised again by who does not want the best so far.
            if (PyErr_Occurred() != nullptr) {
                nb::python_error error;
                if (!error.matches(PyExc_KeyboardInterrupt)) throw error;
            } else if (ended != "time") {
                throw;
            }
        }
        report.steps.resize(static_cast<std::size_t>(batch.problems));
        return {report.steps, report.evaluations.load(), ended};
    }

    void images(const Out& b, const Out& image, const std::optional<Groups>& left, std::optional<Index> problem) const {
        const MarginBatch batch = at(b, image, false, problem);
        require(!left || left->shape(0) == image.shape(0), "margins: one flag for each row expected");
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
    MarginBatch at(const Out& b, const Out& image, bool has_image, std::optional<Index> problem = {}) const {
        MarginBatch batch = batch_;
        Index rows = starts_.back();
        if (problem) {
            require(*problem >= 0 && *problem < batch.problems, "margins: there is no such problem");
            const std::size_t p = static_cast<std::size_t>(*problem);
            rows = starts_[p + 1] - starts_[p];
            batch.uses += *problem * batch.uses_each;
            batch.problems = 1;
        }
        require(static_cast<Index>(image.shape(0)) == rows, "margins: one image for each row expected");
        require(static_cast<Index>(b.shape(0)) == rows * batch.copies,
                "margins: one coefficient for each variable expected");
        batch.b = b.data();
        batch.image = image.data();
        batch.has_image = has_image;
        return batch;
    }

    Gram gram_;
    nb::object basis_;
    Indices cuts_;
    Uses uses_;
    Vector linear_, low_, high_;
    Groups group_;
    Vector diagonal_;
    GramSource source_;
    const Engine* engine_ = nullptr;
    MarginBatch batch_;
    std::vector<Index> starts_{0};  // (problems + 1) of their rows
};

}  // namespace

void bind_smo(nb::module_& m) {
    nb::class_<Outcome>(m, "MarginOutcome", "How a solve ended.")
        .def_ro("steps", &Outcome::steps, "Of each problem.")
        .def_ro("evaluations", &Outcome::evaluations, "Entries of K that were made.")
        .def_ro("ended", &Outcome::ended, "solved, steps, crawling, time or interrupted.");
    nb::class_<Batch>(m, "MarginBatch", nb::type_slots(kCollected<Batch>),
                      "Problems of support vector machines over one Gram matrix, checked once. In what is asked of "
                      "them, b are the coefficients and image is K b on the rows of each problem.")
        .def(nb::init<Gram, Indices, Uses, Index, Vector, Vector, Vector, Groups, double, Vector>(), "gram"_a,
             nb::kw_only(), "cuts"_a, "uses"_a, "copies"_a, "linear"_a, "low"_a, "high"_a, "group"_a, "width"_a,
             "diagonal"_a)
        .def("solve", &Batch::solve, "b"_a.noconvert(), "image"_a.noconvert(), nb::kw_only(), "has_image"_a, "single"_a,
             "tol"_a, "finish"_a, "finish_steps"_a, "max_steps"_a, "cache_bytes"_a, "patience"_a, "crawl_free"_a,
             "max_seconds"_a, "progress"_a.none(), "Improve b and its image in place.")
        .def(
            "images", &Batch::images, "b"_a.noconvert(), "image"_a.noconvert(), nb::kw_only(), "left"_a = nb::none(),
            "problem"_a = nb::none(),
            "Fill the image in float64, but for the rows that are left as they are; of one problem where it is named.");
}

}  // namespace mercer::bindings
