#pragma once
// Right-hand sides (D3). One assembly of J and A serves them all: they differ in what is predicted and what is asked for.
//   acceleration (A4, C2)   A lambda = -(J M^-1 f + gamma) - (beta_v/h) dC/dt - (beta_p/h^2) C
//   velocity (C1)           A x      = -(J u* + C_t) - (beta/h) C
//   taylor (C4)             A x      = -(J u* + C_t) - (h/2) gamma - (beta/h) C
//   hybrid (C3)             A x      = -J (u* - u) - h gamma - beta_v dC/dt - (beta_p/h) C, then that of velocities
//   position (A7 c)         A mu     = -C
//   penalty (A7 b)          lambda   = -(k C + d dC/dt), no system at all; without k given, k = w^2/A_rr and d = 2 w/A_rr row by
//                           row with w = 1/(2 h): each direction critically damped, at half a radian per step
// `local` holds six numbers per body of the island: M^-1 f, u* or u.
#include <rotule/recipe.h>

#include <optional>

#include "constraint/constraint_set.h"

namespace rotule {

/// What steps by impulses are told of their right-hand sides.
struct ImpulseFormulation {
  double baumgarte = 0;
  bool geometric_stiffness = false;
  double ahead = 0;           // of a step: how far along J'u they look
  bool forces_first = false;  // whether forces of the acceleration level come first, and by these shares
  double beta_velocity = 0, beta_position = 0;
};
/// None where the formulation is of accelerations.
std::optional<ImpulseFormulation> impulse_formulation(const FormulationSettings& settings);

/// `acceleration` is M^-1 f; `pull` what stabilisation adds, zero without it.
void formulate_acceleration(const RowValues& values, const VecX& acceleration, const VecX& pull, ConstraintProblem& problem,
                            Gang* gang = nullptr);
/// gamma such that accelerations which fit it make J (u_0 + g u') + C_t = 0: what an implicit stage with these velocities asks
/// for.
void held_rows(RowValues& values, const VecX& u_0, double g, const ConstraintProblem& problem);
/// (beta_v/h) dC/dt + (beta_p/h^2) C. To be taken at the start of a step and kept for all its stages: in between, a method stands
/// h^2 off the constraints by its own design, and an answer of beta_p/h^2 to that would cost it its order.
void stabilisation_pull(const RowValues& values, const VecX& velocity, double beta_position, double beta_velocity, double h,
                        const ConstraintProblem& problem, VecX& pull);
void formulate_velocity(const RowValues& values, const VecX& velocity, double baumgarte_over_h, ConstraintProblem& problem,
                        Gang* gang = nullptr);
/// The impulses over a step that forces of the acceleration level give; `before` is u, `velocity` u*.
void formulate_forces(const RowValues& values, const VecX& before, const VecX& velocity, double beta_position,
                      double beta_velocity, double h, ConstraintProblem& problem);
/// Looks ahead along J'u by `time`.
void look_ahead(const RowValues& values, double time, ConstraintProblem& problem);
/// Rows that are at least zero (their multipliers are) may use up the room that they have: adds `share` of it to what is asked
/// for, 1/h of rates, 2/h^2 of accelerations.
void leave_room(const RowValues& values, double share, ConstraintProblem& problem, Gang* gang = nullptr);
/// Those that are met within a step of h, coming from velocities `before`, leave with a share `restitution` of their rates.
void bounce_row(const RowValues& values, const ConstraintBlock& block, int row, double restitution, const VecX& before,
                const VecX& velocity, double h, ConstraintProblem& problem);
void formulate_position(const RowValues& values, ConstraintProblem& problem);
void penalty_forces(const RowValues& values, const VecX& velocity, double stiffness, double damping, double h,
                    const ConstraintProblem& problem, VecX& lambda);

struct PenaltyRow {
  double stiffness, damping;
};
/// The spring of one row, chosen by the step where none is given.
PenaltyRow penalty_row(const ConstraintProblem& problem, const ConstraintBlock& block, int row, double stiffness, double damping,
                       double h);

/// dC/dt = J u + C_t, row by row.
double constraint_rate(const ConstraintProblem& problem, const ConstraintBlock& block, int row, const RowValues& values,
                       const VecX& velocity);

}  // namespace rotule
