// Linkages: closed loops of bars on hinges. The planar ones move in the plane y = 0; being built of hinges in space, each loop
// locks three motions out of the plane more often than needed, so that their constraints are redundant.
#include <fmt/format.h>
#include <rotule/error.h>

#include <array>
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {
namespace {

using std::numbers::pi;

constexpr double thickness = 0.01;  // radius of the bars, half the thickness of plates

/// A joint of a planar linkage: where it is, and how fast it moves.
struct Pin {
  Vec3 at;
  Vec3 velocity = Vec3::Zero();
};

Vec3 in_plane(double x, double z) { return {x, 0, z}; }

/// The rate of turn, about y, of a rigid body that carries both pins.
Vec3 turn_rate(const Pin& a, const Pin& b) {
  const Vec3 d = b.at - a.at;
  return d.cross(b.velocity - a.velocity) / d.squaredNorm();
}

/// The pin at the end of a bar turning about the fixed pin `a` at `rate` rad/s (about y), `angle` from x towards z.
Pin crank_end(const Vec3& a, double length, double angle, double rate) {
  const Vec3 arm = length * in_plane(std::cos(angle), std::sin(angle));
  return {a + arm, Vec3(0, -rate, 0).cross(arm)};
}

/// The pin at distances r_a and r_b of two pins, to the left of the way from a to b: where a dyad of two bars meets.
Pin dyad(const Pin& a, double r_a, const Pin& b, double r_b) {
  const Vec3 d = b.at - a.at;
  const double length = d.norm(), x = (length * length + r_a * r_a - r_b * r_b) / (2 * length);
  const Vec3 e = d / length, left = in_plane(-e.z(), e.x());
  Pin out{a.at + x * e + std::sqrt(r_a * r_a - x * x) * left};

  // Lengths keep: (c - a) . (v - v_a) = 0 and (c - b) . (v - v_b) = 0.
  const Vec3 p = out.at - a.at, q = out.at - b.at;
  const double s = p.dot(a.velocity), t = q.dot(b.velocity), det = p.x() * q.z() - p.z() * q.x();
  out.velocity = in_plane((s * q.z() - t * p.z()) / det, (p.x() * t - q.x() * s) / det);
  return out;
}

BodyDef moving_bar(const std::string& name, const Pin& a, const Pin& b) {
  return moving(bar(name, a.at, b.at, thickness, "steel"), a.at, a.velocity, turn_rate(a, b));
}

/// A triangular plate with a pin at each corner.
BodyDef moving_plate(const std::string& name, const Pin& a, const Pin& b, const Vec3& c) {
  BodyDef body{.name = name, .position = (a.at + b.at + c) / 3, .material = "steel"};
  ConvexHull hull;
  for (const Vec3& corner : {a.at, b.at, c})
    for (const double side : {-thickness, thickness}) hull.points.push_back(corner - body.position + Vec3(0, side, 0));
  body.shape = hull;
  return moving(body, a.at, a.velocity, turn_rate(a, b));
}

void add_hinge(Scene& scene, const std::string& name, const std::string& a, const std::string& b, const Vec3& at) {
  scene.add(Hinge{.name = name, .between = {a, b}, .at = at, .axis = Vec3::UnitY()});
}

}  // namespace

Scene four_bar() {
  const Pin a{Vec3::Zero()}, d{in_plane(1, 0)};
  const Pin b = crank_end(a.at, 0.3, pi / 3, 8), c = dyad(b, 0.9, d, 0.7);
  Scene scene;
  scene.name = "four_bar";
  scene.description =
      "A planar crank-rocker of three steel bars and the ground on four hinges, its crank turning full circles under gravity.";
  scene.materials = {steel};
  scene.add(moving_bar("crank", a, b));
  scene.add(moving_bar("coupler", b, c));
  scene.add(moving_bar("rocker", c, d));
  add_hinge(scene, "crank_pivot", "world", "crank", a.at);
  add_hinge(scene, "crank_pin", "crank", "coupler", b.at);
  add_hinge(scene, "rocker_pin", "coupler", "rocker", c.at);
  add_hinge(scene, "rocker_pivot", "rocker", "world", d.at);
  scene.recipe = {.dt = 1e-3, .duration = 5};
  return scene;
}

Scene six_bar_loop() {
  // Stephenson's third chain: the coupler of a four-bar is a triangle, whose third corner drives a dyad to the ground.
  const Pin a{Vec3::Zero()}, d{in_plane(1, 0)}, g{in_plane(1.5, 0.9)};
  const Pin b = crank_end(a.at, 0.3, pi / 3, 8), c = dyad(b, 0.9, d, 0.7);
  Pin e;
  {
    const Vec3 bc = c.at - b.at;
    e.at = b.at + 0.5 * bc + 0.45 * in_plane(-bc.z(), bc.x());
    e.velocity = b.velocity + turn_rate(b, c).cross(e.at - b.at);
  }
  const Pin f = dyad(e, 1.3, g, 0.9);
  Scene scene;
  scene.name = "six_bar_loop";
  scene.description =
      "Stephenson's planar six-bar: two loops of steel bars, a triangular coupler and seven hinges, its crank turning under "
      "gravity.";
  scene.materials = {steel};
  scene.add(moving_bar("crank", a, b));
  scene.add(moving_plate("coupler", b, c, e.at));
  scene.add(moving_bar("rocker", c, d));
  scene.add(moving_bar("link", e, f));
  scene.add(moving_bar("output", f, g));
  add_hinge(scene, "crank_pivot", "world", "crank", a.at);
  add_hinge(scene, "crank_pin", "crank", "coupler", b.at);
  add_hinge(scene, "rocker_pin", "coupler", "rocker", c.at);
  add_hinge(scene, "rocker_pivot", "rocker", "world", d.at);
  add_hinge(scene, "coupler_point", "coupler", "link", e.at);
  add_hinge(scene, "output_pin", "link", "output", f.at);
  add_hinge(scene, "output_pivot", "output", "world", g.at);
  scene.recipe = {.dt = 1e-3, .duration = 5};
  return scene;
}

Scene slider_crank() {
  constexpr double crank = 0.2, rod = 0.5, angle = pi / 4, rate = 10;
  const Pin a{Vec3::Zero()}, b = crank_end(a.at, crank, angle, rate);
  // x = r cos(t) + sqrt(l^2 - r^2 sin(t)^2), and its derivative.
  const double reach = std::sqrt(rod * rod - b.at.z() * b.at.z());
  const Pin c{in_plane(b.at.x() + reach, 0), in_plane(b.velocity.x() - b.at.z() * b.velocity.z() / reach, 0)};
  Scene scene;
  scene.name = "slider_crank";
  scene.description =
      "A crank, a connecting rod and a piston on a slider, of steel, turning under gravity as an engine without fire.";
  scene.materials = {steel};
  scene.add(moving_bar("crank", a, b));
  scene.add(moving_bar("connecting_rod", b, c));
  scene.add(moving({.name = "piston", .position = c.at, .shape = Box{Vec3(0.08, 0.06, 0.06)}, .material = "steel"}, c.at,
                   c.velocity, Vec3::Zero()));
  add_hinge(scene, "crank_pivot", "world", "crank", a.at);
  add_hinge(scene, "crank_pin", "crank", "connecting_rod", b.at);
  add_hinge(scene, "wrist_pin", "connecting_rod", "piston", c.at);
  scene.add(Slider{.name = "guide", .between = {"world", "piston"}, .at = c.at, .axis = Vec3::UnitX()});
  scene.recipe = {.dt = 5e-4, .duration = 5};
  return scene;
}

Scene bricard() {
  // Denavit-Hartenberg: from each hinge axis (z) to the next, a length l along the common perpendicular (x) and a twist of +-90
  // degrees in turn; the turns about the axes alternate between u and v. Six such steps close for every u if
  // cos u + cos v + cos u cos v = 0 (Y. Chen, Z. You, T. Tarnai, "Threefold-symmetric Bricard linkages for deployable
  // structures", Int. J. Solids and Structures 2005).
  constexpr int count = 6;
  constexpr double l = 0.5, u = 75 * pi / 180;
  const double v = std::acos(-std::cos(u) / (1 + std::cos(u)));
  std::array<Vec3, count> at, axis;
  Eigen::Isometry3d frame = Eigen::Isometry3d::Identity();
  for (int i = 0; i < count; ++i) {
    at[i] = frame.translation();
    axis[i] = frame.linear().col(2);
    frame = frame * Eigen::AngleAxisd(i % 2 ? v : u, Vec3::UnitZ()) * Eigen::Translation3d(l, 0, 0) *
            Eigen::AngleAxisd(i % 2 ? -pi / 2 : pi / 2, Vec3::UnitX());
  }

  Scene scene;
  scene.name = "bricard";
  scene.description =
      "Bricard's loop of six bars and six hinges, which by counting should be rigid and yet turns itself inside out, here under "
      "gravity with "
      "one bar held.";
  scene.materials = {steel};
  for (int i = 0; i < count; ++i) {
    BodyDef link = bar(fmt::format("bar_{}", i + 1), at[i], at[(i + 1) % count], thickness, "steel");
    link.fixed = i == 0;
    scene.add(link);
  }
  for (int i = 0; i < count; ++i)
    scene.add(Hinge{.name = fmt::format("hinge_{}", i + 1),
                    .between = {fmt::format("bar_{}", (i + count - 1) % count + 1), fmt::format("bar_{}", i + 1)},
                    .at = at[i],
                    .axis = axis[i]});
  scene.recipe = {.dt = 1e-3, .duration = 5};
  return scene;
}

Scene n_four_bar(int loops) {
  if (loops < 1 || loops > 10000) throw Error("n_four_bar_" + std::to_string(loops), "must have from 1 to 10000 loops");
  Scene scene;
  scene.name = fmt::format("n_four_bar_{}", loops);
  scene.description = "A row of parallelograms falling over, through poses in which all its bars lie on one line.";
  // Slender bars: turned about the hinges' axis they weigh m l^2/12; about themselves, next to nothing.
  const auto slender = [](const std::string& name, const Vec3& middle, int axis) {
    Vec3 inertia = Vec3::Constant(1.0 / 12);
    inertia[axis] = 1e-3;
    return BodyDef{.name = name, .mass = 1, .inertia = Mat3(inertia.asDiagonal()), .position = middle};
  };
  const Vec3 omega = Vec3::UnitY();  // the upper pins start at 1 m/s
  for (int i = 0; i <= loops; ++i) {
    const Vec3 foot(i, 0, 0), head(i, 0, 1);
    const std::string post = fmt::format("post_{}", i);
    scene.add(moving(slender(post, 0.5 * (foot + head), 2), foot, Vec3::Zero(), omega));
    scene.add(Hinge{.name = fmt::format("foot_{}", i), .between = {"world", post}, .at = foot, .axis = Vec3::UnitY()});
  }
  for (int i = 0; i < loops; ++i) {
    const std::string beam = fmt::format("beam_{}", i);
    BodyDef body = slender(beam, Vec3(i + 0.5, 0, 1), 0);
    body.velocity = Vec3::UnitX();
    scene.add(body);
    for (const int end : {i, i + 1})
      scene.add(Hinge{.name = fmt::format("{}_of_{}", end == i ? "left" : "right", beam),
                      .between = {fmt::format("post_{}", end), beam},
                      .at = Vec3(end, 0, 1),
                      .axis = Vec3::UnitY()});
  }
  scene.recipe = {.dt = 1e-3, .duration = 10};
  return scene;
}

}  // namespace rotule::scenes
