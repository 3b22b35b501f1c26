#pragma once
// How contacts become part of a step (D1 to D3), and what they report.
#include <rotule/fields.h>
#include <rotule/ids.h>
#include <rotule/types.h>

#include <string_view>
#include <variant>

namespace rotule {

struct NoContactSettings {
  static constexpr std::string_view name = "none";
  static constexpr std::string_view summary = "bodies pass through each other";

  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

/// What contacts with either friction law are told. Lengths and speeds that are not given are shares of what the scene itself
/// has: the smaller body's size, and the speed of a fall through it. So no default has a unit.
struct ContactSettings {
  double margin = 0;             // m
  double slop = 0;               // m
  double baumgarte = 0.2;        // of the overlap, per step
  double restitution_speed = 0;  // m/s
  double stick_speed = 0;        // m/s
  int max_blows = 16;

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(
        Field{"margin", "m",
              "gaps up to this are looked at ahead, besides those that may close within the step; 0: a fiftieth of the smallest "
              "moving body's size",
              0, 1e6},
        s.margin);
    visit(Field{"slop", "m", "overlap that is left alone; 0: a millionth of the smaller body's size", 0, 1e6}, s.slop);
    visit(Field{"baumgarte", "", "share of an overlap that a step pushes out, where no projection takes all of it", 0, 1},
          s.baumgarte);
    visit(Field{"restitution_speed", "m/s",
                "what meets more slowly does not bounce; 0: 0.003 of a fall through the smaller body's size", 0, 1e9},
          s.restitution_speed);
    visit(Field{"stick_speed", "m/s",
                "what slides more slowly has static friction; 0: 0.0003 of a fall through the smaller body's size", 0, 1e9},
          s.stick_speed);
    visit(Field{"max_blows", "", "times per step at which something bounces, each for itself; later ones are taken together", 0,
                1e9},
          s.max_blows);
  }
};

/// Coulomb's law: friction in any direction, its length at most mu times the normal force.
struct ConeContactSettings : ContactSettings {
  static constexpr std::string_view name = "cone";
  static constexpr std::string_view summary = "contacts with Coulomb's friction cone";
};

/// D2's approximation: friction along each of two tangents for itself, up to sqrt(2) too strong between them.
struct BoxContactSettings : ContactSettings {
  static constexpr std::string_view name = "box";
  static constexpr std::string_view summary = "contacts with friction bounded along two tangents, each for itself (D2)";
};

using ContactChoice = std::variant<NoContactSettings, ConeContactSettings, BoxContactSettings>;

/// Two bodies that began or ceased to touch, or to overlap where one of them is a sensor.
struct ContactEvent {
  BodyId body_a, body_b;  // in the world's order; a sensor is the second, whatever the order
  bool begins = true;
  bool sensor = false;
};

/// One point at which two bodies touch, or nearly so, at the end of a step; or at which they met within it and parted again.
struct ContactResult {
  BodyId body_a, body_b;
  Vec3 point = Vec3::Zero();    // m, halfway between the two surfaces
  Vec3 normal = Vec3::UnitZ();  // from a to b
  double gap = 0;               // m; negative: overlap
  Vec3 force = Vec3::Zero();    // N, on b: the mean over the last step, blows within it included

  [[nodiscard]] double normal_force() const { return force.dot(normal); }
  [[nodiscard]] Vec3 friction() const { return force - force.dot(normal) * normal; }
};

}  // namespace rotule
