// One elimination over several threads: the same factor, the same rows set aside and the same answer as one thread gives, down to
// the last bit, whatever the tree looks like.
#include "linalg/branches.h"

#include <gtest/gtest.h>
#include <rotule/types.h>

#include <numeric>
#include <random>

#include "linalg/block_ldlt.h"

namespace rotule {
namespace {

struct System {
  std::vector<BlockLdlt::Node> nodes;
  Graph adjacency;
  std::vector<int> order;
  std::vector<std::pair<int, int>> edges;
  int rows = 0;
};

/// Nodes of 1 to 6 rows (or all of `size`) along a random tree of so many children, and some edges across.
System random_system(int count, int children, int across, int size, unsigned seed) {
  std::mt19937 random(seed);
  System out;
  for (int i = 0; i < count; ++i) {
    const int own = size > 0 ? size : 1 + static_cast<int>(random() % 6);
    out.nodes.push_back({.first_row = out.rows, .size = own});
    out.rows += own;
    if (i > 0) out.edges.emplace_back(std::max(0, i - 1 - static_cast<int>(random() % children)) / children, i);
  }
  for (int k = 0; k < across; ++k) {
    const int a = static_cast<int>(random() % count), b = std::min(count - 1, a + 1 + static_cast<int>(random() % 5));
    if (a != b) out.edges.emplace_back(a, b);
  }
  std::ranges::sort(out.edges);
  out.edges.erase(std::unique(out.edges.begin(), out.edges.end()), out.edges.end());
  std::erase_if(out.edges, [](const auto& e) { return e.first == e.second; });
  std::vector<std::vector<int>> near(count);
  for (const auto& [a, b] : out.edges) {
    near[a].push_back(b);
    near[b].push_back(a);
  }
  out.adjacency.start.assign(1, 0);
  for (const std::vector<int>& list : near) {
    out.adjacency.neighbours.insert(out.adjacency.neighbours.end(), list.begin(), list.end());
    out.adjacency.start.push_back(static_cast<int>(out.adjacency.neighbours.size()));
  }
  minimum_degree(out.adjacency, out.order);
  return out;
}

struct Answer {
  std::vector<double> x;
  std::vector<std::int32_t> redundant;
  BlockLdlt::Outcome outcome;
  int parts = 0;
};

/// Definite, but for the rows of some nodes, which are zero.
Answer answer_of(const System& system, int threads, Gang* gang) {
  BlockLdlt factor;
  factor.analyse(system.nodes, system.adjacency, system.order, threads);
  std::mt19937 random(11);
  const auto draw = [&] { return static_cast<double>(random() % 2001) / 1000 - 1; };
  std::vector<double>& values = factor.values();
  for (std::size_t n = 0; n < system.nodes.size(); ++n) {
    const int s = system.nodes[n].size;
    double* const D = values.data() + factor.offset(static_cast<int>(n));
    for (int i = 0; i < s; ++i)
      for (int j = 0; j <= i; ++j) D[i * s + j] = i == j ? 60 + draw() : draw();
  }
  for (const auto& [a, b] : system.edges) {
    const bool a_later = factor.position(a) > factor.position(b);
    const int later = a_later ? a : b, earlier = a_later ? b : a;
    double* const block = values.data() + factor.offset(later, earlier);
    for (int k = 0; k < system.nodes[later].size * system.nodes[earlier].size; ++k) block[k] = 0;
    for (int i = 0; i < system.nodes[a].size; ++i)
      for (int j = 0; j < system.nodes[b].size; ++j)
        block[a_later ? i * system.nodes[b].size + j : j * system.nodes[a].size + i] = draw();
  }
  for (const int lost : {3, 40, 41}) {
    const int s = system.nodes[lost].size;
    double* const D = values.data() + factor.offset(lost);
    for (int k = 0; k < s * s; ++k) D[k] = 0;
    for (const int other : system.adjacency.of(lost)) {
      const bool later = factor.position(other) > factor.position(lost);
      double* const block = values.data() + (later ? factor.offset(other, lost) : factor.offset(lost, other));
      for (int k = 0; k < s * system.nodes[other].size; ++k) block[k] = 0;
    }
  }
  Answer out;
  out.outcome = factor.factor(1e-12, out.redundant, gang);
  std::ranges::sort(out.redundant);
  for (int r = 0; r < system.rows; ++r) out.x.push_back(std::sin(r));
  factor.solve(out.x.data(), gang);
  out.parts = factor.parts();
  return out;
}

TEST(Branches, GiveTheBitsOfOneThread) {
  int shared = 0;
  for (const int size : {0, 3, 5, 6})
    for (const int children : {1, 2, 3, 7})
      for (const int across : {0, 100, 600}) {
        const System system = random_system(1500, children, across, size, static_cast<unsigned>(100 * children + across + size));
        const Answer alone = answer_of(system, 1, nullptr);
        EXPECT_EQ(alone.parts, 1);
        EXPECT_GT(alone.redundant.size(), 2u);
        for (const int threads : {2, 3, 8}) {
          Gang gang(threads);
          const Gang::Shift on(gang);
          for (Gang* helpers : {&gang, static_cast<Gang*>(nullptr)}) {
            const Answer together = answer_of(system, threads, helpers);
            shared += together.parts > 1;
            EXPECT_EQ(together.x, alone.x) << size << ' ' << children << ' ' << across << ' ' << threads;
            EXPECT_EQ(together.redundant, alone.redundant);
            EXPECT_EQ(together.outcome.redundant, alone.outcome.redundant);
            EXPECT_EQ(together.outcome.smallest_ratio, alone.outcome.smallest_ratio);
          }
        }
      }
  EXPECT_GT(shared, 100);  // of 288: most trees have branches
}

/// The middle of a line is half way; of two lines that meet in a third, where they meet.
TEST(Branches, AreLookedForFromTheMiddle) {
  std::vector<int> parent(101);
  std::iota(parent.begin(), parent.end(), 1);
  parent.back() = -1;
  const std::vector<double> cost(101, 1.0);
  EXPECT_EQ(middle_of(parent, cost), 50);
  parent[39] = 80;  // 0 ... 39 and 40 ... 79 end in 80 ... 100
  EXPECT_EQ(middle_of(parent, cost), 80);
}

/// A line that is eaten from one end has no branches; turned to its middle it has two, for any number of threads.
TEST(Branches, OfALineEatenFromOneEndAreItsHalves) {
  System system = random_system(1500, 1, 0, 6, 1);
  const Answer by_degree = answer_of(system, 1, nullptr);
  std::iota(system.order.begin(), system.order.end(), 0);
  const Answer alone = answer_of(system, 1, nullptr);
  for (const int threads : {2, 4}) {
    Gang gang(threads);
    const Gang::Shift on(gang);
    const Answer together = answer_of(system, threads, &gang);
    EXPECT_GT(together.parts, 1);
    EXPECT_EQ(together.x, alone.x);
    EXPECT_EQ(together.redundant, alone.redundant);
  }
  ASSERT_EQ(alone.redundant, by_degree.redundant);
  for (std::size_t r = 0; r < alone.x.size(); ++r) ASSERT_NEAR(alone.x[r], by_degree.x[r], 1e-13) << r;
}

TEST(Branches, AreDisjointSubtreesThatShareTheWork) {
  std::mt19937 random(5);
  for (int turn = 0; turn < 50; ++turn) {
    const int n = 50 + static_cast<int>(random() % 500), threads = 2 + static_cast<int>(random() % 4);
    std::vector<int> parent(n, -1);
    std::vector<double> cost(n);
    for (int p = 0; p < n; ++p) {
      cost[p] = 1 + static_cast<double>(random() % 20);
      if (p < n - 1) parent[p] = std::min(n - 1, p + 1 + static_cast<int>(random() % (turn % 2 ? 3 : n)));
    }
    const Branches found = find_branches(parent, cost, threads);
    std::vector<double> of_task(static_cast<std::size_t>(found.tasks), 0.0);
    double trunk = 0;
    for (int p = 0; p < n; ++p) {
      if (found.task[p] < 0) {
        trunk += cost[p];
        EXPECT_TRUE(parent[p] < 0 || found.task[parent[p]] == -1);  // nobody above the trunk
        continue;
      }
      of_task[static_cast<std::size_t>(found.task[p])] += cost[p];
      const int above = parent[p] < 0 ? -1 : found.task[parent[p]];
      EXPECT_TRUE(above < 0 || above == found.task[p]);
    }
    const double total = std::accumulate(cost.begin(), cost.end(), 0.0);
    EXPECT_TRUE(found.tasks == 0 || trunk < 0.8 * total);
  }
  // A chain that is eaten from both ends has two halves; a path has none.
  std::vector<int> both(101, -1), path(100, -1);
  for (int p = 0; p < 100; ++p) both[p] = std::min(100, p + 2);
  for (int p = 0; p < 99; ++p) path[p] = p + 1;
  const Branches halves = find_branches(both, std::vector<double>(101, 1.0), 2);
  EXPECT_EQ(std::ranges::count(halves.task, -1), 1);
  EXPECT_NE(halves.task[0], halves.task[1]);
  EXPECT_EQ(find_branches(path, std::vector<double>(100, 1.0), 2).tasks, 0);
}

}  // namespace
}  // namespace rotule
