#pragma once
// The fastest oscillation of a system of springs, omega = sqrt(largest eigenvalue of M^-1 K) with K = -df/dq at the present
// state: what limits the step of an explicit method (B5, E4). On the imaginary axis, without damping, it is stable up to
//   h omega = 2 (semi-implicit Euler, leapfrog), 2.83 (RK4), 0 (explicit Euler, RK2).
// Found by Lanczos' method in the inner product of M, with full reorthogonalisation (C. Lanczos 1950): large eigenvalues come
// first, and matrices are only multiplied by. For particles and free bodies; joints are not looked at (analyse/linearisation.h
// does, with dense matrices).
#include <rotule/world.h>

namespace rotule {

struct LargestFrequency {
  double frequency = 0;  // rad/s; 0 where nothing is stiff
  int iterations = 0;
  bool converged = true;
};

/// To the relative tolerance given. Throws Error where there are joints.
LargestFrequency largest_frequency(const World& world, double tolerance = 1e-6);

}  // namespace rotule
