#pragma once
// Rigid bodies under joints, as integrators want to see them (integrate/mechanism.h): forces and multipliers in, accelerations
// out; and the corrections of drift (A7).
#include <rotule/results.h>

#include <memory>

#include "base/parallel.h"
#include "base/stage_clock.h"
#include "constraint/formulation/formulations.h"
#include "constraint/tree_placement.h"
#include "dynamics/forces/force_set.h"
#include "dynamics/free_rotation.h"
#include "dynamics/kinematics.h"
#include "mechanism/attempt.h"
#include "mechanism/island.h"

namespace rotule {

class ImplicitSystem;

class JointedMechanism {
 public:
  using State = rotule::State;

  JointedMechanism(const Model& model, const Recipe& recipe);
  JointedMechanism(const JointedMechanism&) = delete;
  JointedMechanism& operator=(const JointedMechanism&) = delete;
  ~JointedMechanism();

  /// M u' = f + J^T lambda by the recipe's formulation and solver.
  void accelerations(double t, const State& s, VecX& udot);
  void displace(const State& base, const VecX& sigma, State& out) const { rotule::displace(base, sigma, out); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { chart_rate(model.body_count(), sigma, u, out); }
  void difference(const State& q, const State& base, VecX& sigma) const { rotule::difference(q, base, sigma); }

  /// What is decided at the start of a step and kept through its stages: which redundant rows are set aside (redundant_rows.h;
  /// joints must be closed), and how hard stabilisation pulls.
  void begin_step(const State& s, double t);

  /// Fills in the multipliers and residuals of this very state, and leaves no other trace: a query, not a step. At velocity
  /// level the step's own multipliers stay, and only the rows are evaluated anew.
  void refresh_forces(double t, const State& s);

  /// Velocities that forces alone would give after a step: where impulses start from. Kinematics are those of the state then.
  void free_velocities(const VelocitySettings& settings, const State& s, double t, double h, VecX& free);

  /// The free rotation of a body over `step` seconds, energy and momentum kept.
  void glide(int body, Quat& theta, Vec3& omega, double step);

  /// Whether nothing but weight and joints that know no time acts, so that energy cannot grow.
  [[nodiscard]] bool is_passive() const;
  /// For a step by impulses that gained energy: its stiffness will come from the forces of this very motion; or, where those were
  /// not enough either, from several times what the last attempt found.
  void stiffen(const State& s, double t, std::span<const JointAnswer> found);

  /// Closes positions, then velocities (A7 c, d); returns the Newton iterations.
  int project(const ProjectionSettings& settings, State& s, double t);
  /// A7 a, then d.
  void place(State& s, double t);
  /// Closes the joints in the way that the recipe says.
  void correct(State& s, double t);
  /// A7 d alone.
  void project_velocities(State& s, double t);

  // What RATTLE asks for (integrate/symplectic/rattle.h).
  void begin_drifts(const State& s, double t);
  void kick(State& s, double t, double step);
  void drift(State& s, double t, double step);
  void constrain_velocities(State& s, double t);

  /// From now on joints ask for J u + C_t = 0 at velocities u = u_0 + g u' in place of accelerations that fit (index 2 in place
  /// of 1), until `release_joints`: for stages of implicit methods, whose long steps turn J further than its derivative foresees.
  /// Formulations with an answer of their own to drift stay with it.
  void hold_joints(const VecX& u_0, double g);
  void release_joints() { held_g_ = 0; }

  /// Puts together what `solve_implicit` needs of this state: forces, rows, and the constraint forces that the last accelerations
  /// found (implicit_system.h).
  void linearise(double t, const State& s);
  /// (M - a D - b K) out = M r + J^T y with J out = J r, where linearised last.
  void solve_implicit(double a, double b, const VecX& r, VecX& out);

  /// A7 d for one island of joints, once its rows are those of this state.
  void close_velocities(Island& island, State& s);

  /// Bodies, joints or forces of the model came or went: new numbers of those that were there (-1: it left), by old ones; empty
  /// where numbers stay. Linkages that are not concerned stay as they are. Throws Error where a joint does not fit the recipe.
  void model_changed(std::span<const int> body, std::span<const int> joint);
  /// Drops what was made for the model's present shape when it was first asked for; the next question makes it anew.
  void forget_shape();

  /// Rows and masses of all islands at this state.
  void evaluate(const State& s, double t);

  const Model& model;
  const Recipe& recipe;
  std::vector<Linkage> linkages;
  std::vector<Island> islands;  // of joints alone, one per linkage
  Attempt now;                  // what the present step has come to
  Kinematics kinematics;
  VecX external;               // forces that a user set, laid out as u
  VecX contact_forces;         // of contacts by accelerations (touching/), likewise; empty without them
  double h = 0;                // the step being made: stabilisation terms are scaled with it
  bool keep_problems = false;  // whether islands keep a copy of what they solved
  std::int64_t evaluations = 0;
  double force_power = 0;    // W that kinematic bodies spend against forces, as of the last free velocities
  mutable StageClock clock;  // measuring changes nothing

 private:
  template <class Work>
  void for_each_island(Work&& work) {
    parallel_for(static_cast<int>(islands.size()), recipe.threads, [&](int i) { work(islands[i], linkages[i], now.joints[i]); });
  }
  /// All that acts but joints and the gyroscopic torque, into forces_.
  void sum_forces(double t, const State& s);
  /// Overwrites forces with M^-1 times them; the kinematics must be those of the state.
  void divide_by_mass(VecX& forces) const;
  void close_velocities(State& s);
  void count_solves();

  /// Throws Error where solver or correction cannot do with loops that the model has.
  void look_at_loops();

  void make_rotors();
  /// Every body from `from`, with the velocities of `s`, for `step` seconds without any force.
  void drift_freely(const State& from, State& s, double step) const;

  VecX forces_, sigma_;
  State given_state_;  // the state with bodies of prescribed motion where they are at the time asked for
  ForceScratch force_scratch_;
  VecX last_accelerations_;
  VecX held_u_;  // of hold_joints; g is 0 where it is not in force
  double held_g_ = 0;
  std::unique_ptr<ImplicitSystem> implicit_;  // made when first asked for
  std::vector<JointAnswer> answers_;          // put aside while a query solves
  std::vector<Placement> placements_;
  /// Of one island and drift: the rows at its start, and what the joints gave.
  struct Drift {
    ConstraintProblem problem;
    VecX impulse;
  };
  std::vector<Drift> drifts_;
  std::vector<FreeRotor> rotors_;
  State start_;
};

/// Throws where the state holds something that is not a number, with the body's name.
void require_finite(const Model& model, const State& s);

}  // namespace rotule
