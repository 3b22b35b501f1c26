// Files of robots against products of transforms made here: postures, masses, stops, followers, and the way back to URDF.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/robots.h>
#include <rotule/world.h>

#include <fstream>
#include <map>
#include <numbers>
#include <random>

#include "base/text.h"
#include "support/files.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

using Transform = Eigen::Affine3d;
using testing::Folder;

/// Rodrigues' formula, and roll, pitch, yaw as three of it: nothing that the readers use.
Mat3 turn_by(const Vec3& axis, double angle) {
  Mat3 K;
  K << 0, -axis.z(), axis.y(), axis.z(), 0, -axis.x(), -axis.y(), axis.x(), 0;
  return Mat3::Identity() + std::sin(angle) * K + (1 - std::cos(angle)) * K * K;
}
Mat3 by_rpy(const Vec3& a) {
  return turn_by(Vec3::UnitZ(), a.z()) * turn_by(Vec3::UnitY(), a.y()) * turn_by(Vec3::UnitX(), a.x());
}
Transform frame(const Vec3& p, const Mat3& R) {
  Transform out = Transform::Identity();
  out.translation() = p;
  out.linear() = R;
  return out;
}
std::string numbers(const Vec3& v) { return fmt::format("{} {} {}", shortest(v.x()), shortest(v.y()), shortest(v.z())); }

struct Dice {
  std::mt19937 generator;
  double number(double low, double high) { return std::uniform_real_distribution(low, high)(generator); }
  Vec3 vector(double size) { return {number(-size, size), number(-size, size), number(-size, size)}; }
  Vec3 direction() { return vector(1).normalized(); }
  int whole(int below) { return static_cast<int>(generator() % static_cast<unsigned>(below)); }
};

std::string write(const Folder& folder, const std::string& name, const std::string& text) {
  std::ofstream(folder.path / name) << text;
  return (folder.path / name).string();
}

/// What the test knows of a link: where it stands, and its inertia about the world's origin.
struct Known {
  std::string name;
  Transform X;
  double mass = 0;
  Vec3 first_moment = Vec3::Zero();
  Mat3 about_origin = Mat3::Zero();
};

Mat3 steiner(double mass, const Vec3& c) { return mass * (c.squaredNorm() * Mat3::Identity() - c * c.transpose()); }

/// A tree of `count` links with random joints; limits pin each coordinate to a random value, which is thus where it begins.
std::string random_urdf(Dice& dice, int count, std::vector<Known>& known, std::map<std::string, double>& q) {
  std::string text = "<robot name=\"random\"><link name=\"world\"/>\n";
  known = {{"world", Transform::Identity()}};
  for (int k = 0; k < count; ++k) {
    const Known& parent = known[static_cast<std::size_t>(dice.whole(k + 1))];
    const std::string name = fmt::format("link{}", k);
    const Vec3 xyz = dice.vector(0.4), rpy = dice.vector(3), axis = dice.direction();
    const Vec3 com = dice.vector(0.1), com_rpy = dice.vector(3);
    const double mass = dice.number(0.1, 3);
    Vec3 moments(dice.number(0.5, 1), dice.number(0.5, 1), dice.number(0.5, 1));
    moments *= 0.01 * mass;
    const Mat3 turned = by_rpy(dice.vector(1));
    const Mat3 I = turned * moments.asDiagonal() * turned.transpose();
    const int type = dice.whole(4);
    const double value = type == 3 ? 0 : dice.number(type == 1 ? -0.3 : -2.5, type == 1 ? 0.3 : 2.5);
    Transform X = parent.X * frame(xyz, by_rpy(rpy));
    if (type == 0 || type == 2) X = X * frame(Vec3::Zero(), turn_by(axis, value));
    if (type == 1) X = X * frame(value * axis, Mat3::Identity());
    Known link{name, X, mass};
    const Vec3 c = X * com;
    const Mat3 R = X.linear() * by_rpy(com_rpy);
    link.first_moment = mass * c;
    link.about_origin = R * I * R.transpose() + steiner(mass, c);
    text += fmt::format("<link name=\"{}\"><inertial><origin xyz=\"{}\" rpy=\"{}\"/><mass value=\"{}\"/>", name, numbers(com),
                        numbers(com_rpy), shortest(mass));
    text += fmt::format("<inertia ixx=\"{}\" ixy=\"{}\" ixz=\"{}\" iyy=\"{}\" iyz=\"{}\" izz=\"{}\"/></inertial></link>\n",
                        shortest(I(0, 0)), shortest(I(0, 1)), shortest(I(0, 2)), shortest(I(1, 1)), shortest(I(1, 2)),
                        shortest(I(2, 2)));
    const char* word = type == 3 ? "fixed" : type == 1 ? "prismatic" : "revolute";
    text +=
        fmt::format("<joint name=\"q{}\" type=\"{}\"><origin xyz=\"{}\" rpy=\"{}\"/><parent link=\"{}\"/><child link=\"{}\"/>", k,
                    word, numbers(xyz), numbers(rpy), parent.name, name);
    text += fmt::format("<axis xyz=\"{}\"/><limit lower=\"{}\" upper=\"{}\" effort=\"{}\" velocity=\"{}\"/></joint>\n",
                        numbers(2.5 * axis), shortest(value), shortest(value), k + 1, k + 2);
    if (type != 3) q[fmt::format("q{}", k)] = value;
    known.push_back(link);
  }
  return text + "</robot>";
}

