#include "dynamics/forces/force_set.h"

namespace rotule {

void add_force_derivatives(const Model& model, const State& s, double t, double a, double b, bool positive, BlockSink sink) {
  add_spring_derivatives(model, s, a, b, positive, sink);
  add_pair_derivatives(model, s, t, a, b, sink);
  add_elastic_derivatives(model, s, a, b, positive, sink);
  add_drag_derivatives(model, s, t, a, b, sink);
  add_fluid_derivatives(model, s, t, a, b, sink);
  add_air_derivatives(model, s, a, sink);
  add_penalty_derivatives(model, s, a, b, sink);
  add_load_derivatives(model, s, t, b, sink);
  if (s.bodies() + s.particles() <= most_gravitating_derivatives) add_gravitation_derivatives(model, s, b, sink);
}

}  // namespace rotule
