// No gain of energy out of nothing. One sweep per substep is far from the solution where something heavy comes down on something
// light, or where what joints tie together meets corners: impulses that are repeated from the last step (begin_substep) then do
// work that nobody did. So whoever is found to have gained more than weight gave it is looked at with all that it hangs together
// with, by contacts and joints; and if all of that has more energy of motion than it had and than forces gave it on its way, it
// is slowed, and the impulses that are repeated with it. What something fixed holds is slowed as a whole, its way too. What
// nothing fixed holds keeps its momentum and its angular momentum: its motion as one stays, which has the least energy that they
// allow, and what differs from that is shortened. Bodies in scenes with particles, whose work on them is not known here, are
// left alone. How many were slowed, and what was taken from them, is in the step's report.
#include <algorithm>
#include <cmath>
#include <limits>

#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/soft/soft_solids.h"
#include "step/realtime/swerve.h"

namespace rotule {

using namespace realtime;

namespace {

constexpr double slow_steps = 3;    // of falling: what is slower is not looked at
constexpr double allowance = 0.02;  // of the energy: weight works over the way of each substep, and motion is turned by floats

}  // namespace

namespace realtime {

double Articulations::most_work(int number, const BodyLines& bodies) const {
  const Group& group = groups_[number];
  if (group.guided) return std::numeric_limits<double>::infinity();
  double work = 0;
  for (std::size_t k = 0; k < group.drives.size(); ++k) {
    const DriveRow& row = drives_[group.drives[k]];
    const double way = along(group, group.nodes[group.joints + static_cast<int>(k)], bodies.motion, 8);
    const double bound = std::max(-row.lower, row.upper) / part_;
    if (row.kind == DriveRow::Kind::motor) {
      work += bound * std::abs(way);
    } else if (row.kind == DriveRow::Kind::spring) {
      const auto& all = model_.joints[row.joint].drives;
      const Drive& drive = std::ranges::find_if(all, [&](const auto& axis) { return axis.axis == row.axis; })->drive;
      if (!(drive.stiffness > 0)) continue;
      // The row's bias is that of the pose ahead.
      const double stretch = row.bias * (part_ * drive.stiffness + drive.damping) / drive.stiffness - group.led[k];
      work += drive.spring_strength > 0 ? bound * std::abs(way) : -drive.stiffness * way * (stretch + 0.5 * way);
    }
  }
  return work;
}

}  // namespace realtime

void RealtimeStepper::keep_energy(const State& s, const VecX& forces, double h) {
  if (soft_->any()) return;
  gaining_.clear();
  const auto slow = static_cast<float>(slow_steps * h * model_.gravity.norm());
  stages_.gather(static_cast<int>(bodies_.rows.size()), 8, stages_.lists, gaining_,
                 [&](int first, int last, std::vector<int>& out) {
                   find_gaining(bodies_, std::span(bodies_.rows).subspan(first, last - first), model_.gravity, slow, out);
                 });
  if (gaining_.empty()) return;
  find_islands();
  gains_.assign(awake_.size(), {});
  const auto gain_of = [&](int line) -> Gain& { return gains_[hang_together_.root(place_[line])]; };
  bool any = false;
  for (const int line : gaining_)
    if (bodies_.moves(line)) any = gain_of(line).watched = true;
  if (!any) return;
  touches_.slots.for_each([&](const auto& family) {
    for (const auto& colour : family.colours)
      for (std::size_t block = 0; block < colour.hot.size(); ++block)
        for (int lane = 0; lane < colour.lanes(static_cast<int>(block)); ++lane) {
          const int a = colour.hot[block].a.lane[lane], b = colour.hot[block].b.lane[lane];
          Gain& gain = gain_of(bodies_.moves(a) ? a : b);
          gain.tied = true;
          gain.held = gain.held || !bodies_.moves(a) || !bodies_.moves(b);
        }
  });
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k) {
    Gain& gain = gains_[hang_together_.root(k)];
    // Belts and kinematic bodies do work of their own.
    if (restless_[k] != 0) gain.watched = false;
    const int line = line_of(awake_[k]);
    if (const int group = joints_->group_of(line); group >= 0) {
      gain.tied = true;
      gain.held = gain.held || joints_->anchored(group);
      if (joints_->lines_of(group).front() == line) gain.work += joints_->most_work(group, bodies_);
    }
  }
  wholes_.clear();
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k) {
    Gain& gain = gains_[hang_together_.root(k)];
    if (!gain.watched || !gain.tied) continue;
    const int line = line_of(awake_[k]), row = line / row_lanes, lane = line % row_lanes, body = awake_[k];
    const float* w = bodies_.motion[line].at;
    const Vec6 way = velocity_of(line, w + 8);
    gain.work += model_.bodies[body].mass * model_.gravity.dot(way.head<3>());
    if (forces.size() > 0) gain.work += forces.segment<6>(6 * body).dot(way);
    if (gain.held) {
      double square = 0;
      for (int n = 0; n < 6; ++n) square += double(w[n]) * double(w[n]);
      gain.before += double(bodies_.energy[row].lane[lane]);
      gain.now += 0.5 * square / double(bodies_.burden[row].lane[lane]);
      continue;
    }
    // Momenta are those of its own inertia, whatever it counts for in this step.
    const Mat3 R = s.theta[body].toRotationMatrix(), inertia = R * model_.inertia[body] * R.transpose();
    const double mass = model_.bodies[body].mass;
    const auto energy = [&](const auto& u) {
      return 0.5 * (mass * u.template head<3>().squaredNorm() + u.template tail<3>().dot(inertia * u.template tail<3>()));
    };
    const Vec6 u = velocity_of(line, w);
    gain.before += energy(start_u_.segment<6>(6 * body));
    gain.now += energy(u);
    if (gain.whole < 0) {
      gain.whole = static_cast<int>(wholes_.size());
      wholes_.push_back({.from = s.p[body]});
    }
    wholes_[gain.whole].add(mass, inertia, s.p[body], u);
  }
  bool shortened = false;
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k) {
    const Gain& gain = gains_[hang_together_.root(k)];
    if (!gain.watched || !gain.tied) continue;
    // Being lifted costs it nothing: overlaps are pushed out without speed.
    const double work = std::max(gain.work, 0.0);
    if (!(gain.now > (1 + allowance) * (gain.before + work))) continue;
    const int line = line_of(awake_[k]);
    const bool first = hang_together_.root(k) == k;
    float* motion = bodies_.motion[line].at;
    double share = 0;
    if (gain.held) {
      // share^2 now = before + share work
      share = (work + std::sqrt(work * work + 4 * gain.now * gain.before)) / (2 * gain.now);
      // Without weight a way costs nothing, and may be what closes joints.
      const bool whole_way = model_.gravity.isZero(0);
      for (int n = 0; n < 14; ++n)
        if (n < 6 || (n >= 8 && !whole_way)) motion[n] *= static_cast<float>(share);
      if (first) report_.energy_taken += (1 - share * share) * gain.now;
    } else {
      // as one + share^2 (now - as one) = before + work; where its momenta alone are worth more than that, they did not stay.
      const Whole& whole = wholes_[gain.whole];
      const double as_one = whole.energy() > gain.before + work ? 0 : whole.energy(), within = gain.now - as_one;
      share = std::sqrt((gain.before + work - as_one) / within);
      const Vec6 u = velocity_of(line, motion), of_whole = as_one > 0 ? whole.velocity_at(s.p[awake_[k]]) : Vec6(Vec6::Zero()),
                 slowed = of_whole + share * (u - of_whole);
      const Vec3 turning = whitened(bodies_, line, slowed.tail<3>());
      for (int n = 0; n < 3; ++n) {
        motion[n] = static_cast<float>(slowed[n]) / motion[6];
        motion[3 + n] = static_cast<float>(turning[n]);
      }
      if (first) report_.energy_taken += (1 - share * share) * within;
    }
    ++report_.slowed;
    bodies_.kept[line / row_lanes].lane[line % row_lanes] = static_cast<float>(share);
    if (const int group = joints_->group_of(line); group >= 0 && joints_->lines_of(group).front() == line)
      joints_->let_go(group, share);
    shortened = true;
  }
  if (shortened) let_go(touches_.slots, bodies_);
}

void RealtimeStepper::Whole::add(double m, const Mat3& own, const Vec3& p, const Vec6& u) {
  const Vec3 r = p - from;
  mass += m;
  moment += m * r;
  push += m * u.head<3>();
  spin += own * u.tail<3>() + m * r.cross(u.head<3>());
  inertia += own + m * (r.squaredNorm() * Mat3::Identity() - r * r.transpose());
}

Vec6 RealtimeStepper::Whole::velocity_at(const Vec3& p) const {
  const Vec3 centre = moment / mass, velocity = push / mass;
  const Mat3 about = inertia - mass * (centre.squaredNorm() * Mat3::Identity() - centre * centre.transpose());
  const Vec3 turning = about.ldlt().solve(spin - centre.cross(push));
  Vec6 u;
  u << velocity + turning.cross(p - from - centre), turning;
  return u;
}

double RealtimeStepper::Whole::energy() const {
  const Vec6 u = velocity_at(from);
  return 0.5 * (u.head<3>().dot(push) + u.tail<3>().dot(spin));
}

}  // namespace rotule
