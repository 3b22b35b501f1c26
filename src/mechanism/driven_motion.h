#pragma once
// A step of a mechanism whose drives switch (drive_laws.h), by any method: stretches of smooth motion, each with its axes held
// or let go, from event to event. A stretch is one step of the method, or as long as error control allows. Whether something
// happens in it is looked for on cubics through its ends; when, by making the stretch anew, shorter, until it ends there: the
// state at an event is as good as any other, and the method keeps its order.
#include <algorithm>
#include <cmath>

#include "integrate/adaptive/root.h"
#include "integrate/mechanism.h"
#include "mechanism/course.h"
#include "mechanism/jointed_mechanism.h"
#include "mechanism/shock.h"

namespace rotule {

/// Stretches by a method of fixed steps.
template <class Method>
class FixedStretches {
 public:
  /// `closes_itself`: whether the method leaves joints closed.
  FixedStretches(Method& method, JointedMechanism& mechanism, State& end, Memory<State>& memory, bool closes_itself)
      : method_(method), mechanism_(mechanism), end_(end), memory_(memory), closes_itself_(closes_itself) {}

  double make(const State& s, double t, double remaining) {
    if constexpr (has_memory) memory_ = method_.memory;
    flow_ = mechanism_.now.flow;
    advance(s, t, remaining);
    return remaining;
  }
  void remake(const State& s, double t, double length) {
    if constexpr (has_memory) method_.memory = memory_;
    mechanism_.now.flow = flow_;
    advance(s, t, length);
  }
  static void book() {}  // the method has
  [[nodiscard]] State& end() { return end_; }
  void settle(State& s, double t) {
    require_finite(mechanism_.model, s);
    if (!closes_itself_) mechanism_.correct(s, t);
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
    method_.advance(mechanism_, end_, t, length);
    if constexpr (requires { method_.report; }) {
      StepReport& report = mechanism_.now.report;
      report.newton_iterations += method_.report.iterations;
      report.halvings += method_.report.halvings;
      report.converged = report.converged && method_.report.converged;
    }
  }

  Method& method_;
  JointedMechanism& mechanism_;
  State& end_;
  Memory<State>& memory_;  // as the stretch began
  Flow flow_;              // likewise
  bool closes_itself_;
};

/// Stretches by a method with error control, which meets walls on its way too.
template <class Method>
class ControlledStretches {
 public:
  ControlledStretches(Method& method, Course& course) : method_(method), course_(course) {}

  double make(State& s, double t, double remaining) {
    method_.memory.forget();  // other axes may be held than when the last stretch ended
    return method_.make_inner_step(course_, s, t, remaining);
  }
  void remake(const State& s, double t, double length) { method_.remake_inner_step(course_, s, t, length); }
  /// The last stretch is the one.
  void book() { method_.book_inner_step(course_); }
  [[nodiscard]] State& end() { return method_.inner_end(); }
  void settle(State& s, double t) { course_.settle(s, t); }
  void forget() { method_.memory.forget(); }
  [[nodiscard]] double wall(const State& s, double h) { return course_.has_events() ? course_.event(s, h) : infinity; }
  void strike_wall(State& s, double t) { course_.strike(s, t); }

 private:
  Method& method_;
  Course& course_;
};

class DrivenMotion {
 public:
  /// Moves the state from t to t + h; adds what stops take out to `lost`.
  template <class Stretches>
  void advance(JointedMechanism& mechanism, Stretches& stretches, State& s, double t, double h, double& lost);

  // Of stretches of fixed length: their end, and what the method knew at their start.
  State end;
  Memory<State> memory;

 private:
  static constexpr int pieces = 4;                // in which a stretch is looked at
  static constexpr int most_events = 1000;        // per step; later ones do not bounce, and from twice as many on none is located
  static constexpr int most_at_once = 50;         // events without any time between them
  static constexpr double no_time = 1e-13;        // of the step
  static constexpr double event_instant = 1e-13;  // of a stretch: how closely events are located

  struct Located {
    double share = 1;  // of the stretch
    bool happens = false, wall = false;
    DriveLaws::Cause cause = DriveLaws::Cause::none;
  };
  template <class Stretches>
  Located first_event(JointedMechanism& mechanism, Stretches& stretches, const State& s, double t, double length);

  static double strike_stops(JointedMechanism& mechanism, State& s, double t, bool bounce) {
    const JointedMechanism::Jump jump(mechanism, s);
    return mechanism.drives.strike(mechanism, s, t, bounce);
  }
  /// What has just come to rest, or to its motor's speed, stands there from here on. The instant was found up to rounding of the
  /// forces that led to it: the small jump that is left is an impact of the drive.
  static void catch_axes(JointedMechanism& mechanism, State& s, double t) {
    const JointedMechanism::Jump jump(mechanism, s);
    const double before = mechanism.books ? kinetic_energy(mechanism.model, s) : 0;
    mechanism.project_velocities(s, t);
    if (mechanism.books) mechanism.now.flow[Agent::impacts] += kinetic_energy(mechanism.model, s) - before;
  }

