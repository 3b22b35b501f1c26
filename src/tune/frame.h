#pragma once
// One frame as D has it (D6, D8): all islands of a step as one problem, with friction as the study wants it.
#include <rotule/problem.h>

#include <span>

namespace rotule::tune {

/// What friction means in a problem that is tuned.
///   as_recorded: cones or boxes, as the problem says.
///   box: |x_t|, |x_b| <= mu x_n, whichever the problem says (D2).
///   cone: their length <= mu x_n.
///   fixed: a box whose size does not follow x_n but is that of the answer given: bounds as plain numbers.
enum class FrictionLaw { as_recorded, box, cone, fixed };

/// Rows, blocks and bodies of one after those of the other. They must share no body.
ConstraintProblem joined(std::span<const ConstraintProblem> islands);

/// `answer` is looked at for `fixed` alone.
void set_friction_law(ConstraintProblem& problem, FrictionLaw law, std::span<const double> answer);

/// Contacts: normal rows that friction refers to, and rows bounded on one side alone.
int contacts_of(const ConstraintProblem& problem);
/// Blocks without any bounded row.
int joints_of(const ConstraintProblem& problem);

/// Eigenvalues of A: the largest over the smallest that is not zero by rounding, and how many are not. Dense, of the smaller of
/// rows and coordinates of the bodies concerned: seconds for thousands.
struct Conditioning {
  double condition = 1;
  int rank = 0, rows = 0;
};
Conditioning conditioning_of(const ConstraintProblem& problem);

}  // namespace rotule::tune
