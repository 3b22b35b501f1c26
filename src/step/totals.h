#pragma once
// What the steps of a run have come to.
#include "dynamics/flow.h"

namespace rotule {

/// The books of energy and momentum, since they were opened. Whatever changes between steps was done by hand.
struct Books {
  double opened = 0;                        // 1 once they are; numbers alone, so that snapshots have no gaps
  double start = 0, end = 0;                // J, when they were opened, and at the end of the last step
  double shocks_start = 0, shocks_end = 0;  // StepTotals::shock_energy then
  double hands = 0;                         // J
  MomentumRate momentum_start{}, momentum_end{}, momentum_hands{};
  Flow flow;  // of all steps
};

/// What a run has come to so far, J.
struct StepTotals {
  double shock_energy = 0;  // taken out by shocks
  double push_energy = 0;   // added by moving bodies out of each other
  double given_work = 0;    // done by kinematic bodies, belts and constraints that time drives, in steps by impulses
  Books books;
};

}  // namespace rotule
