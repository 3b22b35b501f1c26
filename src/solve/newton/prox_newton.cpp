// Proximal point with nonsmooth Newton. The laws of all rows are one equation F(x, w(x)) = 0 (contact_law.h); around an anchor a
// the problem with w + S (x - a), S = epsilon / rho, has a better conditioned Jacobian, also where A is singular (a table with
// four legs); it is solved by Newton steps with a nonmonotone line search on |F|^2 in the norm of 1 / rho, and its answer becomes
// the next anchor. With a small epsilon one Newton step per anchor is enough and the last ones are quadratic.
// Where Newton gets stuck near the end, it walks along states of self-stress; where that does not help, the interior point
// (interior_point.h) finds a better place to start from; then the method of multipliers (augmented.h), with epsilon falling from
// step to step, and sweeps. Alart, Curnier (1991); Acary, Bremond, Huber, "On solving contact problems with Coulomb friction"
// (2018), section 4. It fails (and says so) where the problem has no solution, as Painleve's rod may, or where rounding exceeds
// the tolerance.
#include <rotule/error.h>
#include <rotule/solvers/prox_newton.h>

#include "base/budget.h"
#include "solve/newton/augmented.h"
#include "solve/newton/contact_system.h"
#include "solve/newton/interior_point.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

constexpr double smallest_proximal = 1e-12;

class ProxNewton {
 public:
  void start(const ConstraintProblem& problem, const ProxNewtonSettings& settings, std::span<double> x);
  void run(const ConstraintProblem& problem, const ProxNewtonSettings& settings, std::span<double> x);

  [[nodiscard]] double best() const { return best_; }
  [[nodiscard]] int iterations() const { return iterations_; }
  void restore(std::span<double> x) const { std::copy(best_x_.begin(), best_x_.end(), x.begin()); }

 private:
  double judge(const ConstraintProblem& problem, std::span<double> x);
  double evaluate(const ConstraintProblem& problem, std::span<const double> x, std::span<const double> w, double epsilon);
  bool newton(const ConstraintProblem& problem, int max_steps, double epsilon, bool cautious, std::span<double> x);
  bool newton_around_anchors(const ConstraintProblem& problem, int max_steps, double epsilon, bool cautious, std::span<double> x);
  bool newton_until_stuck(const ConstraintProblem& problem, int max_steps, double epsilon, std::span<double> x);
  void multipliers(const ConstraintProblem& problem, std::span<double> x);
  void continuation(const ConstraintProblem& problem, std::span<double> x);
  bool walk_along_self_stress(const ConstraintProblem& problem, std::span<double> x);
  [[nodiscard]] bool done() const {
    return best_ <= std::max(goal_, floor_) || iterations_ >= max_iterations_ || Budget::spent();
  }

  ContactSystem system_;
  AugmentedLagrangian augmented_;
  InteriorPoint interior_;
  std::vector<double> w_, shifted_, dx_, A_dx_, anchor_, trial_, trial_w_, best_x_, safe_, trusted_;
  Judge judge_;
  double best_ = infinity, floor_ = 0, goal_ = 0, proximal_ = 0;
  double multiplier_epsilon_ = 0, smallest_multiplier_epsilon_ = 0;
  int iterations_ = 0, max_iterations_ = 0;
};

/// The judge's number for x, whose w is left in w_; keeps the best x.
double ProxNewton::judge(const ConstraintProblem& problem, std::span<double> x) {
  system_.velocities(problem, x, w_);
  const double now = judge_.judge(x);
  if (now < best_) {
    best_ = now;
    std::copy(x.begin(), x.end(), best_x_.begin());
    floor_ = judge_.rounding();  // where large impulses cancel (a heavy body on light ones)
  }
  return now;
}

/// F and D with the proximal term around the anchor; returns the merit.
double ProxNewton::evaluate(const ConstraintProblem& problem, std::span<const double> x, std::span<const double> w,
                            double epsilon) {
  const std::span<const double> rho = system_.rho();
  for (std::size_t r = 0; r < x.size(); ++r) shifted_[r] = w[r] + epsilon / rho[r] * (x[r] - anchor_[r]);
  return system_.evaluate(problem, x, shifted_);
}

void ProxNewton::start(const ConstraintProblem& problem, const ProxNewtonSettings& settings, std::span<double> x) {
  const int n = problem.rows();
  system_.prepare(problem);
  for (auto* v : {&w_, &shifted_, &dx_, &A_dx_, &anchor_, &trial_, &trial_w_, &best_x_, &safe_, &trusted_}) v->resize(n);
  judge_.begin(problem);
  best_ = infinity;
  goal_ = settings.tolerance;
  proximal_ = settings.proximal;
  iterations_ = 0;
  max_iterations_ = settings.max_iterations;

  std::fill(x.begin(), x.end(), 0.0);
  judge(problem, x);
  if (problem.x0.squaredNorm() > 0) {
    std::copy_n(problem.x0.data(), n, x.begin());
    judge(problem, x);
  }
  restore(x);
  if (done() || settings.first_sweeps == 0) return;
  system_.sweep(problem, settings.first_sweeps, x);
  judge(problem, x);
  restore(x);
}

