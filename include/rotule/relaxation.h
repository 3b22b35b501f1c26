#pragma once
// Straight to equilibrium (B3), without following the motion: where forces, joints included, sum up to nothing.
#include <rotule/world.h>

namespace rotule {

struct RelaxationSettings {
  double step = 0.1;           // s, of the first iteration; it grows and shrinks by itself
  double force_tolerance = 0;  // N, N m: what counts as no force; 0: a ten-thousandth of the heaviest weight, 1e-6 without any
  double linear_tolerance = 0.05;  // relative residual at which conjugate gradients stop
  int max_iterations = 1000;
};

struct RelaxationReport {
  bool reached = false;
  int iterations = 0;         // of Newton's method
  int linear_iterations = 0;  // of conjugate gradients, in all
  int evaluations = 0;        // of forces
  double force = 0;           // N, N m: the largest sum of forces on anything, at the end
};

/// Moves the world to an equilibrium and leaves it there at rest; its clock stands still meanwhile. Forces are those at rest:
/// dampers and drag do nothing. Throws Error where contacts, walls, motors or limits are involved, which this knows nothing of.
RelaxationReport relax(World& world, const RelaxationSettings& settings = {});

}  // namespace rotule
