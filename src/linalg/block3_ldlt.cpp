#include "linalg/block3_ldlt.h"

#include <algorithm>

namespace rotule {

void Block3Ldlt::factor(const Block3Matrix& A) {
  if (blocks_.empty()) {
    Graph graph;
    graph.start.push_back(0);
    std::vector<BlockLdlt::Node> nodes;
    for (int i = 0; i < A.rows(); ++i) {
      for (const int j : A.columns(i))
        if (j != i) graph.neighbours.push_back(j);
      graph.start.push_back(static_cast<int>(graph.neighbours.size()));
      nodes.push_back({3 * i, 3, false});
    }
    std::vector<int> order;
    minimum_degree(graph, order);
    ldlt_.analyse(nodes, graph, order);
    for (int i = 0; i < A.rows(); ++i) {
      std::int64_t n = A.first(i);
      for (const int j : A.columns(i)) {
        if (ldlt_.position(i) >= ldlt_.position(j)) blocks_.push_back({n, i == j ? ldlt_.offset(i) : ldlt_.offset(i, j)});
        ++n;
      }
    }
  }
  std::vector<double>& values = ldlt_.values();
  std::fill(values.begin(), values.end(), 0.0);
  for (const auto& [block, offset] : blocks_) std::copy_n(A.block(block), 9, values.begin() + offset);
  ignored_rows_.clear();
  ldlt_.factor(1e-14, ignored_rows_);
}

}  // namespace rotule
