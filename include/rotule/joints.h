#pragma once
// Joints as values (A3). Every joint stands between two bodies, by name, a gear beside a third; "world" is a partner that never
// moves. Points
// (`at`) and directions (`axis`) are given in world coordinates, in the pose in which the scene is described: each joint is
// closed there by construction. Sign convention: what a joint reports is the force on its second body.
//
// A particle ("cloth/12") can be a partner too, where no rotation of it is spoken of: of a ball, a rod, as the second one of a
// point on a line or of locked translations, and of a user's constraint. It has no other point than its own, so that `at` is left
// out. Those that are pinned are part of the world.
#include <rotule/formula.h>
#include <rotule/jet.h>
#include <rotule/moving.h>
#include <rotule/types.h>

#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace rotule {

using Between = std::array<std::string, 2>;

/// What a joint bears, looked at where steps end; what it exerts beyond that breaks it, and it leaves the world.
struct Breaking {
  std::optional<double> force = {};   // N
  std::optional<double> torque = {};  // N m, at the joint's point

  friend bool operator==(const Breaking&, const Breaking&) = default;
};

/// A motion given as a function of time, offset + speed t + amplitude sin(frequency t + phase) + formula(t), with its
/// derivatives.
struct GivenMotion {
  double offset = 0;     // rad or m
  double speed = 0;      // rad/s or m/s
  double amplitude = 0;  // rad or m
  double frequency = 0;  // rad/s
  double phase = 0;      // rad
  Formula formula = {};  // rad or m
  /// In place of all that: the value, its rate and its acceleration, which must belong together.
  std::function<std::array<double, 3>(double time)> function = {};

  /// Without the formula, which a World compiles into a function.
  [[nodiscard]] std::array<double, 3> at(double t) const {
    if (function) return function(t);
    const double s = amplitude * std::sin(frequency * t + phase), c = amplitude * std::cos(frequency * t + phase);
    return {offset + speed * t + s, speed + frequency * c, -frequency * frequency * s};
  }
  /// Functions cannot be compared: a motion that has one is equal to none.
  friend bool operator==(const GivenMotion& a, const GivenMotion& b) {
    return !a.function && !b.function && a.offset == b.offset && a.speed == b.speed && a.amplitude == b.amplitude &&
           a.frequency == b.frequency && a.phase == b.phase && a.formula == b.formula;
  }
};

/// What acts along or about a free axis of a joint (A3). The coordinate q is the angle (rad, from -pi to pi) or the travel (m)
/// of the second body relative to the first, zero in the pose of the scene, or what a hinge or slider says it is there. At
/// velocity level all of it acts by impulses; at acceleration level springs, dampers and torques are forces like any others, a
/// given motion is a constraint with time in it, and what switches (stops, friction, motors at the end of their strength) is
/// followed from event to event.
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
  double armature = 0;                           // kg m^2 or kg: inertia of a rotor geared to the axis, seen from it

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
  Breaking breaks = {};
};

/// A line in common: one rotation free. Locks 5.
struct Hinge {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  Drive drive = {};
  double start = 0;  // rad: the angle q in the pose of the scene
  Breaking breaks = {};
};

/// One translation free. Locks 5.
struct Slider {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  Drive drive = {};
  double start = 0;  // m: the travel q in the pose of the scene
  Breaking breaks = {};
};

/// One translation and the rotation about it free. Locks 4.
struct Cylindrical {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  std::vector<AxisDrive> drives = {};
  Breaking breaks = {};
};

/// A point in common, and two directions, one of each body, that stay perpendicular: a Cardan joint. Locks 4.
struct Universal {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis_a{1, 0, 0};
  Vec3 axis_b{0, 1, 0};
  std::vector<AxisDrive> drives = {};
  Breaking breaks = {};
};

/// A plane in common: two translations in it and the rotation about its normal free. Locks 3.
struct Planar {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 normal{0, 0, 1};
  std::vector<AxisDrive> drives = {};
  Breaking breaks = {};
};

/// Nothing free. Locks 6.
struct Weld {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Breaking breaks = {};
};

/// A fixed distance between a point of each body. Locks 1. `length` 0 means: as far apart as they are.
struct Rod {
  std::string name = {};
  Between between = {};
  std::optional<Vec3> from = {};  // point of the first; default: its centre of mass
  std::optional<Vec3> to = {};    // point of the second, likewise
  double length = 0;
  Breaking breaks = {};
};

