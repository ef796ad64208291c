// How much memory a new allocation may take: of the machine, of the control groups that the process is in, and below
// the limits of the process itself.
#pragma once

#include <limits>
#include <string>

#include "mercer/view.hpp"

namespace mercer {

inline constexpr Index kNoLimit = std::numeric_limits<Index>::max();

// Bytes: the least of what follows.
Index available_memory();

// What the machine still has. Files are looked for below `root`, where tests have made some.
Index machine_available(const std::string& root = "");

// What the control groups (version 1 or 2) still allow, those of the process and all above them. Pages of files that
// the system gives up without being asked count as free.
Index group_available(const std::string& root = "");

// What RLIMIT_AS and RLIMIT_DATA still allow.
Index process_available();

}  // namespace mercer
