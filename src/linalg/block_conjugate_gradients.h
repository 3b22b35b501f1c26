#pragma once
// Conjugate gradients on a matrix of 3 x 3 blocks (M. R. Hestenes, E. Stiefel 1952), preconditioned by the inverses of its
// diagonal blocks or, above some thousand rows, by multigrid (aggregation_multigrid.h). Products and sums are cut into pieces of
// a fixed size, so that results do not depend on the number of threads. The matrix must be symmetric positive definite; where
// they meet a direction of no or negative curvature they stop and say so.
#include "linalg/aggregation_multigrid.h"

namespace rotule {

struct ConjugateGradientsReport {
  int iterations = 0;
  double residual = 0;  // relative
  bool converged = true;
};

/// Solves A x = b from x = 0; keeps its vectors from call to call.
class ConjugateGradients {
 public:
  /// Makes the preconditioner; to be called whenever the numbers have changed. The pattern must stay the same.
  void prepare(const Block3Matrix& A, int threads);
  ConjugateGradientsReport solve(const Block3Matrix& A, const VecX& b, double tolerance, int max_iterations, int threads,
                                 VecX& x);

 private:
  std::vector<double> inverse_;
  AggregationMultigrid multigrid_;
  bool analysed_ = false;
  VecX r_, z_, p_, q_;
  std::vector<double> partial_;
};

}  // namespace rotule
