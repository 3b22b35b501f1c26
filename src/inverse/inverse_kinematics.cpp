// The two iterations of inverse kinematics (A9) over a PoseSystem, and the choice between them.
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/budget.h"
#include "inverse/pose_system.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

constexpr int patience = 25;              // iterations of Newton's method without an error that is a tenth better
constexpr double careful_rotation = 0.7;  // rad per iteration, where loops have to be closed or stops to be respected
constexpr double no_step = 1e-9;          // rad, m: a move that leads nowhere
constexpr double first_damping = 1e-2, least_damping = 1e-6, most_damping = 1e14;
constexpr double no_gain = 1e-17;            // of the weighted error: nothing more to be won
constexpr double unmeasurable_gain = 1e-13;  // likewise, below which rounding hides whether a step was good
constexpr double first_nudge = 1e-2;         // rad
constexpr double real_gain = 1e-6;           // of the weighted error: a nudge that led somewhere

class Search {
 public:
  Search(PoseSystem& system, const InverseSettings& settings, InverseReport& report)
      : system_(system), settings_(settings), report_(report), s_(system.start()), trial_(s_), start_(s_) {
    bound_ = settings.max_rotation;
    if (!system.is_tree() || system.has_limits()) bound_ = std::min(bound_, careful_rotation);
  }

  void run() {
    bool reached = false;
    if (settings_.method != InverseMethod::damped) reached = newton();
    if (!reached && settings_.method != InverseMethod::newton) {
      // Newton's jumps may have led anywhere: the closest pose is looked for from where the user began.
      s_ = start_;
      damped_with_nudges();
    }
  }
  [[nodiscard]] const State& pose() const { return s_; }

 private:
  [[nodiscard]] bool met(const PoseSystem::Errors& e) const {
    return e.largest() <= std::max(settings_.tolerance, system_.rounding());
  }
  bool count(InverseMethod method, double error, double step) {
    Budget::listen();
    report_.course.push_back({method, error, step});
    return ++report_.iterations < settings_.max_iterations;
  }

  bool newton() {
    PoseSystem::Errors now = system_.evaluate(s_);
    State best = s_;
    double least = infinity, mark = infinity;
    int since_mark = 0, nudges = 0;
    for (;;) {
      const double error = now.largest();
      if (met(now)) return true;
      if (error < least) {
        least = error;
        best = s_;
      }
      if (error < 0.9 * mark) {
        mark = error;
        since_mark = 0;
      }
      if (++since_mark > patience || !std::isfinite(error)) break;
      system_.solve(0);
      const double share = std::min(1.0, bound_ / std::max(system_.largest_turn(), 1e-300));
      const double step = share * system_.largest_step();
      if (step < no_step && error > 1e3 * no_step) {
        // A straight arm that should become shorter: the rows say that nothing can be done.
        if (nudges++ == 2) break;
        system_.nudge(nudges * first_nudge, s_);
        now = system_.evaluate(s_);
        continue;
      }
      const bool more = count(InverseMethod::newton, error, step);
      system_.apply(share, s_, trial_);
      std::swap(s_, trial_);
      now = system_.evaluate(s_);
      if (!more) {
        if (met(now)) return true;
        break;
      }
    }
    s_ = best;
    return false;
  }

  /// Down to where nothing is left to be won: true where the targets are met.
  bool damped() {
    if (!system_.close(s_)) throw Error("inverse kinematics", "joints cannot be closed at the start; see rotule check");
    PoseSystem::Errors now = system_.evaluate(s_);
    double damping = first_damping;
    while (report_.iterations < settings_.max_iterations) {
      if (met(now)) return true;
      // Too far is too little damping.
      double predicted = system_.solve(damping);
      while (system_.largest_turn() > bound_ && damping < most_damping) predicted = system_.solve(damping *= 4);
      const double step = system_.largest_step();
      if (now.limits <= settings_.tolerance && (1 + damping) * predicted <= no_gain * now.weighted) {
        report_.closest = true;
        return false;
      }
      count(InverseMethod::damped, now.largest(), step);
      system_.apply(1, s_, trial_);
      const bool closed = system_.close(trial_);
      const PoseSystem::Errors then = system_.evaluate(trial_);
      const double gain = now.weighted - then.weighted;
      const bool hidden = predicted < unmeasurable_gain * now.weighted && gain > -unmeasurable_gain * now.weighted;
      if (closed && std::isfinite(then.weighted) && (gain > 1e-4 * predicted || hidden || then.limits < 0.5 * now.limits)) {
        std::swap(s_, trial_);
        now = then;
        damping *= gain > 0.75 * predicted ? 0.1 : gain > 0.25 * predicted || hidden ? 0.5 : 3;
        damping = std::max(damping, least_damping);
      } else {
        damping *= 6;
        if (damping > most_damping) {
          report_.closest = true;
          system_.evaluate(s_);
          return false;
        }
        now = system_.evaluate(s_);
      }
    }
    return met(now);
  }

  /// By symmetry the gradient may vanish where the error is not least: a small nudge tells.
  void damped_with_nudges() {
    std::optional<State> best;
    double least = infinity;
    for (int tries = 0; tries < 3; ++tries) {
      const bool reached = damped();
      const double error = system_.evaluate(s_).weighted;
      if (reached) return;
      if (best && !(error < (1 - real_gain) * least)) {
        s_ = *best;
        return;
      }
      if (!report_.closest) return;
      best = s_;
      least = error;
      report_.closest = false;
      system_.nudge(first_nudge, s_);
    }
  }

  PoseSystem& system_;
  const InverseSettings& settings_;
  InverseReport& report_;
  State s_, trial_;
  const State start_;
  double bound_ = 2;
};

void check(const InverseSettings& settings) {
  const auto require = [](bool condition, const char* what) {
    if (!condition) throw Error("inverse kinematics", what);
  };
  require(settings.tolerance > 0 && std::isfinite(settings.tolerance), "tolerance must be greater than 0");
  require(settings.max_iterations > 0, "max_iterations must be greater than 0");
  require(settings.max_rotation > 0 && settings.max_rotation <= 3, "max_rotation must be greater than 0 and at most 3");
}

}  // namespace

InverseReport inverse_kinematics(World& world, std::span<const Target> targets, const InverseSettings& settings) {
  check(settings);
  InverseReport report;
  PoseSystem system(world, targets, settings);
  Search search(system, settings, report);
  search.run();

  const State& s = search.pose();
  const PoseSystem::Errors errors = system.evaluate(s);
  report.error = errors.targets;
  report.joint_error = errors.joints;
  report.limit_error = std::max(0.0, errors.limits);
  report.reached = errors.largest() <= std::max(settings.tolerance, system.rounding());
  report.closest = report.closest && !report.reached;
  for (int k = 0; k < system.targets(); ++k) report.target_errors.push_back(system.target_error(k));
  report.at_limits = system.joints_at_limits();
  const Model& model = system.model();
  const WorldImplementation& w = implementation_of(world);
  for (int i = 0; i < model.body_count(); ++i)
    if (model.movable(i)) world.set_pose(w.body_slots.id(i), body_frame(model, s, i));
  for (int k = 0; k < model.particle_count(); ++k)
    if (model.particles.movable(k)) world.set_particle(k, s.particle_position(k), world.particle_velocity(k));
  world.project();
  return report;
}

}  // namespace rotule
