#pragma once
// Derivatives of Newton and Euler's recursion by coordinates and rates, in closed form (after J. Carpentier and N. Mansard,
// Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, here also for balls, whose rates stand in the axes of either
// side). Spatial vectors (angular; linear) all refer to one point of their tree; S is what a unit rate moves, F the force through
// a joint, and links move with v and a, gravity taken off.
//
// Moving coordinate j turns everything beyond it along: what is seen from there changes only because links before it do not turn.
// With v_r and a_r of the link that its axes stay behind (the joint's own; of a ball backwards its parent) and v_s of the other
//   d v = psi = v_r x S,  d a = alpha + psi x v,  alpha = a_r x S + v_r x psi;   by a rate  d v = S,  d a = (v_r + v_s) x S + S x
//   v
// where psi, alpha and S are the same for all links beyond. A link's force then changes by I alpha + B psi, where
//   B (w'; v') = (P w'; 2 w' x p),   P = 2 ([w] (J - tr J / 2) + (h . v) - v h^T),   p its momentum,  h = m c,
// which is linear: composite I and B of all that a joint carries give every entry by one product with an axis.
#include "dynamics/tree/recursions.h"
#include "math/spatial.h"

namespace rotule {

class NewtonEulerDerivatives {
 public:
  NewtonEulerDerivatives();
  NewtonEulerDerivatives(NewtonEulerDerivatives&&) noexcept;
  NewtonEulerDerivatives& operator=(NewtonEulerDerivatives&&) noexcept;
  ~NewtonEulerDerivatives();

  /// Of tau by small motions of coordinates and by rates, links standing where they were placed.
  void differentiate(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u, const double* udot,
                     MatX& by_position, MatX& by_velocity);

 private:
  struct Carried;
  struct Column;
  std::vector<Carried> links_;
  std::vector<Column> columns_;
  std::vector<int> roots_, first_body_;

  void move(const Tree& tree, const LinkPoses& poses, const Vec3& gravity, const double* u, const double* udot);
};

}  // namespace rotule
