
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "model/convex_hull.h"

namespace rotule {
namespace {

using std::numbers::pi;

void require_positive(const char* shape, const char* field, double value) {
  if (!(value > 0) || !std::isfinite(value)) throw Error(shape, fmt::format("{} must be greater than 0, is {}", field, value));
}

/// Volume, centroid, and the integral of (x - c)(x - c)^T: what adds up over parts.
struct Moments {
  double volume = 0;
  Vec3 centroid = Vec3::Zero();
  Mat3 second = Mat3::Zero();
};

/// Every edge is met once in each direction: the surface is closed, and all its triangles agree on which side is outside.
void require_closed(const TriangleMesh& mesh) {
  const int count = int(mesh.vertices.size());
  for (int i = 0; i < count; ++i)
    if (!mesh.vertices[i].allFinite()) throw Error("triangle mesh", fmt::format("vertex {} is not finite", i));
  std::vector<std::pair<int, int>> edges;
  edges.reserve(3 * mesh.triangles.size());
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (int k = 0; k < 3; ++k) {
      const int from = mesh.triangles[t][k], to = mesh.triangles[t][(k + 1) % 3];
      if (from < 0 || from >= count)
        throw Error("triangle mesh", fmt::format("triangle {} names vertex {}; there are {}", t, from, count));
      if (from == to) throw Error("triangle mesh", fmt::format("triangle {} names vertex {} twice", t, from));
      edges.emplace_back(from, to);
    }
  if (edges.empty()) throw Error("triangle mesh", "has no triangles");
  std::sort(edges.begin(), edges.end());
  if (const auto twice = std::adjacent_find(edges.begin(), edges.end()); twice != edges.end())
    throw Error("triangle mesh", fmt::format("edge {}-{} is met twice in the same direction; turn one of its triangles around",
                                             twice->first, twice->second));
  for (const auto& [from, to] : edges)
    if (!std::binary_search(edges.begin(), edges.end(), std::pair(to, from)))
      throw Error("triangle mesh", fmt::format("is not closed at edge {}-{}; every edge must belong to two triangles", from, to));
}

/// Sum of the signed tetrahedra between each face and one point; that point is the mean vertex, which keeps the terms small.
Moments polyhedron(const TriangleMesh& mesh) {
  Vec3 origin = Vec3::Zero();
  for (const Vec3& v : mesh.vertices) origin += v / double(mesh.vertices.size());
  Moments m;
  Vec3 first = Vec3::Zero();
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec3 a = mesh.vertices[i] - origin, b = mesh.vertices[j] - origin, c = mesh.vertices[k] - origin;
    const double v = a.dot(b.cross(c)) / 6;
    const Vec3 sum = a + b + c;
    m.volume += v;
    first += v / 4 * sum;
    m.second += v / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  if (!(m.volume > 0))
    throw Error("triangle mesh",
                fmt::format("encloses a volume of {} m^3; its triangles must be counter-clockwise seen from outside", m.volume));
  m.centroid = first / m.volume;
  m.second -= m.volume * m.centroid * m.centroid.transpose();
  m.centroid += origin;
  return m;
}

struct MomentsOf {
  Moments operator()(std::monostate) const { return {}; }

  Moments operator()(const Plane&) const { throw Error("plane", "has no volume; make the body fixed"); }

  Moments operator()(const Sphere& s) const {
    require_positive("sphere", "radius", s.radius);
    const double v = 4.0 / 3 * pi * std::pow(s.radius, 3);
    return {v, Vec3::Zero(), v * s.radius * s.radius / 5 * Mat3::Identity()};
  }

  Moments operator()(const Box& s) const {
    for (int k = 0; k < 3; ++k) require_positive("box", "size", s.size[k]);
    const double v = s.size.prod();
    return {v, Vec3::Zero(), (v / 12 * s.size.cwiseAbs2()).asDiagonal()};
  }

