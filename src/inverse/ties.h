#pragma once
// Inverse problems take apart what ties bodies and what bounds them: constraints of one side (cones, ropes that may be slack,
// at_least and at_most) exert nothing where they have room, and are no part of trees.
#include <vector>

#include "constraint/tree_placement.h"

namespace rotule {

/// Whether the joint bounds and does not tie.
inline bool one_sided(const Joint& joint) { return joint.equations && joint.equations->one_sided; }

/// As placement_order, among the joints that tie.
std::vector<Placement> order_of_ties(const Model& model);

}  // namespace rotule
