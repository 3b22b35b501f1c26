#pragma once
// The matrix of small motions as a system of the first order, wakes included.
#include <rotule/analyse.h>

namespace rotule {

/// For (y, y', z) with sigma = N y: [0 1 0; -K, -inverse N^T D N, inverse N^T wake_forces; wake_by_motion N, wake_by_velocity N,
/// wake_rates]. K is as the caller has it, times the inverse of N^T M N; likewise `inverse`, which may be the identity.
MatX state_matrix(const Linearisation& l, const MatX& N, const MatX& K, const MatX& inverse);

/// The stiffness of motions so slow that wakes are always those of the present pose.
MatX settled_stiffness(const Linearisation& l);

}  // namespace rotule
