// The broad phase against all pairs tried one by one.
#include <gtest/gtest.h>
#include <rotule/error.h>

#include <map>
#include <random>
#include <set>

#include "collide/broad/broad_phase.h"
#include "support/allocation_counter.h"

namespace rotule {
namespace {

struct Body {
  Aabb box;
  bool moving;
  CollisionFilter filter;
};

Aabb random_box(std::mt19937& random, double spread) {
  std::uniform_real_distribution<double> at(-spread, spread), size(0.1, 1);
  const Vec3 p(at(random), at(random), at(random));
  return {p, p + Vec3(size(random), size(random), size(random))};
}

TEST(BroadPhase, PairsAreThoseOfBruteForce) {
  std::mt19937 random(1);
  constexpr double fat = 0.1;
  BroadPhase broad(fat);
  std::map<int, Body> bodies;
  std::set<std::pair<int, int>> excluded;
  for (int step = 0; step < 60; ++step) {
    for (int i = 0; i < 20; ++i) {
      const int body = int(random() % 300);
      if (!bodies.contains(body)) {
        Body b{random_box(random, 5), random() % 3 != 0, {1u << random() % 3, random() % 4 ? 7u : 3u}};
        if (random() % 40 == 0) b.box.low.x() = b.box.low.y() = -infinity, b.box.high.x() = b.box.high.y() = infinity;
        broad.add(body, b.box, b.moving, b.filter);
        bodies[body] = b;
      } else if (random() % 8 == 0) {
        broad.remove(body);
        bodies.erase(body);
      } else {
        const Vec3 move = 0.3 * Vec3::Random();
        bodies[body].box.low += move;
        bodies[body].box.high += move;
        broad.move(body, bodies[body].box);
      }
    }
    if (step % 10 == 5) {
      const int a = int(random() % 300), b = int(random() % 300);
      if (a != b) excluded.insert(std::minmax(a, b)), broad.exclude(b, a);
    }
    if (step % 20 == 19 && !excluded.empty()) {
      broad.include(excluded.begin()->first, excluded.begin()->second);
      excluded.erase(excluded.begin());
    }

    std::set<std::pair<int, int>> found;
    std::pair<int, int> last{-1, -1};
    for (const BodyPair& p : broad.update()) {
      ASSERT_LT(p.a, p.b);
      ASSERT_LT(last, std::pair(p.a, p.b)) << "not sorted, or twice";
      last = {p.a, p.b};
      found.insert(last);
    }
    for (const auto& [i, a] : bodies)
      for (const auto& [j, b] : bodies) {
        if (i >= j) continue;
        const bool allowed = (a.moving || b.moving) && a.filter.meets(b.filter) && !excluded.contains({i, j});
        const bool paired = found.contains({i, j});
        // Overlapping boxes must be paired; boxes apart by more than all fat must not.
        if (allowed && a.box.overlaps(b.box)) {
          ASSERT_TRUE(paired) << i << " " << j;
        }
        if (!allowed || !a.box.grown(6 * fat).overlaps(b.box.grown(6 * fat))) {
          ASSERT_FALSE(paired) << i << " " << j;
        }
      }
  }
}

TEST(BroadPhase, OrderOfInsertionDoesNotMatter) {
  std::mt19937 random(2);
  std::vector<Aabb> boxes;
  for (int i = 0; i < 500; ++i) boxes.push_back(random_box(random, 4));
  BroadPhase forwards, backwards;
  for (int i = 0; i < 500; ++i) forwards.add(i, boxes[i], true), backwards.add(499 - i, boxes[499 - i], true);
  const auto a = forwards.update(), b = backwards.update();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(std::pair(a[i].a, a[i].b), std::pair(b[i].a, b[i].b));
}

TEST(BroadPhase, RestCostsNothingAndMotionAllocatesNothingOnceGrown) {
  std::mt19937 random(3);
  BroadPhase broad;
  std::vector<Aabb> boxes;
  for (int i = 0; i < 1000; ++i) {
    boxes.push_back(random_box(random, 6));
    broad.add(i, boxes[i], true);
  }
  broad.update();
  const auto shake = [&](double size) {
    for (int i = 0; i < 1000; ++i) {
      const Vec3 move = size * Vec3::Random();
      broad.move(i, {boxes[i].low + move, boxes[i].high + move});
    }
    return broad.update().size();
  };
  const std::size_t pairs = broad.pairs().size();
  EXPECT_EQ(shake(1e-3), pairs);  // within the fat: the very same pairs
  for (int i = 0; i < 200; ++i) shake(0.3);
  if (!testing::counts_allocations()) GTEST_SKIP() << "a sanitizer owns malloc";
  const std::size_t before = testing::allocations();
  for (int i = 0; i < 5; ++i) shake(0.25);
  EXPECT_LE(testing::allocations() - before, 2u) << "a list may still find a new longest state";
}

TEST(DynamicTree, StaysGoodWhenItIsFedInOrder) {
  // Rows of cubes put in one after the other: the tree of a bad insertion degenerates to a list.
  DynamicTree tree;
  for (int i = 0; i < 4096; ++i) tree.insert({Vec3(i, 0, 0), Vec3(i + 0.5, 1, 1)}, i);
  EXPECT_LT(tree.cost(), 60);
  int visited = 0;
  tree.overlapping({Vec3(100, 0, 0), Vec3(103, 1, 1)}, [&](int) {
    ++visited;
    return true;
  });
  EXPECT_EQ(visited, 4);
}

TEST(BroadPhase, RefusesWhatMakesNoSense) {
  BroadPhase broad;
  broad.add(0, {Vec3::Zero(), Vec3::Ones()}, true);
  EXPECT_THROW(broad.add(0, {Vec3::Zero(), Vec3::Ones()}, true), Error);
  EXPECT_THROW(broad.add(1, {Vec3::Zero(), Vec3::Constant(std::nan(""))}, true), Error);
  EXPECT_THROW(broad.remove(7), Error);
  EXPECT_THROW(broad.move(7, {Vec3::Zero(), Vec3::Ones()}), Error);
}

}  // namespace
}  // namespace rotule
