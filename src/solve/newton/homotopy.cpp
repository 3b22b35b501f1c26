#include "solve/newton/homotopy.h"

#include <rotule/error.h>

#include <algorithm>

#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

constexpr double start_epsilon = 10, first_end_epsilon = 1e-6, first_end_tau = 1e-5;

double geometric(double first, double last, double t) { return first * std::pow(last / first, t); }

}  // namespace

double Homotopy::tau(double t) const { return geometric(first_tau_, last_tau_, t); }
double Homotopy::epsilon(double t) const { return geometric(first_epsilon_, last_epsilon_, t); }

/// Lengths are in units of what each row's own impulse would be at the problem's typical speed.
double Homotopy::dot(std::span<const double> v, std::span<const double> u) const {
  double sum = 0;
  for (std::size_t r = 0; r < v.size(); ++r) sum += v[r] * u[r] * weight_[r] * weight_[r];
  return sum;
}
double Homotopy::length(std::span<const double> v) const { return std::sqrt(dot(v, v)); }

/// F_, F_t_ and the system's T and E at (x, t).
void Homotopy::evaluate(const ConstraintProblem& problem, std::span<const double> x, double t) {
  const double stiffness = epsilon(t), stiffness_rate = stiffness * std::log(last_epsilon_ / first_epsilon_);
  const Smoothing smoothing{.tau = tau(t), .tau_rate = tau(t) * std::log(last_tau_ / first_tau_), .speed = speed_};
  linear_->product(problem, x, w_);
  for (int r = 0; r < problem.rows(); ++r) w_[r] += stiffness / rho_[r] * (x[r] - anchor_[r]) - problem.b[r];
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows, first = block.first_row;
    double *const T = linear_->T(i), *const E = linear_->E(i);
    smoothed_law(problem, block, sets_[i], x.data() + first, w_.data() + first, rho_.data() + first, smoothing,
                 {F_.data() + first, T, E, F_t_.data() + first});
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) {
        const double e = E[r * n + c] / rho_[first + c];
        T[r * n + c] += e * stiffness;
        F_t_[first + r] += e * stiffness_rate * (x[first + c] - anchor_[first + c]);
      }
    linear_->set_alone(i, false);
  }
}

void Homotopy::factor(const ConstraintProblem& problem) {
  linear_->factor(problem);
  ++factors_;
}

