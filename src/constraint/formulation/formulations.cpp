#include "constraint/formulation/formulations.h"

#include <algorithm>

#include "base/shares.h"
#include "base/spans.h"
#include "problem/operators.h"

namespace rotule {

namespace {

/// Rows that have values are those of joints, which come first; drives and contacts may follow.
template <class Function>
void for_each_row(const ConstraintProblem& problem, const RowValues& values, Function&& function, Gang* gang = nullptr) {
  share_pieces(gang, static_cast<int>(problem.blocks.size()), [&](int first, int end) {
    for (int n = first; n < end; ++n) {
      const ConstraintBlock& block = problem.blocks[n];
      if (block.first_row >= values.C.size()) return;
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) function(block, r);
    }
  });
}

}  // namespace

std::optional<ImpulseFormulation> impulse_formulation(const FormulationSettings& settings) {
  if (const auto* velocity = std::get_if<VelocitySettings>(&settings))
    return ImpulseFormulation{.baumgarte = velocity->baumgarte, .geometric_stiffness = velocity->geometric_stiffness};
  if (const auto* taylor = std::get_if<TaylorSettings>(&settings))
    return ImpulseFormulation{.baumgarte = taylor->baumgarte, .ahead = 0.5};
  if (const auto* hybrid = std::get_if<HybridFormulationSettings>(&settings))
    return ImpulseFormulation{.baumgarte = hybrid->baumgarte,
                              .forces_first = true,
                              .beta_velocity = hybrid->beta_velocity,
                              .beta_position = hybrid->beta_position};
  return std::nullopt;
}

double constraint_rate(const ConstraintProblem& problem, const ConstraintBlock& block, int row, const RowValues& values,
                       const VecX& velocity) {
  return row_velocity(problem, block, row, view(velocity)) + values.C_t[row];
}

void formulate_acceleration(const RowValues& values, const VecX& acceleration, const VecX& pull, ConstraintProblem& problem,
                            Gang* gang) {
  for_each_row(
      problem, values,
      [&](const ConstraintBlock& block, int r) {
        problem.b[r] = -row_velocity(problem, block, r, view(acceleration)) - values.gamma[r] - pull[r];
      },
      gang);
}

void held_rows(RowValues& values, const VecX& u_0, double g, const ConstraintProblem& problem) {
  for_each_row(problem, values, [&](const ConstraintBlock& block, int r) {
    values.gamma[r] = constraint_rate(problem, block, r, values, u_0) / g;
  });
}

void stabilisation_pull(const RowValues& values, const VecX& velocity, double beta_position, double beta_velocity, double h,
                        const ConstraintProblem& problem, VecX& pull) {
  for_each_row(problem, values, [&](const ConstraintBlock& block, int r) {
    pull[r] = beta_position / (h * h) * values.C[r] + beta_velocity / h * constraint_rate(problem, block, r, values, velocity);
  });
}

void formulate_velocity(const RowValues& values, const VecX& velocity, double baumgarte_over_h, ConstraintProblem& problem,
                        Gang* gang) {
  for_each_row(
      problem, values,
      [&](const ConstraintBlock& block, int r) {
        const double error = problem.lower[r] == 0 ? std::min(values.C[r], 0.0) : values.C[r];
        problem.b[r] = -constraint_rate(problem, block, r, values, velocity) - baumgarte_over_h * error;
      },
      gang);
}

void formulate_forces(const RowValues& values, const VecX& before, const VecX& velocity, double beta_position,
                      double beta_velocity, double h, ConstraintProblem& problem) {
  for_each_row(problem, values, [&](const ConstraintBlock& block, int r) {
    const double rate = constraint_rate(problem, block, r, values, before);
    const double predicted = constraint_rate(problem, block, r, values, velocity);
    problem.b[r] = -(predicted - rate) - h * values.gamma[r] - beta_velocity * rate - beta_position / h * values.C[r];
  });
}

void look_ahead(const RowValues& values, double time, ConstraintProblem& problem) {
  problem.b.head(values.gamma.size()) -= time * values.gamma;
}

void leave_room(const RowValues& values, double share, ConstraintProblem& problem, Gang* gang) {
  share_evenly(gang, values.C.size(), [&](Eigen::Index first, Eigen::Index end) {
    for (Eigen::Index r = first; r < end; ++r)
      if (problem.lower[r] == 0) problem.b[r] -= share * std::max(values.C[r], 0.0);
  });
}

void bounce_row(const RowValues& values, const ConstraintBlock& block, int row, double restitution, const VecX& before,
                const VecX& velocity, double h, ConstraintProblem& problem) {
  const double rate = constraint_rate(problem, block, row, values, before);
  if (!(rate < 0) || values.C[row] + h * rate >= 0) return;
  problem.b[row] = -constraint_rate(problem, block, row, values, velocity) - restitution * rate;
}

void formulate_position(const RowValues& values, ConstraintProblem& problem) { problem.b.head(values.C.size()) = -values.C; }

PenaltyRow penalty_row(const ConstraintProblem& problem, const ConstraintBlock& block, int row, double stiffness, double damping,
                       double h) {
  if (stiffness != 0) return {stiffness, damping};
  const double frequency = 0.5 / h, mass = 1 / diagonal_entry(problem, block, row);
  return {frequency * frequency * mass, damping == 0 ? 2 * frequency * mass : damping};
}

void penalty_forces(const RowValues& values, const VecX& velocity, double stiffness, double damping, double h,
                    const ConstraintProblem& problem, VecX& lambda) {
  for_each_row(problem, values, [&](const ConstraintBlock& block, int r) {
    const auto [k, d] = penalty_row(problem, block, r, stiffness, damping, h);
    lambda[r] = -k * values.C[r] - d * constraint_rate(problem, block, r, values, velocity);
  });
}

}  // namespace rotule
