#pragma once
// All that World, recorder, viewer, doctor and program see of whoever moves the state: one of several steppers, chosen when the
// world is built, one indirect call per step. A stepper keeps what it needs of the model in step with it by the calls below;
// the state is its caller's.
#include <rotule/results.h>

#include <concepts>
#include <variant>

#include "base/stage_clock.h"
#include "step/realtime/realtime_stepper.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

/// One of the islands of the last step: its bodies, and what was solved for them.
struct IslandView {
  std::span<const int> bodies;
  const ConstraintProblem& problem;  // where problems are kept
  std::span<const double> x;
  const SolveReport& report;
};

/// What every stepper can do.
template <class S>
concept AnyStepper = requires(S stepper, const S& asked, State& s, const State& at, const Joint& joint, const ShockPoint& point,
                              const ProjectionSettings& projection, const Vec3& r, double t, double h, int i) {
  { stepper.step(s, t, h) } -> std::same_as<const StepReport&>;
  stepper.begin(at, t);
  stepper.forget();
  stepper.drop_work();
  stepper.body_added();
  stepper.body_removed(i);
  stepper.joint_added();
  stepper.joint_removed(i, joint);
  stepper.forces_changed();
  stepper.strike(s, t, i, r, r);
  { stepper.shock(s, t, point) } -> std::same_as<double>;
  { stepper.project(projection, s, t) } -> std::same_as<int>;
  { stepper.diagnose(at, t, h) } -> std::same_as<Diagnostics>;
  { asked.joint_error(i) } -> std::same_as<JointError>;
  { asked.last_joint_force(i) } -> std::same_as<JointForce>;
  { stepper.joint_force(at, t, i) } -> std::same_as<JointForce>;
  stepper.redundant(at, t);
  { stepper.contacts(at, h) } -> std::convertible_to<std::span<const Contact>>;
  { asked.per_second() } -> std::same_as<double>;
  { asked.struck() } -> std::convertible_to<std::span<const Struck>>;
  { asked.joint_motion(at, i) } -> std::same_as<JointMotion>;
  { stepper.accelerations(at, t) } -> std::convertible_to<const VecX&>;
  stepper.keep_books(true, at, t);
  { asked.touches() } -> std::same_as<const TouchLog&>;
  { asked.touching(i, i) } -> std::same_as<bool>;
  stepper.drives_changed();
  stepper.motors_told();
  { asked.islands() } -> std::convertible_to<std::span<const Island>>;
  { asked.report() } -> std::same_as<const StepReport&>;
  { asked.evaluations() } -> std::same_as<std::int64_t>;
  { asked.interruptible() } -> std::same_as<bool>;
  { asked.coordinates() } -> std::same_as<std::string_view>;
  stepper.carry_on(StepTotals{}, asked.evaluations());
  stepper.set_external(VecX{});
  stepper.keep_problems(true);
  { stepper.clock() } -> std::same_as<StageClock&>;
  { stepper.totals } -> std::convertible_to<StepTotals>;
};

class Stepper {
  template <class Question>
  decltype(auto) ask(Question&& question) {
    return std::visit(std::forward<Question>(question), any_);
  }
  template <class Question>
  [[nodiscard]] decltype(auto) look(Question&& question) const {
    return std::visit(std::forward<Question>(question), any_);
  }

 public:
  /// Throws Error where the recipe does not fit what the model has.
  Stepper(const Model& model, const Recipe& recipe) : any_(make(model, recipe)) {}

  const StepReport& step(State& s, double t, double h) {
    return ask([&](auto& stepper) -> const StepReport& { return stepper.step(s, t, h); });
  }
  [[nodiscard]] const StepReport& last_report() const {
    return look([](const auto& stepper) -> const StepReport& { return stepper.report(); });
  }
  /// What is decided once for a state that somebody else made.
  void begin(const State& s, double t) {
    ask([&](auto& stepper) { stepper.begin(s, t); });
  }
  /// Whoever changes the state by hand says so here.
  void forget() {
    ask([](auto& stepper) { stepper.forget(); });
  }

  /// Drops what a step that was broken off may have left half done; the archive then sets the rest right.
  void drop_work() {
    ask([](auto& stepper) { stepper.drop_work(); });
  }

  // The model's last body or joint is new; the one with this number has left (a body without joints); forces came or went.
  void body_added() {
    ask([](auto& stepper) { stepper.body_added(); });
  }
  void body_removed(int body) {
    ask([&](auto& stepper) { stepper.body_removed(body); });
  }
  void joint_added() {
    ask([](auto& stepper) { stepper.joint_added(); });
  }
  void joint_removed(int number, const Joint& joint) {
    ask([&](auto& stepper) { stepper.joint_removed(number, joint); });
  }
  void forces_changed() {
    ask([](auto& stepper) { stepper.forces_changed(); });
  }

  /// Somebody told a motor something else, or one was put on an axis that had none. Throws Error where the recipe cannot do it.
  void drives_changed() {
    ask([](auto& stepper) { stepper.drives_changed(); });
  }
  /// Likewise, all rows being as they were.
  void motors_told() {
    ask([](auto& stepper) { stepper.motors_told(); });
  }

  /// Forces that a user set, laid out as u.
  void set_external(const VecX& external) {
    ask([&](auto& stepper) { stepper.set_external(external); });
  }
  /// Whether every step keeps a copy of what it solved.
  void keep_problems(bool keep) {
    ask([&](auto& stepper) { stepper.keep_problems(keep); });
  }
  /// Whether the time of each stage is measured; and what it was in the last step.
  void time_stages(bool wanted) {
    ask([&](auto& stepper) { stepper.clock().wanted = wanted; });
  }
  [[nodiscard]] const std::array<double, stage_count>& stage_seconds() const {
    return look([](const auto& stepper) -> const std::array<double, stage_count>& { return stepper.clock().seconds(); });
  }

