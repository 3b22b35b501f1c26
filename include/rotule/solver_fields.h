#pragma once
// What the settings of many solvers have in common, described once: when to stop, how exactly to factor. The settings themselves
// stay plain structs without a base, so that `PgsSettings{.tolerance = 1e-12}` names any of their members.
#include <rotule/fields.h>
#include <rotule/solver_traits.h>

#include <cstdint>
#include <string_view>

namespace rotule {

/// Whether a solver can be asked for a residual of nothing, which sweeps take as "until max_iterations".
enum class Tolerance : std::uint8_t { zero_allowed, above_zero };

/// The two fields of every iterative solver; `iterations` says what is counted.
template <class Settings, class Visitor>
constexpr void iteration_fields(Settings& s, Visitor&& visit, std::string_view iterations,
                                Tolerance least = Tolerance::zero_allowed) {
  visit(Field{"tolerance", "", "relative residual at which it stops", 0, 1, least == Tolerance::above_zero}, s.tolerance);
  visit(Field{"max_iterations", "", iterations, 1, 1e9}, s.max_iterations);
}

inline constexpr Field relaxation_field{"relaxation", "", "1 is Gauss-Seidel, towards 2 over-relaxes", 0, 2, true};
/// For solvers that find the relaxation themselves while they solve: 0, or "auto" in files.
inline constexpr double automatic_relaxation = 0;
inline constexpr Field storage_field{"storage", "", "how A is held"};
inline constexpr Field pivot_field{"pivot_tolerance", "", "a pivot this small against its diagonal marks a redundant row", 0,
                                   1e-3};
inline constexpr Field refinement_field{"max_refinements", "", "most steps of iterative refinement per solve", 0, 100};

}  // namespace rotule
