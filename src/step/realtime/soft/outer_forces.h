#pragma once
// Forces on bodies and particles but for what holds groups of particles together, which substeps take implicitly.
#include "dynamics/forces/force_set.h"

namespace rotule::realtime {

[[nodiscard]] bool has_outer_forces(const Forces& forces);
void add_outer_forces(const Model& model, const State& s, double t, int threads, ForceScratch& scratch, VecX& f);

}  // namespace rotule::realtime
