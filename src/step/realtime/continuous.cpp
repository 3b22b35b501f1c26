// Bodies that go further in a step than they are thick. Contacts ahead of time hold most of them (Touches::collide_pair); but
// rows are straight and made once per step, while ways bend. So whoever went far is followed from where the step began, and
// stopped where it would first have met what does not move: its place, not its velocity, which the next step turns back.
#include <algorithm>

#include "math/rotation.h"
#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"

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
  // Where what will meet is now; the gap between along the normal of the blow, so that no lever is wrong.
  const Vec3 on_a = a.X * a.at(hit.t).to_local(hit.point), on_b = b.X * b.at(hit.t).to_local(hit.point);
  Manifold out;
  out.normal = hit.normal;
  out.count = 1;
  const double gap = std::max(hit.normal.dot(on_b - on_a), 0.0);
  out.points[0] = {on_b - gap * hit.normal, on_b, gap, 0};
  return out;
}

double Touches::free_share(int body, const SteadyMotion& motion, const State& s, double h) {
  CastLimits limits{.t_max = h};
  for (int number = first_proxy_[body]; number >= 0; number = proxies_[number].next) {
    const Proxy& p = proxies_[number];
    if (p.sensor || p.endless) continue;
    const auto meet = [&](int other) {
      const Proxy& q = proxies_[other];
      if (q.sensor || q.moves || !may_touch(p, q)) return true;
      limits.tolerance = closed_share * std::min(p.core, q.core);
      limits.graze = graze_share * std::min(p.core, q.core);
      const CastHit hit = cast(p.part, motion, q.part, steady(q.body, s), limits);
      if (hit.hit) limits.before = std::min(limits.before, hit.t);
      return true;
    };
    Aabb way = bounds(p.part, motion.X);
    const Aabb end = bounds(p.part, motion.at(h));
    way.low = way.low.cwiseMin(end.low);
    way.high = way.high.cwiseMax(end.high);
    fixed_.overlapping(way.grown(h * motion.spin.norm() * p.arm), meet);
    for (const int other : endless_) meet(other);
  }
  return std::min(limits.before / h, 1.0);
}

}  // namespace realtime

using namespace realtime;

void RealtimeStepper::hold_back(const State& s, double h) {
  fast_.clear();
  find_fast(bodies_, fast_);
  for (const int line : fast_) {
    if (!bodies_.moves(line)) continue;
    const int body = body_of(line);
    const float *moved = bodies_.motion[line].at, *S = bodies_.pose[line].at + 10;
    const double light = moved[6];
    const Vec3 w(moved[11], moved[12], moved[13]);
    const Vec3 turned(S[0] * w[0] + S[1] * w[1] + S[2] * w[2], S[1] * w[0] + S[3] * w[1] + S[4] * w[2],
                      S[2] * w[0] + S[4] * w[1] + S[5] * w[2]);
    SteadyMotion motion = touches_.steady(body, s);
    motion.velocity = light / h * Vec3(moved[8], moved[9], moved[10]);
    motion.spin = turned / h;
    motion.acceleration.setZero();
    const double share = touches_.free_share(body, motion, s, h);
    if (share >= 1) continue;
    const auto shorten = [&](int of) {
      for (int k = 8; k < 14; ++k) bodies_.motion[of].at[k] *= static_cast<float>(share);
    };
    // What joints tie together comes along, so that they stay closed.
    const std::span<const int> tied = joints_->lines_with(line);
    if (tied.empty()) shorten(line);
    for (const int other : tied) shorten(other);
    ++report_.held_back;
  }
}

}  // namespace rotule
