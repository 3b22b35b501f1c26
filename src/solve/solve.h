#pragma once
// The one entry to all solvers: A x = b over the bilateral rows of a problem (problem.h), by the method of the settings.
#include <rotule/problem.h>
#include <rotule/solvers.h>

#include <span>

#include "base/workspace.h"

namespace rotule {

// One overload per solver, one file each. `x` is written; problem.x0 is where iterations start. `report` is reused from call to
// call, so that no solve allocates after the first of its structure. Factors are kept in the workspace: their symbolic part is
// reused for as long as the blocks' structure (rows and bodies) stays the same.
void solve(const ConstraintProblem&, const LdltSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const DenseLdltSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const ArticulatedBodySettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const SchurSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const CgSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const SorSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const GaussSeidelSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const PgsSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const PsorSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const BlockGaussSeidelSettings&, Workspace&, std::span<double> x, SolveReport& report);
void solve(const ConstraintProblem&, const NncgSettings&, Workspace&, std::span<double> x, SolveReport& report);

/// Visits the choice.
void solve(const ConstraintProblem&, const SolverSettings&, Workspace&, std::span<double> x, SolveReport& report);

}  // namespace rotule
