#pragma once
// Every integrator, formulation, solver and correction that a recipe can name, so that a test of "all of them" stays one.
#include <rotule/recipe.h>

#include <string>
#include <utility>
#include <vector>

#include "model/solver_list.h"

namespace rotule::testing {

/// Every alternative of a settings variant, with its defaults.
template <class Variant, std::size_t... i>
std::vector<Variant> alternatives(std::index_sequence<i...>) {
  return {Variant(std::in_place_index<i>)...};
}
template <class Variant>
std::vector<Variant> alternatives() {
  return alternatives<Variant>(std::make_index_sequence<std::variant_size_v<Variant>>());
}

/// The integrators that need nothing of a mechanism but its accelerations. Those with error control or joints of their own are
/// apart: they have tests of their own.
template <>
inline std::vector<IntegratorSettings> alternatives<IntegratorSettings>() {
  std::vector<IntegratorSettings> out =
      alternatives<IntegratorSettings>(std::make_index_sequence<std::variant_size_v<IntegratorSettings>>());
  std::erase_if(out, [](const IntegratorSettings& settings) {
    return std::visit([](const auto& s) { return s.traits.adaptive || s.traits.constrained; }, settings);
  });
  return out;
}
/// All of them.
inline std::vector<IntegratorSettings> every_integrator() {
  return alternatives<IntegratorSettings>(std::make_index_sequence<std::variant_size_v<IntegratorSettings>>());
}

/// Every solver with its defaults; presets are no solvers of their own.
inline std::vector<SolverChoice> all_solvers() {
  std::vector<SolverChoice> out;
  for (const NamedSolver& solver : solver_list())
    if (!solver.preset()) out.push_back(solver.settings);
  return out;
}

/// A recipe as one line, to say which one a test speaks of.
inline std::string describe(const Recipe& recipe) {
  return std::string(name_of(recipe.integrator)) + " + " + std::string(name_of(recipe.formulation)) + " + " +
         std::string(name_of(recipe.correction)) + " + " + std::string(name_of(recipe.solver));
}

/// All combinations that make sense, each at step dt. Penalty springs are softened, so that explicit methods stand them.
inline std::vector<Recipe> sensible_recipes(double dt, const std::vector<SolverChoice>& solvers) {
  std::vector<Recipe> out;
  for (const auto& integrator : every_integrator())
    for (auto formulation : alternatives<FormulationSettings>())
      for (const auto& correction : alternatives<CorrectionSettings>())
        for (const auto& solver : solvers) {
          if (auto* penalty = std::get_if<PenaltySettings>(&formulation)) *penalty = {.stiffness = 10, .damping = 0.01};
          Recipe recipe{
              .dt = dt, .integrator = integrator, .formulation = formulation, .correction = correction, .solver = solver};
          try {
            check_combination(recipe);
          } catch (const std::exception&) {
            continue;
          }
          out.push_back(recipe);
        }
  return out;
}

}  // namespace rotule::testing
