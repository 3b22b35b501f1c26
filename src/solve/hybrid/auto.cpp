// The choice of a solver by what a problem looks like. Rules, from the measurements in docs/contact_solvers.md, the first that
// fits:
//
//   only joints                                     ldlt
//   joints, many rows of contacts, limits or
//   motors, and no large mass ratio                 prox_newton
//   joints and contacts, limits or motors           hybrid
//   boxes and bounds alone, at most 150 rows        block_pivoting
//   a stack: few touching pairs per body, and 4 or
//   more on top of each other or a body 30 times
//   as heavy as one it touches                      two_level
//   anything else                                   nncg
//
// Each has a budget; where it ends unconverged prox_newton and homotopy go on from its answer: see `strong`. The report names the
// one whose answer it is, and counts the iterations of all.
#include <rotule/solvers/auto.h>
#include <rotule/solvers/block_pivoting.h>
#include <rotule/solvers/homotopy.h>
#include <rotule/solvers/hybrid.h>
#include <rotule/solvers/ldlt.h>
#include <rotule/solvers/nncg.h>
#include <rotule/solvers/prox_newton.h>
#include <rotule/solvers/two_level.h>

#include <algorithm>

#include "base/budget.h"
#include "problem/row_sets.h"
#include "solve/best_answer.h"
#include "solve/solve.h"

