// Structural hybrid (F2): what is bilateral is eliminated by the direct block-sparse factor, everything else iterates on the
// Schur complement (bilateral_schur.h), where the length of a chain of joints and the masses along it are out of sight. Found per
// problem: bodies that joints connect are one assembly, the rest stays as it is.
//
// Up to `largest_complement` entries S is written out and solved as a problem of its own: nncg first, and prox_newton from there
// where nncg has not met the tolerance. Beyond, S is applied through the factor: a sweep over the contacts, then all joints at
// once, accelerated as nonlinear conjugate gradients are; more iterations, but each costs no more than the joints and contacts
// there are. Redundant joints are allowed. Rounding in S is taken out by correcting b' and going on from there. Without joints it
// is nncg, then prox_newton; with joints alone it is ldlt. Fails where those do: no solution, or no end in the iterations given;
// reported.
#include <algorithm>

#include "solve/best_answer.h"
#include "solve/hybrid/bilateral_schur.h"
#include "solve/solve.h"
#include "solve/sweep/block_sweep.h"

namespace rotule {

namespace {

struct Hybrid {
  BilateralSchur schur;
  BestAnswer answer;
  SolveReport inner;
  Workspace workspace;
  std::vector<double> x_c, before, direction, u_before, u_direction, rhs;
  BlockSweep<BodyOperator> sweep;
};

void iterate(const ConstraintProblem& problem, double tolerance, int max_iterations, Hybrid& work, std::span<double> x) {
  NncgSettings sweeps;
  sweeps.tolerance = tolerance;
  sweeps.max_iterations = max_iterations;
  solve(problem, sweeps, work.workspace, x, work.inner);
}

/// S written out.
void solve_complement(const ConstraintProblem& problem, const HybridSettings& settings, Hybrid& work, std::span<double> x,
                      SolveReport& report) {
  constexpr int corrections = 3;
  work.schur.form(problem);
  ConstraintProblem& reduced = work.schur.reduced;
  work.x_c.resize(reduced.rows());
  const double scale = work.answer.scale();
  for (int pass = 0; pass <= corrections; ++pass) {
    const double norm = reduced.b.norm();
    const double tolerance = std::min(1.0, 0.5 * settings.tolerance * scale / (norm > 0 ? norm : 1.0));
    iterate(reduced, tolerance, settings.max_iterations, work, work.x_c);
    report.iterations += work.inner.iterations;
    work.schur.scatter(work.x_c, x);
    work.schur.recover_joints(problem, x);
    const double before = work.answer.best();
    if (work.answer.judge(x) <= settings.tolerance || work.answer.best() > 0.5 * before) return;
    work.schur.correct(problem, x);
    std::copy(work.x_c.begin(), work.x_c.end(), reduced.x0.begin());
  }
}

/// S through the factor: contacts one by one, joints at once, and conjugate directions over both.
void solve_through_factor(const ConstraintProblem& problem, const HybridSettings& settings, Hybrid& work, std::span<double> x,
                          SolveReport& report) {
  constexpr int iterations_per_start = 20;
  auto& [schur, answer, inner, workspace, x_c, before, direction, u_before, u_direction, rhs, sweep] = work;
  sweep.prepare(problem, x);
  const std::span<double> u = sweep.op().velocities();
  before.resize(x.size());
  rhs.resize(x.size());
  direction.assign(x.size(), 0.0);
  u_before.resize(u.size());
  u_direction.assign(u.size(), 0.0);
  const std::span<const BlockSet> sets = schur.sets();
  const auto joints = [&] {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].kind != RowSet::bilateral) continue;
      const ConstraintBlock& block = problem.blocks[i];
      sweep.op().row(static_cast<int>(i), x, rhs.data() + block.first_row);
    }
    schur.solve_joints(rhs);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].kind != RowSet::bilateral) continue;
      const ConstraintBlock& block = problem.blocks[i];
      double* const step = rhs.data() + block.first_row;
      for (int r = 0; r < block.rows; ++r) {
        step[r] = -step[r];
        x[block.first_row + r] += step[r];
      }
      sweep.op().update(static_cast<int>(i), step);
    }
  };
  const auto conjugate = [](double beta, std::span<double> now, std::span<const double> last, std::span<double> p) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const double old = beta * p[i], step = now[i] - last[i];
      now[i] += old;
      p[i] = old + step;
    }
  };
  sweep.op().start(x);
  joints();
  double last = 0;
  while (report.iterations < settings.max_iterations) {
    if (report.iterations % iterations_per_start == 0) {
      if (answer.judge(x) <= settings.tolerance) return;
      sweep.op().start(x);
    }
    std::copy(x.begin(), x.end(), before.begin());
    std::copy(u.begin(), u.end(), u_before.begin());
    for (std::size_t i = 0; i < sets.size(); ++i)
      if (sets[i].kind != RowSet::bilateral) sweep.relax(static_cast<int>(i), 1, x);
    joints();
    ++report.iterations;
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - before[i]) * (x[i] - before[i]);
    double beta = last > 0 ? squares / last : 0.0;
    if (beta > 1) beta = 0;
    last = squares;
    conjugate(beta, x, before, direction);
    conjugate(beta, u, u_before, u_direction);
  }
  answer.judge(x);
}

}  // namespace

void solve(const ConstraintProblem& problem, const HybridSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<Hybrid>();
  work.schur.split(problem);
  if (work.schur.reduced_rows() == 0 && !problem.has_matrix())
    return solve(problem, LdltSettings{.pivot_tolerance = settings.pivot_tolerance}, work.workspace, x, report);

  work.answer.begin(problem, "hybrid", report);
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  if (work.answer.judge(x) > settings.tolerance) {
    if (!work.schur.has_joints()) {
      iterate(problem, settings.tolerance, settings.max_iterations, work, x);
      report.iterations = work.inner.iterations;
      work.answer.judge(x);
      return work.answer.finish(settings.tolerance, x, report);
    }
    work.schur.factor(problem, settings.pivot_tolerance, report);
    if (work.schur.entries() <= settings.largest_complement || problem.has_matrix())
      solve_complement(problem, settings, work, x, report);
    else
      solve_through_factor(problem, settings, work, x, report);
  }
  work.answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
