#pragma once
// Joints as values (A3). Every joint stands between two bodies, by name, a gear beside a third; "world" is a partner that never
// moves. Points
// (`at`) and directions (`axis`) are given in world coordinates, in the pose in which the scene is described: each joint is
// closed there by construction. Sign convention: what a joint reports is the force on its second body.
//
// A particle ("cloth/12") can be a partner too, where no rotation of it is spoken of: of a ball, a rod, as the second one of a
// point on a line or of locked translations, and of a user's constraint. It has no other point than its own, so that `at` is left
// out. Those that are pinned are part of the world.
#include <rotule/jet.h>
#include <rotule/types.h>

#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rotule {

using Between = std::array<std::string, 2>;

/// A motion given as a function of time, offset + speed t + amplitude sin(frequency t + phase), with its derivatives.
struct GivenMotion {
  double offset = 0;     // rad or m
  double speed = 0;      // rad/s or m/s
  double amplitude = 0;  // rad or m
  double frequency = 0;  // rad/s
  double phase = 0;      // rad
  /// In place of all that: the value, its rate and its acceleration, which must belong together.
  std::function<std::array<double, 3>(double time)> function = {};

  [[nodiscard]] std::array<double, 3> at(double t) const {
    if (function) return function(t);
    const double s = amplitude * std::sin(frequency * t + phase), c = amplitude * std::cos(frequency * t + phase);
    return {offset + speed * t + s, speed + frequency * c, -frequency * frequency * s};
  }
  /// Functions cannot be compared: a motion that has one is equal to none.
  friend bool operator==(const GivenMotion& a, const GivenMotion& b) {
    return !a.function && !b.function && a.offset == b.offset && a.speed == b.speed && a.amplitude == b.amplitude &&
           a.frequency == b.frequency && a.phase == b.phase;
  }
};

/// What acts along or about a free axis of a joint (A3). The coordinate q is the angle (rad, from -pi to pi) or the travel (m)
/// of the second body relative to the first, zero in the pose of the scene. At velocity level all of it acts by impulses; at
/// acceleration level springs, dampers and torques are forces like any others, a given motion is a constraint with time in it,
/// and what switches (stops, friction, motors at the end of their strength) is followed from event to event.
struct Drive {
  std::optional<double> lower = {}, upper = {};  // rad or m
  double motor_speed = 0;                        // rad/s or m/s, kept as far as the motor's strength goes
  double motor_strength = 0;                     // N m or N; 0: no motor
  double friction = 0;                           // N m or N, dry
  double stiffness = 0;                          // N m/rad or N/m
  double damping = 0;                            // N m s/rad or N s/m
  double rest = 0;                               // rad or m, where the spring is slack
  double spring_strength = 0;                    // N m or N, most that spring and damper exert together, as a servo; 0: any
  double restitution = 0;                        // of the stops at lower and upper: rate after over rate before
  double motor_torque = 0;                       // N m or N, exerted always
  std::optional<GivenMotion> motion = {};        // q as a function of time, whatever that takes

  friend bool operator==(const Drive&, const Drive&) = default;
};

// What a motor is told while the world runs (World::set_motor), in place of what it was told before. What the scene says of the
// axis besides (limits, friction, its own spring) stays.
struct MotorOff {};
/// Keeps a speed, as far as its strength goes.
struct MotorSpeed {
  double speed = 0;     // rad/s, m/s
  double strength = 0;  // N m, N
};
/// A servo: pulls to the position like a spring with a damper.
struct MotorPosition {
  double position = 0;   // rad, m
  double stiffness = 0;  // N m/rad, N/m
  double damping = 0;    // N m s/rad, N s/m
};
/// The same torque or force, whatever the speed.
struct MotorTorque {
  double torque = 0;  // N m, N
};
using MotorTarget = std::variant<MotorOff, MotorSpeed, MotorPosition, MotorTorque>;

