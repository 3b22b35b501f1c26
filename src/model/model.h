#pragma once
// What does not change from step to step: masses, shapes, and joints in their bodies' own coordinates.
#include <rotule/scene.h>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/equations.h"
#include "model/forces.h"
#include "model/given_motion.h"
#include "model/state.h"

namespace rotule {

/// The immovable partner of a joint to the world.
inline constexpr int world_body = -1;

/// A joint, compiled: its frame in each body's coordinates (from the centre of mass, in body axes; in world coordinates for
/// the world). Which of the frame's axes are locked tells hinge from slider; what other kinds need stands in their definition,
/// which the pool that writes their rows reads. Partners are numbered: bodies, then the particles that joints hold
/// (Model::joined).
struct Joint {
  std::string name;
  std::shared_ptr<const JointDef> definition;
  int a = world_body, b = world_body;
  std::vector<int> more;  // partners beyond two
  Pose X_A, X_B;
  std::vector<Pose> X_more;      // what the joint fixes in those, as its kind wants it
  std::array<bool, 6> locked{};  // x y z, then rotations about x y z
  double length = 0;
  /// What acts on a free axis: 0 to 2 along x, y, z of the frame, 3 to 5 about them.
  struct AxisDrive {
    int axis = 0;
    Drive drive;
  };
  std::vector<AxisDrive> drives;   // as they are now
  std::vector<AxisDrive> defined;  // as the definition has them, without what motors were told since
  std::function<Jet(const JetBody&, const JetBody&, const Jet&)> function;
  std::shared_ptr<const Equations> equations;  // of kinds that are written as functions
  Breaking breaks;

  /// As many as there are locks, or equations; other kinds without a frame are one.
  [[nodiscard]] int rows() const;
};

/// Whether its law is set-valued: it holds a rate or a limit as long as its strength goes.
[[nodiscard]] inline bool switches(const Drive& drive) {
  return drive.lower || drive.upper || drive.motor_strength > 0 || drive.friction > 0;
}
/// Whether its spring may come to the end of its strength.
[[nodiscard]] inline bool saturates(const Drive& drive) {
  return drive.spring_strength > 0 && (drive.stiffness > 0 || drive.damping > 0);
}

/// Whether the axis has a row among the joint's own: where its motion is given, and, for methods that follow `switching` laws by
/// accelerations, where one of those may hold it, or a rotor resists.
[[nodiscard]] inline bool has_row(const Drive& drive, bool switching) {
  return drive.motion || (switching && (switches(drive) || drive.armature > 0));
}

/// Calls visit(partner) for all partners, the world included.
template <class AnyJoint, class Visit>
void for_each_partner(AnyJoint&& joint, Visit&& visit) {
  visit(joint.a);
  visit(joint.b);
  for (auto& partner : joint.more) visit(partner);
}
[[nodiscard]] inline bool has_partner(const Joint& joint, int partner) {
  bool found = false;
  for_each_partner(joint, [&](int other) { found = found || other == partner; });
  return found;
}

/// What its material makes of a body's surface.
struct SurfaceLaw {
  double friction = 0.5, static_friction = 0.5;
  double restitution = 0;
  double rolling_friction = 0, torsional_friction = 0;  // m
  double stiffness = 0, damping = 0;                    // N/m, N s/m; rigid where zero
};

struct Body {
  std::string name;
  bool fixed = false;      // whether nothing moves it; kinematic bodies among them
  bool kinematic = false;  // whether it moves all the same, by the velocities that the state has for it
  bool point_mass = false;
  double mass = 0;
  double attracting_mass = 0;          // what gravitation takes it for: a fixed body may have one too
  Mat3 inertia = Mat3::Zero();         // about the centre of mass, in body axes
  Vec3 center_of_mass = Vec3::Zero();  // in the body's frame
  Shape shape;
  SurfaceLaw surface = {};
  bool touches = true;  // whether it takes part in contacts
  int group = 0;        // bodies of the same group, unless 0, do not touch each other
  bool sensor = false;
  std::uint32_t layer = 1, meets = ~0u;  // bits of its layer, and of those whose bodies it can touch
  int material = -1;                     // by its place in the scene's list
  Vec3 surface_velocity = Vec3::Zero();  // m/s, in body axes
};

/// What a group of particles touches with: points of all its particles, and the segments and triangles between them.
struct ParticleSurface {
  std::string name;
  int first = 0, count = 0;  // its particles
  double radius = 0;         // m, half the thickness
  bool itself = true;
  SurfaceLaw law = {};
  int material = -1;  // by its place in the scene's list
  std::vector<std::array<int, 2>> segments = {};
  std::vector<std::array<int, 3>> faces = {};
};

/// What holds between two materials in place of what both say.
struct SurfacePair {
  int a = -1, b = -1;  // a <= b
  std::optional<double> friction, static_friction, restitution;
};

/// How elements have worn (model/wear.h), one each of Elements::limits, and what is left of the rest once that is told.
struct Wear {
  std::vector<ElementWear> elements;
  struct Untouched;
  std::shared_ptr<const Untouched> untouched;  // what it was before
};

/// What the fluid's momentum at one body has from the motion of another, or from its own: six by six numbers in the axes of a
/// third, or of one of them.
struct AddedMassBlock {
  int body = -1, by = -1, axes = -1;
  Mat6 mass = Mat6::Zero();
};

/// The mass of the fluid that bodies set in motion, M_a: a sum of blocks.
struct AddedMasses {
  std::vector<AddedMassBlock> blocks;    // of bodies that can be moved; by body, then by whose motion, then by axes
  std::vector<int> first;                // per body, and one more: where its blocks begin
  std::vector<std::vector<int>> groups;  // movable bodies, rising, that fluid couples or whose blocks stand in axes not their own
  std::vector<int> group_of;             // per body; -1: it stands alone
};

struct Model {
  std::vector<Body> bodies;
  std::vector<Joint> joints;
  std::vector<Wall> walls;
  std::vector<SurfacePair> surface_pairs;
  std::vector<std::string> layers{""};  // names, by bit
  std::vector<BodyMotion> motions;      // of kinematic bodies
  Particles particles;
  std::vector<ParticleSurface> particle_surfaces;
  std::vector<int> joined;  // particles that joints hold, in the order in which they were first named; none of them is pinned
  Forces forces;
  Forces immersed;  // in the computed flow, for whoever moves the fluid; of pressure and added mass its part alone
  Wear wear;
  std::vector<FlowField> flows;
  std::vector<std::string> flow_names;
  Vec3 gravity = Vec3::Zero();

