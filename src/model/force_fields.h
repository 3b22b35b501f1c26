#pragma once
// The lists of fields of forces (scene_fields.h says what they are for).
#include <rotule/forces.h>

#include "model/field_lists.h"

namespace rotule {

template <>
struct Kind<Spring> {
  static constexpr std::string_view name = "spring", summary = "a linear spring and damper between two points";
};
template <>
struct SceneFields<Spring> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"between", "", "two bodies, particles or \"world\""}, s.between, Need::required);
    visit(Field{"from", "m", "point of the first, in the world; else its centre of mass"}, s.from);
    visit(Field{"to", "m", "point of the second, in the world; else its centre of mass"}, s.to);
    visit(Field{"stiffness", "N/m", "force per length", 0, 1e300}, s.stiffness);
    visit(Field{"damping", "N s/m", "force per speed, along the spring", 0, 1e300}, s.damping);
    visit(Field{"rest_length", "m", "length without force; else as placed", 0, 1e30}, s.rest_length);
    visit(Field{"slack", "", "whether it pulls alone, as a cable does"}, s.slack);
  }
};

template <>
struct Kind<AngleSpring> {
  static constexpr std::string_view name = "angle_spring", summary = "a spring on the angle at the middle of three points";
};
template <>
struct SceneFields<AngleSpring> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"between", "", "three particles or bodies"}, s.between, Need::required);
    visit(Field{"stiffness", "N m/rad", "torque per angle", 0, 1e300}, s.stiffness);
    visit(Field{"rest_angle", "rad", "angle without force; else as placed", 0, 3.1415926535897932}, s.rest_angle);
  }
};

template <>
struct Kind<TorsionSpring> {
  static constexpr std::string_view name = "torsion_spring", summary = "a spring and damper on a rotation about an axis";
};
template <>
struct SceneFields<TorsionSpring> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"between", "", "two bodies, or \"world\""}, s.between, Need::required);
    visit(Field{"axis", "", "fixed in the first, in the world"}, s.axis, Need::direction);
    visit(Field{"stiffness", "N m/rad", "torque per angle from the pose described", 0, 1e300}, s.stiffness);
    visit(Field{"damping", "N m s/rad", "torque per angular velocity", 0, 1e300}, s.damping);
  }
};

template <>
struct Kind<Drag> {
  static constexpr std::string_view name = "drag", summary = "-viscous v - quadratic |v| v";
};
template <>
struct SceneFields<Drag> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "bodies, particles, groups; none: everything that moves"}, s.on);
    visit(Field{"viscous", "N s/m", "force per speed", 0, 1e300}, s.viscous);
    visit(Field{"quadratic", "N s^2/m^2", "force per speed squared", 0, 1e300}, s.quadratic);
    visit(Field{"angular", "N m s", "torque per angular velocity, of bodies", 0, 1e300}, s.angular);
    visit(Field{"in", "", "flows that it feels, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<Air> {
  static constexpr std::string_view name = "air", summary = "drag by area on surfaces of particles, in wind or still air";
};
template <>
struct SceneFields<Air> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "groups of particles; none: all that have a surface"}, s.on);
    visit(Field{"density", "kg/m^3", "of the air", 0, 1e30}, s.density);
    visit(Field{"across", "", "coefficient of drag of a surface that meets the air flat", 0, 1e6}, s.across);
    visit(Field{"along", "", "of one that slides through it", 0, 1e6}, s.along);
    visit(Field{"in", "", "flows that it feels, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<Pressure> {
  static constexpr std::string_view name = "pressure", summary = "what fills a closed surface: a gas, or a pump's pressure";
};
template <>
struct SceneFields<Pressure> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "groups of particles with a closed surface; none: all that have a surface"}, s.on);
    visit(Field{"pressure", "Pa", "above that outside, at the start", -1e30, 1e30}, s.pressure, Need::required);
    visit(Field{"outside", "Pa", "absolute, around it: the inside is then a gas that keeps its mass", 0, 1e30, true}, s.outside);
    visit(Field{"exponent", "", "of the gas: 1 at constant temperature, 1.4 of air without exchange of heat", 1, 10}, s.exponent);
  }
};

template <>
struct Kind<Gravitation> {
  static constexpr std::string_view name = "gravitation", summary = "universal gravitation between all pairs";
};
template <>
struct SceneFields<Gravitation> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"constant", "N m^2/kg^2", "Newton's constant", 0, 1e300}, s.constant);
    visit(Field{"softening", "m", "distance below which it weakens", 0, 1e30}, s.softening);
  }
};

template <>
struct Kind<PenaltyPlane> {
  static constexpr std::string_view name = "penalty_plane", summary = "pushes particles below it back, with a spring";
};
template <>
struct SceneFields<PenaltyPlane> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"at", "m", "a point of its surface"}, s.at);
    visit(Field{"normal", "", "direction of the free side"}, s.normal, Need::direction);
    visit(Field{"stiffness", "N/m", "force per depth, on each particle", 0, 1e300}, s.stiffness);
    visit(Field{"damping", "N s/m", "force per speed below the surface", 0, 1e300}, s.damping);
  }
};

template <>
struct Kind<Load> {
  static constexpr std::string_view name = "load", summary = "a force and a torque, constant or as expressions of the time t";
};
template <>
struct SceneFields<Load> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "a body or a particle"}, s.on, Need::required);
    visit(Field{"force", "N", "in world axes: numbers or expressions of t"}, s.force);
    visit(Field{"torque", "N m", "in world axes, on a body: numbers or expressions of t"}, s.torque);
    visit(Field{"at", "m", "the body's point at which the force acts, in the world; else the centre of mass"}, s.at);
  }
};

