#include "solve/newton/homotopy.h"

#include <rotule/error.h>
#include <rotule/solvers/anderson.h>
#include <rotule/solvers/apgd.h>
#include <rotule/solvers/homotopy.h>
#include <rotule/solvers/nncg.h>

#include <algorithm>
#include <random>

#include "base/budget.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

constexpr double start_epsilon = 10, end_epsilon = 1e-11;
constexpr double tau_falls = 1e-8;  // over the whole path

double geometric(double first, double last, double t) { return first * std::pow(last / first, t); }

}  // namespace

Homotopy::Family Homotopy::family(double t) const {
  const double epsilon = geometric(start_epsilon, end_epsilon, t);
  const double late = std::pow(std::max(t, 0.0), schedule_.late),
               late_rate = schedule_.late * std::pow(std::max(t, 0.0), schedule_.late - 1);
  const double tau = geometric(schedule_.first_tau, tau_falls * schedule_.first_tau, late);
  return {.anchor = anchor_,
          .epsilon = epsilon,
          .epsilon_rate = epsilon * std::log(end_epsilon / start_epsilon),
          .smoothing = {.tau = tau, .tau_rate = tau * std::log(tau_falls) * late_rate, .unit = unit_}};
}

/// Lengths are in units of what each row's own impulse would be at the problem's typical speed.
double Homotopy::dot(std::span<const double> v, std::span<const double> u) const {
  double sum = 0;
  for (std::size_t r = 0; r < v.size(); ++r) sum += v[r] * u[r] * weight_[r] * weight_[r];
  return sum;
}
double Homotopy::length(std::span<const double> v) const { return std::sqrt(dot(v, v)); }

/// F_, F_t_ and the system's T and E at x.
void Homotopy::evaluate(const ConstraintProblem& problem, std::span<const double> x, const Family& at) {
  linear_->product(problem, x, w_);
  for (int r = 0; r < problem.rows(); ++r) w_[r] += at.epsilon / rho_[r] * (x[r] - at.anchor[r]) - problem.b[r];
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows, first = block.first_row;
    double *const T = linear_->T(i), *const E = linear_->E(i);
    smoothed_law(problem, block, sets_[i], x.data() + first, w_.data() + first, rho_.data() + first, at.smoothing,
                 {F_.data() + first, T, E, F_t_.data() + first});
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const double e = E[r * n + c] / rho_[first + c];
        T[r * n + c] += e * at.epsilon;
        F_t_[first + r] += e * at.epsilon_rate * (x[first + c] - at.anchor[first + c]);
      }
    linear_->set_alone(i, false);
  }
}

void Homotopy::factor(const ConstraintProblem& problem) {
  linear_->factor(problem, inverse_rho_);
  pivoted_ready_ = false;
  ++factors_;
  Budget::count();
}

/// With the system factored last, M out = -right.
bool Homotopy::solve_linear(const ConstraintProblem& problem, std::span<const double> right, std::span<double> out) {
  constexpr double accurate = 1e-6;
  if (linear_->solve(problem, right, out, A_dx_) <= accurate) return true;
  if (!pivoted_ready_ && !pivoted_.factor(problem, *linear_)) return false;
  pivoted_ready_ = true;
  pivoted_.solve(right, out);
  return all_finite(out);
}

/// Newton with a line search on one member of the family.
bool Homotopy::newton(const ConstraintProblem& problem, const Family& at, double goal, int max_steps, std::span<double> x) {
  constexpr int most_cuts = 20;
  evaluate(problem, x, at);
  for (int k = 0; k < max_steps; ++k) {
    const double now = length(F_);
    if (now <= goal) return true;
    if (factors_ >= max_factors_ || Budget::spent()) return false;
    factor(problem);
    if (!solve_linear(problem, F_, dx_)) return false;
    double cut = 1;
    for (int tries = 0;; ++tries, cut *= 0.5) {
      for (std::size_t r = 0; r < x.size(); ++r) trial_[r] = x[r] + cut * dx_[r];
      evaluate(problem, trial_, at);
      if (length(F_) <= (1 - 0.1 * cut) * now) break;
      if (tries == most_cuts) return false;
    }
    std::copy(trial_.begin(), trial_.end(), x.begin());
  }
  return length(F_) <= goal;
}

