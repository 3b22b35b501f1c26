#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/queries.h>
#include <rotule/robots.h>
#include <rotule/world.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "math/pose.h"
#include "robot/sensor_kinds.h"

namespace rotule {

namespace {

/// A frame that moves with a body.
struct MovingFrame {
  Vec3 p = Vec3::Zero();
  Quat R = Quat::Identity();
  Vec3 v = Vec3::Zero(), omega = Vec3::Zero();
};

void put(const Vec3& x, double* out) { std::copy_n(x.data(), 3, out); }
void put(const Quat& q, double* out) {
  out[0] = q.w();
  put(q.vec(), out + 1);
}

/// Along L = sum of ratio (q + zero): L, or its rate.
double along(const World& world, const std::vector<RobotActuator::Moved>& moves, std::span<const JointId> joints, bool rate) {
  double sum = 0;
  for (std::size_t k = 0; k < joints.size(); ++k)
    sum += moves[k].ratio * (rate ? world.joint_rate(joints[k]) : world.joint_position(joints[k]) + moves[k].zero);
  return sum;
}

}  // namespace

/// What one call reads from.
struct Sensors::Reading {
  const World& world;
  const std::vector<RobotActuator>& list;
  const std::vector<std::vector<JointId>>& moved;
  const Actuators* actuators;
  std::vector<ContactResult> contacts = {};

  [[nodiscard]] MovingFrame frame(const Seat& seat) const {
    if (!seat.body) return {seat.pose.position, seat.pose.orientation};
    const Quat R = world.orientation(*seat.body);
    MovingFrame out{world.position(*seat.body) + R * seat.pose.position, R * seat.pose.orientation, {}, {}};
    out.omega = world.angular_velocity(*seat.body);
    out.v = world.velocity(*seat.body) + out.omega.cross(out.p - world.center_of_mass(*seat.body));
    return out;
  }
  /// Of a body's point, less what gravity gives to all.
  [[nodiscard]] Vec3 proper_acceleration(BodyId body, const Vec3& p) const {
    const Vec3 lever = p - world.center_of_mass(body), omega = world.angular_velocity(body);
    return world.acceleration(body) + world.angular_acceleration(body).cross(lever) + omega.cross(omega.cross(lever)) -
           world.gravity();
  }
  [[nodiscard]] Vec3 proper_acceleration(const Seat& seat, const Vec3& p) const {
    return seat.body ? proper_acceleration(*seat.body, p) : Vec3(-world.gravity());
  }

  [[nodiscard]] double force(std::size_t k) const {
    const RobotActuator& a = list[k];
    const double activation = actuators ? actuators->activations()[k] : a.integrates ? 0 : a.control;
    const double f = a.gain * activation + a.constant - a.stiffness * along(world, a.moves, moved[k], false) -
                     a.damping * along(world, a.moves, moved[k], true);
    return a.forces ? std::clamp(f, (*a.forces)[0], (*a.forces)[1]) : f;
  }

  /// Normal forces of contacts of the body that lie in the zone, or whose normal, away from the body, leads there.
  [[nodiscard]] double touch(const RobotSensor& sensor, const Seat& seat, const MovingFrame& at) const {
    if (!seat.body) return 0;
    const QueryShape zone(sensor.zone);
    double sum = 0;
    for (const ContactResult& c : contacts) {
      const bool first = c.body_a == *seat.body;
      if ((!first && c.body_b != *seat.body) || !(c.normal_force() > 0)) continue;
      if (cast_ray(zone, {at.p, at.R}, Ray{.origin = c.point, .direction = first ? c.normal : Vec3(-c.normal)}))
        sum += c.normal_force();
    }
    return sum;
  }

  [[nodiscard]] double range(const Seat& seat, const MovingFrame& at) const {
    const BodyFilter others{.wants = [&](BodyId body) { return !seat.body || body != *seat.body; }};
    const auto hit = world.cast_ray(Ray{.origin = at.p, .direction = at.R * Vec3::UnitZ()}, others);
    return hit ? hit->distance : -1;
  }

