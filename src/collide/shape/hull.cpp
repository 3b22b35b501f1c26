#include "collide/shape/hull.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "model/convex_hull.h"

namespace rotule {
namespace {

constexpr double coplanar = 1e-9;  // of the hull's size
constexpr int scan_limit = 48;     // vertices; above it climbing is faster than comparing all
constexpr int hull_lanes = 4;

using DirectedEdge = std::pair<int, int>;

/// The border of a set of triangles as one loop of vertices, or nothing if it is not a single loop.
std::vector<int> border(const TriangleMesh& mesh, const std::vector<int>& group) {
  std::map<DirectedEdge, int> inside;
  for (const int t : group)
    for (int k = 0; k < 3; ++k) inside[{mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]}] = t;
  std::map<int, int> next;
  for (const auto& [edge, t] : inside)
    if (!inside.contains({edge.second, edge.first}) && !next.emplace(edge).second) return {};
  std::vector<int> loop;
  int at = next.begin()->first;
  do {
    loop.push_back(at);
    const auto step = next.find(at);
    if (step == next.end()) return {};
    at = step->second;
  } while (at != loop.front() && loop.size() <= next.size());
  return loop.size() == next.size() ? loop : std::vector<int>{};
}

Vec3 area_vector(const TriangleMesh& mesh, int t) {
  const auto& [a, b, c] = mesh.triangles[t];
  return 0.5 * (mesh.vertices[b] - mesh.vertices[a]).cross(mesh.vertices[c] - mesh.vertices[a]);
}

void add_face(Hull& hull, const TriangleMesh& mesh, const std::vector<int>& loop) {
  // Newell's normal: the mean over the polygon, exact for a plane one.
  Vec3 normal = Vec3::Zero();
  const Vec3 origin = mesh.vertices[loop[0]];
  for (std::size_t i = 0; i < loop.size(); ++i)
    normal += (mesh.vertices[loop[i]] - origin).cross(mesh.vertices[loop[(i + 1) % loop.size()]] - origin);
  normal.normalize();
  double offset = -infinity;
  for (const int v : loop) offset = std::max(offset, normal.dot(mesh.vertices[v]));
  hull.faces.push_back({normal, offset, int(hull.face_vertices.size()), int(loop.size())});
  for (const int v : loop) hull.face_vertices.push_back(v);
}

/// The first of the farthest points; four at a time, since a branch for each is guessed wrong too often. The arrays are full
/// lanes.
int farthest_in_lanes(const std::vector<double>& x, const std::vector<double>& y, const std::vector<double>& z, const Vec3& d) {
  using TwoDoubles = double __attribute__((vector_size(16)));
  const TwoDoubles dx{d.x(), d.x()}, dy{d.y(), d.y()}, dz{d.z(), d.z()};
  const auto along = [&](std::size_t i) {
    return TwoDoubles{x[i], x[i + 1]} * dx + TwoDoubles{y[i], y[i + 1]} * dy + TwoDoubles{z[i], z[i + 1]} * dz;
  };
  TwoDoubles best0 = along(0), best1 = along(2), at{0, 1}, at0 = at, at1 = at + 2;
  for (std::size_t i = hull_lanes; i < x.size(); i += hull_lanes) {
    const TwoDoubles here0 = along(i), here1 = along(i + 2);
    const auto better0 = here0 > best0, better1 = here1 > best1;
    at += double(hull_lanes);
    best0 = better0 ? here0 : best0;
    best1 = better1 ? here1 : best1;
    at0 = better0 ? at : at0;
    at1 = better1 ? at + 2 : at1;
  }
  double best = best0[0], place = at0[0];
  const auto take = [&](double value, double index) {
    const bool better = value > best || (value == best && index < place);
    best = better ? value : best;
    place = better ? index : place;
  };
  take(best0[1], at0[1]);
  take(best1[0], at1[0]);
  take(best1[1], at1[1]);
  return int(place);
}

}  // namespace

int Hull::support_vertex(const Vec3& d) const {
  const int count = int(vertices.size());
  if (count <= scan_limit) return farthest_in_lanes(x, y, z, d);
  int best = 0;
  double farthest = d.dot(vertices[0]);
  for (bool higher = true; higher;) {
    higher = false;
    const int here = best;
    for (int i = neighbour_first[here]; i < neighbour_first[here + 1]; ++i) {
      const double along = d.dot(vertices[neighbours[i]]);
      if (along > farthest) {
        farthest = along;
        best = neighbours[i];
        higher = true;
      }
    }
  }
  return best;
}

int Hull::support_face(const Vec3& d) const {
  int best = 0;
  double nearest = -infinity;
  for (int f = 0; f < int(faces.size()); ++f) {
    const double along = d.dot(faces[f].normal);
    if (along > nearest) {
      nearest = along;
      best = f;
    }
  }
  return best;
}

