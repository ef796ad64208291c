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
using Out = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix64 = In<double, nb::ndim<2>>;
using Matrix32 = In<float, nb::ndim<2>>;
using Gram = std::variant<const Basis*, Matrix64, Matrix32>;

// The batch and what keeps its memory alive; every index is checked, because it would read outside of memory.
struct Arguments {
    GramSource source;
    const Engine* engine = nullptr;
    MarginBatch batch;
};

Arguments arguments(const Gram& gram, const Indices& cuts, const In<std::int64_t, nb::ndim<2>>& uses, Index copies,
                    const Out& b, const Out& image) {
    Arguments made;
    Index n = 0;
    if (const Basis* const* basis = std::get_if<const Basis*>(&gram)) {
        const mercer::Basis& native = (*basis)->native();
        made.source = &native;
        made.engine = &native.engine();
        n = native.right().n;
    } else {
        const auto stored = [&](const auto& matrix, bool single) {
            require(matrix.shape(0) == matrix.shape(1), "margins: a square matrix expected");
            n = static_cast<Index>(matrix.shape(0));
            made.source = StoredGram{{matrix.data(), single}, n};
        };
        if (const Matrix64* matrix = std::get_if<Matrix64>(&gram)) stored(*matrix, false);
        else stored(std::get<Matrix32>(gram), true);
        made.engine = &choose_engine();
    }
    const Index ranges = static_cast<Index>(cuts.shape(0)) - 1;
    require(ranges >= 1 && cuts(0) == 0 && cuts(static_cast<std::size_t>(ranges)) == n,
            "margins: cuts run from 0 to n");
    for (Index r = 0; r < ranges; ++r)
        require(cuts(static_cast<std::size_t>(r)) < cuts(static_cast<std::size_t>(r) + 1), "margins: cuts rise");
    require(uses.shape(0) >= 1 && (uses.shape(1) == 1 || uses.shape(1) == 2), "margins: one or two ranges a problem");
    require(copies == 1 || copies == 2, "margins: one or two copies");
    Index rows = 0;
    for (std::size_t at = 0; at < uses.size(); ++at) {
        const Index range = uses.data()[at];
        require(range >= 0 && range < ranges, "margins: there is no such range");
        rows += cuts(static_cast<std::size_t>(range) + 1) - cuts(static_cast<std::size_t>(range));
    }
    require(static_cast<Index>(image.shape(0)) == rows, "margins: one image for each row expected");
    require(static_cast<Index>(b.shape(0)) == rows * copies, "margins: one coefficient for each variable expected");
    MarginBatch& batch = made.batch;
    batch.cuts = {cuts.data(), cuts.shape(0)};
    batch.uses = uses.data();
    batch.problems = static_cast<Index>(uses.shape(0));
    batch.uses_each = static_cast<Index>(uses.shape(1));
    batch.copies = copies;
    batch.b = b.data();
    batch.image = image.data();
    return made;
}

// Returns (steps, violations, evaluations, how it ended). b and image are changed in place.
nb::tuple solve(const Gram& gram, const Indices& cuts, const In<std::int64_t, nb::ndim<2>>& uses, Index copies,
                const Vector& linear, const Vector& low, const Vector& high, const In<std::uint8_t, nb::ndim<1>>& group,
                double width, const Vector& diagonal, const Out& b, const Out& image, bool has_image, bool single,
                double tol, double finish, Index finish_steps, Index max_steps, Index cache_bytes, double patience,
                Index crawl_free, double max_seconds, const std::optional<nb::callable>& progress) {
    Arguments made = arguments(gram, cuts, uses, copies, b, image);
    MarginBatch& batch = made.batch;
    for (const Vector* numbers : {&linear, &low, &high})
        require(numbers->shape(0) == b.shape(0), "margins: arrays over variables have one length");
    require(group.shape(0) == b.shape(0), "margins: arrays over variables have one length");
    require(static_cast<Index>(diagonal.shape(0)) == batch.cuts.back(), "margins: the diagonal has n entries");
    for (std::size_t v = 0; v < group.shape(0); ++v) require(group(v) <= 1, "margins: there are two groups");
    batch.width = width;
    batch.linear = linear.data();
    batch.low = low.data();
    batch.high = high.data();
    batch.group = group.data();
    batch.diagonal = diagonal.data();
    batch.has_image = has_image;
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
        const MarginOptions options{tol, finish, finish_steps, max_steps, cache_bytes, single, patience, crawl_free};
        solve_margins(made.source, batch, options, *made.engine, watch, sight, report);
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
    return nb::make_tuple(report.steps, report.evaluations.load(), ended);
}

void images(const Gram& gram, const Indices& cuts, const In<std::int64_t, nb::ndim<2>>& uses, Index copies,
            const Out& b, const Out& image, const std::optional<In<std::uint8_t, nb::ndim<1>>>& left) {
    const Arguments made = arguments(gram, cuts, uses, copies, b, image);
    require(!left || left->shape(0) == image.shape(0), "margins: one flag for each row expected");
    run([&](Watch& watch) { margin_images(made.source, made.batch, left ? left->data() : nullptr, watch); });
}

}  // namespace

void bind_smo(nb::module_& m) {
    m.def("solve_margins", &solve, "gram"_a, "cuts"_a, "uses"_a, "copies"_a, "linear"_a, "low"_a, "high"_a, "group"_a,
          "width"_a, "diagonal"_a, "b"_a, "image"_a, "has_image"_a, "single"_a, "tol"_a, "finish"_a, "finish_steps"_a,
          "max_steps"_a, "cache_bytes"_a, "patience"_a, "crawl_free"_a, "max_seconds"_a, "progress"_a.none(),
          "Improve b (and its image K b) in place; returns steps, kernel evaluations, and how it ended.");
    m.def("margin_images", &images, "gram"_a, "cuts"_a, "uses"_a, "copies"_a, "b"_a, "image"_a, "left"_a = nb::none(),
          "Fill image with K b on the rows of each problem in float64, but for those that are left as they are.");
}

}  // namespace mercer::bindings
