// What a program tells a world and hears from it between steps: poses, velocities and forces of bodies, motors, coordinates of
// joints, contacts that begin and end.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/text.h"
#include "constraint/joint_coordinates.h"
#include "model/joint_kinds.h"
#include "step/touch_log.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

/// The drive of an axis as the motor has it now. Two springs side by side are one: k = k_1 + k_2, slack where they balance.
void put_over(const MotorSetting& motor, Drive& drive) {
  drive.motor_speed = drive.motor_strength = drive.motor_torque = 0;
  const auto& v = motor.values;
  switch (motor.kind) {
    case 1:
      drive.motor_speed = v[0];
      drive.motor_strength = v[1];
      break;
    case 2: {
      const double k = drive.stiffness + v[1];
      if (k > 0) drive.rest = (drive.stiffness * drive.rest + v[1] * v[0]) / k;
      drive.stiffness = k;
      drive.damping += v[2];
      break;
    }
    case 3:
      drive.motor_torque = v[0];
      break;
    default:
      break;
  }
}

MotorSetting setting_of(const MotorTarget& target) {
  MotorSetting out;
  out.kind = static_cast<std::int64_t>(target.index());
  if (const auto* speed = std::get_if<MotorSpeed>(&target)) out.values = {speed->speed, speed->strength, 0};
  if (const auto* servo = std::get_if<MotorPosition>(&target)) out.values = {servo->position, servo->stiffness, servo->damping};
  if (const auto* torque = std::get_if<MotorTorque>(&target)) out.values = {torque->torque, 0, 0};
  return out;
}

bool comes_before(const MotorSetting& p, const MotorSetting& q) { return std::tie(p.joint, p.axis) < std::tie(q.joint, q.axis); }

void require_own_motion(const Model& model, int body, const char* call) {
  for (const BodyMotion& motion : model.motions)
    if (motion.body == body)
      throw Error(call, fmt::format("the motion of body {} is prescribed by its definition", in_quotes(model.bodies[body].name)));
}

}  // namespace

void World::set_pose(BodyId body, const Pose& pose) {
  WorldImplementation& w = *implementation_;
  if (!pose.position.allFinite() || !(std::abs(pose.orientation.norm() - 1) < 1e-3))
    throw Error("set_pose", "needs a finite position and a unit quaternion");
  const int i = w.body_slots.place(body);
  require_own_motion(w.model, i, "set_pose");
  place_body(w.model, w.state, i, pose);
  ++w.revision;
  w.ready().body_changed(i);
}

void World::set_velocity(BodyId body, const Vec3& velocity, const Vec3& angular_velocity) {
  WorldImplementation& w = *implementation_;
  const int i = w.body_slots.place(body);
  if (!velocity.allFinite() || !angular_velocity.allFinite()) throw Error("set_velocity", "needs finite velocities");
  if (!w.model.movable(i) && !w.model.kinematic(i))
    throw Error("set_velocity", fmt::format("body {} is fixed; make it kinematic to move it", in_quotes(w.model.bodies[i].name)));
  require_own_motion(w.model, i, "set_velocity");
  w.state.u.segment<6>(6 * i) << velocity, angular_velocity;
  // Nothing but its joints can tell others at once: by impulses the step itself does.
  if (w.model.kinematic(i) && !by_impulses(w.recipe.formulation)) w.impulse(i, Vec3::Zero(), w.state.p[i]);
  w.ready().body_changed(i);
}

void World::move_to(BodyId body, const Pose& pose, double h) {
  WorldImplementation& w = *implementation_;
  const int i = w.body_slots.place(body);
  if (!w.model.kinematic(i))
    throw Error("move_to",
                fmt::format("body {} is not kinematic; make it so, or use set_pose", in_quotes(w.model.bodies[i].name)));
  if (!pose.position.allFinite() || !(std::abs(pose.orientation.norm() - 1) < 1e-3))
    throw Error("move_to", "needs a finite position and a unit quaternion");
  if (!(h > 0) || !std::isfinite(h)) throw Error("move_to", fmt::format("needs a positive number of seconds, is given {}", h));
  const Quat theta = pose.orientation.normalized();
  const Vec3 p = pose.position + theta * w.model.bodies[i].center_of_mass;
  set_velocity(body, (p - w.state.p[i]) / h, log_rotation(theta * w.state.theta[i].conjugate()) / h);
}

void World::set_force(BodyId body, const Vec3& force, const Vec3& torque) {
  WorldImplementation& w = *implementation_;
  const int i = w.body_slots.place(body);
  if (!force.allFinite() || !torque.allFinite()) throw Error("set_force", "needs a finite force and torque");
  Vec6 both;
  both << force, torque;
  if (w.external.segment<6>(6 * i) == both) return;
  w.external.segment<6>(6 * i) = both;
  w.ready().force_changed(i, w.external);
}