  struct Whole {
    double mass = 0;
    Vec3 center = Vec3::Zero(), velocity = Vec3::Zero(), spin = Vec3::Zero();  // the last: angular momentum about the centre
  };
  [[nodiscard]] Whole together(const RobotSensor& sensor, std::span<const BodyId> bodies) const {
    Whole out;
    const auto part = [&](std::size_t k) { return frame({bodies[k], {sensor.parts[k].center, Quat::Identity()}}); };
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      const MovingFrame at = part(k);
      out.mass += sensor.parts[k].mass;
      out.center += sensor.parts[k].mass * at.p;
      out.velocity += sensor.parts[k].mass * at.v;
    }
    if (!(out.mass > 0)) return out;
    out.center /= out.mass;
    out.velocity /= out.mass;
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      const MovingFrame at = part(k);
      out.spin += at.R * (sensor.parts[k].inertia * (at.R.conjugate() * at.omega)) +
                  (at.p - out.center).cross(sensor.parts[k].mass * (at.v - out.velocity));
    }
    return out;
  }

  /// What the parts are moved by besides weight and contacts, about a point: force and torque.
  [[nodiscard]] std::array<Vec3, 2> held(const RobotSensor& sensor, std::span<const BodyId> bodies, const Vec3& about) const {
    Vec3 force = Vec3::Zero(), torque = Vec3::Zero();
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      const RobotSensor::Part& part = sensor.parts[k];
      const MovingFrame at = frame({bodies[k], {part.center, Quat::Identity()}});
      const Vec3 f =
          part.mass * (proper_acceleration(bodies[k], at.p) + (1 - part.weight) * world.gravity());  // the rest is carried
      const Mat3 R = at.R.toRotationMatrix(), inertia = R * part.inertia * R.transpose();
      force += f;
      torque += (at.p - about).cross(f) + inertia * world.angular_acceleration(bodies[k]) + at.omega.cross(inertia * at.omega);
    }
    const auto carries = [&](BodyId body) { return std::ranges::find(bodies, body) != bodies.end(); };
    for (const ContactResult& c : contacts) {
      const double sign = (carries(c.body_b) ? 1 : 0) - (carries(c.body_a) ? 1 : 0);
      force -= sign * c.force;
      torque -= sign * (c.point - about).cross(c.force);
    }
    return {force, torque};
  }

  void read(const RobotSensor& sensor, const Source& source, double* out) const;
};

void Sensors::Reading::read(const RobotSensor& sensor, const Source& source, double* out) const {
  using Kind = robot::SensorKind;
  const MovingFrame at = frame(source.at);
  const MovingFrame base = source.against ? frame(*source.against) : MovingFrame{};
  const auto local = [&](const Vec3& x) { put(at.R.conjugate() * x, out); };
  const auto told = [&](const Vec3& x) { put(base.R.conjugate() * x, out); };
  switch (static_cast<Kind>(source.kind)) {
    case Kind::touch:
      *out = touch(sensor, source.at, at);
      break;
    case Kind::accelerometer:
      local(proper_acceleration(source.at, at.p));
      break;
    case Kind::velocimeter:
      local(at.v);
      break;
    case Kind::gyro:
      local(at.omega);
      break;
    case Kind::force:
      local(held(sensor, source.parts, at.p)[0]);
      break;
    case Kind::torque:
      local(held(sensor, source.parts, at.p)[1]);
      break;
    case Kind::magnetometer:
      local(sensor.field);
      break;
    case Kind::rangefinder:
      *out = range(source.at, at);
      break;
    case Kind::jointpos:
    case Kind::tendonpos:
      *out = along(world, sensor.joints, source.joints, false);
      break;
    case Kind::jointvel:
    case Kind::tendonvel:
      *out = along(world, sensor.joints, source.joints, true);
      break;
    case Kind::actuatorpos:
    case Kind::actuatorvel: {
      const std::size_t k = source.actuators.front();
      *out = along(world, list[k].moves, moved[k], static_cast<Kind>(source.kind) == Kind::actuatorvel);
      break;
    }
    case Kind::actuatorfrc:
      *out = force(source.actuators.front());
      break;
    case Kind::jointactuatorfrc: {
      double sum = 0;
      RobotActuator::Range bounds;
      for (const std::size_t k : source.actuators) {
        bounds = list[k].joint_torques;
        for (std::size_t m = 0; m < moved[k].size(); ++m)
          if (moved[k][m] == source.joints.front()) sum += list[k].moves[m].ratio * force(k);
      }
      *out = bounds ? std::clamp(sum, (*bounds)[0], (*bounds)[1]) : sum;
      break;
    }
    case Kind::ballangvel:
      local(at.omega - base.omega);
      break;
    case Kind::ballquat:
    case Kind::framequat: {
      const Quat turn = base.R.conjugate() * at.R;
      put(turn.w() < 0 ? Quat(-turn.coeffs()) : turn, out);
      break;
    }
    case Kind::framepos:
      told(at.p - base.p);
      break;
    case Kind::framexaxis:
      told(at.R * Vec3::UnitX());
      break;
    case Kind::frameyaxis:
      told(at.R * Vec3::UnitY());
      break;
    case Kind::framezaxis:
      told(at.R * Vec3::UnitZ());
      break;
    case Kind::framelinvel:
      told(at.v - base.v - base.omega.cross(at.p - base.p));
      break;
    case Kind::frameangvel:
      told(at.omega - base.omega);
      break;
    case Kind::framelinacc:
      put(proper_acceleration(source.at, at.p), out);
      break;
    case Kind::frameangacc:
      put(source.at.body ? world.angular_acceleration(*source.at.body) : Vec3(Vec3::Zero()), out);
      break;
    case Kind::subtreecom:
      put(together(sensor, source.parts).center, out);
      break;
    case Kind::subtreelinvel:
      put(together(sensor, source.parts).velocity, out);
      break;
    case Kind::subtreeangmom:
      put(together(sensor, source.parts).spin, out);
      break;
    case Kind::clock:
      *out = world.time();
      break;
  }
}