template <>
struct Kind<FlowSection> {
  static constexpr std::string_view name = "section", summary = "drag, lift and moment of a section in a flow, against its angle";
};
template <>
struct SceneFields<FlowSection> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "a body"}, s.on, Need::required);
    visit(Field{"at", "m", "the body's point where it acts, in the world; else the centre of mass"}, s.at);
    visit(Field{"velocity_at", "m", "the body's point where it feels the velocity, in the world; else `at`"}, s.velocity_at);
    visit(Field{"chord", "", "from the leading to the trailing edge, in the world"}, s.chord, Need::direction);
    visit(Field{"normal", "", "upwards, across the chord, in the world"}, s.normal, Need::direction);
    visit(Field{"width", "m", "of the chord", 0, 1e30, true}, s.width);
    visit(Field{"length", "m", "along the span", 0, 1e30, true}, s.length);
    visit(Field{"density", "kg/m^3", "of the fluid", 0, 1e30}, s.density);
    visit(Field{"angles", "rad", "of attack, ascending; one alone: the coefficients are those of all angles"}, s.angles,
          Need::required);
    visit(Field{"drag", "", "coefficients along the flow, one for each angle"}, s.drag);
    visit(Field{"lift", "", "coefficients across the flow, one for each angle"}, s.lift);
    visit(Field{"moment", "", "coefficients, nose up, one for each angle"}, s.moment);
    visit(Field{"skin_friction", "", "coefficient along the span", 0, 1e6}, s.skin_friction);
    visit(Field{"unsteady", "", "whether its wake is remembered: lift lags behind the angle (Wagner, Theodorsen)"}, s.unsteady);
    visit(Field{"in", "", "flows that it feels, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<LineDrag> {
  static constexpr std::string_view name = "line_drag", summary = "flow past a round line between two points: a cable, a bar";
};
template <>
struct SceneFields<LineDrag> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"between", "", "two bodies, particles or \"world\""}, s.between, Need::required);
    visit(Field{"from", "m", "point of the first, in the world; else its centre of mass"}, s.from);
    visit(Field{"to", "m", "point of the second, in the world; else its centre of mass"}, s.to);
    visit(Field{"diameter", "m", "of the line", 0, 1e30, true}, s.diameter, Need::required);
    visit(Field{"density", "kg/m^3", "of the fluid", 0, 1e30}, s.density);
    visit(Field{"across", "", "coefficient of drag of what comes across, by diameter", 0, 1e6}, s.across);
    visit(Field{"along", "", "coefficient of skin friction of what comes along, by circumference", 0, 1e6}, s.along);
    visit(Field{"in", "", "flows that it feels, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<Buoyancy> {
  static constexpr std::string_view name = "buoyancy", summary = "the pressure of a fluid around a body";
};
template <>
struct SceneFields<Buoyancy> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "a body"}, s.on, Need::required);
    visit(Field{"density", "kg/m^3", "of the fluid", 0, 1e30}, s.density);
    visit(Field{"volume", "m^3", "of the body; else its shape's", 0, 1e30, true}, s.volume);
    visit(Field{"at", "m", "centre of the volume, in the world; else the shape's centroid"}, s.at);
    visit(Field{"surface", "m", "height of the still level against gravity; none: all is below"}, s.surface);
    visit(Field{"in", "", "flows whose pressure it feels, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<AddedMass> {
  static constexpr std::string_view name = "added_mass", summary = "the fluid that a body must move out of its way";
};
template <>
struct SceneFields<AddedMass> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "a body"}, s.on, Need::required);
    visit(Field{"translation", "kg", "momentum by velocity, in body axes"}, s.translation);
    visit(Field{"rotation", "kg m^2", "angular momentum by angular velocity, in body axes"}, s.rotation);
    visit(Field{"coupling", "kg m", "momentum by angular velocity, in body axes"}, s.coupling);
    visit(Field{"at", "m", "the point that it is about, in the world; else the centre of mass"}, s.at);
    visit(Field{"in", "", "flows that push it along, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<CoupledAddedMass> {
  static constexpr std::string_view name = "coupled_added_mass",
                                    summary = "the fluid between bodies, which makes one feel how the others speed up";
};
template <>
struct SceneFields<CoupledAddedMass> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"on", "", "n bodies, two or more; the matrices stand in the axes of the first"}, s.on, Need::required);
    visit(Field{"translation", "kg", "momenta by velocities, 3n x 3n; none: zero"}, s.translation);
    visit(Field{"rotation", "kg m^2", "angular momenta by angular velocities, 3n x 3n; none: zero"}, s.rotation);
    visit(Field{"coupling", "kg m", "momenta by angular velocities, 3n x 3n; none: zero"}, s.coupling);
    visit(Field{"at", "m", "points that they are about, one per body, in the world; none: the centres of mass"}, s.at);
    visit(Field{"in", "", "flows that push it along, by name; none: all of the scene's"}, s.in);
  }
};

template <>
struct Kind<UserForce> {
  static constexpr std::string_view name = "force", summary = "a force or potential of the user's own, in C++ alone";
};
template <>
struct SceneFields<UserForce> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "what reports call it"}, s.name);
    visit(Field{"between", "", "two bodies, particles or \"world\""}, s.between, Need::required);
  }
};

}  // namespace rotule