double difference(const Transform& X, const Vec3& p, const Quat& q) {
  return (X.translation() - p).norm() + (X.linear() - q.toRotationMatrix()).norm();
}

TEST(Robots, PosturesOfUrdfAreProductsOfTransforms) {
  const Folder folder("robots_postures");
  Dice dice{std::mt19937(1)};
  double worst = 0, worst_q = 0, worst_inertia = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<Known> known;
    std::map<std::string, double> q;
    const std::string path = write(folder, "r.urdf", random_urdf(dice, 9, known, q));
    for (const bool welded : {false, true}) {
      const Robot robot = read_robot(path, {.weld_fixed = welded});
      const World world(robot.scene);
      EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
      std::map<std::string, Pose> found;
      for (const BodyDef& body : robot.scene.bodies) found[body.name] = {world.position(body.name), world.orientation(body.name)};
      for (const RobotFrame& f : robot.frames) {
        const Pose body = found.at(f.body);
        found[f.name] = {body.position + body.orientation * f.pose.position, body.orientation * f.pose.orientation};
      }
      double mass = 0;
      Vec3 moment = Vec3::Zero(), known_moment = Vec3::Zero();
      Mat3 inertia = Mat3::Zero(), known_inertia = Mat3::Zero();
      for (const Known& link : known) {
        if (link.name == "world") continue;
        worst = std::max(worst, difference(link.X, found.at(link.name).position, found.at(link.name).orientation));
        mass -= link.mass;
        known_moment += link.first_moment;
        known_inertia += link.about_origin;
      }
      for (const BodyDef& body : robot.scene.bodies) {
        const Mat3 R = body.orientation.toRotationMatrix();
        const Vec3 c = body.position + R * *body.center_of_mass;
        mass += *body.mass;
        moment += *body.mass * c;
        inertia += R * *body.inertia * R.transpose() + steiner(*body.mass, c);
      }
      EXPECT_NEAR(mass, 0, 1e-12);
      worst_inertia = std::max(worst_inertia, (moment - known_moment).norm() + (inertia - known_inertia).norm());
      for (const auto& [name, value] : q)
        if (const auto id = std::find_if(
                robot.scene.joints.begin(), robot.scene.joints.end(),
                [&wanted = name](const JointDef& j) { return std::visit([](const auto& d) { return d.name; }, j) == wanted; });
            id != robot.scene.joints.end())
          worst_q = std::max(worst_q, std::abs(world.joint_position(world.joint(name)) - value));
    }
  }
  EXPECT_LT(worst, 1e-12);
  EXPECT_LT(worst_q, 1e-12);
  EXPECT_LT(worst_inertia, 1e-11);
}

