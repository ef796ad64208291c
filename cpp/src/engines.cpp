#include <array>
#include <cstdlib>
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
    static const char* const asked = std::getenv("MERCER_INSTRUCTION_SET");
    if (name.empty() && asked != nullptr) name = asked;
    const Engine* best = nullptr;
    std::string choice;
    for (const Engine* row : engines()) {
        if (!row->runs_here()) continue;
        choice += (choice.empty() ? "" : ", ") + std::string(row->name);
        if (name.empty() || row->name == name) best = row;
    }
    if (best == nullptr)
        throw std::invalid_argument("this machine cannot run instruction set '" + std::string(name) + "'; it runs " +
                                    choice + ". MERCER_INSTRUCTION_SET names one of them, or is not set");
    return *best;
}

}  // namespace mercer
