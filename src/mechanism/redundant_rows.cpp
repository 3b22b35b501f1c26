#include "mechanism/redundant_rows.h"

#include <rotule/solvers/ldlt.h>

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "base/spans.h"
#include "problem/operators.h"
#include "solve/solve.h"

namespace rotule {

namespace {

/// A pivot this small, with masses and lengths taken out, is a sign of dependence. Rounding leaves 1e-15. Rows of joints that are
/// open by a share d of their levers miss dependence by about d, and their pivots by d^2. Anything larger belongs to a mechanism
/// near a singular pose, which still holds: rows dropped there would let it drift until they come back.
constexpr double least_dependent_pivot = 1e-12, largest_dependent_pivot = 1e-9;
double dependent_pivot_of(double open) { return std::clamp(100 * open * open, least_dependent_pivot, largest_dependent_pivot); }
/// Below this one the choice of dropped rows is worth making again, if it was better when it was made.
constexpr double poor_pivot = 1e-3;
/// A dropped row of which more than so many dependent pivots are left, once the kept ones have been taken out of it, follows from
/// them no longer.
constexpr double independent_remainder = 10;

}  // namespace

void RedundantRows::resize(const ConstraintProblem& problem) {
  for (VecX* v : {&x_, &unit_, &product_}) v->resize(problem.rows());
  velocities_.resize(6 * problem.bodies());
}

void RedundantRows::set_aside(ConstraintProblem& problem, Workspace& workspace, double open, std::span<const int> idle) {
  resize(problem);
  idle_ = idle;

  // Dependence is a matter of geometry: equal masses, and lengths measured by the longest lever, keep heavy and light or large
  // and small parts from looking dependent.
  double longest = 0;
  for (const JacobianRows* J : {&problem.J_a, &problem.J_b, &problem.J_more})
    for (int r = 0; r < J->rows(); ++r)
      if (J->row(r).head<3>().squaredNorm() > 0) longest = std::max(longest, J->row(r).tail<3>().norm());
  dependent_pivot_ = dependent_pivot_of(longest > 0 ? open / std::min(longest, 1.0) : open);
  Mat6 unit = Mat6::Identity();
  if (longest > 0) unit.diagonal().tail<3>().setConstant(1 / (longest * longest));
  mass_.assign(problem.inverse_mass.size(), unit);
  std::swap(problem.inverse_mass, mass_);
  while (!rows_.empty() && restore_one(problem, workspace)) {
  }
  if (!still_good(problem, workspace)) choose(problem, workspace);
  std::swap(problem.inverse_mass, mass_);
  write_compliance(problem);
}

bool RedundantRows::restore_one(ConstraintProblem& problem, Workspace& workspace) {
  // v, some vector on the dropped rows alone; x, what the kept rows must carry in its place; what A (v - x) leaves on the dropped
  // rows is S v, with S their Schur complement: zero as long as they follow from the kept ones.
  unit_.setZero();
  for (std::size_t k = 0; k < rows_.size(); ++k) unit_[rows_[k]] = 1 + 0.1 * static_cast<double>(k % 7);
  problem.C.setZero();
  multiply(problem, view(unit_), view(velocities_), view(problem.b));
  write_compliance(problem);
  factor(problem, workspace);
  unit_ -= x_;
  problem.C.setZero();
  multiply(problem, view(unit_), view(velocities_), view(product_));

  std::size_t most = 0;
  for (std::size_t k = 1; k < rows_.size(); ++k)
    if (std::abs(product_[rows_[k]]) > std::abs(product_[rows_[most]])) most = k;
  if (!(std::abs(product_[rows_[most]]) > independent_remainder * dependent_pivot_ * problem.b.lpNorm<Eigen::Infinity>()))
    return false;
  rows_.erase(rows_.begin() + static_cast<std::ptrdiff_t>(most));
  return true;
}

bool RedundantRows::still_good(ConstraintProblem& problem, Workspace& workspace) {
  write_compliance(problem);
  problem.b.setZero();
  factor(problem, workspace);
  return report_.redundant_rows.empty() && report_.smallest_pivot > std::min(poor_pivot, 0.1 * pivot_when_chosen_);
}

void RedundantRows::choose(ConstraintProblem& problem, Workspace& workspace) {
  // How many: those dropped so far, and those that the factor has just found among the others. Starting over would lose count
  // where the last row of a dependent set in the order of elimination happens to carry little of it.
  rows_.insert(rows_.end(), report_.redundant_rows.begin(), report_.redundant_rows.end());
  std::sort(rows_.begin(), rows_.end());
  pivot_when_chosen_ = report_.smallest_pivot;
  if (rows_.empty()) return;
  const int count = static_cast<int>(rows_.size());

  // Null vectors: what the other rows must carry to stand in for each dropped one.
  null_vectors_.resize(problem.rows(), count);
  for (int k = 0; k < count; ++k) {
    problem.C.setZero();
    unit_.setZero();
    unit_[rows_[k]] = 1;
    multiply(problem, view(unit_), view(velocities_), view(problem.b));
    write_compliance(problem);
    factor(problem, workspace);
    null_vectors_.col(k) = unit_ - x_;
  }
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r)
      null_vectors_.row(r) *= std::sqrt(diagonal_entry(problem, block, r));

  ambiguous_.assign(problem.rows(), 0);
  for (int k = 0; k < count; ++k) {
    const double largest = null_vectors_.col(k).cwiseAbs().maxCoeff();
    for (int r = 0; r < problem.rows(); ++r) ambiguous_[r] |= std::abs(null_vectors_(r, k)) > 1e-6 * largest;
  }

  // The rows on which they lean most.
  for (int k = 0; k < count; ++k) {
    Eigen::Index row = 0, column = 0;
    null_vectors_.rightCols(count - k).cwiseAbs().maxCoeff(&row, &column);
    column += k;
    null_vectors_.col(column).swap(null_vectors_.col(k));
    rows_[k] = static_cast<int>(row);
    for (int other = k + 1; other < count; ++other)
      null_vectors_.col(other) -= null_vectors_.col(k) * (null_vectors_(row, other) / null_vectors_(row, k));
  }
  std::sort(rows_.begin(), rows_.end());
  write_compliance(problem);
  problem.b.setZero();
  factor(problem, workspace);
  pivot_when_chosen_ = report_.smallest_pivot;
}

void RedundantRows::write_compliance(ConstraintProblem& problem) const {
  problem.C.setZero();
  for (const int row : idle_) problem.C[row] = 1;
  if (rows_.empty()) return;
  for (const ConstraintBlock& block : problem.blocks)
    for (auto r = std::lower_bound(rows_.begin(), rows_.end(), block.first_row);
         r != rows_.end() && *r < block.first_row + block.rows; ++r)
      problem.C[*r] = slack * diagonal_entry(problem, block, *r);
}

void RedundantRows::factor(const ConstraintProblem& problem, Workspace& workspace) {
  Budget::listen();
  LdltSettings settings;
  settings.pivot_tolerance = dependent_pivot_;
  settings.max_refinements = 0;
  solve(problem, settings, workspace, view(x_), report_);
}

}  // namespace rotule
