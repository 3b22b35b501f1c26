// No gain of energy out of nothing. One sweep per substep is far from the solution where something heavy comes down on something
// light, or where what joints tie together meets corners: impulses that are repeated from the last step (begin_substep) then do
// work that nobody did. So whoever is found to have gained more than weight gave it is looked at with all that it hangs together
// with, by contacts and joints; and if all of that has more energy of motion than it had and than forces gave it on its way,
// motion and way are shortened, and the impulses that are repeated with them. What nothing fixed holds is left alone: its
// momentum and angular momentum would not stay. So are bodies in scenes with particles, whose work on them is not known here.
#include <algorithm>
#include <cmath>
#include <limits>

#include "step/realtime/articulations.h"
#include "step/realtime/realtime_stepper.h"
#include "step/realtime/soft/soft_solids.h"

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

void RealtimeStepper::keep_energy(const VecX& forces, double h) {
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
          gain.touches = true;
          gain.held = gain.held || !bodies_.moves(a) || !bodies_.moves(b);
        }
  });
  // Belts and kinematic bodies do work of their own.
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k) {
    Gain& gain = gains_[hang_together_.root(k)];
    if (restless_[k] != 0) gain.watched = false;
    const int line = line_of(awake_[k]);
    if (const int group = joints_->group_of(line); group >= 0) {
      gain.held = gain.held || joints_->anchored(group);
      if (joints_->lines_of(group).front() == line) gain.work += joints_->most_work(group, bodies_);
    }
    if (!gain.watched || !gain.touches) continue;
    const int row = line / row_lanes, lane = line % row_lanes, body = awake_[k];
    const float* w = bodies_.motion[line].at;
    double square = 0;
    for (int n = 0; n < 6; ++n) square += double(w[n]) * double(w[n]);
    gain.before += double(bodies_.energy[row].lane[lane]);
    gain.now += 0.5 * square / double(bodies_.burden[row].lane[lane]);
    const Vec6 way = velocity_of(line, w + 8);
    gain.work += model_.bodies[body].mass * model_.gravity.dot(way.head<3>());
    if (forces.size() > 0) gain.work += forces.segment<6>(6 * body).dot(way);
  }
  bool shortened = false;
  for (int k = 0; k < static_cast<int>(awake_.size()); ++k) {
    const Gain& gain = gains_[hang_together_.root(k)];
    if (!gain.watched || !gain.touches || !gain.held) continue;
    // Being lifted costs it nothing: overlaps are pushed out without speed.
    const double work = std::max(gain.work, 0.0);
    if (!(gain.now > (1 + allowance) * (gain.before + work))) continue;
    // share^2 now = before + share work
    const double share = (work + std::sqrt(work * work + 4 * gain.now * gain.before)) / (2 * gain.now);
    const int line = line_of(awake_[k]);
    for (int n = 0; n < 14; ++n)
      if (n < 6 || n >= 8) bodies_.motion[line].at[n] *= static_cast<float>(share);
    bodies_.kept[line / row_lanes].lane[line % row_lanes] = static_cast<float>(share);
    if (const int group = joints_->group_of(line); group >= 0 && joints_->lines_of(group).front() == line)
      joints_->let_go(group, share);
    shortened = true;
  }
  if (shortened) let_go(touches_.slots, bodies_);
}

}  // namespace rotule
