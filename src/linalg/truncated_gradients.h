#pragma once
// Newton's correction of a minimum that is still far: conjugate gradients on the matrix H of second derivatives as it is,
// definite or not, preconditioned by a definite one, P, which may be older (R. S. Dembo, T. Steihaug 1983). They stop once the
// residual, in the norm of P^-1, is small enough, or at the first direction along which H does not curve upwards; what they have
// by then goes down in any case. P is factored, or taken by multigrid (aggregation_multigrid.h), or by its diagonal blocks where
// that does not coarsen. Sums are cut into pieces of a fixed size: results do not depend on the number of threads.
#include "linalg/aggregation_multigrid.h"
#include "linalg/block3_ldlt.h"
#include "linalg/rank_one.h"

namespace rotule {

class TruncatedGradients {
 public:
  struct Report {
    int iterations = 0;
    double residual = 0;    // relative, in the norm of P^-1
    bool downwards = true;  // whether H curved upwards all along
    bool converged = true;  // whether the residual is as small as asked for
  };

  /// P must live until the next one; its pattern must stay the same. `parts` belong to it.
  void prepare(const Block3Matrix& P, bool direct, const std::vector<RankOne>& parts = {});
  /// The next P has another pattern.
  void forget_pattern();
  /// H x = b, from x = 0; `parts` belong to H.
  Report solve(const Block3Matrix& H, const VecX& b, double tolerance, int max_iterations, int threads, VecX& x,
               const std::vector<RankOne>& parts = {});

 private:
  /// z = P^-1 r without parts of rank one.
  void apply(int rows, int threads, const VecX& r, VecX& z);
  /// z = P^-1 r; returns r . z.
  double precondition(int rows, int threads);

  bool direct_ = true, analysed_ = false;
  Block3Ldlt ldlt_;
  AggregationMultigrid multigrid_;
  std::vector<double> inverse_;  // of the diagonal blocks
  RankOneUpdates updates_;
  VecX r_, z_, p_, q_;
  std::vector<double> partial_;
};

}  // namespace rotule
