#pragma once
// When what a solver found out about a problem's structure may be used again.
#include <rotule/problem.h>

#include <algorithm>
#include <span>

namespace rotule {

/// Same rows and bodies, block by block; who wrote them does not matter.
inline bool same_structure(std::span<const ConstraintBlock> p, std::span<const ConstraintBlock> q) {
  return std::equal(p.begin(), p.end(), q.begin(), q.end(), [](const ConstraintBlock& a, const ConstraintBlock& b) {
    return a.first_row == b.first_row && a.rows == b.rows && a.body_a == b.body_a && a.body_b == b.body_b;
  });
}

/// A fresh report that keeps its memory.
inline void clear(SolveReport& report) {
  report.iterations = 0;
  report.residual = 0;
  report.converged = true;
  report.redundant_rows.clear();
}

}  // namespace rotule
