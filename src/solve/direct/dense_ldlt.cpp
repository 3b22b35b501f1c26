// Dense LDL^T of A = J M^-1 J^T + C, formed column by column from the operator alone: the plain answer that the other solvers are
// compared with. Cubic time, quadratic memory. Redundant rows are set aside and listed; refinement as in ldlt.cpp, but always
// with a residual in the report.
#include "linalg/dense_ldlt.h"

#include <rotule/error.h>
#include <rotule/solvers/dense_ldlt.h>

#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct DenseSystem {
  std::vector<double> matrix, diagonal, work, unit, column, velocities;
  RefinementScratch refinement;
};

}  // namespace

void solve(const ConstraintProblem& problem, const DenseLdltSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& system = workspace.get<DenseSystem>();
  const int n = problem.rows();
  clear(report, problem.rows());
  system.matrix.resize(static_cast<std::size_t>(n) * n);
  system.diagonal.resize(n);
  system.work.resize(n);
  system.unit.assign(n, 0.0);
  system.column.resize(n);
  system.velocities.resize(6 * problem.bodies());

  // A e_i, which is row i too.
  for (int i = 0; i < n; ++i) {
    system.unit[i] = 1;
    multiply(problem, system.unit, system.velocities, system.column);
    system.unit[i] = 0;
    std::copy(system.column.begin(), system.column.end(), system.matrix.begin() + static_cast<std::ptrdiff_t>(i) * n);
    system.diagonal[i] = system.column[i];
  }

  factor_dense_ldlt(system.matrix.data(), n, settings.pivot_tolerance, system.diagonal.data(), system.work.data(),
                    [&](int row) { report.redundant_rows.push_back(row); });
  std::copy_n(problem.b.data(), x.size(), x.begin());
  solve_dense_ldlt(system.matrix.data(), n, x.data());
  if (!all_finite(x)) throw Error("solver dense_ldlt", "the answer is not finite: the motion has blown up; take a smaller step");
  refine(
      problem, settings.max_refinements, [&](std::span<double> r) { solve_dense_ldlt(system.matrix.data(), n, r.data()); }, x,
      system.refinement, report);
}

}  // namespace rotule
