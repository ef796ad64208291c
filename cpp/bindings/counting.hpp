// The counter of substrings as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_counting(nanobind::module_& m);

}  // namespace mercer::bindings
