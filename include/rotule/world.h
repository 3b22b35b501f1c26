#pragma once
// A scene in motion.
#include <rotule/contacts.h>
#include <rotule/query_types.h>
#include <rotule/results.h>
#include <rotule/scene.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rotule {

class FluidGrid;
struct WorldImplementation;

class World {
 public:
  /// Throws Error where the scene or the recipe makes no sense; bodies and joints keep the ids that `Scene::add` gave.
  explicit World(const Scene& scene);
  World(const Scene& scene, const Recipe& recipe);
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  ~World();

  /// Moves on by `h` seconds (default: the recipe's dt). Throws Error, naming step and body, where numbers overflow.
  const StepReport& step(double h);
  const StepReport& step() { return step(recipe().dt); }
  /// Ends the running step, or, where none runs, the next one at its start: `step` throws Interrupted, and the world is as it was
  /// before it, so that the same step made again gives the same bits. From any thread, and from signal handlers.
  void interrupt() noexcept;

  [[nodiscard]] double time() const;
  [[nodiscard]] std::int64_t steps() const;
  [[nodiscard]] const Recipe& recipe() const;
  /// Goes on from the present state by another recipe; the method's memory of past steps is lost. Throws Error, and changes
  /// nothing, where the recipe makes no sense.
  void set_recipe(const Recipe& recipe);
  [[nodiscard]] const Vec3& gravity() const;

  // Changes between steps. What is not concerned by them is not made anew, and goes on as if nothing had happened. A removed body
  // takes its joints and forces with it. A new force may name bodies and particles; those of the scene have the numbers of its
  // list as ids. Stale ids throw.
  BodyId add(const BodyDef& body);
  JointId add(const JointDef& joint);
  ForceId add(const ForceDef& force);
  void remove(BodyId body);
  void remove(JointId joint);
  void remove(ForceId force);

  [[nodiscard]] BodyId body(std::string_view name) const;
  [[nodiscard]] JointId joint(std::string_view name) const;
  [[nodiscard]] std::vector<BodyId> bodies() const;
  [[nodiscard]] std::vector<JointId> joints() const;
  [[nodiscard]] const std::string& name(BodyId body) const;
  [[nodiscard]] const std::string& name(JointId joint) const;
  [[nodiscard]] bool contains(BodyId body) const;
  [[nodiscard]] bool contains(JointId joint) const;
  [[nodiscard]] bool contains(ForceId force) const;

  // The state. `position` and `orientation` are of the body's frame, `velocity` of the centre of mass.
  [[nodiscard]] Vec3 position(BodyId body) const;
  [[nodiscard]] Quat orientation(BodyId body) const;
  [[nodiscard]] Vec3 center_of_mass(BodyId body) const;
  [[nodiscard]] Vec3 velocity(BodyId body) const;
  [[nodiscard]] Vec3 angular_velocity(BodyId body) const;
  [[nodiscard]] Vec3 position(std::string_view name) const { return position(body(name)); }
  [[nodiscard]] Quat orientation(std::string_view name) const { return orientation(body(name)); }
  [[nodiscard]] Vec3 center_of_mass(std::string_view name) const { return center_of_mass(body(name)); }
  [[nodiscard]] Vec3 velocity(std::string_view name) const { return velocity(body(name)); }
  [[nodiscard]] Vec3 angular_velocity(std::string_view name) const { return angular_velocity(body(name)); }
  [[nodiscard]] double mass(BodyId body) const;
  [[nodiscard]] Mat3 inertia(BodyId body) const;  // about the centre of mass, in body axes
  void set_pose(BodyId body, const Pose& pose);
  /// Of a kinematic body: kept until changed; joints pass it on at once where the method has accelerations.
  void set_velocity(BodyId body, const Vec3& velocity, const Vec3& angular_velocity);
  /// Gives a kinematic body the velocity that brings it to the pose within `h` seconds; it goes on with that velocity until told
  /// otherwise.
  void move_to(BodyId body, const Pose& pose, double h);

  /// A force (N) and torque (N m) in world axes, at the centre of mass, kept until changed.
  void set_force(BodyId body, const Vec3& force, const Vec3& torque = Vec3::Zero());
  // Joints: the travel (m) or angle (rad, -pi to pi) of the second body relative to the first along or about a free axis, zero in
  // the pose of the scene, and its rate; where all three rotations are free, a component of the rotation vector, and of the
  // angular velocity. The axis ("z", "rx") may be left out where one is free.
  [[nodiscard]] std::vector<std::string> joint_axes(JointId joint) const;
  [[nodiscard]] double joint_position(JointId joint, std::string_view axis = {}) const;
  [[nodiscard]] double joint_rate(JointId joint, std::string_view axis = {}) const;
  /// What the motor on a free axis is to do from now on. Throws Error, and changes nothing, where the recipe cannot do it.
  void set_motor(JointId joint, const MotorTarget& target, std::string_view axis = {});

  /// A blow of `impulse` N s at a world point; the joints pass it on at once.
  void apply_impulse(BodyId body, const Vec3& impulse, const Vec3& at);
  /// A shock (A8): the point `at` of the body is stopped (restitution 0) up to thrown back (1); along `direction` alone, or,
  /// where that is zero, in all three. Joints hold through it. Returns the energy taken out, in joules.
  double shock(BodyId body, const Vec3& at, double restitution, const Vec3& direction = Vec3::Zero());
  /// Closes all joints in position, then in velocity (A7 c, d). Returns the Newton iterations used.
  int project();

