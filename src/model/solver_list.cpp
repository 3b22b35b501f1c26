#include "model/solver_list.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/solvers.h>

#include "base/text.h"

namespace rotule {

namespace {

NamedSolver of(const SolverChoice& settings) { return {settings.name(), settings.summary(), settings}; }

}  // namespace

SolverChoice::SolverChoice() : SolverChoice(LdltSettings{}) {}

std::span<const NamedSolver> solver_list() {
  static const NamedSolver all[] = {
      of(LdltSettings{}),
      of(DenseLdltSettings{}),
      of(ArticulatedBodySettings{}),
      of(SchurSettings{}),
      of(CgSettings{}),
      of(SorSettings{}),
      {"gauss_seidel", "block Gauss-Seidel, matrix-free: sor at relaxation 1", gauss_seidel},
      of(PgsSettings{}),
      {"psor", "projected successive over-relaxation by rows: pgs at relaxation 1.3", psor},
      of(JacobiSettings{}),
      of(BlockGaussSeidelSettings{}),
      of(ColouredGaussSeidelSettings{}),
      of(ModulusGaussSeidelSettings{}),
      of(ShockPropagationSettings{}),
      of(ChebyshevSettings{}),
      of(NncgSettings{}),
      of(AndersonSettings{}),
      of(ApgdSettings{}),
      of(SpgSettings{}),
      of(ProxNewtonSettings{}),
      of(HomotopySettings{}),
      of(AdmmSettings{}),
      of(InteriorPointSettings{}),
      of(PgsSmSettings{}),
      of(LemkeSettings{}),
      of(BlockPivotingSettings{}),
      of(DantzigSettings{}),
      of(SplitPivotingSettings{}),
      of(HybridSettings{}),
      of(TwoLevelSettings{}),
      of(AutoSettings{}),
  };
  return all;
}

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const NamedSolver& solver : solver_list()) {
    names.emplace_back(solver.name);
    if (!solver.alias().empty()) names.emplace_back(solver.alias());
  }
  return names;
}

const NamedSolver& named_solver(std::string_view name, const Place& place) {
  for (const NamedSolver& solver : solver_list())
    if (name == solver.name || (!name.empty() && name == solver.alias())) return solver;
  throw Error(place.str(), fmt::format("unknown name {}; {}", in_quotes(name), suggestion(name, solver_names())));
}

SolverChoice solver_named(std::string_view name) { return named_solver(name, Place("solver")).settings; }

SolverChoice automatic_solver(double tolerance, int max_iterations, int step_rows) {
  AutoSettings settings{.tolerance = tolerance, .step_rows = step_rows};
  if (max_iterations > 0) settings.max_iterations = max_iterations;
  return settings;
}

}  // namespace rotule
