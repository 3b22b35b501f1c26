// Accelerated modulus-based Gauss-Seidel. With s such that x = P(s) and w = Omega (x - s), P being the projection on the row's
// bounds, A x - b = w reads (Omega + A) s = (Omega - A) m(s) + 2 b, where m(s) = 2 P(s) - s is |s| for the plain complementarity
// problem (Bai 2010, "Modulus-based matrix splitting iteration methods for linear complementarity problems"; accelerated by
// using each new x at once: Zheng, Yin 2013). Row by row, with the diagonal d split by the relaxation alpha and Omega = omega d:
//   s <- ((1/alpha - 1) d s + (Omega - d) m(s) + 2 (d x - w)) / (d/alpha + Omega),   x = P(s).
// The same with disks in the place of |s| for cones, whose rows share one d; limits of friction follow the normal's x. With alpha
// = omega = 1 it is pgs. Converges for H+-matrices with Omega >= d; for contact in general as far as pgs does.
#include <rotule/solvers/modulus_gauss_seidel.h>

#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/row_stores.h"
#include "solve/sweep/row_units.h"

namespace rotule {

namespace {

struct ModulusGaussSeidel {
  CompressedRows sparse;
  BodyRows bodies;
  std::vector<int> touching;
  std::vector<RowUnit> units;
  std::vector<double> s;
  BestAnswer answer;
};

template <class Rows>
double sweep(const ConstraintProblem& problem, const ModulusGaussSeidelSettings& settings, Rows& rows,
             std::span<const RowUnit> units, std::span<double> s, std::span<double> x) {
  double squares = 0, sum = 0;
  for (const RowUnit& unit : units) {
    const double d = unit.diagonal, Omega = settings.omega * d, split = d / settings.relaxation;
    if (!(d > 0)) continue;
    double w[6] = {}, before[6];
    for (int k = 0; k < unit.count; ++k) w[k] = rows.row(unit.block, unit.first_row + k, x);
    add_residual(problem, unit, x, w, squares, sum);
    for (int k = 0; k < unit.count; ++k) {
      double& s_k = s[unit.first_row + k];
      double& x_k = x[unit.first_row + k];
      before[k] = x_k;
      s_k = ((split - d) * s_k + (Omega - d) * (2 * x_k - s_k) + 2 * (d * x_k - w[k])) / (split + Omega);
      x_k = s_k;
    }
    project(problem, unit, x);
    for (int k = 0; k < unit.count; ++k) rows.update(unit.block, unit.first_row + k, x[unit.first_row + k] - before[k]);
  }
  return std::sqrt(squares);
}

template <class Rows>
void iterate(const ConstraintProblem& problem, const ModulusGaussSeidelSettings& settings, Rows& rows, ModulusGaussSeidel& work,
             Iteration& loop, std::span<double> x, SolveReport& report) {
  constexpr int sweeps_per_start = 100;
  rows.assemble(problem);
  list_units(
      problem, [&](int i, double* D) { rows.diagonal(i, D); }, work.units);
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  for (const RowUnit& unit : work.units) project(problem, unit, x);
  if (loop.solved(x)) return;
  // s = x - w / Omega.
  work.s.assign(x.begin(), x.end());
  rows.start(x);
  for (const RowUnit& unit : work.units)
    for (int k = unit.first_row; k < unit.first_row + unit.count; ++k)
      if (unit.diagonal > 0) work.s[k] -= rows.row(unit.block, k, x) / (settings.omega * unit.diagonal);
  while (loop.goes_on()) {
    if (report.iterations % sweeps_per_start == 0) rows.start(x);
    const double estimate = sweep(problem, settings, rows, work.units, work.s, x) / loop.scale();
    ++report.iterations;
    if (loop.ends(estimate, x)) break;
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const ModulusGaussSeidelSettings& settings, Workspace& workspace,
           std::span<double> x, SolveReport& report) {
  auto& work = workspace.get<ModulusGaussSeidel>();
  Iteration loop(problem, settings, work.answer, report);
  const bool sparse = problem.has_matrix() || std::holds_alternative<SparseStorage>(settings.storage);
  if (sparse || (!std::holds_alternative<MatrixFreeStorage>(settings.storage) && !matrix_free_is_cheaper(problem, work.touching)))
    iterate(problem, settings, work.sparse, work, loop, x, report);
  else
    iterate(problem, settings, work.bodies, work, loop, x, report);
  loop.finish(x);
}

}  // namespace rotule
