#pragma once
// All that the model knows of each kind of joint, in one place per kind: its fields in files (scene_fields.h says what these
// lists are for), what must hold of them, which partners it has beyond two, and how it is fixed in its partners. Readers,
// writers, schema, checks, lists and the compiler of joints follow from it; its rows are a pool of constraint/pool.
#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/place.h"
#include "math/rotation.h"
#include "model/field_lists.h"
#include "model/model.h"
#include "model/validate.h"

namespace rotule {

inline constexpr std::array<std::string_view, 6> axis_names{"x", "y", "z", "rx", "ry", "rz"};

// What a kind may say, and what is so where it says nothing.

/// Partners beyond the two of `between`: the key under which files name each, and the name given.
struct FurtherPartner {
  std::string_view key;
  const std::string& name;
};
template <class Def>
std::vector<FurtherPartner> further_partners(const Def&) {
  return {};
}

/// A frame in the world, and which of its six axes are locked: x, y, z, then the rotations about them. Kinds that have `locks`
/// are compiled to that and need nothing else.
struct Locks {
  Pose X_W;
  std::array<bool, 6> locked;
};

/// Whether it speaks of its partners' rotations or of directions that they carry, which particles have none of.
template <class Def>
bool locks_rotations(const Def& def) {
  if constexpr (requires { locks(def); }) {
    const std::array<bool, 6> locked = locks(def).locked;
    return locked[3] || locked[4] || locked[5];
  }
  return false;
}
template <class Def>
bool carries_directions(const Def& def) {
  if constexpr (requires { locks(def); }) {
    const std::array<bool, 6> locked = locks(def).locked;
    return !(locked[0] && locked[1] && locked[2]);
  }
  return false;
}

/// Throws Error where fields that are right one by one make no sense together.
template <class Def>
void check_details(const Def&, const Place&) {}

/// Likewise for fields that depend on what the partners are.
template <class Def>
void check_partners(const Def& def, const std::array<JointPartner, 2>& partners, const Place& here) {
  if constexpr (requires { def.drives; })
    if ((partners[0].particle || partners[1].particle) && !def.drives.empty())
      fail(here / "drives", "act between bodies; for a particle use springs and drag");
}

/// Where a joint is being made: its partners as they stand now.
struct JointSite {
  const Model& model;
  const State& state;
  const std::string& place;

  /// A frame of the world, seen from the partner's centre of mass; a particle has the world's axes, and no point but its own.
  [[nodiscard]] Pose seen_from(int partner, const Pose& X_W) const;
  /// Where the joint is: at the particles it holds, which `at` need not repeat and must not contradict, else at `at`.
  [[nodiscard]] Vec3 joint_point(const Joint& joint, const Vec3& at) const;
  /// The partner's centre of mass; of the world, its origin.
  [[nodiscard]] Vec3 centre(int partner) const { return point_of(model, state, partner, Vec3::Zero()); }
};

/// A frame whose z is the direction given; x is any perpendicular.
inline Quat frame_along(const Vec3& z) { return rotation_between(Vec3::UnitZ(), z.normalized()); }

/// A frame from two perpendicular directions.
Quat frame_of(const Vec3& x, const Vec3& y);

/// Frames, locks and rows of a joint that is nothing else.
void compile_locks(Locks locks, const JointSite& site, Joint& joint);

/// Fixes the joint in its partners, which are known already.
template <class Def>
void compile(const Def& def, const JointSite& site, Joint& joint) {
  compile_locks(locks(def), site, joint);
  // Where q is not zero in the pose described, the first body's frame stands back by as much.
  if constexpr (requires { def.start; }) {
    if (def.start != 0 && joint.locked[5]) joint.X_A.position -= def.start * (joint.X_A.orientation * Vec3::UnitZ());
    if (def.start != 0 && !joint.locked[5])
      joint.X_A.orientation = joint.X_A.orientation * Quat(Eigen::AngleAxisd(-def.start, Vec3::UnitZ()));
  }
  if constexpr (requires { def.drive; }) {
    const auto free = std::find(joint.locked.begin(), joint.locked.end(), false);
    if (def.drive != Drive{}) joint.drives.push_back({static_cast<int>(free - joint.locked.begin()), compiled(def.drive)});
  }
  if constexpr (requires { def.drives; })
    for (const AxisDrive& drive : def.drives) joint.drives.push_back({axis_number(drive.axis), compiled(drive.drive)});
  std::sort(joint.drives.begin(), joint.drives.end(), [](const auto& p, const auto& q) { return p.axis < q.axis; });
}

// Fields that several kinds have.

/// The fields that all joints begin with.
template <class Self, class Visitor>
void joint_ends(Self& s, Visitor&& visit) {
  visit(Field{"name", "", "what reports call it"}, s.name);
  visit(Field{"between", "", "two bodies by name; \"world\" never moves"}, s.between, Need::required);
}

/// What a joint bears.
template <class Self, class Visitor>
void breaking_fields(Self& s, Visitor&& visit) {
  visit(Field{"breaking_force", "N", "most that it bears; looked at where steps end", 0, 1e300, true}, s.breaks.force);
  visit(Field{"breaking_torque", "N m", "likewise, at its point", 0, 1e300, true}, s.breaks.torque);
}

template <>
struct SceneFields<GivenMotion> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"offset", "rad, m", "of q = offset + speed t + amplitude sin(frequency t + phase) + formula", -1e9, 1e9},
          s.offset);
    visit(Field{"speed", "rad/s, m/s", "constant part of the rate", -1e9, 1e9}, s.speed);
    visit(Field{"amplitude", "rad, m", "of the sine", -1e9, 1e9}, s.amplitude);
    visit(Field{"frequency", "rad/s", "of the sine", -1e9, 1e9}, s.frequency);
    visit(Field{"phase", "rad", "of the sine", -1e9, 1e9}, s.phase);
    visit(Field{"formula", "rad, m", "an expression of t that is added; a motion that is nothing else may be its text alone"},
          s.formula);
  }
};

