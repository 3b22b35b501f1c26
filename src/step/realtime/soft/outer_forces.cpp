#include "step/realtime/soft/outer_forces.h"

#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/fluid.h"
#include "dynamics/forces/line_drag.h"
#include "dynamics/forces/loads.h"
#include "dynamics/forces/pair_forces.h"
#include "dynamics/forces/springs.h"

namespace rotule::realtime {

bool has_outer_forces(const Forces& forces) {
  return !(forces.springs.empty() && forces.angles.empty() && forces.torsions.empty() && forces.drags.empty() &&
           forces.airs.empty() && forces.gravitations.empty() && forces.loads.empty() && forces.sections.empty() &&
           forces.lines.empty() && forces.buoyancies.empty() && forces.added_masses.empty() && forces.users.empty());
}

void add_outer_forces(const Model& model, const State& s, double t, int threads, ForceScratch& scratch, VecX& f) {
  if (model.particle_count() == 0) return add_forces(model, s, t, threads, scratch, f);
  if (!model.forces.springs.empty() || !model.forces.angles.empty()) {
    // Those of bodies come with those within groups, which are left out again: no spring ties a particle to a body here.
    const Eigen::Index particles = s.x.size();
    const VecX before = f.tail(particles);
    add_springs(model, s, f);
    f.tail(particles) = before;
  }
  add_pair_forces(model, s, t, f);
  add_drag(model, s, t, f);
  add_fluid(model, s, t, f);
  add_air(model, s, t, f);
  add_line_drag(model, s, t, f);
  add_loads(model, s, t, f);
  add_gravitation(model, s, threads, scratch.attractors, f);
}

}  // namespace rotule::realtime