  // Hot copies, one per body; zero inverses for fixed bodies.
  std::vector<double> inverse_mass;
  std::vector<Mat3> inertia, inverse_inertia;
  AddedMasses added_mass;

  [[nodiscard]] int body_count() const { return static_cast<int>(bodies.size()); }
  [[nodiscard]] int particle_count() const { return particles.count(); }
  /// Numbers in u.
  [[nodiscard]] int velocity_count() const { return 6 * body_count() + 3 * particle_count() + 3 * forces.wakes; }
  /// Bodies, and the particles behind them that joints hold.
  [[nodiscard]] int partner_count() const { return body_count() + static_cast<int>(joined.size()); }
  [[nodiscard]] bool is_particle(int partner) const { return partner >= body_count(); }
  [[nodiscard]] int particle_of(int partner) const { return joined[partner - body_count()]; }
  /// Whether the partner can be moved at all.
  [[nodiscard]] bool movable(int partner) const {
    return partner != world_body && (is_particle(partner) || !bodies[partner].fixed);
  }
  /// Whether it moves without being moved.
  [[nodiscard]] bool kinematic(int partner) const {
    return partner != world_body && !is_particle(partner) && bodies[partner].kinematic;
  }
  [[nodiscard]] bool has_kinematic() const { return kinematic_count > 0; }
  int kinematic_count = 0, belt_count = 0, sensor_count = 0;
  [[nodiscard]] double mass(int partner) const {
    return is_particle(partner) ? particles.mass[particle_of(partner)] : bodies[partner].mass;
  }
  [[nodiscard]] std::string name(int partner) const;
  /// Of a partner that is not the world.
  [[nodiscard]] VelocitySlot slot(int partner) const {
    if (is_particle(partner)) return {6 * body_count() + 3 * particle_of(partner), false};
    return {6 * partner, true};
  }
  /// The particle's number among partners; it gets one where it has none yet.
  int join(int particle);
  /// Appends; the index is the position.
  void add(Body body);
  void add(Joint joint);
  void remove_body(int index);  // with its joints and forces
  void remove_joint(int index);
  /// The bit of a layer; it gets one where it has none yet. Throws Error where there are too many.
  std::uint32_t layer_bit(const std::string& name);
  /// Whether their layers and groups let the two touch, or one sense the other.
  [[nodiscard]] bool may_meet(int a, int b) const;
  [[nodiscard]] bool has_added_mass() const { return !forces.added_masses.empty(); }
  /// The first body that forces add mass to.
  [[nodiscard]] const std::string& added_mass_name() const { return bodies[forces.added_masses.front().bodies.front()].name; }
  /// Sums what forces add to the masses.
  void settle_added_mass();
  /// Whether one of these flows is the computed one.
  [[nodiscard]] bool feels_computed(const std::vector<int>& which) const;
  /// Appends a flow; throws Error with the place where its expressions make no sense.
  void add(const FlowDef& flow, const std::string& place);
  /// Gives point masses an inertia that keeps their orientation defined and matters to nobody: a ball whose radius is a
  /// thousandth of the longest arm to one of their joints.
  void settle_point_masses();
};

/// What a material makes of a surface; the usual one where none has that name.
SurfaceLaw surface_of(const std::vector<Material>& materials, const std::string& name);
/// Mass, inertia and centre of mass from the definition; throws Error with the place where they make no sense.
Body compile_body(const BodyDef& def, const std::vector<Material>& materials, const std::string& place);
/// The motion that its definition prescribes, for a body that stands where the definition puts it. Throws Error with the place.
BodyMotion compile_motion(const BodyDef& def, int body, const std::string& place);
/// The first joint that closes a loop, all that cannot move counting as one body; none on a tree.
std::optional<int> loop_closing_joint(const Model& model);
/// Where a point of the partner stands: r from its centre of mass, in its axes; of the world, the point itself.
Vec3 point_of(const Model& model, const State& state, int partner, const Vec3& r);
/// Where the state puts the body's frame; and back.
Pose body_frame(const Model& model, const State& state, int body);
void place_body(const Model& model, State& state, int body, const Pose& frame);
/// x, y, z, rx, ry, rz as 0 to 5; 6 for any other name.
int axis_number(std::string_view name);
/// Fixes the joint in its partners as they stand now. `find` turns a name into a partner's number (world_body for "world").
/// Throws Error with the place where a rod has no length, or the points given are not where its particles stand.
Joint compile_joint(const JointDef& def, const std::string& place, const Model& model, const State& state,
                    const std::function<int(const std::string&)>& find);

}  // namespace rotule
