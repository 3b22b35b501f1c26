#pragma once
// Uniform weight: f = m g on every movable body, potential -m g . p.
#include "model/model.h"

namespace rotule {

inline void add_weight(const Model& model, VecX& f) {
  for (int i = 0; i < model.body_count(); ++i)
    if (!model.bodies[i].fixed) f.segment<3>(6 * i) += model.bodies[i].mass * model.gravity;
}

inline double weight_potential(const Model& model, const State& state) {
  double potential = 0;
  for (int i = 0; i < model.body_count(); ++i)
    if (!model.bodies[i].fixed) potential -= model.bodies[i].mass * model.gravity.dot(state.p[i]);
  return potential;
}

}  // namespace rotule
