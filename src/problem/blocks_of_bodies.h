#pragma once
// The blocks of every body, in the order of the blocks: sums by bodies, which threads can share, are then, bit by bit, those of a
// walk over blocks.
#include <rotule/problem.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/gang.h"
#include "problem/structure.h"

namespace rotule {

class BlocksOfBodies {
 public:
  struct Side {
    JacobianRows ConstraintProblem::*J;
    std::int32_t first, first_row, rows;  // in J, in x, and how many
    [[nodiscard]] const double* row(const ConstraintProblem& problem) const { return (problem.*J).data() + 6 * first; }
  };

  /// What is known serves again where the problem's blocks are those of before.
  void find(const ConstraintProblem& problem);
  [[nodiscard]] std::span<const Side> of(int body) const {
    return {sides_.data() + start_[body], static_cast<std::size_t>(start_[body + 1] - start_[body])};
  }
  /// velocities += M^-1 J^T x.
  void apply_impulses(const ConstraintProblem& problem, std::span<const double> x, std::span<double> velocities,
                      Gang* gang) const;

 private:
  Structure structure_;
  std::vector<int> start_;
  std::vector<Side> sides_;
};

}  // namespace rotule
