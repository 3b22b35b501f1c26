#pragma once
// What a problem looks like, in a few numbers that cost about as much as a sweep each: stored with recorded problems, and what
// choices of solvers and their parameters can be learned from (D11).
#include <rotule/problem.h>

#include <array>
#include <string_view>
#include <vector>

namespace rotule {

struct ProblemFeatures {
  double rows = 0;
  double joint_rows = 0;         // those without bounds
  double contacts = 0;           // blocks with friction or bounds
  double bodies = 0;             // that move
  double contacts_per_body = 0;  // each contact counts for every body of it that moves
  double diagonal_spread = 1;    // largest A_ii over the smallest
  double mass_ratio = 1;         // largest between two bodies that a block ties
  /// Largest eigenvalue of D^-1/2 A D^-1/2, estimated from below by a few powers: 1 where rows do not feel each other, the number
  /// of rows at most. The smallest is 0 as a rule, contacts being redundant, so that this is what there is of a condition number.
  double coupling = 1;
  double activity = 0;  // share of contacts that carried a load in the last step: that of x0 that is not zero
};

inline constexpr std::array<std::string_view, 9> feature_names{
    "rows", "joint_rows", "contacts", "bodies", "contacts_per_body", "diagonal_spread", "mass_ratio", "coupling", "activity"};
std::array<double, feature_names.size()> values_of(const ProblemFeatures& features);

class FeatureFinder {
 public:
  ProblemFeatures find(const ConstraintProblem& problem);

 private:
  std::vector<double> scale_, x_, y_, u_, touching_;
};

}  // namespace rotule
