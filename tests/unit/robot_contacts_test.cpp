// Who touches whom in MJCF files, and how it slides: pairs, exclusions of many bodies, priorities; and weight that is carried.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/robots.h>
#include <rotule/world.h>

#include <fstream>

#include "support/files.h"

namespace rotule {
namespace {

Robot read(const testing::Folder& folder, const std::string& text) {
  const auto path = folder.path / "r.xml";
  std::ofstream(path) << text;
  return read_robot(path.string());
}

bool meet(const Scene& scene, const std::string& first, const std::string& second) {
  const auto find = [&](const std::string& name) -> const BodyDef& {
    return *std::find_if(scene.bodies.begin(), scene.bodies.end(), [&](const BodyDef& b) { return b.name == name; });
  };
  const auto accepts = [](const BodyDef& a, const BodyDef& b) {
    return !a.meets || std::find(a.meets->begin(), a.meets->end(), b.layer) != a.meets->end();
  };
  const BodyDef &a = find(first), &b = find(second);
  return a.contacts && b.contacts && accepts(a, b) && accepts(b, a);
}

bool tells(const Robot& robot, const std::string& what) {
  return std::any_of(robot.remarks.begin(), robot.remarks.end(),
                     [&](const RobotRemark& r) { return r.what.find(what) != r.what.npos; });
}

/// A chain of hinges, b0 to bN, each link within the next; `contact` is what the file says of who touches.
std::string chain(int count, const std::string& contact) {
  std::string text = R"(<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" pos="0 0 -9"/>)", end;
  for (int k = 0; k < count; ++k) {
    text += fmt::format(R"(<body name="b{}" pos="0.05 0 0"><joint/><geom size="0.1"/>)", k);
    end += "</body>";
  }
  return text + end + "</worldbody><contact>" + contact + "</contact></mujoco>";
}

std::string exclude(int i, int j) { return fmt::format(R"(<exclude body1="b{}" body2="b{}"/>)", i, j); }

TEST(RobotContacts, ExclusionsOfNeighboursTakeNoLayers) {
  const testing::Folder folder("robot_neighbours");
  std::string contact = exclude(3, 30);
  for (int k = 0; k + 1 < 60; ++k) contact += exclude(k, k + 1);
  const Robot robot = read(folder, chain(60, contact));
  EXPECT_FALSE(tells(robot, "exclude"));
  EXPECT_FALSE(meet(robot.scene, "b3", "b30"));
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(meet(robot.scene, "floor", fmt::format("b{}", i)));
    for (int j = i + 2; j < 60; ++j)
      EXPECT_EQ(meet(robot.scene, fmt::format("b{}", i), fmt::format("b{}", j)), i != 3 || j != 30) << i << " " << j;
  }
}

TEST(RobotContacts, WhereLayersDoNotSufficeExcludedBodiesStayApartAndTheRestIsTold) {
  const testing::Folder folder("robot_many_excluded");
  std::string contact;
  for (int k = 0; k + 3 < 60; ++k) contact += exclude(k, k + 2) + exclude(k, k + 3);
  const Robot robot = read(folder, chain(60, contact));
  int lost = 0;
  for (int i = 0; i < 60; ++i) {
    EXPECT_TRUE(meet(robot.scene, "floor", fmt::format("b{}", i)));
    for (int j = i + 2; j < 60; ++j) {
      const bool wanted = !((j == i + 2 && i < 57) || (j == i + 3));
      const bool found = meet(robot.scene, fmt::format("b{}", i), fmt::format("b{}", j));
      EXPECT_TRUE(wanted || !found) << i << " " << j;
      lost += static_cast<int>(wanted && !found);
    }
  }
  EXPECT_LT(lost, 600);  // of 1600 pairs
  EXPECT_EQ(lost > 0, tells(robot, "exclude"));
}

