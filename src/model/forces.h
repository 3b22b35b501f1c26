#pragma once
// Particles and forces, compiled: names resolved, points in their bodies' own coordinates, rest lengths known. One pool per kind
// of force; springs between particles, of which there may be millions, as structure of arrays.
#include <rotule/forces.h>
#include <rotule/particles.h>

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/coefficients.h"
#include "flow/field.h"
#include "model/expression.h"
#include "model/state.h"

namespace rotule {

using Mat2 = Eigen::Matrix2d;

struct Particles {
  struct Group {
    std::string name;
    int first = 0, count = 0;
  };
  std::vector<double> mass, inverse_mass;  // the inverse is zero for those that are pinned
  std::vector<Group> groups;
  std::vector<std::array<int, 3>> surface;  // triangles, in the order of the groups

  [[nodiscard]] int count() const { return static_cast<int>(mass.size()); }
  [[nodiscard]] bool movable(int particle) const { return inverse_mass[particle] > 0; }
  /// The triangles of one group.
  [[nodiscard]] std::vector<std::array<int, 3>> surface_of(const Group& group) const;
  /// "cloth/12".
  [[nodiscard]] std::string name(int particle) const;
  /// The particle of that name, or -1.
  [[nodiscard]] int find(std::string_view name) const;
};

/// What a force holds on to.
struct ForceEnd {
  enum class Kind : std::uint8_t { world, body, particle };
  Kind kind = Kind::world;
  int index = -1;
  Vec3 r = Vec3::Zero();  // of a body: from its centre of mass, in body axes; of the world: the point itself
};

/// Every compiled force knows its definition's number, so that it can be taken away again; what belongs to a group of particles
/// has none.
inline constexpr int no_source = -1;

struct SpringForce {
  ForceEnd a, b;
  double stiffness = 0, damping = 0, rest_length = 0;
  int source = no_source;
  bool slack = false;
};

/// Springs between particles alone.
struct ParticleSprings {
  std::vector<int> i, j;
  std::vector<double> stiffness, damping, rest_length;
  std::vector<int> source;
  [[nodiscard]] int count() const { return static_cast<int>(i.size()); }
};

struct AngleSpringForce {
  std::array<ForceEnd, 3> ends;
  double stiffness = 0, rest_angle = 0;
  int source = no_source;
};

/// Angle from `reference_a` of the first body to `reference_b` of the second about `axis` of the first, each in its body's axes.
struct TorsionSpringForce {
  ForceEnd a, b;
  Vec3 axis = Vec3::Zero(), reference_a = Vec3::Zero(), reference_b = Vec3::Zero();
  double stiffness = 0, damping = 0;
  int source = no_source;
};

/// Numbers of an elastic law, per element (elastic_law.h).
struct ElasticModuli {
  double mu = 0, lambda = 0;  // Pa; of shells times the thickness, in plane stress
  double viscosity = 0;       // s
  bool corotated = false;
  /// What tore has none.
  [[nodiscard]] bool torn() const { return mu == 0 && lambda == 0; }
};

/// Tetrahedra between particles. With D = [x1 - x0, x2 - x0, x3 - x0], the deformation gradient is D times `inverse_rest`.
struct Tetrahedra {
  std::vector<std::array<int, 4>> corners;
  std::vector<Mat3> inverse_rest;
  std::vector<double> volume;
  std::vector<ElasticModuli> moduli;
  [[nodiscard]] std::size_t count() const { return corners.size(); }
};

/// Triangles of membranes; the gradient is 3 x 2.
struct Membranes {
  std::vector<std::array<int, 3>> corners;
  std::vector<Mat2> inverse_rest;
  std::vector<double> area;
  std::vector<ElasticModuli> moduli;
  [[nodiscard]] std::size_t count() const { return corners.size(); }
};

/// An edge between two triangles: its ends, then what lies opposite.
struct HingeEdge {
  std::array<int, 4> corners{};
  double rest_angle = 0;
};

/// Bending of a triangle by the angles at its edges: V = 1/2 a^T stiffness a, a = angles less those at rest; -1: a free edge.
struct BendingTriangle {
  std::array<int, 3> hinges{-1, -1, -1};
  Mat3 stiffness = Mat3::Zero();  // N m
  double viscosity = 0;           // s
};

/// What an element bears. Elements without limits are on no list.
struct ElementLimit {
  bool solid = true;        // a tetrahedron, or a membrane
  std::size_t element = 0;  // its place among those
  double yield = infinity;  // Pa; of membranes times the thickness
  double hardening = 0;     // Pa, likewise
  double tear = infinity;   // stretch
};

/// What has become of it: nothing but numbers, for snapshots. Its rest has been multiplied by `rest`, of membranes the first two
/// rows and columns.
struct ElementWear {
  Mat3 rest = Mat3::Identity();
  double flowed = 0;  // plastic strain so far
  double torn = 0;    // 1: it is no more
};

struct Elements {
  Tetrahedra tetrahedra;
  Membranes membranes;
  std::vector<HingeEdge> hinges;
  std::vector<BendingTriangle> bendings;  // one per membrane
  std::vector<ElementLimit> limits;
  [[nodiscard]] bool empty() const { return tetrahedra.count() == 0 && membranes.count() == 0; }
};

struct DragForce {
  std::vector<int> bodies, particles;  // those that it acts on
  double viscous = 0, quadratic = 0, angular = 0;
  bool on_all = false;  // on bodies that are added later, too
  int source = no_source;
  std::vector<int> flows = {};  // numbers of Model::flows that it feels
};

struct AirForce {
  std::vector<int> groups;  // of particles
  double density = 0, across = 0, along = 0;
  int source = no_source;
  std::vector<int> flows = {};
  std::vector<std::array<int, 3>> triangles = {};
  /// The triangles of its groups as they are now.
  void gather(const Particles& particles);
};

/// What fills a closed surface.
struct GasForce {
  std::vector<std::array<int, 3>> triangles = {};  // seen from outside
  double pressure = 0;                             // Pa above that outside, at the start
  double volume = 0;                               // m^3, at the start
  bool closed = false;                             // a gas that cannot get out; else a pump holds the pressure
  double outside = 0, exponent = 1;                // of a gas
  bool burst = false;
  int source = no_source;
};

struct GravitationForce : Gravitation {
  int source = no_source;
};

struct PlaneForce : PenaltyPlane {
  int source = no_source;
};

struct LoadForce {
  std::string name;
  ForceEnd a;
  Expression3 force, torque;
  int source = no_source;
};

/// Of sections that remember none, and of those that have no place for it yet.
inline constexpr int no_wake = -1, unnumbered_wake = -2;

struct SectionForce {
  std::string name;
  ForceEnd at, feels;            // on one body: where it acts, where it feels the velocity
  Mat3 axes = Mat3::Identity();  // chord, normal and span as columns, in body axes
  double scale = 0;              // 1/2 density width length
  double width = 0, friction = 0;
  int wake = no_wake;  // its place among those that are remembered
  Coefficients coefficients = {};
  std::vector<int> flows = {};
  int source = no_source;
};

struct LineDragForce {
  std::string name;
  ForceEnd a, b;
  double across = 0, along = 0;  // kg/m^2: force per length by speed squared
  std::vector<int> flows = {};
  int source = no_source;
};

/// The surface of what a fluid presses on: a ball, or triangles, from the body's centre of mass in body axes.
struct WettedShape {
  double radius = 0;  // of a ball
  Vec3 centre = Vec3::Zero();
  std::vector<Vec3> vertices;
  std::vector<std::array<int, 3>> triangles;
  double mend = 1;  // volume over that of the triangles
};

struct BuoyancyForce {
  std::string name;
  ForceEnd at;  // centre of the whole volume
  double density = 0, volume = 0;
  std::optional<double> surface = {};
  WettedShape shape = {};  // where there is a surface
  std::vector<int> flows = {};
  int source = no_source;
};

/// Of one body, or of several that the fluid couples.
struct AddedMassForce {
  std::string name;
  std::vector<int> bodies;  // in the order of the matrix, which stands in the axes of the first
  MatX mass;                // over their velocities, linear and angular of the centre of mass, one body after the other
  std::vector<int> flows = {};
  int source = no_source;
};

struct UserForceEntry {
  std::string name;
  ForceEnd a, b;  // r: the origin of the body's frame
  UserForce def;
  int source = no_source;
};

struct Forces {
  std::vector<SpringForce> springs;
  ParticleSprings particle_springs;
  Elements elements;
  std::vector<AngleSpringForce> angles;
  std::vector<TorsionSpringForce> torsions;
  std::vector<DragForce> drags;
  std::vector<AirForce> airs;
  std::vector<GasForce> gases;
  std::vector<GravitationForce> gravitations;
  std::vector<PlaneForce> planes;  // normals of length one
  std::vector<LoadForce> loads;
  std::vector<SectionForce> sections;
  std::vector<LineDragForce> lines;
  std::vector<BuoyancyForce> buoyancies;
  std::vector<AddedMassForce> added_masses;
  std::vector<UserForceEntry> users;
  int wakes = 0;  // sections that remember theirs: each has three numbers in u, behind the particles

