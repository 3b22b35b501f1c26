#pragma once
// The outside of a solid as triangles between its particles, for those who draw it and for the air. Cloth and sheets are their
// cells, a disk its sectors; blocks and balls are the faces of lattice cells, all eight corners present, that no other cell
// shares; an elastic mesh the faces that no other tetrahedron shares. Ropes and meshes of springs have none: they are drawn by
// their springs.
#include <rotule/particles.h>

#include <array>
#include <vector>

namespace rotule {

/// Places in the group that `build` makes of the solid, three each, counter-clockwise seen from outside where there is one.
std::vector<std::array<int, 3>> surface_triangles(const SolidDef& solid);

}  // namespace rotule
