#include "model/given_motion.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "model/model.h"

namespace rotule {

Drive compiled(const Drive& drive) {
  Drive out = drive;
  if (!drive.motion || drive.motion->function || drive.motion->formula == Formula{}) return out;
  out.motion->function = [plain = *drive.motion, formula = Expression(drive.motion->formula.text)](double t) {
    std::array<double, 3> q = plain.at(t);
    const TimeJet added = formula.at(t);
    q[0] += added.value;
    q[1] += added.first;
    q[2] += added.second;
    if (!std::isfinite(q[0]) || !std::isfinite(q[1]) || !std::isfinite(q[2]))
      throw Error(
          fmt::format("the motion \"{}\" of a joint is no number with two derivatives at t = {} s", plain.formula.text, t));
    return q;
  };
  return out;
}

double fastest(const GivenMotion& motion) {
  double out = std::abs(motion.speed) + std::abs(motion.amplitude * motion.frequency);
  if (motion.formula == Formula{}) return out;
  constexpr int samples = 1000;
  constexpr double span = 10;
  double own = 0;
  try {
    const Expression formula(motion.formula.text);
    for (int k = 0; k <= samples; ++k)
      if (const double rate = std::abs(formula.at(span * k / samples).first); std::isfinite(rate)) own = std::max(own, rate);
  } catch (const Error&) {  // which the checks of the scene say
    return out;
  }
  return out + own;
}

MotionAt motion_at(const Model& model, const BodyMotion& motion, double t) {
  const Body& body = model.bodies[motion.body];
  Vec3 x, v, a;
  motion.displacement.at(t, x, &v, &a);
  const TimeJet angle = motion.angle.at(t);
  MotionAt out;
  out.theta = (exp_rotation(angle.value * motion.axis) * motion.start.orientation).normalized();
  const Vec3 arm = out.theta * body.center_of_mass, omega = angle.first * motion.axis, alpha = angle.second * motion.axis;
  out.p = motion.start.position + x + arm;
  out.velocity << v + omega.cross(arm), omega;
  out.acceleration << a + alpha.cross(arm) + omega.cross(omega.cross(arm)), alpha;
  if (!out.p.allFinite() || !out.theta.coeffs().allFinite() || !out.velocity.allFinite() || !out.acceleration.allFinite())
    throw Error(fmt::format("body {}", in_quotes(body.name)),
                fmt::format("its motion, or a derivative of it, is not a finite number at t = {:.6g} s; look where it divides or "
                            "takes a root or logarithm",
                            t));
  return out;
}

void follow_given_motions(const Model& model, double t, State& state) {
  for (const BodyMotion& motion : model.motions) {
    const MotionAt then = motion_at(model, motion, t);
    state.p[motion.body] = then.p;
    state.theta[motion.body] = then.theta;
    state.u.segment<6>(6 * motion.body) = then.velocity;
  }
}

void head_for_given_motions(const Model& model, double t, double h, State& state) {
  for (const BodyMotion& motion : model.motions) {
    const MotionAt then = motion_at(model, motion, t + h);
    state.v(motion.body) = (then.p - state.p[motion.body]) / h;
    state.omega(motion.body) = log_rotation(then.theta * state.theta[motion.body].conjugate()) / h;
  }
}

}  // namespace rotule
