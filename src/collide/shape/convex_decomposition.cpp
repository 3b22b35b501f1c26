// Approximate convex decomposition by recursive cutting (J.-M. Lien and N. M. Amato, "Approximate convex decomposition of
// polyhedra", CAGD 2008). The part that stands out most is cut by the plane that leaves the least volume of hulls, vol H(left) +
// vol H(right), with a little weight on equal halves; tried are the planes of the faces at its notches (reflex edges; B.
// Chazelle, "Convex partitions of polyhedra", SIAM J. Comput. 1984), those that halve the notch, and evenly spaced ones across
// the mesh's own and principal axes. A part is the surface inside a convex cell of cuts; its hull is that of the cut triangles'
// corners and of the cell's corners that lie inside S, so that no cut needs to be closed by triangles. At the end hulls are
// joined where their common hull still stands out little enough. The measure is certified: branch and bound over boxes, as the
// distance grows by no more than the way gone.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>
#include <rotule/meshes.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "collide/shape/hull.h"
#include "collide/shape/solid_distance.h"
#include "model/convex_hull.h"
#include "model/validate.h"

namespace rotule {
namespace {

// Everything below is in units of the mesh's size, about its centre.
constexpr double on_plane = 1e-9;  // points this near a cut are on it
constexpr double thinnest = 1e-4;  // no cut leaves less on one side
// Against the hulls' volume; they decide where no single cut gains, as in a ring or a hollow ball.
constexpr double balance_weight = 0.05;  // of unequal halves
constexpr double length_weight = 0.05;   // of a cut that is not across the longest side
constexpr double accuracy = 0.05;        // of the measured protrusion, against the limit or itself
constexpr long max_boxes = 4'000'000;    // of one measurement; where they do not suffice, the bound is coarser

/// { x : normal . x = offset }
struct CutPlane {
  Vec3 normal;
  double offset;
  [[nodiscard]] double operator()(const Vec3& x) const { return normal.dot(x) - offset; }
};

/// The surface of the mesh inside a cell { x : plane(x) <= 0 for all planes }, and the cell's corners inside the mesh.
struct Part {
  std::vector<Vec3> vertices = {};
  std::vector<std::array<int, 3>> triangles = {};
  std::vector<Vec3> corners = {};
  std::vector<CutPlane> cell = {};
};

struct Body {
  std::vector<Vec3> points;  // vertices of the hull
  std::vector<CutPlane> planes;
  double volume = 0;
  double protrusion = 0;
};

double enclosed(const TriangleMesh& mesh) {
  double six = 0;
  const Vec3 origin = mesh.vertices[mesh.triangles[0][0]];
  for (const auto& [a, b, c] : mesh.triangles)
    six += (mesh.vertices[a] - origin).dot((mesh.vertices[b] - origin).cross(mesh.vertices[c] - origin));
  return six / 6;
}

/// Nothing where the points are too nearly in one plane to have a hull.
std::optional<TriangleMesh> hull_of(std::vector<Vec3> points) {
  if (points.size() < 4) return {};
  try {
    return hull_mesh({std::move(points)});
  } catch (const Error&) {
    return {};
  }
}

Body make_body(const TriangleMesh& hull) {
  Body body;
  body.volume = enclosed(hull);
  std::vector<bool> used(hull.vertices.size(), false);
  for (const auto& triangle : hull.triangles)
    for (const int v : triangle) used[v] = true;
  for (std::size_t v = 0; v < used.size(); ++v)
    if (used[v]) body.points.push_back(hull.vertices[v]);
  for (const auto& [a, b, c] : hull.triangles) {
    const Vec3 area = (hull.vertices[b] - hull.vertices[a]).cross(hull.vertices[c] - hull.vertices[a]);
    if (!(area.norm() > 0)) continue;
    CutPlane plane{area.normalized(), -infinity};
    for (const Vec3& p : body.points) plane.offset = std::max(plane.offset, plane.normal.dot(p));
    body.planes.push_back(plane);
  }
  return body;
}

/// An upper bound of how far the body stands out. Exact enough to be compared with `limit`: once it is known to be below the
/// limit, or above and within the accuracy (or just above, where `decide` alone is asked for), the search ends.
double measured(const Body& body, const SolidDistance& distance, double limit, double tolerance, bool decide) {
  struct Cube {
    double bound;  // of the distance inside
    Vec3 center;
    double half;
    bool operator<(const Cube& other) const { return bound < other.bound; }
  };
  std::priority_queue<Cube> queue;
  double reached = 0;  // at a point of the body
  const auto add = [&](const Vec3& center, double half) {
    const double radius = std::sqrt(3.0) * half;
    double outside = -infinity;
    for (const CutPlane& plane : body.planes) {
      outside = std::max(outside, plane(center));
      if (outside > radius) return;
    }
    const double d = distance(center);
    if (outside <= 0) {
      reached = std::max(reached, d);
    } else if (d + radius > reached) {
      // A point of the body near by, as a thin body holds hardly any centre.
      Vec3 foot = center;
      for (const CutPlane& plane : body.planes) foot -= std::max(plane(foot), 0.0) * plane.normal;
      const bool held = std::all_of(body.planes.begin(), body.planes.end(), [&](const CutPlane& p) { return p(foot) <= 1e-12; });
      if (held) reached = std::max(reached, distance(foot));
    }
    if (d + radius > 0) queue.push({d + radius, center, half});
  };
  Aabb box;
  for (const Vec3& p : body.points) box.add(p);
  add(box.center(), 0.5 * (box.high - box.low).maxCoeff());
  for (long boxes = 1; !queue.empty(); boxes += 8) {
    const Cube cube = queue.top();
    if (cube.bound <= limit || cube.bound <= reached + std::max(tolerance, accuracy * reached) || boxes > max_boxes ||
        (decide && reached > limit))
      return cube.bound;
    queue.pop();
    for (int i = 0; i < 8; ++i)
      add(cube.center + 0.5 * cube.half * Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1), 0.5 * cube.half);
  }
  return 0;
}

/// Corners of both halves that a cut makes: where it meets two older cuts, inside the cell and inside the mesh.
std::vector<Vec3> new_corners(const std::vector<CutPlane>& cell, const CutPlane& cut, const SolidDistance& distance) {
  std::vector<Vec3> corners;
  for (std::size_t i = 0; i < cell.size(); ++i)
    for (std::size_t j = i + 1; j < cell.size(); ++j) {
      Mat3 normals;
      normals << cell[i].normal.transpose(), cell[j].normal.transpose(), cut.normal.transpose();
      if (std::abs(normals.determinant()) < 1e-6) continue;
      const Vec3 x = normals.inverse() * Vec3(cell[i].offset, cell[j].offset, cut.offset);
      const bool inside = std::all_of(cell.begin(), cell.end(), [&](const CutPlane& plane) { return plane(x) <= on_plane; });
      if (inside && x.squaredNorm() < 1 && distance(x) < 0) corners.push_back(x);
    }
  return corners;
}

/// One half while it is being made: vertices of the whole and points of cut edges, each once.
struct Half {
  Part part = {};
  std::vector<int> index = {};
  std::unordered_map<std::uint64_t, int> cut_edges = {};

