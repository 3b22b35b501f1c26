#pragma once
// The steppers themselves, and what each of them must be able to do.
#include <concepts>
#include <utility>
#include <variant>

#include "step/realtime/realtime_stepper.h"
#include "step/reference/reference_stepper.h"
#include "step/stepper.h"

namespace rotule {

/// What every stepper can do.
template <class S>
concept AnyStepper = requires(S stepper, const S& asked, State& s, const State& at, const Joint& joint, const ShockPoint& point,
                              const ProjectionSettings& projection, const Vec3& r, double t, double h, int i) {
  { stepper.step(s, t, h) } -> std::same_as<const StepReport&>;
  stepper.begin(at, t);
  stepper.forget();
  stepper.body_changed(i);
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
  stepper.force_changed(i, VecX{});
  stepper.keep_plan(static_cast<StepPlan*>(nullptr));
  stepper.keep_problems(true);
  { stepper.clock() } -> std::same_as<StageClock&>;
  { stepper.totals } -> std::convertible_to<StepTotals>;
};

static_assert(AnyStepper<ReferenceStepper> && AnyStepper<RealtimeStepper>);

struct Stepper::Any {
  std::variant<ReferenceStepper, RealtimeStepper> one;
};

template <class Question>
decltype(auto) Stepper::ask(Question&& question) {
  return std::visit(std::forward<Question>(question), any_->one);
}
template <class Question>
decltype(auto) Stepper::look(Question&& question) const {
  return std::visit(std::forward<Question>(question), std::as_const(any_->one));
}

}  // namespace rotule
