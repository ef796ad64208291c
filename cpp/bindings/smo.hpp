// The solver of the support vector machines as Python sees it.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::bindings {

void bind_smo(nanobind::module_& m);

}  // namespace mercer::bindings
