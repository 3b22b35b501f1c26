#include "collide/shape/surface.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

constexpr double coplanar_sine = 1e-6;  // sine of the angle up to which two triangles count as one plane

struct HalfEdge {
  int from, to, triangle, opposite;
  bool operator<(const HalfEdge& o) const {
    return from != o.from ? from < o.from : (to != o.to ? to < o.to : triangle < o.triangle);
  }
};

std::vector<std::array<int, 3>> grid_triangles(int columns, int rows) {
  std::vector<std::array<int, 3>> triangles;
  triangles.reserve(2 * std::size_t(columns - 1) * (rows - 1));
  for (int r = 0; r + 1 < rows; ++r)
    for (int c = 0; c + 1 < columns; ++c) {
      const int low = r * columns + c, high = low + columns + 1;
      triangles.push_back({low, low + 1, high});
      triangles.push_back({low, high, low + columns});
    }
  return triangles;
}

}  // namespace

Surface::Surface(const TriangleMesh& mesh) { build(mesh.vertices, mesh.triangles); }

Surface::Surface(const HeightField& field) {
  if (field.columns < 2) throw Error("height field", fmt::format("must have at least 2 columns, has {}", field.columns));
  const auto columns = std::size_t(field.columns);
  if (field.heights.size() < 2 * columns || field.heights.size() % columns != 0)
    throw Error("height field",
                fmt::format("heights must be full rows of {}, at least two, are {}", columns, field.heights.size()));
  if (!(field.spacing > 0) || !std::isfinite(field.spacing))
    throw Error("height field", fmt::format("spacing must be greater than 0, is {}", field.spacing));
  std::vector<Vec3> vertices;
  vertices.reserve(field.heights.size());
  for (std::size_t i = 0; i < field.heights.size(); ++i) {
    const std::size_t row = i / columns, column = i % columns;
    vertices.emplace_back(field.spacing * double(column), field.spacing * double(row), field.heights[i]);
  }
  build(vertices, grid_triangles(field.columns, int(field.heights.size() / columns)));
}

