// The farthest point of a shape, against a search through points known to belong to it.
#include "model/support.h"

#include <gtest/gtest.h>
#include <rotule/error.h>

#include <cmath>
#include <numbers>
#include <random>

namespace rotule {
namespace {

using std::numbers::pi;

/// Points of the shape's surface, dense enough that the farthest of them is within `1e-3` of the shape's extent.
std::vector<Vec3> surface(const Shape& shape) {
  std::vector<Vec3> out;
  const int n = 400;
  const auto ring = [&](double r, double z) {
    for (int k = 0; k < n; ++k) out.emplace_back(r * std::cos(2 * pi * k / n), r * std::sin(2 * pi * k / n), z);
  };
  const auto ball = [&](double r, double offset) {
    for (int i = 0; i <= n; ++i) {
      const double a = -pi / 2 + pi * i / n;
      ring(r * std::cos(a), r * std::sin(a) + offset);
    }
  };
  if (const auto* sphere = std::get_if<Sphere>(&shape)) ball(sphere->radius, 0);
  if (const auto* box = std::get_if<Box>(&shape))
    for (int i = 0; i < 8; ++i) out.push_back(0.5 * box->size.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1)));
  if (const auto* cylinder = std::get_if<Cylinder>(&shape))
    for (const double side : {-0.5, 0.5}) ring(cylinder->radius, side * cylinder->height);
  if (const auto* capsule = std::get_if<Capsule>(&shape))
    for (const double side : {-0.5, 0.5}) ball(capsule->radius, side * capsule->length);
  if (const auto* cone = std::get_if<Cone>(&shape)) {
    ring(cone->radius, 0);
    out.emplace_back(0, 0, cone->height);
  }
  if (const auto* hull = std::get_if<ConvexHull>(&shape)) out = hull->points;
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) out = mesh->vertices;
  if (const auto* compound = std::get_if<Compound>(&shape))
    for (const CompoundPart& part : compound->parts)
      for (const Vec3& x : surface(part.shape)) out.push_back(part.position + part.orientation * x);
  return out;
}

TEST(Support, IsTheFarthestPointOfEveryShape) {
  Compound compound;
  compound.parts.push_back({.shape = Cone{0.2, 0.9},
                            .position = Vec3(0.3, 0.1, -0.4),
                            .orientation = Quat(Eigen::AngleAxisd(1.1, Vec3(1, -1, 2).normalized()))});
  compound.parts.push_back({.shape = Box{Vec3(0.5, 0.2, 0.1)}, .position = Vec3(-0.3, 0, 0)});
  const std::vector<Vec3> tetrahedron{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.2, 0.3, 1}};
  const std::vector<Shape> shapes{Sphere{0.4},
                                  Box{Vec3(0.3, 0.7, 0.2)},
                                  Cylinder{0.3, 0.5},
                                  Capsule{0.2, 0.6},
                                  Cone{0.3, 0.7},
                                  ConvexHull{tetrahedron},
                                  TriangleMesh{tetrahedron, {}},
                                  compound};
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal(0, 1);
  for (const Shape& shape : shapes) {
    const std::vector<Vec3> points = surface(shape);
    for (int i = 0; i < 20; ++i) {
      const Vec3 d = Vec3(normal(random), normal(random), normal(random)).normalized();
      double farthest = -infinity;
      double nearest_to_answer = infinity;
      const Vec3 x = support(shape, 3.7 * d);
      for (const Vec3& p : points) {
        farthest = std::max(farthest, d.dot(p));
        nearest_to_answer = std::min(nearest_to_answer, (p - x).norm());
      }
      EXPECT_GE(d.dot(x), farthest - 1e-14) << "shape " << shape.index();
      EXPECT_LT(d.dot(x) - farthest, 1e-3) << "shape " << shape.index();
      EXPECT_LT(nearest_to_answer, 5e-3) << "shape " << shape.index();  // it is a point of the shape
    }
  }
}

TEST(Support, AlongTheAxis) {
  EXPECT_DOUBLE_EQ(support(Cone{0.3, 0.7}, Vec3::UnitZ()).z(), 0.7);
  EXPECT_DOUBLE_EQ(support(Cone{0.3, 0.7}, -Vec3::UnitZ()).z(), 0);
  EXPECT_DOUBLE_EQ(support(Capsule{0.2, 0.6}, -Vec3::UnitZ()).z(), -0.5);
  EXPECT_EQ(support(std::monostate{}, Vec3(1, 2, 3)), Vec3::Zero());
  EXPECT_THROW(support(Plane{}, Vec3::UnitX()), Error);
  EXPECT_THROW(support(ConvexHull{}, Vec3::UnitX()), Error);
}

}  // namespace
}  // namespace rotule