TEST(RobotContacts, GeomsOfPairsTouchWithoutMasksAndAsThePairSays) {
  const testing::Folder folder("robot_pairs");
  const Robot robot = read(folder, R"(<mujoco><option gravity="3 0 -10"/><worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="rough" pos="0 0 0.1"><freejoint/><geom name="r" type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
    <body name="slick" pos="0 1 0.1"><freejoint/><geom name="s" type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
    <body name="ghost" pos="0 2 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/></body>
    </worldbody><contact><pair geom1="r" geom2="floor" friction="0.5"/><pair geom1="floor" geom2="s" condim="1"/></contact></mujoco>)");
  EXPECT_TRUE(meet(robot.scene, "rough", "floor"));
  EXPECT_FALSE(meet(robot.scene, "rough", "slick"));
  World world(robot.scene);
  for (int i = 0; i < 500; ++i) world.step(1e-3);
  EXPECT_NEAR(world.position("rough").x(), 0, 1e-6);  // 3 of 5 that friction holds
  EXPECT_NEAR(world.position("rough").z(), 0.1, 1e-5);
  EXPECT_NEAR(world.position("slick").x(), 0.5 * 3 * 0.25, 2e-3);
  EXPECT_NEAR(world.position("slick").z(), 0.1, 1e-5);
  EXPECT_LT(world.position("ghost").z(), -1);
}

TEST(RobotContacts, WhoHasPrioritySaysAloneHowItSlides) {
  const testing::Folder folder("robot_priority");
  const Robot robot = read(folder, R"(<mujoco><option gravity="3 0 -10"/><worldbody>
    <geom name="floor" type="plane" size="1 1 1" friction="1"/>
    <body name="low" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" friction="0.1"/></body>
    <body name="high" pos="0 1 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" friction="0.1" priority="1"/></body>
    <body name="free" pos="0 2 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" condim="1" priority="1"/></body>
    </worldbody></mujoco>)");
  World world(robot.scene);
  for (int i = 0; i < 500; ++i) world.step(1e-3);
  EXPECT_NEAR(world.position("low").x(), 0, 1e-6);
  EXPECT_NEAR(world.position("high").x(), 0.5 * (3 - 0.1 * 10) * 0.25, 2e-3);
  EXPECT_NEAR(world.position("free").x(), 0.5 * 3 * 0.25, 2e-3);
}

TEST(RobotContacts, WeightThatIsCarriedDoesNotPull) {
  const testing::Folder folder("robot_gravcomp");
  const Robot robot = read(folder, R"(<mujoco><option gravity="0 0 -10"/><worldbody>
    <body name="whole" gravcomp="1"><joint axis="0 1 0"/><geom pos="0.3 0 0" size="0.1" mass="2"/>
      <body name="held" gravcomp="1" pos="0.2 0 0.5"><geom size="0.1" mass="3"/></body></body>
    <body name="half" gravcomp="0.5" pos="0 3 0"><freejoint/><geom size="0.1" mass="2"/></body></worldbody></mujoco>)");
  World world(robot.scene, recipes::exact());
  for (int i = 0; i < 200; ++i) world.step(1e-3);
  EXPECT_LT(world.angular_velocity("whole").norm(), 1e-12);
  EXPECT_NEAR(world.position("half").z(), -0.5 * 5 * 0.04, 1e-10);
}

TEST(RobotContacts, FollowersBeginWhereTheirLeadersPutThemInAnyOrder) {
  const testing::Folder folder("robot_followers");
  // c follows b, which follows a: said in the wrong order.
  const Robot robot = read(folder, R"(<mujoco><compiler angle="radian"/><worldbody>
    <body name="a"><joint name="a"/><geom size="0.1"/></body><body name="b" pos="1 0 0"><joint name="b"/><geom size="0.1"/></body>
    <body name="c" pos="2 0 0"><joint name="c"/><geom size="0.1"/></body></worldbody>
    <equality><joint joint1="c" joint2="b" polycoef="0 -1"/><joint joint1="b" joint2="a" polycoef="0.1 2"/></equality>
    <keyframe><key qpos="0.2 0 0"/></keyframe></mujoco>)");
  const World world(robot.scene);
  EXPECT_NEAR(world.joint_position(world.joint("b")), 0.5, 1e-12);
  EXPECT_NEAR(world.joint_position(world.joint("c")), -0.5, 1e-12);
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-9);
}

}  // namespace
}  // namespace rotule
