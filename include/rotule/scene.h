#pragma once
// A scene: bodies, joints, particles, forces, materials, and how it would like to be run. A plain value; `World` makes it move.
#include <rotule/flow.h>
#include <rotule/fluid.h>
#include <rotule/forces.h>
#include <rotule/formula.h>
#include <rotule/ids.h>
#include <rotule/joints.h>
#include <rotule/particles.h>
#include <rotule/recipe.h>
#include <rotule/shapes.h>
#include <rotule/structures.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace rotule {

struct Material {
  std::string name = {};
  double density = 1000;   // kg/m^3
  double friction = 0.5;   // Coulomb's coefficient, of sliding
  double restitution = 0;  // 0 absorbs, 1 is elastic; more needs `gains_energy`
  bool gains_energy = false;
  std::optional<double> static_friction = {};  // of sticking; default: that of sliding
  double rolling_friction = 0;                 // m: the lever at which the normal force resists rolling
  double torsional_friction = 0;               // m: likewise, turning about the normal
  double contact_stiffness = 0;                // N/m per contact point; 0 is rigid
  double contact_damping = 0;                  // N s/m per contact point, where there is a stiffness
};

/// What holds between two materials in place of what each of them says; what is not given stays as they say.
struct MaterialPair {
  Between between = {};  // names of materials; twice the same: of that one on itself
  std::optional<double> friction = {};
  std::optional<double> static_friction = {};  // default: `friction`, where that is given
  std::optional<double> restitution = {};      // at most 1
};

/// The motion of a kinematic body as functions of time: its frame stands at `position` + displacement(t), turned from
/// `orientation` by angle(t) about `axis`. Velocities and accelerations are their derivatives.
struct PrescribedMotion {
  Formula3 displacement = {};  // m, in world axes
  Vec3 axis{0, 0, 1};          // in world axes
  Formula angle = {};          // rad
};

/// Mass comes from `mass`, or from `density` (else the material's) times the shape's volume. Inertia comes from `inertia`,
/// else from the shape scaled to the mass; a body without either is a point mass.
struct BodyDef {
  std::string name = {};
  bool fixed = false;
  std::optional<double> mass = {};          // kg
  std::optional<double> density = {};       // kg/m^3
  std::optional<Mat3> inertia = {};         // kg m^2, about the centre of mass, in body axes
  std::optional<Vec3> center_of_mass = {};  // m, in the body's frame; default: the shape's centroid
  Vec3 position = Vec3::Zero();             // m, of the body's frame
  Quat orientation = Quat::Identity();      // body to world
  Vec3 velocity = Vec3::Zero();             // m/s, of the centre of mass
  Vec3 angular_velocity = Vec3::Zero();     // rad/s, in world axes
  Shape shape = {};
  std::string material = {};
  bool contacts = true;  // whether other bodies can touch it
  int group = 0;         // bodies of the same group, unless 0, do not touch each other; nor do bodies that a joint ties
  /// Moves as it is told, by its velocities, `World::move_to` or `motion`, and nothing pushes it back: it carries, pushes and
  /// drives others. It needs no mass.
  bool kinematic = false;
  std::optional<PrescribedMotion> motion = {};         // makes it kinematic, and leaves no say to velocities
  bool sensor = false;                                 // tells who overlaps it (World::events), and exerts no force by contact
  std::string layer = {};                              // at most 32 names in a world, that of "" included
  std::optional<std::vector<std::string>> meets = {};  // layers whose bodies can touch it, if they meet its own; default: all
  Vec3 surface_velocity = Vec3::Zero();                // m/s, in body axes: a belt that runs over its surface

  /// Whether it goes its way whatever pushes it: fixed or kinematic.
  [[nodiscard]] bool immovable() const { return fixed || kinematic || motion; }
};

/// A blow at the start: impulse (N s) on a body at a point (default: its centre of mass), passed on by the joints.
struct ImpulseDef {
  std::string body = {};
  Vec3 impulse = Vec3::Zero();
  std::optional<Vec3> at = {};
};

/// An invisible wall (A8): the half-space behind it, against its normal, is forbidden. What reaches it is thrown back by a
/// temporary constraint at the point of touch: on all three directions when `sticking`, on the normal alone otherwise.
struct Wall {
  std::string name = {};
  Vec3 at = Vec3::Zero();
  Vec3 normal{0, 0, 1};
  double restitution = 0;
  bool sticking = false;
};

/// An angle beyond a full turn, as a file gave it: legal, but degrees more often than not. For the doctor (analyse.h).
struct LargeAngle {
  std::string place = {};
  double angle = 0;
};

/// How many equations the result of a constraint function is.
template <class Result>
inline constexpr int equations_in = static_cast<int>(std::tuple_size_v<Result>);
template <class Result>
requires std::is_convertible_v<Result, Moving>
inline constexpr int equations_in<Result> = 1;
template <>
inline constexpr int equations_in<MovingVec3> = 3;
template <>
inline constexpr int equations_in<CarriedVec3> = 3;
/// Fills in between, more and whether its body is a single one.
void name_partners(const std::vector<std::string>& bodies, Constraint& constraint);