/// A tree of bodies with up to three joints each, with points and rest coordinates of their own.
std::string random_mjcf(Dice& dice, int count, std::vector<Known>& known, std::map<std::string, double>& q) {
  struct Node {
    std::string open, joints;
    std::vector<int> children;
    int parent = -1;
  };
  std::vector<Node> nodes;
  known.clear();
  for (int k = 0; k < count; ++k) {
    Node node;
    node.parent = k == 0 ? -1 : dice.whole(k);
    const Vec3 pos = dice.vector(0.4);
    Quat turn(dice.number(-1, 1), dice.number(-1, 1), dice.number(-1, 1), dice.number(-1, 1));
    const Quat unit = turn.normalized();
    Transform X = (node.parent < 0 ? Transform::Identity() : known[static_cast<std::size_t>(node.parent)].X) *
                  frame(pos, unit.toRotationMatrix());
    const std::string name = fmt::format("body{}", k);
    node.open = fmt::format(
        "<body name=\"{}\" pos=\"{}\" quat=\"{} {} {} {}\"><inertial pos=\"0.01 0 0\" mass=\"1\" "
        "diaginertia=\"0.01 0.012 0.013\"/>",
        name, numbers(pos), shortest(turn.w()), shortest(turn.x()), shortest(turn.y()), shortest(turn.z()));
    const int joints = dice.whole(4);
    for (int j = 0; j < joints; ++j) {
      const Vec3 at = dice.vector(0.1), axis = dice.direction();
      const bool slide = dice.whole(3) == 0;
      const double rest = dice.number(-0.2, 0.2), value = dice.number(-0.5, 0.5);
      node.joints += fmt::format("<joint name=\"q{}_{}\" type=\"{}\" pos=\"{}\" axis=\"{}\" ref=\"{}\"/>", k, j,
                                 slide ? "slide" : "hinge", numbers(at), numbers(axis), shortest(rest));
      X = slide ? X * frame((value - rest) * axis, Mat3::Identity())
                : X * frame(at, turn_by(axis, value - rest)) * frame(-at, Mat3::Identity());
      q[fmt::format("q{}_{}", k, j)] = value;
    }
    known.push_back({name, X});
    if (node.parent >= 0) nodes[static_cast<std::size_t>(node.parent)].children.push_back(k);
    nodes.push_back(node);
  }
  std::string bodies, positions;
  const auto print = [&](const auto& self, int k) -> void {
    const Node& node = nodes[static_cast<std::size_t>(k)];
    bodies += node.open + node.joints;
    for (int j = 0; q.contains(fmt::format("q{}_{}", k, j)); ++j) positions += shortest(q[fmt::format("q{}_{}", k, j)]) + " ";
    for (const int child : node.children) self(self, child);
    bodies += "</body>\n";
  };
  print(print, 0);
  return fmt::format(
      "<mujoco model=\"random\"><compiler angle=\"radian\"/><worldbody>{}</worldbody><keyframe><key qpos=\"{}\"/>"
      "</keyframe></mujoco>",
      bodies, positions);
}

