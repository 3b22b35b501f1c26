// Sets that are joined: the smallest index is their root, in whatever order they came together.
#include "base/union_find.h"

#include <gtest/gtest.h>

namespace rotule {
namespace {

TEST(UnionFind, RootIsTheSmallestOfItsSet) {
  UnionFind sets(8);
  EXPECT_TRUE(sets.join(7, 5));
  EXPECT_TRUE(sets.join(5, 6));
  EXPECT_TRUE(sets.join(3, 6));
  EXPECT_FALSE(sets.join(7, 3));  // together already
  for (const int i : {3, 5, 6, 7}) EXPECT_EQ(sets.root(i), 3);
  for (const int i : {0, 1, 2, 4}) EXPECT_EQ(sets.root(i), i);
}

TEST(UnionFind, ResetTakesEverythingApart) {
  UnionFind sets(4);
  sets.join(0, 3);
  sets.reset(6);
  EXPECT_EQ(sets.size(), 6u);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(sets.root(i), i);
}

}  // namespace
}  // namespace rotule