namespace rotule {

namespace {

constexpr int most_rows_for_pivoting = 150;
constexpr int most_rows_for_complement = 60;
constexpr int tall = 4;
constexpr double heavy = 30;
constexpr double most_pairs_per_body = 1.5;

struct Looks {
  int joint_rows = 0, other_rows = 0;
  bool cones = false;
  int height = 0;         // most pairs between a body and the ground, along the shortest way
  double mass_ratio = 1;  // largest between bodies that touch
  int pairs = 0;          // runs of blocks between the same two bodies; further bodies of a block make pairs with its first
  [[nodiscard]] bool stack(int bodies) const {
    return pairs <= most_pairs_per_body * bodies && (height >= tall || mass_ratio >= heavy);
  }
  /// Whether the Schur complement of the joints would be so large that the sparse factor of everything is cheaper.
  [[nodiscard]] bool crowded() const {
    return other_rows > most_rows_for_complement && 4 * other_rows > joint_rows && mass_ratio < heavy;
  }
};

struct Auto {
  BestAnswer answer;
  SolveReport rung;
  ConstraintProblem restarted;
  std::vector<BlockSet> sets;
  std::vector<int> level, queue, start, around;
};

/// Calls visit(a, b) for the pairs of bodies that a block makes neighbours.
template <class Visit>
void for_each_pair(const ConstraintProblem& problem, const ConstraintBlock& block, Visit&& visit) {
  visit(block.body_a, block.body_b);
  const int first = block.body_a >= 0 ? block.body_a : block.body_b;
  for (int k = block.first_more; k < block.first_more + block.more_count; ++k) visit(first, problem.more[k].body);
}

Looks look(const ConstraintProblem& problem, Auto& work) {
  Looks looks;
  classify(problem, work.sets);
  for (std::size_t i = 0; i < work.sets.size(); ++i)
    (work.sets[i].kind == RowSet::bilateral ? looks.joint_rows : looks.other_rows) += problem.blocks[i].rows;
  for (const FrictionRows& f : problem.friction) looks.cones = looks.cones || f.cone;

  // Neighbours of every body; one that cannot move is ground.
  const int bodies = problem.bodies();
  const auto inverse_mass = [&](int body) { return body < 0 ? 0.0 : problem.inverse_mass[body](0, 0); };
  work.start.assign(bodies + 2, 0);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_pair(problem, block, [&](int a, int b) {
      if (a >= 0) ++work.start[a + 2];
      if (b >= 0) ++work.start[b + 2];
    });
  for (int body = 0; body <= bodies; ++body) work.start[body + 1] += work.start[body];
  work.around.resize(work.start[bodies + 1]);
  work.level.assign(bodies, -1);
  work.queue.clear();
  const auto see_pair = [&](int a, int b) {
    const double p = inverse_mass(a), q = inverse_mass(b);
    if (a >= 0) work.around[work.start[a + 1]++] = b;
    if (b >= 0) work.around[work.start[b + 1]++] = a;
    if (p > 0 && q > 0) looks.mass_ratio = std::max({looks.mass_ratio, p / q, q / p});
    for (const auto& [body, other] : {std::pair(a, q), std::pair(b, p)})
      if (body >= 0 && other == 0 && work.level[body] < 0) {
        work.level[body] = 1;
        work.queue.push_back(body);
      }
  };
  for (const ConstraintBlock& block : problem.blocks) {
    const bool same = &block != &problem.blocks.front() && (&block)[-1].body_a == block.body_a &&
                      (&block)[-1].body_b == block.body_b && block.more_count == 0;
    looks.pairs += (same ? 0 : 1) + block.more_count;
    for_each_pair(problem, block, see_pair);
  }
  for (std::size_t k = 0; k < work.queue.size(); ++k) {
    const int body = work.queue[k];
    looks.height = std::max(looks.height, work.level[body]);
    for (int n = work.start[body]; n < work.start[body + 1]; ++n) {
      const int other = work.around[n];
      if (other < 0 || work.level[other] >= 0) continue;
      work.level[other] = work.level[body] + 1;
      work.queue.push_back(other);
    }
  }
  return looks;
}

}  // namespace

void solve(const ConstraintProblem& problem, const AutoSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& work = workspace.get<Auto>();
  const Looks looks = look(problem, work);
  if (looks.other_rows == 0 && !problem.has_matrix() && problem.rows() > 0) {
    solve(problem, LdltSettings{}, workspace, x, report);
    report.solver = LdltSettings::name;
    return;
  }

  const double tolerance = settings.tolerance;
  NncgSettings sweeps;
  sweeps.tolerance = tolerance;
  const auto limited = [](auto solver, int iterations) {
    solver.max_iterations = iterations;
    return solver;
  };
  const HybridSettings hybrid{.tolerance = tolerance};
  const BlockPivotingSettings pivoting{.tolerance = tolerance};
  const TwoLevelSettings two_level{.tolerance = tolerance};

  // What sweeps have not done by then, Newton does sooner. What is still far from solved after that is a jam, and a path goes
  // through it; what is near gets there by more of Newton, where paths hardly ever helped (measured on the scenes of D7).
  constexpr int sweeps_before_newton = 200, hybrid_iterations = 60, first_newton = 150, more_newton = 850, longest_paths = 2500,
                first_path = 600, last_path = 300;
  constexpr double jam = 1e-4, far = 1e-6;
  const ProxNewtonSettings newton{.tolerance = tolerance};
  const HomotopySettings path{.tolerance = tolerance};

  SolverChoice first = limited(sweeps, sweeps_before_newton);
  if (looks.joint_rows > 0)
    first = limited(hybrid, hybrid_iterations);
  else if (!looks.cones && problem.rows() <= most_rows_for_pivoting)
    first = limited(pivoting, 200);
  else if (looks.stack(problem.bodies()))
    first = limited(two_level, 24);

  work.answer.begin(problem, "auto", report);
  report.solver = AutoSettings::name;
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  if (work.answer.judge(x) <= tolerance) return work.answer.finish(tolerance, x, report);
  // Each goes on from the best answer so far; true where that is good enough, or has to be.
  const ConstraintProblem* from = &problem;
  const auto climb = [&](const SolverChoice& rung) {
    if (from != &problem && Budget::spent()) return true;  // the best so far is what the step's budget bought
    if (from != &problem) std::ranges::copy(work.answer.best_x(), work.restarted.x0.begin());
    solve(*from, rung, workspace, x, work.rung);
    report.iterations += work.rung.iterations;
    report.smallest_pivot = std::min(report.smallest_pivot, work.rung.smallest_pivot);
    const double before = work.answer.best();
    if (work.answer.judge(x) < before) report.solver = work.rung.solver;
    if (work.answer.best() <= tolerance) return true;
    if (from == &problem) {
      work.restarted = problem;
      from = &work.restarted;
    }
    return false;
  };
  const auto strong = [&] {
    if (climb(limited(newton, first_newton))) return;
    const bool jammed = work.answer.best() > jam;
    if (jammed && climb(limited(path, first_path))) return;
    if (climb(limited(newton, more_newton))) return;
    climb(limited(path, work.answer.best() > far ? longest_paths : last_path));
  };
  if ((looks.joint_rows > 0 && looks.crowded()) || !climb(first)) strong();
  work.answer.finish(tolerance, x, report);
}

}  // namespace rotule
