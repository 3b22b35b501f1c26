// What was found out about a problem may be used again for one of the same structure, and for no other.
#include "problem/structure.h"

#include <gtest/gtest.h>

namespace rotule {
namespace {

ConstraintProblem one_contact(int bodies, int a) {
  ConstraintProblem problem;
  problem.resize(bodies, 3);
  problem.blocks = {{0, 3, a, -1, 0}};
  return problem;
}

TEST(Structure, IsThatOfTheSameBlocksOverAsManyBodies) {
  Structure known;
  known.keep(one_contact(2, 0));
  EXPECT_TRUE(known.matches(one_contact(2, 0)));
  EXPECT_FALSE(known.matches(one_contact(2, 1)));
  // Bodies that no block has need room all the same: solvers go over all of them.
  EXPECT_FALSE(known.matches(one_contact(3, 0)));
  EXPECT_FALSE(known.matches(one_contact(1, 0)));
}

}  // namespace
}  // namespace rotule