Sensors::Sensors(const Robot& robot, const World& world) : sensors_(robot.sensors), actuators_(robot.actuators) {
  for (const RobotActuator& actuator : actuators_) {
    moved_.emplace_back();
    for (const RobotActuator::Moved& moved : actuator.moves) moved_.back().push_back(world.joint(moved.joint));
  }
  const auto seat = [&](const RobotSensor::Seat& given) -> Seat {
    if (given.body.empty() || given.body == "world") return {{}, given.pose};
    return {world.body(given.body), given.pose};
  };
  int count = 0;
  for (const RobotSensor& sensor : sensors_) {
    const robot::SensorWord* const word = robot::sensor_word(sensor.type);
    if (word == nullptr) throw Error(fmt::format("sensor {}", in_quotes(sensor.name)), "is of no kind that is known");
    Source source{.first = count, .kind = static_cast<int>(word->kind), .at = seat(sensor.at)};
    count += sensor.size;
    if (sensor.against) source.against = seat(*sensor.against);
    for (const RobotActuator::Moved& moved : sensor.joints) source.joints.push_back(world.joint(moved.joint));
    for (const RobotSensor::Part& part : sensor.parts) source.parts.push_back(world.body(part.body));
    const bool of_joint = word->kind == robot::SensorKind::jointactuatorfrc;
    for (std::size_t k = 0; k < actuators_.size(); ++k)
      if (of_joint ? std::ranges::find(moved_[k], source.joints.front()) != moved_[k].end()
                   : !sensor.actuator.empty() && actuators_[k].name == sensor.actuator)
        source.actuators.push_back(k);
    if (word->subject == robot::SensorSubject::actuator && source.actuators.empty())
      throw Error(fmt::format("sensor {}", in_quotes(sensor.name)), "its actuator is not among those of the robot");
    sources_.push_back(std::move(source));
  }
  values_.assign(static_cast<std::size_t>(count), 0.0);
}

std::span<const double> Sensors::read(const World& world, const Actuators* actuators) {
  if (actuators != nullptr && actuators->list().size() != actuators_.size())
    throw Error("sensors", "are told of the actuators of another robot");
  Reading reading{world, actuators_, moved_, actuators};
  const auto feels = [](const RobotSensor& s) { return s.type == "touch" || s.type == "force" || s.type == "torque"; };
  if (std::ranges::any_of(sensors_, feels)) reading.contacts = world.contacts();
  for (std::size_t k = 0; k < sensors_.size(); ++k) {
    const RobotSensor& sensor = sensors_[k];
    double* const out = values_.data() + sources_[k].first;
    reading.read(sensor, sources_[k], out);
    if (!(sensor.cutoff > 0) || robot::sensor_word(sensor.type)->turns) continue;
    for (int i = 0; i < sensor.size; ++i) out[i] = std::clamp(out[i], -sensor.cutoff, sensor.cutoff);
  }
  return values_;
}

std::span<const double> Sensors::of(std::string_view name) const {
  for (std::size_t k = 0; k < sensors_.size(); ++k)
    if (sensors_[k].name == name)
      return std::span<const double>(values_).subspan(static_cast<std::size_t>(sources_[k].first),
                                                      static_cast<std::size_t>(sensors_[k].size));
  std::vector<std::string> known;
  for (const RobotSensor& sensor : sensors_) known.push_back(sensor.name);
  throw Error("sensors", fmt::format("there is no sensor {}; {}", in_quotes(std::string(name)), suggestion(name, known)));
}

}  // namespace rotule
