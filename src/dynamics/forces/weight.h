#pragma once
// Uniform weight: f = m g on every movable body and particle, potential -m g . p.
#include "base/gang.h"
#include "model/model.h"

namespace rotule {

inline void add_weight(const Model& model, VecX& f, Gang* gang = nullptr) {
  share_pieces(gang, model.body_count(), [&](int first, int end) {
    for (int i = first; i < end; ++i)
      if (!model.bodies[i].fixed) f.segment<3>(6 * i) += model.bodies[i].mass * model.gravity;
  });
  const int first = 6 * model.body_count();
  for (int k = 0; k < model.particle_count(); ++k)
    if (model.particles.movable(k)) f.segment<3>(first + 3 * k) += model.particles.mass[k] * model.gravity;
}

inline double weight_potential(const Model& model, const State& state) {
  double potential = 0;
  for (int i = 0; i < model.body_count(); ++i)
    if (!model.bodies[i].fixed) potential -= model.bodies[i].mass * model.gravity.dot(state.p[i]);
  for (int k = 0; k < model.particle_count(); ++k)
    if (model.particles.movable(k)) potential -= model.particles.mass[k] * model.gravity.dot(state.particle_position(k));
  return potential;
}

}  // namespace rotule