struct Scene {
  std::string name = {};
  std::string description = {};
  Vec3 gravity{0, 0, -9.81};
  /// A planar mechanism: every body moves in its plane with this normal, and turns about it alone. Bodies that joints do not hold
  /// there are held by planar joints, "plane of NAME", when a World is made.
  std::optional<Vec3> plane = {};
  std::vector<Material> materials = {};
  std::vector<MaterialPair> material_pairs = {};
  std::vector<BodyDef> bodies = {};
  std::vector<JointDef> joints = {};
  std::vector<ParticleGroup> particles = {};
  std::vector<SolidDef> solids = {};
  std::vector<FlowDef> flows = {};
  std::vector<ForceDef> forces = {};
  std::vector<ImpulseDef> impulses = {};
  std::vector<Wall> walls = {};
  std::optional<FluidDef> fluid = {};
  Recipe recipe = {};
  /// Chooses, by what the scene contains, the fields of `recipe` that stand at their defaults, when a World is made without a
  /// recipe of its own. None: `recipe` is complete, and taken as it is.
  std::optional<Dial> dial = Dial::balanced;
  std::vector<LargeAngle> large_angles = {};

  BodyId add(BodyDef body);
  JointId add(JointDef joint);
  /// Equations over any number of bodies: "world", bodies and particles by name, at least one of which can move.
  ///   scene.add_constraint({"bead"}, [](auto q, auto t) { return q[0].x() - cos(q[0].y()); });
  /// q[k] is the k-th body (MovingBody), t the time; the function returns one number, a MovingVec3 or a std::array of numbers,
  /// each of which is to be zero, or as `how` says. Where `how` has parameters it takes them as a third argument, s[0], s[1].
  template <class Function>
  JointId add_constraint(const std::vector<std::string>& over, Function function, Constraint how = {});
  void add_particles(ParticleGroup group);
  void add(SolidDef solid);
  void add(ForceDef force);
  void add(FlowDef flow);
  /// Bodies, joints, particles and forces of a structure, named after it.
  void add(const StructureDef& structure);
};

template <class Function>
JointId Scene::add_constraint(const std::vector<std::string>& over, Function function, Constraint how) {
  const auto call = [function = std::move(function)](MovingBodies q, const Moving& t, std::span<const Moving> s) {
    if constexpr (std::is_invocable_v<Function, MovingBodies, Moving, std::span<const Moving>>)
      return function(q, t, s);
    else
      return function(q, t);
  };
  using Result = std::decay_t<decltype(call(MovingBodies(), Moving(), std::span<const Moving>()))>;
  how.law.equations = equations_in<Result>;
  how.law.evaluate = [call](MovingBodies q, const Moving& t, std::span<const Moving> s, std::span<Moving> out) {
    // Where they are to stand: nothing is copied.
    if constexpr (std::is_same_v<Result, Moving>) {
      new (&out[0]) Moving(call(q, t, s));
    } else if constexpr (std::is_convertible_v<Result, Moving>) {
      out[0] = call(q, t, s);
    } else {
      const Result result = call(q, t, s);
      if constexpr (std::is_same_v<Result, CarriedVec3>)
        for (int k = 0; k < 3; ++k) new (&out[k]) Moving(result.component(k));
      else if constexpr (std::is_same_v<Result, MovingVec3>)
        std::copy(result.e.begin(), result.e.end(), out.begin());
      else
        std::copy(result.begin(), result.end(), out.begin());
    }
  };
  name_partners(over, how);
  return add(JointDef(std::move(how)));
}

/// The recipe by which `World(scene)` runs: what the scene gives, and the rest chosen so that the whole fits.
Recipe recipe_of(const Scene& scene);
/// The full recipe of a setting of the dial, fitted to what the scene contains: contacts wherever shapes could meet, unless the
/// scene's recipe is complete and says so itself; impulses where joints are driven; steps that springs and dampers bear. The
/// scene's duration and number of threads stay.
Recipe recipe_for(const Scene& scene, Dial dial);
/// Likewise by the relative accuracy asked for (1e-6): a tolerance for methods that control their error, a step where bodies
/// touch. Throws Error where it is not from 1e-12 to 0.1.
Recipe recipe_for(const Scene& scene, double accuracy);

/// Reads a scene file; throws Error with file, place and remedy.
Scene load_scene(const std::string& path);
/// `text` as the content of a scene file; `origin` is what messages call it.
Scene parse_scene(std::string_view text, const std::string& origin = "scene");
/// The scene as the text of a scene file: reading it back gives the same bits. Throws if it holds a C++ function.
std::string to_json(const Scene& scene);
/// Writes beside, then renames: a failure leaves no half-written file.
void save_scene(const Scene& scene, const std::string& path);
/// The JSON schema of scene files (draft 2020-12), made from the same lists of fields that the reader uses.
std::string scene_schema();

}  // namespace rotule
