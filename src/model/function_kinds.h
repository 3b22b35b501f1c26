#pragma once
// Kinds of joints that are written as functions (rotule/moving.h): their fields in files, what must hold of them, and how they
// are fixed in their partners. Their rows are those of constraint/pool/function.h.
#include "model/joint_kinds.h"

namespace rotule {

template <>
struct SceneFields<NamedPoint> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what equations call it"}, s.name, Need::required);
    visit(Field{"body", "", "that carries it"}, s.body, Need::required);
    visit(Field{"at", "m", "in the body's frame"}, s.at);
  }
};
template <>
struct SceneFields<NamedConstant> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what equations call it"}, s.name, Need::required);
    visit(Field{"value", "", "what it is"}, s.value, Need::required);
  }
};
template <>
struct SceneFields<ConstraintParameter> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what equations call it"}, s.name, Need::required);
    visit(Field{"from", "", "its smallest value", -1e9, 1e9}, s.from);
    visit(Field{"to", "", "its largest value", -1e9, 1e9}, s.to);
    visit(Field{"periodic", "", "whether to is where from is, as on a closed curve"}, s.periodic);
  }
};

template <>
struct Kind<Constraint> {
  static constexpr std::string_view name = "constraint",
                                    summary = "equations of the user's own, over any number of bodies; each locks 1";
};
template <>
struct SceneFields<Constraint> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"more", "", "bodies beyond two"}, s.more);
    visit(Field{"equation", "", "one or a list, of bodies, points, constants, parameters and t: to be zero"}, s.equation,
          Need::required);
    visit(Field{"at_least", "", "in place of zero: no less than this"}, s.at_least);
    visit(Field{"at_most", "", "in place of zero: no more than this"}, s.at_most);
    visit(Field{"restitution", "", "where the least or most is met", 0, 1}, s.restitution);
    visit(Field{"points", "", "points of bodies that equations speak of"}, s.points);
    visit(Field{"constants", "", "numbers that equations speak of"}, s.constants);
    visit(Field{"parameters", "", "unknowns of the equations' own; each takes one equation away"}, s.parameters);
    breaking_fields(s, visit);
  }
};
inline std::vector<FurtherPartner> further_partners(const Constraint& constraint) {
  std::vector<FurtherPartner> out;
  for (const std::string& name : constraint.more) out.push_back({"more", name});
  return out;
}
void check_details(const Constraint& constraint, const Place& place);
void compile(const Constraint& constraint, const JointSite& site, Joint& joint);

template <>
struct Kind<RackAndPinion> {
  static constexpr std::string_view name = "rack_and_pinion",
                                    summary = "a wheel in mesh with a rack, on axes of a third body; locks 1";
};
template <>
struct SceneFields<RackAndPinion> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"carrier", "", "the body that sees the pinion turn and the rack move"}, s.carrier);
    visit(Field{"axis", "", "of the pinion, in the world"}, s.axis, Need::direction);
    visit(Field{"direction", "", "of the rack where the pinion turns forwards, in the world"}, s.direction, Need::direction);
    visit(Field{"radius", "m", "of the pinion's pitch circle", 0, 1e9, true}, s.radius);
    breaking_fields(s, visit);
  }
};
inline std::vector<FurtherPartner> further_partners(const RackAndPinion& joint) { return {{"carrier", joint.carrier}}; }
inline bool locks_rotations(const RackAndPinion&) { return true; }
void compile(const RackAndPinion& def, const JointSite& site, Joint& joint);

template <>
struct Kind<Screw> {
  static constexpr std::string_view name = "screw", summary = "travel along an axis in proportion to the turn about it; locks 5";
};
template <>
struct SceneFields<Screw> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    visit(Field{"axis", "", "direction of the joint, in the world"}, s.axis, Need::direction);
    visit(Field{"pitch", "m", "travel per turn; negative: left-handed", -1e9, 1e9}, s.pitch);
    breaking_fields(s, visit);
  }
};
inline bool locks_rotations(const Screw&) { return true; }
inline void check_details(const Screw& screw, const Place& place) {
  if (screw.pitch == 0) fail(place / "pitch", "must not be 0; a screw that does not travel is a hinge");
}
void compile(const Screw& def, const JointSite& site, Joint& joint);

template <>
struct Kind<Pulley> {
  static constexpr std::string_view name = "pulley", summary = "a rope over two points, from body to body; locks 1";
};
template <>
struct SceneFields<Pulley> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"carrier", "", "the body that carries the points which the rope runs over"}, s.carrier);
    visit(Field{"from", "m", "point of the first body, in the world; default: its centre of mass"}, s.from);
    visit(Field{"to", "m", "point of the second body, in the world; default: its centre of mass"}, s.to);
    visit(Field{"over_a", "m", "where the rope from the first body runs over, in the world"}, s.over_a, Need::required);
    visit(Field{"over_b", "m", "where the rope to the second body runs over, in the world"}, s.over_b, Need::required);
    visit(Field{"ratio", "", "strands at the second body per strand at the first", 0, 1e6, true}, s.ratio);
    visit(Field{"slack", "", "whether it may hang loose"}, s.slack);
    visit(Field{"restitution", "", "where a slack rope comes taut", 0, 1}, s.restitution);
    breaking_fields(s, visit);
  }
};
inline std::vector<FurtherPartner> further_partners(const Pulley& joint) { return {{"carrier", joint.carrier}}; }
void compile(const Pulley& def, const JointSite& site, Joint& joint);

