#pragma once
// An implicit stage of particles as a minimum (the incremental potential: M. Ortiz, L. Stainier 1999; in graphics T. F. Gast et
// al. 2015). With the stage's acceleration A, u = u_0 + g A and x = x_0 + sigma_0 + g u, what is sought, M A = f(x, u), is where
//   E(A) = g^2/2 |A|^2_M + V(x(A)) - (forces that do not depend on x) . x
// is stationary, but for forces that have no potential: dampers, drag, viscosity. The work of those from one iterate to the next
// is taken by the trapezoid, so that going downwards still means something.
//
// Newton's method with a line search on that. Its matrix M - g D - g^2 K is the exact one, symmetric part alone; corrections come
// by conjugate gradients that end where it does not curve upwards, preconditioned by the matrix in which every element is made
// positive (truncated_gradients.h). That one is factored, or taken by multigrid, once per stage, and again where it has become
// too old. Nothing is kept from step to step but memory: the same state gives the same bits.
#include <rotule/integrators.h>
#include <rotule/recipe.h>
#include <rotule/results.h>

#include "dynamics/forces/force_set.h"
#include "integrate/mechanism.h"
#include "linalg/truncated_gradients.h"
#include "mechanism/local_global.h"

namespace rotule {

class StageMinimiser {
 public:
  StageMinimiser(const Model& model, const Recipe& recipe);

  /// Whether nothing moves but particles, under forces with symmetric derivatives.
  static bool fits(const Model& model, const Recipe& recipe);

  /// Everything as in ImplicitStage (integrate/implicit/stage.h). `report` gets what was solved and what is left.
  StageMinimum minimise(double t, const State& base, const VecX& external, const VecX& sigma_0, const VecX& u_0, double g,
                        const StageSettings& settings, State& stage, VecX& A, StepReport& report);

 private:
  /// A place on the way: energies and forces there.
  struct Point {
    VecX A, f, loss;    // loss: of f, what has no potential
    double energy = 0;  // E
    double size = 0;    // of the numbers in E: rounding is relative to it
  };
  void find_pattern();
  void evaluate(Point& at);
  void assemble(bool positive, Block3Matrix& S);
  void residual(const Point& at, VecX& r) const;
  /// From a to b by so much of E, dissipation included.
  [[nodiscard]] double change(const Point& a, const Point& b) const;
  /// Moves along the correction to where E is lower; false where it is nowhere.
  bool go_down(bool curved, double& part);
  /// Corrections until what is left is within the tolerance: Newton's, or local and global steps.
  void by_newton(const StageSettings& settings, StageMinimum& out, StepReport& report);
  void by_local_global(const StageSettings& settings, int memory, StageMinimum& out, StepReport& report);
  /// local_dA_ over all of u; how fast the fastest goes with it.
  double spread_correction();
  /// The stage at the present point; trials have moved it.
  void here_to_stage();
  [[nodiscard]] bool direct() const;

  const Model& model_;
  const Recipe& recipe_;
  std::vector<int> place_;     // of each particle among those that move, or -1
  std::vector<int> particle_;  // and back
  std::vector<std::array<std::int64_t, 2>> spring_blocks_;
  bool lossy_ = false, damped_ = false;  // whether forces without potential act; whether springs or elements have any
  Block3Matrix H_, P_;
  TruncatedGradients gradients_;
  std::unique_ptr<LocalGlobal> local_global_;  // where the recipe has it
  VecX last_r_, last_dA_;
  std::vector<RankOne> ranks_;  // of gases, beside H

  // The stage at work.
  State* stage_ = nullptr;
  State rest_;
  double t_ = 0, g_ = 0;
  VecX start_x_, u_0_, dead_, still_;
  Point here_, there_, further_;
  VecX r_, local_r_, local_dA_, dA_;
};

}  // namespace rotule
