#pragma once
// Frames made by hand: what a test does not say of bodies and joints is zero.
#include "record/quantity_list.h"
#include "record/trajectory.h"

namespace rotule::testing {

inline void fill_with_zeros(TrajectoryFrame& frame, std::size_t bodies, std::size_t joints) {
  for (const Quantity& quantity : quantities) {
    if (!is_recorded(quantity) || (quantity.per != Per::body && quantity.per != Per::joint)) continue;
    std::vector<double>& values = frame.values[index_of(quantity)];
    values.resize(static_cast<std::size_t>(quantity.components) * (quantity.per == Per::body ? bodies : joints));
  }
}

}  // namespace rotule::testing
