#include "solve/solve.h"

#include <rotule/error.h>

#include <string>

namespace rotule {

namespace {

/// Tries each solver in turn. Settings are declared alone here, so that no changed default reaches this file; a pointer to the
/// overload picks it without asking what such a type converts to.
template <class... Settings>
struct Solvers {
  template <class S>
  using Overload = void (*)(const ConstraintProblem&, const S&, Workspace&, std::span<double>, SolveReport&);

  static bool solve(const ConstraintProblem& problem, const SolverChoice& choice, Workspace& workspace, std::span<double> x,
                    SolveReport& report) {
    const auto attempt = [&]<class S>(const S* settings) {
      constexpr Overload<S> overload = &rotule::solve;
      if (settings != nullptr) overload(problem, *settings, workspace, x, report);
      return settings != nullptr;
    };
    return (attempt(choice.get_if<Settings>()) || ...);
  }
};

using All =
    Solvers<LdltSettings, DenseLdltSettings, ArticulatedBodySettings, SchurSettings, CgSettings, SorSettings, PgsSettings,
            JacobiSettings, BlockGaussSeidelSettings, ColouredGaussSeidelSettings, ModulusGaussSeidelSettings,
            ShockPropagationSettings, ChebyshevSettings, NncgSettings, AndersonSettings, ApgdSettings, SpgSettings,
            ProxNewtonSettings, HomotopySettings, AdmmSettings, InteriorPointSettings, PgsSmSettings, LemkeSettings,
            BlockPivotingSettings, DantzigSettings, SplitPivotingSettings, HybridSettings, TwoLevelSettings, AutoSettings>;

}  // namespace

void solve(const ConstraintProblem& problem, const SolverChoice& choice, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  if (!All::solve(problem, choice, workspace, x, report))
    throw Error("solver " + std::string(choice.name()), "is not one of this library's");
  if (!choice.holds<AutoSettings>()) report.solver = choice.name();  // auto names whom it chose
}

}  // namespace rotule
