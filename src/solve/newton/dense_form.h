#pragma once
// The systems of block_system.h where rows are few and nearly all meet: contacts of trees whose coordinates are joints
// (mechanism/reduced/joint_space.h), with six rates a body. A is formed as a whole, and the rows that are not alone are
// eliminated with pivots.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "linalg/dense_rows.h"

namespace rotule {

class DenseForm {
 public:
  static constexpr int most_rows = 150, block_entries = 36;

  /// Whether a problem is of this kind: it has contacts over more than two bodies, as only trees have, and not too many rows.
  static bool fits(const ConstraintProblem& problem);

  void form(const ConstraintProblem& problem);
  [[nodiscard]] const DenseRows& matrix() const { return A_; }
  /// T + E A, blocks of T and E row-major and `block_entries` apart; where a block is alone T = 1 and E = 0.
  void factor(const ConstraintProblem& problem, const double* T, const double* E, std::span<const char> alone);
  /// dx of (T + E A) dx = -F.
  void solve(const ConstraintProblem& problem, const double* E, std::span<const char> alone, std::span<const double> F,
             std::span<double> dx);

 private:
  DenseRows A_;
  DenseLu lu_;
  std::vector<double> J_, pushed_, changed_, right_;
  std::vector<int> active_;  // rows that are not alone
};

}  // namespace rotule
