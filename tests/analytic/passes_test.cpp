// Bodies that pass each other: they exchange momentum where their exact paths touch and nowhere else, and leave in the right
// direction. By the reference stepper at 1/60 s, and by the real-time stepper, whose lanes are floats. ROTULE_CASES multiplies
// the counts.
#include <gtest/gtest.h>
#include <rotule/queries.h>
#include <rotule/world.h>

#include <numbers>

#include "support/dice.h"

namespace rotule {
namespace {

using testing::cases;
using testing::Dice;

double degrees_between(const Vec3& a, const Vec3& b) { return std::atan2(a.cross(b).norm(), a.dot(b)) * 180 / std::numbers::pi; }

/// Two balls without friction, one of them thrown past or at the other at 1 to 100 m/s: the exact answer is known.
struct Pass {
  Pass(int seed, double e) {
    Dice dice(seed);
    const double r_a = dice.in(0.05, 0.3), r_b = dice.in(0.05, 0.3), m_a = dice.in(0.1, 5), m_b = dice.in(0.1, 5);
    v = std::pow(10, dice.in(0, 2));
    const Vec3 d = dice.direction(), side = d.unitOrthogonal(), at = dice.vector(1);
    const double r = r_a + r_b, off = dice.in(0, 1.5) * r, distance = dice.in(1.2, 4) * r + dice.in(0, 1) * v / 60;
    v_b = dice.in(0, 1) * dice.direction();
    v_a = v * d + v_b;
    scene.gravity.setZero();
    scene.materials = {{.name = "m", .friction = 0, .restitution = e}};
    scene.add({.name = "a", .mass = m_a, .position = at - distance * d + off * side, .velocity = v_a, .shape = Sphere{r_a}});
    scene.add({.name = "b", .mass = m_b, .position = at, .velocity = v_b, .shape = Sphere{r_b}});
    for (BodyDef& body : scene.bodies) body.material = "m";
    steps = static_cast<int>(60 * 2 * (distance + r) / v) + 5;
    hits = off < r;
    after_a = v_a;
    after_b = v_b;
    if (!hits) return;
    const Vec3 n = (std::sqrt(r * r - off * off) * d - off * side).normalized();
    const double impulse = (1 + e) * v * d.dot(n) / (1 / m_a + 1 / m_b);
    after_a -= impulse / m_a * n;
    after_b += impulse / m_b * n;
  }
  Scene scene;
  double v;
  Vec3 v_a, v_b, after_a, after_b;
  int steps;
  bool hits;
};

/// A stepper, and what rounding alone makes of a velocity in it.
struct Stepping {
  const char* name;
  Recipe recipe;
  double rounding;  // of a velocity
  double degrees;   // of directions after a blow
};

std::vector<Stepping> steppings() {
  return {{"reference", recipes::realtime(), 1e-9, 0.5}, {"realtime", recipes::fastest(), 3e-6, 1}};
}

class BallsThatPass : public ::testing::TestWithParam<std::tuple<int, double>> {};

TEST_P(BallsThatPass, ExchangeMomentumOnlyWhereTheyTouchAndThenInTheRightDirection) {
  const auto& [which, e] = GetParam();
  const Stepping by = steppings()[which];
  int touched = 0;
  for (int seed = 0; seed < cases(300); ++seed) {
    const Pass pass(seed, e);
    World world(pass.scene, by.recipe);
    for (int i = 0; i < pass.steps; ++i) world.step();
    const Vec3 a = world.velocity("a"), b = world.velocity("b");
    if (!pass.hits) {
      EXPECT_LT((a - pass.v_a).norm(), by.rounding * pass.v) << "seed " << seed;
      continue;
    }
    ++touched;
    for (const auto& [got, exact] : {std::pair(a, pass.after_a), std::pair(b, pass.after_b)}) {
      if ((exact - pass.v_b).norm() < 1e-3 * pass.v) continue;
      EXPECT_LT(degrees_between(got - pass.v_b, exact - pass.v_b), by.degrees) << "seed " << seed;
    }
    EXPECT_LT((b - pass.after_b).norm(), 0.01 * pass.v) << "seed " << seed;
  }
  EXPECT_GT(touched, cases(100));
}

INSTANTIATE_TEST_SUITE_P(Restitution, BallsThatPass,
                         ::testing::Combine(::testing::Values(0, 1), ::testing::Values(0.0, 0.5, 1.0)), [](const auto& info) {
                           return steppings()[std::get<0>(info.param)].name + std::string("_e") +
                                  std::to_string(int(10 * std::get<1>(info.param)));
                         });

/// A body of any shape that is thrown past fixed boxes and gates, or past another body that moves and turns itself.
struct Throw {
  Throw(int seed, bool at_another) {
    Dice dice(1000 + seed);
    v = std::pow(10, dice.in(0, 2));
    const double size = dice.in(0.05, 0.3);
    smallest = size;
    const Vec3 d = dice.direction(), side = d.unitOrthogonal(), at = dice.vector(1);
    const Vec3 spin = seed % 5 ? Vec3(dice.in(0, 20) * dice.direction()) : Vec3(Vec3::Zero());
    const double off = dice.in(0, 2) * size + (at_another ? 0 : dice.in(0, 0.6));
    scene.gravity.setZero();
    scene.materials = {{.name = "m", .friction = 0.3, .restitution = seed % 2 ? 0.5 : 0.0}};
    Vec3 carried = Vec3::Zero();
    if (at_another) {
      const double other = dice.in(0.05, 0.3);
      smallest = std::min(size, other);
      carried = dice.in(0, 3) * dice.direction();
      scene.add({.name = "b",
                 .mass = dice.in(0.2, 5),
                 .inertia = Mat3(0.02 * Mat3::Identity()),
                 .position = at,
                 .orientation = dice.orientation(),
                 .velocity = carried,
                 .angular_velocity = dice.in(0, 20) * dice.direction(),
                 .shape = dice.shape(other)});
    } else {
      const auto wall = [&](const std::string& name, const Vec3& position) {
        const Box box{Vec3(dice.in(0.1, 1), dice.in(0.1, 1), dice.in(0.05, 0.5))};
        scene.add({.name = name, .fixed = true, .position = position, .orientation = dice.orientation(), .shape = box});
      };
      wall("wall", at);
      if (seed % 3 == 0) wall("gate", at + 2 * off * side);
    }
    // All moments equal: the free motion is a straight line and a steady turn.
    scene.add({.name = "a",
               .mass = 1.0,
               .inertia = Mat3(0.01 * Mat3::Identity()),
               .position = at + off * side - (dice.in(1.5, 4) + dice.in(0, 1) * v / 60) * d,
               .orientation = dice.orientation(),
               .velocity = carried + v * d,
               .angular_velocity = spin,
               .shape = dice.shape(size)});
    for (BodyDef& body : scene.bodies) body.material = "m";
    steps = static_cast<int>(60 * (10 / v + 0.1)) + 1;
  }