/// What can act on a free axis.
template <class Self, class Visitor>
void drive_fields(Self& drive, Visitor&& visit) {
  visit(Field{"lower", "rad, m", "smallest angle or travel of the second body relative to the first"}, drive.lower);
  visit(Field{"upper", "rad, m", "largest angle or travel"}, drive.upper);
  visit(Field{"motor_speed", "rad/s, m/s", "what the motor keeps, as far as its strength goes", -1e9, 1e9}, drive.motor_speed);
  visit(Field{"motor_strength", "N m, N", "most that the motor exerts; 0: no motor", 0, 1e300}, drive.motor_strength);
  visit(Field{"friction", "N m, N", "dry friction about or along the free axis", 0, 1e300}, drive.friction);
  visit(Field{"stiffness", "N m/rad, N/m", "of a spring about or along the free axis", 0, 1e300}, drive.stiffness);
  visit(Field{"damping", "N m s/rad, N s/m", "of a damper about or along the free axis", 0, 1e300}, drive.damping);
  visit(Field{"rest", "rad, m", "where the spring is slack", -1e9, 1e9}, drive.rest);
  visit(Field{"spring_strength", "N m, N", "most that spring and damper exert together; 0: any", 0, 1e300},
        drive.spring_strength);
  visit(Field{"restitution", "", "of the stops at lower and upper", 0, 1}, drive.restitution);
  visit(Field{"motor_torque", "N m, N", "exerted always", -1e300, 1e300}, drive.motor_torque);
  visit(Field{"motion", "", "angle or travel as a function of time, whatever that takes"}, drive.motion);
  visit(Field{"armature", "kg m^2, kg", "inertia of a rotor that is geared to the axis, as seen from the axis: J n^2", 0, 1e300},
        drive.armature);
}

template <>
struct SceneFields<AxisDrive> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"axis", "", "x, y, z of the joint's frame, or rx, ry, rz about them"}, s.axis, Need::required);
    drive_fields(s.drive, visit);
  }
};
template <class Self, class Visitor>
void drives_field(Self& s, Visitor&& visit) {
  visit(Field{"drives", "", "limits, motors, springs and friction on its free axes"}, s.drives);
}

