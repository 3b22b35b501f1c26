#include "mechanism/reduced/reduced_motion.h"

#include <rotule/error.h>

#include <algorithm>
#include <string>

namespace rotule {

namespace {

constexpr double open_state = 1e-9;  // m, rad, m/s, rad/s: what makes a state one that somebody else has moved

template <class Method>
constexpr bool has_error_control_of_joints = requires(Method method) {
  method.control;
};

/// Stretches of a method of fixed steps, between states.
template <class Method>
class ReducedFixedStretches {
 public:
  ReducedFixedStretches(Method& method, ReducedMechanism& mechanism, ReducedState& r, State& end, Memory<ReducedState>& memory)
      : method_(method), mechanism_(mechanism), r_(r), end_(end), memory_(memory) {}

  double make(const State& s, double t, double remaining) {
    if constexpr (has_memory) memory_ = method_.memory;
    flow_ = mechanism_.mechanism().now.flow;
    mechanism_.read(s, r_);
    mechanism_.begin_step(r_, t);
    advance(s, t, remaining);
    return remaining;
  }
  void remake(const State& s, double t, double length) {
    if constexpr (has_memory) method_.memory = memory_;
    mechanism_.mechanism().now.flow = flow_;
    mechanism_.read(s, r_);
    advance(s, t, length);
  }
  static void book() {}  // the method has
  [[nodiscard]] State& end() { return end_; }
  void settle(State& s, double t) {
    require_finite(mechanism_.mechanism().model, s);
    if (mechanism_.has_rows()) mechanism_.mechanism().correct(s, t);
  }
  void forget() {
    if constexpr (has_memory) method_.memory.forget();
  }
  [[nodiscard]] static double wall(const State&, double) { return infinity; }
  static void strike_wall(State&, double) {}

 private:
  static constexpr bool has_memory = requires(Method m) { m.memory.forget(); };
  void advance(const State& s, double t, double length) {
    end_ = s;
    method_.advance(mechanism_, r_, t, length);
    mechanism_.write(r_, end_);
  }

  Method& method_;
  ReducedMechanism& mechanism_;
  ReducedState& r_;
  State& end_;
  Memory<ReducedState>& memory_;  // as the stretch began
  Flow flow_;                     // likewise
};

/// Stretches of a method with error control, which meets walls on its way too.
template <class Method>
class ReducedControlledStretches {
 public:
  ReducedControlledStretches(Method& method, ReducedMechanism& mechanism, ReducedCourse& course, Course& bodies, ReducedState& r,
                             State& end)
      : method_(method), mechanism_(mechanism), course_(course), bodies_(bodies), r_(r), end_(end) {}

  double make(State& s, double t, double remaining) {
    method_.memory.forget();  // other axes may be held than when the last stretch ended
    mechanism_.read(s, r_);
    const double made = method_.make_inner_step(course_, r_, t, remaining);
    take_end(s);
    return made;
  }
  void remake(const State& s, double t, double length) {
    method_.remake_inner_step(course_, r_, t, length);
    take_end(s);
  }
  /// The last stretch is the one.
  void book() { method_.book_inner_step(course_); }
  [[nodiscard]] State& end() { return end_; }
  void settle(State& s, double t) {
    require_finite(mechanism_.mechanism().model, s);
    if (mechanism_.has_rows()) bodies_.settle(s, t);
  }
  void forget() { method_.memory.forget(); }
  [[nodiscard]] double wall(const State& s, double h) { return bodies_.has_events() ? bodies_.event(s, h) : infinity; }
  void strike_wall(State& s, double t) { bodies_.strike(s, t); }

 private:
  void take_end(const State& s) {
    end_ = s;
    mechanism_.write(method_.inner_end(), end_);
  }