Hull make_hull(const ConvexHull& points) {
  const TriangleMesh mesh = hull_mesh(points);
  const int triangle_count = int(mesh.triangles.size());
  Hull hull;

  // Faces: flood over neighbours that stay in the plane of the largest triangle.
  double size = 0;
  for (const auto& triangle : mesh.triangles)
    for (const int v : triangle) size = std::max(size, (mesh.vertices[v] - mesh.vertices[mesh.triangles[0][0]]).norm());
  std::map<DirectedEdge, int> across;
  for (int t = 0; t < triangle_count; ++t)
    for (int k = 0; k < 3; ++k) across[{mesh.triangles[t][k], mesh.triangles[t][(k + 1) % 3]}] = t;
  std::vector<double> areas(triangle_count);
  for (int t = 0; t < triangle_count; ++t) areas[t] = area_vector(mesh, t).norm();
  std::vector<int> order(triangle_count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return areas[a] > areas[b]; });
  std::vector<bool> taken(triangle_count, false);
  for (const int seed : order) {
    if (taken[seed]) continue;
    taken[seed] = true;
    std::vector<int> group{seed};
    const Vec3 normal = areas[seed] > 0 ? Vec3(area_vector(mesh, seed) / areas[seed]) : Vec3::Zero();
    const Vec3 origin = mesh.vertices[mesh.triangles[seed][0]];
    for (std::size_t i = 0; i < group.size(); ++i)
      for (int k = 0; k < 3; ++k) {
        const auto& t = mesh.triangles[group[i]];
        const auto other = across.find({t[(k + 1) % 3], t[k]});
        if (other == across.end() || taken[other->second]) continue;
        const auto& corners = mesh.triangles[other->second];
        const bool in_plane = std::all_of(corners.begin(), corners.end(), [&](int v) {
          return std::abs(normal.dot(mesh.vertices[v] - origin)) <= coplanar * size;
        });
        const bool turned_over = normal.dot(area_vector(mesh, other->second)) < -coplanar * size * size;
        if (!in_plane || turned_over) continue;
        taken[other->second] = true;
        group.push_back(other->second);
      }
    const std::vector<int> loop = border(mesh, group);
    if (!loop.empty()) {
      add_face(hull, mesh, loop);
    } else {
      for (const int t : group) add_face(hull, mesh, {mesh.triangles[t].begin(), mesh.triangles[t].end()});
    }
  }

  // Vertices: only corners of faces; points in the middle of a face are not needed.
  std::vector<int> index(mesh.vertices.size(), -1);
  for (const int v : hull.face_vertices) index[v] = 0;
  for (std::size_t v = 0; v < index.size(); ++v) {
    if (index[v] < 0) continue;
    index[v] = int(hull.vertices.size());
    hull.vertices.push_back(mesh.vertices[v]);
  }
  for (int& v : hull.face_vertices) v = index[v];

  // Edges: each directed edge of a face meets its twin in another.
  std::map<DirectedEdge, int> sides;
  for (int f = 0; f < int(hull.faces.size()); ++f)
    for (int i = 0; i < hull.faces[f].count; ++i) {
      const int* const corners = hull.face_vertices.data() + hull.faces[f].first;
      sides[{corners[i], corners[(i + 1) % hull.faces[f].count]}] = f;
    }
  std::vector<std::vector<int>> neighbours(hull.vertices.size());
  for (const auto& [edge, left] : sides) {
    const auto twin = sides.find({edge.second, edge.first});
    if (twin == sides.end()) throw Error("convex hull", "Quickhull's surface is not closed; its points are too near one plane");
    neighbours[edge.first].push_back(edge.second);
    if (edge.first < edge.second) hull.edges.push_back({edge.first, edge.second, left, twin->second});
  }
  hull.neighbour_first.push_back(0);
  for (const auto& list : neighbours) {
    hull.neighbours.insert(hull.neighbours.end(), list.begin(), list.end());
    hull.neighbour_first.push_back(int(hull.neighbours.size()));
  }
  for (const Vec3& v : hull.vertices) {
    hull.x.push_back(v.x());
    hull.y.push_back(v.y());
    hull.z.push_back(v.z());
    hull.center += v / double(hull.vertices.size());
  }
  // Lanes that are left over repeat a vertex: the first of equals is what a search finds.
  for (std::vector<double>* coordinate : {&hull.x, &hull.y, &hull.z})
    coordinate->resize((coordinate->size() + hull_lanes - 1) / hull_lanes * hull_lanes, coordinate->front());
  for (const Vec3& v : hull.vertices) hull.size = std::max(hull.size, (v - hull.center).norm());
  return hull;
}

ConvexHull simplified(const ConvexHull& hull, int limit) {
  if (limit < 4) throw Error("convex hull", fmt::format("needs at least 4 vertices, the limit is {}", limit));
  const Hull whole = make_hull(hull);
  if (int(whole.vertices.size()) <= limit) return {whole.vertices};

  // An extreme tetrahedron: farthest from the centre, from that point, from their line, from their plane.
  std::vector<Vec3> rest = whole.vertices, chosen;
  const auto take = [&](auto&& distance) {
    const auto best =
        std::max_element(rest.begin(), rest.end(), [&](const Vec3& a, const Vec3& b) { return distance(a) < distance(b); });
    chosen.push_back(*best);
    rest.erase(best);
  };
  take([&](const Vec3& v) { return (v - whole.center).squaredNorm(); });
  take([&](const Vec3& v) { return (v - chosen[0]).squaredNorm(); });
  const Vec3 along = (chosen[1] - chosen[0]).normalized();
  take([&](const Vec3& v) { return along.cross(v - chosen[0]).squaredNorm(); });
  const Vec3 normal = along.cross(chosen[2] - chosen[0]).normalized();
  take([&](const Vec3& v) { return std::abs(normal.dot(v - chosen[0])); });

  while (int(chosen.size()) < limit) {
    const Hull inner = make_hull({chosen});
    take([&](const Vec3& v) {
      double out = -infinity;
      for (const Hull::Face& f : inner.faces) out = std::max(out, f.normal.dot(v) - f.offset);
      return out;
    });
  }
  return {chosen};
}

}  // namespace rotule
