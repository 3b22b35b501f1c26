#pragma once
// All forces of a model together, beside weight and the gyroscopic torque: their sum, their potential energy, their derivatives.
#include "dynamics/forces/drag.h"
#include "dynamics/forces/gravitation.h"
#include "dynamics/forces/pair_forces.h"
#include "dynamics/forces/springs.h"

namespace rotule {

struct ForceScratch {
  Attractors attractors;
};

inline void add_forces(const Model& model, const State& s, double t, int threads, ForceScratch& scratch, VecX& f) {
  if (model.forces.empty()) return;
  add_springs(model, s, f);
  add_pair_forces(model, s, t, f);
  add_drag(model, s, f);
  add_penalty_planes(model, s, f);
  add_gravitation(model, s, threads, scratch.attractors, f);
}

/// Of all forces that have one; weight not included.
inline double force_potential(const Model& model, const State& s, double t, int threads, ForceScratch& scratch) {
  if (model.forces.empty()) return 0;
  return spring_potential(model, s) + pair_potential(model, s, t) + penalty_potential(model, s) +
         gravitation_potential(model, s, threads, scratch.attractors);
}

/// Above so many bodies and particles gravitation is left out of derivatives: its matrix is full, and it is soft.
inline constexpr int most_gravitating_derivatives = 64;

/// a df/du + b df/dq, block by block; springs between particles are left to who knows their places in his matrix.
template <class Sink>
void add_force_derivatives(const Model& model, const State& s, double t, double a, double b, bool positive, Sink& sink) {
  add_spring_derivatives(model, s, a, b, positive, sink);
  add_pair_derivatives(model, s, t, a, b, sink);
  add_drag_derivatives(model, s, a, sink);
  add_penalty_derivatives(model, s, a, b, sink);
  if (s.bodies() + s.particles() <= most_gravitating_derivatives) add_gravitation_derivatives(model, s, b, sink);
}

}  // namespace rotule
