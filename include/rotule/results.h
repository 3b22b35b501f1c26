#pragma once
// What a run can be asked for: energies, momenta, errors, forces.
#include <rotule/problem.h>
#include <rotule/types.h>

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
};

struct JointError {
  double position = 0;  // largest |C| of the joint's rows: m, or rad for rows that lock rotations
  double velocity = 0;  // largest |dC/dt|: m/s, rad/s
};

/// The state of the ledger after a step.
struct Diagnostics {
  double time = 0;
  double kinetic_energy = 0;    // J
  double potential_energy = 0;  // J, zero where all centres of mass are at the origin's height
  Vec3 linear_momentum = Vec3::Zero();
  Vec3 angular_momentum = Vec3::Zero();  // about the origin
  JointError joint_error;                // largest over all joints
  double residual = 0;                   // of the last constraint solve, relative (the judge of problem.h)
  double shock_energy = 0;               // J, taken out by all shocks so far (A8)
  int contacts = 0;                      // points that touch or nearly do
  double penetration = 0;                // m, the deepest of them
  double push_energy = 0;                // J, added so far by moving bodies out of each other
  double kinematic_work = 0;             // J, done so far by kinematic bodies and belts; of steps by impulses alone

  [[nodiscard]] double energy() const { return kinetic_energy + potential_energy; }
};

/// What one step did.
struct StepReport {
  int solves = 0;             // constraint systems solved
  int iterations = 0;         // of iterative solvers, summed
  int newton_iterations = 0;  // of an implicit integrator's equations, over its stages
  int halvings = 0;           // how many times (part of) the step had to be halved for them to be solved
  bool converged = true;
  int shocks = 0;
  int late_shocks = 0;       // whether shocks followed too fast to be located in time, and were left to the end of the step
  int inner_steps = 1;       // that a method with error control made
  int contacts = 0;          // at the end of the step
  int attempts = 1;          // at a step by impulses: made again where it gained energy or left joints open
  double energy_gained = 0;  // J that the last attempt still gained though nothing drives the mechanism
  double joints_open = 0;    // m, rad by which it still left joints open
  bool cut = false;          // whether the recipe's budget ended a solve or a closing before its own end
  double residual = 0;       // relative, the largest of the step's solves by impulses: what it reached

  /// Whether the last attempt was as good as it should be.
  [[nodiscard]] bool sound() const { return energy_gained == 0 && joints_open == 0; }
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

struct WorldShape;

/// Everything that a later `load` needs to go on with the same bits. `bytes` are all of it where the world still has the bodies,
/// joints and forces that it had; those that came or went since are put back by `shape`, which lives in memory alone.
struct Snapshot {
  std::vector<std::uint8_t> bytes;
  std::shared_ptr<const WorldShape> shape = {};
};

}  // namespace rotule
