// Projected Gauss-Seidel by rows (D4), with relaxation alpha and regularisation kappa:
//   Delta_i = (b_i - sum_{j != i} A_ij x_j) / (A_ii + kappa),   x_i <- clamp(x_i + alpha (Delta_i - x_i), lower_i, upper_i).
// Bounds of a friction box follow the normal's x as it is at that moment. The rows of a cone take one step together, with one
// step length, and are projected on the disk |t| <= mu x_n. Stops at max_iterations, at |delta x| <= change_tolerance, at
// sum |psi| <= error_tolerance, or at the relative residual `tolerance`.
// Cryer (1971) for relaxation with bounds. Converges linearly, and slowly with tall stacks, long chains and large mass ratios;
// for alpha = 2 not at all in general. With relaxation "auto" several run side by side (race.h), and the best answer is taken:
// never a worse one than that of alpha = 1 after as many sweeps. kappa > 0 solves a softer problem: the residual of the given one
// stays above zero.
#include <rotule/error.h>
#include <rotule/solvers/pgs.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "problem/operators.h"
#include "solve/iteration.h"
#include "solve/solve.h"
#include "solve/sweep/adaptive_relaxation.h"
#include "solve/sweep/learned_runners.h"
#include "solve/sweep/row_stores.h"
#include "solve/sweep/row_units.h"

namespace rotule {

namespace {

struct Pgs {
  DenseRows dense;
  CompressedRows sparse;
  BodyRows bodies;
  std::vector<RowUnit> units;
  std::vector<std::int32_t> order;
  std::vector<std::int8_t> side;  // of each unit: at which bound
  std::mt19937 random;
  BestAnswer answer;
  ResidualScratch residual;
  RelaxationRace race;
  AndersonMixing mixing[racers];
  std::vector<double> runner, change;  // one lane's
};

/// What one sweep saw: residuals that rows had when their turn came, the change that it made (as a length of x, and as energy),
/// units that came to or left a bound.
struct Sweep {
  double squares = 0, sum = 0, change = 0, work = 0;
  int moved = 0;
};

template <class Rows>
void relax_unit(const ConstraintProblem& problem, const RowUnit& unit, double alpha, double kappa, Rows& rows, std::int8_t& side,
                std::span<double> x, Sweep& seen) {
  double w[6] = {}, before[6];
  const double d = unit.diagonal + kappa, step = d > 0 ? alpha / d : 0.0;
  for (int k = 0; k < unit.count; ++k) w[k] = rows.row(unit.block, unit.first_row + k, x);
  add_residual(problem, unit, x, w, seen.squares, seen.sum);
  for (int k = 0; k < unit.count; ++k) {
    double& x_k = x[unit.first_row + k];
    before[k] = x_k;
    x_k -= step * (w[k] + kappa * x_k);
  }
  const auto now = static_cast<std::int8_t>(project(problem, unit, x));
  seen.moved += now != side;
  side = now;
  for (int k = 0; k < unit.count; ++k) {
    const double dx = x[unit.first_row + k] - before[k];
    seen.change += dx * dx;
    seen.work += d * dx * dx;
    rows.update(unit.block, unit.first_row + k, dx);
  }
}

/// In which order sweeps visit the units.
class SweepOrderer {
 public:
  SweepOrderer(const std::vector<RowUnit>& units, const SweepOrder& choice, Pgs& work)
      : order_(work.order), random_(work.random), to_and_fro_(std::holds_alternative<SymmetricOrder>(choice)) {
    order_.resize(units.size());
    std::iota(order_.begin(), order_.end(), 0);
    if (std::holds_alternative<ReverseOrder>(choice)) std::reverse(order_.begin(), order_.end());
    if (std::holds_alternative<StaggeredOrder>(choice)) {
      auto next = order_.begin();
      for (const bool friction : {false, true})
        for (std::int32_t i = 0; i < static_cast<std::int32_t>(units.size()); ++i)
          if ((units[i].normal >= 0) == friction) *next++ = i;
    }
    const auto* shuffled = std::get_if<RandomOrder>(&choice);
    shuffled_ = shuffled != nullptr;
    if (shuffled_) random_.seed(static_cast<unsigned>(shuffled->seed));
  }
  /// Before the sweep of this number: whether it goes backwards through work.order.
  bool next(int sweep) {
    if (shuffled_)
      for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_() % i]);
    return to_and_fro_ && sweep % 2 != 0;
  }

 private:
  std::vector<std::int32_t>& order_;
  std::mt19937& random_;
  bool to_and_fro_, shuffled_ = false;
};