TEST(Robots, PosturesOfMjcfAreProductsOfTransforms) {
  const Folder folder("robots_mjcf");
  Dice dice{std::mt19937(2)};
  double worst = 0, worst_q = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<Known> known;
    std::map<std::string, double> q;
    const Robot robot = read_robot(write(folder, "r.xml", random_mjcf(dice, 7, known, q)));
    const World world(robot.scene);
    EXPECT_LT(world.diagnostics().joint_error.position, 1e-12);
    std::map<std::string, Pose> found;
    double mass = 0;
    for (const BodyDef& body : robot.scene.bodies) {
      found[body.name] = {world.position(body.name), world.orientation(body.name)};
      mass += *body.mass;
    }
    EXPECT_NEAR(mass, 7, 1e-12);  // carriers take their share of what they carry
    for (const RobotFrame& f : robot.frames) {
      const Pose body = found.at(f.body);
      found[f.name] = {body.position + body.orientation * f.pose.position, body.orientation * f.pose.orientation};
    }
    for (const Known& link : known)
      worst = std::max(worst, difference(link.X, found.at(link.name).position, found.at(link.name).orientation));
    for (const auto& [name, value] : q) worst_q = std::max(worst_q, std::abs(world.joint_position(world.joint(name)) - value));
  }
  EXPECT_LT(worst, 1e-12);
  EXPECT_LT(worst_q, 1e-12);
}

TEST(Robots, WhatGoesToUrdfComesBack) {
  const Folder folder("robots_back");
  Dice dice{std::mt19937(3)};
  double worst = 0;
  for (int round = 0; round < 20; ++round) {
    std::vector<Known> known;
    std::map<std::string, double> q;
    const Robot once = read_robot(write(folder, "once.urdf", random_urdf(dice, 9, known, q)));
    const Robot twice = read_robot(write(folder, "twice.urdf", to_urdf(once.scene, once.ratings)));
    ASSERT_EQ(once.scene.bodies.size(), twice.scene.bodies.size());
    ASSERT_EQ(once.scene.joints.size(), twice.scene.joints.size());
    for (const BodyDef& a : once.scene.bodies) {
      const auto b = std::find_if(twice.scene.bodies.begin(), twice.scene.bodies.end(),
                                  [&](const BodyDef& body) { return body.name == a.name; });
      ASSERT_NE(b, twice.scene.bodies.end()) << a.name;
      EXPECT_EQ(a.fixed, b->fixed);
      worst = std::max({worst, std::abs(*a.mass - *b->mass), (*a.inertia - *b->inertia).norm(),
                        (*a.center_of_mass - *b->center_of_mass).norm(), (a.position - b->position).norm(),
                        (a.orientation.toRotationMatrix() - b->orientation.toRotationMatrix()).norm()});
    }
    for (const JointRating& a : once.ratings) {
      const auto b =
          std::find_if(twice.ratings.begin(), twice.ratings.end(), [&](const JointRating& r) { return r.joint == a.joint; });
      ASSERT_NE(b, twice.ratings.end());
      EXPECT_EQ(a.effort, b->effort);
      EXPECT_EQ(a.velocity, b->velocity);
    }
    for (const JointDef& a : once.scene.joints)
      for (const JointDef& b : twice.scene.joints) {
        const auto compare = [&](const auto& p, const auto& r) {
          if (p.name != r.name) return;
          worst = std::max({worst, std::abs(*p.drive.lower - *r.drive.lower), std::abs(*p.drive.upper - *r.drive.upper),
                            (p.at - r.at).norm(), (p.axis - r.axis).norm(), std::abs(p.start - r.start)});
        };
        if (std::holds_alternative<Hinge>(a) && std::holds_alternative<Hinge>(b)) compare(std::get<Hinge>(a), std::get<Hinge>(b));
        if (std::holds_alternative<Slider>(a) && std::holds_alternative<Slider>(b))
          compare(std::get<Slider>(a), std::get<Slider>(b));
      }
  }
  EXPECT_LT(worst, 1e-12);
}

std::string shipped(const std::string& name) { return testing::source_dir() + "/scenes/robots/" + name; }

bool tells(const Robot& robot, const std::string& what, const std::string& text) {
  return std::any_of(robot.remarks.begin(), robot.remarks.end(), [&](const RobotRemark& r) {
    return r.what.find(what) != r.what.npos && r.text.find(text) != r.text.npos && r.count > 0;
  });
}

