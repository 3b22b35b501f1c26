// The walk over the laws of rows: every row once, in order, under the law that binds it.
#include "problem/laws.h"

#include <gtest/gtest.h>

#include <string>

namespace rotule {
namespace {

/// A joint of two rows; a contact with a sliding cone, a row of its own and a rolling disk; a contact with a box.
ConstraintProblem three_blocks() {
  ConstraintProblem p;
  p.blocks = {{.first_row = 0, .rows = 2}, {.first_row = 2, .rows = 6}, {.first_row = 8, .rows = 3}};
  p.friction = {{.first_row = 3, .count = 2, .normal_row = 2},
                {.first_row = 6, .count = 2, .normal_row = 2},
                {.first_row = 9, .count = 2, .normal_row = 8, .cone = false}};
  return p;
}

TEST(Laws, NormalsAreRowsOfTheirOwn) {
  const ConstraintProblem p = three_blocks();
  std::string seen;
  walk_laws(
      p.friction, 0, 11, [&](int row) { seen += std::to_string(row) + " "; },
      [&](const FrictionRows& f) { seen += "(" + std::to_string(f.first_row) + ") "; });
  EXPECT_EQ(seen, "0 1 2 (3) 5 (6) 8 (9) ");
}

TEST(Laws, SlidingConesTakeTheirNormal) {
  const ConstraintProblem p = three_blocks();
  std::string seen;
  walk_laws(
      p.friction, 0, 11, [&](int row) { seen += std::to_string(row) + " "; },
      [&](const FrictionRows& f) { seen += "(" + std::to_string(f.first_row) + ") "; },
      [&](const FrictionRows& f) { seen += "<" + std::to_string(f.normal_row) + "> "; });
  EXPECT_EQ(seen, "0 1 <2> 5 (6) 8 (9) ");
}

TEST(Laws, CursorGivesEachBlockItsGroups) {
  const ConstraintProblem p = three_blocks();
  FrictionCursor friction(p);
  EXPECT_EQ(friction.next(p.blocks[0]).size(), 0u);
  EXPECT_EQ(friction.next(p.blocks[1]).size(), 2u);
  const auto last = friction.next(p.blocks[2]);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].first_row, 9);
}

}  // namespace
}  // namespace rotule
