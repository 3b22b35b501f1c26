#pragma once
// The real-time path: fixed stages, few options, all numbers. A step of h is made of n substeps of h/n (docs/realtime.md):
//
//   collide                      once, what has moved; contacts keep their slots and impulses
//   prepare                      rows, and the last step's impulses given to the bodies
//   n times  v <- v + h/n M^-1 f  and the impulses of the last substep
//            push                one sweep; overlaps are springs, solved implicitly
//            q <- q + h/n v
//            relax               one sweep without springs, with friction: overlaps leave no speed behind
//   bounce                       what arrived fast enough
//   finish                       into the state
//
// (E. Catto, "Solver2D", 2024, whose soft step this is; M. Macklin et al., "Small steps in physics simulation", 2019.)
#include <rotule/recipe.h>
#include <rotule/results.h>

#include <memory>
#include <utility>

#include "base/stage_clock.h"
#include "constraint/formulation/contact_formulation.h"
#include "dynamics/forces/force_set.h"
#include "mechanism/island.h"
#include "mechanism/shock.h"
#include "step/ledger.h"
#include "step/realtime/touches.h"
#include "step/touch_log.h"

namespace rotule {

class RealtimeStepper {
 public:
  /// Throws Error where the model has something that it does not know.
  RealtimeStepper(const Model& model, const Recipe& recipe);
  RealtimeStepper(const RealtimeStepper&) = delete;
  RealtimeStepper& operator=(const RealtimeStepper&) = delete;
  ~RealtimeStepper();

  /// Moves the state from t to t + h. Throws Error, naming the body, where a number is no longer finite.
  const StepReport& step(State& s, double t, double h);
  /// A step is never broken off halfway: it listens once, before it begins.
  [[nodiscard]] static bool interruptible() { return false; }

  void begin(const State&, double) { loaded_ = false; }
  void forget() { loaded_ = found_ = false; }
  void drop_work() { forget(); }
  void body_added();
  void body_removed(int body);
  void joint_added();
  void joint_removed(int, const Joint&) {}
  void forces_changed() { forget(); }
  static void drives_changed() {}
  static void motors_told() {}

  void strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at);
  double shock(State& s, double t, const ShockPoint& point);
  int project(const ProjectionSettings&, State&, double) { return 0; }

  void set_external(const VecX& external) { external_ = external; }
  void keep_problems(bool) {}
  void carry_on(const StepTotals& so_far, std::int64_t evaluations) {
    totals = so_far;
    evaluations_ = evaluations;
  }

  [[nodiscard]] const StepReport& report() const { return report_; }
  [[nodiscard]] StageClock& clock() const { return clock_; }
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }
  Diagnostics diagnose(const State& s, double t, double h);
  [[nodiscard]] static JointError joint_error(int) { return {}; }
  [[nodiscard]] static JointForce last_joint_force(int) { return {}; }
  static JointForce joint_force(const State&, double, int) { return {}; }
  static std::vector<std::pair<int, int>> redundant(const State&, double) { return {}; }
  /// Where bodies touch, with the last step's impulses.
  std::span<const Contact> contacts(const State& s, double h);
  [[nodiscard]] double per_second() const { return last_h_ > 0 ? 1 / last_h_ : 0; }
  [[nodiscard]] static std::span<const Island> islands() { return {}; }
  /// Blows within a step are not told apart, nor are contacts that begin and end, nor books kept.
  [[nodiscard]] static std::span<const Struck> struck() { return {}; }
  [[nodiscard]] static JointMotion joint_motion(const State&, int) { return {}; }
  [[nodiscard]] const TouchLog& touches() const { return none_; }
  static void keep_books(bool, const State&, double) {}
  /// The mean ones of the last step.
  const VecX& accelerations(const State& s, double);

  template <class Archive>
  void archive(Archive& io);

  StepTotals totals;

 private:
  void load(const State& s);
  /// What forces add to velocities in one substep.
  void gather_forces(const State& s, double t, double h);
  [[noreturn]] void report_wild() const;

  const Model& model_;
  const Recipe& recipe_;
  RealtimeStepperSettings settings_;
  ContactRules rules_;
  realtime::BodyLines bodies_;
  realtime::Touches touches_;
  bool loaded_ = false;  // whether the lines are those of the state
  bool found_ = false;   // whether contacts were looked for since somebody changed it
  double last_h_ = 0;    // of the last step
  double size_ = 0;      // of the smallest part that moves, m
  VecX start_u_, accelerations_;
  TouchLog none_;
  VecX external_, forces_;
  ForceScratch scratch_;
  std::vector<Contact> contacts_;
  StepReport report_;
  std::int64_t evaluations_ = 0;
  mutable StageClock clock_;
};

}  // namespace rotule
