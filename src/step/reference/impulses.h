#pragma once
// One island's share of a step by impulses: its rows, right-hand sides and solutions (C1, D3, F1).
//   (M + h^2 K) u* = M u + h f,   w = A x - b,  A = J (M + h^2 K)^-1 J^T + C,   u+ = u* + (M + h^2 K)^-1 J^T x
// with K = -d(J^T lambda)/dq from the last step's joint forces: implicit Euler in the directions in which constraint forces act
// as springs, so that no tension is too high for the step. Formulation taylor (C4) looks half a step ahead along J'u; hybrid
// (C3), where joints are all there is, solves for forces first, and x is what both solutions give together.
#include <optional>

#include "constraint/formulation/contact_formulation.h"
#include "mechanism/jointed_mechanism.h"
#include "step/split_into_islands.h"

namespace rotule {

/// What all islands of a step are told.
struct ImpulseStep {
  JointedMechanism& mechanism;
  const ImpulseFormulation& formulation;
  const ContactRules& rules;
  const IslandSearch& search;
  double t, h;
  IslandParts parts;
};

/// Whether a body's velocities, from `first` on in u, are others than forces alone give, by more than rounding.
inline bool pushes(const VecX& u, const VecX& free, Eigen::Index first) {
  constexpr double rounding = 1e-12;
  const auto differ = [&](Eigen::Index k) {
    return (u.segment<3>(k) - free.segment<3>(k)).squaredNorm() > rounding * rounding * free.segment<3>(k).squaredNorm();
  };
  return differ(first) || differ(first + 3);
}

/// Rows of the island's joints, drives and contacts, masses, and right-hand sides for velocities `free`.
void formulate(const ImpulseStep& step, const VecX& free, Island& island);

/// Solves it; where static friction is overcome, the dynamic coefficient holds, and it is solved again. Leaves the answer with
/// joints, drives and contacts, and the velocities after it in `local`.
void solve(const ImpulseStep& step, Island& island);

/// Where bodies arrive within the step, or met too often for each blow to be taken at its own time: once more from the same
/// start, with gaps taken for closed and the bounces asked for, as far as they create no energy, into `bouncing`. The share of
/// that answer in the velocities; none where there is nothing of the kind.
std::optional<double> bounce(const ImpulseStep& step, const VecX& free, Island& island, Island& bouncing);

/// J done by what moves without being moved, the impulses being those of the island's last solution: -x . (J u of it).
double given_work(const IslandParts& parts, const Island& island);

}  // namespace rotule