/// One step along the tangent, and Newton back to the path in the plane across it. next_ is where it ends, factored there.
/// Corrections as long as the step are refused: they end on another branch, or run back on this one.
bool Homotopy::correct(const ConstraintProblem& problem, double step, int& corrections) {
  constexpr int most = 5;
  constexpr double share_of_tau = 1e-6, share_of_step = 0.01;  // how near to the path: of what tau smooths over, of the step
  constexpr double longest = 0.5;                              // over the step
  constexpr double rounding = 1e-15;
  const double t_square = t_weight_ * t_weight_, rows = std::sqrt(static_cast<double>(F_.size()));
  for (std::size_t r = 0; r < at_.x.size(); ++r) next_.x[r] = at_.x[r] + step * tangent_.x[r];
  next_.t = at_.t + step * tangent_.t;
  double last = infinity, moved = infinity;
  for (corrections = 0; corrections <= most && factors_ < max_factors_ && !Budget::over(); ++corrections) {
    const Family at = family(next_.t);
    evaluate(problem, next_.x, at);
    const double now = length(F_), goal = std::max(share_of_tau * at.smoothing.tau * rows, rounding * (rows + length(next_.x)));
    if (!(now <= std::max(goal, 0.5 * last))) return false;
    factor(problem);
    if (now <= goal && moved <= share_of_step * step) return true;
    last = now;
    // dx = q + p dt with M p = -F_t and M q = -F, orthogonal to the tangent.
    if (!solve_linear(problem, F_t_, along_) || !solve_linear(problem, F_, dx_)) return false;
    const double dt = -dot(dx_, tangent_.x) / (dot(along_, tangent_.x) + t_square * tangent_.t);
    for (std::size_t r = 0; r < dx_.size(); ++r) dx_[r] += dt * along_[r];
    moved = std::sqrt(dot(dx_, dx_) + t_square * dt * dt);
    if (!(moved <= longest * step)) return false;
    for (std::size_t r = 0; r < dx_.size(); ++r) next_.x[r] += dx_[r];
    next_.t += dt;
  }
  return false;
}

/// The unit tangent where the system was factored last, on the side of the old one; `turn` is the cosine between them.
bool Homotopy::find_tangent(const ConstraintProblem& problem, double& turn) {
  const double t_square = t_weight_ * t_weight_;
  if (!solve_linear(problem, F_t_, next_tangent_.x)) return false;
  const double across = dot(next_tangent_.x, tangent_.x) + t_square * tangent_.t;
  const double scale = (across < 0 ? -1 : 1) / std::sqrt(dot(next_tangent_.x, next_tangent_.x) + t_square);
  for (double& v : next_tangent_.x) v *= scale;
  next_tangent_.t = scale;
  turn = across * scale;
  return true;
}

/// Where a contact changes its state the path bends, at small epsilon within less than what rounding leaves of x. The way on is
/// then looked for without following the bend: the tangent is that of a point beyond it, and of its two sides the one that
/// leads to the path again, and not back to where it came from, is taken.
bool Homotopy::turn_corner(const ConstraintProblem& problem, double& step) {
  constexpr double longest = 1e-2, back = -0.9, straight = 0.9;
  arriving_ = tangent_;
  for (; step <= longest * t_weight_ && factors_ < max_factors_ && !Budget::over(); step *= 10) {
    for (std::size_t r = 0; r < at_.x.size(); ++r) next_.x[r] = at_.x[r] + step * arriving_.x[r];
    next_.t = at_.t + step * arriving_.t;
    evaluate(problem, next_.x, family(next_.t));
    factor(problem);
    double turn = 1;
    tangent_ = arriving_;
    if (!find_tangent(problem, turn)) continue;
    leaving_ = next_tangent_;
    for (const double side : {1.0, -1.0}) {
      if (side * turn < back) continue;
      for (std::size_t r = 0; r < at_.x.size(); ++r) tangent_.x[r] = side * leaving_.x[r];
      tangent_.t = side * leaving_.t;
      int corrections = 0;
      double agreement = 0;
      if (correct(problem, step, corrections) && find_tangent(problem, agreement) && agreement > straight) return true;
    }
  }
  return false;
}

