#pragma once
// What a run can be asked for: energies, momenta, errors, forces.
#include <rotule/problem.h>
#include <rotule/step_report.h>
#include <rotule/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace rotule {

/// What a joint exerts on its second body, at the joint's point, in world axes: newtons and newton metres. Where the joint is
/// redundant, motion is right but this is one of many possible answers.
struct JointForce {
  Vec3 force = Vec3::Zero();
  Vec3 torque = Vec3::Zero();
  bool unique = true;
  /// What its drives (motors, given motions, springs, friction, stops) exert besides, each along its free axis: N along x, y, z
  /// of the joint's frame, N m about them. A hinge's torque is the last, a slider's force the third.
  std::array<double, 6> drive{};
};

/// A joint's free axes, in the joint's frame as its first body carries it: along and about x, y, z (those of a hinge and of a
/// slider are z). Angles: of one free rotation the turn from -pi to pi, of two Cardan's, of three the rotation vector. Locked
/// axes have zeros, and so have kinds without a frame (rods, gears, functions).
struct JointMotion {
  Vec3 displacement = Vec3::Zero(), angle = Vec3::Zero();              // m, rad: of the second body against the first
  Vec3 displacement_rate = Vec3::Zero(), angular_rate = Vec3::Zero();  // m/s, rad/s
  // What acts on the second body along and about those axes, apart from the constraint: N, N m. As the last step found it.
  Vec3 motor_force = Vec3::Zero(), motor_torque = Vec3::Zero();
  Vec3 passive_force = Vec3::Zero(), passive_torque = Vec3::Zero();  // springs, dampers, friction and limits
  double motor_power = 0;                                            // W, that the motors give to the mechanism
};

struct JointError {
  double position = 0;  // largest |C| of the joint's rows: m, or rad for rows that lock rotations
  double velocity = 0;  // largest |dC/dt|: m/s, rad/s
};

/// Where the energy of a run came from and went to since the books were opened (World::keep_books), in J:
///   energy now = start + brought in - taken out + left over.
/// Work is integrated along with the motion by the method's own weights; at velocity level it is impulse times mean velocity. So
/// what is left over is the method's error: of its steps, of closing joints, of moving bodies out of each other.
struct EnergyBalance {
  bool kept = false;
  double start = 0;
  // Brought in.
  double motors = 0;  // of joints
  double forces = 0;  // set by World::set_force
  double fields = 0;  // forces that a user wrote, and potentials that change in time
  double fluid = 0;   // that flows past bodies, or bears them: sections, buoyancy, drag where the scene has flows
  double guides = 0;  // motion that is prescribed: constraints that know the time, pinned particles that move
  double hands = 0;   // between steps: impulses, velocities and poses that were set, bodies and forces that came and went
  // Taken out.
  double drag = 0;
  double dampers = 0;         // of springs, of joints, of soft surfaces
  double joint_friction = 0;  // dry
  double contact_friction = 0;
  double impacts = 0;  // of contacts, walls, limits of joints and shocks, with the friction in them
  double yield = 0;    // of materials that flow
  double tearing = 0;  // of elements that tear, and of gas that escapes
  double left_over = 0;

  [[nodiscard]] double brought_in() const { return motors + forces + fields + fluid + guides + hands; }
  [[nodiscard]] double taken_out() const {
    return drag + dampers + joint_friction + contact_friction + impacts + yield + tearing;
  }
};

/// The same of a momentum: now = start + weight + applied + supports + hands + left over.
struct MomentumBalance {
  Vec3 start = Vec3::Zero();
  Vec3 weight = Vec3::Zero();
  Vec3 applied = Vec3::Zero();   // forces set by hand, drag, fluid, forces that a user wrote
  Vec3 supports = Vec3::Zero();  // of all that does not move: through joints, springs, contacts, walls
  Vec3 hands = Vec3::Zero();     // between steps
  Vec3 left_over = Vec3::Zero();
};

/// The state of the ledger after a step.
struct Diagnostics {
  double time = 0;
  double kinetic_energy = 0;    // J
  double potential_energy = 0;  // J, zero where all centres of mass are at the origin's height and springs are at rest
  double spring_energy = 0;     // J of it that is stored in springs, of joints and soft surfaces too, in elastic material and gas
  double gravity_energy = 0;    // J of it by weight and gravitation
  Vec3 linear_momentum = Vec3::Zero();
  Vec3 angular_momentum = Vec3::Zero();  // about the origin
  JointError joint_error;                // largest over all joints
  double residual = 0;                   // of the last constraint solve, relative (the judge of problem.h)
  double shock_energy = 0;               // J, taken out by all shocks so far (A8)
  int contacts = 0;                      // points that touch or nearly do
  double penetration = 0;                // m, the deepest of them
  double push_energy = 0;                // J, added so far by moving bodies out of each other
  double kinematic_work = 0;             // J, done so far by kinematic bodies and belts; of steps by impulses alone
  EnergyBalance energy_balance;
  MomentumBalance momentum_balance, angular_momentum_balance;  // kept where the other one is

  [[nodiscard]] double energy() const { return kinetic_energy + potential_energy; }
};

/// A body or particle that is not in equilibrium, with what is left of the sum of forces on it, joints included.
struct Restless {
  std::string name;
  double force = 0, torque = 0;         // N, N m
  double speed = 0, angular_speed = 0;  // m/s, rad/s
};

/// How far from equilibrium everything is (B3).
struct Balance {
  double force = 0, torque = 0;         // largest that is left
  double speed = 0, angular_speed = 0;  // largest
  int restless_count = 0;
  std::vector<Restless> restless;  // the ten furthest from it, relative to the tolerances, furthest first
  [[nodiscard]] bool reached() const { return restless_count == 0; }
};

/// A joint with rows that others already imply.
struct Redundancy {
  std::string joint;
  int rows = 0;
};

/// A joint that exerted more than it bears, and has left the world.
struct BrokenJoint {
  std::string joint;
  double time = 0;               // s, of the end of the step
  double force = 0, torque = 0;  // N, N m that it exerted then
};

struct WorldShape;

/// Everything that a later `load` needs to go on with the same bits. `bytes` are all of it where the world still has the bodies,
/// joints and forces that it had; those that came or went since are put back by `shape`, which lives in memory alone.
struct Snapshot {
  std::vector<std::uint8_t> bytes;
  std::shared_ptr<const WorldShape> shape = {};
};

}  // namespace rotule
