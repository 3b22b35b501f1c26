#pragma once
// The lists of fields of structures (scene_fields.h says what they are for).
#include <rotule/structures.h>

#include "model/field_lists.h"

namespace rotule {

template <>
struct SceneFields<SectionCoefficients> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"width", "m", "of the chord", 0, 1e30, true}, s.width);
    visit(Field{"density", "kg/m^3", "of the fluid", 0, 1e30}, s.density);
    visit(Field{"angles", "rad", "of attack, ascending; one alone: the coefficients are those of all angles"}, s.angles,
          Need::required);
    visit(Field{"drag", "", "coefficients along the flow, one for each angle"}, s.drag);
    visit(Field{"lift", "", "coefficients across the flow, one for each angle"}, s.lift);
    visit(Field{"moment", "", "coefficients, nose up, one for each angle"}, s.moment);
    visit(Field{"skin_friction", "", "coefficient along the span", 0, 1e6}, s.skin_friction);
    visit(Field{"unsteady", "", "whether its wake is remembered: lift lags behind the angle (Wagner, Theodorsen)"}, s.unsteady);
    visit(Field{"apparent_mass", "", "whether a thin plate's is moved along: with unsteady, all that Theodorsen has"},
          s.apparent_mass);
    visit(Field{"pressure_offset", "m", "from the axis downstream to where force and moment act"}, s.pressure_offset);
    visit(Field{"velocity_offset", "m", "from the axis downstream to where the velocity is felt"}, s.velocity_offset);
  }
};

template <>
struct SceneFields<LineCoefficients> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"diameter", "m", "that the flow meets; else that of a full round of the area", 0, 1e30, true}, s.diameter);
    visit(Field{"density", "kg/m^3", "of the fluid", 0, 1e30}, s.density);
    visit(Field{"across", "", "coefficient of drag of what comes across, by diameter", 0, 1e6}, s.across);
    visit(Field{"along", "", "coefficient of skin friction of what comes along, by circumference", 0, 1e6}, s.along);
  }
};

template <>
struct Kind<Beam> {
  static constexpr std::string_view name = "beam", summary = "rigid elements with springs on bending and torsion between them";
};
template <>
struct SceneFields<Beam> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "its parts are called name/0, name/1, ..."}, s.name);
    visit(Field{"from", "m", "start of its axis"}, s.from);
    visit(Field{"to", "m", "end of its axis"}, s.to, Need::required);
    visit(Field{"through", "m", "points of its axis between the two, straight from one to the next"}, s.through);
    visit(Field{"up", "", "direction of the section, where it starts, that second_moment is about bending along"}, s.up,
          Need::direction);
    visit(Field{"elements", "", "rigid parts", 1, 100000}, s.elements);
    visit(Field{"youngs_modulus", "Pa", "of the material", 0, 1e30, true}, s.youngs_modulus);
    visit(Field{"shear_modulus", "Pa", "of the material; else that of Poisson's ratio 0.3", 0, 1e30, true}, s.shear_modulus);
    visit(Field{"area", "m^2", "of the section", 0, 1e30, true}, s.area);
    visit(Field{"second_moment", "m^4", "of area, of bending along up", 0, 1e30, true}, s.second_moment);
    visit(Field{"second_moment_side", "m^4", "of bending to the side; else the same", 0, 1e30, true}, s.second_moment_side);
    visit(Field{"torsion_constant", "m^4", "else the sum of both", 0, 1e30, true}, s.torsion_constant);
    visit(Field{"density", "kg/m^3", "of the material", 0, 1e30, true}, s.density);
    visit(Field{"rotary_inertia", "kg m",
                "per length, about the centre of mass, as both second moments share it; else density times them", 0, 1e30, true},
          s.rotary_inertia);
    visit(Field{"mass_offset", "m", "from the axis downstream to the centre of mass", -1e6, 1e6}, s.mass_offset);
    visit(Field{"damping", "s", "of every spring, over its stiffness", 0, 1e30}, s.damping);
    visit(Field{"start", "", "free, clamped, pinned, or rolling: pinned, and free to move towards the other end"}, s.start);
    visit(Field{"end", "", "likewise"}, s.end);
    visit(Field{"start_on", "", "the body that holds the start"}, s.start_on);
    visit(Field{"end_on", "", "the body that holds the end"}, s.end_on);
    visit(Field{"section", "", "what a flow across it does"}, s.section);
  }
};