  int take(const Part& whole, int v) {
    if (index[v] < 0) {
      index[v] = int(part.vertices.size());
      part.vertices.push_back(whole.vertices[v]);
    }
    return index[v];
  }
  int take_cut(const Part& whole, const std::vector<double>& height, int a, int b) {
    if (a > b) std::swap(a, b);
    const auto [at, is_new] = cut_edges.emplace((std::uint64_t(a) << 32) | std::uint64_t(b), int(part.vertices.size()));
    if (is_new)
      part.vertices.push_back(whole.vertices[a] + height[a] / (height[a] - height[b]) * (whole.vertices[b] - whole.vertices[a]));
    return at->second;
  }
};

/// What lies below the plane and what lies above.
std::array<Part, 2> split(const Part& whole, const CutPlane& cut, const SolidDistance& distance) {
  const std::size_t count = whole.vertices.size();
  std::vector<double> height(count);
  for (std::size_t v = 0; v < count; ++v) {
    height[v] = cut(whole.vertices[v]);
    if (std::abs(height[v]) <= on_plane) height[v] = 0;
  }
  std::array<Half, 2> halves;
  for (Half& half : halves) half.index.assign(count, -1);
  for (const auto& t : whole.triangles) {
    const auto [low, high] = std::minmax({height[t[0]], height[t[1]], height[t[2]]});
    // A triangle in the plane closes the half that it looks away from.
    const Vec3 area = (whole.vertices[t[1]] - whole.vertices[t[0]]).cross(whole.vertices[t[2]] - whole.vertices[t[0]]);
    const bool in_plane = low == 0 && high == 0, faces_up = area.dot(cut.normal) > 0;
    for (int side = 0; side < 2; ++side) {
      const double sign = side == 0 ? -1 : 1;
      if (in_plane ? faces_up != (side == 0) : side == 0 ? !(low < 0) : !(high > 0)) continue;
      Half& half = halves[side];
      std::array<int, 4> polygon{};
      int corners = 0;
      for (int k = 0; k < 3; ++k) {
        const int v = t[k], next = t[(k + 1) % 3];
        if (sign * height[v] >= 0) polygon[corners++] = half.take(whole, v);
        if (height[v] * height[next] < 0) polygon[corners++] = half.take_cut(whole, height, v, next);
      }
      for (int k = 2; k < corners; ++k) half.part.triangles.push_back({polygon[0], polygon[k - 1], polygon[k]});
    }
  }
  const std::vector<Vec3> fresh = new_corners(whole.cell, cut, distance);
  for (int side = 0; side < 2; ++side) {
    const double sign = side == 0 ? -1 : 1;
    Part& part = halves[side].part;
    part.corners = fresh;
    for (const Vec3& corner : whole.corners)
      if (sign * cut(corner) >= -on_plane) part.corners.push_back(corner);
    part.cell = whole.cell;
    part.cell.push_back({-sign * cut.normal, -sign * cut.offset});
  }
  return {std::move(halves[0].part), std::move(halves[1].part)};
}

std::vector<Vec3> hull_points(const Part& part) {
  std::vector<Vec3> points = part.vertices;
  points.insert(points.end(), part.corners.begin(), part.corners.end());
  return points;
}

/// The planes at the longest and sharpest notches: of both faces, and between them.
void add_notch_planes(const Part& part, int most, std::vector<CutPlane>& planes) {
  std::map<std::pair<int, int>, int> across;
  for (int t = 0; t < int(part.triangles.size()); ++t)
    for (int k = 0; k < 3; ++k) across[{part.triangles[t][k], part.triangles[t][(k + 1) % 3]}] = t;
  const auto normal_of = [&](int t) {
    const auto& [a, b, c] = part.triangles[t];
    return Vec3((part.vertices[b] - part.vertices[a]).cross(part.vertices[c] - part.vertices[a]).stableNormalized());
  };
  struct Notch {
    double weight;
    Vec3 at, left, right;
  };
  std::vector<Notch> notches;
  for (const auto& [edge, t] : across) {
    const auto twin = across.find({edge.second, edge.first});
    if (edge.first > edge.second || twin == across.end()) continue;
    const Vec3 left = normal_of(t), right = normal_of(twin->second);
    const Vec3 along = part.vertices[edge.second] - part.vertices[edge.first];
    const double weight = -left.cross(right).dot(along);  // sine of the angle times the length; negative where convex
    if (weight > thinnest) notches.push_back({weight, part.vertices[edge.first], left, right});
  }
  std::stable_sort(notches.begin(), notches.end(), [](const Notch& a, const Notch& b) { return a.weight > b.weight; });
  const std::size_t end = planes.size() + 3 * std::size_t(most);
  for (const Notch& notch : notches)
    for (const Vec3& normal : {notch.left, notch.right, Vec3((notch.left - notch.right).normalized())}) {
      const CutPlane plane{normal, normal.dot(notch.at)};
      const bool known = std::any_of(planes.begin(), planes.end(), [&](const CutPlane& other) {
        const double same = normal.dot(other.normal);
        return std::abs(same) > 1 - 1e-5 && std::abs(std::copysign(1.0, same) * plane.offset - other.offset) < 1e-3;
      });
      if (!known) planes.push_back(plane);
      if (planes.size() >= end) return;
    }
}

std::pair<double, double> extent(const std::vector<Vec3>& points, const Vec3& axis) {
  double low = infinity, high = -infinity;
  for (const Vec3& p : points) {
    low = std::min(low, axis.dot(p));
    high = std::max(high, axis.dot(p));
  }
  return {low, high};
}

struct Cut {
  std::array<Part, 2> parts;
  std::array<Body, 2> bodies;
};

/// The best cut, or none where no plane leaves two halves with a volume.
std::optional<Cut> best_cut(const Part& part, const Body& body, const std::vector<Vec3>& axes, int resolution,
                            const SolidDistance& distance) {
  std::vector<CutPlane> planes;
  add_notch_planes(part, resolution, planes);
  for (const Vec3& axis : axes) {
    const auto [low, high] = extent(body.points, axis);
    for (int i = 1; i <= resolution; ++i) planes.push_back({axis, low + (high - low) * i / (resolution + 1)});
  }
  double longest = 0;
  for (const Vec3& axis : axes) {
    const auto [low, high] = extent(body.points, axis);
    longest = std::max(longest, high - low);
  }
  std::optional<Cut> best;
  double least = infinity;
  for (const CutPlane& plane : planes) {
    const auto [low, high] = extent(body.points, plane.normal);
    if (plane.offset < low + thinnest || plane.offset > high - thinnest) continue;
    std::array<Part, 2> parts = split(part, plane, distance);
    const auto below = hull_of(hull_points(parts[0])), above = hull_of(hull_points(parts[1]));
    if (!below || !above) continue;
    const double a = enclosed(*below), b = enclosed(*above);
    const double score = a + b + balance_weight * std::abs(a - b) + length_weight * body.volume * (1 - (high - low) / longest);
    // Rounding must not choose between equal cuts.
    if (!(score < least - 1e-9 * body.volume)) continue;
    least = score;
    best = Cut{std::move(parts), {make_body(*below), make_body(*above)}};
  }
  return best;
}

/// Joins hulls while the common hull stays within the limit, or while there are too many; the pair that adds least volume first.
void join(std::vector<Body>& bodies, int max_hulls, double limit, const SolidDistance& distance) {
  struct Pair {
    double growth;
    int a, b;
    bool operator<(const Pair& other) const { return std::tie(growth, a, b) < std::tie(other.growth, other.a, other.b); }
  };
  const auto common = [&](int a, int b) {
    std::vector<Vec3> points = bodies[a].points;
    points.insert(points.end(), bodies[b].points.begin(), bodies[b].points.end());
    return hull_of(std::move(points));
  };
  std::vector<bool> alive(bodies.size(), true);
  int count = int(bodies.size());
  std::vector<Pair> pairs;
  const auto add_pairs = [&](int b) {
    for (int a = 0; a < b; ++a)
      if (alive[a])
        if (const auto hull = common(a, b)) pairs.push_back({enclosed(*hull) - bodies[a].volume - bodies[b].volume, a, b});
  };
  for (int b = 1; b < int(bodies.size()); ++b) add_pairs(b);
  const auto merge = [&](const Pair& pair, Body joined) {
    alive[pair.a] = alive[pair.b] = false;
    std::erase_if(pairs, [&](const Pair& p) { return !alive[p.a] || !alive[p.b]; });
    bodies.push_back(std::move(joined));
    alive.push_back(true);
    --count;
    add_pairs(int(bodies.size()) - 1);
  };

  std::vector<Pair> refused;
  while (!pairs.empty()) {
    const auto next = std::min_element(pairs.begin(), pairs.end());
    const Pair pair = *next;
    pairs.erase(next);
    Body joined = make_body(*common(pair.a, pair.b));
    joined.protrusion = measured(joined, distance, limit, accuracy * limit, true);
    if (joined.protrusion <= limit) {
      merge(pair, std::move(joined));
    } else {
      refused.push_back(pair);
    }
  }
  pairs = std::move(refused);
  std::erase_if(pairs, [&](const Pair& p) { return !alive[p.a] || !alive[p.b]; });
  while (count > max_hulls && !pairs.empty()) {
    const Pair pair = *std::min_element(pairs.begin(), pairs.end());
    merge(pair, make_body(*common(pair.a, pair.b)));
  }
  std::vector<Body> left;
  for (std::size_t i = 0; i < bodies.size(); ++i)
    if (alive[i]) left.push_back(std::move(bodies[i]));
  bodies = std::move(left);
}

/// The mesh's used vertices about the centre of their box, in units of its diagonal.
struct Scaled {
  TriangleMesh mesh = {};
  Vec3 center = Vec3::Zero();
  double size = 0;
};

Scaled scaled(const TriangleMesh& mesh) {
  constexpr double least_volume = 1e-12;    // over the cube of the size
  const double mesh_volume = volume(mesh);  // throws where the mesh is not sound
  Scaled out;
  std::vector<int> index(mesh.vertices.size(), -1);
  Aabb box;
  for (const auto& triangle : mesh.triangles) {
    auto& t = out.mesh.triangles.emplace_back();
    for (int k = 0; k < 3; ++k) {
      int& v = index[triangle[k]];
      if (v < 0) {
        v = int(out.mesh.vertices.size());
        out.mesh.vertices.push_back(mesh.vertices[triangle[k]]);
        box.add(out.mesh.vertices.back());
      }
      t[k] = v;
    }
  }
  out.center = box.center();
  out.size = (box.high - box.low).norm();
  if (!(out.size > 1e-90 && out.size < 1e90) || !(mesh_volume > least_volume * std::pow(out.size, 3)))
    throw Error("triangle mesh",
                fmt::format("encloses {} m^3 in a box of diagonal {} m, which is no volume to speak of", mesh_volume, out.size));
  for (Vec3& v : out.mesh.vertices) v = (v - out.center) / out.size;
  return out;
}

/// Those of the frame, and the principal ones of the vertices.
std::vector<Vec3> cut_axes(const TriangleMesh& mesh) {
  Vec3 mean = Vec3::Zero();
  for (const Vec3& v : mesh.vertices) mean += v / double(mesh.vertices.size());
  Mat3 scatter = Mat3::Zero();
  for (const Vec3& v : mesh.vertices) scatter += (v - mean) * (v - mean).transpose();
  const Mat3 principal = Eigen::SelfAdjointEigenSolver<Mat3>(scatter).eigenvectors();
  std::vector<Vec3> axes{Vec3::UnitX(), Vec3::UnitY(), Vec3::UnitZ()};
  for (int k = 0; k < 3; ++k)
    if (principal.col(k).cwiseAbs().maxCoeff() < 0.999) axes.push_back(principal.col(k));
  return axes;
}

}  // namespace