/// Newton steps around one anchor. True where they have reached what the anchor can give, or the residual fell well.
bool ProxNewton::newton(const ConstraintProblem& problem, int max_steps, double epsilon, bool cautious, std::span<double> x) {
  constexpr int memory = 4, most_cuts = 8, most_jumps = 3;
  std::copy(x.begin(), x.end(), anchor_.begin());
  const double before = judge(problem, x);
  double merit = evaluate(problem, x, w_, epsilon);
  const double first_merit = merit;
  double recent[memory];
  int jumps = 0;
  std::fill_n(recent, memory, merit);
  for (int k = 0; k < max_steps && iterations_ < max_iterations_ && !Budget::spent(); ++k) {
    Budget::count();
    system_.factor(problem, epsilon);
    system_.linear().solve(problem, system_.law(), dx_, A_dx_);
    ++iterations_;
    if (!all_finite(dx_)) return false;
    double t = 1, chosen = 0, least = infinity;
    const double reference = *std::max_element(recent, recent + memory);
    for (int cut = 0; cut < (cautious ? most_cuts : 1); ++cut, t *= 0.5) {
      for (std::size_t r = 0; r < x.size(); ++r) {
        trial_[r] = x[r] + t * dx_[r];
        trial_w_[r] = w_[r] + t * A_dx_[r];
      }
      const double m = evaluate(problem, trial_, trial_w_, epsilon);
      if (m < least) {
        least = m;
        chosen = t;
      }
      if (m <= (1 - 1e-4 * t) * reference) break;
    }
    if (!(least < infinity)) return false;
    for (std::size_t r = 0; r < x.size(); ++r) x[r] += chosen * dx_[r];
    const double now = judge(problem, x), before_step = merit;
    if (best_ <= goal_) return true;
    merit = evaluate(problem, x, w_, epsilon);
    recent[k % memory] = merit;
    if (merit <= 1e-4 * first_merit || now <= 0.1 * before) return true;
    if (cautious && least > reference) return false;
    // Across a kink the merit may jump once; a second time it goes round in circles, or away.
    jumps += merit > before_step;
    if (!cautious && jumps > most_jumps) return false;
  }
  return false;
}

/// One anchor after the other for as long as that helps. x is then the best that was seen. True where much was gained.
bool ProxNewton::newton_around_anchors(const ConstraintProblem& problem, int max_steps, double epsilon, bool cautious,
                                       std::span<double> x) {
  const double before = best_;
  for (int idle = 0; idle < 3 && !done();) {
    const double last = best_;
    if (!newton(problem, max_steps, epsilon, cautious, x)) break;
    // Slow although Newton did its part: the proximal term holds it back.
    if (best_ > 0.1 * last) epsilon = std::max(0.1 * epsilon, smallest_proximal);
    idle = best_ < 0.5 * last ? 0 : idle + 1;
  }
  if (best_ < 0.1 * before) {
    restore(x);
    return true;
  }
  return false;
}

/// The method of multipliers, with epsilon falling from anchor to anchor, and Newton now and then. x is its last answer.
void ProxNewton::multipliers(const ConstraintProblem& problem, std::span<double> x) {
  constexpr int most_anchors = 8, most_steps = 40, good_steps = 12, newton_steps = 10;
  std::copy(x.begin(), x.end(), safe_.begin());
  for (int anchor = 1; anchor <= most_anchors && !done(); ++anchor) {
    judge(problem, x);
    const auto [steps, converged] = augmented_.step(problem, system_, multiplier_epsilon_, most_steps, x, w_);
    iterations_ += steps;
    if (!converged) {
      smallest_multiplier_epsilon_ = std::max(smallest_multiplier_epsilon_, 3 * multiplier_epsilon_);
      multiplier_epsilon_ = std::min(10 * multiplier_epsilon_, 1.0);
      std::copy(safe_.begin(), safe_.end(), x.begin());
      continue;
    }
    judge(problem, x);
    std::copy(x.begin(), x.end(), safe_.begin());
    if (steps <= good_steps) multiplier_epsilon_ = std::max(0.1 * multiplier_epsilon_, smallest_multiplier_epsilon_);
    if (anchor % 2 == 1) continue;
    const struct {
      double epsilon;
      bool cautious;
    } tries[] = {{proximal_, true}, {100 * proximal_, false}, {std::sqrt(proximal_), true}};
    for (const auto& [epsilon, cautious] : tries) {
      if (done()) return;
      if (newton_around_anchors(problem, newton_steps, epsilon, cautious, x)) {
        std::copy(x.begin(), x.end(), safe_.begin());
        break;
      }
      std::copy(safe_.begin(), safe_.end(), x.begin());
    }
  }
}

