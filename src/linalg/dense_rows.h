#pragma once
// Small dense matrices by rows, for solvers that meet them in every step: products of rows with their masses, and P B = L U with
// pivots by rows. Loops run along rows alone, so that compilers can spread them over wide registers: the same bits on all.
#include <cstddef>
#include <vector>

namespace rotule {

/// n rows of n numbers, each beginning at a multiple of `stride`.
struct DenseRows {
  int n = 0;
  std::ptrdiff_t stride = 0;
  std::vector<double> entries;

  /// All zero.
  void resize(int size);
  [[nodiscard]] double* row(int r) { return entries.data() + r * stride; }
  [[nodiscard]] const double* row(int r) const { return entries.data() + r * stride; }
};

/// The lower triangle of X Y^T, mirrored: X by rows of `width` numbers, most of them zero perhaps, Y^T by as many rows of n
/// numbers, of A's stride; products whose matrix is symmetric.
void add_products(const double* X, const double* Y_transposed, int width, DenseRows& A);

/// y = A x for a symmetric A.
void multiply(const DenseRows& A, const double* x, double* y);

class DenseLu {
 public:
  /// To be written before `factor`; overwritten there.
  DenseRows& matrix() { return U_; }
  void factor();
  /// Overwrites the right-hand side.
  void solve(double* x);

 private:
  DenseRows U_, L_;  // L_ by columns
  std::vector<int> swapped_;
  std::vector<double> inverse_;
};

}  // namespace rotule
