#pragma once
// Spheres and capsules against each other: rounded segments (a sphere's has no length), by closed_forms.h, straight in the world.
// Capsules that lie along each other (within 3 degrees) touch at both ends of the stretch that they share, else at one point.
#include <vector>

#include "collide/frame.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/convex.h"

namespace rotule {

/// Appends their contact where they are no farther apart than `margin`.
void capsule_capsule(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin,
                     std::vector<Manifold>& found);

}  // namespace rotule
