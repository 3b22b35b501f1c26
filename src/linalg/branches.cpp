#include "linalg/branches.h"

#include <algorithm>
#include <queue>
#include <utility>

namespace rotule {

namespace {

constexpr int tasks_per_thread = 4;    // so that who is done can take from who was held up
constexpr double largest_share = 0.8;  // of the time that one thread takes: what does not come below it is left as it is

}  // namespace

Branches find_branches(std::span<const int> parent, std::span<const double> cost, int threads) {
  const int n = static_cast<int>(parent.size());
  std::vector<double> below(cost.begin(), cost.end());  // of whole subtrees
  std::vector<int> first_child(n, -1), sibling(n, -1);
  double total = 0;
  for (int p = 0; p < n; ++p) {
    total += cost[p];
    if (parent[p] < 0) continue;
    below[parent[p]] += below[p];
    sibling[p] = first_child[parent[p]];
    first_child[parent[p]] = p;
  }

  // Cuts the largest subtree again and again, up to `most` times; tells after how many the whole would be done soonest.
  using Heap = std::priority_queue<std::pair<double, int>>;
  const auto cut = [&](int most, Heap& roots, double& soonest) {
    for (int p = 0; p < n; ++p)
      if (parent[p] < 0) roots.emplace(below[p], p);
    double trunk = 0;
    int best = 0;
    soonest = total;
    for (int cuts = 0; !roots.empty(); ++cuts) {
      const double time = trunk + std::max(roots.top().first, (total - trunk) / threads);
      if (time < soonest) {
        soonest = time;
        best = cuts;
      }
      if (cuts == most || trunk > soonest) break;
      const int root = roots.top().second;
      roots.pop();
      trunk += cost[root];
      for (int c = first_child[root]; c >= 0; c = sibling[c]) roots.emplace(below[c], c);
    }
    return best;
  };
  Branches out;
  out.task.assign(n, -1);
  double soonest = 0;
  Heap all, chosen;
  const int cuts = cut(n, all, soonest);
  out.time = total;
  if (soonest > largest_share * total) return out;
  out.time = soonest;
  cut(cuts, chosen, soonest);

  // The largest first, each to the thread, and there to the task, that has least to do.
  out.tasks = tasks_per_thread * threads;
  std::vector<double> of_task(out.tasks, 0.0), of_thread(threads, 0.0);
  for (; !chosen.empty(); chosen.pop()) {
    const auto [size, root] = chosen.top();
    const auto thread = std::min_element(of_thread.begin(), of_thread.end()) - of_thread.begin();
    const auto first = of_task.begin() + tasks_per_thread * thread;
    const auto task = std::min_element(first, first + tasks_per_thread);
    of_thread[thread] += size;
    *task += size;
    out.task[root] = static_cast<int>(task - of_task.begin());
  }
  // What stands below a root goes with it: parents come later. Above them nobody has a task.
  for (int p = n - 1; p >= 0; --p)
    if (parent[p] >= 0 && out.task[parent[p]] >= 0) out.task[p] = out.task[parent[p]];
  return out;
}

int middle_of(std::span<const int> parent, std::span<const double> cost) {
  const int n = static_cast<int>(parent.size());
  std::vector<double> below(cost.begin(), cost.end());
  double total = 0;
  for (int p = 0; p < n; ++p) {
    total += cost[p];
    if (parent[p] >= 0) below[parent[p]] += below[p];
  }
  // The first, from the leaves on, that has more than half of all below it and in itself: at most one child has as much.
  for (int p = 0; p < n; ++p)
    if (below[p] > 0.5 * total) return p;
  return n - 1;
}

}  // namespace rotule
