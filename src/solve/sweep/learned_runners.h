#pragma once
// Who runs in the race of relaxation "auto" (pgs.cpp): learned from recordings by rotule learn, kept in
// data/learned/relaxation.json, from which CMake makes learned_relaxation.h.
#include <learned_relaxation.h>

#include "linalg/anderson_mixing.h"
#include "solve/sweep/race.h"

namespace rotule {

/// Plain sweeps are what a fixed relaxation would have given; mixed ones have their relaxation follow from the last sweeps by
/// least squares, one factor for each (anderson_mixing.h).
struct Runner {
  double relaxation;
  bool mixed;
};

inline constexpr int learned_window = ROTULE_LEARNED_WINDOW;
inline constexpr Runner learned_runners[racers] = ROTULE_LEARNED_RUNNERS;
static_assert(learned_runners[0].relaxation == 1 && !learned_runners[0].mixed,
              "the first one is what the others must not fall behind");

}  // namespace rotule