TEST(Robots, TheArmKeepsItsStopsAndItsFingersFollow) {
  const Robot robot = read_robot(shipped("arm.urdf"));
  double mass = 0;
  for (const BodyDef& body : robot.scene.bodies) mass += *body.mass;
  EXPECT_NEAR(mass, 4 + 3 + 4 + 2.2 + 0.8 + 0.5 + 0.3 + 0.1 + 0.05 + 0.05, 1e-12);
  EXPECT_TRUE(tells(robot, "axis_2", "measured from the middle"));
  EXPECT_TRUE(tells(robot, "axis_5", "beyond its stop"));
  EXPECT_TRUE(tells(robot, "limit@velocity", "rating"));
  World world(robot.scene);
  EXPECT_NEAR(world.joint_position(world.joint("axis_5")), 0.1, 1e-12);
  EXPECT_NEAR(world.joint_position(world.joint("axis_2")), 0 - 1.5, 1e-12);
  // It falls until stops hold it: none is passed, and the fingers stay together.
  double past = 0, apart = 0, fallen = 0;
  for (int i = 0; i < 400; ++i) {
    world.step(2.5e-3);
    for (const JointDef& joint : robot.scene.joints) {
      const auto look = [&](const auto& d) {
        const double q = world.joint_position(world.joint(d.name));
        if (d.drive.lower) past = std::max(past, *d.drive.lower - q);
        if (d.drive.upper) past = std::max(past, q - *d.drive.upper);
      };
      if (const auto* hinge = std::get_if<Hinge>(&joint)) look(*hinge);
      if (const auto* slider = std::get_if<Slider>(&joint)) look(*slider);
    }
    apart = std::max(
        apart, std::abs(world.joint_position(world.joint("left_slide")) - world.joint_position(world.joint("right_slide"))));
    fallen = std::max(fallen, std::abs(world.joint_position(world.joint("axis_2")) + 1.5));
  }
  EXPECT_LT(past, 1e-3);
  EXPECT_LT(apart, 1e-6);
  EXPECT_GT(fallen, 0.2);
  EXPECT_LT(world.diagnostics().joint_error.position, 1e-6);
}

TEST(Robots, MotorsHoldTheArmWhereAsked) {
  const Robot robot = read_robot(shipped("arm.urdf"), {.hold = true});
  World world(robot.scene);
  const Vec3 before = world.position("flange");
  for (int i = 0; i < 200; ++i) world.step(5e-3);
  EXPECT_LT((world.position("flange") - before).norm(), 1e-3);
}

TEST(Robots, TheQuadrupedStandsOnItsServos) {
  const Robot robot = read_robot(shipped("quadruped.xml"));
  EXPECT_EQ(robot.scene.recipe.dt, 0.002);
  EXPECT_FALSE(tells(robot, "sensor", "left out"));
  EXPECT_EQ(robot.sensors.size(), 25u);
  double mass = 0;
  for (const BodyDef& body : robot.scene.bodies)
    if (!body.fixed) mass += *body.mass;
  EXPECT_NEAR(mass, 6 + 4 * (0.6 + 1 + 0.25), 1e-12);
  World world(robot.scene);
  for (int i = 0; i < 500; ++i) world.step(2e-3);
  EXPECT_GT(world.position("trunk").z(), 0.22);
  EXPECT_GT((world.orientation("trunk") * Vec3::UnitZ()).z(), 0.99);
  EXPECT_LT(world.velocity("trunk").norm(), 0.05);
  EXPECT_GE(world.diagnostics().contacts, 4);
}

