#pragma once
// LDL^T (block_ldlt.h) of a symmetric matrix of 3 x 3 blocks: order and pattern are found once, numbers as often as they change.
#include "linalg/block3_matrix.h"
#include "linalg/block_ldlt.h"

namespace rotule {

class Block3Ldlt {
 public:
  /// The pattern must be that of the first call.
  void factor(const Block3Matrix& A);
  /// Overwrites the right-hand side with the solution.
  void solve(VecX& x) const { ldlt_.solve(x.data()); }

 private:
  BlockLdlt ldlt_;
  std::vector<std::array<std::int64_t, 2>> blocks_;  // block of A, offset in L
  std::vector<std::int32_t> ignored_rows_;
};

}  // namespace rotule
