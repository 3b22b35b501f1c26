#pragma once
// A linkage: bodies (and particles) that joints tie together, for as long as nobody adds or removes a joint. What outlasts a step
// of it stands here: its constraints, and which of their rows are redundant. The algebra of a step stands in islands (island.h).
#include <span>
#include <vector>

#include "constraint/constraint_set.h"
#include "mechanism/redundant_rows.h"

namespace rotule {

struct Linkage {
  std::vector<int> bodies;  // movable partners, by their numbers, rising, and what fluid couples to them; blocks of `constraints`
                            // name places in this list
  std::vector<int> joints;  // by their numbers, rising
  ConstraintSet constraints;
  VecX compliance;          // per row: zero, but for those that are set aside, and idle ones
  RedundantRows redundant;  // which those are
  std::vector<int> idle;    // rows of driven axes that nothing holds, rising: all zero, with a compliance of 1, or a rotor's
  bool has_loops = false;   // whether joints close loops, so that some rows may follow from others
  double reach = infinity;  // m, the longest lever from a body to one of its joints, or length of a rod
};

/// What the joints of a linkage last gave: where iterations start, and what joints exert.
struct JointAnswer {
  VecX x;               // the answer of the last solve
  VecX lambda;          // constraint forces of the last dynamic solve, N and N m
  bool known = false;   // whether there was one
  VecX drift_force;     // what the joints gave in the last drift of RATTLE: where the next one starts its search
  double residual = 0;  // relative, of the last dynamic solve that was judged
};

/// In the order of their first bodies; bodies without joints belong to none. Linkages that were there before and have the same
/// joints stay as they are, wherever they come to stand; joints that are now in another one keep what they last gave. Tells where
/// each linkage stood before: -1 where it is new. `switching`: whether axes that drives may hold have rows.
std::vector<int> find_linkages(const Model& model, std::vector<Linkage>& linkages, std::vector<JointAnswer>& answers,
                               bool switching);
/// Whether the rows of driven axes are those that the model's drives ask for.
bool rows_fit(const Model& model, const Linkage& linkage, bool switching);

/// New numbers of bodies and joints, by old ones, -1 for those that are gone; empty where they stay.
void renumber(Linkage& linkage, std::span<const int> body, std::span<const int> joint);

}  // namespace rotule
