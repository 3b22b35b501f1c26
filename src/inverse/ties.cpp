#include "inverse/ties.h"

#include <algorithm>

namespace rotule {

std::vector<Placement> order_of_ties(const Model& model) {
  if (std::none_of(model.joints.begin(), model.joints.end(), one_sided)) return placement_order(model);
  Model ties = model;
  ties.joints.clear();
  std::vector<int> number;
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    if (one_sided(model.joints[j])) continue;
    ties.joints.push_back(model.joints[j]);
    number.push_back(j);
  }
  std::vector<Placement> order = placement_order(ties);
  for (Placement& step : order) step.joint = number[step.joint];
  return order;
}

}  // namespace rotule