template <>
struct Kind<Cable> {
  static constexpr std::string_view name = "cable", summary = "particles with springs between them that pull and never push";
};
template <>
struct SceneFields<Cable> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "its particles are called name/0, name/1, ..."}, s.name);
    visit(Field{"from", "m", "its start"}, s.from);
    visit(Field{"to", "m", "its end"}, s.to, Need::required);
    visit(Field{"elements", "", "springs", 1, 1000000}, s.elements);
    visit(Field{"length", "m", "without force; else the distance of its ends", 0, 1e30, true}, s.length);
    visit(Field{"youngs_modulus", "Pa", "of the material", 0, 1e30, true}, s.youngs_modulus);
    visit(Field{"area", "m^2", "of the section", 0, 1e30, true}, s.area);
    visit(Field{"density", "kg/m^3", "of the material", 0, 1e30, true}, s.density);
    visit(Field{"damping", "s", "of every spring, over its stiffness", 0, 1e30}, s.damping);
    visit(Field{"start_on", "", "who holds its start: \"world\", a body, or \"\" for nobody"}, s.start_on);
    visit(Field{"end_on", "", "who holds its end, likewise"}, s.end_on);
    visit(Field{"drag", "", "what a flow past it does"}, s.drag);
  }
};

template <>
struct Kind<Truss> {
  static constexpr std::string_view name = "truss", summary = "a box of bars with pins for joints, between two supports";
};
template <>
struct SceneFields<Truss> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "its nodes are particles, name/0, name/1, ..."}, s.name);
    visit(Field{"from", "m", "middle of its floor's start"}, s.from);
    visit(Field{"to", "m", "middle of its floor's end"}, s.to, Need::required);
    visit(Field{"up", "", "from floor to top"}, s.up, Need::direction);
    visit(Field{"bays", "", "along it", 1, 100000}, s.bays);
    visit(Field{"height", "m", "from floor to top", 0, 1e30, true}, s.height);
    visit(Field{"width", "m", "between its sides", 0, 1e30, true}, s.width);
    visit(Field{"youngs_modulus", "Pa", "of the material", 0, 1e30, true}, s.youngs_modulus);
    visit(Field{"area", "m^2", "of every bar", 0, 1e30, true}, s.area);
    visit(Field{"density", "kg/m^3", "of the material", 0, 1e30, true}, s.density);
    visit(Field{"floor_mass", "kg/m", "carried by the nodes of the floor", 0, 1e30}, s.floor_mass);
    visit(Field{"damping", "s", "of every bar, over its stiffness", 0, 1e30}, s.damping);
    visit(Field{"drag", "", "what a flow past its bars does"}, s.drag);
  }
};

template <>
struct Kind<SuspensionBridge> {
  static constexpr std::string_view name = "suspension_bridge", summary = "a deck hung from two cables between rigid towers";
};
template <>
struct SceneFields<SuspensionBridge> {
  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"name", "", "parts are called name_deck/0, name_left/0, name_right/0, ..."}, s.name);
    visit(Field{"from", "m", "start of the deck's axis"}, s.from);
    visit(Field{"to", "m", "end of the deck's axis"}, s.to, Need::required);
    visit(Field{"up", "", "from the deck to the cables"}, s.up, Need::direction);
    visit(Field{"elements", "", "of the deck, each with a hanger on both sides", 2, 100000}, s.elements);
    visit(Field{"width", "m", "between the cables", 0, 1e30, true}, s.width);
    visit(Field{"sag", "m", "of the cables", 0, 1e30, true}, s.sag);
    visit(Field{"shortest_hanger", "m", "in the middle", 0, 1e30, true}, s.shortest_hanger);
    visit(Field{"deck_mass", "kg/m", "of the deck", 0, 1e30, true}, s.deck_mass);
    visit(Field{"deck_depth", "m", "of the box that it is drawn and turns as", 0, 1e30, true}, s.deck_depth);
    visit(Field{"youngs_modulus", "Pa", "of deck, cables and hangers", 0, 1e30, true}, s.youngs_modulus);
    visit(Field{"shear_modulus", "Pa", "of the deck; else that of Poisson's ratio 0.3", 0, 1e30, true}, s.shear_modulus);
    visit(Field{"second_moment", "m^4", "of the deck, of bending up and down", 0, 1e30, true}, s.second_moment);
    visit(Field{"second_moment_side", "m^4", "of the deck, of bending to the side", 0, 1e30, true}, s.second_moment_side);
    visit(Field{"torsion_constant", "m^4", "of the deck", 0, 1e30, true}, s.torsion_constant);
    visit(Field{"cable_area", "m^2", "of each cable", 0, 1e30, true}, s.cable_area);
    visit(Field{"cable_density", "kg/m^3", "of the cables", 0, 1e30, true}, s.cable_density);
    visit(Field{"hanger_area", "m^2", "of each hanger", 0, 1e30, true}, s.hanger_area);
    visit(Field{"gravity", "m/s^2", "under which it hangs at rest, against up", 0, 1e6, true}, s.gravity);
    visit(Field{"damping", "s", "of every spring, over its stiffness", 0, 1e30}, s.damping);
    visit(Field{"section", "", "what a flow across the deck does"}, s.section);
    visit(Field{"cable_drag", "", "what a flow past the cables does"}, s.cable_drag);
    visit(Field{"hanger_drag", "", "what a flow past the hangers does"}, s.hanger_drag);
  }
};

}  // namespace rotule
