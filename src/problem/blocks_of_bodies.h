#pragma once
// The blocks of every body, in the order of the blocks: sums by bodies, which threads can share, are then, bit by bit, those of a
// walk over blocks.
#include <rotule/problem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/gang.h"

namespace rotule {

class BlocksOfBodies {
 public:
  void find(const ConstraintProblem& problem);
  void forget() { start_.clear(); }
  [[nodiscard]] bool known() const { return !start_.empty(); }
  /// velocities += M^-1 J^T x.
  void apply_impulses(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities,
                      Gang* gang) const;

 private:
  struct Side {
    JacobianRows ConstraintProblem::*J;
    std::int32_t first, first_row, rows;  // in J, in x, and how many
  };
  std::vector<int> start_;
  std::vector<Side> sides_;
};

}  // namespace rotule
