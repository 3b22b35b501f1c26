#pragma once
// The one entry to all solvers: A x = b over the bilateral rows of a problem (problem.h), by the method of the settings. Settings
// are declared alone here: who calls one solver includes <rotule/solvers/NAME.h>.
#include <rotule/problem.h>
#include <rotule/solver_choice.h>

#include <span>

#include "base/workspace.h"

namespace rotule {

struct LdltSettings;
struct DenseLdltSettings;
struct ArticulatedBodySettings;
struct SchurSettings;
struct CgSettings;
struct SorSettings;
struct PgsSettings;
struct JacobiSettings;
struct BlockGaussSeidelSettings;
struct ColouredGaussSeidelSettings;
struct ModulusGaussSeidelSettings;
struct ShockPropagationSettings;
struct ChebyshevSettings;
struct NncgSettings;
struct AndersonSettings;
struct ApgdSettings;
struct SpgSettings;
struct ProxNewtonSettings;
struct HomotopySettings;
struct AdmmSettings;
struct InteriorPointSettings;
struct PgsSmSettings;
struct LemkeSettings;
struct BlockPivotingSettings;
struct DantzigSettings;
struct SplitPivotingSettings;
struct HybridSettings;
struct TwoLevelSettings;
struct AutoSettings;

// One overload per solver, one file each. `x` is written; problem.x0 is where iterations start. `report` is reused from call to
// call, so that no solve allocates after the first of its structure. Factors are kept in the workspace: their symbolic part is
// reused for as long as the blocks' structure (rows and bodies) stays the same.
void solve(const ConstraintProblem&, const LdltSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const DenseLdltSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ArticulatedBodySettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const SchurSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const CgSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const SorSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const PgsSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const JacobiSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const BlockGaussSeidelSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ColouredGaussSeidelSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ModulusGaussSeidelSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ShockPropagationSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ChebyshevSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const NncgSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const AndersonSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ApgdSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const SpgSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ProxNewtonSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const HomotopySettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const AdmmSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const InteriorPointSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const PgsSmSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const LemkeSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const BlockPivotingSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const DantzigSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const SplitPivotingSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const HybridSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const TwoLevelSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const AutoSettings&, Workspace&, std::span<double> x, SolveReport& report);

/// The one that was chosen; the report names who solved it.
void solve(const ConstraintProblem&, const SolverChoice&, Workspace&, std::span<double> x, SolveReport& report);

}  // namespace rotule
