// Orders of elimination and the pattern of the block factor they lead to.
#include "linalg/ordering.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "linalg/block_ldlt.h"

namespace rotule {
namespace {

/// Joints are adjacent where they share a body; both directions.
Graph shared_bodies(const std::vector<GraphEdge>& edges) {
  Graph graph;
  graph.start = {0};
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::set<int> near;
    for (std::size_t j = 0; j < edges.size(); ++j)
      for (const int body : {edges[i].a, edges[i].b})
        if (i != j && body >= 0 && (edges[j].a == body || edges[j].b == body)) near.insert(static_cast<int>(j));
    graph.neighbours.insert(graph.neighbours.end(), near.begin(), near.end());
    graph.start.push_back(static_cast<int>(graph.neighbours.size()));
  }
  return graph;
}

/// Blocks of L that A does not have.
std::size_t fill(const std::vector<GraphEdge>& edges, const std::vector<int>& order) {
  const Graph graph = shared_bodies(edges);
  std::vector<BlockLdlt::Node> nodes;
  for (int i = 0; i < static_cast<int>(edges.size()); ++i) nodes.push_back({.first_row = 3 * i, .size = 3});
  BlockLdlt factor;
  factor.analyse(nodes, graph, order);
  return factor.off_diagonal_blocks() - graph.neighbours.size() / 2;
}

std::vector<GraphEdge> random_tree(unsigned seed, int bodies, bool grounded) {
  std::mt19937 random(seed);
  std::vector<GraphEdge> edges;
  if (grounded) edges.push_back({-1, static_cast<int>(random() % static_cast<unsigned>(bodies))});
  for (int i = 1; i < bodies; ++i) edges.push_back({static_cast<int>(random() % static_cast<unsigned>(i)), i});
  std::shuffle(edges.begin(), edges.end(), random);
  return edges;
}

bool is_permutation_of_all(std::vector<int> order, std::size_t n) {
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i)
    if (order[i] != static_cast<int>(i)) return false;
  return order.size() == n;
}

TEST(Ordering, LeavesFirstMakesNoFillOnTrees) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto edges = random_tree(seed, 60, seed % 2 == 0);
    std::vector<int> order;
    ASSERT_TRUE(leaves_first(edges, 60, order));
    EXPECT_TRUE(is_permutation_of_all(order, edges.size()));
    EXPECT_EQ(fill(edges, order), 0u) << seed;
  }
}

TEST(Ordering, SeveralJointsToTheGroundMakeNoLoopAndNoFill) {
  auto edges = random_tree(3, 30, true);
  for (const int body : {2, 7, 7, 19}) edges.push_back({body, -1});
  std::vector<int> order;
  ASSERT_TRUE(leaves_first(edges, 30, order));
  EXPECT_TRUE(is_permutation_of_all(order, edges.size()));
  EXPECT_EQ(fill(edges, order), 0u);
}

TEST(Ordering, AChainIsEatenFromBothEnds) {
  std::vector<GraphEdge> chain;
  for (int i = 0; i < 6; ++i) chain.push_back({i, i + 1});
  std::vector<int> order;
  ASSERT_TRUE(leaves_first(chain, 7, order));
  for (int k = 0; k < 3; ++k) {
    const std::set<int> pair = {order[2 * k], order[2 * k + 1]};
    EXPECT_EQ(pair, (std::set<int>{k, 5 - k}));
  }
}

TEST(Ordering, LoopsAreFound) {
  std::vector<int> order;
  EXPECT_FALSE(leaves_first(std::vector<GraphEdge>{{0, 1}, {1, 2}, {2, 0}}, 3, order));
  EXPECT_FALSE(leaves_first(std::vector<GraphEdge>{{0, 1}, {1, 0}}, 2, order));
}

TEST(Ordering, ARingCostsOneBlockPerJoint) {
  // A ring of n joints: eliminating a vertex of a cycle joins its neighbours, so n - 3 new edges whatever the order.
  std::vector<GraphEdge> ring;
  for (int i = 0; i < 40; ++i) ring.push_back({i, (i + 1) % 40});
  std::vector<int> order;
  minimum_degree(shared_bodies(ring), order);
  EXPECT_TRUE(is_permutation_of_all(order, ring.size()));
  EXPECT_EQ(fill(ring, order), 37u);
}

TEST(Ordering, VerticesThatTouchNothingAreOrderedToo) {
  for (const int count : {0, 1, 5}) {
    Graph graph;
    graph.start.assign(static_cast<std::size_t>(count) + 1, 0);
    std::vector<int> order;
    minimum_degree(graph, order);
    EXPECT_TRUE(is_permutation_of_all(order, static_cast<std::size_t>(count)));
  }
}

TEST(Ordering, ABadOrderCostsFill) {
  // The middle of a chain first: its two neighbours, far apart in A, become adjacent.
  const std::vector<GraphEdge> chain = {{0, 1}, {1, 2}, {2, 3}};
  EXPECT_EQ(fill(chain, {1, 0, 2}), 1u);
}

}  // namespace
}  // namespace rotule