void WorldImplementation::apply_motors() {
  for (Joint& joint : model.joints) joint.drives = joint.defined;
  for (const MotorSetting& motor : motors) {
    std::vector<Joint::AxisDrive>& drives = model.joints[motor.joint].drives;
    auto at = std::lower_bound(drives.begin(), drives.end(), motor.axis,
                               [](const Joint::AxisDrive& drive, int axis) { return drive.axis < axis; });
    if (at == drives.end() || at->axis != motor.axis) {
      if (motor.kind == 0) continue;
      const std::ptrdiff_t place = at - drives.begin();
      drives.emplace_back().axis = motor.axis;
      std::rotate(drives.begin() + place, drives.end() - 1, drives.end());
      at = drives.begin() + place;
    }
    put_over(motor, at->drive);
  }
}

int WorldImplementation::find_axis(int joint, std::string_view axis) const {
  const Joint& of = model.joints[joint];
  int only = -1, count = 0;
  for (int k = 0; k < 6; ++k)
    if (is_free_axis(model, of, k)) {
      only = k;
      ++count;
    }
  if (axis.empty() && count == 1) return only;
  if (const int number = axis_number(axis); is_free_axis(model, of, number)) return number;

  const std::string place = fmt::format("joint {}", in_quotes(of.name));
  if (count == 0) throw Error(place, "has no free axis with a coordinate");
  std::string known;
  for (const int k : free_axes(model, of))
    known += fmt::format("{}{}", known.empty() ? "" : ", ", axis_names[static_cast<std::size_t>(k)]);
  if (axis.empty()) throw Error(place, fmt::format("has several free axes; name one of {}", known));
  throw Error(place, fmt::format("{} is not one of its free axes: {}", in_quotes(axis), known));
}

std::vector<std::string> World::joint_axes(JointId joint) const {
  const WorldImplementation& w = *implementation_;
  std::vector<std::string> out;
  for (const int axis : free_axes(w.model, w.model.joints[w.joint_slots.place(joint)]))
    out.emplace_back(axis_names[static_cast<std::size_t>(axis)]);
  return out;
}

double World::joint_position(JointId joint, std::string_view axis) const {
  const WorldImplementation& w = *implementation_;
  const int j = w.joint_slots.place(joint);
  return rotule::joint_position(w.model, w.model.joints[j], w.state)[w.find_axis(j, axis)];
}

double World::joint_rate(JointId joint, std::string_view axis) const {
  const WorldImplementation& w = *implementation_;
  const int j = w.joint_slots.place(joint);
  return rotule::joint_rate(w.model, w.model.joints[j], w.state)[w.find_axis(j, axis)];
}

void World::set_motor(JointId joint, const MotorTarget& target, std::string_view axis) {
  WorldImplementation& w = *implementation_;
  const int j = w.joint_slots.place(joint);
  const Joint& of = w.model.joints[j];
  MotorSetting setting = setting_of(target);
  setting.joint = j;
  setting.axis = w.find_axis(j, axis);
  for (const double value : setting.values)
    if (!std::isfinite(value)) throw Error("set_motor", "needs finite numbers");
  if (setting.kind == 1 && setting.values[1] < 0) throw Error("set_motor", "strength must not be negative");
  if (setting.kind == 2 && (setting.values[1] < 0 || setting.values[2] < 0))
    throw Error("set_motor", "stiffness and damping must not be negative");
  const bool all_turn = !of.locked[3] && !of.locked[4] && !of.locked[5];
  if (setting.kind == 2 && setting.axis >= 3 && all_turn && setting.values[1] > 0)
    throw Error(fmt::format("joint {}", in_quotes(of.name)),
                "all three rotations are free, so that there is no angle to pull to; use a universal joint or a hinge");

  auto at = std::lower_bound(w.motors.begin(), w.motors.end(), setting, comes_before);
  const bool known = at != w.motors.end() && !comes_before(setting, *at);
  // The same kind of target on the same axis has the same rows: nothing else has to be looked at.
  const auto rows = [](const MotorSetting& m) { return std::tuple(m.kind, m.values[1] > 0, m.values[2] > 0); };
  const bool same_rows = known && rows(*at) == rows(setting);
  if (known && at->kind == setting.kind && at->values == setting.values) return;
  if (same_rows) {
    *at = setting;
    w.apply_motors();
    if (w.stepper) w.stepper->motors_told();
    return;
  }
  const std::vector<MotorSetting> before_it = w.motors;
  if (known)
    *at = setting;
  else
    w.motors.insert(at, setting);
  w.apply_motors();
  try {
    w.ready().drives_changed();
  } catch (const Error&) {  // as if nothing had been asked
    w.motors = before_it;
    w.apply_motors();
    w.ready().drives_changed();
    throw;
  }
}

void WorldImplementation::take_events() {
  events.clear();
  for (const TouchChange& change : stepper->touches().changes()) {
    int a = change.pair.a, b = change.pair.b;
    if (model.bodies[a].sensor && !model.bodies[b].sensor) std::swap(a, b);
    events.push_back({body_slots.id(a), body_slots.id(b), change.begins, change.pair.sensor != 0});
  }
}

std::span<const ContactEvent> World::events() const { return implementation_->events; }

bool World::touching(BodyId a, BodyId b) const {
  WorldImplementation& w = *implementation_;
  return w.ready().touching(w.body_slots.place(a), w.body_slots.place(b));
}

}  // namespace rotule