/// A point of the second body stays on a line of the first; all rotations free. Locks 2.
struct PointOnLine {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  std::vector<AxisDrive> drives = {};
  Breaking breaks = {};
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
  Breaking breaks = {};
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
  Breaking breaks = {};
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

/// A constraint over any number of bodies as the engine keeps it: `Scene::add_constraint` makes one of a C++ function.
struct ConstraintFunction {
  /// Writes as many equations as there are; s are the parameters.
  std::function<void(MovingBodies q, const Moving& t, std::span<const Moving> s, std::span<Moving> out)> evaluate = {};
  int equations = 0;
  bool single = false;  // whether its one body is the second of `between`, the first being the world

  explicit operator bool() const { return evaluate != nullptr; }
};

/// A point fixed in a body, for equations in files to speak of.
struct NamedPoint {
  std::string name = {};
  std::string body = {};
  Vec3 at = Vec3::Zero();  // in the body's frame

  friend bool operator==(const NamedPoint&, const NamedPoint&) = default;
};
/// One equation as text, or several.
struct EquationText {
  std::vector<std::string> lines = {};

  EquationText() = default;
  EquationText(const char* line) : lines{line} {}             // NOLINT: meant to be implicit, as in .equation = "a.x - cos(a.y)"
  EquationText(std::string line) : lines{std::move(line)} {}  // NOLINT
  EquationText(std::initializer_list<std::string> all) : lines(all) {}
  friend bool operator==(const EquationText&, const EquationText&) = default;
};
struct NamedConstant {
  std::string name = {};
  double value = 0;

  friend bool operator==(const NamedConstant&, const NamedConstant&) = default;
};

/// Equations of the user's own (A2), of the bodies' positions and the time, or linear in their velocities (A14): write their
/// values alone, derivatives follow by automatic differentiation. They are given in one of three ways: as text, as files have
/// them; as a C++ function over any number of bodies (Scene::add_constraint); or as a function of second-order jets of two
/// bodies.
struct Constraint {
  std::string name = {};
  Between between = {};
  std::function<Jet(const JetBody& a, const JetBody& b, const Jet& time)> function = {};
  std::vector<std::string> more = {};  // bodies beyond two
  /// Each is to be zero, or no less or no more than this.
  std::optional<double> at_least = {}, at_most = {};
  double restitution = 0;  // where one that may not be less or more is met: rate after over rate before
  std::vector<ConstraintParameter> parameters = {};
  /// crank.x - cos(crank.y): bodies and points by name with x y z, vx vy vz; of bodies also wx wy wz, axis_x.x to axis_z.z and
  /// angle_x angle_y angle_z; constants, parameters, t and what formula.h has. Names that are no plain words stand in 'quotes'.
  EquationText equation = {};
  std::vector<NamedPoint> points = {};
  std::vector<NamedConstant> constants = {};
  ConstraintFunction law = {};
  Breaking breaks = {};
};

/// A pinion rolls on a rack: travel of the second body along `direction` over the angle of the first about `axis` is `radius`,
/// both as the carrier sees them. Holds the ratio alone, as a gear does. Locks 1.
struct RackAndPinion {
  std::string name = {};
  Between between = {};  // pinion, rack
  std::string carrier = "world";
  Vec3 axis{0, 0, 1};       // of the pinion, in the world
  Vec3 direction{1, 0, 0};  // of the rack's travel where the pinion turns forwards
  double radius = 1;        // m, of the pitch circle
  Breaking breaks = {};
};

/// A nut on a thread: cylindrical, and `pitch` of travel per turn (right-handed; negative: left-handed). Locks 5.
struct Screw {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};
  double pitch = 1;  // m per turn of the second body relative to the first
  Breaking breaks = {};
};

/// A rope from a point of the first body over two points of the carrier to a point of the second. It holds |from - over_a| +
/// ratio |to - over_b| as it is, both ways, or pulls alone where it may be slack. Locks 1.
struct Pulley {
  std::string name = {};
  Between between = {};
  std::string carrier = "world";
  std::optional<Vec3> from = {}, to = {};             // in the world; default: centres of mass
  Vec3 over_a = Vec3::Zero(), over_b = Vec3::Zero();  // in the world
  double ratio = 1;                                   // strands that hold the second body per strand of the first
  bool slack = false;                                 // whether it may hang loose
  double restitution = 0;                             // where a slack one comes taut
  Breaking breaks = {};
};