  Method& method_;
  ReducedMechanism& mechanism_;
  ReducedCourse& course_;
  Course& bodies_;
  ReducedState& r_;
  State& end_;
};

}  // namespace

ReducedMotion::Method ReducedMotion::make_method(const IntegratorSettings& settings) {
  struct Make {
    Method operator()(const Rk4Settings&) const { return Rk4<M>(); }
    Method operator()(const ExplicitEulerSettings&) const { return ExplicitEuler<M>(); }
    Method operator()(const SemiImplicitEulerSettings&) const { return SemiImplicitEuler<M>(); }
    Method operator()(const Rk2Settings&) const { return Rk2<M>(); }
    Method operator()(const ModifiedEulerSettings&) const { return ModifiedEuler<M>(); }
    Method operator()(const TwoThirdsSettings&) const { return TwoThirds<M>(); }
    Method operator()(const Taylor2Settings&) const { return Taylor2<M>(); }
    Method operator()(const Taylor3Settings&) const { return Taylor3<M>(); }
    Method operator()(const LeapfrogSettings&) const { return Leapfrog<M>(); }
    Method operator()(const VerletSettings&) const { return Verlet<M>(); }
    Method operator()(const Ab4Settings&) const { return Ab4<M>(); }
    Method operator()(const DormandPrinceSettings& s) const { return Adaptive<ReducedCourse, DormandPrince5>(s); }
    Method operator()(const DormandPrince8Settings& s) const { return Adaptive<ReducedCourse, DormandPrince8>(s); }
  };
  return std::visit(
      []<class S>(const S& chosen) -> Method {
        if constexpr (requires { Make()(chosen); })
          return Make()(chosen);
        else
          throw Error("integrator", std::string(S::name) + " does not go with reduced coordinates");
      },
      settings);
}

ReducedMotion::ReducedMotion(JointedMechanism& mechanism, ShockSolver& shocks, const IntegratorSettings& settings)
    : bodies_(mechanism), shocks_(shocks), reduced_(mechanism), method_(make_method(settings)) {}

bool ReducedMotion::fits(const Model& model, bool by_impulses) {
  State somewhere;
  somewhere.p.assign(model.bodies.size(), Vec3::Zero());
  somewhere.theta.assign(model.bodies.size(), Quat::Identity());
  return !model.joints.empty() && misfit_of_trees(model, by_impulses).empty() && Tree(model, somewhere).outside.empty();
}

void ReducedMotion::forget() {
  std::visit(
      [](auto& method) {
        if constexpr (requires { method.memory; }) method.memory.forget();
      },
      method_);
}

void ReducedMotion::model_changed() {
  require_trees(bodies_.model);
  reduced_.forget_trees();
  forget();
}

bool ReducedMotion::memory_fits() const {
  return std::visit(
      [&](const auto& method) {
        if constexpr (requires { method.control; }) {
          return !method.memory.knows_acceleration || method.memory.acceleration.size() == r_.u.size();
        } else if constexpr (requires { method.memory; }) {
          const auto& samples = method.memory.samples;
          const auto filled = static_cast<std::size_t>(method.memory.filled);
          return filled <= samples.size() &&
                 std::all_of(samples.begin(), samples.begin() + method.memory.filled, [&](const auto& sample) {
                   return sample.s.q.size() == r_.q.size() && sample.s.x.size() == r_.x.size() &&
                          sample.s.u.size() == r_.u.size() &&
                          (sample.acceleration.size() == 0 || sample.acceleration.size() == r_.u.size());
                 });
        } else {
          return true;
        }
      },
      method_);
}

void ReducedMotion::settle_in(State& s, double t) {
  if (!reduced_.known(s)) reduced_.find_trees(s);
  reduced_.read(s, r_);
  if (!memory_fits()) forget();
  const ReducedMechanism::Opening open = reduced_.opening(s);
  if (open.position > open_state)
    bodies_.project(ProjectionSettings{}, s, t);
  else if (open.velocity > open_state)
    bodies_.project_velocities(s, t);
  else
    return;
  forget();
}

void ReducedMotion::advance(State& s, double t, double h, DrivenMotion& driven, double& lost) {
  settle_in(s, t);
  StepReport& report = bodies_.now.report;
  std::visit(
      [&]<class AnyMethod>(AnyMethod& method) {
        if constexpr (has_error_control_of_joints<AnyMethod>) {
          Course bodies(bodies_, shocks_, method.control, lost);
          driven.end = s;
          ReducedCourse course(reduced_, bodies, scratch_);
          scratch_ = s;
          if (method.memory.plan) bodies.settle_all_the_way();
          if (bodies_.drives.switching()) {
            ReducedControlledStretches stretches(method, reduced_, course, bodies, r_, driven.end);
            driven.advance(bodies_, stretches, s, t, h, lost);
            return;
          }
          const std::int64_t before = method.steps;
          reduced_.read(s, r_);
          method.advance(course, r_, t, h);
          reduced_.write(r_, s);
          report.inner_steps = static_cast<int>(method.steps - before);
        } else if (bodies_.drives.switching()) {
          ReducedFixedStretches stretches(method, reduced_, r_, driven.end, memory_);
          driven.advance(bodies_, stretches, s, t, h, lost);
        } else {
          reduced_.read(s, r_);
          if (reduced_.has_rows()) bodies_.begin_step(s, t);
          reduced_.begin_step(r_, t);
          method.advance(reduced_, r_, t, h);
          reduced_.write(r_, s);
          require_finite(bodies_.model, s);
          if (reduced_.has_rows()) bodies_.correct(s, t + h);
        }
      },
      method_);
  // Who keeps problems gets that of bodies and all their joints, where the step ends.
  if (bodies_.keep_problems) bodies_.accelerations(t + h, s, kept_);
}

}  // namespace rotule
