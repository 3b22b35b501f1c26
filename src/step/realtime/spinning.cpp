#include "step/realtime/spinning.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "math/rotation.h"
#include "step/realtime/swerve.h"

namespace rotule::realtime {

namespace {

/// rad in a step from which on a body is followed.
constexpr double least_turn = 0.3;
/// Of its trace: inertias that differ by less are those of balls, whose momentum lies along their spin.
constexpr double round_share = 1e-6;
/// Of the inverse root: a body with other inertia than its own, for its load or for stiffness, is left to that.
constexpr double same_share = 1e-4;
/// By how much the inverse inertia may differ from that of the start, in its own measure.
constexpr double most_change = 0.3;

Mat3 symmetric_at(const float* S) {
  Mat3 out;
  out << S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5];
  return out;
}
Vec3 three_at(const float* x) { return {x[0], x[1], x[2]}; }

}  // namespace

void Spins::begin(const State& s, double h, const BodyLines& bodies, Stages& stages) {
  lines_.clear();
  spins_.clear();
  const double fastest = least_turn * least_turn / (h * h);
  stages.gather(static_cast<int>(bodies.rows.size()), 64, stages.lists, lines_, [&](int first, int last, std::vector<int>& out) {
    for (int k = first; k < last; ++k)
      for (int line = bodies.rows[k] * row_lanes; line < (bodies.rows[k] + 1) * row_lanes; ++line)
        if (bodies.moves(line) && s.omega(body_of(line)).squaredNorm() > fastest) out.push_back(line);
  });
  for (const int line : lines_) {
    const int body = body_of(line);
    const Mat3& I = model_.inertia[body];
    const double middle = I.trace() / 3;
    if ((I - middle * Mat3::Identity()).norm() < round_share * middle) continue;
    const Quat& q = s.theta[body];
    const Mat3 R = q.toRotationMatrix(), S = symmetric_at(bodies.pose[line].at + 10),
               inverse = R * model_.inverse_inertia[body] * R.transpose();
    if ((S * S - inverse).norm() > same_share * inverse.norm()) continue;
    Spin spin;
    spin.line = line;
    spin.start = spin.now = q;
    spin.momentum = R * (I * (R.transpose() * s.omega(body)));
    spin.followed = true;
    spin.inverse_root = S;
    spin.root = S.inverse();
    std::fill_n(spin.turned, 3, 0.0F);
    std::copy_n(bodies.motion[line].at + 3, 3, spin.given);
    const Vec3 omega = s.omega(body);
    if (keeps_inertia(spin, turn(q, Vec3(h * omega + swerve(model_, body, q, omega, h))))) spins_.push_back(spin);
  }
}

bool Spins::keeps_inertia(const Spin& spin, const Quat& q) const {
  const Mat3 R = q.toRotationMatrix();
  const Mat3 seen = spin.root * (R * model_.inverse_inertia[body_of(spin.line)] * R.transpose()) * spin.root;
  return (seen - Mat3::Identity()).norm() < most_change;
}

Vec3 Spins::velocity_of(const Spin& spin) const {
  return spin.now * (model_.inverse_inertia[body_of(spin.line)] * (spin.now.conjugate() * spin.momentum));
}

void Spins::move_on(Spin& spin, double part, const Line& motion, const float* velocity) const {
  spin.momentum += spin.root * (three_at(velocity) - three_at(spin.given));
  const double before = spin.momentum.dot(velocity_of(spin));
  const Vec3 turned = spin.inverse_root * (three_at(motion.at + 11) - three_at(spin.turned));
  spin.now = turn(spin.now, Vec3(turned + swerve(model_, body_of(spin.line), spin.now, turned / part, part)));
  // Turning brings no energy.
  if (const double after = spin.momentum.dot(velocity_of(spin)); after > before) spin.momentum *= std::sqrt(before / after);
  spin.followed = keeps_inertia(spin, spin.now);
}

Vec3 Spins::whole_turn(const Spin& spin, const Vec3& about) {
  const Eigen::AngleAxisd whole(spin.now * spin.start.conjugate());
  const double turns = 2 * std::numbers::pi;
  const double angle = whole.angle() + turns * std::round((about.dot(whole.axis()) - whole.angle()) / turns);
  return angle * whole.axis();
}

void Spins::turn_on(double part, BodyLines& bodies, Stages& stages) {
  stages.in_parts(static_cast<int>(spins_.size()), 16, [&](int first, int last, int) {
    for (int k = first; k < last; ++k) {
      Spin& spin = spins_[k];
      if (!spin.followed) continue;
      Line& motion = bodies.motion[spin.line];
      float* start = bodies.last[spin.line].at + 3;
      const Vec3 about = spin.inverse_root * three_at(motion.at + 11);
      move_on(spin, part, motion, start);
      const Vec3 w = spin.root * velocity_of(spin), moved = spin.root * whole_turn(spin, about);
      for (int n = 0; n < 3; ++n) {
        // What the last substep gave is given once more.
        const float got = motion.at[3 + n] - start[n];
        start[n] = spin.given[n] = static_cast<float>(w[n]);
        motion.at[3 + n] = start[n] + got;
        motion.at[11 + n] = spin.turned[n] = static_cast<float>(moved[n]);
      }
    }
  });
}

void Spins::settle(double part, double h, const State& s, BodyLines& bodies, Stages& stages) {
  stages.in_parts(static_cast<int>(spins_.size()), 16, [&](int first, int last, int) {
    for (int k = first; k < last; ++k) {
      Spin& spin = spins_[k];
      if (!spin.followed) continue;
      Line& motion = bodies.motion[spin.line];
      const int body = body_of(spin.line);
      const Vec3 about = spin.inverse_root * three_at(motion.at + 11);
      move_on(spin, part, motion, motion.at + 3);
      // Its momentum by the inertia of the start, and less the swerve that finishing adds. Finishing lets no turn bring energy,
      // which this one may seem to do, seen from the start: what it will take is added.
      Vec3 omega = spin.inverse_root * (spin.inverse_root * spin.momentum);
      const double at_start = spin.momentum.dot(omega), at_end = spin.momentum.dot(velocity_of(spin));
      if (at_end > at_start) omega *= std::sqrt(at_end / at_start);
      const Vec3 w = spin.root * omega,
                 moved = spin.root * (whole_turn(spin, about) - swerve(model_, body, s.theta[body], omega, h));
      for (int n = 0; n < 3; ++n) {
        motion.at[3 + n] = static_cast<float>(w[n]);
        motion.at[11 + n] = static_cast<float>(moved[n]);
      }
    }
  });
}

}  // namespace rotule::realtime