/// Newton around anchors with a strong proximal term that falls with each success and grows with each failure.
void ProxNewton::continuation(const ConstraintProblem& problem, std::span<double> x) {
  constexpr int most_anchors = 12, most_steps = 12, most_failures = 3;
  double epsilon = 1e-2;
  std::copy(x.begin(), x.end(), trusted_.begin());
  for (int k = 0, failures = 0; k < most_anchors && failures < most_failures && !done(); ++k) {
    if (newton(problem, most_steps, epsilon, true, x)) {
      std::copy(x.begin(), x.end(), trusted_.begin());
      epsilon = std::max(0.1 * epsilon, proximal_);
    } else {
      std::copy(trusted_.begin(), trusted_.end(), x.begin());
      epsilon = std::min(10 * epsilon, 1.0);
      ++failures;
    }
  }
}

/// Where contacts that stick ask for motions that no rigid bodies have (two points of one body that are to close gaps of
/// different size), the solution lies at the end of a state of self-stress: the more so the further, the smaller the
/// contradiction is. Each anchor takes x along it by w rho / epsilon, until contacts begin to slip; there a full step makes the
/// merit jump before it falls, so that no line search may forbid it. True where all is done; x is the best then.
bool ProxNewton::walk_along_self_stress(const ConstraintProblem& problem, std::span<double> x) {
  constexpr int most_steps = 10, most_failures = 8;
  constexpr double near = 1e-5;  // a relative residual: further away other things are wrong
  if (best_ > near) return done();
  restore(x);
  std::copy(x.begin(), x.end(), trusted_.begin());
  double epsilon = proximal_;
  for (int failures = 0; failures < most_failures && !done();) {
    if (newton(problem, most_steps, epsilon, false, x)) {
      std::copy(x.begin(), x.end(), trusted_.begin());
      epsilon = std::max(0.3 * epsilon, smallest_proximal);
      failures = 0;
    } else {
      std::copy(trusted_.begin(), trusted_.end(), x.begin());
      epsilon = std::min(10 * epsilon, 1.0);
      ++failures;
    }
  }
  restore(x);
  return done();
}

/// Newton for as long as it gains much; true where all is done. x is then the best.
bool ProxNewton::newton_until_stuck(const ConstraintProblem& problem, int max_steps, double epsilon, std::span<double> x) {
  while (!done() && newton_around_anchors(problem, max_steps, epsilon, true, x)) {
  }
  restore(x);
  return done();
}

void ProxNewton::run(const ConstraintProblem& problem, const ProxNewtonSettings&, std::span<double> x) {
  constexpr int most_steps = 30, sweeps = 20, interior_steps = 60;
  constexpr double interior_tolerance = 1e-9;
  if (newton_until_stuck(problem, most_steps, proximal_, x)) return;
  if (walk_along_self_stress(problem, x)) return;
  // From the middle of the cones: slower than a good Newton, but sure in most cases; Newton then finishes.
  interior_.prepare(problem, system_.linear());
  restore(x);
  double residual = best_;
  iterations_ += interior_.run(problem, std::max(goal_, interior_tolerance),
                               std::min(interior_steps, max_iterations_ - iterations_), x, residual);
  judge(problem, x);
  for (const double factor : {1.0, 100.0})
    if (newton_until_stuck(problem, most_steps, factor * proximal_, x)) return;
  if (walk_along_self_stress(problem, x)) return;
  system_.sweep(problem, sweeps, x);
  judge(problem, x);
  restore(x);
  multiplier_epsilon_ = 0.1;
  smallest_multiplier_epsilon_ = 0.1 * proximal_;
  for (int round = 0, idle = 0; idle < 2 && !done(); ++round) {
    const double before = best_;
    multipliers(problem, x);
    if (done()) return;
    restore(x);
    system_.sweep(problem, sweeps << std::min(2 * round, 4), x);
    judge(problem, x);
    newton_around_anchors(problem, most_steps, proximal_, true, x);
    if (done()) return;
    continuation(problem, x);
    const bool gained = best_ < 0.9 * before;
    idle = gained ? 0 : idle + 1;
    if (gained)
      restore(x);
    else
      std::copy(safe_.begin(), safe_.end(), x.begin());
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const ProxNewtonSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  clear(report, problem.rows());
  if (problem.rows() == 0) return;
  auto& work = workspace.get<ProxNewton>();
  try {
    const Dispensable factors;  // once there is a best x
    work.start(problem, settings, x);
    work.run(problem, settings, x);
  } catch (const OutOfTime&) {
    static_cast<void>(Budget::spent());  // said
  }
  work.restore(x);
  report.iterations = work.iterations();
  report.residual = work.best();
  if (!std::isfinite(report.residual) || !all_finite(x))
    throw Error("solver prox_newton", "the residual is not finite; check masses, Jacobians and right-hand side");
  report.converged = report.residual <= settings.tolerance;
}

}  // namespace rotule