TEST(Robots, TipsOfTheHandFollowByAPolynomial) {
  const Robot robot = read_robot(shipped("hand.xml"));
  EXPECT_FALSE(tells(robot, "joint@armature", "left out"));
  EXPECT_TRUE(tells(robot, "thumb", "3 joints"));
  World world(robot.scene);
  const auto q = [&](const char* name) { return world.joint_position(world.joint(name)); };
  EXPECT_NEAR(q("middle_tip"), 0.3125, 1e-12);
  double index = 0, middle = 0, moved = 0;
  for (int i = 0; i < 300; ++i) {
    world.step(1e-3);
    index = std::max(index, std::abs(q("index_tip") - 0.7 * q("index_bend")));
    middle = std::max(middle, std::abs(q("middle_tip") - 0.6 * q("middle_bend") - 0.05 * q("middle_bend") * q("middle_bend")));
    moved = std::max(moved, std::abs(q("thumb_tip") - 0.3));
  }
  EXPECT_LT(index, 1e-6);
  EXPECT_LT(middle, 1e-6);
  EXPECT_GT(moved, 1e-3);
}

TEST(Robots, TwoHingesInOneBodyAreAUniversalJoint) {
  // Carriers weigh 1e-5 of what they carry: the motion is that of a joint without any, to about as much.
  const Folder folder("robots_two");
  const Robot robot = read_robot(write(folder, "two.xml", R"(<mujoco><compiler angle="radian"/><worldbody>
    <body name="bob"><joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/>
    <inertial pos="0.3 0.1 -0.4" mass="2" diaginertia="0.02 0.03 0.04"/></body></worldbody></mujoco>)"));
  Scene scene;
  scene.add(
      {.name = "bob", .mass = 2, .inertia = Mat3(Vec3(0.02, 0.03, 0.04).asDiagonal()), .center_of_mass = Vec3(0.3, 0.1, -0.4)});
  scene.add(Universal{.name = "cross", .between = {"world", "bob"}});
  Recipe recipe = recipes::exact();
  recipe.dt = 1e-3;
  World one(robot.scene, recipe), other(scene, recipe);
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    one.step();
    other.step();
    worst = std::max(worst, (one.position("bob") + one.orientation("bob") * Vec3(0.3, 0.1, -0.4) - other.position("bob") -
                             other.orientation("bob") * Vec3(0.3, 0.1, -0.4))
                                .norm());
  }
  EXPECT_LT(worst, 1e-4);
  EXPECT_GT(worst, 1e-12);
}

TEST(Robots, AHingeBeginsWhereItsStartSays) {
  // The same pendulum described twice: from its lowest place, and from 2.5 rad away with a stop that would be more than half a
  // turn off.
  for (const double stop : {2.7, 3.1}) {
    Scene far;
    const double q = -2.5;
    const Quat turn(Eigen::AngleAxisd(q, Vec3::UnitY()));
    far.add({.name = "bob", .mass = 1, .position = turn * Vec3(0, 0, -1), .orientation = turn, .shape = Sphere{0.1}});
    far.add(Hinge{
        .name = "pin", .between = {"world", "bob"}, .axis = {0, 1, 0}, .drive = {.lower = -stop, .upper = stop}, .start = q});
    const Scene back = parse_scene(to_json(far));
    EXPECT_EQ(std::get<Hinge>(back.joints[0]).start, q);
    World world(back);
    EXPECT_NEAR(world.joint_position(world.joint("pin")), q, 1e-14);
    double lowest = 0, highest = 0;
    for (int i = 0; i < 4000; ++i) {
      world.step(1e-3);
      const double at = world.joint_position(world.joint("pin"));
      EXPECT_NEAR(world.position("bob").z(), -std::cos(at), 1e-9);
      lowest = std::min(lowest, at);
      highest = std::max(highest, at);
    }
    EXPECT_GT(highest, 2.3);
    EXPECT_GE(lowest, -2.51);
  }
}

