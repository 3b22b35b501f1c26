#pragma once
// Geometric stiffness (F1): constraint forces turn with the bodies they act on, K = -d(J^T lambda)/dq. A velocity-level step
// that ignores it blows up on any taut light chain; with mass M + h^2 K it holds.
#include "constraint/constraint_set.h"

namespace rotule {

/// Per body of the island, what K puts on its own translations and rotations.
struct LumpedStiffness {
  std::vector<Mat3> linear, angular;

  /// What a block over two bodies has for translation and rotation of the first, then of the second.
  struct Share {
    std::array<Mat3, 4> own;
    std::array<double, 4> coupling;
    std::array<int, 2> owner;
    bool known = false;
  };
  std::vector<Share> shares;  // scratch: found by threads together, summed in the order of the blocks
};

/// K lumped onto the bodies' own blocks and made positive. Exact where K has only such blocks and is positive already: a chain
/// of ball joints under tension. Blocks that couple two bodies, or rotation with translation, are bounded from above by their
/// norm on both diagonals (a step with too much stiffness damps more, with less than half of it it would not be stable).
void lump_stiffness(const ConstraintSet& constraints, const Kinematics& bodies, double t, const VecX& lambda, int body_count,
                    LumpedStiffness& K, Gang* gang = nullptr);

/// The whole K of an island, 6 x 6 per body: for linearisation and eigenvalues.
MatX geometric_stiffness(const ConstraintSet& constraints, const Kinematics& bodies, double t, const VecX& lambda,
                         int body_count);

}  // namespace rotule
