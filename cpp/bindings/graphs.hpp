// Graphs as Python sees them.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_graphs(nanobind::module_& m);

}  // namespace mercer::bindings
