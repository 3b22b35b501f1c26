// Numbers that a run can be asked for by name: of driven joints, of contacts, of accelerations; from the world, from recordings.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "record/quantities.h"
#include "record/recorded_motion.h"
#include "record/tables.h"
#include "support/constants.h"
#include "support/files.h"

namespace rotule {
namespace {

using testing::Folder;
using testing::g;

constexpr double arm_mass = 2, arm_length = 0.5;

/// An arm on a driven hinge about y, and a ball that drops onto a floor.
Scene driven_arm() {
  Scene scene;
  scene.gravity = {0, 0, -g};
  scene.materials = {{.name = "stuff", .friction = 0.5, .restitution = 0.6}};
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}, .material = "stuff"});
  scene.add({.name = "ball", .mass = 1, .position = {3, 0, 0.3}, .shape = Sphere{0.1}, .material = "stuff"});
  BodyDef arm{.name = "arm", .mass = arm_mass, .position = {arm_length, 0, 2}, .contacts = false};
  arm.inertia = 0.1 * Mat3::Identity();
  scene.add(arm);
  scene.add(Hinge{.name = "crank",
                  .between = {"world", "arm"},
                  .at = {0, 0, 2},
                  .axis = {0, 1, 0},
                  .drive = {.motor_speed = 2, .motor_strength = 1e3}});
  scene.recipe = recipes::balanced();
  scene.dial.reset();
  return scene;
}

/// The torque that holds the arm against its weight while it turns at constant speed, about the hinge's axis: -m g L cos(angle).
double weight_torque(double angle) { return -arm_mass * g * arm_length * std::cos(angle); }

TEST(Numbers, AMotorsTorqueIsApartFromTheConstraints) {
  World world(driven_arm());
  for (int i = 0; i < 300; ++i) {
    const double before = world.joint_motion("crank").angle.z();
    world.step();
    const JointMotion crank = world.joint_motion("crank");
    if (i < 20) continue;
    EXPECT_NEAR(crank.angular_rate.z(), 2, 1e-5);  // closing the hinge takes a share of (rate h)^2
    EXPECT_NEAR(crank.angle.z() - before, 2 * world.recipe().dt, 1e-8);
    EXPECT_NEAR(crank.motor_torque.z(), weight_torque(before), 0.1);
    EXPECT_NEAR(crank.motor_power, crank.angular_rate.z() * crank.motor_torque.z(), 1e-9);
    EXPECT_EQ(crank.motor_torque.x(), 0);
    EXPECT_NEAR(world.joint_force("crank").torque.y(), 0, 1e-9) << "what the constraint bears has no part about the axis";
    // Circular motion: omega^2 L towards the pivot.
    EXPECT_NEAR(world.acceleration(world.body("arm")).norm(), 4 * arm_length, 0.02);
  }
}

