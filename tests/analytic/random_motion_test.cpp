// Random scenes of the kinds that people build, each struck, dropped or stirred: whatever happens in a step, nothing gains energy
// that was not put in, nothing sinks in, and a step that was cut short says so. A table tells the worst of each kind.
// ROTULE_CASES multiplies the counts.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <numbers>

#include "base/budget.h"
#include "collide/shape/collision_shape.h"
#include "support/dice.h"

namespace rotule {
namespace {

using testing::cases;
using testing::Dice;

Quat turned_about(const Vec3& axis, double angle) { return Quat(Eigen::AngleAxisd(angle, axis)); }

struct Kind {
  const char* name;
  void (*build)(Dice&, Scene&);
};

void lay_floor(Scene& scene) { scene.add({.name = "floor", .fixed = true, .shape = Plane{}}); }

/// What is thrown at something of this height that stands at the origin, along x.
void throw_at(Dice& dice, double height, double mass, Scene& scene) {
  const double speed = std::pow(10, dice.in(0.7, 1.8)), r = dice.in(0.08, 0.3);
  const Vec3 way = Vec3(1, dice.in(-0.1, 0.1), dice.in(-0.1, 0.1)).normalized();
  scene.add({.mass = mass * std::pow(10, dice.in(0, 1.5)),
             .position = {-dice.in(1, 3), dice.in(-0.2, 0.2), r + dice.in(0.1, 1) * height},
             .velocity = speed * way,
             .angular_velocity = dice.vector(20),
             .shape = dice.shape(r)});
}

void wall(Dice& dice, Scene& scene) {
  lay_floor(scene);
  const int columns = 3 + dice.below(8), rows = 3 + dice.below(8);
  const Vec3 brick(dice.in(0.1, 0.3), dice.in(0.2, 0.5), dice.in(0.08, 0.2));
  const double mass = std::pow(10, dice.in(-1, 1));
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k)
      scene.add({.mass = mass,
                 .position = {0, (k - 0.5 * columns + 0.5 * (i % 2)) * 1.001 * brick.y(), (i + 0.5) * brick.z()},
                 .shape = Box{brick}});
  throw_at(dice, rows * brick.z(), mass, scene);
}

void tower(Dice& dice, Scene& scene) {
  lay_floor(scene);
  double z = 0;
  const double width = dice.in(0.3, 0.6);
  for (int i = 4 + dice.below(16); i > 0; --i) {
    const double height = dice.in(0.1, 0.3);
    scene.add({.mass = std::pow(10, dice.in(-0.5, 0.5)),
               .position = {0, 0, z + height / 2},
               .orientation = turned_about(Vec3::UnitZ(), dice.in(0, 6)),
               .shape = dice.below(3) ? Shape(Box{Vec3(width, width, height)}) : Shape(Cylinder{width / 2, height})});
    z += height;
  }
  throw_at(dice, z, 1, scene);
}

void dominoes(Dice& dice, Scene& scene) {
  lay_floor(scene);
  const double thick = dice.in(0.05, 0.15), gap = dice.in(0.2, 0.7);
  for (int i = 10 + dice.below(20); i > 0; --i)
    scene.add({.density = 700.0,
               .position = {gap * i, 0, 0.5},
               .orientation = turned_about(Vec3::UnitZ(), dice.in(-0.1, 0.1)),
               .shape = Box{{thick, 0.5, 1}}});
  throw_at(dice, 0.8, 10, scene);
}

void rain(Dice& dice, Scene& scene) {
  lay_floor(scene);
  const int count = 20 + dice.below(40);
  for (int i = 0; i < count; ++i)
    scene.add({.mass = std::pow(10, dice.in(-1, 1)),
               .position = {dice.in(-0.5, 0.5), dice.in(-0.5, 0.5), 0.5 + 0.45 * i},
               .orientation = dice.orientation(),
               .velocity = {0, 0, -dice.in(0, 5)},
               .shape = dice.shape(dice.in(0.08, 0.15))});
}

void spinning_heap(Dice& dice, Scene& scene) {
  for (int k = 0; k < 3; ++k)
    for (const double side : {-1.0, 1.0}) {
      Vec3 at = Vec3::Zero(), size = Vec3::Constant(2.4);
      at[k] = 1.1 * side;
      size[k] = 0.2;
      scene.add({.fixed = true, .position = at, .shape = Box{size}});
    }
  const int along = 2 + dice.below(2);
  const double cell = 2 / (along + 0.2);
  for (int i = 0; i < along * along * along; ++i)
    scene.add({.density = 1000.0,
               .position = (Vec3(i % along, i / along % along, i / along / along) - Vec3::Constant(0.5 * along - 0.5)) * cell,
               .orientation = dice.orientation(),
               .velocity = dice.vector(3),
               .angular_velocity = dice.vector(60),
               .shape = dice.shape(0.24 * cell)});
}

void logs_on_rails(Dice& dice, Scene& scene) {
  const double apart = dice.in(0.25, 0.5);
  for (const double side : {-apart, apart})
    scene.add({.fixed = true,
               .position = {side, 0, 0},
               .orientation = turned_about(Vec3::UnitX(), dice.in(-0.03, 0.03)),
               .shape = Box{{0.2, 8, 0.3}}});
  scene.add({.fixed = true, .position = {0, 0, -1}, .shape = Plane{}});
  for (int i = 0; i < 3; ++i) {
    const double r = dice.in(0.1, 0.4), length = dice.in(0.5, 1.5);
    scene.add({.density = 700.0,
               .position = {dice.in(-0.1, 0.1), -2 + 1.4 * i, 0.6 + r + dice.in(0, 0.5)},
               .orientation = turned_about(Vec3::UnitZ(), dice.in(-0.5, 0.5)) *
                              turned_about(Vec3::UnitY(), std::numbers::pi / 2 + dice.in(-0.2, 0.2)),
               .velocity = {dice.in(-0.5, 0.5), dice.in(-2, 2), 0},
               .angular_velocity = dice.vector(5),
               .shape = i == 0   ? Shape(Capsule{r, length})
                        : i == 1 ? Shape(Cylinder{r, length})
                                 : Shape(Cone{r, length})});
  }
}

void coins(Dice& dice, Scene& scene) {
  lay_floor(scene);
  for (int i = 0; i < 3; ++i) {
    const double r = std::pow(10, dice.in(-2, -0.3)), thick = r * dice.in(0.02, 0.5), tilt = dice.in(0, 1.5);
    scene.add({.density = 5000.0,
               .position = {2.0 * i, 0, r + thick + dice.in(0, r)},
               .orientation = turned_about(Vec3::UnitX(), tilt),
               .velocity = std::sqrt(r) * dice.vector(1),
               .angular_velocity = Vec3(dice.in(-1, 1), dice.in(-1, 1), dice.in(-10, 10)) / std::sqrt(r),
               .shape = Cylinder{r, thick}});
  }
}

class RandomMotion : public ::testing::TestWithParam<Kind> {};

TEST_P(RandomMotion, GainsNothingSinksNowhereAndSaysWhereItWasCutShort) {
  double worst_ms = 0, worst_gain = 0, worst_overlap = 0, worst_residual = 0;
  int steps = 0, cut = 0, unconverged = 0;
  for (int seed = 0; seed < cases(3); ++seed) {
    SCOPED_TRACE(seed);
    Dice dice(7919 * seed + 13);
    Scene scene;
    scene.materials = {{.name = "m", .friction = dice.in(0.1, 1), .restitution = dice.below(2) ? 0 : dice.in(0, 0.8)}};
    GetParam().build(dice, scene);
    double size = infinity;
    for (BodyDef& body : scene.bodies) {
      body.material = "m";
      if (!body.fixed) size = std::min(size, CollisionShape(body.shape).reach());
    }
    World world(scene, recipes::realtime());
    double least = world.diagnostics().energy(), pushed = 0, overlap = 0;
    const int cut_before = cut;
    const double start = world.diagnostics().kinetic_energy + std::abs(world.diagnostics().potential_energy);
    for (int i = 0; i < 180; ++i, ++steps) {
      const double before = processor_seconds();
      const StepReport& report = world.step();
      worst_ms = std::max(worst_ms, 1e3 * (processor_seconds() - before));
      cut += report.cut;
      unconverged += !report.converged;
      worst_residual = std::max(worst_residual, report.residual);
      const Diagnostics now = world.diagnostics();
      // What is lifted out of something without the motion to pay for it is booked.
      worst_gain = std::max(worst_gain, (now.energy() - least - (now.push_energy - pushed)) / start);
      least = std::min(least, now.energy());
      pushed = now.push_energy;
      overlap = std::max(overlap, now.penetration / size);
    }
    worst_overlap = std::max(worst_overlap, overlap);
    EXPECT_LT(overlap, cut > cut_before ? 0.1 : 0.01);
    EXPECT_LT(pushed, 1e-2 * start);
    EXPECT_TRUE(worst_residual <= 1e-10 || unconverged > 0);
  }
  fmt::print("{}: {} steps, {} cut, {} unconverged, residual {:.1e}, worst step {:.0f} ms, gain {:.1e}, overlap {:.1e}\n",
             GetParam().name, steps, cut, unconverged, worst_residual, worst_ms, worst_gain, worst_overlap);
  EXPECT_LT(worst_gain, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(All, RandomMotion,
                         ::testing::Values(Kind{"wall", wall}, Kind{"tower", tower}, Kind{"dominoes", dominoes},
                                           Kind{"rain", rain}, Kind{"spinning_heap", spinning_heap},
                                           Kind{"logs_on_rails", logs_on_rails}, Kind{"coins", coins}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace rotule
