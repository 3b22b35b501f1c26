#pragma once
// Recursions over trees (A15; R. Featherstone, Rigid Body Dynamics Algorithms, 2008), in world axes: nothing is turned from link
// to link, and quantities of a link refer to its own origin o. With r = o - o_parent, z the joint's axis, g gravity:
//   Newton-Euler      w = w_p + z q',  w' = w_p' + z q'' + w_p x z q',  a = a_p + w_p' x r + w_p x (w_p x r), a = -g at the
//                     ground; leaves first, f and n are handed to parents, f_p += f, n_p += n + r x f, and tau = z . n
//   composite body    mass, first and second moments of all that a joint carries; H_ij = z_j . (what z_i's unit rate needs)
//   articulated body  I_A = [M H; H^T J] of a link with all that hangs on it, less what its joint lets go, U U^T / D
// A rotor geared to a joint adds its inertia to H_ii and to D, and its inertia times q'' to tau.
// Each takes time proportional to the number of links (composite body: times their depth). Derivatives: derivatives.h.
#include <cmath>
#include <vector>

#include "dynamics/tree/tree.h"
#include "math/lanes3.h"

namespace rotule {

/// Where a link is.
struct alignas(32) LinkPose {
  Matrix3Lanes R = {};  // its axes
  Lanes3 o = {};        // its origin
  Lanes3 r = {};        // from the parent's
  Lanes3 z = {};        // axis of its joint
  Lanes3 c = {};        // centre of mass, from its origin
  Matrix3Lanes B = {};  // of a ball: angular velocity against the parent, per rate
};

/// How a link moves, and what acts on it.
struct alignas(32) LinkMotion {
  Lanes3 w = {}, dw = {};  // angular velocity and acceleration
  Lanes3 v = {}, a = {};   // of its origin
  Lanes3 f = {}, n = {};   // force through its joint, and its moment about the origin
};

using LinkPoses = std::vector<LinkPose>;
using LinkMotions = std::vector<LinkMotion>;

/// Where links are for coordinates q.
void place_links(const Tree& tree, const double* q, LinkPoses& poses);

/// Velocities of links.
void move_links(const Tree& tree, const LinkPoses& poses, const double* u, LinkMotions& motions);

/// Newton and Euler: tau for rates u and accelerations udot, links standing where they were placed. `forces`: six numbers per
/// body, at its centre of mass in world axes, or none. Null for u or udot means zero.
void newton_euler(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u, const double* udot,
                  const double* forces, LinkMotions& motions, double* tau);

/// The mass matrix H by composite bodies.
class CompositeBodies {
 public:
  CompositeBodies();
  CompositeBodies(CompositeBodies&&) noexcept;
  CompositeBodies& operator=(CompositeBodies&&) noexcept;
  ~CompositeBodies();

  /// Always of the same tree: entries that are zero for all poses are written once.
  const MatX& mass_matrix(const Tree& tree, const LinkPoses& poses);

 private:
  struct Moments;
  std::vector<Moments> moments_;
  MatX H_;
};

/// H^-1 by articulated bodies: factored once per pose, then applied as often as wanted.
class ArticulatedBodies {
 public:
  ArticulatedBodies();
  ArticulatedBodies(ArticulatedBodies&&) noexcept;
  ArticulatedBodies& operator=(ArticulatedBodies&&) noexcept;
  ~ArticulatedBodies();

  /// `weights`: what axes weigh besides, by rates; those of balls are not asked for. Null: nothing.
  void factor(const Tree& tree, const LinkPoses& poses, const double* weights = nullptr);
  /// Accelerations under tau and forces on bodies (null: none) at rates u (null: at rest); links stand as they were factored.
  void accelerations(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u, const double* tau,
                     const double* forces, double* udot);
  /// Accelerations of bodies as found last, six numbers each; of those that never move left as they are. `moving`: whether
  /// that was at rates.
  void write_accelerations(const Tree& tree, const LinkPoses& poses, bool moving, VecX& udot) const;
  /// A row of G L^-T D^-1/2, H^-1 being L^-T D^-1 L^-1 as articulated bodies have it: what a force on a link (six numbers, at its
  /// body's centre of mass) leaves for the joints above, over the root of what each of them moves, added to both `y` and `Dy`.
  /// Products y_r . Dy_s are then G H^-1 G^T, and only joints between a row's links and the ground are visited.
  void innovate(const Tree& tree, int link, const Vec6& force, double* y, double* Dy) const;
  /// H^-1 x.
  void solve(const Tree& tree, const LinkPoses& poses, const double* x, double* out) {
    accelerations(tree, poses, Vec3::Zero(), nullptr, x, nullptr, out);
  }

 private:
  struct LinkFactor;
  struct LinkBias;
  std::vector<LinkFactor> factors_;
  std::vector<LinkBias> bias_;
};

/// Column by column: velocity of the point and angular velocity of its link per rate, rows linear then angular. The point is
/// given in the world.
void point_jacobian(const Tree& tree, const LinkPoses& poses, int link, const Vec3& point, MatX& J);

/// Poses of bodies, and, where motions are given, their velocities, from those of their links.
void write_bodies(const Tree& tree, const LinkPoses& poses, const LinkMotions* motions, State& s);

}  // namespace rotule