TEST(Robots, WhatIsNotKnownIsToldByNameAndLine) {
  const Folder folder("robots_told");
  const Robot robot = read_robot(write(folder, "r.xml", R"(<mujoco>
<worldbody>
  <light pos="0 0 3"/>
  <body name="a"><freejoint/>
    <geom size="0.1" solref="0.01 1" rgba="1 0 0 1"/>
    <geom size="0.1" pos="0.3 0 0" solref="0.01 1"/>
  </body>
</worldbody>
<sensor><camprojection site="s" camera="c"/></sensor>
</mujoco>)"));
  const auto find = [&](const std::string& what) {
    return std::find_if(robot.remarks.begin(), robot.remarks.end(), [&](const RobotRemark& r) { return r.what == what; });
  };
  for (const char* what : {"light", "geom@solref", "geom@rgba", "sensor camprojection"})
    EXPECT_NE(find(what), robot.remarks.end()) << what;
  EXPECT_EQ(find("geom@solref")->line, 5);
  EXPECT_EQ(find("geom@solref")->count, 2);
  EXPECT_EQ(find("light")->line, 3);
  EXPECT_EQ(find("sensor camprojection")->line, 9);
}

TEST(Robots, MomentsBelowZeroByRoundingAreZero) {
  const Folder folder("robots_rounding");
  const auto read = [&](const char* moment) {
    return read_robot(write(folder, "r.urdf",
                            fmt::format(R"(<robot name="r"><link name="a"><inertial><mass value="0.5"/>
<inertia ixx="0.002" ixy="0" ixz="0" iyy="0.002" iyz="0" izz="{}"/></inertial></link></robot>)",
                                        moment)),
                      {.base = RobotOptions::Base::floating});
  };
  const Robot robot = read("-5.4e-20");
  EXPECT_TRUE(tells(robot, "inertia of", "no body has principal moments"));
  EXPECT_GT((*robot.scene.bodies.at(0).inertia)(2, 2), 0);
  EXPECT_THROW(read("-1e-6"), Error);
}

