#pragma once
// Triangle meshes from files, and as convex hulls.
#include <rotule/shapes.h>

#include <string>
#include <string_view>
#include <vector>

namespace rotule {

/// A mesh from a file: Wavefront OBJ (vertices and faces; polygons are cut into fans, all else is skipped) or STL, binary or text
/// (corners with the same coordinates become one vertex), by its ending, .obj or .stl. `scale`: metres per unit of the file,
/// 0.001 for millimetres. Throws Error, one line with the file and the line or triangle, for files that cannot be read, are cut
/// short, or hold numbers or indices that make no sense. Whether the surface is closed is looked at by whoever makes a body of
/// it.
TriangleMesh read_mesh(const std::string& path, double scale = 1);

/// The same of a text in memory, in the file's units; `name` is what errors call it.
TriangleMesh read_obj(std::string_view text, const std::string& name);
TriangleMesh read_stl(std::string_view bytes, const std::string& name);

// A closed triangle mesh S as convex hulls H_1 ... H_n, so that a concave body can move:
//   S is inside the union of the H_i,   max over q in H_i of dist(q, S) <= max_concavity * size   (size: diagonal of S's box).
// Two limits give way to others: where `max_hulls` does not suffice, hulls stand out more than asked for (`protrusion` tells how
// much); and hulls of more than `max_vertices` are simplified from inside, which leaves the surface uncovered by the sagitta
// between the vertices that remain. All throw Error for settings out of range and for meshes that are open, not finite, turned
// inside out or without volume. Surfaces that cross themselves are not detected; their inside is not well defined.

/// The same for the same input; the order is that of the cuts.
std::vector<ConvexHull> convex_decomposition(const TriangleMesh& mesh, const DecompositionSettings& settings = {});

/// The mesh with its `convex_parts` and hulls: a body's shape that collides as the hulls and weighs as the mesh.
TriangleMesh in_convex_parts(TriangleMesh mesh, const DecompositionSettings& settings = {});

/// The hulls alone, as a compound in the mesh's frame. They overlap and stand out: take mass, centre and inertia from the mesh,
/// `mass_properties(mesh, density)`, and give them to the body.
Compound decompose(const TriangleMesh& mesh, const DecompositionSettings& settings = {});

/// How far the hull stands out of the closed mesh, max over q in H of dist(q, S), in metres: an upper bound, too large by at most
/// `tolerance` (> 0) or by a twentieth.
double protrusion(const ConvexHull& hull, const TriangleMesh& mesh, double tolerance);

}  // namespace rotule