  // By hand, joints holding: a blow of `impulse` at a point; a shock (A8), which returns the energy taken out; joints closed,
  // which returns the iterations.
  void strike(State& s, double t, int body, const Vec3& impulse, const Vec3& at) {
    ask([&](auto& stepper) { stepper.strike(s, t, body, impulse, at); });
  }
  double shock(State& s, double t, const ShockPoint& point) {
    return ask([&](auto& stepper) { return stepper.shock(s, t, point); });
  }
  int project(const ProjectionSettings& settings, State& s, double t) {
    return ask([&](auto& stepper) { return stepper.project(settings, s, t); });
  }

  /// The ledger of this state; joint errors and the last joint forces are then those of it.
  Diagnostics diagnose(const State& s, double t, double h) {
    return ask([&](auto& stepper) { return stepper.diagnose(s, t, h); });
  }
  [[nodiscard]] JointError joint_error(int joint) const {
    return look([&](const auto& stepper) { return stepper.joint_error(joint); });
  }
  [[nodiscard]] JointForce last_joint_force(int joint) const {
    return look([&](const auto& stepper) { return stepper.last_joint_force(joint); });
  }
  /// Solved for at this state, where the method has accelerations; else the last step's.
  JointForce joint_force(const State& s, double t, int joint) {
    return ask([&](auto& stepper) { return stepper.joint_force(s, t, joint); });
  }
  /// Joints with rows that others imply, and how many.
  std::vector<std::pair<int, int>> redundant(const State& s, double t) {
    return ask([&](auto& stepper) { return stepper.redundant(s, t); });
  }
  /// Where bodies touch now, with the last step's impulses; `per_second` turns those into forces.
  std::span<const Contact> contacts(const State& s, double h) {
    return ask([&](auto& stepper) { return stepper.contacts(s, h); });
  }
  [[nodiscard]] double per_second() const {
    return look([](const auto& stepper) { return stepper.per_second(); });
  }
  /// Blows within the last step, which those contacts know nothing of; impulses too.
  [[nodiscard]] std::span<const Struck> struck() const {
    return look([](const auto& stepper) { return std::span<const Struck>(stepper.struck()); });
  }
  /// The joint's free axes, with what its drives exerted in the last step.
  [[nodiscard]] JointMotion joint_motion(const State& s, int joint) const {
    return look([&](const auto& stepper) { return stepper.joint_motion(s, joint); });
  }
  /// Laid out as u; at velocity level the mean ones of the last step.
  const VecX& accelerations(const State& s, double t) {
    return ask([&](auto& stepper) -> const VecX& { return stepper.accelerations(s, t); });
  }
  /// Books of energy and momentum, from this state on.
  void keep_books(bool keep, const State& s, double t) {
    ask([&](auto& stepper) { stepper.keep_books(keep, s, t); });
  }
  /// Who touches whom, and what the last step changed about it.
  [[nodiscard]] const TouchLog& touches() const {
    return look([](const auto& stepper) -> const TouchLog& { return stepper.touches(); });
  }
  [[nodiscard]] bool touching(int a, int b) const {
    return look([&](const auto& stepper) { return stepper.touching(a, b); });
  }
  /// Of the last step; before the first, those that joints alone make.
  [[nodiscard]] int island_count() const {
    return look([](const auto& stepper) { return static_cast<int>(stepper.islands().size()); });
  }
  [[nodiscard]] IslandView island(int number) const {
    return look([&](const auto& stepper) -> IslandView {
      const Island& island = stepper.islands()[static_cast<std::size_t>(number)];
      return {island.bodies,
              island.kept_problem,
              {island.kept_x.data(), static_cast<std::size_t>(island.kept_x.size())},
              island.report};
    });
  }
  [[nodiscard]] const StepTotals& totals() const {
    return look([](const auto& stepper) -> const StepTotals& { return stepper.totals; });
  }
  [[nodiscard]] std::int64_t evaluations() const {
    return look([](const auto& stepper) { return stepper.evaluations(); });
  }
  /// Whether a step may be broken off halfway, so that its start must be remembered.
  [[nodiscard]] bool interruptible() const {
    return look([](const auto& stepper) { return stepper.interruptible(); });
  }
  /// What is integrated: "maximal" or "reduced".
  [[nodiscard]] std::string_view coordinates() const {
    return look([](const auto& stepper) { return stepper.coordinates(); });
  }
  /// What a stepper that this one replaces had come to.
  void carry_on(const StepTotals& totals, std::int64_t evaluations) {
    ask([&](auto& stepper) { stepper.carry_on(totals, evaluations); });
  }

  /// All that the next step depends on besides the state, for exact snapshots.
  template <class Archive>
  void archive(Archive& io) {
    ask([&](auto& stepper) { stepper.archive(io); });
  }

  /// The reference stepper, where it is the one: for tests and benchmarks of its parts.
  [[nodiscard]] const ReferenceStepper* reference() const { return std::get_if<ReferenceStepper>(&any_); }

 private:
  static_assert(AnyStepper<ReferenceStepper> && AnyStepper<RealtimeStepper>);
  using Any = std::variant<ReferenceStepper, RealtimeStepper>;
  static Any make(const Model& model, const Recipe& recipe) {
    if (std::holds_alternative<RealtimeStepperSettings>(recipe.stepper))
      return Any(std::in_place_type<RealtimeStepper>, model, recipe);
    return Any(std::in_place_type<ReferenceStepper>, model, recipe);
  }
  Any any_;
};

}  // namespace rotule
