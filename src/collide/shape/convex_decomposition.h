#pragma once
// A closed triangle mesh S as convex hulls H_1 ... H_n, so that a concave body can move:
//   S is inside the union of the H_i,   max over q in H_i of dist(q, S) <= max_concavity * size   (size: diagonal of S's box).
// Approximate convex decomposition by recursive cutting (J.-M. Lien and N. M. Amato, "Approximate convex decomposition of
// polyhedra", CAGD 2008). The part that stands out most is cut by the plane that leaves the least volume of hulls, vol H(left) +
// vol H(right), with a little weight on equal halves; tried are the planes of the faces at its notches (reflex edges; B.
// Chazelle, "Convex partitions of polyhedra", SIAM J. Comput. 1984), those that halve the notch, and evenly spaced ones across
// the mesh's own and principal axes. A part is the surface inside a convex cell of cuts; its hull is that of the cut triangles'
// corners and of the cell's corners that lie inside S, so that no cut needs to be closed by triangles. At the end hulls are
// joined where their common hull still stands out little enough. The measure is certified: branch and bound over boxes, as the
// distance grows by no more than the way gone.
//
// Two limits give way to others: where `max_hulls` does not suffice, hulls stand out more than asked for (`protrusion` tells how
// much); and hulls of more than `max_vertices` are simplified from inside, which leaves the surface uncovered by the sagitta
// between the vertices that remain. Throws Error for settings out of range and for meshes that are open, not finite, turned
// inside out or without volume. Surfaces that cross themselves are not detected; their inside is not well defined.
#include <rotule/fields.h>
#include <rotule/shapes.h>

#include <string_view>
#include <vector>

namespace rotule {

struct DecompositionSettings {
  static constexpr std::string_view name = "convex_decomposition";
  static constexpr std::string_view summary = "a closed mesh as convex hulls, by cuts that leave the least volume of hulls";
  int max_hulls = 32;
  double max_concavity = 0.03;
  int max_vertices = 64;
  int resolution = 9;  // odd: the middle is tried

  template <class Self, class Visitor>
  static void fields(Self& s, Visitor&& visit) {
    visit(Field{"max_hulls", "", "most hulls; goes before max_concavity", 1, 1024}, s.max_hulls);
    visit(Field{"max_concavity", "", "how far a hull may stand out of the mesh, over the diagonal of the mesh's box", 0.002, 1},
          s.max_concavity);
    visit(Field{"max_vertices", "", "most vertices of a hull", 4, 4096}, s.max_vertices);
    visit(Field{"resolution", "", "planes tried per axis, and notches tried, for each cut", 1, 256}, s.resolution);
  }
};

/// The same for the same input; the order is that of the cuts.
std::vector<ConvexHull> convex_decomposition(const TriangleMesh& mesh, const DecompositionSettings& settings = {});

/// The hulls as one body's shape, in the mesh's frame. Only for collision: hulls overlap and stand out, so that mass, centre and
/// inertia are to be taken from the mesh itself, `mass_properties(mesh, density)`, and given to the body.
Compound decomposed(const TriangleMesh& mesh, const DecompositionSettings& settings = {});

/// How far the hull stands out of the closed mesh, max over q in H of dist(q, S), in metres: an upper bound, too large by at most
/// `tolerance` (> 0) or by a twentieth.
double protrusion(const ConvexHull& hull, const TriangleMesh& mesh, double tolerance);

}  // namespace rotule
