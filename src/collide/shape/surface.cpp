#include "collide/shape/surface.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

constexpr double flat = 1e-6;  // sine of the angle up to which two triangles count as one plane

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
  for (std::size_t i = 0; i < field.heights.size(); ++i)
    vertices.emplace_back(field.spacing * double(i % columns), field.spacing * double(i / columns), field.heights[i]);
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
  reserve_large(corners_, places);
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

  reserve_large(blocks_, places / Bvh::leaf_size);
  for (int t = 0; t < places; t += Bvh::leaf_size) blocks_.push_back(block_of(t));
}

Surface::Block Surface::block_of(int first) const {
  Block block;
  const Vec3 middle = tree_.bounds().center();
  for (int i = 0; i < Bvh::leaf_size; ++i) {
    const std::array<Vec3, 3>& c = corners_[first + i];
    for (int k = 0; k < 3; ++k) {
      block.corner[k][i] = float(c[0][k] - middle[k]);
      block.edge1[k][i] = float(c[1][k] - c[0][k]);
      block.edge2[k][i] = float(c[2][k] - c[0][k]);
    }
  }
  return block;
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
    return n.dot(d) <= flat * d.norm();
  };
  if (small == 0) return n.dot(normals_[t]) >= 1 - flat;
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

using Lanes = float __attribute__((vector_size(16)));
struct Lanes3 {
  Lanes x, y, z;
};

Lanes splat(double v) {
  const auto f = float(v);
  return Lanes{f, f, f, f};
}
Lanes3 splat(const Vec3& v) { return {splat(v.x()), splat(v.y()), splat(v.z())}; }
Lanes load(const std::array<float, 4>& v) { return Lanes{v[0], v[1], v[2], v[3]}; }
Lanes3 load(const std::array<std::array<float, 4>, 3>& v) { return {load(v[0]), load(v[1]), load(v[2])}; }
Lanes3 operator-(const Lanes3& a, const Lanes3& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Lanes dot(const Lanes3& a, const Lanes3& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Lanes3 cross(const Lanes3& a, const Lanes3& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Lanes magnitude(const Lanes& a) { return a < 0 ? -a : a; }
Lanes size_of(const Lanes3& a) { return magnitude(a.x) + magnitude(a.y) + magnitude(a.z); }

}  // namespace

int Surface::ray(const Vec3& origin, const Vec3& direction, double& t_max) const {
  // T. Moeller and B. Trumbore 1997, both sides: four triangles at once in floats, which rule out those that are missed by more
  // than rounding; in double the rest. The floats count from where the ray is nearest to the middle, along a unit direction.
  const double length = direction.norm();
  const Vec3 unit = direction / length, from_middle = origin - tree_.bounds().center();
  const Lanes3 d = splat(unit), o = splat(Vec3(from_middle - from_middle.dot(unit) * unit));
  const Lanes rounding = splat(2e-6 * (tree_.bounds().high - tree_.bounds().low).maxCoeff());
  int hit = -1;
  double nearest = t_max;
  const auto test = [&](int first, int count, double best) {
    const Block& block = blocks_[first / Bvh::leaf_size];
    const Lanes3 edge1 = load(block.edge1), edge2 = load(block.edge2), from = o - load(block.corner), across = cross(d, edge2);
    const Lanes whole = dot(edge1, across), sign = whole < 0 ? splat(-1) : splat(1),
                slack = rounding * (size_of(edge1) + size_of(edge2));
    const Lanes in1 = sign * dot(from, across) + slack, in2 = sign * dot(d, cross(from, edge1)) + slack;
    const Lanes in3 = sign * whole + 4 * slack - in1 - in2;
    for (int i = 0; i < count; ++i) {
      if (in1[i] < 0 || in2[i] < 0 || in3[i] < 0) continue;
      const std::array<Vec3, 3>& c = corners_[first + i];
      const Vec3 e1 = c[1] - c[0], e2 = c[2] - c[0], p = direction.cross(e2), s = origin - c[0], q = s.cross(e1);
      const double determinant = e1.dot(p), size = std::abs(determinant), side = std::copysign(1.0, determinant);
      const double u = side * s.dot(p), v = side * direction.dot(q), edge = 1e-12 * size;
      if (size == 0 || u < -edge || v < -edge || u + v > size + edge) continue;
      const double along = e2.dot(q) / determinant;
      if (!(along >= 0) || along > best) continue;
      hit = first + i;
      nearest = best = along;
    }
    return best;
  };
  struct Visit {
    const decltype(test)& hit_leaf;
    const Surface& surface;
    double operator()(int first, int count, double best) const { return hit_leaf(first, count, best); }
    void fetch(int first) const {
      fetch_lines(&surface.blocks_[first / Bvh::leaf_size], sizeof(Block));
      fetch_lines(&surface.corners_[first], Bvh::leaf_size * sizeof(surface.corners_[0]));
    }
  };
  tree_.along_ray(origin, direction, t_max, Visit{test, *this});
  if (hit >= 0) t_max = nearest;
  return hit;
}

}  // namespace rotule
