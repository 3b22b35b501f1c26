#include "linalg/ordering.h"

#include <rotule/error.h>
#include <suitesparse/amd.h>

#include <algorithm>

namespace rotule {

Graph incident_edges(std::span<const GraphEdge> edges, int bodies) {
  Graph graph;
  graph.start.assign(bodies + 1, 0);
  for (const GraphEdge& e : edges)
    for (const int body : {e.a, e.b})
      if (body >= 0) ++graph.start[body + 1];
  for (int body = 0; body < bodies; ++body) graph.start[body + 1] += graph.start[body];
  graph.neighbours.resize(graph.start[bodies]);
  std::vector<int> next(graph.start.begin(), graph.start.end() - 1);
  for (int i = 0; i < static_cast<int>(edges.size()); ++i)
    for (const int body : {edges[i].a, edges[i].b})
      if (body >= 0) graph.neighbours[next[body]++] = i;
  return graph;
}

bool leaves_first(std::span<const GraphEdge> edges, int bodies, std::vector<int>& order) {
  const Graph joints = incident_edges(edges, bodies);
  const auto grounded = [&](int e) { return edges[e].a < 0 || edges[e].b < 0; };

  // Roots: first the bodies that hang from the immovable partner, then any body of what is left.
  std::vector<int> roots;
  for (const GraphEdge& e : edges)
    if (e.a < 0 || e.b < 0) roots.push_back(std::max(e.a, e.b));
  for (int body = 0; body < bodies; ++body) roots.push_back(body);

  struct Visit {
    int body, through, next;  // through: the edge it was reached by
  };
  std::vector<Visit> stack;
  std::vector<char> seen(bodies, 0);
  order.clear();
  order.reserve(edges.size());
  for (const int root : roots) {
    if (seen[root]) continue;
    const auto root_joints = joints.of(root);
    const auto ground = std::find_if(root_joints.begin(), root_joints.end(), grounded);
    seen[root] = 1;
    stack.push_back({root, ground == root_joints.end() ? -1 : *ground, 0});
    while (!stack.empty()) {
      Visit& top = stack.back();
      const auto around = joints.of(top.body);
      if (top.next == static_cast<int>(around.size())) {
        if (top.through >= 0) order.push_back(top.through);
        stack.pop_back();
        continue;
      }
      const int e = around[top.next++];
      if (e == top.through) continue;
      if (grounded(e)) {
        order.push_back(e);
        continue;
      }
      const int child = edges[e].a == top.body ? edges[e].b : edges[e].a;
      if (seen[child]) return false;
      seen[child] = 1;
      stack.push_back({child, e, 0});
    }
  }
  return true;
}

void minimum_degree(const Graph& adjacency, std::vector<int>& order) {
  order.resize(adjacency.size());
  if (order.empty()) return;
  double control[AMD_CONTROL], info[AMD_INFO];
  amd_defaults(control);
  const int status =
      amd_order(adjacency.size(), adjacency.start.data(), adjacency.neighbours.data(), order.data(), control, info);
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) throw Error("minimum degree order", "not enough memory");
}

}  // namespace rotule
