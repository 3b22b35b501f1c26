#pragma once
// One sweep of Gauss-Seidel by blocks: each block in turn goes to the solution of its own problem (local_solver.h), all others
// being held. Over both forms of the operator (block_operators.h).
#include <rotule/solver_storage.h>

#include <span>
#include <vector>

#include "solve/sweep/block_operators.h"
#include "solve/sweep/local_solver.h"

namespace rotule {

template <class Operator>
class BlockSweep {
 public:
  void prepare(const ConstraintProblem& problem, std::span<double> x) {
    problem_ = &problem;
    op_.assemble(problem);
    local_.prepare(problem, op_);
    std::copy_n(problem.x0.data(), x.size(), x.begin());
    local_.make_feasible(x);
  }

  /// Block i goes to its solution, or beyond by the relaxation; returns its squared residual before, an energy.
  double relax(int i, double relaxation, std::span<double> x) {
    const ConstraintBlock& block = problem_->blocks[i];
    double w[6], dx[6];
    double* const x_i = x.data() + block.first_row;
    op_.row(i, x, w);
    for (int r = 0; r < block.rows; ++r) dx[r] = x_i[r];
    const double before = local_.solve(i, w, x_i);
    if (relaxation != 1) {
      for (int r = 0; r < block.rows; ++r) x_i[r] = dx[r] + relaxation * (x_i[r] - dx[r]);
      local_.make_feasible(i, x);
    }
    for (int r = 0; r < block.rows; ++r) dx[r] = x_i[r] - dx[r];
    op_.update(i, dx);
    return before;
  }

  /// All blocks, in order or in reverse. Returns the length, in the norm of energy, of the residuals that blocks had when their
  /// turn came: near that of x, at no cost.
  double sweep(bool backwards, double relaxation, std::span<double> x) {
    const auto count = static_cast<int>(problem_->blocks.size());
    double sum = 0;
    if (backwards)
      for (int i = count - 1; i >= 0; --i) sum += relax(i, relaxation, x);
    else
      for (int i = 0; i < count; ++i) sum += relax(i, relaxation, x);
    return std::sqrt(sum);
  }

  Operator& op() { return op_; }
  LocalSolver& local() { return local_; }

 private:
  const ConstraintProblem* problem_ = nullptr;
  Operator op_;
  LocalSolver local_;
};

/// Both forms, of which a solve uses one; `touching` is scratch.
struct BlockSweeps {
  BlockSweep<BodyOperator> bodies;
  BlockSweep<MatrixOperator> matrix;
  std::vector<int> touching;

  /// Calls method(sweep) with the form that the storage asks for, or the cheaper one.
  template <class Storage, class Method>
  void with_operator(const ConstraintProblem& problem, const Storage& storage, Method&& method) {
    const bool sparse = std::holds_alternative<SparseStorage>(storage) || problem.has_matrix();
    if (sparse || (!std::holds_alternative<MatrixFreeStorage>(storage) && !matrix_free_is_cheaper(problem, touching)))
      method(matrix);
    else
      method(bodies);
  }
};

}  // namespace rotule
