#pragma once
// All that World, recorder, viewer, doctor and program see of whoever moves the state: one of several steppers, chosen when the
// world is built, one indirect call per step. A stepper keeps what it needs of the model in step with it by the calls below;
// the state is its caller's. Whoever includes this does not see the steppers: they are in step/any_stepper.h.
#include <rotule/results.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/stage_clock.h"

namespace rotule {

class ReferenceStepper;
class TouchLog;
struct ConstraintProblem;
struct Contact;
struct Flow;
struct Joint;
struct Model;
struct ProjectionSettings;
struct Recipe;
struct ShockPoint;
struct SolveReport;
struct State;
struct StepPlan;
struct StepTotals;
struct Struck;

/// One of the islands of the last step: its bodies, and what was solved for them.
struct IslandView {
  std::span<const int> bodies;
  const ConstraintProblem& problem;  // where problems are kept
  std::span<const double> x;
  const SolveReport& report;
};

class Stepper {
 public:
  /// Throws Error where the recipe does not fit what the model has.
  Stepper(const Model& model, const Recipe& recipe);
  ~Stepper();

  const StepReport& step(State& s, double t, double h);
  [[nodiscard]] const StepReport& last_report() const;
  /// What is decided once for a state that somebody else made.
  void begin(const State& s, double t);
  /// Whoever changes the state by hand says so here; or, where it is that of one body alone, by the next.
  void forget();
  void body_changed(int body);

  /// Drops what a step that was broken off may have left half done; the archive then sets the rest right.
  void drop_work();

  // The model's last body or joint is new; the one with this number has left (a body without joints); forces came or went.
  void body_added();
  void body_removed(int body);
  void joint_added();
  void joint_removed(int number, const Joint& joint);
  void forces_changed();

  /// Somebody told a motor something else, or one was put on an axis that had none. Throws Error where the recipe cannot do it.
  void drives_changed();
  /// Likewise, all rows being as they were.
  void motors_told();

  /// Forces that a user set, laid out as u; or, where those on one body alone are new, by the next.
  void set_external(const VecX& external);
  void force_changed(int body, const VecX& external);
  /// Steps inside of methods with error control, written down to be made again; null: no longer.
  void keep_plan(StepPlan* plan);
  /// Whether every step keeps a copy of what it solved.
  void keep_problems(bool keep);
  /// Whether the time of each stage is measured; and what it was in the last step.
  void time_stages(bool wanted);
  [[nodiscard]] const std::array<double, stage_count>& stage_seconds() const;

  // By hand, joints holding: a blow of `impulse` at a point; a shock (A8), which returns the energy taken out; joints closed,
  // which returns the iterations.
  void strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at);
  double shock(State& s, double t, const ShockPoint& point);
  int project(const ProjectionSettings& settings, State& s, double t);

  /// The ledger of this state; joint errors and the last joint forces are then those of it.
  Diagnostics diagnose(const State& s, double t, double h);
  [[nodiscard]] JointError joint_error(int joint) const;
  [[nodiscard]] JointForce last_joint_force(int joint) const;
  /// Solved for at this state, where the method has accelerations; else the last step's.
  JointForce joint_force(const State& s, double t, int joint);
  /// Joints with rows that others imply, and how many.
  std::vector<std::pair<int, int>> redundant(const State& s, double t);
  /// Where bodies touch now, with the last step's impulses; `per_second` turns those into forces.
  std::span<const Contact> contacts(const State& s, double h);
  [[nodiscard]] double per_second() const;
  /// Blows within the last step, which those contacts know nothing of; impulses too.
  [[nodiscard]] std::span<const Struck> struck() const;
  /// The joint's free axes, with what its drives exerted in the last step.
  [[nodiscard]] JointMotion joint_motion(const State& s, int joint) const;
  /// Laid out as u; at velocity level the mean ones of the last step.
  const VecX& accelerations(const State& s, double t);
  /// Books of energy and momentum, from this state on.
  void keep_books(bool keep, const State& s, double t);
  /// Elements have flowed or torn since the last step, which took this.
  void worn(const Flow& flow, bool torn);
  /// Who touches whom, and what the last step changed about it.
  [[nodiscard]] const TouchLog& touches() const;
  [[nodiscard]] bool touching(int a, int b) const;
  /// Of the last step; before the first, those that joints alone make.
  [[nodiscard]] int island_count() const;
  [[nodiscard]] IslandView island(int number) const;
  [[nodiscard]] const StepTotals& totals() const;
  [[nodiscard]] std::int64_t evaluations() const;
  /// Whether a step may be broken off halfway, so that its start must be remembered.
  [[nodiscard]] bool interruptible() const;
  /// What is integrated: "maximal" or "reduced".
  [[nodiscard]] std::string_view coordinates() const;
  /// What a stepper that this one replaces had come to.
  void carry_on(const StepTotals& totals, std::int64_t evaluations);

  /// All that the next step depends on besides the state, for exact snapshots (step/archive.h).
  template <class Archive>
  void archive(Archive& io);

  /// The reference stepper, where it is the one: for tests and benchmarks of its parts.
  [[nodiscard]] const ReferenceStepper* reference() const;

 private:
  struct Any;
  template <class Question>
  decltype(auto) ask(Question&& question);
  template <class Question>
  [[nodiscard]] decltype(auto) look(Question&& question) const;
  std::unique_ptr<Any> any_;
};

}  // namespace rotule
