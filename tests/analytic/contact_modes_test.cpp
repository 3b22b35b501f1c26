// Contacts as springs and as rows of small motions, against textbook formulas.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/state_space.h>

#include <algorithm>
#include <cmath>

#include "support/constants.h"

namespace rotule {
namespace {

using testing::g;

VecX squares(const Scene& scene, const LinearisationSettings& settings, Linearisation* told = nullptr) {
  Recipe recipe = recipes::balanced();
  recipe.contacts = ConeContactSettings{};
  const Linearisation l = linearise(World(scene, recipe), settings);
  if (told) *told = l;
  return normal_modes(l).squared_frequencies;
}

void expect_among(const VecX& all, double wanted, double tolerance) {
  double nearest = infinity;
  for (const double x : all) nearest = std::min(nearest, std::abs(x - wanted));
  EXPECT_LT(nearest, tolerance * std::max(1.0, std::abs(wanted))) << "looked for " << wanted << " in\n" << all.transpose();
}

/// All of one material.
Scene rough_ground(double friction) {
  Scene scene;
  scene.materials.push_back({.name = "rough", .friction = friction});
  return scene;
}
Scene on_a_floor(double friction = 0.5) {
  Scene scene = rough_ground(friction);
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "rough"});
  return scene;
}

TEST(ContactModes, ABoxOnSoftCornersHeavesRocksAndSlides) {
  // Four springs k at half-widths a and b, h below the centre. Without friction: heave 4k/m; rocking about the centre
  // (4 k b^2 - m g h)/I, the weight tipping it over.
  const double m = 12, a = 0.3, b = 0.2, h = 0.25, k = 5e4;
  const Vec3 size(2 * a, 2 * b, 2 * h);
  const double Ix = m * (size.y() * size.y() + size.z() * size.z()) / 12,
               Iy = m * (size.x() * size.x() + size.z() * size.z()) / 12;
  for (const double friction : {0.0, 0.6}) {
    Scene scene = on_a_floor(friction);
    scene.add({.name = "box", .mass = m, .position = Vec3(0.4, -0.2, h), .shape = Box{size}, .material = "rough"});
    Linearisation l;
    const VecX found = squares(scene, {.contacts = true, .contact_stiffness = k}, &l);
    EXPECT_EQ(l.pressed_contacts, 4);
    EXPECT_LT(l.unbalance, 1e-6);
    expect_among(found, 4 * k / m, 1e-9);
    if (friction == 0) {
      ASSERT_EQ(found.size(), 6);
      expect_among(found, (4 * k * b * b - m * g * h) / Ix, 1e-7);
      expect_among(found, (4 * k * a * a - m * g * h) / Iy, 1e-7);
      expect_among(found, 0, 1e-6);
    } else {
      // What sticks turns about the floor: I + m h^2, and no sliding.
      ASSERT_EQ(found.size(), 3);
      expect_among(found, (4 * k * b * b - m * g * h) / (Ix + m * h * h), 1e-7);
      expect_among(found, (4 * k * a * a - m * g * h) / (Iy + m * h * h), 1e-7);
      // With springs along the floor too, swaying and rocking are coupled: two modes of
      //   [m, 0; 0, I] and [K_t, -K_t h; -K_t h, K_r + K_t h^2 - m g h].
      const double ratio = 0.8, K_t = 4 * ratio * k;
      const VecX sheared = squares(scene, {.contacts = true, .contact_stiffness = k, .shear_ratio = ratio});
      ASSERT_EQ(sheared.size(), 6);
      const auto coupled = [&](double I, double rock, double sign) {
        const double A = K_t / m, B = (rock + K_t * h * h - m * g * h) / I, C = K_t * K_t * h * h / (m * I);
        return 0.5 * (A + B + sign * std::sqrt((A - B) * (A - B) + 4 * C));
      };
      for (const double sign : {-1.0, 1.0}) {
        expect_among(sheared, coupled(Ix, 4 * k * b * b, sign), 1e-7);
        expect_among(sheared, coupled(Iy, 4 * k * a * a, sign), 1e-7);
      }
    }
  }
}

TEST(ContactModes, ABlockBetweenWallsIsHeldByThoseThatPress) {
  // Soft walls, pressed together by 2 mm each: k on either side, and the damping of both.
  const double m = 3, k = 2e4, d = 30;
  Scene scene;
  scene.gravity.setZero();
  scene.materials.push_back({.name = "soft", .friction = 0, .contact_stiffness = k, .contact_damping = d});
  scene.materials.push_back({.name = "smooth", .friction = 0});
  scene.add({.name = "left",
             .fixed = true,
             .orientation = Quat(Eigen::AngleAxisd(1.5707963267948966, Vec3::UnitY())),
             .shape = Plane{},
             .material = "soft"});
  scene.add({.name = "right",
             .fixed = true,
             .position = Vec3(0.196, 0, 0),
             .orientation = Quat(Eigen::AngleAxisd(-1.5707963267948966, Vec3::UnitY())),
             .shape = Plane{},
             .material = "soft"});
  scene.add({.name = "ball", .mass = m, .position = Vec3(0.098, 0, 0), .shape = Sphere{0.1}, .material = "smooth"});
  Linearisation l;
  const VecX found = squares(scene, {.contacts = true}, &l);
  EXPECT_EQ(l.pressed_contacts, 2);
  expect_among(found, 2 * k / m, 1e-9);
  const auto damped = damped_modes(l);
  const auto fastest = std::max_element(damped.begin(), damped.end(), [](const DampedMode& p, const DampedMode& q) {
    return std::abs(p.eigenvalue) < std::abs(q.eigenvalue);
  });
  EXPECT_NEAR(fastest->damping_ratio, 2 * d / (2 * std::sqrt(2 * k * m)), 1e-9);
  // Between curved sides pressing with N a ball is thrown out: here the sides are flat, and it is free along them.
  int still = 0;
  for (const double x : found) still += std::abs(x) < 1e-6;
  EXPECT_EQ(still, 5);
}

