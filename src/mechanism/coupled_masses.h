#pragma once
// Which bodies of a problem share a mass, because fluid couples them.
#include <algorithm>

#include "dynamics/kinematics.h"
#include "problem/split_mass.h"

namespace rotule {

/// Groups of the model whose bodies are among `bodies` (rising, by their numbers), all of them or none.
inline void take_groups(const Model& model, const Kinematics& kinematics, std::span<const int> bodies, SplitMass& split) {
  split.forget_matrix();
  std::size_t count = 0;
  for (std::size_t g = 0; g < model.added_mass.groups.size(); ++g) {
    const std::vector<int>& members = model.added_mass.groups[g];
    if (!std::ranges::binary_search(bodies, members.front())) continue;
    if (count == split.groups.size()) split.groups.emplace_back();
    SplitMass::Group& group = split.groups[count++];
    group.source = static_cast<int>(g);
    std::vector<int> places;
    for (const int body : members) places.push_back(static_cast<int>(std::ranges::lower_bound(bodies, body) - bodies.begin()));
    if (places != group.places) split.forget_blocks();
    group.places = std::move(places);
    group.inverse = kinematics.groups[g].inverse;
  }
  if (count != split.groups.size()) split.forget_blocks();
  split.groups.resize(count);
}

}  // namespace rotule
