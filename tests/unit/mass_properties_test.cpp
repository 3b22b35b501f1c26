// Mass properties against closed forms found elsewhere than in the code: other shapes' limits, tessellations and sampling.

#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "model/convex_hull.h"

namespace rotule {
namespace {

using std::numbers::pi;

void expect_same(const MassProperties& a, const MassProperties& b, double tolerance) {
  EXPECT_NEAR(a.mass, b.mass, tolerance * b.mass);
  EXPECT_LT((a.center_of_mass - b.center_of_mass).norm(), tolerance * (1 + b.center_of_mass.norm()));
  EXPECT_LT((a.inertia - b.inertia).norm(), tolerance * b.inertia.norm());
}

/// The eight corners of a box, moved and turned.
std::vector<Vec3> corners(const Vec3& size, const Vec3& position = Vec3::Zero(), const Quat& q = Quat::Identity()) {
  std::vector<Vec3> out;
  for (int i = 0; i < 8; ++i)
    out.push_back(position + q * Vec3(0.5 * size.cwiseProduct(Vec3(i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1))));
  return out;
}

/// A surface of revolution r(z) as a mesh inscribed in it: rings of `n` vertices at the given heights, poles at both ends.
TriangleMesh revolve(const std::vector<std::pair<double, double>>& profile, int n) {
  TriangleMesh mesh;
  const double bottom = profile.front().second, top = profile.back().second;
  for (const auto& [r, z] : profile)
    for (int k = 0; k < n; ++k) mesh.vertices.emplace_back(r * std::cos(2 * pi * k / n), r * std::sin(2 * pi * k / n), z);
  const int south = int(mesh.vertices.size());
  mesh.vertices.emplace_back(0, 0, bottom);
  mesh.vertices.emplace_back(0, 0, top);
  const int rings = int(profile.size());
  for (int k = 0; k < n; ++k) {
    const int next = (k + 1) % n;
    mesh.triangles.push_back({south, next, k});
    mesh.triangles.push_back({south + 1, (rings - 1) * n + k, (rings - 1) * n + next});
    for (int ring = 0; ring + 1 < rings; ++ring) {
      const int a = ring * n;
      mesh.triangles.push_back({a + k, a + next, a + n + next});
      mesh.triangles.push_back({a + k, a + n + next, a + n + k});
    }
  }
  return mesh;
}

/// Mass properties by hit and miss, uniformly in a box that holds the shape.
MassProperties sampled(const std::function<double(const Vec3&)>& density_at, const Vec3& low, const Vec3& high, int samples) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  double mass = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();
  const double cell = (high - low).prod() / samples;
  for (int i = 0; i < samples; ++i) {
    const Vec3 x = low + (high - low).cwiseProduct(Vec3(unit(random), unit(random), unit(random)));
    const double m = density_at(x) * cell;
    mass += m;
    first += m * x;
    second += m * x * x.transpose();
  }
  const Vec3 c = first / mass;
  second -= mass * c * c.transpose();
  return {mass, c, second.trace() * Mat3::Identity() - second};
}

TEST(MassProperties, RoundShapesAreTheLimitsOfTheirTessellations) {
  // The inscribed mesh converges with the square of its edge; one Richardson step leaves its fourth power.
  const auto limit = [](const std::function<TriangleMesh(int)>& mesh) {
    const MassProperties coarse = mass_properties(mesh(100), 700), fine = mass_properties(mesh(200), 700);
    return MassProperties{(4 * fine.mass - coarse.mass) / 3, (4 * fine.center_of_mass - coarse.center_of_mass) / 3,
                          (4 * fine.inertia - coarse.inertia) / 3};
  };
  const double r = 0.3, h = 0.8;
  const auto half_circle = [&](int n, double offset) {
    std::vector<std::pair<double, double>> out;
    for (int i = 0; i <= n; ++i) {
      const double a = -pi / 2 + pi * (i + 1) / (n + 2);
      out.emplace_back(r * std::cos(a), r * std::sin(a) + (a < 0 ? -offset : offset));
    }
    out.front().first = out.back().first;
    return out;
  };
  expect_same(mass_properties(Cylinder{r, h}, 700), limit([&](int n) { return revolve({{r, -h / 2}, {r, h / 2}}, n); }), 1e-6);
  // A cone's apex is a ring so narrow that it does not count.
  expect_same(mass_properties(Cone{r, h}, 700), limit([&](int n) {
                return revolve({{r, 0}, {1e-9 * r, h * (1 - 1e-9)}}, n);
              }),
              1e-6);
  expect_same(mass_properties(Sphere{r}, 700), limit([&](int n) { return revolve(half_circle(n, 0), n); }), 2e-3);
  expect_same(mass_properties(Capsule{r, h}, 700), limit([&](int n) { return revolve(half_circle(n + 1, h / 2), n); }), 2e-3);
}

TEST(MassProperties, CapsuleIsACylinderAndABallInTheLimits) {
  expect_same(mass_properties(Capsule{0.2, 1e-12}, 500), mass_properties(Sphere{0.2}, 500), 1e-10);
  expect_same(mass_properties(Capsule{1e-6, 2}, 500), mass_properties(Cylinder{1e-6, 2}, 500), 1e-5);
}

TEST(MassProperties, CapsuleMatchesSampling) {
  const Capsule capsule{0.3, 0.8};
  const auto inside = [&](const Vec3& x) {
    const Vec3 nearest(0, 0, std::clamp(x.z(), -0.4, 0.4));
    return (x - nearest).norm() < 0.3 ? 700.0 : 0.0;
  };
  expect_same(mass_properties(capsule, 700), sampled(inside, Vec3(-0.3, -0.3, -0.7), Vec3(0.3, 0.3, 0.7), 400000), 5e-3);
}

TEST(MassProperties, HullOfABoxIsTheBox) {
  const Vec3 size(0.4, 1.1, 2.3), position(5, -7, 11);
  const Quat q(Eigen::AngleAxisd(0.7, Vec3(1, 2, -1).normalized()));
  const MassProperties box = mass_properties(Box{size}, 800);
  expect_same(mass_properties(ConvexHull{corners(size)}, 800), box, 1e-14);

  // Points inside, on faces and twice at a corner change nothing; motion carries over.
  std::vector<Vec3> points = corners(size, position, q);
  points.push_back(position);
  points.push_back(points[3]);
  points.push_back(0.25 * (points[0] + points[1] + points[2] + points[3]));
  const Mat3 R = q.toRotationMatrix();
  const MassProperties moved = mass_properties(ConvexHull{points}, 800);
  EXPECT_NEAR(moved.mass, box.mass, 1e-12 * box.mass);
  EXPECT_LT((moved.center_of_mass - position).norm(), 1e-12);
  EXPECT_LT((moved.inertia - R * box.inertia * R.transpose()).norm(), 1e-12 * box.inertia.norm());
}

TEST(MassProperties, HullOfManyPointsOnASphereTendsToTheBall) {
  std::vector<Vec3> points;
  const int n = 4000;
  for (int i = 0; i < n; ++i) {  // a golden spiral
    const double z = 1 - (2 * i + 1.0) / n, a = pi * (3 - std::sqrt(5.0)) * i, r = std::sqrt(1 - z * z);
    points.emplace_back(r * std::cos(a), r * std::sin(a), z);
  }
  const MassProperties hull = mass_properties(ConvexHull{points}, 1);
  expect_same(hull, mass_properties(Sphere{1}, 1), 5e-3);
  EXPECT_LT(hull.mass, mass_properties(Sphere{1}, 1).mass);  // inscribed
}

TEST(MassProperties, CornerTetrahedron) {
  // x, y, z >= 0, x/a + y/b + z/c <= 1: V = abc/6, centroid (a, b, c)/4, int y^2 = V b^2/10, int xy = V ab/20.
  const double a = 1.5, b = 0.6, c = 2.5, rho = 1200, m = rho * a * b * c / 6;
  const TriangleMesh mesh{{{0, 0, 0}, {a, 0, 0}, {0, b, 0}, {0, 0, c}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  Mat3 about_corner;
  about_corner << b * b + c * c, -a * b / 2, -a * c / 2, -a * b / 2, a * a + c * c, -b * c / 2, -a * c / 2, -b * c / 2,
      a * a + b * b;
  about_corner *= m / 10;
  const Vec3 g = Vec3(a, b, c) / 4;
  const MassProperties expected{m, g, about_corner - m * (g.squaredNorm() * Mat3::Identity() - g * g.transpose())};
  expect_same(mass_properties(mesh, rho), expected, 1e-13);
  expect_same(mass_properties(ConvexHull{mesh.vertices}, rho), expected, 1e-13);
  EXPECT_NEAR(volume(mesh), a * b * c / 6, 1e-15);
}

TEST(MassProperties, MeshOfATorusMatchesItsClosedForm) {
  // A torus: genus one, not convex. V = 2 pi^2 R r^2, I_axis = m (R^2 + 3 r^2 / 4).
  const double R = 1, r = 0.3;
  const int n = 200;
  TriangleMesh mesh;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const double u = 2 * pi * i / n, v = 2 * pi * j / n;
      mesh.vertices.emplace_back((R + r * std::cos(v)) * std::cos(u), (R + r * std::cos(v)) * std::sin(u), r * std::sin(v));
      const int i1 = (i + 1) % n, j1 = (j + 1) % n;
      mesh.triangles.push_back({i * n + j, i1 * n + j, i1 * n + j1});
      mesh.triangles.push_back({i * n + j, i1 * n + j1, i * n + j1});
    }
  const MassProperties torus = mass_properties(mesh, 1);
  const double m = 2 * pi * pi * R * r * r;
  EXPECT_NEAR(torus.mass, m, 1e-3 * m);
  EXPECT_NEAR(torus.inertia(2, 2), m * (R * R + 0.75 * r * r), 2e-3 * m);
  EXPECT_NEAR(torus.inertia(0, 0), m * (0.5 * R * R + 0.625 * r * r), 2e-3 * m);
}

TEST(MassProperties, ABoxCutInTwoTurnedPartsIsTheBox) {
  // Two halves of a 2 x 1 x 1 box; each half is described in axes of its own, turned by 90 degrees about z.
  const Quat turn(Eigen::AngleAxisd(pi / 2, Vec3::UnitZ()));
  Compound halves;
  halves.parts.push_back({.shape = Box{Vec3(1, 1, 1)}, .position = Vec3(-0.5, 0, 0), .orientation = turn});
  halves.parts.push_back({.shape = Box{Vec3(0.5, 1, 1)}, .position = Vec3(0.25, 0, 0)});
  halves.parts.push_back({.shape = Box{Vec3(1, 0.5, 1)}, .position = Vec3(0.75, 0, 0), .orientation = turn});
  expect_same(mass_properties(halves, 300), mass_properties(Box{Vec3(2, 1, 1)}, 300), 1e-14);
  EXPECT_NEAR(volume(halves), 2, 1e-14);
}

TEST(MassProperties, CompoundOfUnequalDensitiesMatchesSampling) {
  const Quat q(Eigen::AngleAxisd(0.9, Vec3(1, 1, 0.3).normalized()));
  const Vec3 at(0.5, -0.2, 0.1);
  Compound pair;
  pair.parts.push_back({.shape = Cone{0.4, 0.6}, .position = at, .orientation = q, .density = 3});
  pair.parts.push_back({.shape = Sphere{0.3}, .position = Vec3(-0.5, 0, 0)});
  const auto density_at = [&](const Vec3& x) {
    const Vec3 y = q.conjugate() * (x - at);
    double rho = 0;
    if (y.z() > 0 && y.z() < 0.6 && std::hypot(y.x(), y.y()) < 0.4 * (1 - y.z() / 0.6)) rho += 30;
    if ((x - Vec3(-0.5, 0, 0)).norm() < 0.3) rho += 10;
    return rho;
  };
  expect_same(mass_properties(pair, 10), sampled(density_at, Vec3(-0.9, -1, -1), Vec3(1.3, 0.9, 1), 2000000), 1e-2);
  EXPECT_NEAR(volume(pair), pi * 0.16 * 0.2 + 4.0 / 3 * pi * 0.027, 1e-14);  // densities do not count in a volume
}

TEST(MassProperties, ACompoundWithinACompoundIsFlattened) {
  const Quat q(Eigen::AngleAxisd(0.4, Vec3::UnitX()));
  const CompoundPart inner{.shape = Cylinder{0.1, 0.5}, .position = Vec3(0, 0.3, 0), .density = 2};
  Compound nested;
  nested.parts.push_back({.shape = Compound{{inner}}, .position = Vec3(1, 0, 0), .orientation = q, .density = 3});
  Compound flat;
  flat.parts.push_back({.shape = inner.shape, .position = Vec3(1, 0, 0) + q * inner.position, .orientation = q, .density = 6});
  expect_same(mass_properties(nested, 5), mass_properties(flat, 5), 1e-14);
}

TEST(MassProperties, BadShapesAreRefused) {
  const double nan = std::nan("");
  const std::vector<Vec3> square{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  const TriangleMesh good{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  ASSERT_NO_THROW(mass_properties(good, 1));
  TriangleMesh open = good, out_of_range = good, one_turned = good, inside_out = good, not_finite = good;
  open.triangles.pop_back();
  out_of_range.triangles[2][1] = 4;
  std::swap(one_turned.triangles[0][0], one_turned.triangles[0][1]);
  for (auto& t : inside_out.triangles) std::swap(t[0], t[1]);
  not_finite.vertices[1].x() = infinity;
  Compound empty_part, skewed;
  empty_part.parts.push_back({});
  skewed.parts.push_back({.shape = Sphere{}, .orientation = Quat(2, 0, 0, 0)});
  const std::vector<Shape> bad{std::monostate{},
                               Plane{},
                               Sphere{0},
                               Sphere{nan},
                               Sphere{infinity},
                               Box{Vec3(1, -1, 1)},
                               Cylinder{0.1, 0},
                               Capsule{-1, 1},
                               Cone{1, nan},
                               ConvexHull{},
                               ConvexHull{square},
                               ConvexHull{{{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}}},
                               ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, nan, 0}, {0, 0, 1}}},
                               TriangleMesh{},
                               open,
                               out_of_range,
                               one_turned,
                               inside_out,
                               not_finite,
                               Compound{},
                               empty_part,
                               skewed};
  for (std::size_t i = 0; i < bad.size(); ++i) EXPECT_THROW(mass_properties(bad[i], 1000), Error) << "shape " << i;
  for (const double density : {0.0, -1.0, nan, infinity}) EXPECT_THROW(mass_properties(Sphere{}, density), Error) << density;
}

TEST(ConvexHull, IsClosedOutwardAndHoldsAllPoints) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal(0, 1);
  ConvexHull hull;
  for (int i = 0; i < 300; ++i) hull.points.emplace_back(normal(random), normal(random), 2 * normal(random));
  const TriangleMesh mesh = hull_mesh(hull);
  EXPECT_NO_THROW(mass_properties(mesh, 1));  // closed and outward, or it would say so
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec3 n = (hull.points[j] - hull.points[i]).cross(hull.points[k] - hull.points[i]).normalized();
    for (const Vec3& p : hull.points) EXPECT_LT(n.dot(p - hull.points[i]), 1e-12);
  }
}

}  // namespace
}  // namespace rotule
