#include "linalg/ordering.h"

#include <rotule/error.h>
#include <suitesparse/amd.h>

#include <algorithm>
#include <numeric>

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
  const auto other_end = [&](int e, int body) { return edges[e].a == body ? edges[e].b : edges[e].a; };

  struct Visit {
    int body, through, from;  // from: index of the visit it was reached from
  };
  std::vector<Visit> visits;
  std::vector<int> seen(bodies, 0);
  // Breadth first from a body, leaving `stamp` on what is reached; the last visit is the farthest. False on a loop.
  const auto spread = [&](int root, int stamp, std::vector<int>* edge_order) {
    visits.assign(1, {root, -1, -1});
    seen[root] = stamp;
    for (std::size_t next = 0; next < visits.size(); ++next) {
      const auto [body, through, from] = visits[next];
      for (const int e : joints.of(body)) {
        if (e == through) continue;
        if (edge_order) edge_order->push_back(e);
        const int child = other_end(e, body);
        if (child < 0) continue;
        if (seen[child] == stamp) return false;
        seen[child] = stamp;
        visits.push_back({child, e, static_cast<int>(next)});
      }
    }
    return true;
  };

  order.clear();
  order.reserve(edges.size());
  for (int e = 0; e < static_cast<int>(edges.size()); ++e)
    if (edges[e].a < 0 && edges[e].b < 0) order.push_back(e);
  for (int body = 0; body < bodies; ++body) {
    if (seen[body]) continue;
    // The centre: half way along a longest path, from the body farthest from any to the one farthest from that.
    if (!spread(body, 1, nullptr)) return false;
    spread(visits.back().body, 2, nullptr);
    int length = 0;
    for (int v = static_cast<int>(visits.size()) - 1; visits[v].from >= 0; v = visits[v].from) ++length;
    int centre = static_cast<int>(visits.size()) - 1;
    for (int k = 0; k < length / 2; ++k) centre = visits[centre].from;
    spread(visits[centre].body, 3, &order);
  }
  std::reverse(order.begin(), order.end());
  return true;
}

void minimum_degree(const Graph& adjacency, std::vector<int>& order) {
  order.resize(adjacency.size());
  if (adjacency.neighbours.empty()) {  // nothing touches: any order will do, and AMD wants a list
    std::iota(order.begin(), order.end(), 0);
    return;
  }
  double control[AMD_CONTROL], info[AMD_INFO];
  amd_defaults(control);
  const int status =
      amd_order(adjacency.size(), adjacency.start.data(), adjacency.neighbours.data(), order.data(), control, info);
  if (status != AMD_OK && status != AMD_OK_BUT_JUMBLED) throw Error("minimum degree order", "not enough memory");
}

}  // namespace rotule
