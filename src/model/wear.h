#pragma once
// How elastic elements wear: those that have flowed are at rest in another shape, those that tore exert nothing. What a model
// has of either follows from what it was before and from Model::wear, which is all that snapshots hold. Torn elements leave the
// surfaces that contact and air know; a balloon with a tear has burst. Mass stays with the particles.
#include "model/model.h"

namespace rotule {

/// What wearing changes, as it was before.
struct Wear::Untouched {
  Elements elements;
  Particles particles;
  std::vector<ParticleSurface> particle_surfaces;
};

/// Before the first step, where elements have limits.
void begin_wear(Model& model);
/// Makes the elements what Model::wear says they are; whether any tore, or is whole again, so that surfaces have changed.
bool apply_wear(Model& model);
/// Elements that are no more.
int torn_elements(const Model& model);

}  // namespace rotule
