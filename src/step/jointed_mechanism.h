#pragma once
// Rigid bodies under joints, as integrators want to see them (integrate/mechanism.h): forces and multipliers in, accelerations
// out; and the corrections of drift (A7).
#include <rotule/results.h>

#include "base/parallel.h"
#include "constraint/formulation/formulations.h"
#include "constraint/tree_placement.h"
#include "dynamics/kinematics.h"
#include "step/dense_implicit_system.h"
#include "step/island.h"

namespace rotule {

class JointedMechanism {
 public:
  using State = rotule::State;

  JointedMechanism(const Model& model, const Recipe& recipe);

  /// M u' = f + J^T lambda by the recipe's formulation and solver.
  void accelerations(double t, const State& s, VecX& udot);
  void displace(const State& base, const VecX& sigma, State& out) const { rotule::displace(base, sigma, out); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { chart_rate(sigma, u, out); }
  void difference(const State& q, const State& base, VecX& sigma) const { rotule::difference(q, base, sigma); }

  /// What implicit methods ask for (integrate/mechanism.h).
  void linearise(double t, const State& s);
  void solve_implicit(double a, double b, const VecX& r, VecX& out);

  /// What is decided at the start of a step and kept through its stages: which redundant rows are set aside (redundant_rows.h;
  /// joints must be closed), and how hard stabilisation pulls.
  void begin_step(const State& s, double t);

  /// Fills in the multipliers and residuals of this very state, and leaves no other trace: a query, not a step. At velocity
  /// level the step's own multipliers stay, and only the rows are evaluated anew.
  void refresh_forces(double t, const State& s);

  /// One step at velocity level (C1, F1).
  void velocity_step(const VelocitySettings& settings, State& s, double t, double h);

  /// Whether nothing but weight and joints that know no time acts, so that energy cannot grow.
  [[nodiscard]] bool is_passive() const;
  /// For a velocity-level step that gained energy: its stiffness will come from the forces of this very motion where `factor` is
  /// 1, else from the present ones times `factor`.
  void stiffen(const State& s, double t, double factor);

  /// Closes positions, then velocities (A7 c, d); returns the Newton iterations.
  int project(const ProjectionSettings& settings, State& s, double t);
  /// A7 a, then d.
  void place(State& s, double t);
  /// A7 d alone.
  void project_velocities(State& s, double t);

  /// Rows and masses of all islands at this state.
  void evaluate(const State& s, double t);

  const Model& model;
  const Recipe& recipe;
  std::vector<Island> islands;
  Kinematics kinematics;
  VecX external;               // forces that a user set, six per body
  double h = 0;                // the step being made: stabilisation terms are scaled with it
  bool keep_problems = false;  // whether islands keep a copy of what they solved
  std::int64_t evaluations = 0;
  StepReport report;

 private:
  template <class Work>
  void for_each_island(Work&& work) {
    parallel_for(static_cast<int>(islands.size()), recipe.threads, [&](int i) { work(islands[i]); });
  }
  /// Puts M + h^2 K in the place of the island's mass, and the momentum in `local` over it.
  void soften(Island& island, double t, double step) const;
  void close_velocities(State& s);
  void count_solves();

  VecX forces_, sigma_, udot_;
  std::vector<DenseImplicitSystem> systems_;  // of each island, then of each free body
  std::vector<int> free_bodies_;
  std::vector<VecX> warm_;  // answers put aside while a query solves
  std::vector<Placement> placements_;
};

}  // namespace rotule