/// Two wheels share what a case gives them: their angles add up to twice the case's, all about `axis` as the carrier sees them.
/// Holds that alone. Locks 1.
struct Differential {
  std::string name = {};
  Between between = {};      // the two wheels
  std::string housing = {};  // the case that drives them
  std::string carrier = "world";
  Vec3 axis{0, 0, 1};
  Breaking breaks = {};
};

/// A point of the second body stays on a smooth curve through points that the first carries. Locks 2.
struct Rail {
  std::string name = {};
  Between between = {};
  std::optional<Vec3> point = {};  // of the second body, in the world; default: its centre of mass
  std::vector<Vec3> points = {};   // in the world, at least 3; the curve passes through all of them
  bool closed = false;             // whether the last is joined to the first
  Breaking breaks = {};
};

/// A follower on a cam: a point of the second body stays on a closed curve in the plane of the cam, or as far outside of it as
/// its roller is large. Where it stands along the cam's axis is free. Locks 1.
struct Cam {
  std::string name = {};
  Between between = {};            // cam, follower
  Vec3 axis{0, 0, 1};              // of the plane, in the world
  std::optional<Vec3> point = {};  // of the follower, in the world; default: its centre of mass
  std::vector<Vec3> profile = {};  // points of the cam's edge, in the world, counter-clockwise about the axis; at least 4
  double roller = 0;               // m, radius of the follower's roller
  Breaking breaks = {};
};

/// A point in common, and shafts that turn equally fast at any angle between them: a homokinetic joint. Locks 4.
struct ConstantVelocity {
  std::string name = {};
  Between between = {};
  Vec3 at = Vec3::Zero();
  Vec3 axis{0, 0, 1};  // of both shafts, in the world
  Breaking breaks = {};
};

/// A ball, a disc or a wheel rolls without slipping on a plane of the first body, or on a smooth surface that it carries: the
/// point that is lowest there stays on it and has its velocity. Locks 1 in position and 2 more in velocity.
struct Rolling {
  std::string name = {};
  Between between = {};      // plane, wheel
  std::string surface = {};  // in place of a plane: x^2 + y^2 + z^2 - 4, zero on it, x y z in the world as the scene has it
  Vec3 at = Vec3::Zero();    // any point of the plane, in the world
  Vec3 normal{0, 0, 1};      // of the plane, towards the wheel
  std::optional<Vec3> center = {};  // of the wheel, in the world; default: its centre of mass
  std::optional<Vec3> axis = {};    // of a disc, in the world; none: a ball
  double radius = 1;                // m
  Breaking breaks = {};
};

/// A blade or skate on a plane of the first body, or on a smooth surface that it carries: the point may not move sideways, along
/// normal x blade. Locks 1 in velocity; what keeps it on the plane is a joint of its own.
struct KnifeEdge {
  std::string name = {};
  Between between = {};
  std::string surface = {};  // in place of a plane, as of rolling
  Vec3 at = Vec3::Zero();    // point of the blade, in the world
  Vec3 blade{1, 0, 0};       // direction that the second body carries, in the world
  Vec3 normal{0, 0, 1};      // of the plane, carried by the first body
  Breaking breaks = {};
};

/// The angle between a direction of each body, the same in the scene's pose, stays at most `angle`: beside a ball, its cone.
struct ConeLimit {
  std::string name = {};
  Between between = {};
  Vec3 axis{0, 0, 1};               // carried by the second body, in the world
  std::optional<Vec3> center = {};  // middle of the cone, carried by the first body; default: axis
  double angle = 1;                 // rad
  double restitution = 0;
  Breaking breaks = {};
};

using JointDef =
    std::variant<Ball, Hinge, Slider, Cylindrical, Universal, Planar, Weld, Rod, PointOnLine, LockedAxes, Gear, Constraint,
                 RackAndPinion, Screw, Pulley, Differential, Rail, Cam, ConstantVelocity, Rolling, KnifeEdge, ConeLimit>;

}  // namespace rotule
