#pragma once
// Branches of an elimination tree: disjoint subtrees, which know nothing of each other and so can be eliminated at the same time;
// the trunk, all that stands above them, waits for them (A12). Subtrees are cut smaller, the largest first, as long as what is
// then left to the trunk costs less than what the threads gain: for a chain that is eaten from both ends, two halves.
#include <span>
#include <vector>

namespace rotule {

struct Branches {
  std::vector<int> task;  // per column: who eliminates it; -1 for the trunk
  int tasks = 0;          // several per thread, one thread's after the other's; 0 where branches would gain next to nothing
  double time = 0;        // that all of it takes, in the unit of cost
};

/// `parent` is the column's parent in the tree, which comes later, or -1; `cost` in any unit.
Branches find_branches(std::span<const int> parent, std::span<const double> cost, int threads);

/// The column in the middle of the tree: what stands below any of its children is no more than half of all, and neither is what
/// stands above it and beside. -1 where there are no columns.
int middle_of(std::span<const int> parent, std::span<const double> cost);

}  // namespace rotule