/// Newton with a line search at fixed t.
bool Homotopy::newton(const ConstraintProblem& problem, double t, double goal, int max_steps, std::span<double> x) {
  constexpr int most_cuts = 20;
  evaluate(problem, x, t);
  for (int k = 0; k < max_steps; ++k) {
    const double now = length(F_);
    if (now <= goal) return true;
    if (factors_ >= max_factors_) return false;
    factor(problem);
    linear_->solve(problem, F_, dx_, A_dx_);
    if (!all_finite(dx_)) return false;
    double cut = 1;
    for (int tries = 0;; ++tries, cut *= 0.5) {
      for (std::size_t r = 0; r < x.size(); ++r) trial_[r] = x[r] + cut * dx_[r];
      evaluate(problem, trial_, t);
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
  const double t_square = t_weight_ * t_weight_, rows = std::sqrt(static_cast<double>(F_.size()));
  for (std::size_t r = 0; r < at_.x.size(); ++r) next_.x[r] = at_.x[r] + step * tangent_.x[r];
  next_.t = at_.t + step * tangent_.t;
  double last = infinity, moved = infinity;
  for (corrections = 0; corrections <= most && factors_ < max_factors_; ++corrections) {
    evaluate(problem, next_.x, next_.t);
    const double now = length(F_), goal = share_of_tau * tau(next_.t) * rows;
    if (!(now <= std::max(goal, 0.5 * last))) return false;
    factor(problem);
    if (now <= goal && moved <= share_of_step * step) return true;
    last = now;
    // dx = q + p dt with M p = -F_t and M q = -F, orthogonal to the tangent.
    linear_->solve(problem, F_t_, along_, A_dx_);
    linear_->solve(problem, F_, dx_, A_dx_);
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
  linear_->solve(problem, F_t_, next_tangent_.x, A_dx_);
  if (!all_finite(next_tangent_.x)) return false;
  const double across = dot(next_tangent_.x, tangent_.x) + t_square * tangent_.t;
  const double scale = (across < 0 ? -1 : 1) / std::sqrt(dot(next_tangent_.x, next_tangent_.x) + t_square);
  for (double& v : next_tangent_.x) v *= scale;
  next_tangent_.t = scale;
  turn = across * scale;
  return true;
}

/// From the anchor at t = 0 to t = 1; at_ is then at the end, or just beyond.
bool Homotopy::follow(const ConstraintProblem& problem) {
  constexpr double first_step = 0.02, longest_step = 0.2, shortest_step = 1e-11;  // over the length of x
  constexpr double sharpest_turn = 0.6, gentle_turn = 0.9, hardly_a_turn = 0.97;
  constexpr int first_newton = 100;
  const double rows = std::sqrt(static_cast<double>(problem.rows()));
  at_.x = anchor_;
  at_.t = 0;
  if (!newton(problem, 0, 1e-6 * first_tau_ * rows, first_newton, at_.x)) return false;
  t_weight_ = std::max(length(at_.x), 1e-3 * rows);
  std::fill(tangent_.x.begin(), tangent_.x.end(), 0.0);
  tangent_.t = 1 / t_weight_;
  factor(problem);
  double turn = 1;
  if (!find_tangent(problem, turn)) return false;
  std::swap(tangent_, next_tangent_);
  double step = first_step * t_weight_;
  while (at_.t < 1 && factors_ < max_factors_) {
    int corrections = 0;
    if (!correct(problem, step, corrections) || !find_tangent(problem, turn) || turn < sharpest_turn) {
      step *= 0.4;
      if (step < shortest_step * t_weight_) return false;
      continue;
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
  }
  return at_.t >= 1;
}

/// Takes out what is left of smoothing and regularisation, for as long as that goes by plain Newton: x becomes the anchor, tau
/// falls tenfold. Where x has far to go along a state of self-stress, the anchors run ahead of it.
Homotopy::Polish Homotopy::polish(const ConstraintProblem& problem, double tolerance, BestAnswer& answer) {
  constexpr double least_tau = 1e-14, share_of_tau = 1e-3, worthwhile = 0.3, furthest_ahead = 8;
  constexpr int most_steps = 20, most_strides = 30;
  const double rows = std::sqrt(static_cast<double>(problem.rows()));
  first_epsilon_ = last_epsilon_;
  double before = infinity, ahead = 0;
  anchor_ = at_.x;
  for (int stride = 0; stride < most_strides && last_tau_ > least_tau; ++stride) {
    first_tau_ = last_tau_;
    for (std::size_t r = 0; r < at_.x.size(); ++r) {
      at_.x[r] += ahead * (at_.x[r] - anchor_[r]);
      anchor_[r] = at_.x[r];
    }
    const bool converged = newton(problem, 1, share_of_tau * last_tau_ * rows, most_steps, at_.x);
    const double now = answer.judge(at_.x);
    if (now <= tolerance) return Polish::done;
    if (!converged && ahead == 0) return Polish::lost;
    if (!converged) {
      at_.x = next_.x;
      return Polish::slow;
    }
    next_.x = at_.x;
    if (now > worthwhile * before) {
      ahead = std::min(std::max(1.0, 2 * ahead), furthest_ahead);
    } else {
      last_tau_ *= 0.1;
      before = now;
    }
  }
  return Polish::slow;
}

void Homotopy::prepare(const ConstraintProblem& problem, BlockSystem& linear) {
  linear_ = &linear;
  classify(problem, sets_);
  const int n = problem.rows();
  for (auto* v : {&rho_, &weight_, &anchor_, &w_, &F_, &F_t_, &dx_, &A_dx_, &along_, &trial_, &at_.x, &next_.x, &tangent_.x,
                  &next_tangent_.x})
    v->resize(n);
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    choose_common_rho(problem, problem.blocks[i], sets_[i], linear_->diagonal(static_cast<int>(i)),
                      rho_.data() + problem.blocks[i].first_row);
  const double norm_b = problem.b.norm();
  speed_ = norm_b > 0 ? norm_b / std::sqrt(static_cast<double>(n)) : 1.0;
  for (int r = 0; r < n; ++r) weight_[r] = 1 / (speed_ * rho_[r]);
}

bool Homotopy::run(const ConstraintProblem& problem, std::span<const double> anchor, double first_tau, double tolerance,
                   int max_factors, BestAnswer& answer) {
  constexpr int most_rounds = 8;
  constexpr double least_epsilon = 1e-9, least_tau = 1e-9;
  std::copy(anchor.begin(), anchor.end(), anchor_.begin());
  factors_ = 0;
  max_factors_ = max_factors;
  double end_epsilon = first_end_epsilon, end_tau = first_end_tau;
  for (int round = 0, slow = 0; round < most_rounds; ++round) {
    first_epsilon_ = start_epsilon;
    last_epsilon_ = end_epsilon;
    first_tau_ = first_tau;
    last_tau_ = end_tau;
    if (!follow(problem)) return false;
    answer.judge(at_.x);
    const Polish outcome = polish(problem, tolerance, answer);
    if (outcome == Polish::done) return true;
    // Lost: other solutions are near, and only a path with less smoothing tells them apart. Slow: x has far to go along a state
    // of self-stress; a path from where it got to, and at the second time less epsilon, take it further.
    if (outcome == Polish::lost) {
      end_tau = std::max(0.1 * end_tau, least_tau);
      std::ranges::copy(answer.best_x(), anchor_.begin());
    } else {
      if (++slow % 2 == 0) end_epsilon = std::max(0.1 * end_epsilon, least_epsilon);
      anchor_ = at_.x;
    }
  }
  return false;
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
  constexpr int first_sweeps = 1000, most_sweeps = 16000, longest_path = 2000, most_paths = 12;
  constexpr double first_taus[] = {1e-2, 1e-1, 1e-2, 1e-3};
  clear(report, problem.rows());
  if (problem.rows() == 0) return;
  auto& work = workspace.get<HomotopySolver>();
  auto& linear = workspace.get<BlockSystem>();
  work.answer.begin(problem, "homotopy", report);
  work.anchor.assign(problem.x0.begin(), problem.x0.end());
  if (work.answer.judge(work.anchor) <= settings.tolerance) return work.answer.finish(settings.tolerance, x, report);
  work.swept = problem;
  int sweeps = first_sweeps;
  for (int k = 0, factors = 0; k < most_paths && factors < settings.max_iterations; ++k) {
    sweep(k, settings.tolerance, sweeps, work, workspace);
    report.iterations += work.sweeps.iterations;
    if (work.answer.judge(work.anchor) <= settings.tolerance) break;
    linear.prepare(problem);
    work.path.prepare(problem, linear);
    const int most = std::min(longest_path, settings.max_iterations - factors);
    const bool arrived =
        work.path.run(problem, work.anchor, first_taus[k % std::size(first_taus)], settings.tolerance, most, work.answer);
    factors += work.path.factors();
    report.iterations += work.path.factors();
    if (arrived) break;
    std::ranges::copy(work.anchor, work.swept.x0.begin());
    sweeps = std::min(2 * sweeps, most_sweeps);
  }
  work.answer.finish(settings.tolerance, x, report);
}

}  // namespace rotule
