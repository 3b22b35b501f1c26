#pragma once
// What a method with error control sees of a mechanism in reduced coordinates: the same course as of bodies (course.h), errors
// measured as motions of bodies, so that tolerances mean the same.
#include "mechanism/course.h"
#include "mechanism/reduced/reduced_mechanism.h"

namespace rotule {

class ReducedCourse {
 public:
  using State = ReducedState;
  using Flow = rotule::Flow;

  ReducedCourse(ReducedMechanism& mechanism, Course& bodies, rotule::State& at)
      : mechanism_(mechanism), bodies_(bodies), at_(at) {}

  void accelerations(double t, const State& r, VecX& udot) { mechanism_.accelerations(t, r, udot); }
  void displace(const State& base, const VecX& sigma, State& out) const { mechanism_.displace(base, sigma, out); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { mechanism_.rate(sigma, u, out); }
  void difference(const State& r, const State& base, VecX& sigma) const { mechanism_.difference(r, base, sigma); }
  [[nodiscard]] bool keeps_books() const { return mechanism_.keeps_books(); }
  void flow(double t, const State& r, const VecX& udot, Flow& out) { mechanism_.flow(t, r, udot, out); }
  void flow_anew(double t, const State& r, Flow& out) { mechanism_.flow_anew(t, r, out); }
  void book(const Flow& flow, double times) { mechanism_.book(flow, times); }

  void begin_inner_step(const State& r, double t) {
    mechanism_.write(r, at_);
    bodies_.begin_inner_step(at_, t);
    mechanism_.begin_step(r, t);
  }
  void reject_trial() { bodies_.reject_trial(); }
  /// Joints of trees are closed as they are; others as the recipe says.
  void settle(State& r, double t) {
    mechanism_.write(r, at_);
    require_finite(mechanism_.mechanism().model, at_);
    if (!mechanism_.has_rows()) return;
    bodies_.settle(at_, t);
    mechanism_.read(at_, r);
  }
  void error_scale(const State& r, const VecX& acceleration, double t, Pace& pace) {
    mechanism_.write(r, at_);
    at_start_ = mechanism_.poses();
    mechanism_.lift(acceleration, at_start_, lifted_);
    bodies_.error_scale(at_, lifted_, t, pace);
  }
  /// Of bodies, at the pose of the step's start.
  [[nodiscard]] double error_norm(const VecX& sigma, const VecX& u) {
    mechanism_.lift(sigma, at_start_, lifted_);
    mechanism_.lift(u, at_start_, lifted_u_);
    return bodies_.error_norm(lifted_, lifted_u_);
  }
  [[nodiscard]] double longest_step(const State& r) {
    mechanism_.write(r, at_);
    return bodies_.longest_step(at_);
  }
  void unconverged_step() { bodies_.unconverged_step(); }

  [[nodiscard]] bool has_events() const { return bodies_.has_events(); }
  [[nodiscard]] double event(const State& r, double h) {
    mechanism_.write(r, at_);
    return bodies_.event(at_, h);
  }
  void strike(State& r, double t) {
    mechanism_.write(r, at_);
    bodies_.strike(at_, t);
    mechanism_.read(at_, r);
  }
  void late_event() { bodies_.late_event(); }

 private:
  ReducedMechanism& mechanism_;
  Course& bodies_;
  rotule::State& at_;  // scratch, poses of what never moves included
  LinkPoses at_start_;
  VecX lifted_, lifted_u_;
};

}  // namespace rotule
