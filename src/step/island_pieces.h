#pragma once
// Islands, one by one, on all threads.
#include <span>

#include "base/parallel.h"
#include "base/shared_work.h"
#include "mechanism/island.h"

namespace rotule {

/// Of a step's time and work: what is not closed afterwards adds up from step to step.
inline constexpr double share_of_impulses = 0.7;

/// Calls act(number) for each. Of `share` of the step's work, as much as is left of it, each gets a part by its size.
template <class Do>
void for_each_piece(std::span<const Island> islands, int threads, double share, const Do& act) {
  SharedWork& work = *SharedWork::current();
  constexpr double least = 20;  // a few bodies may need many rounds
  const auto size = [](const Island& island) {
    return least + static_cast<double>(island.bodies.size() + island.contacts.size());
  };
  double all = 0;
  for (const Island& island : islands) all += size(island);
  const double left = work.left(share);
  parallel_for(static_cast<int>(islands.size()), threads, [&](int i) {
    const WorkPiece piece(work, left * size(islands[static_cast<std::size_t>(i)]) / all);
    act(i);
  });
}

}  // namespace rotule