TEST(Numbers, AreRecordedAndPlottedByName) {
  const Folder folder("numbers_recorded");
  const std::string path = folder.path / "arm.h5";
  const Scene scene = driven_arm();
  {
    World world(scene);
    world.keep_books(true);
    TrajectoryWriter writer(path, to_json(scene), scene.recipe, {"floor", "ball", "arm"}, {"crank"});
    TrajectoryFrame frame;
    capture(world, frame);
    writer.append(frame);
    for (int i = 0; i < 600; ++i) {
      world.step();
      capture(world, frame);
      writer.append(frame);
    }
    writer.finish();
  }
  const TrajectoryReader reader(path);
  const Plot torque = plot_quantity(reader, "crank.motor_torque");
  ASSERT_EQ(torque.series.size(), 1u) << "the hinge's own axis alone";
  EXPECT_EQ(torque.y.label, "motor torque [N m]");
  const Plot angle = plot_quantity(reader, "crank.angle");
  for (std::size_t i = 50; i < 600; ++i) EXPECT_NEAR(torque.series[0].y[i + 1], weight_torque(angle.series[0].y[i]), 0.1) << i;
  EXPECT_NO_THROW(static_cast<void>(plot_quantity(reader, "energy_balance")));
  EXPECT_NO_THROW(static_cast<void>(plot_quantity(reader, "ball.contact_force.z")));
  try {
    static_cast<void>(plot_quantity(reader, "crank.motor_torqe"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean \"crank.motor_torque\"?"), std::string::npos) << error.what();
  }

  // What is listed is there.
  std::vector<std::string> names;
  for (const QuantityName& name : quantities_in(reader)) {
    names.push_back(name.name);
    EXPECT_NO_THROW(static_cast<void>(plot_quantity(reader, name.name))) << name.name;
  }
  const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
  EXPECT_TRUE(has("crank.motor_torque"));
  EXPECT_TRUE(has("work_motors"));
  EXPECT_TRUE(has("lost_impacts"));
  EXPECT_FALSE(has("crank.motor_force"));
  EXPECT_FALSE(has("lost_drag"));
  EXPECT_FALSE(has("floor.velocity"));

  // Each frame's contacts are its own; impulses add up to what the ball's momentum changed by beyond its weight.
  double impulse = 0, before = 0;
  std::size_t contacts = 0;
  for (std::size_t i = 1; i < reader.frames(); ++i) {
    const TrajectoryFrame frame = reader.frame(i);
    const std::vector<double>&bodies = frame["contact_bodies"], &force = frame["contact_point_force"];
    ASSERT_EQ(force.size(), 3 * bodies.size() / 2);
    for (std::size_t k = 0; 2 * k < bodies.size(); ++k) {
      EXPECT_EQ(bodies[2 * k] + bodies[2 * k + 1], 1) << "floor and ball";
      impulse += scene.recipe.dt * (bodies[2 * k + 1] == 1 ? 1 : -1) * force[3 * k + 2];
    }
    contacts += bodies.size() / 2;
    before = frame["velocity"][5];
  }
  EXPECT_GT(contacts, 2u);
  EXPECT_NEAR(impulse, before + g * scene.recipe.dt * 600, 1e-9);

  // As a table.
  write_csv(RecordedMotion::of_recording(path), 0, folder.path / "arm.csv");
  std::ifstream table(folder.path / "arm.contacts.csv");
  std::string line;
  std::getline(table, line);
  EXPECT_EQ(line.substr(0, 45), "time [s],body_a,body_b,point.x [m],point.y [m");
  std::size_t lines = 0;
  while (std::getline(table, line)) ++lines;
  EXPECT_EQ(lines, contacts);
}

/// Cardan's angles of a universal joint, a slider's travel, a ball's rotation vector.
TEST(Numbers, JointPositionsAreThoseOfThePose) {
  Scene scene;
  scene.gravity.setZero();
  const auto body = [&](const char* name) { scene.add({.name = name, .mass = 1, .inertia = Mat3::Identity()}); };
  body("slid"), body("turned"), body("balled");
  scene.add(Slider{.name = "slider", .between = {"world", "slid"}, .axis = {0, 0, 1}});
  scene.add(Universal{.name = "universal", .between = {"world", "turned"}});
  scene.add(Ball{.name = "ball", .between = {"world", "balled"}});
  World world(scene, recipes::exact());
  world.set_pose(world.body("slid"), {{0, 0, 0.7}, Quat::Identity()});
  const Quat turn = Quat(Eigen::AngleAxisd(0.5, Vec3::UnitX())) * Quat(Eigen::AngleAxisd(-0.3, Vec3::UnitY()));
  world.set_pose(world.body("turned"), {Vec3::Zero(), turn});
  world.set_pose(world.body("balled"), {Vec3::Zero(), Quat(Eigen::AngleAxisd(1.1, Vec3(1, 2, 2).normalized()))});
  world.set_velocity(world.body("balled"), Vec3::Zero(), {0.1, 0.2, 0.3});
  EXPECT_NEAR(world.joint_motion("slider").displacement.z(), 0.7, 1e-15);
  EXPECT_NEAR(world.joint_motion("universal").angle.x(), 0.5, 1e-12);
  EXPECT_NEAR(world.joint_motion("universal").angle.y(), -0.3, 1e-12);
  EXPECT_LT((world.joint_motion("ball").angle - 1.1 * Vec3(1, 2, 2) / 3).norm(), 1e-12);
  EXPECT_LT((world.joint_motion("ball").angular_rate - Vec3(0.1, 0.2, 0.3)).norm(), 1e-12);
}

}  // namespace
}  // namespace rotule
