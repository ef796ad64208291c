#include <array>
#include <stdexcept>
#include <string>

#include "mercer/engine.hpp"

namespace mercer {

std::span<const Engine* const> engines() {
#if defined(__x86_64__)
    static const std::array<const Engine*, 3> table = {&baseline::engine(), &avx2::engine(), &avx512::engine()};
#else
    static const std::array<const Engine*, 1> table = {&baseline::engine()};
#endif
    return table;
}

const Engine& choose_engine(std::string_view name) {
    const Engine* best = nullptr;
    for (const Engine* row : engines()) {
        if (!name.empty() && row->name != name) continue;
        if (!row->runs_here()) continue;
        // No machine has run the AVX-512 row yet, so it waits to be asked for.
        if (name.empty() && row->name == "avx512") continue;
        best = row;
    }
    if (best == nullptr)
        throw std::invalid_argument("this machine cannot run instruction set '" + std::string(name) + "'");
    return *best;
}

}  // namespace mercer
