#pragma once
// Inverse dynamics (A11): which forces make a given motion. With q, u and u' of all bodies known,
//   M u' - f = J^T lambda + G^T tau
// is linear in the constraint forces lambda and the forces tau of motors along the free axes, whose coordinates have gradients G.
// Trees of joints with frames are walked once, leaves first (Newton and Euler): linear time. Loops are solved by rows,
//   [J; G] M^-1 [J; G]^T (lambda, tau) = [J; G] M^-1 (M u' - f),
// where motors that loops make redundant share the work so that |tau| is least. f is all that acts without motors: weight, forces
// of the scene, springs, dampers and dry friction of joints. Constraints of one side (cones, ropes, at_least, at_most) exert
// nothing where they have room; where the motion stays at one, it pushes as far as that spares the motors: least |tau| again,
// with forces of bounds that are not negative. Contacts, walls and stops of axes are not in it; what they would have to do shows
// as force that nothing explains.
#include <rotule/world.h>

#include <memory>
#include <string>
#include <vector>

namespace rotule {

/// Where all bodies are, how they move and how that changes, in the order of World::bodies.
struct MotionState {
  double time = 0;                               // s
  std::vector<Pose> poses = {};                  // of frames
  std::vector<Vec3> velocities = {};             // m/s, of centres of mass
  std::vector<Vec3> angular_velocities = {};     // rad/s, in world axes
  std::vector<Vec3> accelerations = {};          // m/s^2, of centres of mass
  std::vector<Vec3> angular_accelerations = {};  // rad/s^2, in world axes
};

/// The world's present motion.
MotionState motion_of(const World& world);

/// A motor on a free axis of a joint, "x" to "rz".
struct Actuator {
  std::string joint = {};
  std::string axis = {};  // where settings name it: none means all free ones

  friend bool operator==(const Actuator&, const Actuator&) = default;
};

struct InverseDynamicsSettings {
  /// None: the axes that the scene drives by motors (speed, torque, given motion); where there are none, all free axes.
  std::vector<Actuator> actuators = {};
  bool by_rows = false;  // whether trees are solved by rows too
};

struct InverseForces {
  std::vector<double> drives = {};      // N, N m: of each actuator, on the joint's second body
  std::vector<JointForce> joints = {};  // in the order of World::joints; `drive` is what its actuators give
  double unexplained = 0;               // N, N m: largest component of force on a body that neither joints nor actuators give
};

class InverseDynamics {
 public:
  /// For the mechanism of this world, which need not live on. Throws Error where a name is unknown, an axis is locked, or
  /// particles move.
  explicit InverseDynamics(const World& world, const InverseDynamicsSettings& settings = {});
  InverseDynamics(InverseDynamics&&) noexcept;
  InverseDynamics& operator=(InverseDynamics&&) noexcept;
  ~InverseDynamics();

  /// One axis each.
  [[nodiscard]] const std::vector<Actuator>& actuators() const;
  /// Whether the mechanism is a tree that is walked once: in every motion that meets no constraint of one side.
  [[nodiscard]] bool recursive() const;
  /// Valid until the next call.
  const InverseForces& solve(const MotionState& motion);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

/// Forces of actuators over time.
struct DriveHistory {
  std::vector<Actuator> actuators = {};
  std::vector<double> times = {};                // s, rising
  std::vector<std::vector<double>> forces = {};  // N, N m: per moment, one each
};

/// Puts forces in the place of the motors of these axes, between the moments by the polynomial through the eight nearest
/// (constant beyond the first and the last), so that the scene moves by them alone. Throws Error where times do not rise or there
/// are fewer than two.
void feed_forward(Scene& scene, const DriveHistory& history);

}  // namespace rotule
