#pragma once
// Small motions about an equilibrium. With sigma the small motion of all movable bodies (six each: translation, rotation
// vector, world axes), then of all movable particles (three each), and no velocity but its own,
//   M sigma'' + D sigma' + K sigma = J^T dlambda,   J sigma = 0.
// K = -d(f + J^T lambda)/dq: springs and their like (dynamics/forces/), and constraint forces, which turn with their bodies
// (geometric_stiffness.h); weight and the constant forces of a user have no stiffness. D = -df/du. Without damping, on the null
// space N of J this is the symmetric eigenproblem
//   N^T K N y = omega^2 N^T M N y,   sigma = N y.
// It means what it says only at an equilibrium: `unbalance` tells how far from one the pose is. All matrices are dense, so
// that bodies should be counted in hundreds at most.
#include <rotule/world.h>

#include <complex>
#include <vector>

namespace rotule {

struct Linearisation {
  std::vector<BodyId> bodies;  // the movable ones: six columns each, in this order
  std::vector<int> particles;  // the movable ones: three columns each, behind the bodies
  MatX M, K, D, J;
  double unbalance = 0;  // largest acceleration that the pose would have at rest, m/s^2 or rad/s^2
};

/// At the present pose, with velocities set aside. Throws Error where a torque that a user set acts: constant in world axes it
/// has no potential, and K would not be symmetric.
Linearisation linearise(const World& world);

struct Modes {
  VecX squared_frequencies;  // omega^2 in (rad/s)^2, smallest first; negative where the equilibrium is unstable
  MatX shapes;               // one column sigma each, of M-norm one
};

/// All modes of the constrained motion without its damping. Redundant rows of J are recognised by a rank-revealing QR.
Modes normal_modes(const Linearisation& linearisation);

/// All lambda of the constrained motion exp(lambda t) with its damping.
std::vector<std::complex<double>> eigenvalues(const Linearisation& linearisation);

}  // namespace rotule
