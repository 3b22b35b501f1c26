// Poses in which a linkage loses its mind, as textbooks of kinematics have them: change points of parallelograms, dead points of
// cranks.
#include <gtest/gtest.h>
#include <rotule/analyse.h>

#include <cmath>
#include <numbers>

#include "scenes/builders.h"

namespace rotule {
namespace {

using std::numbers::pi;

/// A planar four-bar of hinges about y: ground of length d along x, crank a at this angle, coupler b, rocker c (above).
Scene four_bar_of(double a, double b, double c, double d, double angle) {
  Scene scene;
  const Vec3 A = Vec3::Zero(), D(d, 0, 0), B = a * Vec3(std::cos(angle), 0, std::sin(angle));
  const Vec3 BD = D - B;
  const double far = BD.norm(), inner = std::acos(std::clamp((b * b + far * far - c * c) / (2 * b * far), -1.0, 1.0));
  const double lean = std::atan2(BD.z(), BD.x()) + inner;
  const Vec3 C = B + b * Vec3(std::cos(lean), 0, std::sin(lean));
  const auto bar = [&](const char* name, const Vec3& from, const Vec3& to) {
    const Vec3 along = to - from;
    scene.add(BodyDef{.name = name,
                      .mass = 1,
                      .inertia = Mat3((d * d * Vec3(0.01, 0.1, 0.1)).asDiagonal()),
                      .position = 0.5 * (from + to),
                      .orientation = Quat(Eigen::AngleAxisd(-std::atan2(along.z(), along.x()), Vec3::UnitY()))});
  };
  bar("crank", A, B);
  bar("coupler", B, C);
  bar("rocker", D, C);
  scene.add(Hinge{.name = "A", .between = {"world", "crank"}, .at = A, .axis = Vec3::UnitY()});
  scene.add(Hinge{.name = "B", .between = {"crank", "coupler"}, .at = B, .axis = Vec3::UnitY()});
  scene.add(Hinge{.name = "C", .between = {"coupler", "rocker"}, .at = C, .axis = Vec3::UnitY()});
  scene.add(Hinge{.name = "D", .between = {"world", "rocker"}, .at = D, .axis = Vec3::UnitY()});
  return scene;
}

std::string remark_of(const Scene& scene, std::string_view kind) {
  for (const Remark& remark : examine(scene).remarks)
    if (remark.kind == kind) return remark.text;
  return "";
}

TEST(SingularPoses, AParallelogramHasTwoChangePoints) {
  // Flat at 0 and 180 degrees: from 60 degrees that is 60 one way, 120 the other.
  for (const double size : {1e-3, 1.0, 1e3}) {
    const std::string text = remark_of(four_bar_of(0.3 * size, size, 0.3 * size, size, pi / 3), "singular_pose");
    EXPECT_NE(text.find("turned by 60 degrees"), std::string::npos) << text;
    EXPECT_NE(text.find("turned by 120 degrees"), std::string::npos) << text;
  }
}

TEST(SingularPoses, ACrankRockerHasNone) {
  EXPECT_EQ(remark_of(four_bar_of(0.3, 0.9, 0.7, 1, pi / 3), "singular_pose"), "");
  EXPECT_EQ(remark_of(four_bar_of(0.3, 0.9, 0.7, 1, pi / 3), "singular_start"), "");
}

TEST(SingularPoses, ChangePointsNeedTheLongestAndShortestToMatchTheOthers) {
  // Grashof with equality, s + l = p + q, is what lets all bars lie on one line; a little more of one bar, and it does not.
  EXPECT_NE(remark_of(four_bar_of(0.3, 0.8, 0.5, 1, pi / 3), "singular_pose"), "");
  EXPECT_EQ(remark_of(four_bar_of(0.3, 0.81, 0.5, 1, pi / 3), "singular_pose"), "");
}

TEST(SingularPoses, WhatIsNotLookedAtIsSaid) {
  Scene scene = four_bar_of(0.3, 1, 0.3, 1, pi / 3);
  EXPECT_EQ(remark_of(scene, "singular_poses_unknown"), "");
  for (int k = 0; k < 30; ++k)
    scene.add(BodyDef{.name = "loose_" + std::to_string(k), .mass = 1, .position = Vec3(10.0 + k, 0, 0), .shape = Sphere{0.1}});
  EXPECT_NE(remark_of(scene, "singular_poses_unknown"), "");
}

TEST(SingularPoses, AWayThatCannotBeGoneToItsEndIsSaid) {
  // Two slides, tied by a quarter of a circle beyond whose ends there is nothing: the root of a negative number.
  Scene scene;
  scene.add({.name = "along", .mass = 1, .position = {0, 0, 0}, .shape = Sphere{0.1}});
  scene.add({.name = "up", .mass = 1, .position = {0, 0, 1}, .shape = Sphere{0.1}});
  scene.add(Slider{.name = "x", .between = {"world", "along"}, .axis = {1, 0, 0}});
  scene.add(Slider{.name = "z", .between = {"world", "up"}, .axis = {0, 0, 1}});
  scene.add(Constraint{.name = "arc", .between = {"along", "up"}, .function = [](const JetBody& a, const JetBody& b, const Jet&) {
                         return b.position.z() - sqrt(Jet(1.0) - a.position.x() * a.position.x());
                       }});
  const std::string text = remark_of(scene, "singular_poses_unknown");
  EXPECT_NE(text.find("the linkage of joint \"x\""), std::string::npos) << text;
}

TEST(SingularPoses, AFlatStartIsSaid) {
  const std::string text = remark_of(four_bar_of(0.3, 1, 0.3, 1, 0), "singular_start");
  EXPECT_NE(text.find("2 degrees of freedom here, 1 nearby"), std::string::npos) << text;
}

TEST(SingularPoses, APistonsMotorHasDeadPointsAndACranksHasNone) {
  Scene scene = scenes::slider_crank();
  EXPECT_EQ(remark_of(scene, "dead_point"), "");
  for (JointDef& joint : scene.joints)
    if (auto* hinge = std::get_if<Hinge>(&joint)) hinge->drive = {};
  Scene by_crank = scene, by_piston = scene;
  for (JointDef& joint : by_crank.joints)
    if (auto* hinge = std::get_if<Hinge>(&joint); hinge != nullptr && hinge->name == "crank_pivot")
      hinge->drive = {.motor_speed = 1, .motor_strength = 10};
  for (JointDef& joint : by_piston.joints)
    if (auto* slider = std::get_if<Slider>(&joint)) slider->drive = {.motor_speed = 1, .motor_strength = 10};
  EXPECT_EQ(remark_of(by_crank, "dead_point"), "");
  const std::string text = remark_of(by_piston, "dead_point");
  EXPECT_NE(text.find("dead point when"), std::string::npos) << text;
}

}  // namespace
}  // namespace rotule