/// From the anchor at t = 0 to t = 1, or to where Newton finds the way from the path to a solution.
bool Homotopy::follow(const ConstraintProblem& problem, double tolerance, BestAnswer& answer) {
  constexpr double first_step = 0.02, longest_step = 0.2, corner_step = 1e-8;  // over the length of x
  constexpr double sharpest_turn = 0.6, gentle_turn = 0.9, hardly_a_turn = 0.97;
  constexpr int first_newton = 100;
  constexpr double first_try = 0.55, next_try = 0.15;  // where leaving the path is tried
  const double rows = std::sqrt(static_cast<double>(problem.rows()));
  at_.x = anchor_;
  at_.t = 0;
  if (!newton(problem, family(0), 1e-6 * schedule_.first_tau * rows, first_newton, at_.x)) return false;
  t_weight_ = std::max(length(at_.x), 1e-3 * rows);
  std::fill(tangent_.x.begin(), tangent_.x.end(), 0.0);
  tangent_.t = 1 / t_weight_;
  factor(problem);
  double turn = 1;
  if (!find_tangent(problem, turn)) return false;
  std::swap(tangent_, next_tangent_);
  double step = first_step * t_weight_, try_at = first_try;
  while (at_.t < 1 && factors_ < max_factors_ && !Budget::spent()) {
    int corrections = 0;
    if (!correct(problem, step, corrections) || !find_tangent(problem, turn) || turn < sharpest_turn) {
      step *= 0.4;
      if (step > corner_step * t_weight_) continue;
      if (!turn_corner(problem, step)) return false;
      corrections = 5;
    }
    std::swap(at_, next_);
    std::swap(tangent_, next_tangent_);
    if (corrections <= 2 && turn > hardly_a_turn)
      step *= 2;
    else if (corrections <= 3 && turn > gentle_turn)
      step *= 1.3;
    else if (corrections > 4)
      step *= 0.7;
    step = std::min(step, longest_step * t_weight_);
    if (at_.t < try_at) continue;
    if (polish(problem, tolerance, answer)) return true;
    while (try_at <= at_.t) try_at += next_try;
  }
  return false;
}

/// Takes out what is left of smoothing and regularisation, for as long as that goes by plain Newton: x becomes the anchor, tau
/// falls tenfold. Where x has far to go along a state of self-stress, the anchors run ahead of it.
bool Homotopy::polish(const ConstraintProblem& problem, double tolerance, BestAnswer& answer) {
  constexpr double least_tau = 1e-14, share_of_tau = 1e-3, worthwhile = 0.3, furthest_ahead = 8;
  constexpr int most_steps = 20, most_strides = 30;
  const double rows = std::sqrt(static_cast<double>(problem.rows()));
  Family at = family(at_.t);
  std::vector<double>&x = polished_, &anchor = polish_anchor_;
  x = at_.x;
  anchor = at_.x;
  at.anchor = anchor;
  if (answer.judge(x) <= tolerance) return true;
  double before = infinity, ahead = 0;
  for (int stride = 0; stride < most_strides && at.smoothing.tau > least_tau; ++stride) {
    for (std::size_t r = 0; r < x.size(); ++r) {
      x[r] += ahead * (x[r] - anchor[r]);
      anchor[r] = x[r];
    }
    const bool converged = newton(problem, at, share_of_tau * at.smoothing.tau * rows, most_steps, x);
    const double now = answer.judge(x);
    if (now <= tolerance) return true;
    if (!converged) return false;
    if (now > worthwhile * before) {
      ahead = std::min(std::max(1.0, 2 * ahead), furthest_ahead);
    } else {
      at.smoothing.tau *= 0.1;
      before = now;
    }
  }
  return false;
}

void Homotopy::prepare(const ConstraintProblem& problem, BlockSystem& linear) {
  linear_ = &linear;
  classify(problem, sets_);
  const int n = problem.rows();
  for (auto* v : {&rho_, &inverse_rho_, &weight_, &anchor_, &w_, &F_, &F_t_, &dx_, &A_dx_, &along_, &trial_, &at_.x, &next_.x,
                  &tangent_.x, &next_tangent_.x})
    v->resize(n);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    choose_common_rho(problem, problem.blocks[i], sets_[i], linear_->diagonal(static_cast<int>(i)),
                      rho_.data() + problem.blocks[i].first_row);
  // The typical speed in units that all rows share, the square root of energy; in each row's own unit it is that over sqrt(rho).
  double energy = 0;
  for (int r = 0; r < n; ++r) energy += problem.b[r] * problem.b[r] * rho_[r];
  unit_ = energy > 0 ? std::sqrt(energy / n) : 1.0;
  for (int r = 0; r < n; ++r) {
    inverse_rho_[r] = 1 / rho_[r];
    weight_[r] = 1 / (unit_ * std::sqrt(rho_[r]));
  }
}

