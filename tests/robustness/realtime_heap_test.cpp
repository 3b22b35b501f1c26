// Random heaps that bodies are thrown onto and taken from: nothing is lost through the floor, nothing stops being a number. The
// number of steps is that of ROTULE_SOAK_STEPS, or few.
#include <gtest/gtest.h>
#include <rotule/world.h>

#include <cstdlib>
#include <random>

namespace rotule {
namespace {

int soak_steps() {
  const char* asked = std::getenv("ROTULE_SOAK_STEPS");
  return asked != nullptr ? std::atoi(asked) : 600;
}

/// With or without sleeping, bodies being thrown and taken all the while; a kinematic sweeper goes to and fro.
void soak(double sleep_after) {
  std::mt19937 random(7);
  const auto number = [&](double from, double to) { return std::uniform_real_distribution(from, to)(random); };
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .position = {0, 0, -0.5}, .shape = Box{.size = {40, 40, 1}}});
  BodyDef sweeper{.name = "sweeper", .position = {0, 0, 0.3}, .shape = Box{.size = {0.2, 3, 0.6}}};
  sweeper.motion = PrescribedMotion{.displacement = {"3 * sin(0.7 * t)", "0", "0"}};
  scene.add(sweeper);
  Recipe recipe = recipes::fastest();
  recipe.stepper = RealtimeStepperSettings{.sleep_after = sleep_after};
  World world(scene, recipe);
  std::vector<BodyId> thrown;
  for (int step = 0; step < soak_steps(); ++step) {
    if (step % 6 == 0) {
      const Vec3 size(number(0.1, 0.6), number(0.1, 0.6), number(0.1, 0.6));
      const std::vector<Shape> shapes{Box{.size = size}, Sphere{.radius = size.x()},
                                      Capsule{.radius = 0.3 * size.x(), .length = size.y()},
                                      Cylinder{.radius = 0.5 * size.x(), .height = size.z()}};
      BodyDef def;
      def.mass = std::exp(number(-2, 3));
      def.position = {number(-1, 1), number(-1, 1), number(1, 4)};
      def.orientation = Quat(number(-1, 1), number(-1, 1), number(-1, 1), number(-1, 1)).normalized();
      def.velocity = {number(-3, 3), number(-3, 3), number(-20, 0)};
      def.angular_velocity = {number(-20, 20), number(-20, 20), number(-20, 20)};
      def.shape = shapes[random() % shapes.size()];
      thrown.push_back(world.add(def));
    }
    if (step % 15 == 14 && thrown.size() > 20) {
      const std::size_t k = random() % thrown.size();
      world.remove(thrown[k]);
      thrown.erase(thrown.begin() + static_cast<std::ptrdiff_t>(k));
    }
    if (step % 40 == 0 && !thrown.empty())
      world.set_force(thrown[random() % thrown.size()], {number(-50, 50), 0, number(0, 50)}, Vec3::Zero());
    world.step();
  }
  int lost = 0;
  for (const BodyId id : thrown) {
    ASSERT_TRUE(world.position(id).allFinite());
    const Vec3 p = world.position(id);
    lost += p.z() < -0.3 && std::abs(p.x()) < 20 && std::abs(p.y()) < 20;
  }
  EXPECT_EQ(lost, 0);
}

TEST(RealtimeHeap, SurvivesThrowingAndTaking) { soak(0); }
TEST(RealtimeHeap, SurvivesThemWhileOthersSleep) { soak(0.2); }

}  // namespace
}  // namespace rotule
