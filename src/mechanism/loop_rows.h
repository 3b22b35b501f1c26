#pragma once
// Rows that follow from others of the same loop of joints, for mechanisms of many short loops: trusses, lattices, rows of
// parallelograms.
//
// Joints of a tree never depend on each other. So a tree that spans the bodies (breadth first, from the ground) keeps all its
// rows, and of every other joint, which closes one loop with it, those are dropped that follow from the joints of that loop: Gram
// and Schmidt, the tree's joints first, then the rows of the joint itself with pivoting. Each loop is a dense problem of its own,
// so the whole is linear in their number. Dependences that take several loops to show are left to others.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "base/budget.h"
#include "linalg/ordering.h"

namespace rotule {

namespace loops {

/// Longer loops make dense problems that are not small any more.
inline constexpr std::size_t most_bodies_of_a_loop = 12;

/// A tree over bodies and the ground, which is the last node: how each was reached.
struct SpanningTree {
  std::vector<int> parent, edge, depth;
};

inline SpanningTree spread(std::span<const GraphEdge> edges, int nodes) {
  const Graph incident = incident_edges(edges, nodes);
  SpanningTree tree{std::vector<int>(nodes, -1), std::vector<int>(nodes, -1), std::vector<int>(nodes, -1)};
  std::vector<int> queue;
  for (int root = nodes - 1; root >= 0; --root) {
    if (tree.depth[root] >= 0) continue;
    tree.depth[root] = 0;
    queue.assign(1, root);
    for (std::size_t next = 0; next < queue.size(); ++next)
      for (const int e : incident.of(queue[next])) {
        const int here = queue[next], other = edges[e].a == here ? edges[e].b : edges[e].a;
        if (tree.depth[other] >= 0) continue;
        tree.parent[other] = here;
        tree.edge[other] = e;
        tree.depth[other] = tree.depth[here] + 1;
        queue.push_back(other);
      }
  }
  return tree;
}

/// The loop that an edge closes: its edges in the tree, and its bodies. Whether it is a short one.
inline bool find_loop(const SpanningTree& tree, int a, int b, std::vector<int>& edges, std::vector<int>& bodies) {
  edges.clear();
  bodies.clear();
  while (a != b) {
    int& lower = tree.depth[a] >= tree.depth[b] ? a : b;
    edges.push_back(tree.edge[lower]);
    bodies.push_back(lower);
    if (bodies.size() > most_bodies_of_a_loop) return false;
    lower = tree.parent[lower];
  }
  const int ground = static_cast<int>(tree.parent.size()) - 1;
  if (a != ground) bodies.push_back(a);
  return true;
}

/// Rows as vectors over the bodies of one loop, made orthogonal one by one.
class LoopBasis {
 public:
  void begin(std::size_t numbers, std::size_t most_rows) {
    directions_.resize(static_cast<Eigen::Index>(numbers), static_cast<Eigen::Index>(most_rows));
    triangle_.setZero(static_cast<Eigen::Index>(most_rows), static_cast<Eigen::Index>(most_rows));
    rows.clear();
  }
  /// Takes what lies along the directions so far out of a vector; what it was of them.
  void reduce(VecX& v, VecX& shares) const {
    const auto Q = directions_.leftCols(static_cast<Eigen::Index>(rows.size()));
    shares.setZero(Q.cols());
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      const VecX along = Q.transpose() * v;
      v.noalias() -= Q * along;
      shares += along;
    }
  }
  void add(int row, const VecX& left, const VecX& shares) {
    const auto k = static_cast<Eigen::Index>(rows.size());
    triangle_.col(k).head(k) = shares;
    triangle_(k, k) = left.norm();
    directions_.col(k) = left / left.norm();
    rows.push_back(row);
  }
  /// What the rows must carry in place of one with these shares.
  [[nodiscard]] VecX carried(const VecX& shares) const {
    const auto k = static_cast<Eigen::Index>(rows.size());
    VecX out = shares;
    for (Eigen::Index i = k - 1; i >= 0; --i) {
      out[i] /= triangle_(i, i);
      out.head(i) -= out[i] * triangle_.col(i).head(i);
    }
    return out;
  }

  std::vector<int> rows;

 private:
  MatX directions_, triangle_;
};

}  // namespace loops