/// Joints with a point alone (ball, weld), and with a point and an axis.
template <class Joint>
struct PointJointFields {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    if constexpr (requires { s.drives; }) drives_field(s, visit);
    breaking_fields(s, visit);
  }
};
template <class Joint>
struct AxisJointFields {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    visit(Field{"axis", "", "direction of the joint, in the world"}, s.axis, Need::direction);
    if constexpr (requires { s.drive; }) drive_fields(s.drive, visit);
    if constexpr (requires { s.start; })
      visit(Field{"start", "rad, m", "angle or travel in the pose described", -1e9, 1e9}, s.start);
    if constexpr (requires { s.drives; }) drives_field(s, visit);
    breaking_fields(s, visit);
  }
};

template <>
struct Kind<Ball> {
  static constexpr std::string_view name = "ball", summary = "a point in common; locks 3";
};
template <>
struct SceneFields<Ball> : PointJointFields<Ball> {};
inline Locks locks(const Ball& j) { return {{j.at, Quat::Identity()}, {true, true, true, false, false, false}}; }

template <>
struct Kind<Hinge> {
  static constexpr std::string_view name = "hinge", summary = "one rotation free; locks 5";
};
template <>
struct SceneFields<Hinge> : AxisJointFields<Hinge> {};
inline Locks locks(const Hinge& j) { return {{j.at, frame_along(j.axis)}, {true, true, true, true, true, false}}; }

template <>
struct Kind<Slider> {
  static constexpr std::string_view name = "slider", summary = "one translation free; locks 5";
};
template <>
struct SceneFields<Slider> : AxisJointFields<Slider> {};
inline Locks locks(const Slider& j) { return {{j.at, frame_along(j.axis)}, {true, true, false, true, true, true}}; }

template <>
struct Kind<Cylindrical> {
  static constexpr std::string_view name = "cylindrical", summary = "one translation and the rotation about it free; locks 4";
};
template <>
struct SceneFields<Cylindrical> : AxisJointFields<Cylindrical> {};
inline Locks locks(const Cylindrical& j) { return {{j.at, frame_along(j.axis)}, {true, true, false, true, true, false}}; }

template <>
struct Kind<Universal> {
  static constexpr std::string_view name = "universal", summary = "a point in common, two directions kept perpendicular; locks 4";
};
template <>
struct SceneFields<Universal> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    visit(Field{"axis_a", "", "direction fixed in the first body, in the world"}, s.axis_a, Need::direction);
    visit(Field{"axis_b", "", "direction fixed in the second body, perpendicular to axis_a"}, s.axis_b, Need::direction);
    drives_field(s, visit);
    breaking_fields(s, visit);
  }
};
inline Locks locks(const Universal& j) { return {{j.at, frame_of(j.axis_a, j.axis_b)}, {true, true, true, false, false, true}}; }
inline void check_details(const Universal& joint, const Place& place) {
  constexpr double perpendicular_tolerance = 1e-6;
  const double cosine = joint.axis_a.normalized().dot(joint.axis_b.normalized());
  if (std::abs(cosine) > perpendicular_tolerance)
    fail(place / "axis_b", fmt::format("must be perpendicular to axis_a, the cosine between them is {:.3g}", cosine));
}

template <>
struct Kind<Planar> {
  static constexpr std::string_view name = "planar", summary = "motion in a plane and rotation about its normal free; locks 3";
};
template <>
struct SceneFields<Planar> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    visit(Field{"normal", "", "normal of the plane, in the world"}, s.normal, Need::direction);
    drives_field(s, visit);
    breaking_fields(s, visit);
  }
};
inline Locks locks(const Planar& j) { return {{j.at, frame_along(j.normal)}, {false, false, true, true, true, false}}; }

template <>
struct Kind<Weld> {
  static constexpr std::string_view name = "weld", summary = "nothing free; locks 6";
};
template <>
struct SceneFields<Weld> : PointJointFields<Weld> {};
inline Locks locks(const Weld& j) { return {{j.at, Quat::Identity()}, {true, true, true, true, true, true}}; }

