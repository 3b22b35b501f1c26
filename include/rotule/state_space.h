#pragma once
// A mechanism near an equilibrium as engineers of control want it: damped modes, and x' = A x + B i, y = C x + D i.
#include <rotule/analyse.h>

#include <complex>
#include <span>
#include <string>
#include <vector>

namespace rotule {

/// One mode exp(lambda t) of the constrained motion with its damping.
struct DampedMode {
  std::complex<double> eigenvalue;  // 1/s; that with a positive imaginary part of each pair
  double frequency = 0;             // Hz, of the oscillation: Im / 2 pi; 0 where it only decays or grows
  double damping_ratio = 0;         // -Re / |lambda|: 1 decays without oscillating, below 0 grows
  Eigen::VectorXcd shape;           // sigma, in the columns of the linearisation; its largest entry is 1
};

/// Slowest first. A rigid motion that nothing resists has eigenvalue zero.
std::vector<DampedMode> damped_modes(const Linearisation& linearisation);

/// In coordinates of the undamped modes, sigma = Phi y with Phi^T M Phi = 1, the state is (y, y'):
///   A = [0, 1; -Phi^T K Phi, -Phi^T D Phi],  B = [0; Phi^T G^T],  C = [G Phi, 0; 0, G Phi],  D = 0,
/// and behind them the wakes of unsteady sections.
/// Inputs are forces of motors on the axes named (N, N m); outputs their coordinates, then their rates.
struct StateSpace {
  MatX A, B, C, D;
  std::vector<std::string> states, inputs, outputs;
};

/// At the present pose, with velocities set aside. Axes as "JOINT" (all its free ones) or "JOINT.rz"; none: all free axes. Throws
/// Error where a name is unknown.
StateSpace state_space(const World& world, std::span<const std::string> axes = {}, const LinearisationSettings& settings = {});

}  // namespace rotule
