#include "counting.hpp"

#include "handles.hpp"
#include "mercer/counting.hpp"

namespace mercer::bindings {

namespace {

using namespace nb::literals;

using Offsets = In<std::int64_t, nb::ndim<1>>;
using Codes = In<std::int32_t, nb::ndim<1>>;
using WindowTuple = std::tuple<std::vector<Index>, Index, double, Index, Index>;
using State = std::tuple<std::vector<WindowTuple>, Index, int, std::vector<std::vector<std::uint64_t>>>;

mercer::Letters letters_of(const Offsets& offsets, const Codes& codes) {
    require(offsets.shape(0) >= 1, "counting: n + 1 offsets expected");
    const Index n = static_cast<Index>(offsets.shape(0)) - 1;
    const Index* at = offsets.data();
    require(at[0] == 0 && at[n] == static_cast<Index>(codes.shape(0)) && std::is_sorted(at, at + n + 1),
            "counting: offsets increase from 0 to the number of letters");
    return {at, codes.data(), n};
}

std::vector<mercer::Window> windows_of(const std::vector<WindowTuple>& rows) {
    std::vector<mercer::Window> windows;
    for (const auto& [places, span, weight, shifts, mismatches] : rows) {
        require(!places.empty() && places.front() >= 0 && places.back() < span &&
                    std::is_sorted(places.begin(), places.end()),
                "counting: a window reads places inside its span");
        windows.push_back({places, span, weight, shifts, mismatches});
    }
    return windows;
}

// The memory of a vector as an array, without a copy.
template <class T>
nb::ndarray<nb::numpy, T> given(std::vector<T>&& values) {
    auto kept = std::make_unique<std::vector<T>>(std::move(values));
    T* data = kept->data();
    const std::size_t size = kept->size();
    return nb::ndarray<nb::numpy, T>(
        data, {size}, nb::capsule(kept.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); }));
}

nb::tuple count(const mercer::Counter& counter, const Offsets& offsets, const Codes& codes) {
    const mercer::Letters strings = letters_of(offsets, codes);
    mercer::Counts counts;
    run([&](mercer::Watch& watch) { counts = counter.count(strings, watch); });
    return nb::make_tuple(given(std::move(counts.offsets)), given(std::move(counts.columns)),
                          given(std::move(counts.values)));
}

State state_of(const mercer::Counter& counter) {
    std::vector<WindowTuple> windows;
    for (const mercer::Window& of : counter.windows())
        windows.emplace_back(of.places, of.span, of.weight, of.shifts, of.mismatches);
    return {windows, counter.letters(), counter.position_bits(), counter.learnt()};
}

}  // namespace

void bind_counting(nb::module_& m) {
    nb::class_<mercer::Counter>(m, "Counter", "Counts the windows of strings that a basis has.")
        .def(
            "__init__",
            [](mercer::Counter* self, const std::vector<WindowTuple>& windows, Index letters) {
                new (self) mercer::Counter(windows_of(windows), letters);
            },
            "windows"_a, "letters"_a, "Windows are places, span, weight, shifts (-1: none) and mismatches.")
        .def(
            "learn",
            [](mercer::Counter& self, const Offsets& offsets, const Codes& codes) {
                const mercer::Letters basis = letters_of(offsets, codes);
                run([&](mercer::Watch& watch) { self.learn(basis, watch); });
            },
            "offsets"_a, "codes"_a, "Give a column to every key of the basis.")
        .def("count", &count, "offsets"_a, "codes"_a,
             nb::sig("def count(self, offsets: NDArray[numpy.int64], codes: NDArray[numpy.int32]) -> "
                     "tuple[NDArray[numpy.int64], NDArray[numpy.int32], NDArray[numpy.float64]]"),
             "Sparse rows of weighted counts: offsets, columns, values. The last column is the norm of what is new.")
        .def_prop_ro("columns", &mercer::Counter::columns)
        .def("__getstate__", &state_of)
        .def("__setstate__", [](mercer::Counter& self, const State& state) {
            const auto& [windows, letters, position_bits, keys] = state;
            new (&self) mercer::Counter(windows_of(windows), letters);
            self.restore(position_bits, keys);
        });
}

}  // namespace mercer::bindings
