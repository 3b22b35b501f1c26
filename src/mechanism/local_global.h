#pragma once
// Stages of particles by local and global steps (T. Liu, A. W. Bargteil, J. F. O'Brien, L. Kavan 2013). Locally each spring is
// given its rest length along the direction that it has, and each element its rest shape; globally particles go where springs of
// no length to those would have them, which takes a matrix
//   S = M + g D + g^2 L,   L: every spring and element as stiff across as along,
// that depends on the model and g alone: one factor for all steps. Both together are a step of S^-1 down the gradient, and so
// they are made here, as the first guess of a quasi-Newton method that learns from its last few steps (L-BFGS, J. Nocedal 1980;
// for such solids T. Liu, S. Bouaziz, L. Kavan 2017); remembering none gives the steps themselves. S has no directions: the same
// matrix of one number per pair of particles serves x, y and z.
#include <deque>

#include "linalg/block_ldlt.h"
#include "model/model.h"

namespace rotule {

class LocalGlobal {
 public:
  /// `place`: of each particle among the `rows` that move, or -1.
  LocalGlobal(const Model& model, const std::vector<int>& place, int rows);

  /// S of this g; made where the last one was another's.
  void prepare(double g);
  /// Forgets the last steps.
  void begin();
  /// d: where to go, r being what is left of forces, as M A = f has it.
  void direction(const VecX& r, VecX& d);
  /// A step `by` has changed r by that much; at most `memory` are remembered.
  void learn(const VecX& by, const VecX& change_of_r, int memory);

 private:
  struct Pair {
    int i, j;             // places; i = j on the diagonal
    double stiff, lossy;  // N/m, N s/m
    int offset;           // in the factor
  };
  struct Learnt {
    VecX step, change;
    double share;
  };
  void solve(VecX& x);

  int rows_;
  std::vector<double> mass_;
  std::vector<Pair> pairs_;
  BlockLdlt ldlt_;
  std::vector<std::int32_t> ignored_;
  double g_ = 0;
  VecX one_;
  std::deque<Learnt> learnt_;
  std::vector<double> shares_;
};

}  // namespace rotule
