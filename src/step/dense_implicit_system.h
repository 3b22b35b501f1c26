#pragma once
// Newton's systems of implicit methods, one per island (and one per body that no joint holds). An acceleration x changes
// velocities by a x and configurations by b x; with D = df/du and K = df/dq,
//   (M - a D - b K) x + J^T y = M r,   (J + a dgamma/du + b (dJ/dq A)) x - C y = J r,
// C being zero but for redundant rows that are set aside: the equations of motion and the constraints' second derivative,
// J A + gamma = 0, both linearised. f holds the gyroscopic torque, what the inertia's own turning takes away (-dI/dq alpha), and
// the constraint forces as they turn with their bodies (F1). A row's Hessian H gives gamma = u^T H u, hence dgamma/du = 2 u^T H
// and dJ/dq A = A^T H; dgamma/dq is left out. Where joints are penalty springs there is no J; their stiffness and damping are in
// K and D. Dense LU, factored once per (a, b): for islands of up to a hundred bodies or so.
#include <Eigen/LU>

#include "step/island.h"

namespace rotule {

class DenseImplicitSystem {
 public:
  /// Derivatives at a state whose velocities, accelerations, rows and constraint forces are those given.
  void linearise(const Model& model, const Kinematics& kinematics, double t, const VecX& u, const VecX& udot,
                 const Island& island, const PenaltySettings* penalty, double h);
  /// The same for a body alone.
  void linearise(const Model& model, const Kinematics& kinematics, const VecX& udot, int body);
  /// Its part of r and out, which are over all bodies.
  void solve(double a, double b, const VecX& r, VecX& out);

 private:
  void start(std::span<const int> bodies, Eigen::Index rows);
  void add_inertia(const Model& model, const Kinematics& kinematics, const VecX& udot);

  std::vector<int> bodies_;
  MatX M_, D_, K_, J_, J_by_u_, J_by_q_, matrix_;
  VecX compliance_, unit_, right_, answer_, solution_;
  Eigen::PartialPivLU<MatX> lu_;
  double a_ = 0, b_ = 0;
  bool factored_ = false;
};

}  // namespace rotule