TEST(Robots, ClassesOfDefaultsAreChains) {
  const Folder folder("robots_defaults");
  const Robot robot = read_robot(write(folder, "r.xml", R"(<mujoco><compiler angle="radian"/>
<default><joint damping="1" frictionloss="0.5" armature="0.25"/><geom density="100"/>
  <default class="arm"><joint damping="2" range="-1 1"/>
    <default class="wrist"><joint axis="0 1 0" frictionloss="0.25"/></default></default></default>
<worldbody>
  <body name="a"><joint name="plain"/><geom size="0.1"/>
    <body name="b" childclass="arm" pos="1 0 0"><joint name="of_class"/><geom type="box" size="0.1 0.1 0.1"/>
      <body name="c" pos="1 0 0"><joint name="of_own" class="wrist" damping="3"/><geom type="cylinder" size="0.1 0.2" density="200"/></body>
    </body>
  </body>
</worldbody></mujoco>)"));
  const auto hinge = [&](std::size_t k) { return std::get<Hinge>(robot.scene.joints.at(k)); };
  EXPECT_EQ(hinge(0).drive.damping, 1);
  EXPECT_FALSE(hinge(0).drive.lower);
  EXPECT_EQ(hinge(1).drive.damping, 2);
  EXPECT_EQ(hinge(1).drive.friction, 0.5);
  EXPECT_EQ(hinge(1).drive.upper, 1);
  EXPECT_EQ(hinge(2).drive.damping, 3);
  EXPECT_EQ(hinge(2).drive.friction, 0.25);
  EXPECT_EQ(hinge(2).drive.lower, -1);
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(hinge(k).drive.armature, 0.25);
  EXPECT_NEAR(hinge(2).axis.y(), 1, 1e-15);
  EXPECT_NEAR(*robot.scene.bodies[0].mass, 100 * 4.0 / 3 * std::numbers::pi * 1e-3, 1e-12);
  EXPECT_NEAR(*robot.scene.bodies[1].mass, 100 * 8e-3, 1e-12);
  EXPECT_NEAR(*robot.scene.bodies[2].mass, 200 * std::numbers::pi * 0.01 * 0.4, 1e-12);
}

TEST(Robots, ActuatorsAreSpringsDampersAndTorques) {
  const Folder folder("robots_actuators");
  const auto drive = [&](const std::string& actuator, const std::string& control) {
    const Robot robot = read_robot(write(folder, "r.xml",
                                         fmt::format(R"(<mujoco><compiler angle="radian"/><worldbody>
      <body name="a"><joint name="j" stiffness="10" springref="0.5" damping="0.25"/><geom size="0.1"/></body></worldbody>
      <actuator>{}</actuator><keyframe><key qpos="0" ctrl="{}"/></keyframe></mujoco>)",
                                                     actuator, control)));
    return std::get<Hinge>(robot.scene.joints.at(0)).drive;
  };
  // f = kp (c - q) - kv q', beside the joint's own spring: stiffnesses add, and the rest is where both balance.
  const Drive servo = drive(R"(<position joint="j" kp="30" kv="2" ctrlrange="-1 1"/>)", "3");
  EXPECT_EQ(servo.stiffness, 40);
  EXPECT_EQ(servo.damping, 2.25);
  EXPECT_NEAR(servo.rest, (10 * 0.5 + 30 * 1) / 40, 1e-15);
  // f = kv (c - q').
  const Drive speed = drive(R"(<velocity joint="j" kv="4" gear="2"/>)", "0.5");
  EXPECT_EQ(speed.damping, 0.25 + 4 * 4);
  EXPECT_EQ(speed.motor_torque, 2 * 4 * 0.5);
  const Drive motor = drive(R"(<motor joint="j" gear="-3" ctrlrange="-1 1"/>)", "0.5");
  EXPECT_EQ(motor.motor_torque, -1.5);
  // g c + b0 + b1 q + b2 q'.
  const Drive general =
      drive(R"(<general joint="j" gaintype="fixed" biastype="affine" gainprm="100" biasprm="1 -100 -5"/>)", "0.1");
  EXPECT_EQ(general.stiffness, 110);
  EXPECT_NEAR(general.rest, (10 * 0.5 + 10 + 1) / 110, 1e-15);
  EXPECT_EQ(general.damping, 5.25);
}

TEST(Robots, WhoTouchesWhomIsAsTheMasksSay) {
  const Folder folder("robots_masks");
  const Robot robot = read_robot(write(folder, "r.xml", R"(<mujoco><worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 1"><freejoint/><geom size="0.1" contype="1" conaffinity="0" friction="0.2"/></body>
    <body name="b" pos="1 0 1"><freejoint/><geom size="0.1" contype="2" conaffinity="2"/></body>
    <body name="c" pos="2 0 1"><freejoint/><geom size="0.1" contype="0" conaffinity="1"/></body>
    </worldbody><contact><exclude body1="a" body2="c"/></contact></mujoco>)"));
  const auto meet = [&](std::size_t i, std::size_t j) {
    const auto has = [](const BodyDef& a, const BodyDef& b) {
      return !a.meets || std::find(a.meets->begin(), a.meets->end(), b.layer) != a.meets->end();
    };
    return has(robot.scene.bodies[i], robot.scene.bodies[j]) && has(robot.scene.bodies[j], robot.scene.bodies[i]);
  };
  EXPECT_TRUE(meet(0, 1));   // floor and a
  EXPECT_FALSE(meet(0, 2));  // bits 1 and 2
  EXPECT_TRUE(meet(0, 3));
  EXPECT_FALSE(meet(1, 2));
  EXPECT_FALSE(meet(1, 3));  // excluded
  EXPECT_FALSE(meet(2, 3));
  // Of two coefficients the larger one counts.
  ASSERT_EQ(robot.scene.material_pairs.size(), 1u);
  EXPECT_EQ(robot.scene.material_pairs[0].friction, 1);
}

}  // namespace
}  // namespace rotule
