#pragma once
// What every solver begins with: whether the structure is that of its last problem, and an empty report.
#include "problem/structure.h"

namespace rotule {

/// A fresh report that keeps its memory, and has enough for every row: a mechanism may become singular in the middle of a run.
inline void clear(SolveReport& report, int rows) {
  report.iterations = 0;
  report.residual = 0;
  report.converged = true;
  report.redundant_rows.clear();
  report.redundant_rows.reserve(rows);
}

}  // namespace rotule