template <class Rows>
void iterate(const ConstraintProblem& problem, const PgsSettings& settings, Rows& rows, Pgs& work, Iteration& loop,
             std::span<double> x, SolveReport& report, bool& by_sum) {
  constexpr int sweeps_per_start = 100;
  const auto small_sum = [&] {  // D4's own criterion
    by_sum = settings.error_tolerance > 0 && residual(problem, x, work.residual).sum <= settings.error_tolerance;
    return by_sum;
  };
  rows.assemble(problem);
  list_units(
      problem, [&](int i, double* D) { rows.diagonal(i, D); }, work.units);
  work.side.assign(work.units.size(), 0);
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  for (const RowUnit& unit : work.units) project(problem, unit, x);

  if (loop.solved(x) || small_sum()) return;
  SweepOrderer order(work.units, settings.order, work);
  AdaptiveRelaxation relaxation(settings.relaxation, settings.adaptive_relaxation);
  while (loop.goes_on()) {
    if (report.iterations % sweeps_per_start == 0) rows.start(x);
    const bool backwards = order.next(report.iterations);
    Sweep seen;
    const auto visit = [&](std::int32_t i) {
      relax_unit(problem, work.units[i], relaxation.value(), settings.regularisation, rows, work.side[i], x, seen);
    };
    if (backwards)
      std::for_each(work.order.rbegin(), work.order.rend(), visit);
    else
      std::for_each(work.order.begin(), work.order.end(), visit);
    ++report.iterations;
    relaxation.observe(std::sqrt(seen.work), static_cast<double>(seen.moved) / static_cast<double>(work.units.size()));
    const double estimate = std::sqrt(seen.squares) / loop.scale();
    const bool idle = std::sqrt(seen.change) <= settings.change_tolerance;
    if (!loop.due(estimate) && !idle && seen.sum > settings.error_tolerance) continue;
    if (loop.solved(estimate, x) || small_sum() || idle) break;
  }
}

/// Relaxation "auto": all runners until one is there or the budget is used up; the judge decides.
void race(const ConstraintProblem& problem, const PgsSettings& settings, Pgs& work, Iteration& loop, std::span<double> x,
          SolveReport& report, bool& by_sum) {
  constexpr int sweeps_per_start = 100, sweeps_per_sum = 10;
  RelaxationRace& race = work.race;
  const auto small_sum = [&] {
    by_sum = settings.error_tolerance > 0 && residual(problem, x, work.residual).sum <= settings.error_tolerance;
    return by_sum;
  };
  race.prepare(problem, problem.has_matrix() || !std::holds_alternative<MatrixFreeStorage>(settings.storage));
  std::copy_n(problem.x0.data(), x.size(), x.begin());
  for (const RowUnit& unit : race.units()) project(problem, unit, x);
  if (loop.solved(x) || small_sum()) return;
  race.begin(x);
  work.runner.resize(race.places());
  work.change.resize(x.size());
  RaceLanes relaxation;
  for (int lane = 0; lane < racers; ++lane) {
    relaxation.lane[lane] = learned_runners[lane].relaxation;
    if (learned_runners[lane].mixed) work.mixing[lane].begin(race.places(), x.size(), learned_window);
  }
  SweepOrderer order(race.units(), settings.order, work);
  while (loop.goes_on()) {
    if (report.iterations % sweeps_per_start == 0) race.renew();
    const bool backwards = order.next(report.iterations);
    race.sweep(work.order, backwards, relaxation, settings.regularisation);
    ++report.iterations;
    int leader = 0;
    for (int lane = 1; lane < racers; ++lane)
      if (race.residual(lane) < race.residual(leader)) leader = lane;
    const double estimate = race.residual(leader) / loop.scale();
    const bool idle = race.change(leader) <= settings.change_tolerance;
    const bool sum_due = settings.error_tolerance > 0 && report.iterations % sweeps_per_sum == 0;
    if (loop.due(estimate) || idle || sum_due) {
      race.take(leader, x);
      if (loop.solved(estimate, x) || small_sum() || idle) return;
    }
    if (!loop.goes_on()) break;
    for (int lane = 0; lane < racers; ++lane) {
      if (!learned_runners[lane].mixed) continue;
      race.take(lane, work.runner);
      race.take_change(lane, work.change);
      if (work.mixing[lane].mix(work.answer.metric(), work.change.data(), work.runner)) race.put(lane, work.runner);
    }
  }
  // Estimates are lengths, the judge takes the worst row: plain Gauss-Seidel is always heard, the others where they are near.
  constexpr double near = 3;
  double least = infinity;
  for (int lane = 0; lane < racers; ++lane) least = std::min(least, race.residual(lane));
  for (int lane = 0; lane < racers; ++lane) {
    if (lane > 0 && !(race.residual(lane) <= near * least)) continue;
    race.take(lane, x);
    work.answer.consider(x);
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const PgsSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  if (settings.relaxation == automatic_relaxation && settings.adaptive_relaxation)
    throw Error("solver pgs", "relaxation \"auto\" finds its own; leave out adaptive_relaxation");
  auto& work = workspace.get<Pgs>();
  Iteration loop(problem, settings, work.answer, report);
  bool by_sum = false;
  if (settings.relaxation == automatic_relaxation) {
    race(problem, settings, work, loop, x, report, by_sum);
  } else if (std::holds_alternative<DenseStorage>(settings.storage)) {
    iterate(problem, settings, work.dense, work, loop, x, report, by_sum);
  } else if (std::holds_alternative<MatrixFreeStorage>(settings.storage) && !problem.has_matrix()) {
    iterate(problem, settings, work.bodies, work, loop, x, report, by_sum);
  } else {
    iterate(problem, settings, work.sparse, work, loop, x, report, by_sum);
  }
  // Where the sum of residuals ended the run, the answer that met it is the last one judged.
  if (by_sum && work.answer.best() > settings.tolerance) {
    report.residual = work.answer.judge(x);
    report.converged = true;
    return;
  }
  loop.finish(x);
}

}  // namespace rotule