  State trial_;
  VecX a_start_, a_end_, a_, sigma_end_, rate_end_, sigma_, u_end_;
};

template <class Stretches>
DrivenMotion::Located DrivenMotion::first_event(JointedMechanism& mechanism, Stretches& stretches, const State& s, double t,
                                                double length) {
  DriveLaws& drives = mechanism.drives;
  struct Found {
    DriveLaws::Event event;
    double wall;
    [[nodiscard]] double value() const { return std::min(event.value, wall); }
  };
  const auto look = [&](const State& at, double theta, VecX& acceleration) {
    return Found{drives.event(mechanism, at, t + theta * length, length, acceleration), stretches.wall(at, length)};
  };
  const bool converged = mechanism.now.report.converged;  // as the stretch was made
  look(s, 0, a_start_);
  const Found last = look(stretches.end(), 1, a_end_);
  u_end_ = stretches.end().u;
  sigma_end_.resizeLike(u_end_);
  mechanism.difference(stretches.end(), s, sigma_end_);
  rate_end_.resizeLike(sigma_end_);
  mechanism.rate(sigma_end_, u_end_, rate_end_);

  bool disturbed = false;
  const auto made_until = [&](double share) {
    disturbed = true;
    stretches.remake(s, t, share * length);
    return look(stretches.end(), share, a_);
  };
  double before = 0;
  Located out;
  for (int k = 1; k <= pieces && !out.happens; ++k) {
    const double theta = static_cast<double>(k) / pieces;
    Found found = last;
    if (k < pieces) {
      // On the cubics through both ends.
      const double square = theta * theta, cube = square * theta;
      const double late = 3 * square - 2 * cube, first = (theta - 2 * square + cube) * length, at_end = (cube - square) * length;
      sigma_ = late * sigma_end_ + first * s.u + at_end * rate_end_;
      if (trial_.u.size() != s.u.size()) trial_ = s;
      mechanism.displace(s, sigma_, trial_);
      trial_.u = s.u + late * (u_end_ - s.u) + first * a_start_ + at_end * a_end_;
      found = look(trial_, theta, a_);
      if (found.value() < 0) found = made_until(theta);
    }
    if (found.value() < 0) {
      const auto root =
          bracket_root([&](double share) { return made_until(share).value(); }, before, 0.0, theta, found.value(), event_instant);
      found = made_until(root.second);
      out = {root.second, true, found.wall < 0, found.event.value < 0 ? found.event.cause : DriveLaws::Cause::none};
    }
    before = theta;
  }
  if (disturbed && !out.happens) stretches.remake(s, t, length);
  mechanism.now.report.converged = converged;
  return out;
}

template <class Stretches>
void DrivenMotion::advance(JointedMechanism& mechanism, Stretches& stretches, State& s, double t, double h, double& lost) {
  DriveLaws& drives = mechanism.drives;
  StepReport& report = mechanism.now.report;
  const double last = t + h;
  int events = 0, at_once = 0, made_so_far = 0;
  bool locating = true;
  mechanism.begin_step(s, t);
  lost += strike_stops(mechanism, s, t, true);
  while (t < last) {
    mechanism.begin_step(s, t);
    drives.decide(mechanism, s, t);
    if (drives.holding()) catch_axes(mechanism, s, t);
    const double made = stretches.make(s, t, last - t);
    ++made_so_far;
    const Located found = locating ? first_event(mechanism, stretches, s, t, made) : Located{};
    stretches.book();
    std::swap(s, stretches.end());
    t = found.share < 1 ? t + found.share * made : made == last - t ? last : t + made;
    stretches.settle(s, t);
    if (!found.happens) continue;
    // The instant has come: what it was is found anew from the state itself.
    stretches.forget();
    if (found.wall) stretches.strike_wall(s, t);
    if (found.cause == DriveLaws::Cause::stop) lost += strike_stops(mechanism, s, t, events < most_events);
    at_once = found.share * made < no_time * h ? at_once + 1 : 0;
    if (++events == most_events) ++report.late_shocks;
    if (events >= 2 * most_events || at_once >= most_at_once) {
      locating = false;
      ++report.late_shocks;
      report.converged = false;
    }
  }
  if (!locating) lost += strike_stops(mechanism, s, t, false);
  report.inner_steps = made_so_far;
}

}  // namespace rotule