  // Particles, numbered group after group: those of `particles`, then those of `solids`. A pinned one can be placed and given a
  // velocity by hand; it then moves at that velocity.
  [[nodiscard]] int particles() const;
  [[nodiscard]] int particle(std::string_view name) const;  // "cloth/12"
  [[nodiscard]] std::string particle_name(int particle) const;
  [[nodiscard]] Vec3 particle_position(int particle) const;
  [[nodiscard]] Vec3 particle_velocity(int particle) const;
  [[nodiscard]] double particle_mass(int particle) const;
  [[nodiscard]] bool particle_pinned(int particle) const;
  /// All of them, three coordinates each; valid until the next step.
  [[nodiscard]] std::span<const double> particle_positions() const;
  void set_particle(int particle, const Vec3& position, const Vec3& velocity);

  // The ledger. Joint forces and accelerations are solved for at the present state; at velocity level they are the last step's.
  [[nodiscard]] Diagnostics diagnostics() const;
  /// Asks every step to keep the books of energy and momentum (Diagnostics::energy_balance), from the present state on. Costs one
  /// sum of forces per evaluation; changes no bit of the motion.
  void keep_books(bool keep);
  [[nodiscard]] Vec3 acceleration(BodyId body) const;          // m/s^2, of the centre of mass
  [[nodiscard]] Vec3 angular_acceleration(BodyId body) const;  // rad/s^2, in world axes
  /// Who moves faster than `speed_tolerance` (m/s, rad/s) or feels more than `force_tolerance` (N, N m) in sum.
  [[nodiscard]] Balance balance(double force_tolerance, double speed_tolerance) const;
  [[nodiscard]] JointError joint_error(JointId joint) const;
  [[nodiscard]] JointForce joint_force(JointId joint) const;
  [[nodiscard]] JointForce joint_force(std::string_view name) const { return joint_force(joint(name)); }
  /// Its free axes: where they stand, how fast they move, and what motors, springs and friction exert along them.
  [[nodiscard]] JointMotion joint_motion(JointId joint) const;
  [[nodiscard]] JointMotion joint_motion(std::string_view name) const { return joint_motion(joint(name)); }
  [[nodiscard]] std::vector<Redundancy> redundancies() const;
  /// Where bodies touch, or nearly do, now, with the forces of the last step; then where they met within it and parted again.
  [[nodiscard]] std::vector<ContactResult> contacts() const;
  /// Who began or ceased to touch in the last step: ends, then beginnings, then ends of what began in the same step, each in the
  /// world's order; sensors look at the step's end. Valid until the next step or change. Nothing ends by the removal of a body.
  [[nodiscard]] std::span<const ContactEvent> events() const;
  /// Who touches whom, or overlaps a sensor, at the end of the last step.
  [[nodiscard]] bool touching(BodyId a, BodyId b) const;

  // Where things are; queries.h has more of these.
  [[nodiscard]] std::optional<RayResult> cast_ray(const Ray& ray, const BodyFilter& filter = {}) const;
  [[nodiscard]] std::optional<CastResult> sweep(const QueryShape& shape, const Pose& pose, const Vec3& path,
                                                const BodyFilter& filter = {}) const;
  [[nodiscard]] std::vector<BodyId> overlap(const QueryShape& shape, const Pose& pose, const BodyFilter& filter = {}) const;
  /// A number that differs where a single bit of the state differs.
  [[nodiscard]] std::uint64_t state_hash() const;
  [[nodiscard]] std::int64_t evaluations() const;  // of the accelerations, so far
  [[nodiscard]] int islands() const;
  /// What is integrated, "maximal" or "reduced": what the recipe asks for, or, where that is automatic, what was chosen.
  [[nodiscard]] std::string_view coordinates() const;
  /// What a careful user should know: joints that start open, redundant constraints, steps that did not converge.
  [[nodiscard]] std::vector<std::string> warnings() const;
  /// Asks every step to keep a copy of the algebra that it solved (the last stage's, for methods with several), for solvers,
  /// recorders and judges outside; `problem` and `multipliers` then give it, island by island.
  void keep_problems(bool keep);
  [[nodiscard]] const ConstraintProblem& problem(int island) const;
  [[nodiscard]] std::span<const double> multipliers(int island) const;

  /// The fluid around the bodies (fluid_grid.h); null where the scene has none. Force (N) and torque (N m, about the centre of
  /// mass) that it exerted on a body in the last step, buoyancy included.
  [[nodiscard]] const FluidGrid* fluid() const;
  [[nodiscard]] Vec3 fluid_force(BodyId body) const;
  [[nodiscard]] Vec3 fluid_torque(BodyId body) const;

  /// Joints that broke in the last step. Valid until the next step or change.
  [[nodiscard]] std::span<const BrokenJoint> broken() const;

  /// The exact state, integrator's memory included. `load` brings back bodies, joints and forces that were removed since, under
  /// their old ids, and takes away those that were added; bytes alone (a snapshot from a file) need the same ones.
  [[nodiscard]] Snapshot save() const;
  void load(const Snapshot& snapshot);

 private:
  std::unique_ptr<WorldImplementation> implementation_;
  friend WorldImplementation& implementation_of(const World& world);
};

}  // namespace rotule
