#pragma once
// What gases add to the matrix M - a D - b K of particles, as parts of rank one (dynamics/forces/gas.h).
#include "dynamics/forces/gas.h"
#include "linalg/rank_one.h"

namespace rotule {

/// `place(particle)`: its row among `rows` triples, or -1 where it does not move.
template <class Place>
void gas_ranks(const Model& model, const State& s, double b, Eigen::Index rows, const Place& place, std::vector<RankOne>& out) {
  out.clear();
  if (model.forces.gases.empty()) return;
  std::vector<GasGradient> gases;
  gas_gradients(model, s, gases);
  for (const GasGradient& gas : gases) {
    RankOne& part = out.emplace_back();
    part.scale = b * gas.stiffness;
    part.vector.setZero(3 * rows);
    for (int k = 0; k < s.particles(); ++k)
      if (const Eigen::Index n = place(k); n >= 0) part.vector.segment<3>(3 * n) = gas.gradient.segment<3>(3 * k);
  }
}

}  // namespace rotule
