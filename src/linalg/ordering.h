#pragma once
// Orders of elimination for A = J M^-1 J^T, whose nodes are joints and whose edges are bodies shared by two joints.
//
// On a forest (bodies as vertices, joints as edges) eliminating leaves first makes no fill: all joints of a body are mutually
// adjacent in A, and a leaf's joint is adjacent to the joints of one body only. With loops, approximate minimum degree:
// Amestoy, Davis, Duff, "Algorithm 837: AMD", ACM TOMS 30 (2004).
#include <span>
#include <vector>

namespace rotule {

/// A joint as an edge between two bodies; -1 is the immovable partner, which is no vertex: it closes no loop in A.
struct GraphEdge {
  int a = -1;
  int b = -1;
};

/// Adjacency by compressed lists: the neighbours of vertex v are `neighbours[start[v]] .. neighbours[start[v + 1] - 1]`.
struct Graph {
  std::vector<int> start;
  std::vector<int> neighbours;
  [[nodiscard]] int size() const { return static_cast<int>(start.size()) - 1; }
  [[nodiscard]] std::span<const int> of(int v) const {
    return {neighbours.data() + start[v], static_cast<std::size_t>(start[v + 1] - start[v])};
  }
};

/// For every body the indices of the edges that touch it, ascending.
Graph incident_edges(std::span<const GraphEdge> edges, int bodies);

/// Writes the edges level by level, those farthest from the centre of their tree first, and returns true; returns false where the
/// edges make a loop (a pair of bodies joined twice is one). Neighbours in this order lie on different branches and do not wait
/// for each other's results, which a processor can use: a chain is eaten from both ends at once.
bool leaves_first(std::span<const GraphEdge> edges, int bodies, std::vector<int>& order);

/// Approximate minimum degree of a symmetric adjacency (both directions listed, no vertex its own neighbour).
void minimum_degree(const Graph& adjacency, std::vector<int>& order);

}  // namespace rotule
