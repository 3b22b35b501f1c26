#pragma once
// Which bodies hang together in this very step: linkages that contacts tie to each other, and bodies that they tie to nothing
// else.
#include "base/union_find.h"
#include "mechanism/island.h"

namespace rotule {

/// What the search works in, and its result: the places of partners in their islands.
struct IslandSearch {
  std::vector<int> local_of;
  std::vector<int> island_of;
  UnionFind tied;
};

/// In order of the first body; keeps the memory of `out`, whose first so many islands are those of now. Bodies that nothing
/// touches belong to none.
int split_into_islands(const Model& model, const IslandParts& parts, std::vector<Island>& out, IslandSearch& search);

}  // namespace rotule
