#include "mechanism/touching/touching_motion.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "integrate/adaptive/root.h"

namespace rotule {

namespace {

constexpr int most_events = 1000;        // per step; bounces end then, and at twice as many events are no longer located
constexpr int most_stretches = 200000;   // of a step: one that has not ended by then chases what jumps between evaluations
constexpr int patient_stretches = 100;   // stretches of a step, before more slip counts as none
constexpr int most_at_once = 50;         // events without any time between them
constexpr double no_event_time = 1e-13;  // of the step
constexpr double event_instant = 1e-13;  // of a stretch: how closely events are located

constexpr double longest_way = 0.5;  // rad, or bodies' sizes, that a point of contact goes in one stretch of a fixed step

template <class Method>
constexpr bool has_error_control_of_touching = requires(Method method) {
  method.control;
};

}  // namespace

TouchingMotion::Method TouchingMotion::make_method(const IntegratorSettings& settings) {
  struct Make {
    Method operator()(const Rk4Settings&) const { return Rk4<M>(); }
    Method operator()(const ExplicitEulerSettings&) const { return ExplicitEuler<M>(); }
    Method operator()(const Rk2Settings&) const { return Rk2<M>(); }
    Method operator()(const ModifiedEulerSettings&) const { return ModifiedEuler<M>(); }
    Method operator()(const TwoThirdsSettings&) const { return TwoThirds<M>(); }
    Method operator()(const Taylor2Settings&) const { return Taylor2<M>(); }
    Method operator()(const Taylor3Settings&) const { return Taylor3<M>(); }
    Method operator()(const DormandPrinceSettings& s) const { return Adaptive<M, DormandPrince5>(s); }
    Method operator()(const DormandPrince8Settings& s) const { return Adaptive<M, DormandPrince8>(s); }
  };
  return std::visit(
      []<class S>(const S& chosen) -> Method {
        if constexpr (requires { Make()(chosen); })
          return Make()(chosen);
        else
          throw Error("integrator", std::string(S::name) + " does not go with contacts by accelerations");
      },
      settings);
}

TouchingMotion::TouchingMotion(JointedMechanism& mechanism, const IntegratorSettings& settings)
    : mechanism_(mechanism), touching_(mechanism), method_(make_method(settings)) {}

void TouchingMotion::forget() {
  mechanism_.contact_forces.resize(0);  // those of another state
  std::visit(
      [](auto& method) {
        if constexpr (requires { method.control; }) method.memory.forget();
      },
      method_);
}

void TouchingMotion::finish(const State& s, double t, std::vector<Contact>& contacts) {
  touching_.decide(s, t, 0);
  touching_.finish(s, t, contacts);
}

void TouchingMotion::advance(State& s, double t, double h) {
  touching_.struck_energy = 0;
  std::visit(
      [&]<class AnyMethod>(AnyMethod& method) {
        if constexpr (has_error_control_of_touching<AnyMethod>) {
          double none = 0;
          Course course(mechanism_, shocks_, method.control, none);
          touching_.set_course(&course);
          advance_by(method, s, t, h);
          touching_.set_course(nullptr);
        } else {
          advance_by(method, s, t, h);
        }
      },
      method_);
}

template <class AnyMethod>
double TouchingMotion::make(AnyMethod& method, State& s, double t, double remaining) {
  if constexpr (has_error_control_of_touching<AnyMethod>) {
    method.memory.forget();  // rows in force may be others than when the last stretch ended
    return method.make_inner_step(touching_, s, t, remaining);
  } else {
    // A point of contact may run over its bodies much faster than anything moves: round the rim of a disc that falls flat. No
    // stretch is longer than the rows can be followed for.
    mechanism_.begin_step(s, t);
    for (double length = remaining;; length /= 2) {
      touching_.fastest_rate = 0;
      remake(method, s, t, length);
      if (!(touching_.fastest_rate * length > longest_way) || length < no_event_time * remaining) return length;
    }
  }
}

template <class AnyMethod>
void TouchingMotion::remake(AnyMethod& method, const State& s, double t, double length) {
  if constexpr (has_error_control_of_touching<AnyMethod>) {
    method.remake_inner_step(touching_, s, t, length);
  } else {
    end_ = s;
    mechanism_.now.flow = booked_;  // of the stretch made last nothing stays
    method.advance(touching_, end_, t, length);
  }
}

template <class AnyMethod>
State& TouchingMotion::end_of(AnyMethod& method) {
  if constexpr (has_error_control_of_touching<AnyMethod>)
    return method.inner_end();
  else
    return end_;
}

void TouchingMotion::between(const State& s, double theta, double length, State& out) {
  const double square = theta * theta, cube = square * theta;
  const double late = 3 * square - 2 * cube, first = (theta - 2 * square + cube) * length, last = (cube - square) * length;
  sigma_ = late * sigma_end_ + first * s.u + last * rate_end_;
  if (out.u.size() != s.u.size()) out = s;
  touching_.displace(s, sigma_, out);
  out.u = s.u + late * (u_end_ - s.u) + first * a_start_ + last * a_end_;
}

template <class AnyMethod>
TouchingMotion::Located TouchingMotion::first_event(AnyMethod& method, const State& s, double t, double length) {
  const State& end = end_of(method);
  touching_.accelerations(t, s, a_start_);
  const TouchingMechanism::Event last = touching_.event(end, t + length, length);
  touching_.accelerations(t + length, end, a_end_);
  u_end_ = end.u;
  sigma_end_.resizeLike(u_end_);
  touching_.difference(end, s, sigma_end_);
  rate_end_.resizeLike(sigma_end_);
  touching_.rate(sigma_end_, end.u, rate_end_);

  bool disturbed = false;
  const auto made_until = [&](double share) {
    disturbed = true;
    remake(method, s, t, share * length);
    return touching_.event(end_of(method), t + share * length, length);
  };
  const int pieces = touching_.pieces(s, length);
  double before = 0;
  for (int k = 1; k <= pieces; ++k) {
    const double theta = static_cast<double>(k) / pieces;
    TouchingMechanism::Event found = last;
    if (k < pieces) {
      between(s, theta, length, trial_);
      found = touching_.event(trial_, t + theta * length, length);
      if (found.value < 0) found = made_until(theta);
    }
    if (found.value < 0) {
      const auto value_at = [&](double share) { return made_until(share).value; };
      if (found.cause == TouchingMechanism::Cause::slip) {
        // Slip that only turns has not stopped; the stretch ends there all the same, to begin anew with the new direction.
        // Nearing a stop it turns ever faster: that is approached by ever shorter stretches.
        const auto about = bracket_root(value_at, before, 0.0, theta, found.value, 1e-2);
        const TouchingMechanism::Event at = made_until(about.second);
        if (at.cause == TouchingMechanism::Cause::slip) {
          const double speed = touching_.slip_speed(at);
          touching_.accelerations(t, s, sigma_);
          if (speed > 0.3 * touching_.slip_speed(at)) return {about.second, {}};
        }
      }
      const auto root = bracket_root(value_at, before, 0.0, theta, found.value, event_instant);
      Located out{root.second, made_until(root.second)};
      if (out.event.cause == TouchingMechanism::Cause::slip && !touching_.at_rest(touching_.slip_speed(out.event))) {
        out.share *= 0.9;
        out.event.cause = TouchingMechanism::Cause::none;
        remake(method, s, t, out.share * length);
      }
      return out;
    }
    before = theta;
  }
  if (disturbed) remake(method, s, t, length);
  return {};
}

template <class AnyMethod>
void TouchingMotion::advance_by(AnyMethod& method, State& s, double t, double h) {
  StepReport& report = mechanism_.now.report;
  const double end = t + h;
  int events = 0, at_once = 0, stretches = 0;
  touching_.standing_share = 1e-9;
  bool locating = true;
  touching_.strike(s, t, true);
  while (t < end) {
    touching_.decide(s, t, end - t);
    {
      // Slip that was let go before it had stopped is stopped here: friction's impulse.
      const JointedMechanism::Jump jump(mechanism_, s);
      touching_.close_velocities(s, t);
    }
    booked_ = mechanism_.now.flow;
    const double made = make(method, s, t, end - t);
    if (++stretches > most_stretches)
      throw Error("contacts",
                  "the step does not end: error control finds no smooth stretch; take integrator=rk4, or formulation=velocity");
    // Slip that winds round zero many times before it stops is let go earlier, at a millionth of the fastest speed at most.
    if (stretches % patient_stretches == 0) touching_.standing_share = std::min(10 * touching_.standing_share, 1e-6);
    const Located located = locating ? first_event(method, s, t, made) : Located{};
    const bool cut = located.share < 1 || located.event.cause != TouchingMechanism::Cause::none;
    if constexpr (has_error_control_of_touching<AnyMethod>) method.book_inner_step(touching_);
    std::swap(s, end_of(method));
    t = located.share < 1 ? t + located.share * made : made == end - t ? end : t + made;
    touching_.settle(s, t);
    if (!cut) continue;
    // The instant has come: what it was is found anew from the state itself.
    if (located.event.cause == TouchingMechanism::Cause::gap) touching_.strike(s, t, events < most_events);
    at_once = located.share * made < no_event_time * h ? at_once + 1 : 0;
    if (++events == most_events) ++report.late_shocks;
    if (events >= 2 * most_events || at_once >= most_at_once) {
      locating = false;
      ++report.late_shocks;
      report.converged = false;
    }
  }
  if (!locating) touching_.strike(s, t, false);
  report.inner_steps = stretches;
}

}  // namespace rotule
