// Groups that turn fast: their rows follow them from substep to substep.
#include <algorithm>
#include <cmath>

#include "math/rotation.h"
#include "step/realtime/articulations.h"
#include "step/realtime/swerve.h"

namespace rotule::realtime {

namespace {

/// Angle of a body in a step from which on rows made once are no longer good enough: a lever's end is off by the square of it.
constexpr double most_turn = 0.1;
/// m: joints that are closed to this at the end of a step are left as they are.
constexpr double closed = 1e-5;
constexpr int most_closings = 3;

}  // namespace

bool Articulations::turns_fast(const State& s, const Linkage& linkage, double h) {
  const double fastest = most_turn * most_turn / (h * h);
  return std::any_of(linkage.bodies.begin(), linkage.bodies.end(),
                     [&](int body) { return s.omega(body).squaredNorm() > fastest; });
}

bool Articulations::turns_fast(const Group& group, const BodyLines& bodies) const {
  const double fastest = most_turn * most_turn / (step_ * step_);
  return std::any_of(group.lines.begin(), group.lines.end(), [&](int line) {
    const float *w = bodies.motion[line].at, *S = bodies.pose[line].at + 10;
    // No omega is longer than the norms of the two multiplied, and most are sorted out by that.
    const float spin = w[3] * w[3] + w[4] * w[4] + w[5] * w[5];
    const float size = S[0] * S[0] + S[3] * S[3] + S[5] * S[5] + 2 * (S[1] * S[1] + S[2] * S[2] + S[4] * S[4]);
    if (double(spin * size) < 0.99 * fastest) return false;
    return (inverse_inertia_root(bodies.pose[line].at) * Vec3(w[3], w[4], w[5])).squaredNorm() > fastest;
  });
}

bool Articulations::any_quick() const {
  return std::any_of(awake_.begin(), awake_.end(), [&](int i) { return groups_[i].quick; });
}

void Articulations::place(const State& s, const Linkage& linkage, const Group& group, const BodyLines& bodies, bool at_end) {
  for (std::size_t k = 0; k < linkage.bodies.size(); ++k) {
    const int body = linkage.bodies[k];
    const float* motion = bodies.motion[group.lines[k]].at;
    const Mat3 S = inverse_inertia_root(bodies.pose[group.lines[k]].at);
    BodyLanes<double>& now = kinematics_.bodies[body];
    const double light = motion[6];
    now.p = s.p[body] + light * Vec3(motion[8], motion[9], motion[10]);
    now.v = light * Vec3(motion[0], motion[1], motion[2]);
    now.omega = S * Vec3(motion[3], motion[4], motion[5]);
    Vec3 theta = S * Vec3(motion[11], motion[12], motion[13]);
    if (at_end) theta += swerve(model_, body, s.theta[body], now.omega, step_);
    now.R = turn(s.theta[body], theta).toRotationMatrix();
  }
}

void Articulations::follow(const State& s, double t, const Linkage& linkage, Group& group, const VecX& x, BodyLines& bodies) {
  place(s, linkage, group, bodies, false);
  linkage.constraints.evaluate(kinematics_, t, group.rows, group.values);
  set_bias(s, linkage, group, part_, 0);
  // The last substep's impulses were repeated as they were: they turn along with the rows.
  const auto push_all = [&] {
    for (int k = 0; k < group.joints; ++k) push(group, group.nodes[k], x.data() + group.nodes[k].first_row);
  };
  std::fill(group.w.begin(), group.w.end(), 0.0);
  push_all();
  for (double& w : group.w) w = -w;
  whiten(bodies, group);
  push_all();
  add_impulses(group, bodies);
  refactor(group);
}

void Articulations::take_out_drift(Group& group, BodyLines& bodies) {
  std::fill(group.rhs.begin(), group.rhs.end(), 0.0);
  for (int r = 0; r < group.joint_rows; ++r) group.rhs[r] = -group.shorter * group.drift[r];
  group.factor.solve(group.rhs.data());
  group.balls ? push_all<true>(group, bodies, 8) : push_all<false>(group, bodies, 8);
}

void Articulations::close(const State& s, double t, BodyLines& bodies, Stages& stages) {
  if (!any_quick()) return;
  place_led(s, step_);
  for_each_group(stages, [&](int i, int) {
    Group& group = groups_[i];
    if (!group.quick) return;
    for (int round = 0; round < most_closings; ++round) {
      place(s, linkages_[i], group, bodies, true);
      linkages_[i].constraints.evaluate(kinematics_, t, group.rows, group.values);
      if (group.values.C.head(group.joint_rows).lpNorm<Eigen::Infinity>() < closed) break;
      set_bias(s, linkages_[i], group, part_, 0);
      whiten(bodies, group);
      refactor(group);
      take_out_drift(group, bodies);
    }
  });
}

}  // namespace rotule::realtime
