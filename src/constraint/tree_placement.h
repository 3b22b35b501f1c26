#pragma once
// Drift correction on trees (A7 a): parents first, each child is placed on its parent so that their joint is closed, keeping
// what the joint leaves free. Exact in one pass, but blind to loops.
#include <vector>

#include "model/model.h"

namespace rotule {

struct Placement {
  int joint;
  bool child_is_b;
};

/// The joints in the order in which to place, starting from the world, then from the heaviest body of each free tree.
/// Throws Error where joints make a loop, or one of them has no pose to place: a user's constraint, a gear.
std::vector<Placement> placement_order(const Model& model);

void place(const Model& model, const std::vector<Placement>& order, State& state);

}  // namespace rotule