template <>
struct Kind<Rod> {
  static constexpr std::string_view name = "rod", summary = "a fixed distance between two points; locks 1";
};
template <>
struct SceneFields<Rod> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"from", "m", "point of the first body, in the world; default: its centre of mass"}, s.from);
    visit(Field{"to", "m", "point of the second body, in the world; default: its centre of mass"}, s.to);
    visit(Field{"length", "m", "0: as far apart as they are", 0, 1e30}, s.length);
    breaking_fields(s, visit);
  }
};
inline void check_details(const Rod& joint, const Place& place) {
  if (joint.from && joint.to && *joint.from == *joint.to)
    fail(place / "to", "must differ from \"from\"; a rod of no length is a ball");
}
inline void check_partners(const Rod& rod, const std::array<JointPartner, 2>& partners, const Place& here) {
  const std::array<const std::optional<Vec3>*, 2> points{&rod.from, &rod.to};
  constexpr std::array<std::string_view, 2> keys{"from", "to"};
  for (std::size_t k = 0; k < 2; ++k) {
    if (rod.between[k] == "world" && !*points[k]) fail(here, fmt::format("missing key \"{}\": a point of the world", keys[k]));
    if (partners[k].particle && *points[k]) fail(here / keys[k], "is not for particles: they have no other point than their own");
  }
}
inline void compile(const Rod& rod, const JointSite& site, Joint& joint) {
  const Vec3 from = rod.from.value_or(site.centre(joint.a)), to = rod.to.value_or(site.centre(joint.b));
  if (from == to) throw Error(site.place, "its ends are in the same place; a rod of no length is a ball");
  joint.X_A = site.seen_from(joint.a, {from, Quat::Identity()});
  joint.X_B = site.seen_from(joint.b, {to, Quat::Identity()});
  joint.length = rod.length > 0 ? rod.length : (to - from).norm();
}

template <>
struct Kind<PointOnLine> {
  static constexpr std::string_view name = "point_on_line",
                                    summary = "a point of the second body on a line of the first; locks 2";
};
template <>
struct SceneFields<PointOnLine> : AxisJointFields<PointOnLine> {};
inline Locks locks(const PointOnLine& j) { return {{j.at, frame_along(j.axis)}, {true, true, false, false, false, false}}; }

template <>
struct Kind<LockedAxes> {
  static constexpr std::string_view name = "locked_axes", summary = "choose which of the six degrees of freedom are locked";
};
template <>
struct SceneFields<LockedAxes> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    visit(Field{"frame", "", "axes of the joint: quaternion w, x, y, z, or axis and angle"}, s.frame);
    visit(Field{"locked", "", "which of x, y, z, rx, ry, rz are locked"}, s.locked);
    drives_field(s, visit);
    breaking_fields(s, visit);
  }
};
inline Locks locks(const LockedAxes& j) { return {{j.at, j.frame.normalized()}, j.locked}; }
inline void check_details(const LockedAxes& joint, const Place& place) {
  for (const bool locked : joint.locked)
    if (locked) return;
  fail(place / "locked", "must lock something: one or more of x, y, z, rx, ry, rz");
}

template <>
struct Kind<Gear> {
  static constexpr std::string_view name = "gear", summary = "two wheels in mesh, on axes of a third body; locks 1";
};
template <>
struct SceneFields<Gear> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"carrier", "", "the body in which the wheels' axes are fixed"}, s.carrier);
    visit(Field{"axis_a", "", "axis of the first wheel, in the world"}, s.axis_a, Need::direction);
    visit(Field{"axis_b", "", "axis of the second wheel, in the world"}, s.axis_b, Need::direction);
    visit(Field{"teeth_a", "", "of the first wheel", 1, 1e6}, s.teeth_a);
    visit(Field{"teeth_b", "", "of the second wheel", 1, 1e6}, s.teeth_b);
    visit(Field{"internal", "", "whether one wheel lies inside the other"}, s.internal);
    breaking_fields(s, visit);
  }
};
inline std::vector<FurtherPartner> further_partners(const Gear& gear) { return {{"carrier", gear.carrier}}; }
inline bool locks_rotations(const Gear&) { return true; }
inline void compile(const Gear& gear, const JointSite& site, Joint& joint) {
  const Quat axes_a = frame_along(gear.axis_a), axes_b = frame_along(gear.axis_b);
  joint.X_A = site.seen_from(joint.a, {site.centre(joint.a), axes_a});
  joint.X_B = site.seen_from(joint.b, {site.centre(joint.b), axes_b});
  const Vec3 centre = site.centre(joint.more[0]);
  joint.X_more = {site.seen_from(joint.more[0], {centre, axes_a}), site.seen_from(joint.more[0], {centre, axes_b})};
}

}  // namespace rotule
