#pragma once
// A world's run cut into slices of time that go on at the same time (integrate/parareal.h).
#include <rotule/world.h>

#include "integrate/parareal.h"

namespace rotule {

struct PararealSettings {
  int slices = 8;
  int threads = 0;          // 0: as many as the machine has
  double tolerance = 1e-9;  // m, rad, m/s, rad/s: how far from the fine run the end may be
  Recipe coarse;            // a cheaper run of the same scene
};

/// The recipe with steps 16 times as long, or with the square root of its tolerance where it has one.
Recipe coarser(const Recipe& recipe);

/// Moves the world on by `duration` seconds, in steps of its recipe's dt. Walls are not for it: a shock that comes in one run and
/// not in the other has no difference to carry on. Throws Error then, and where the settings make no sense.
PararealReport run_parareal(World& world, double duration, const PararealSettings& settings);

}  // namespace rotule