std::vector<ConvexHull> convex_decomposition(const TriangleMesh& mesh, const DecompositionSettings& settings) {
  DecompositionSettings::fields(settings, [](const Field& field, const auto& value) {
    check_range(Place(DecompositionSettings::name) / field.name, field, double(value));
  });
  const Scaled work = scaled(mesh);
  const SolidDistance distance(work.mesh);
  const double limit = settings.max_concavity, tolerance = accuracy * limit;
  const auto whole = hull_of(work.mesh.vertices);
  if (!whole) throw Error("triangle mesh", "is too flat for a hull; give it a volume");

  std::vector<Part> parts{{work.mesh.vertices, work.mesh.triangles}};
  std::vector<Body> bodies{make_body(*whole)};
  const bool convex = bodies[0].volume - enclosed(work.mesh) <= 1e-9 * bodies[0].volume;
  if (!convex && settings.max_hulls > 1) {
    // More cuts than hulls: joining finds better ones than stopping early.
    const std::size_t most = 2 * std::size_t(settings.max_hulls);
    const std::vector<Vec3> axes = cut_axes(work.mesh);
    bodies[0].protrusion = measured(bodies[0], distance, limit, tolerance, false);
    std::vector<bool> whole_for_good{false};
    while (parts.size() < most) {
      int worst = -1;
      for (int i = 0; i < int(parts.size()); ++i)
        if (!whole_for_good[i] && bodies[i].protrusion > limit && (worst < 0 || bodies[i].protrusion > bodies[worst].protrusion))
          worst = i;
      if (worst < 0) break;
      auto cut = best_cut(parts[worst], bodies[worst], axes, settings.resolution, distance);
      if (!cut) {
        whole_for_good[worst] = true;
        continue;
      }
      for (Body& body : cut->bodies) body.protrusion = measured(body, distance, limit, tolerance, false);
      parts[worst] = std::move(cut->parts[0]);
      bodies[worst] = std::move(cut->bodies[0]);
      parts.push_back(std::move(cut->parts[1]));
      bodies.push_back(std::move(cut->bodies[1]));
      whole_for_good.push_back(false);
    }
    join(bodies, settings.max_hulls, limit, distance);
  }

  std::vector<ConvexHull> hulls;
  for (const Body& body : bodies) {
    ConvexHull& hull = hulls.emplace_back(simplified({body.points}, settings.max_vertices));
    for (Vec3& p : hull.points) p = work.center + work.size * p;
  }
  return hulls;
}

TriangleMesh in_convex_parts(TriangleMesh mesh, const DecompositionSettings& settings) {
  mesh.hulls = convex_decomposition(mesh, settings);
  mesh.convex_parts = settings;
  return mesh;
}

Compound decompose(const TriangleMesh& mesh, const DecompositionSettings& settings) {
  Compound compound;
  for (ConvexHull& hull : convex_decomposition(mesh, settings)) compound.parts.push_back({.shape = std::move(hull)});
  return compound;
}

double protrusion(const ConvexHull& hull, const TriangleMesh& mesh, double tolerance) {
  if (!(tolerance > 0) || !std::isfinite(tolerance))
    throw Error("protrusion", fmt::format("tolerance must be greater than 0, is {}", tolerance));
  const Scaled work = scaled(mesh);
  const SolidDistance distance(work.mesh);
  ConvexHull moved = hull;
  for (Vec3& p : moved.points) p = (p - work.center) / work.size;
  return work.size * measured(make_body(hull_mesh(moved)), distance, 0, tolerance / work.size, false);
}

}  // namespace rotule
