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
#include <rotule/solvers/hybrid.h>
#include <rotule/solvers/ldlt.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/prox_newton.h>

#include <algorithm>

#include "base/budget.h"
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
  ConstraintProblem restarted;
};

/// nncg, then prox_newton from its answer; `restarted` is the same problem with an x0 to write, or a copy to make.
void iterate(const ConstraintProblem& problem, double tolerance, int max_iterations, Hybrid& work, std::span<double> x,
             ConstraintProblem& restarted) {
  constexpr int most_sweeps = 500;
  NncgSettings sweeps;
  sweeps.tolerance = tolerance;
  sweeps.max_iterations = std::min(max_iterations, most_sweeps);
  solve(problem, sweeps, work.workspace, x, work.inner);
  if (work.inner.converged || max_iterations <= most_sweeps || Budget::spent()) return;
  const int spent = work.inner.iterations;
  if (&restarted != &problem) restarted = problem;
  std::copy(x.begin(), x.end(), restarted.x0.begin());
  const int steps = std::min(max_iterations - spent, ProxNewtonSettings{}.max_iterations);
  solve(restarted, ProxNewtonSettings{.tolerance = tolerance, .max_iterations = steps}, work.workspace, x, work.inner);
  work.inner.iterations += spent;
}

/// S written out.
void solve_complement(const ConstraintProblem& problem, const HybridSettings& settings, Hybrid& work, std::span<double> x,
                      SolveReport& report) {
  constexpr int corrections = 3;
  work.schur.form(problem);
  ConstraintProblem& reduced = work.schur.reduced;
  work.x_c.resize(reduced.rows());
  // The complement's rows are judged among themselves: where the whole problem's judge is not content, they are held to more.
  double tolerance = 0.5 * settings.tolerance;
  for (int pass = 0; pass <= corrections; ++pass) {
    iterate(reduced, tolerance, settings.max_iterations - report.iterations, work, work.x_c, reduced);
    report.iterations += work.inner.iterations;
    work.schur.scatter(work.x_c, x);
    work.schur.recover_joints(problem, x);
    const double before = work.answer.best();
    const double now = work.answer.judge(x);
    if (now <= settings.tolerance || work.answer.best() > 0.5 * before || Budget::spent()) return;
    if (report.iterations >= settings.max_iterations) return;
    tolerance *= std::clamp(0.5 * settings.tolerance / now, 0.01, 1.0);
    work.schur.correct(problem, x);
    std::copy(work.x_c.begin(), work.x_c.end(), reduced.x0.begin());
  }
}

/// S through the factor: contacts one by one, joints at once, and conjugate directions over both.
void solve_through_factor(const ConstraintProblem& problem, const HybridSettings& settings, Hybrid& work, std::span<double> x,
                          SolveReport& report) {
  constexpr int iterations_per_start = 20, most_iterations = 1000;
  auto& [schur, answer, inner, workspace, x_c, before, direction, u_before, u_direction, rhs, sweep, restarted] = work;
  sweep.prepare(problem, x);
  const std::span<double> u = sweep.op().velocities();
  before.resize(x.size());
  rhs.resize(x.size());
  direction.assign(x.size(), 0.0);
  u_before.resize(u.size());
  u_direction.assign(u.size(), 0.0);
  const std::span<const BlockSet> sets = schur.sets();
  const std::span<const double> d = answer.metric();
  const auto joints = [&] {
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].kind != RowSet::bilateral) continue;
      const ConstraintBlock& block = problem.blocks[i];
      work.sweep.op().row(static_cast<int>(i), x, work.rhs.data() + block.first_row);
    }
    work.schur.solve_joints(work.rhs);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      if (sets[i].kind != RowSet::bilateral) continue;
      const ConstraintBlock& block = problem.blocks[i];
      double* const step = work.rhs.data() + block.first_row;
      for (int r = 0; r < block.rows; ++r) {
        step[r] = -step[r];
        x[block.first_row + r] += step[r];
      }
      work.sweep.op().update(static_cast<int>(i), step);
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
  while (report.iterations < std::min(settings.max_iterations, most_iterations) && !Budget::spent()) {
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
    Budget::count();
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += d[i] * (x[i] - before[i]) * (x[i] - before[i]);
    double beta = last > 0 ? squares / last : 0.0;
    if (beta > 1) beta = 0;
    last = squares;
    conjugate(beta, x, before, direction);
    conjugate(beta, u, u_before, u_direction);
  }
  answer.judge(x);
}

/// The whole problem, joints too, from the best x so far.
void finish_by_newton(const ConstraintProblem& problem, const HybridSettings& settings, Hybrid& work, std::span<double> x,
                      SolveReport& report) {
  work.restarted = problem;
  std::ranges::copy(work.answer.best_x(), work.restarted.x0.begin());
  const int steps = std::min(settings.max_iterations - report.iterations, ProxNewtonSettings{}.max_iterations);
  const ProxNewtonSettings newton{.tolerance = settings.tolerance, .max_iterations = steps};
  solve(work.restarted, newton, work.workspace, x, work.inner);
  report.iterations += work.inner.iterations;
  work.answer.judge(x);
}

}  // namespace

void solve(const ConstraintProblem& problem, const HybridSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<Hybrid>();
  work.schur.split(problem);
  if (work.schur.reduced_rows() == 0 && !problem.has_matrix() && problem.rows() > 0)
    return solve(problem, LdltSettings{.pivot_tolerance = settings.pivot_tolerance}, work.workspace, x, report);

  work.answer.begin(problem, "hybrid", report);
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  if (work.answer.judge(x) > settings.tolerance) {
    if (!work.schur.has_joints()) {
      iterate(problem, settings.tolerance, settings.max_iterations, work, x, work.restarted);
      report.iterations = work.inner.iterations;
      work.answer.judge(x);
      return work.answer.finish(settings.tolerance, x, report);
    }
    work.schur.factor(problem, settings.pivot_tolerance, report);
    if (work.schur.entries() <= settings.largest_complement || problem.has_matrix())
      solve_complement(problem, settings, work, x, report);
    else
      solve_through_factor(problem, settings, work, x, report);
    if (work.answer.best() > settings.tolerance && report.iterations < settings.max_iterations && !Budget::spent())
      finish_by_newton(problem, settings, work, x, report);
  }
  work.answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
