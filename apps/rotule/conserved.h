#pragma once
// What a motion keeps, as its scene says beforehand.
#include <rotule/scene.h>

namespace rotule::app {

/// Whether nothing outside pulls or holds: only then does momentum stay what it is.
bool is_free(const Scene& scene);

/// Whether nothing works on the bodies or takes their energy: only then is every change of it an error.
bool keeps_energy(const Scene& scene, const Recipe& recipe);

}  // namespace rotule::app
