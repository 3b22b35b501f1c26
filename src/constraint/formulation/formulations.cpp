#include "constraint/formulation/formulations.h"

#include "base/spans.h"
#include "problem/operators.h"

namespace rotule {

namespace {

template <class Function>
void for_each_row(const ConstraintProblem& problem, Function&& function) {
  for (const ConstraintBlock& block : problem.blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) function(block, r);
}

}  // namespace

double constraint_rate(const ConstraintProblem& problem, const ConstraintBlock& block, int row, const RowValues& values,
                       const VecX& velocity) {
  return row_velocity(problem, block, row, view(velocity)) + values.C_t[row];
}

void formulate_acceleration(const RowValues& values, const VecX& acceleration, const VecX& pull, ConstraintProblem& problem) {
  for_each_row(problem, [&](const ConstraintBlock& block, int r) {
    problem.b[r] = -row_velocity(problem, block, r, view(acceleration)) - values.gamma[r] - pull[r];
  });
}

void held_rows(RowValues& values, const VecX& u_0, double g, const ConstraintProblem& problem) {
  for_each_row(problem, [&](const ConstraintBlock& block, int r) {
    values.gamma[r] = constraint_rate(problem, block, r, values, u_0) / g;
  });
}

void stabilisation_pull(const RowValues& values, const VecX& velocity, double beta_position, double beta_velocity, double h,
                        const ConstraintProblem& problem, VecX& pull) {
  for_each_row(problem, [&](const ConstraintBlock& block, int r) {
    pull[r] = beta_position / (h * h) * values.C[r] + beta_velocity / h * constraint_rate(problem, block, r, values, velocity);
  });
}

void formulate_velocity(const RowValues& values, const VecX& velocity, double baumgarte_over_h, ConstraintProblem& problem) {
  for_each_row(problem, [&](const ConstraintBlock& block, int r) {
    problem.b[r] = -constraint_rate(problem, block, r, values, velocity) - baumgarte_over_h * values.C[r];
  });
}

void formulate_position(const RowValues& values, ConstraintProblem& problem) { problem.b = -values.C; }

PenaltyRow penalty_row(const ConstraintProblem& problem, const ConstraintBlock& block, int row, double stiffness, double damping,
                       double h) {
  if (stiffness != 0) return {stiffness, damping};
  const double frequency = 0.5 / h, mass = 1 / diagonal_entry(problem, block, row);
  return {frequency * frequency * mass, damping == 0 ? 2 * frequency * mass : damping};
}

void penalty_forces(const RowValues& values, const VecX& velocity, double stiffness, double damping, double h,
                    const ConstraintProblem& problem, VecX& lambda) {
  for_each_row(problem, [&](const ConstraintBlock& block, int r) {
    const auto [k, d] = penalty_row(problem, block, r, stiffness, damping, h);
    lambda[r] = -k * values.C[r] - d * constraint_rate(problem, block, r, values, velocity);
  });
}

}  // namespace rotule
