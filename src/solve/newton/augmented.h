#pragma once
// One step of the method of multipliers (proximal point on the dual), globally convergent where Newton on the laws is not.
// The laws are made those of a convex problem by freezing what makes them not so: De Saxce's shift of the normal velocity, the
// sum of mu |w_t| over a contact's groups of friction. Around the anchor a, with S = epsilon / rho, the answer is
//   y = P(a - S^-1 (A y - b + shift)),  P the projection on cones and bounds in the metric S,
// the minimum of a once differentiable convex function of the bodies' velocities, found by semismooth Newton steps with an exact
// line search. Li, Sun, Toh, SIAM J. Optim. 28 (2018), for the method; De Saxce, Feng, Math. Comput. Model. 28 (1998).
// Repeated with the shift of its last answer it is the classical fixed point of Coulomb friction, which can fail to converge
// where friction is strong.
#include <span>
#include <vector>

#include "solve/newton/contact_system.h"

namespace rotule {

class AugmentedLagrangian {
 public:
  struct Outcome {
    int steps = 0;  // of Newton
    bool converged = false;
  };
  /// x is the anchor, and w = A x - b there; where it converges, both become those of the answer.
  Outcome step(const ConstraintProblem& problem, ContactSystem& system, double epsilon, int max_steps, std::span<double> x,
               std::span<double> w);

 private:
  double project(const ConstraintProblem& problem, std::span<const BlockSet> sets, std::span<const double> w, bool derivatives,
                 BlockSystem* linear);

  std::vector<double> anchor_, inverse_S_, shift_, y_, w_, trial_w_, P_, G_, dy_, A_dy_;
};

}  // namespace rotule
