// A world that changes between steps: ids, names, bodies and joints that come and go, and what forces and blows do.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <set>

#include "scenes/builders.h"
#include "support/variants.h"

namespace rotule {
namespace {

using testing::alternatives;

BodyDef brick(const std::string& name, const Vec3& at) {
  return {.name = name, .mass = 2.0, .center_of_mass = Vec3(0.05, -0.02, 0.1), .position = at, .shape = Box{Vec3(0.3, 0.2, 0.1)}};
}

/// Three bricks in a row, swinging from the world.
Scene row_of_bricks() {
  Scene scene;
  for (int i = 0; i < 3; ++i) {
    const std::string name = "brick_" + std::to_string(i);
    scene.add(brick(name, Vec3(0.5 * i + 0.25, 0, 0)));
    scene.add(Ball{.name = "pin_" + std::to_string(i),
                   .between = {i ? "brick_" + std::to_string(i - 1) : "world", name},
                   .at = Vec3(0.5 * i, 0, 0)});
  }
  return scene;
}

/// The world as it stands now, as a scene of its own.
Scene as_scene(const World& world, const Scene& described) {
  Scene out;
  out.gravity = world.gravity();
  for (BodyDef body : described.bodies) {
    const BodyId id = world.body(body.name);
    body.position = world.position(id);
    body.orientation = world.orientation(id);
    body.velocity = world.velocity(id);
    body.angular_velocity = world.angular_velocity(id);
    out.add(body);
  }
  return out;
}

std::vector<double> bits(const World& world, BodyId id) {
  std::vector<double> out;
  for (const Vec3& v : {world.position(id), world.velocity(id), world.angular_velocity(id), world.center_of_mass(id)})
    out.insert(out.end(), v.data(), v.data() + 3);
  const Quat q = world.orientation(id);
  out.insert(out.end(), q.coeffs().data(), q.coeffs().data() + 4);
  return out;
}

TEST(World, TheTenLineStartCompilesWithBraces) {
  Scene scene;
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  scene.add({.name = "crate", .mass = 2.0, .position = {0, 0, 4}, .shape = Box{}});
  World world(scene, recipes::realtime());
  for (int i = 0; i < 30; ++i) world.step(1.0 / 60);
  EXPECT_NEAR(world.position("crate").z(), 4 - 0.5 * 9.81 * 0.25, 1e-9) << "falls freely at first";
  for (int i = 30; i < 240; ++i) world.step(1.0 / 60);
  EXPECT_NEAR(world.position("crate").z(), 0.5, 1e-9) << "then lies on the ground";
  EXPECT_EQ(world.position("ground"), Vec3::Zero());
}

TEST(World, IdsOfTheSceneAreIdsOfTheWorld) {
  Scene scene;
  const BodyId ball = scene.add({.name = "ball", .mass = 1.0});
  const BodyId other = scene.add({.mass = 1.0});
  const JointId pin = scene.add(Ball{.name = "pin", .between = {"world", "ball"}});
  World world(scene);
  EXPECT_EQ(world.body("ball"), ball);
  EXPECT_EQ(world.joint("pin"), pin);
  EXPECT_EQ(world.name(other), scene.bodies[1].name);
  EXPECT_FALSE(world.name(other).empty());
}

TEST(World, StaleIdsThrowAndNewIdsDiffer) {
  World world(row_of_bricks());
  const BodyId old = world.body("brick_1");
  const JointId pin = world.joint("pin_1");
  world.remove(old);
  EXPECT_FALSE(world.contains(old));
  EXPECT_FALSE(world.contains(pin)) << "a removed body takes its joints";
  EXPECT_THROW(static_cast<void>(world.position(old)), Error);
  EXPECT_THROW(static_cast<void>(world.name(old)), Error);
  EXPECT_THROW(static_cast<void>(world.joint_force(pin)), Error);
  EXPECT_THROW(static_cast<void>(world.joint_error(pin)), Error);
  EXPECT_THROW(world.set_velocity(old, Vec3::Zero(), Vec3::Zero()), Error);
  EXPECT_THROW(world.apply_impulse(old, Vec3::UnitX(), Vec3::Zero()), Error);
  EXPECT_THROW(world.remove(old), Error);
  EXPECT_THROW(world.remove(pin), Error);
  EXPECT_THROW(static_cast<void>(world.body("brick_1")), Error);
  EXPECT_THROW(static_cast<void>(world.position(BodyId{})), Error);

  const BodyId fresh = world.add(brick("brick_1", Vec3(9, 0, 0)));
  EXPECT_NE(fresh, old);
  EXPECT_TRUE(world.contains(fresh));
  EXPECT_FALSE(world.contains(old));
  EXPECT_EQ(world.body("brick_1"), fresh);
}

TEST(World, RemovalLeavesTheOthersUntouchedToTheBit) {
  World world(row_of_bricks());
  for (int i = 0; i < 50; ++i) world.step();
  const BodyId first = world.body("brick_0"), last = world.body("brick_2");
  const auto first_bits = bits(world, first), last_bits = bits(world, last);
  world.set_force(last, Vec3(1, 2, 3));
  world.remove(world.body("brick_1"));
  EXPECT_EQ(bits(world, first), first_bits);
  EXPECT_EQ(bits(world, last), last_bits);
  EXPECT_EQ(world.bodies().size(), 2u);
  ASSERT_EQ(world.joints().size(), 1u);
  EXPECT_EQ(world.name(world.joints().front()), "pin_0");
  EXPECT_EQ(world.time(), 50 * world.recipe().dt);

  // The force stays with its body: free flight under weight and (1, 2, 3) N.
  const Vec3 before = world.velocity(last);
  for (int i = 0; i < 10; ++i) world.step();
  const Vec3 expected = before + 10 * world.recipe().dt * (world.gravity() + Vec3(1, 2, 3) / 2.0);
  EXPECT_LT((world.velocity(last) - expected).norm(), 1e-12);
}

TEST(World, AfterChangesItMovesAsAFreshWorldWithTheSameState) {
  for (const auto& formulation : {FormulationSettings(AccelerationSettings{}), FormulationSettings(VelocitySettings{})}) {
    Scene scene = row_of_bricks();
    scene.recipe.formulation = formulation;
    if (std::holds_alternative<VelocitySettings>(formulation)) scene.recipe.integrator = SemiImplicitEulerSettings{};
    World world(scene);
    for (int i = 0; i < 50; ++i) world.step();
    // Cut the chain, hang the rest up elsewhere, and tie a newcomer to it.
    world.remove(world.joint("pin_1"));
    world.add(brick("guest", Vec3(2, 0, 0.3)));
    const Hinge to_guest{.name = "to_guest", .between = {"brick_2", "guest"}, .at = Vec3(1.5, 0, 0.1), .axis = Vec3::UnitY()};
    const Ball hook{.name = "hook", .between = {"brick_1", "world"}, .at = Vec3(0.7, 0, 0.1)};
    world.add(to_guest);
    world.add(hook);

    Scene described = row_of_bricks();
    described.bodies.push_back(brick("guest", Vec3(2, 0, 0.3)));
    Scene fresh_scene = as_scene(world, described);
    fresh_scene.recipe = world.recipe();
    fresh_scene.dial.reset();  // that very one
    // The surviving joints were fixed in their bodies at the start: the same points, wherever the bodies are now.
    fresh_scene.add(Ball{.name = "pin_0", .between = {"world", "brick_0"}, .at = Vec3::Zero()});
    const Vec3 pin_2 = world.position("brick_2") + world.orientation("brick_2") * Vec3(-0.25, 0, 0);
    fresh_scene.add(Ball{.name = "pin_2", .between = {"brick_1", "brick_2"}, .at = pin_2});
    fresh_scene.add(to_guest);
    fresh_scene.add(hook);
    World fresh(fresh_scene);
    EXPECT_EQ(world.islands(), fresh.islands());
    for (int i = 0; i < 100; ++i) {
      world.step();
      fresh.step();
    }
    // A step by impulses takes its stiffness from the forces of the last one, which the fresh world has to guess.
    const double tolerance = std::holds_alternative<VelocitySettings>(formulation) ? 1e-7 : 1e-10;
    for (const BodyId id : fresh.bodies()) {
      const std::string& name = fresh.name(id);
      EXPECT_LT((fresh.position(name) - world.position(name)).norm(), tolerance) << name;
      EXPECT_LT((fresh.velocity(name) - world.velocity(name)).norm(), tolerance) << name;
      EXPECT_LT((fresh.angular_velocity(name) - world.angular_velocity(name)).norm(), 10 * tolerance) << name;
    }
  }
}

TEST(World, TheLedgerOutlivesChanges) {
  Scene scene = row_of_bricks();
  World world(scene);
  world.apply_impulse(world.body("brick_2"), Vec3(0, 0, -3), Vec3(1.3, 0, 0));
  const double lost = world.shock(world.body("brick_2"), Vec3(1.4, 0, 0), 0.5, Vec3::UnitZ());
  EXPECT_GT(lost, 0);
  for (int i = 0; i < 5; ++i) world.step();
  const std::int64_t evaluations = world.evaluations();
  EXPECT_EQ(evaluations, 5 * 4);
  world.add(brick("guest", Vec3(5, 0, 0)));
  EXPECT_DOUBLE_EQ(world.diagnostics().shock_energy, lost);
  EXPECT_EQ(world.evaluations(), evaluations);
  world.step();
  EXPECT_EQ(world.evaluations(), evaluations + 4);
}

TEST(World, NamesAreUniqueAndUnnamedThingsGetFreeOnes) {
  World world(row_of_bricks());
  EXPECT_THROW(world.add(brick("brick_1", Vec3(5, 0, 0))), Error);
  EXPECT_THROW(world.add(brick("world", Vec3(5, 0, 0))), Error);
  EXPECT_THROW(world.add(Ball{.name = "pin_1", .between = {"world", "brick_1"}}), Error);
  EXPECT_THROW(world.add(Ball{.name = "x", .between = {"world", "brick_9"}}), Error);
  EXPECT_EQ(world.bodies().size(), 3u);
  EXPECT_EQ(world.joints().size(), 3u);

  // Whatever comes and goes, no two things ever share a name.
  for (int round = 0; round < 4; ++round) {
    std::vector<BodyId> guests;
    for (int i = 0; i < 3; ++i) {
      guests.push_back(world.add(brick("", Vec3(5 + i, 0, 0))));
      world.add(Ball{.between = {"world", world.name(guests.back())}, .at = Vec3(5 + i, 0, 0)});
    }
    world.remove(guests.front());
  }
  std::set<std::string> names;
  for (const BodyId id : world.bodies()) EXPECT_TRUE(names.insert(world.name(id)).second) << world.name(id);
  names.clear();
  for (const JointId id : world.joints()) EXPECT_TRUE(names.insert(world.name(id)).second) << world.name(id);
  world.step();
}

TEST(World, AJointThatTheRecipeCannotTakeIsRefusedAndChangesNothing) {
  Scene scene = row_of_bricks();
  scene.recipe.correction = TreePlacementSettings{};
  World world(scene), untouched(scene);
  world.step();
  untouched.step();
  try {
    world.add(Ball{.name = "closing", .between = {"brick_2", "world"}, .at = Vec3(1.5, 0, 0)});
    FAIL() << "a loop cannot be placed";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("loop"), std::string::npos) << error.what();
  }
  EXPECT_EQ(world.joints().size(), untouched.joints().size());
  world.step();
  untouched.step();
  EXPECT_EQ(world.state_hash(), untouched.state_hash());
}

TEST(World, SetPoseAndVelocityAreWhatIsReadBack) {
  World world(row_of_bricks());
  const BodyId id = world.add(brick("guest", Vec3(3, 0, 0)));
  const Quat q(Eigen::AngleAxisd(0.7, Vec3(1, 2, 3).normalized()));
  world.set_pose(id, {Vec3(4, 5, 6), q});
  world.set_velocity(id, Vec3(1, 0, 2), Vec3(0, 3, 0));
  EXPECT_LT((world.position(id) - Vec3(4, 5, 6)).norm(), 1e-15 * 10);
  EXPECT_LT((world.center_of_mass(id) - (Vec3(4, 5, 6) + q * Vec3(0.05, -0.02, 0.1))).norm(), 1e-14);
  EXPECT_EQ(world.velocity(id), Vec3(1, 0, 2));
  EXPECT_EQ(world.angular_velocity(id), Vec3(0, 3, 0));
  EXPECT_THROW(world.set_pose(id, {Vec3(std::nan(""), 0, 0), q}), Error);
  EXPECT_THROW(world.set_pose(id, {Vec3::Zero(), Quat(2, 0, 0, 0)}), Error);
  EXPECT_THROW(world.set_velocity(id, Vec3(infinity, 0, 0), Vec3::Zero()), Error);
  EXPECT_THROW(world.step(0), Error);
  EXPECT_THROW(world.step(-1e-3), Error);
  EXPECT_THROW(world.step(std::nan("")), Error);
}

TEST(World, AConstantForceGivesForceTimesTimeWithEveryMethod) {
  // Newton's second law from the very step in which the force is set, and none of it left once it is taken away.
  for (const auto& integrator : alternatives<IntegratorSettings>()) {
    Scene scene;
    scene.gravity.setZero();
    scene.recipe.integrator = integrator;
    const BodyId id = scene.add(brick("brick", Vec3::Zero()));
    World world(scene);
    for (int i = 0; i < 5; ++i) world.step();
    const Vec3 F(3, -2, 1), T(0.01, 0, 0);
    world.set_force(id, F, T);
    for (int i = 0; i < 7; ++i) world.step();
    const Vec3 gained = 7 * world.recipe().dt * F;
    EXPECT_LT((world.diagnostics().linear_momentum - gained).norm(), 1e-13) << name_of(integrator);
    world.set_force(id, Vec3::Zero());
    for (int i = 0; i < 7; ++i) world.step();
    EXPECT_LT((world.diagnostics().linear_momentum - gained).norm(), 1e-13) << name_of(integrator);
  }
}

TEST(World, AnImpulseAddsItsMomentumToAFreeMechanism) {
  World world(scenes::mannequin());
  for (int i = 0; i < 10; ++i) world.step();
  const Diagnostics before = world.diagnostics();
  const Vec3 impulse(1, -2, 0.5), at(0.3, 0.1, 0.2);
  world.apply_impulse(world.body("left_hand"), impulse, at);
  const Diagnostics after = world.diagnostics();
  EXPECT_LT((after.linear_momentum - before.linear_momentum - impulse).norm(), 1e-11);
  EXPECT_LT((after.angular_momentum - before.angular_momentum - at.cross(impulse)).norm(), 1e-11);
  EXPECT_LT(after.joint_error.velocity, 1e-11) << "the joints pass it on at once";
}

TEST(World, ABlowOnACompoundPendulumTurnsItAboutItsPivot) {
  // Angular momentum about the pivot: I_pivot omega = lever x impulse, whatever the pivot answers.
  World world(scenes::pendulum());
  const BodyId bar = world.body("bar");
  const double m = world.mass(bar), L = 1, r = 0.02, I = m * (L * L / 3 + r * r / 4);
  world.apply_impulse(bar, Vec3(0, 0, 0.4), Vec3(0.8, 0, 0));
  EXPECT_NEAR(world.angular_velocity(bar).y(), -0.8 * 0.4 / I, 1e-12);
  EXPECT_NEAR(world.velocity(bar).z(), 0.5 * 0.8 * 0.4 / I, 1e-12);
}

TEST(World, AShockTakesOutTheEnergyItSays) {
  for (const double e : {0.0, 0.4, 1.0}) {
    World world(scenes::mannequin());
    const double before = world.diagnostics().kinetic_energy;
    const BodyId hand = world.body("right_hand");
    const Vec3 at = world.center_of_mass(hand), v = world.velocity(hand);
    const double lost = world.shock(hand, at, e);
    EXPECT_LT((world.velocity(hand) + e * v).norm(), 1e-10 * v.norm()) << "thrown back by e";
    EXPECT_NEAR(before - world.diagnostics().kinetic_energy, lost, 1e-11 * before);
    EXPECT_NEAR(world.diagnostics().shock_energy, lost, 1e-14 * before);
    EXPECT_LT(world.diagnostics().joint_error.velocity, 1e-11);
    EXPECT_GT(lost, e < 1 ? 0 : -1e-11 * before);
    EXPECT_LT(lost, e < 1 ? before : 1e-11 * before);
  }
}

}  // namespace
}  // namespace rotule