template <>
struct Kind<Differential> {
  static constexpr std::string_view name = "differential",
                                    summary = "two wheels whose angles add up to twice their case's; locks 1";
};
template <>
struct SceneFields<Differential> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"housing", "", "the case that drives both"}, s.housing, Need::required);
    visit(Field{"carrier", "", "the body that sees them turn"}, s.carrier);
    visit(Field{"axis", "", "of all three, in the world"}, s.axis, Need::direction);
    breaking_fields(s, visit);
  }
};
inline std::vector<FurtherPartner> further_partners(const Differential& joint) {
  return {{"housing", joint.housing}, {"carrier", joint.carrier}};
}
inline bool locks_rotations(const Differential&) { return true; }
void compile(const Differential& def, const JointSite& site, Joint& joint);

template <>
struct Kind<Rail> {
  static constexpr std::string_view name = "rail", summary = "a point of the second body on a smooth curve of the first; locks 2";
};
template <>
struct SceneFields<Rail> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"point", "m", "of the second body, in the world; default: its centre of mass"}, s.point);
    visit(Field{"points", "m", "that the curve runs through, in the world", -1e9, 1e9}, s.points, Need::required);
    visit(Field{"closed", "", "whether the last point is joined to the first"}, s.closed);
    breaking_fields(s, visit);
  }
};
inline bool carries_directions(const Rail&) { return true; }
void check_details(const Rail& rail, const Place& place);
void compile(const Rail& def, const JointSite& site, Joint& joint);

template <>
struct Kind<Cam> {
  static constexpr std::string_view name = "cam", summary = "a point of the second body on the edge of the first; locks 1";
};
template <>
struct SceneFields<Cam> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"axis", "", "of the cam's plane, in the world"}, s.axis, Need::direction);
    visit(Field{"point", "m", "of the follower, in the world; default: its centre of mass"}, s.point);
    visit(Field{"profile", "m", "points of the edge, in the world, counter-clockwise about the axis", -1e9, 1e9}, s.profile,
          Need::required);
    visit(Field{"roller", "m", "radius of the follower's roller", 0, 1e9}, s.roller);
    breaking_fields(s, visit);
  }
};
inline bool carries_directions(const Cam&) { return true; }
void check_details(const Cam& cam, const Place& place);
void compile(const Cam& def, const JointSite& site, Joint& joint);

template <>
struct Kind<ConstantVelocity> {
  static constexpr std::string_view name = "constant_velocity",
                                    summary = "a point in common, shafts that turn equally fast; locks 4";
};
template <>
struct SceneFields<ConstantVelocity> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"at", "m", "point of the joint, in the world"}, s.at);
    visit(Field{"axis", "", "of both shafts, in the world"}, s.axis, Need::direction);
    breaking_fields(s, visit);
  }
};
inline bool locks_rotations(const ConstantVelocity&) { return true; }
void compile(const ConstantVelocity& def, const JointSite& site, Joint& joint);

template <>
struct Kind<Rolling> {
  static constexpr std::string_view name = "rolling",
                                    summary =
                                        "a ball or disc on a plane or surface, without slipping; locks 1, and 2 more in velocity";
};
template <>
struct SceneFields<Rolling> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"surface", "", "in place of a plane: an expression of x, y and z in the world, zero on the surface"}, s.surface);
    visit(Field{"at", "m", "a point of the plane, in the world"}, s.at);
    visit(Field{"normal", "", "of the plane, towards the wheel"}, s.normal, Need::direction);
    visit(Field{"center", "m", "of the wheel, in the world; default: its centre of mass"}, s.center);
    visit(Field{"axis", "", "of a disc, in the world; without it, a ball"}, s.axis, Need::direction);
    visit(Field{"radius", "m", "of ball or disc", 0, 1e9, true}, s.radius);
    breaking_fields(s, visit);
  }
};
inline bool locks_rotations(const Rolling&) { return true; }
void check_details(const Rolling& rolling, const Place& place);
void compile(const Rolling& def, const JointSite& site, Joint& joint);

template <>
struct Kind<KnifeEdge> {
  static constexpr std::string_view name = "knife_edge", summary = "a blade that does not move sideways; locks 1 in velocity";
};
template <>
struct SceneFields<KnifeEdge> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"surface", "", "in place of a plane: an expression of x, y and z in the world, zero on the surface"}, s.surface);
    visit(Field{"at", "m", "point of the blade, in the world"}, s.at);
    visit(Field{"blade", "", "its direction, carried by the second body, in the world"}, s.blade, Need::direction);
    visit(Field{"normal", "", "of the plane, carried by the first body, in the world"}, s.normal, Need::direction);
    breaking_fields(s, visit);
  }
};
inline bool locks_rotations(const KnifeEdge&) { return true; }
void check_details(const KnifeEdge& edge, const Place& place);
void compile(const KnifeEdge& def, const JointSite& site, Joint& joint);

template <>
struct Kind<ConeLimit> {
  static constexpr std::string_view name = "cone_limit", summary = "a largest angle between directions of both bodies";
};
template <>
struct SceneFields<ConeLimit> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    joint_ends(s, visit);
    visit(Field{"axis", "", "direction carried by the second body, in the world"}, s.axis, Need::direction);
    visit(Field{"center", "", "middle of the cone, carried by the first body, in the world; default: axis"}, s.center,
          Need::direction);
    visit(Field{"angle", "rad", "most that the axis leaves the middle by", 0, 3.1, true}, s.angle);
    visit(Field{"restitution", "", "where the edge of the cone is met", 0, 1}, s.restitution);
    breaking_fields(s, visit);
  }
};
inline bool locks_rotations(const ConeLimit&) { return true; }
void check_details(const ConeLimit& limit, const Place& place);
void compile(const ConeLimit& def, const JointSite& site, Joint& joint);

/// What a joint asks of methods beyond its drives: rows of one side, and rows on velocities.
void add_needs(const JointDef& joint, JointNeeds& needs);

}  // namespace rotule
