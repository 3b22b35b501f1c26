#pragma once
// Reduced coordinates (A15): a mechanism by what its joints leave free, H(q) u' + b(q, u) = tau. The tree is found in the joints
// of a world; those that close loops, and rods, gears and functions, stay outside of it and are left to who asks.
//
//   inverse dynamics   tau from u'        Newton and Euler's recursion
//   mass matrix        H                  composite bodies
//   forward dynamics   u' from tau        articulated bodies
//
// Each takes time proportional to the number of joints (the mass matrix: times their depth). b holds weight, Coriolis and
// gyroscopic terms; springs, drives and other forces of the scene are not in it.
#include <rotule/world.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rotule {

/// One rate of u. Travels and angles are those of World::joint_position, in m and rad. Three free rotations are a ball: its
/// position is a unit quaternion x, y, z, w, from the joint's second frame to its first, and its rates are the relative angular
/// velocity along the axes of the first. A body that no joint ties to the ground floats: x, y, z are its centre of mass and rx,
/// ry, rz a ball, all in world axes.
struct ReducedAxis {
  std::string joint = {};  // empty where a body floats
  std::string body = {};   // that moves along it
  std::string axis = {};   // "x" to "rz"
  int position = 0;        // its number in q; of a ball, where the quaternion begins
  int velocity = 0;        // in u
};

/// Derivatives of inverse dynamics; columns are small motions of q (angles, travels, rotation vectors of balls as rates are) and
/// rates u. By u' it is the mass matrix.
struct ReducedDerivatives {
  MatX by_position = {};
  MatX by_velocity = {};
};

/// The motion beside a given one: with dq a small motion of q, d/dt [dq; du] = A [dq; du] + B dtau. Along a trajectory q(t),
/// u(t), tau(t) it varies with time, and is what regulators and filters that follow it want.
struct ReducedLinearisation {
  MatX A = {};  // 2n x 2n, n rates
  MatX B = {};  // 2n x n
};

class ReducedModel {
 public:
  /// Of the mechanism of this world, which need not live on. Throws Error where it has kinematic bodies or added mass.
  explicit ReducedModel(const World& world);
  ReducedModel(ReducedModel&&) noexcept;
  ReducedModel& operator=(ReducedModel&&) noexcept;
  ~ReducedModel();

  [[nodiscard]] int positions() const;   // numbers in q
  [[nodiscard]] int velocities() const;  // numbers in u
  /// One per rate.
  [[nodiscard]] const std::vector<ReducedAxis>& axes() const;
  /// Joints that are no part of the tree: they close loops, or are no frame with some axes locked.
  [[nodiscard]] const std::vector<std::string>& outside() const;

  // Between worlds of the same scene and coordinates; what is outside the tree may be open afterwards.
  [[nodiscard]] VecX position(const World& world) const;
  [[nodiscard]] VecX velocity(const World& world) const;
  void place(const VecX& q, const VecX& u, World& world) const;
  /// q moved by a small motion, and the motion between two: sums and differences but for balls.
  [[nodiscard]] VecX displaced(const VecX& q, const VecX& motion) const;
  [[nodiscard]] VecX difference(const VecX& q, const VecX& from) const;

  // Answers are valid until the next call. Throw Error where sizes do not fit.
  /// Where the body's frame stands.
  Pose pose(const VecX& q, std::string_view body);
  /// Velocity of a point of a body, given in its frame, and angular velocity, per rate: six rows, in world axes.
  const MatX& jacobian(const VecX& q, std::string_view body, const Vec3& at = Vec3::Zero());
  const MatX& mass_matrix(const VecX& q);
  const VecX& bias(const VecX& q, const VecX& u);
  /// What motors must exert at rest.
  const VecX& gravity_compensation(const VecX& q);
  const VecX& inverse_dynamics(const VecX& q, const VecX& u, const VecX& acceleration);
  const VecX& forward_dynamics(const VecX& q, const VecX& u, const VecX& tau);
  const ReducedDerivatives& inverse_dynamics_derivatives(const VecX& q, const VecX& u, const VecX& acceleration);
  /// Of the accelerations: -H^-1 times those of inverse dynamics; by tau it is H^-1.
  const ReducedDerivatives& forward_dynamics_derivatives(const VecX& q, const VecX& u, const VecX& tau);
  const ReducedLinearisation& linearise(const VecX& q, const VecX& u, const VecX& tau);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace rotule
