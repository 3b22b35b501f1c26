#pragma once
// Planar mechanisms: scenes whose bodies stay in planes with one normal (C5). Two dimensions are three with something held: a
// body that its joints do not keep there gets a planar joint to the world.
#include <rotule/scene.h>

namespace rotule {

/// Throws Error with the place where a body does not start in its plane, or where there is something that cannot be held in one.
void check_plane(const Scene& scene);

/// Adds the joints that lack, each named after its body; nothing in scenes without a plane. Joints that keep a plane pass it on:
/// hinges about the normal, sliders across it, welds and planar joints. A tree of those needs no more than its root's.
void hold_in_plane(Scene& scene);

}  // namespace rotule