/// The same on one of the free axes of a joint that has several: x, y, z of its frame, or rx, ry, rz, the rotations about them.
/// The frame's z is the joint's axis or normal, with x and y turned with it the shortest way from the world's; a universal joint
/// has x = axis_a, y = axis_b; a ball the world's axes. Where all three rotations are free there is no angle to limit or to
/// spring back to: motors, friction and dampers only.
struct AxisDrive {
  std::string axis = {};
  Drive drive = {};

  friend bool operator==(const AxisDrive&, const AxisDrive&) = default;
};

/// A point in common; all rotations free. Locks 3 degrees of freedom.
struct Ball {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  std::vector<AxisDrive> drives = {};
};

/// A line in common: one rotation free. Locks 5.
struct Hinge {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  Drive drive = {};
};

/// One translation free. Locks 5.
struct Slider {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  Drive drive = {};
};

/// One translation and the rotation about it free. Locks 4.
struct Cylindrical {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  std::vector<AxisDrive> drives = {};
};

/// A point in common, and two directions, one of each body, that stay perpendicular: a Cardan joint. Locks 4.
struct Universal {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis_a{1, 0, 0};
  Vec3 axis_b{0, 1, 0};
  std::vector<AxisDrive> drives = {};
};

/// A plane in common: two translations in it and the rotation about its normal free. Locks 3.
struct Planar {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 normal{0, 0, 1};
  std::vector<AxisDrive> drives = {};
};

/// Nothing free. Locks 6.
struct Weld {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
};

/// A fixed distance between a point of each body. Locks 1. `length` 0 means: as far apart as they are.
struct Rod {
  std::string name = {};
  Between between = {};
  std::optional<Vec3> from = {};  // point of the first; default: its centre of mass
  std::optional<Vec3> to = {};    // point of the second, likewise
  double length = 0;
};

/// A point of the second body stays on a line of the first; all rotations free. Locks 2.
struct PointOnLine {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  std::vector<AxisDrive> drives = {};
};

/// Choose which of the six relative degrees of freedom are locked, along and about the axes of a frame at `at`.
struct LockedAxes {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Quat frame = Quat::Identity();
  /// x, y, z, then the rotations about x, y, z.
  std::array<bool, 6> locked{true, true, true, false, false, false};
  std::vector<AxisDrive> drives = {};
};

/// Two wheels in mesh: they turn about axes that a carrier holds, so that as many teeth of one pass as of the other. Holds the
/// ratio alone: what keeps each wheel on its axis is a joint of its own, a hinge between wheel and carrier as a rule. A third
/// body, or the world, is the carrier; where it moves, angles count from it (a planetary gear). Locks 1.
struct Gear {
  std::string name = {};
  Between between = {};           // the wheels
  std::string carrier = "world";  // the body in which their axes are fixed
  Vec3 axis_a{0, 0, 1};           // of the first wheel, in the world
  Vec3 axis_b{0, 0, 1};           // of the second wheel
  int teeth_a = 1, teeth_b = 1;
  bool internal = false;  // whether one wheel lies inside the other: both turn the same way about axes that point the same way
};

/// What a user's constraint function is given for each body: its pose as second-order jets, so that whatever is written in
/// terms of it carries its own derivatives.
struct JetBody {
  JetVec3 position;  // of the body's frame, in the world
  JetMat3 rotation;  // body to world

  /// Where the point `r`, fixed in the body's frame, stands in the world.
  [[nodiscard]] JetVec3 point(const Vec3& r) const { return position + rotation * r; }
  /// Where the direction `d`, fixed in the body's frame, points in the world.
  [[nodiscard]] JetVec3 direction(const Vec3& d) const { return rotation * d; }
};

/// One equation C(q, t) = 0 of the user's own (A2): write C alone, derivatives follow by automatic differentiation.
struct Constraint {
  std::string name = {};
  Between between = {};
  std::function<Jet(const JetBody& a, const JetBody& b, const Jet& time)> function = {};
};

using JointDef =
    std::variant<Ball, Hinge, Slider, Cylindrical, Universal, Planar, Weld, Rod, PointOnLine, LockedAxes, Gear, Constraint>;

}  // namespace rotule
