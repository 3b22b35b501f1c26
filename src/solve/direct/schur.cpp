// Loop closures over a spanning tree (A10). With the tree's rows t solved by the articulated-body recursion, the closure rows c
// see
//
//   K x_c = b_c - J_c u_0,   K = J_c U(J_c^T) + C_c,
//
// where u_0 is the tree's motion without closures and U(p) its motion under impulses p: the Schur complement
// A_cc - A_ct A_tt^-1 A_tc without its cancellation. Linear in the tree, cubic in the closures (or as many tree solves as the
// conjugate gradients need). Closure rows whose pivot vanishes are redundant: set aside and listed.
// Blocks over more than two bodies are closures too. Fails where the articulated-body recursion does: singular inverse masses
// that are not zero.
#include <rotule/error.h>
#include <rotule/solvers/schur.h>

#include <cmath>

#include "linalg/dense_ldlt.h"
#include "solve/direct/articulated_body.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

struct SchurSystem {
  ArticulatedBody tree;
  std::vector<int> rows;  // of the closures
  std::vector<int> block_of;
  std::vector<double> K, scale, work;            // dense complement, its factor
  std::vector<double> x_c, r_c, d_c, z_c, Kd_c;  // of closure length
  std::vector<double> impulse, velocities, no_b, tree_x, answer;
  RefinementScratch refinement;

  void gather_impulse(const ConstraintProblem& problem, std::span<const double> closure_x);
  double closure_velocity(const ConstraintProblem& problem, int i) const {
    return row_velocity(problem, problem.blocks[block_of[i]], rows[i], velocities);
  }
  void multiply_complement(const ConstraintProblem& problem, std::span<const double> v, std::span<double> out);
  void form_complement(const ConstraintProblem& problem);
  int conjugate_gradients(const ConstraintProblem& problem, double tolerance);
  int solve_all(const ConstraintProblem& problem, const SchurSettings& settings, std::span<const double> b, std::span<double> x);
};

/// impulse = J_c^T x_c.
void SchurSystem::gather_impulse(const ConstraintProblem& problem, std::span<const double> closure_x) {
  impulse.assign(6 * problem.bodies(), 0.0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (closure_x[i] == 0) continue;
    const ConstraintBlock& block = problem.blocks[block_of[i]];
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      if (!tree.movable(body)) return;
      for (int c = 0; c < 6; ++c) impulse[6 * body + c] += J(first + rows[i] - block.first_row, c) * closure_x[i];
    });
  }
}

void SchurSystem::multiply_complement(const ConstraintProblem& problem, std::span<const double> v, std::span<double> out) {
  gather_impulse(problem, v);
  tree.solve(problem, no_b, impulse, tree_x, velocities);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out[i] = closure_velocity(problem, static_cast<int>(i)) + problem.C[rows[i]] * v[i];
}

void SchurSystem::form_complement(const ConstraintProblem& problem) {
  const std::size_t n = rows.size();
  K.resize(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    std::fill(x_c.begin(), x_c.end(), 0.0);
    x_c[i] = 1;
    multiply_complement(problem, x_c, {K.data() + i * n, n});
  }
}

/// K x_c = r_c, scaled by the diagonal of A; returns the iterations.
int SchurSystem::conjugate_gradients(const ConstraintProblem& problem, double tolerance) {
  const std::size_t n = rows.size();
  double first = 0, rz = 0;
  for (std::size_t i = 0; i < n; ++i) {
    x_c[i] = 0;
    z_c[i] = scale[i] > 0 ? r_c[i] / scale[i] : 0.0;
    d_c[i] = z_c[i];
    rz += r_c[i] * z_c[i];
    first += r_c[i] * r_c[i];
  }
  const int most = 10 * static_cast<int>(n) + 100;
  int iteration = 0;
  for (double now = first; iteration < most && now > tolerance * tolerance * first; ++iteration) {
    multiply_complement(problem, d_c, Kd_c);
    double dKd = 0;
    for (std::size_t i = 0; i < n; ++i) dKd += d_c[i] * Kd_c[i];
    if (!(dKd > 0)) break;
    const double alpha = rz / dKd;
    double next = 0;
    now = 0;
    for (std::size_t i = 0; i < n; ++i) {
      x_c[i] += alpha * d_c[i];
      r_c[i] -= alpha * Kd_c[i];
      z_c[i] = scale[i] > 0 ? r_c[i] / scale[i] : 0.0;
      next += r_c[i] * z_c[i];
      now += r_c[i] * r_c[i];
    }
    const double beta = next / rz;
    rz = next;
    for (std::size_t i = 0; i < n; ++i) d_c[i] = z_c[i] + beta * d_c[i];
  }
  return iteration;
}

