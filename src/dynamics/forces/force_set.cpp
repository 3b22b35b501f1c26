#include "dynamics/forces/force_set.h"

#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/fluid.h"
#include "dynamics/forces/gas.h"
#include "dynamics/forces/gravitation.h"
#include "dynamics/forces/line_drag.h"
#include "dynamics/forces/loads.h"
#include "dynamics/forces/pair_forces.h"
#include "dynamics/forces/springs.h"

namespace rotule {

void add_forces(const Model& model, const State& s, double t, int threads, ForceScratch& scratch, VecX& f) {
  if (model.forces.empty()) return;
  add_springs(model, s, f);
  add_elasticity(model, s, f);
  add_pair_forces(model, s, t, f);
  add_drag(model, s, t, f);
  add_fluid(model, s, t, f);
  add_air(model, s, t, f);
  add_line_drag(model, s, t, f);
  add_gas(model, s, f);
  add_penalty_planes(model, s, f);
  add_loads(model, s, t, f);
  add_gravitation(model, s, threads, scratch.attractors, f);
}

double force_potential(const Model& model, const State& s, double t, int threads, ForceScratch& scratch) {
  if (model.forces.empty()) return 0;
  return spring_potential(model, s) + elastic_potential(model, s) + gas_potential(model, s) + pair_potential(model, s, t) +
         penalty_potential(model, s) + gravitation_potential(model, s, threads, scratch.attractors);
}

void add_force_derivatives(const Model& model, const State& s, double t, double a, double b, bool positive, BlockSink sink) {
  add_spring_derivatives(model, s, a, b, positive, sink);
  add_pair_derivatives(model, s, t, a, b, sink);
  add_elastic_derivatives(model, s, a, b, positive, sink);
  add_drag_derivatives(model, s, t, a, b, sink);
  add_fluid_derivatives(model, s, t, a, b, sink);
  add_air_derivatives(model, s, t, a, sink);
  add_line_drag_derivatives(model, s, t, a, b, positive, sink);
  add_gas_derivatives(model, s, b, positive, sink);
  add_penalty_derivatives(model, s, a, b, sink);
  add_load_derivatives(model, s, t, b, sink);
  if (s.bodies() + s.particles() <= most_gravitating_derivatives) add_gravitation_derivatives(model, s, b, sink);
}

}  // namespace rotule
