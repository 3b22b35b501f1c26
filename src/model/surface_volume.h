#pragma once
// Closed surfaces of particles, and what they hold.
#include <span>

#include "model/forces.h"

namespace rotule {

/// Turns triangles so that neighbours see the same side of the surface; throws Error with the place where it is open, in pieces
/// or has one side only.
void close_surface(std::vector<std::array<int, 3>>& triangles, const Particles& particles, const std::string& place);

/// The volume inside: a sixth of x_a . (x_b x x_c) of all triangles, positive where they are seen from outside. Points are taken
/// from one of the surface, which loses no digits where that is far from the origin.
double enclosed_volume(std::span<const std::array<int, 3>> triangles, const State& s);

}  // namespace rotule
