#pragma once
// A preconditioner for large matrices of 3 x 3 blocks: multigrid by aggregation (D. Braess 1995; Y. Notay 2010). Neighbours are
// gathered into aggregates that move as one; the coarse matrix is the sum of the blocks between aggregates, and so on down to a
// size that is factored. A W-cycle with block Gauss-Seidel, forwards before and backwards after, is symmetric and definite;
// coarse corrections, which constant motions of aggregates make too small, are stretched by a fixed factor. With it the
// iterations of conjugate gradients on meshes grow slowly with size, and the cost is about linear. All of it runs in one thread
// and one order, in single precision but for the coarsest system: who asks for a preconditioner waits for memory, and needs no
// more digits. Matrix and vectors are scaled to about 1 first, so that units do not matter. The matrix must be symmetric positive
// definite.
#include <Eigen/Cholesky>
#include <Eigen/StdVector>
#include <vector>

#include "linalg/block3_matrix.h"

namespace rotule {

class AggregationMultigrid {
 public:
  /// Finds the aggregates of all levels; once per pattern.
  void analyse(const Block3Matrix& A);
  /// The numbers of all levels; `A` must live until the next one.
  void prepare(const Block3Matrix& A);
  /// z = about A^-1 r.
  void apply(const VecX& r, VecX& z);

  /// Whether the pattern let itself be coarsened: loose particles do not.
  [[nodiscard]] bool useful() const { return !levels_.empty(); }
  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }

 private:
  /// Three numbers and one to spare, so that they fill a register.
  using Lane = Eigen::Vector4f;
  using Lanes = std::vector<Lane, Eigen::aligned_allocator<Lane>>;
  struct Level {
    std::vector<int> aggregate;              // of each row, in the next level
    std::vector<std::int64_t> coarse_block;  // of each block, in the next level
    Block3Matrix coarse;                     // the next level's matrix
    Lanes columns;                           // of this level's blocks, three each
    Lanes inverse_diagonal;                  // of this level's, likewise
    Lanes b, x;                              // of the next level
  };
  [[nodiscard]] const Block3Matrix& matrix(std::size_t level) const { return level == 0 ? *finest_ : levels_[level - 1].coarse; }
  void cycle(std::size_t level, const Lanes& b, Lanes& x, bool from_zero);
  template <bool Forwards>
  void sweep(std::size_t level, const Lanes& b, Lanes& x) const;
  void sweep_from_zero(std::size_t level, const Lanes& b, Lanes& x) const;
  void solve_coarsest(const Lanes& b, Lanes& x);

  const Block3Matrix* finest_ = nullptr;
  double scale_ = 1;  // of the matrix in single precision
  std::vector<Level> levels_;
  Lanes b_, x_;
  VecX coarsest_x_;
  MatX dense_;  // the coarsest matrix
  Eigen::LLT<MatX> coarsest_;
};

}  // namespace rotule