  Moments operator()(const Cylinder& s) const {
    require_positive("cylinder", "radius", s.radius);
    require_positive("cylinder", "height", s.height);
    const double v = pi * s.radius * s.radius * s.height;
    const double across = v * s.radius * s.radius / 4;
    return {v, Vec3::Zero(), Vec3(across, across, v * s.height * s.height / 12).asDiagonal()};
  }

  Moments operator()(const Capsule& s) const {
    require_positive("capsule", "radius", s.radius);
    require_positive("capsule", "length", s.length);
    const double r = s.radius, l = s.length;
    const double tube = pi * r * r * l, ball = 4.0 / 3 * pi * r * r * r;
    // The half balls' z^2 is measured from their flat faces at +-l/2, where their centroids are 3r/8 away.
    const double across = tube * r * r / 4 + ball * r * r / 5;
    const double along = tube * l * l / 12 + ball * (r * r / 5 + 3 * r * l / 8 + l * l / 4);
    return {tube + ball, Vec3::Zero(), Vec3(across, across, along).asDiagonal()};
  }

  Moments operator()(const Cone& s) const {
    require_positive("cone", "radius", s.radius);
    require_positive("cone", "height", s.height);
    const double v = pi * s.radius * s.radius * s.height / 3;
    const double across = v * 3 * s.radius * s.radius / 20;
    return {v, Vec3(0, 0, s.height / 4), Vec3(across, across, v * 3 * s.height * s.height / 80).asDiagonal()};
  }

  Moments operator()(const Ellipsoid& s) const {
    for (int k = 0; k < 3; ++k) require_positive("ellipsoid", "radii", s.radii[k]);
    const double v = 4.0 / 3 * pi * s.radii.prod();
    return {v, Vec3::Zero(), (v / 5 * s.radii.cwiseAbs2()).asDiagonal()};
  }

  Moments operator()(const HeightField&) const { throw Error("height field", "has no volume; make the body fixed"); }

  Moments operator()(const ConvexHull& s) const { return polyhedron(hull_mesh(s)); }

  Moments operator()(const TriangleMesh& s) const {
    require_closed(s);
    return polyhedron(s);
  }

  /// `weighted` by the parts' relative densities: mass in place of volume.
  Moments operator()(const Compound& s) const {
    if (s.parts.empty()) throw Error("compound", "has no parts");
    std::vector<Moments> parts;
    Moments whole;
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
      const CompoundPart& part = s.parts[i];
      const auto require = [&](bool ok, const char* what) {
        if (!ok) throw Error(fmt::format("compound: part {}", i), what);
      };
      require(part.position.allFinite(), "position is not finite");
      require(std::abs(part.orientation.norm() - 1) < 1e-6, "orientation must be a unit quaternion");
      const Mat3 R = part.orientation.normalized().toRotationMatrix();
      Moments m = std::visit(*this, part.shape);
      require(m.volume > 0, "has no volume");
      m.centroid = part.position + R * m.centroid;
      m.second = R * m.second * R.transpose();
      if (weighted) {
        require(part.density > 0 && std::isfinite(part.density), "density must be greater than 0");
        m.volume *= part.density;
        m.second *= part.density;
      }
      whole.volume += m.volume;
      whole.centroid += m.volume * m.centroid;
      parts.push_back(m);
    }
    whole.centroid /= whole.volume;
    for (const Moments& m : parts) {
      const Vec3 d = m.centroid - whole.centroid;
      whole.second += m.second + m.volume * d * d.transpose();
    }
    return whole;
  }

  bool weighted = true;
};

}  // namespace

MassProperties mass_properties(const Shape& shape, double density) {
  if (!(density > 0) || !std::isfinite(density)) throw Error("density", fmt::format("must be greater than 0, is {}", density));
  const Moments m = std::visit(MomentsOf{.weighted = true}, shape);
  if (!(m.volume > 0)) throw Error("shape", "a point has no volume; give the body's mass instead of a density");
  return {density * m.volume, m.centroid, density * (m.second.trace() * Mat3::Identity() - m.second)};
}

double volume(const Shape& shape) { return std::visit(MomentsOf{.weighted = false}, shape).volume; }

}  // namespace rotule