  [[nodiscard]] bool empty() const {
    return springs.empty() && particle_springs.count() == 0 && elements.empty() && angles.empty() && torsions.empty() &&
           drags.empty() && airs.empty() && gases.empty() && gravitations.empty() && planes.empty() && loads.empty() &&
           sections.empty() && lines.empty() && buoyancies.empty() && added_masses.empty() && users.empty();
  }
  /// Drops what holds on to the body, and renumbers those behind it. Wakes are left to `settle_wakes`.
  void remove_body(int index);
  /// Numbers the wakes anew; what their numbers were, in the new order (-1: it is new).
  std::vector<int> settle_wakes();
  /// What the definition of that number became; whether anything of it is there, and away with it.
  [[nodiscard]] bool contains(int source) const;
  void remove(int source);
};

struct Model;

/// Appends a group, its springs and elements to the model and the state; `surface`: its outside, for who meets the air.
void add_particles(const ParticleGroup& group, Model& model, State& state, std::span<const std::array<int, 3>> surface = {});
/// Appends a force, the definition's number being `source`; throws Error with the place where the ends of a spring meet. `find`
/// turns a name into what it names; for a body without a point given, r is zero.
void add_force(const ForceDef& def, int source, const std::string& place, Model& model, const State& state,
               const std::function<ForceEnd(const std::string&)>& find);

}  // namespace rotule
