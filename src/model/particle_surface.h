#pragma once
// What groups of particles touch with: their outside as triangles, ropes as segments, and every particle that is on neither as a
// point. Where the group does not say how thick it is, a shell is as thick as its material, and all else a tenth of its shortest
// edge.
#include <rotule/scene.h>

#include <span>

#include "base/place.h"
#include "model/model.h"

namespace rotule {

/// Appends the surface of a group whose particles will be the next, where it has one that touches. `outside`: its triangles, as
/// surface_triangles has them; of a group that was given as such they come from its elements.
void add_particle_surface(const ParticleGroup& group, std::span<const std::array<int, 3>> outside,
                          const std::vector<Material>& materials, Model& model);

/// Refuses a material that is none, and a thickness that neighbours cannot have; with the place.
void check_particle_contact(const ParticleGroup& group, std::span<const Material> materials, const Place& place);

}  // namespace rotule
