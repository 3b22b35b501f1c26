#pragma once
// A convex polyhedron ready for collision: vertices, plane faces with all their corners, edges with their two faces, and the
// neighbours of each vertex. From Quickhull's triangles (model/convex_hull.h); triangles in one plane up to 1e-9 of the size are
// merged, the largest first, so that slivers do not decide a face's normal. Throws Error for points without a volume.
#include <rotule/shapes.h>

#include <vector>

namespace rotule {

struct Hull {
  struct Face {
    Vec3 normal;       // outward, unit
    double offset;     // normal . x on the face
    int first, count;  // into face_vertices: counter-clockwise seen from outside
  };
  struct Edge {
    int from, to;     // counter-clockwise in `left`
    int left, right;  // faces
  };

  std::vector<Vec3> vertices;
  std::vector<double> x, y, z;  // the same, by coordinate, to a multiple of four: what the support function reads
  std::vector<Face> faces;
  std::vector<int> face_vertices;
  std::vector<Edge> edges;
  std::vector<int> neighbour_first, neighbours;  // of vertex v: neighbours[neighbour_first[v] ... neighbour_first[v + 1])
  Vec3 center = Vec3::Zero();                    // mean of the vertices: inside
  double size = 0;                               // largest distance of a vertex from the centre

  /// The vertex farthest along d: all are compared for small hulls; a climb along edges, which on a convex body cannot end
  /// anywhere but at the top, for large ones.
  [[nodiscard]] int support_vertex(const Vec3& d) const;

  /// The face whose normal is nearest to d.
  [[nodiscard]] int support_face(const Vec3& d) const;
};

Hull make_hull(const ConvexHull& points);

/// At most `limit` (>= 4) of the hull's points: an extreme tetrahedron, then again and again the point that stands out most. The
/// result lies inside the given hull.
ConvexHull simplified(const ConvexHull& hull, int limit);

}  // namespace rotule
