#pragma once
// What collision results are held against: definitions alone, by shapes' own support functions (model/support.h) and surfaces,
// with brute force in place of algorithms.
#include <rotule/shapes.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "model/convex_hull.h"
#include "model/support.h"

namespace rotule::oracle {

struct Placed {
  Shape shape;
  Pose pose;
};

/// Largest n . x over the placed shape; infinite for a half-space unless n looks along its normal.
inline double reach_along(const Placed& s, const Vec3& n) {
  const Vec3 local = s.pose.orientation.conjugate() * n;
  if (std::holds_alternative<Plane>(s.shape)) return local.z() > 1 - 1e-12 ? n.dot(s.pose.position) : infinity;
  return n.dot(s.pose.position) + local.dot(support(s.shape, local));
}

/// How far A and B are apart along n: negative where they overlap.
inline double separation_along(const Placed& a, const Placed& b, const Vec3& n) {
  return -reach_along(a, n) - reach_along(b, -n);
}

inline double uniform(std::mt19937& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}

inline Vec3 random_direction(std::mt19937& random) {
  std::normal_distribution<double> normal;
  Vec3 v;
  do v = Vec3(normal(random), normal(random), normal(random));
  while (v.norm() < 1e-3);
  return v.normalized();
}

inline Quat random_orientation(std::mt19937& random) {
  std::normal_distribution<double> normal;
  return Quat(normal(random), normal(random), normal(random), normal(random)).normalized();
}

/// A lower bound of the signed distance, the largest separation over all directions: many directions, the best of them bettered
/// by random steps that shrink.
inline double signed_distance(const Placed& a, const Placed& b, std::mt19937& random) {
  if (std::holds_alternative<Plane>(a.shape)) return separation_along(a, b, a.pose.orientation * Vec3::UnitZ());
  if (std::holds_alternative<Plane>(b.shape)) return separation_along(a, b, -(b.pose.orientation * Vec3::UnitZ()));
  constexpr int directions = 300;
  std::vector<std::pair<double, Vec3>> tried;
  for (int i = 0; i < directions; ++i) {
    // Fibonacci's spiral covers the sphere evenly.
    const double z = 1 - (2.0 * i + 1) / directions, phi = i * std::numbers::pi * (3 - std::sqrt(5.0)), r = std::sqrt(1 - z * z);
    const Vec3 n(r * std::cos(phi), r * std::sin(phi), z);
    tried.emplace_back(separation_along(a, b, n), n);
  }
  std::sort(tried.begin(), tried.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  double best = -infinity;
  for (int start = 0; start < 4; ++start) {
    auto [value, n] = tried[start];
    for (double step = 0.1; step > 1e-7; step *= 0.5)
      for (int i = 0; i < 6; ++i) {
        const Vec3 other = (n + step * random_direction(random)).normalized();
        if (const double s = separation_along(a, b, other); s > value) value = s, n = other;
      }
    best = std::max(best, value);
  }
  return best;
}

/// How far a point of the shape's frame is outside (+) or inside (-) its surface, near the surface.
struct HeightAbove {
  Vec3 p;
  static double max_of(double a, double b) { return a > 0 && b > 0 ? std::hypot(a, b) : std::max(a, b); }
  double operator()(const Plane&) const { return p.z(); }
  double operator()(const Sphere& s) const { return p.norm() - s.radius; }
  double operator()(const Box& s) const {
    const Vec3 d = p.cwiseAbs() - s.size / 2;
    return d.maxCoeff() > 0 ? d.cwiseMax(0.0).norm() : d.maxCoeff();
  }
  double operator()(const Cylinder& s) const {
    return max_of(std::hypot(p.x(), p.y()) - s.radius, std::abs(p.z()) - s.height / 2);
  }
  double operator()(const Capsule& s) const {
    return (p - Vec3(0, 0, std::clamp(p.z(), -s.length / 2, s.length / 2))).norm() - s.radius;
  }
  double operator()(const Cone& s) const {
    const double r = std::hypot(p.x(), p.y()), slant = std::hypot(s.radius, s.height);
    return std::max(-p.z(), ((r - s.radius) * s.height + p.z() * s.radius) / slant);
  }
  double operator()(const Ellipsoid& s) const {
    const Vec3 q = p.cwiseQuotient(s.radii);
    return (q.norm() - 1) / q.cwiseQuotient(s.radii).norm() * q.norm();
  }
  double operator()(const ConvexHull& s) const {
    const TriangleMesh mesh = hull_mesh(s);
    double most = -infinity;
    for (const auto& [i, j, k] : mesh.triangles) {
      const Vec3 n = (mesh.vertices[j] - mesh.vertices[i]).cross(mesh.vertices[k] - mesh.vertices[i]).normalized();
      most = std::max(most, n.dot(p - mesh.vertices[i]));
    }
    return most;
  }
  template <class Other>
  double operator()(const Other&) const {
    return infinity;
  }
};

inline double height_above(const Placed& s, const Vec3& x) {
  return std::visit(HeightAbove{s.pose.orientation.conjugate() * (x - s.pose.position)}, s.shape);
}

}  // namespace rotule::oracle
