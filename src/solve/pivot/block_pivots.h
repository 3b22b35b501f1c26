#pragma once
// Block principal pivoting on a problem with fixed bounds, w = (A + rho) x - b: every wrong row changes sides at once; where that
// does not make them fewer for a while, only the last wrong one does (Murty's rule, which ends on P-matrices), until they are.
// Judice and Pires, "A block principal pivoting algorithm for large-scale strictly monotone LCPs", Computers & OR 21, 1994.
#include <vector>

#include "solve/pivot/dense_problem.h"

namespace rotule {

class BlockPivots {
 public:
  /// Rows in `rows` are unknown, all others keep their x. Starts from the states; leaves x, w and states. `centre` is what the
  /// regularisation pulls towards. Returns how many index sets were tried; `done` says whether the last one was right.
  int solve(DenseProblem& problem, const std::vector<std::int32_t>& rows, const VecX& centre, int max_iterations, int patience,
            bool& done);

 private:
  void solve_free(DenseProblem& problem, const std::vector<std::int32_t>& rows, const VecX& centre);

  DenseProblem::Matrix factor_;
  VecX rhs_;
  std::vector<std::int32_t> free_;
};

}  // namespace rotule