int SchurSystem::solve_all(const ConstraintProblem& problem, const SchurSettings& settings, std::span<const double> b,
                           std::span<double> x) {
  impulse.assign(6 * problem.bodies(), 0.0);
  tree.solve(problem, b, impulse, x, velocities);
  if (rows.empty()) return 0;
  int iterations = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) r_c[i] = b[rows[i]] - closure_velocity(problem, static_cast<int>(i));
  if (settings.conjugate_gradients) {
    iterations = conjugate_gradients(problem, settings.tolerance);
  } else {
    std::copy(r_c.begin(), r_c.end(), x_c.begin());
    solve_dense_ldlt(K.data(), static_cast<int>(rows.size()), x_c.data());
  }
  gather_impulse(problem, x_c);
  tree.solve(problem, b, impulse, x, velocities);
  for (std::size_t i = 0; i < rows.size(); ++i) x[rows[i]] = x_c[i];
  return iterations;
}

}  // namespace

void solve(const ConstraintProblem& problem, const SchurSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& system = workspace.get<SchurSystem>();
  clear(report, problem.rows());
  system.tree.analyse(problem);
  system.rows.clear();
  system.block_of.clear();
  for (const int i : system.tree.closures())
    for (int r = 0; r < problem.blocks[i].rows; ++r) {
      system.rows.push_back(problem.blocks[i].first_row + r);
      system.block_of.push_back(i);
    }
  const std::size_t n = system.rows.size();
  for (auto* v : {&system.x_c, &system.r_c, &system.d_c, &system.z_c, &system.Kd_c, &system.work, &system.scale}) v->resize(n);
  system.velocities.resize(6 * problem.bodies());
  system.no_b.assign(problem.rows(), 0.0);
  system.tree_x.resize(problem.rows());
  system.answer.resize(problem.rows());

  // What pivots are compared with: the diagonal of A, from before the tree took its part.
  for (std::size_t i = 0; i < n; ++i) {
    const ConstraintBlock& block = problem.blocks[system.block_of[i]];
    system.scale[i] = problem.C[system.rows[i]];
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      const Vec6 row = J.row(first + system.rows[i] - block.first_row).transpose();
      system.scale[i] += row.dot(multiply_inverse_mass(problem, body, row));
    });
  }

  system.tree.factor(problem, report.redundant_rows, "solver schur");
  if (!settings.conjugate_gradients && n > 0) {
    system.form_complement(problem);
    factor_dense_ldlt(system.K.data(), static_cast<int>(n), settings.pivot_tolerance, system.scale.data(), system.work.data(),
                      [&](int i) { report.redundant_rows.push_back(system.rows[i]); });
  }
  const std::span<const double> b(problem.b.data(), static_cast<std::size_t>(problem.rows()));
  int iterations = system.solve_all(problem, settings, b, x);
  if (!all_finite(x)) throw Error("solver schur", "the answer is not finite: the motion has blown up; take a smaller step");
  refine(
      problem, settings.max_refinements,
      [&](std::span<double> r) {
        iterations += system.solve_all(problem, settings, r, system.answer);
        std::copy(system.answer.begin(), system.answer.end(), r.begin());
      },
      x, system.refinement, report);
  report.iterations += iterations;
  std::sort(report.redundant_rows.begin(), report.redundant_rows.end());
}

}  // namespace rotule