/// Rows dropped, ascending. Angular parts are divided by `lever`; what is left of a row of length one is dependent where its
/// square is no more than `dependent`. Rows of `aside` (ascending) are as if they were not there. Rows that take part in a
/// dependence are marked in `ambiguous`, which has an entry per row.
inline std::vector<int> rows_that_follow_in_loops(const ConstraintProblem& problem, double lever, double dependent,
                                                  std::span<const int> aside, std::vector<char>& ambiguous) {
  const int ground = problem.bodies();
  std::vector<ConstraintBlock> blocks;
  std::vector<GraphEdge> edges;
  for (const ConstraintBlock& block : problem.blocks) {
    const GraphEdge edge{block.body_a < 0 ? ground : block.body_a, block.body_b < 0 ? ground : block.body_b};
    if (block.more_count > 0 || edge.a == edge.b) continue;
    blocks.push_back(block);
    edges.push_back(edge);
  }
  const loops::SpanningTree tree = loops::spread(edges, ground + 1);

  std::vector<int> dropped, loop_edges, loop_bodies, place(static_cast<std::size_t>(ground) + 1, -1), left;
  loops::LoopBasis basis;
  VecX v, shares;
  // A row of length one over the bodies of the loop; whether it is there at all.
  const auto vector_of = [&](const ConstraintBlock& block, int row) {
    if (std::ranges::binary_search(aside, row)) return false;
    v.setZero(static_cast<Eigen::Index>(6 * loop_bodies.size()));
    const auto put = [&](int body, const JacobianRows& J) {
      if (body < 0) return;
      v.segment<3>(6 * place[body]) = J.row(row).head<3>();
      v.segment<3>(6 * place[body] + 3) = J.row(row).tail<3>() / lever;
    };
    put(block.body_a, problem.J_a);
    put(block.body_b, problem.J_b);
    const double length = v.norm();
    if (!(length > 0)) return false;
    v /= length;
    return true;
  };
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [a, b] = edges[e];
    if (tree.edge[a] == static_cast<int>(e) || tree.edge[b] == static_cast<int>(e)) continue;
    if (!loops::find_loop(tree, a, b, loop_edges, loop_bodies)) continue;
    Budget::listen();
    for (std::size_t k = 0; k < loop_bodies.size(); ++k) place[loop_bodies[k]] = static_cast<int>(k);
    std::size_t rows = static_cast<std::size_t>(blocks[e].rows);
    for (const int t : loop_edges) rows += static_cast<std::size_t>(blocks[t].rows);
    basis.begin(6 * loop_bodies.size(), rows);
    for (const int t : loop_edges)
      for (int row = blocks[t].first_row; row < blocks[t].first_row + blocks[t].rows; ++row) {
        if (!vector_of(blocks[t], row)) continue;
        basis.reduce(v, shares);
        if (v.squaredNorm() > dependent) basis.add(row, v, shares);
      }
    left.clear();
    for (int row = blocks[e].first_row; row < blocks[e].first_row + blocks[e].rows; ++row)
      if (vector_of(blocks[e], row)) left.push_back(row);
    while (!left.empty()) {
      std::size_t best = 0;
      double most = -1;
      for (std::size_t k = 0; k < left.size(); ++k) {
        vector_of(blocks[e], left[k]);
        basis.reduce(v, shares);
        if (v.squaredNorm() > most) {
          most = v.squaredNorm();
          best = k;
        }
      }
      if (!(most > dependent)) break;
      vector_of(blocks[e], left[best]);
      basis.reduce(v, shares);
      basis.add(left[best], v, shares);
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
    }
    for (const int row : left) {
      vector_of(blocks[e], row);
      basis.reduce(v, shares);
      const VecX carried = basis.carried(shares);
      const double largest = std::max(1.0, carried.lpNorm<Eigen::Infinity>());
      ambiguous[row] = 1;
      for (std::size_t k = 0; k < basis.rows.size(); ++k)
        if (std::abs(carried[static_cast<Eigen::Index>(k)]) > 1e-6 * largest) ambiguous[basis.rows[k]] = 1;
      dropped.push_back(row);
    }
  }
  std::ranges::sort(dropped);
  return dropped;
}

}  // namespace rotule
