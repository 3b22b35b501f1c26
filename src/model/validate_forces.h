#pragma once
// Whether particles, solids and forces make sense: masses positive, places in range, springs with two different ends, names
// known. Ends of springs that meet are found when the world is built, where centres of mass are known.
#include <rotule/scene.h>

namespace rotule {

void validate_particles(const Scene& scene);
void validate_forces(const Scene& scene);

}  // namespace rotule
