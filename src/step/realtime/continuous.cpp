// Bodies that go further in a step than they are thick. Contacts ahead of time hold most of them (Touches::look_at); but
// rows are straight and made once per step, while ways bend. So whoever went far is followed from where the step began, and
// stopped where it would first have met what does not move: its place, not its velocity, which the next step turns back. What
// joints tie together stops as a whole, so that they stay closed; and its velocity is that after a blow without rebound, there
// and then.
#include <algorithm>

#include "math/rotation.h"
#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/records.h"
#include "step/realtime/swerve.h"

namespace rotule {

namespace realtime {

namespace {

// Shares of the thinner part's half thickness: a gap that counts as closed, and how deep what touches may still be pressed.
constexpr double closed_share = 0.02, graze_share = 0.2;

}  // namespace

SteadyMotion Touches::steady(int body, const State& s) const {
  const Mat3 R = s.theta[body].toRotationMatrix();
  const Vec3& centre = model_.bodies[body].center_of_mass;
  return {.X = Frame(R, s.p[body] - R * centre),
          .velocity = s.v(body),
          .spin = s.omega(body),
          .acceleration = model_.movable(body) && !sleepers.asleep(body) ? model_.gravity : Vec3(Vec3::Zero()),
          .pivot = centre};
}

Manifold Touches::manifold_of(const CastHit& hit, const SteadyMotion& a, const SteadyMotion& b) {
  // Levers are those of the blow, each from where its body is now, so that the points are beside each other; the gap is what the
  // row closes until then.
  const auto centre = [&](const SteadyMotion& body, double t) -> Vec3 {
    return body.X * body.pivot + t * (body.velocity + 0.5 * t * body.acceleration);
  };
  const Vec3 r_a = hit.point - centre(a, hit.t), r_b = hit.point - centre(b, hit.t);
  const Vec3 closing = (a.velocity + a.spin.cross(r_a)) - (b.velocity + b.spin.cross(r_b));
  Manifold out;
  out.normal = hit.normal;
  out.count = 1;
  out.points[0] = {centre(a, 0) + r_a, centre(b, 0) + r_b, hit.t * std::max(hit.normal.dot(closing), 0.0), 0};
  return out;
}

Touches::Meeting Touches::first_meeting(int body, const SteadyMotion& motion, const State& s, double h) const {
  Meeting out;
  CastLimits limits{.t_max = h};
  for (int number = first_proxy_[body]; number >= 0; number = proxies_[number].next) {
    const Proxy& p = proxies_[number];
    if (p.sensor || p.form->endless) continue;
    const auto meet = [&](int other) {
      const Proxy& q = proxies_[other];
      if (q.sensor || q.moves || !may_touch(p, q)) return true;
      limits.tolerance = closed_share * std::min(p.form->core, q.form->core);
      limits.graze = graze_share * std::min(p.form->core, q.form->core);
      const CastHit hit = cast(p.form->part, motion, q.form->part, steady(q.body, s), limits);
      if (!hit.hit || hit.t >= limits.before) return true;
      limits.before = hit.t;
      out = {std::min(hit.t / h, 1.0), hit.normal, hit.point, q.body};
      return true;
    };
    Aabb way = bounds(p.form->part, motion.X);
    const Aabb end = bounds(p.form->part, motion.at(h));
    way.low = way.low.cwiseMin(end.low);
    way.high = way.high.cwiseMax(end.high);
    fixed_.overlapping(way.grown(h * motion.spin.norm() * p.form->arm), meet);
    for (const int other : endless_) meet(other);
  }
  return out;
}

}  // namespace realtime

using namespace realtime;

void RealtimeStepper::hold_back(const State& s, double h) {
  fast_.clear();
  stages_.gather(static_cast<int>(bodies_.rows.size()), 8, stages_.lists, fast_, [&](int first, int last, std::vector<int>& out) {
    find_fast(bodies_, std::span(bodies_.rows).subspan(first, last - first), out);
  });
  if (fast_.empty()) return;
  meetings_.assign(fast_.size(), {});
  stages_.in_parts(static_cast<int>(fast_.size()), 1, [&](int first, int last, int) {
    for (int k = first; k < last; ++k)
      if (bodies_.moves(fast_[k])) meetings_[k] = first_meeting(fast_[k], s, h);
  });
  // Finishing adds the swerve of what turns about no principal axis, by the velocity that it then has: of what it was before, the
  // share at hand is to be left.
  const auto shorten = [&](int line, double share, const Vec3& swerved) {
    float* moved = bodies_.motion[line].at;
    const Vec3 rest = whitened(bodies_, line, swerve_of(line, s, h) - share * swerved);
    for (int n = 0; n < 3; ++n) {
      moved[8 + n] *= static_cast<float>(share);
      moved[11 + n] = static_cast<float>(share * moved[11 + n] - rest[n]);
    }
  };
  // What joints tie together comes along, no further than any of it may go, so that they stay closed.
  group_first_.assign(static_cast<std::size_t>(joints_->groups()), -1);
  for (std::size_t k = 0; k < fast_.size(); ++k) {
    if (meetings_[k].share >= 1) continue;
    ++report_.held_back;
    const int group = joints_->group_of(fast_[k]);
    if (group < 0) {
      shorten(fast_[k], meetings_[k].share, swerve_of(fast_[k], s, h));
    } else {
      int& first = group_first_[group];
      if (first < 0) report_.stopped_along += static_cast<int>(joints_->lines_of(group).size());
      --report_.stopped_along;  // it did not stop for another one's sake
      if (first < 0 || meetings_[k].share < meetings_[first].share) first = static_cast<int>(k);
    }
  }
  for (int group = 0; group < joints_->groups(); ++group) {
    if (group_first_[group] < 0) continue;
    const int line = fast_[group_first_[group]];
    const Touches::Meeting& met = meetings_[group_first_[group]];
    const Vec3 centre = s.p[body_of(line)] + met.share * velocity_of(line, bodies_.motion[line].at + 8).head<3>();
    const Vec3 other = s.v(met.other) + Vec3(s.omega(met.other)).cross(met.point - s.p[met.other]);
    swerves_.clear();
    for (const int each : joints_->lines_of(group)) swerves_.push_back(swerve_of(each, s, h));
    // Left to the next step, in which each body meets others again, velocities would hold all of it where it is. What lay there
    // already as the step began has met nobody: its contacts have done what there was to do.
    if (met.share > 0) {
      const double lost = joints_->stop(group, line, met.point - centre, met.normal, met.normal.dot(other), bodies_);
      report_.stopping_energy += lost;
      records_->flow[Agent::impacts] -= lost;
    }
    for (std::size_t k = 0; k < swerves_.size(); ++k) shorten(joints_->lines_of(group)[k], met.share, swerves_[k]);
  }
}

Vec3 RealtimeStepper::swerve_of(int line, const State& s, double h) const {
  const Vec3 omega = velocity_of(line, bodies_.motion[line].at).tail<3>();
  return swerve(model_, body_of(line), s.theta[body_of(line)], omega, h);
}

Touches::Meeting RealtimeStepper::first_meeting(int line, const State& s, double h) const {
  const int body = body_of(line);
  const Vec6 way = velocity_of(line, bodies_.motion[line].at + 8);
  SteadyMotion motion = touches_.steady(body, s);
  motion.velocity = way.head<3>() / h;
  motion.spin = (way.tail<3>() + swerve_of(line, s, h)) / h;
  motion.acceleration.setZero();
  return touches_.first_meeting(body, motion, s, h);
}

}  // namespace rotule
