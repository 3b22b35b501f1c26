#pragma once
// A surface of triangles ready for collision: a tree over them, who is whose neighbour, and which directions of contact the
// surface allows. It need not be closed; it is solid behind its triangles (counter-clockwise seen from outside), and contacts
// come from the front only.
//
// A contact normal n at a point of the surface is legal where the surface near the point lies below the plane through it with
// normal n: inside a triangle its own normal alone; on an edge or a vertex, n . (q - p) <= 0 for the other corners q around it
// (the normal cone). Where two triangles are flat or concave at an edge nothing but the two face normals is legal: that removes
// ghost hits on internal edges. Throws Error for indices out of range, numbers that are not finite and for no triangles.
#include <rotule/shapes.h>

#include <array>
#include <vector>

#include "collide/shape/bvh.h"

namespace rotule {

class Surface {
 public:
  Surface() = default;
  explicit Surface(const TriangleMesh& mesh);
  explicit Surface(const HeightField& field);

  [[nodiscard]] const Bvh& tree() const { return tree_; }
  [[nodiscard]] int count() const { return count_; }
  /// Triangles are numbered by their place in the tree's leaves, which leave some numbers out; `source` tells the number in the
  /// mesh that was given, or -1 where there is none.
  [[nodiscard]] const std::array<Vec3, 3>& corners(int t) const { return corners_[t]; }
  [[nodiscard]] int source(int t) const { return source_[t]; }
  /// Unit; zero for a triangle without area, which never makes contact.
  [[nodiscard]] const Vec3& normal(int t) const { return normals_[t]; }

  /// All vertices that were given; those of no triangle are no part of the surface.
  [[nodiscard]] int vertex_count() const { return int(vertices_.size()); }
  [[nodiscard]] const Vec3& vertex(int v) const { return vertices_[v]; }
  [[nodiscard]] bool has_vertex(int v) const { return ring_first_[v] < ring_first_[v + 1]; }

  /// Whether the unit vector n is legal at `point` of triangle t.
  [[nodiscard]] bool legal(int t, const Vec3& point, const Vec3& n) const;

  /// The first hit of the front or back side with 0 <= t <= t_max: the triangle, or -1. `t_max` becomes t.
  int ray(const Vec3& origin, const Vec3& direction, double& t_max) const;

 private:
  void build(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles);

  Bvh tree_;
  int count_ = 0;
  LargeArray<std::array<Vec3, 3>> corners_;
  std::vector<std::array<int, 3>> vertex_;  // of each corner
  std::vector<std::array<int, 3>> across_;  // vertex opposite of edge k (corner k to k + 1) in the neighbour, or -1
  std::vector<Vec3> normals_, vertices_;
  std::vector<int> source_, ring_first_, ring_;  // the vertices around each vertex
};

}  // namespace rotule