  /// The least distance along the exact paths, by going as far as nothing can be met.
  [[nodiscard]] double least_distance() const {
    const auto pose = [](const BodyDef& body, double t) -> Pose {
      const Vec3 turn = t * body.angular_velocity;
      const Quat turned = turn.isZero() ? Quat::Identity() : Quat(Eigen::AngleAxisd(turn.norm(), turn.normalized()));
      return {body.position + t * body.velocity, turned * body.orientation};
    };
    const BodyDef& a = scene.bodies.back();
    double least = infinity;
    for (std::size_t k = 0; k + 1 < scene.bodies.size(); ++k) {
      const BodyDef& b = scene.bodies[k];
      const double reach = 2 * 0.3;  // of no shape more than that
      const double speed = (a.velocity - b.velocity).norm() + reach * (a.angular_velocity.norm() + b.angular_velocity.norm());
      for (double t = 0; t < steps / 60.0 && least > 0;) {
        const auto apart = distance(a.shape, pose(a, t), b.shape, pose(b, t));
        if (!apart) return -1;
        least = std::min(least, apart->distance);
        t += std::max(apart->distance, 1e-5) / speed;
      }
    }
    return least;
  }

  Scene scene;
  double v, smallest;
  int steps;
};

class Passes : public ::testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(Passes, OfAnyShapeTouchWhereTheExactPathsDo) {
  const auto& [which, at_another] = GetParam();
  const Stepping by = steppings()[which];
  int touched = 0, ghosts = 0, missed = 0;
  for (int seed = 0; seed < cases(300); ++seed) {
    const Throw thrown(seed, at_another);
    const double least = thrown.least_distance();
    // Beside the same body with nobody in its way: what rounding makes of its spin is no exchange of momentum.
    Scene empty = thrown.scene;
    empty.bodies = {thrown.scene.bodies.back()};
    World world(thrown.scene, by.recipe), alone(empty, by.recipe);
    for (int i = 0; i < thrown.steps; ++i) {
      world.step();
      alone.step();
    }
    const double change =
        (world.velocity("a") - alone.velocity("a")).norm() / thrown.v +
        (world.angular_velocity("a") - alone.angular_velocity("a")).norm() / (1 + alone.angular_velocity("a").norm());
    if (least > 1e-4 * thrown.smallest) {
      ghosts += change > 10 * by.rounding;
      EXPECT_LT(change, 10 * by.rounding) << "seed " << seed << ": passes at " << least << " m";
    } else if (least <= 0) {
      ++touched;
      missed += change < 10 * by.rounding;
    }
  }
  EXPECT_GT(touched, cases(100));
  EXPECT_EQ(missed, 0) << "of " << touched;
  EXPECT_EQ(ghosts, 0);
}

INSTANTIATE_TEST_SUITE_P(Of, Passes, ::testing::Combine(::testing::Values(0, 1), ::testing::Bool()), [](const auto& info) {
  return steppings()[std::get<0>(info.param)].name + std::string(std::get<1>(info.param) ? "_past_bodies" : "_past_walls");
});

/// A floor and four walls around it.
void add_closed_box(Scene& scene) {
  const double half = 0.6;
  scene.add({.fixed = true, .shape = Plane{}, .material = "m"});
  for (const double side : {-1.0, 1.0}) {
    scene.add({.fixed = true, .position = {side * (half + 0.1), 0, 2}, .shape = Box{Vec3(0.2, 2, 4)}, .material = "m"});
    scene.add({.fixed = true, .position = {0, side * (half + 0.1), 2}, .shape = Box{Vec3(2, 0.2, 4)}, .material = "m"});
  }
}

/// At the end of any step, m, however long steps take: where the bound on their work ends one, it says so (StepWork).
double deepest_overlap(const Scene& scene, int steps) {
  Recipe recipe = recipes::realtime();
  *recipe.solver.find<int>("step_rows") = 0;
  World world(scene, recipe);
  double overlap = 0;
  for (int i = 0; i < steps; ++i) {
    world.step();
    for (const ContactResult& c : world.contacts()) overlap = std::max(overlap, -c.gap);
  }
  return overlap;
}

// Fifty bodies in a closed box, each spinning at 50 rad/s as it falls: at 1/60 s they turn by 0.8 rad in a step.
TEST(Heaps, OfFastSpinningBodiesHardlyOverlap) {
  for (const int seed : {1, 2, 3}) {
    Dice dice(seed);
    Scene scene;
    scene.materials = {{.name = "m", .friction = 0.5, .restitution = 0}};
    add_closed_box(scene);
    for (int i = 0; i < 50; ++i) {
      const double size = dice.in(0.06, 0.12);
      scene.add({.mass = dice.in(0.5, 2),
                 .position = {0.35 * (i % 3 - 1), 0.35 * (i / 3 % 3 - 1), 0.3 + 0.35 * (i / 9)},
                 .orientation = dice.orientation(),
                 .angular_velocity = 50 * dice.direction(),
                 .shape = dice.shape(size),
                 .material = "m"});
    }
    EXPECT_LT(deepest_overlap(scene, 120), 0.01 * 0.06) << "seed " << seed;
  }
}

// A strong motor turns a paddle among bodies of all shapes in a closed box: they are pushed on by up to 9 cm in a step of 1/60 s,
// which is more than most of them measure, and squeezed between paddle, walls and each other.
TEST(Heaps, ThatAreStirredHardlyOverlap) {
  for (const int seed : {5, 6, 7, 17}) {
    Dice dice(seed);
    Scene scene;
    scene.materials = {{.name = "m", .friction = dice.in(0, 1), .restitution = 0}};
    add_closed_box(scene);
    scene.add({.name = "paddle", .mass = 5.0, .position = {0, 0, 0.25}, .shape = Box{{0.9, 0.06, 0.3}}, .material = "m"});
    scene.add(Hinge{.name = "axle",
                    .between = {"world", "paddle"},
                    .at = {0, 0, 0.25},
                    .axis = {0, 0, 1},
                    .drive = {.motor_speed = dice.in(2, 12), .motor_strength = 1e5}});
    for (int i = 0; i < 24; ++i)
      scene.add({.density = 1000.0,
                 .position = {0.36 * (i % 2 ? 1 : -1), 0.36 * (i / 2 % 2 ? 1 : -1), 0.6 + 0.3 * (i / 4)},
                 .orientation = dice.orientation(),
                 .shape = dice.shape(dice.in(0.06, 0.12)),
                 .material = "m"});
    EXPECT_LT(deepest_overlap(scene, 90), 0.01 * 0.06) << "seed " << seed;
  }
}

}  // namespace
}  // namespace rotule
