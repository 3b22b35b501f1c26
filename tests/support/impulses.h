#pragma once
// Vectors as the problem's functions take them, and the motion that impulses give.
#include <rotule/problem.h>

#include <span>

#include "problem/operators.h"

namespace rotule::testing {

inline std::span<const double> span(const VecX& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

/// M^-1 J^T x.
inline VecX motion(const ConstraintProblem& p, const VecX& x) {
  VecX u = VecX::Zero(6 * p.bodies());
  apply_impulses(p, span(x), {u.data(), static_cast<std::size_t>(u.size())});
  return u;
}

}  // namespace rotule::testing