void Homotopy::kick(double size, int seed, std::span<double> x) const {
  std::minstd_rand random(static_cast<unsigned>(seed));
  for (std::size_t r = 0; r < x.size(); ++r)
    x[r] += size / weight_[r] * (2 * static_cast<double>(random()) / static_cast<double>(std::minstd_rand::max()) - 1);
}

bool Homotopy::run(const ConstraintProblem& problem, std::span<const double> anchor, Schedule schedule, double tolerance,
                   int max_factors, BestAnswer& answer) {
  std::copy(anchor.begin(), anchor.end(), anchor_.begin());
  factors_ = 0;
  max_factors_ = max_factors;
  schedule_ = schedule;
  try {
    const Dispensable factors;  // the answer has the best x so far
    if (follow(problem, tolerance, answer)) return true;
  } catch (const OutOfTime&) {
    static_cast<void>(Budget::spent());  // said
    return false;
  }
  return answer.judge(at_.x) <= tolerance;
}

namespace {

struct HomotopySolver {
  BestAnswer answer;
  ConstraintProblem swept;
  SolveReport sweeps;
  std::vector<double> anchor;
  Homotopy path;
};

/// Other sweeps end elsewhere: anchors by several methods in turn, each from where the last one ended.
void sweep(int round, double tolerance, int iterations, HomotopySolver& work, Workspace& workspace) {
  const auto by = [&](auto settings) {
    settings.tolerance = tolerance;
    settings.max_iterations = iterations;
    solve(work.swept, settings, workspace, work.anchor, work.sweeps);
  };
  if (round % 3 == 0)
    by(NncgSettings{});
  else if (round % 3 == 1)
    by(AndersonSettings{});
  else
    by(ApgdSettings{});
}

}  // namespace

void solve(const ConstraintProblem& problem, const HomotopySettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  constexpr int first_length = 600;
  const int most_sweeps = 4 * settings.first_sweeps;
  constexpr int most_paths = 10;
  constexpr double longer = 1.6, kick = 0.1;
  constexpr Homotopy::Schedule schedules[] = {{0.03, 3}, {0.01, 1}, {0.1, 3}, {0.03, 1.5}};
  clear(report, problem.rows());
  if (problem.rows() == 0) return;
  auto& work = workspace.get<HomotopySolver>();
  auto& linear = workspace.get<BlockSystem>();
  work.answer.begin(problem, "homotopy", report);
  work.anchor.assign(problem.x0.begin(), problem.x0.end());
  if (work.answer.judge(work.anchor) <= settings.tolerance) return work.answer.finish(settings.tolerance, x, report);
  work.swept = problem;
  int sweeps = settings.first_sweeps, factors = 0;
  auto& done = workspace.get<PathWork>();
  done = {};
  double length = first_length;
  for (int k = 0; k < most_paths && factors < settings.max_iterations && !(k > 0 && Budget::spent()); ++k) {
    sweep(k, settings.tolerance, sweeps, work, workspace);
    report.iterations += work.sweeps.iterations;
    done.sweeps += work.sweeps.iterations;
    if (work.answer.judge(work.anchor) <= settings.tolerance || Budget::spent()) break;
    std::ranges::copy(work.anchor, work.swept.x0.begin());
    linear.prepare(problem);
    work.path.prepare(problem, linear);
    if (k > 1) work.path.kick(kick, k, work.anchor);
    const int most = std::min(static_cast<int>(length), settings.max_iterations - factors);
    const Homotopy::Schedule schedule = schedules[k % std::size(schedules)];
    const bool arrived = work.path.run(problem, work.anchor, schedule, settings.tolerance, most, work.answer);
    factors += work.path.factors();
    done.factors = factors;
    report.iterations += work.path.factors();
    if (arrived) break;
    sweeps = std::min(2 * sweeps, most_sweeps);
    length *= longer;
  }
  work.answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