void Surface::build(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles) {
  const int count = int(triangles.size()), corners = int(vertices.size());
  if (count == 0) throw Error("triangle mesh", "has no triangles");
  for (int v = 0; v < corners; ++v)
    if (!vertices[v].allFinite()) throw Error("triangle mesh", fmt::format("vertex {} is not finite", v));
  std::vector<Aabb> boxes(count);
  for (int t = 0; t < count; ++t)
    for (const int v : triangles[t]) {
      if (v < 0 || v >= corners)
        throw Error("triangle mesh", fmt::format("triangle {} names vertex {}; there are {}", t, v, corners));
      boxes[t].add(vertices[v]);
    }
  tree_ = Bvh(boxes, source_);

  vertices_ = vertices;
  count_ = count;
  const int places = int(source_.size());
  corners_.assign(places, {Vec3::Zero(), Vec3::Zero(), Vec3::Zero()});
  vertex_.assign(places, {-1, -1, -1});
  normals_.assign(places, Vec3::Zero());
  std::vector<HalfEdge> edges;
  edges.reserve(3 * std::size_t(count));
  for (int t = 0; t < places; ++t) {
    if (source_[t] < 0) continue;
    vertex_[t] = triangles[source_[t]];
    for (int k = 0; k < 3; ++k) {
      corners_[t][k] = vertices[vertex_[t][k]];
      edges.push_back({vertex_[t][k], vertex_[t][(k + 1) % 3], t, vertex_[t][(k + 2) % 3]});
    }
    const Vec3 area = (corners_[t][1] - corners_[t][0]).cross(corners_[t][2] - corners_[t][0]);
    normals_[t] = area.norm() > 0 ? Vec3(area.normalized()) : Vec3::Zero();
  }
  std::sort(edges.begin(), edges.end());

  // Neighbours: the half edge that runs the other way. Rings: where half edges start, and for open borders where they end.
  across_.assign(places, {-1, -1, -1});
  for (int t = 0; t < places; ++t)
    for (int k = 0; k < 3 && source_[t] >= 0; ++k) {
      const HalfEdge twin{vertex_[t][(k + 1) % 3], vertex_[t][k], -1, -1};
      const auto found = std::lower_bound(edges.begin(), edges.end(), twin);
      if (found != edges.end() && found->from == twin.from && found->to == twin.to) across_[t][k] = found->opposite;
    }
  std::vector<std::pair<int, int>> pairs;
  pairs.reserve(2 * edges.size());
  for (const HalfEdge& e : edges) {
    pairs.emplace_back(e.from, e.to);
    pairs.emplace_back(e.to, e.from);
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  ring_first_.assign(corners + 1, 0);
  for (const auto& [from, to] : pairs) {
    ++ring_first_[from + 1];
    ring_.push_back(to);
  }
  for (int v = 0; v < corners; ++v) ring_first_[v + 1] += ring_first_[v];
}

bool Surface::legal(int t, const Vec3& point, const Vec3& n) const {
  const std::array<Vec3, 3>& c = corners_[t];
  if (n.dot(normals_[t]) <= 0) return false;

  // Which feature of the triangle the point lies on: barycentric coordinates that are almost zero.
  const Vec3 area = (c[1] - c[0]).cross(c[2] - c[0]);
  const double scale = area.squaredNorm();
  std::array<double, 3> weight;
  for (int k = 0; k < 3; ++k) weight[k] = (c[(k + 1) % 3] - point).cross(c[(k + 2) % 3] - point).dot(area) / scale;
  constexpr double border = 1e-6;
  int small = 0, large = 0;
  for (int k = 0; k < 3; ++k) {
    if (weight[k] < border) ++small;
    if (weight[k] > weight[large]) large = k;
  }
  const auto below = [&](int vertex, const Vec3& from) {
    const Vec3 d = vertices_[vertex] - from;
    return n.dot(d) <= coplanar_sine * d.norm();
  };
  if (small == 0) return n.dot(normals_[t]) >= 1 - coplanar_sine;
  if (small == 1) {
    const int k = weight[0] < border ? 1 : (weight[1] < border ? 2 : 0);  // the edge opposite of the small weight
    return below(vertex_[t][(k + 2) % 3], c[k]) && (across_[t][k] < 0 || below(across_[t][k], c[k]));
  }
  const int v = vertex_[t][large];
  for (int i = ring_first_[v]; i < ring_first_[v + 1]; ++i)
    if (!below(ring_[i], c[large])) return false;
  return true;
}

namespace {

/// Two triangles in lanes.
using Two = double __attribute__((vector_size(16)));
struct Two3 {
  Two x, y, z;
};
Two both(double v) { return Two{v, v}; }
Two3 both(const Vec3& v) { return {both(v.x()), both(v.y()), both(v.z())}; }
Two3 operator-(const Two3& a, const Two3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Two dot(const Two3& a, const Two3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Two3 cross(const Two3& a, const Two3& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }

/// The tests of T. Moeller and B. Trumbore 1997, both sides, on a leaf.
struct RayOnLeaves {
  const std::array<Vec3, 3>* corners;
  Two3 origin, direction;
  int hit = -1;
  double nearest = infinity;

  double operator()(int first, double best) {
    for (int at = first; at < first + Bvh::leaf_size; at += 2) {
      const std::array<Vec3, 3>&p = corners[at], &q = corners[at + 1];
      const auto corner = [&](int k) { return Two3{{p[k].x(), q[k].x()}, {p[k].y(), q[k].y()}, {p[k].z(), q[k].z()}}; };
      const Two3 c = corner(0), e1 = corner(1) - c, e2 = corner(2) - c, across = cross(direction, e2), s = origin - c,
                 turned = cross(s, e1);
      // A triangle without area, or none at all, has a determinant of 0, and what it divides is not below or equal to anything.
      const Two determinant = dot(e1, across), inverse = 1 / determinant;
      const Two u = dot(s, across) * inverse, v = dot(direction, turned) * inverse, along = dot(e2, turned) * inverse;
      constexpr double edge = 1e-12;
      const auto met = (u >= -edge) & (v >= -edge) & (u + v <= 1 + edge) & (along >= 0) & (along <= best);
      if ((met[0] | met[1]) == 0) continue;
      for (int i = 0; i < 2; ++i) {
        // Of equals, the one with the smaller number: whatever the order of leaves.
        if (met[i] == 0 || along[i] > best || (along[i] == nearest && at + i > hit)) continue;
        hit = at + i;
        nearest = best = along[i];
      }
    }
    return best;
  }
  void fetch(int first) const { fetch_lines(corners + first, Bvh::leaf_size * sizeof(*corners)); }
};

}  // namespace

int Surface::ray(const Vec3& origin, const Vec3& direction, double& t_max) const {
  RayOnLeaves leaves{corners_.data(), both(origin), both(direction)};
  tree_.along_ray(origin, direction, t_max, leaves);
  if (leaves.hit >= 0) t_max = leaves.nearest;
  return leaves.hit;
}

}  // namespace rotule