TEST(ContactModes, BallsRollInsteadOfTipping) {
  // A ball on a floor is free to roll (two rows fewer, nothing stiff); on top of a fixed ball it falls, by
  // (7/5) (R + r) phi'' = g phi; in a bowl of balls' making it would swing.
  const double r = 0.2, R = 0.7;
  Scene scene = on_a_floor();
  scene.add({.name = "ball", .mass = 2, .position = Vec3(0, 0, r), .shape = Sphere{r}, .material = "rough"});
  VecX found = squares(scene, {.contacts = true});
  ASSERT_EQ(found.size(), 3);
  EXPECT_LT(found.cwiseAbs().maxCoeff(), 1e-6);
  Scene dome = rough_ground(0.5);
  dome.add({.name = "dome", .fixed = true, .shape = Sphere{R}, .material = "rough"});
  dome.add({.name = "ball", .mass = 2, .position = Vec3(0, 0, R + r), .shape = Sphere{r}, .material = "rough"});
  found = squares(dome, {.contacts = true});
  ASSERT_EQ(found.size(), 3);
  EXPECT_NEAR(found[0], -5 * g / (7 * (R + r)), 1e-5);
  EXPECT_NEAR(found[1], -5 * g / (7 * (R + r)), 1e-5);
}

TEST(ContactModes, ARollingHalfBallRightsItself) {
  // A body with a round underside of radius r, its centre of mass c below the centre of curvature: m g c / (I + m (r - c)^2).
  const double m = 1.5, r = 0.3, c = 0.1, I = 0.02;
  Scene scene = on_a_floor();
  scene.add({.name = "toy",
             .mass = m,
             .inertia = Mat3(Vec3(I, I, 0.03).asDiagonal()),
             .center_of_mass = Vec3(0, 0, -c),
             .position = Vec3(0, 0, r),
             .shape = Sphere{r},
             .material = "rough"});
  const VecX found = squares(scene, {.contacts = true});
  ASSERT_EQ(found.size(), 3);
  for (const int k : {1, 2}) EXPECT_NEAR(found[k], m * g * c / (I + m * (r - c) * (r - c)), 1e-5);
  // A plank on a log: radius R, half thickness t: (R - t) m g / (I + m t^2).
  const double R = 0.4, t = 0.03;
  Scene rocker = rough_ground(0.9);
  rocker.add({.name = "log",
              .fixed = true,
              .orientation = Quat(Eigen::AngleAxisd(1.5707963267948966, Vec3::UnitX())),
              .shape = Cylinder{R, 1.0},
              .material = "rough"});
  const Vec3 size(1.2, 0.3, 2 * t);
  rocker.add({.name = "plank", .mass = 4, .position = Vec3(0, 0, R + t), .shape = Box{size}, .material = "rough"});
  Linearisation l;
  const VecX rocking = squares(rocker, {.contacts = true}, &l);
  const double I_plank = 4 * (size.x() * size.x() + size.z() * size.z()) / 12;
  expect_among(rocking, 4 * g * (R - t) / (I_plank + 4 * t * t), 1e-5);
}

TEST(ContactModes, WhatDoesNotPressIsLeftOutAndSaid) {
  // Two boxes side by side that touch: nothing presses them together.
  Scene scene = on_a_floor();
  for (const double x : {-0.1, 0.1})
    scene.add({.name = x < 0 ? "left" : "right",
               .mass = 1,
               .position = Vec3(x, 0, 0.1),
               .shape = Box{Vec3(0.2, 0.2, 0.2)},
               .material = "rough"});
  Linearisation l;
  squares(scene, {.contacts = true}, &l);
  EXPECT_EQ(l.pressed_contacts, 8);
  EXPECT_GT(l.open_contacts, 0);
  EXPECT_EQ(l.slipping_contacts, 0);
  // On a slope steeper than friction bears it would slip.
  const double angle = 0.7;
  Scene slope = on_a_floor();
  slope.gravity = g * Vec3(std::sin(angle), 0, -std::cos(angle));
  slope.add({.name = "block", .mass = 1, .position = Vec3(0, 0, 0.1), .shape = Box{Vec3(0.8, 0.8, 0.2)}, .material = "rough"});
  squares(slope, {.contacts = true}, &l);
  EXPECT_GT(l.slipping_contacts, 0);
  EXPECT_THROW(squares(slope, {.contacts = true, .contact_stiffness = -1}), Error);
}

}  // namespace
}  // namespace rotule
