#pragma once
// The linear systems of Newton-type contact solvers,  (T + E A) dx = -F,  T and E block-diagonal, one block per constraint: each
// block's law, linearised as T dx + E dw = -F, together with dw = A dx. They are solved by an LU in one of three forms,
// the sparse ones by whichever costs less by the fill found:
// - constraints:  T + E A on the pattern of A;
// - dense:        the same, all in one, where rows are few and nearly all meet (dense_form.h);
// - bodies:       dx eliminated block by block with du = M^-1 J^T dx:  [I + M^-1 J^T (T + E C)^-1 E J] du =
//                 -M^-1 J^T (T + E C)^-1 F: six rows per body, however many contacts it has; T + E C must be regular.
// Iterative refinement against the unfactored system follows, since neither pivots between blocks.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "linalg/block_lu.h"
#include "problem/delassus.h"
#include "problem/operators.h"
#include "problem/structure.h"
#include "solve/newton/dense_form.h"

namespace rotule {

class BlockSystem {
 public:
  static constexpr int block_entries = DenseForm::block_entries;
  /// Of the largest entry of a block that is inverted on its own.
  static constexpr double smallest_local_pivot = 1e-14;

  /// Reads the problem's matrix; patterns are found anew only when the structure changed.
  void prepare(const ConstraintProblem& problem);

  /// y = A x.
  void product(const ConstraintProblem& problem, std::span<const double> x, std::span<double> y);

  /// Row-major blocks, to be written before `factor`. Where E is zero, `set_alone` saves work.
  [[nodiscard]] double* T(int block) { return T_.data() + block_entries * block; }
  [[nodiscard]] double* E(int block) { return E_.data() + block_entries * block; }
  void set_alone(int block, bool alone) { alone_[block] = alone; }

  /// `weights`, per row, are what squares of F's rows are worth against each other; they must outlast the solves.
  void factor(const ConstraintProblem& problem, std::span<const double> weights);
  /// dx and A dx; refined until the residual is `accuracy` times |F| or gains no more. Returns that residual ratio.
  double solve(const ConstraintProblem& problem, std::span<const double> F, std::span<double> dx, std::span<double> A_dx,
               double accuracy = 1e-12, int max_refinements = 4);

  /// Multiplications that one factor takes, about.
  [[nodiscard]] double work() const { return dense_ ? dense_work() : lu_.work(); }
  /// The diagonal block of A.
  [[nodiscard]] const double* diagonal(int block) const { return diagonal_.data() + block_entries * block; }
  /// Whether A was formed; where not, products go through the bodies.
  [[nodiscard]] bool has_matrix() const { return has_delassus_ || dense_; }
  /// (A x) for the rows of one block.
  void multiply_row(const ConstraintProblem& problem, int block, std::span<const double> x, double* y) const;

 private:
  [[nodiscard]] double dense_work() const {
    const double n = whole_.matrix().n;
    return n * n * n / 3;
  }
  void choose_form(const ConstraintProblem& problem);
  void factor_constraints(const ConstraintProblem& problem);
  void factor_bodies(const ConstraintProblem& problem);
  void solve_constraints(const ConstraintProblem& problem, std::span<const double> F, std::span<double> dx);
  void solve_bodies(const ConstraintProblem& problem, std::span<const double> F, std::span<double> dx);

  Structure structure_;
  std::vector<std::int32_t> matrix_start_, matrix_column_;
  std::vector<double> diagonal_, T_, E_, local_;  // local_: (T + E C)^-1
  std::span<const double> weights_;
  std::vector<char> alone_;
  std::vector<double> lengths_;  // per body: its radius of gyration, about
  std::vector<double> u_, right_, residual_, correction_, A_correction_;
  Delassus delassus_;
  bool by_bodies_ = false, has_delassus_ = false, dense_ = false;
  DenseForm whole_;
  BlockLu lu_;
  std::vector<std::int32_t> places_;       // where blocks go in lu_: per entry of A, or per pair of bodies of each constraint
  std::vector<std::int32_t> first_place_;  // of each constraint, where its pairs of bodies begin
};

/// Calls visit(body, J) for the bodies of a block that move; J points to the block's rows of six numbers.
template <class Visit>
void for_sides(const ConstraintProblem& problem, const ConstraintBlock& block, Visit&& visit) {
  for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) { visit(body, J.data() + 6 * first); });
}

}  // namespace rotule
