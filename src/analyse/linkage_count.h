#pragma once
// Bodies that joints hold together, and how far they can move.
#include <rotule/results.h>

#include <vector>

#include "model/model.h"

namespace rotule {

struct LinkageCount {
  std::vector<int> joints, bodies;  // bodies and particles that can move, by their place among the model's partners
  int movable = 0, rows = 0, rank = 0;
  [[nodiscard]] int freedom() const { return movable - rank; }
};

std::vector<LinkageCount> count_linkages(const Model& model, const std::vector<Redundancy>& redundant);

}  // namespace rotule
