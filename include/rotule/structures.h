#pragma once
// Structures as an engineer gives them (C1 to C5): a few numbers each, built into bodies, joints, particles and springs when they
// are added to a scene. Parts are called "name/0", "name/1" and so on.
#include <rotule/types.h>

#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace rotule {

/// What wind makes of a structure's section: FlowSection (forces.h) for every part of it.
struct SectionCoefficients {
  double width = 1;        // m, of the chord
  double density = 1.225;  // kg/m^3, of the fluid
  std::vector<double> angles = {};
  std::vector<double> drag = {}, lift = {}, moment = {};
  double skin_friction = 0;
  bool unsteady = false;       // whether its wake is remembered
  bool apparent_mass = false;  // whether a thin plate's is moved along: with `unsteady`, all that Theodorsen has
  double pressure_offset = 0;  // m, from the axis downstream to the point where force and moment act
  double velocity_offset = 0;  // m, likewise to the point where the velocity is felt
};

/// What wind makes of cables, bars and hangers: LineDrag (forces.h) for every piece of them.
struct LineCoefficients {
  std::optional<double> diameter = {};  // m; default: that of a full round of the piece's area
  double density = 1.225;               // kg/m^3, of the fluid
  double across = 1.2;                  // coefficient of drag, by diameter
  double along = 0;                     // coefficient of skin friction, by circumference
};

/// A beam of constant section as rigid elements with ball joints, and springs on all three rotations in them: E I / l about both
/// axes of the section and G J / l about its own, twice that where it is clamped, half an element away from its neighbour's
/// middle. It bends and twists, and neither stretches nor shears (Euler and Bernoulli). The error falls with the square of their
/// number. Its axis is straight, or goes through points, straight from each to the next: a frame, or an arch by many of them. A
/// beam that ends where it starts is a ring.
struct Beam {
  std::string name = {};
  Vec3 from = Vec3::Zero();
  Vec3 to{1, 0, 0};
  std::vector<Vec3> through = {};  // m, points of its axis between the two
  Vec3 up{0, 0, 1};                // of the section where it starts: `second_moment` is that of bending along it
  int elements = 16;
  double youngs_modulus = 210e9;                  // Pa
  std::optional<double> shear_modulus = {};       // Pa; default: that of Poisson's ratio 0.3
  double area = 1e-4;                             // m^2
  double second_moment = 1e-9;                    // m^4
  std::optional<double> second_moment_side = {};  // m^4, of bending to the side; default: the same
  std::optional<double> torsion_constant = {};    // m^4; default: the sum of both
  double density = 7850;                          // kg/m^3
  std::optional<double> rotary_inertia = {};      // kg m, per length about the centre of mass; default: density times both
                                                  // second moments
  double mass_offset = 0;                         // m, from the axis downstream (`section`) to the centre of mass
  double damping = 0;                             // s: every spring's damping over its stiffness
  std::string start = "clamped";                  // free, clamped, pinned, or rolling: pinned, and free to move towards the
                                                  // other end
  std::string end = "free";
  std::string start_on = "world", end_on = "world";  // who holds the ends
  std::optional<SectionCoefficients> section = {};
};

/// A cable: particles with springs of stiffness E A / l between them that pull and never push. It is laid out as the parabola of
/// its length between its ends, or straight where it is too short for that. Ends are pinned where `start_on` and `end_on` are
/// "world", tied to a body by a ball joint where they name one, and free where they are empty.
struct Cable {
  std::string name = {};
  Vec3 from = Vec3::Zero();
  Vec3 to{1, 0, 0};
  int elements = 32;
  std::optional<double> length = {};  // m, without force; default: the distance
  double youngs_modulus = 160e9;      // Pa
  double area = 1e-4;                 // m^2
  double density = 7850;              // kg/m^3
  double damping = 0;                 // s: every spring's damping over its stiffness
  std::string start_on = "world", end_on = "world";
  std::optional<LineCoefficients> drag = {};
};

/// A box of bars with pins for joints, between two supports: two lower and two upper chords, posts and diagonals on all sides, as
/// particles with half the mass of the bars that meet there, and springs E A / l. Its four lower corners are pinned.
struct Truss {
  std::string name = {};
  Vec3 from = Vec3::Zero();  // middle of the floor's ends
  Vec3 to{10, 0, 0};
  Vec3 up{0, 0, 1};
  int bays = 8;
  double height = 1, width = 1;   // m
  double youngs_modulus = 210e9;  // Pa
  double area = 1e-3;             // m^2, of every bar
  double density = 7850;          // kg/m^3
  double floor_mass = 0;          // kg/m, carried by the lower nodes
  double damping = 0;             // s: every bar's damping over its stiffness
  std::optional<LineCoefficients> drag = {};
};

/// A suspension bridge: a deck, which is a beam pinned at one end and rolling at the other, hung from two cables between the tops
/// of four rigid towers. It is described in the pose in which the cables carry all of the deck, at rest under the scene's weight.
struct SuspensionBridge {
  std::string name = {};
  Vec3 from = Vec3::Zero();
  Vec3 to{200, 0, 0};
  Vec3 up{0, 0, 1};
  int elements = 32;
  double width = 12;                         // m, between the cables
  double sag = 20;                           // m
  double shortest_hanger = 3;                // m, in the middle
  double deck_mass = 2000;                   // kg/m
  double deck_depth = 1;                     // m, of the box that it is drawn and turns as
  double youngs_modulus = 210e9;             // Pa, of deck, cables and hangers
  std::optional<double> shear_modulus = {};  // Pa, of the deck; default: that of Poisson's ratio 0.3
  double second_moment = 0.05;               // m^4, of bending up and down
  double second_moment_side = 5;             // m^4
  double torsion_constant = 0.05;            // m^4
  double cable_area = 0.02;                  // m^2, of each
  double cable_density = 7850;               // kg/m^3
  double hanger_area = 1e-3;                 // m^2, of each; they have no mass
  double gravity = 9.81;                     // m/s^2, under which it hangs at rest, against `up`
  double damping = 0;                        // s: every spring's damping over its stiffness
  std::optional<SectionCoefficients> section = {};
  std::optional<LineCoefficients> cable_drag = {}, hanger_drag = {};
};

using StructureDef = std::variant<Beam, Cable, Truss, SuspensionBridge>;

}  // namespace rotule
