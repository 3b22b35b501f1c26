#pragma once
// Mass-spring solids: how many particles they make, and whether their numbers make sense.
#include <rotule/particles.h>

#include "base/place.h"

namespace rotule {

std::size_t particle_count(const SolidDef& solid);
/// What ranges of single fields cannot say: pins that exist, sizes that fit in memory, files that can be read.
void validate_solid(const SolidDef& solid, const Place& place);

}  // namespace rotule
