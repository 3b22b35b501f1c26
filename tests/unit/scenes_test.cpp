// The shipped scenes start with every joint closed in position and velocity, worked out here from the definitions alone.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "scenes/builders.h"

namespace rotule {
namespace {

struct Placed {
  Vec3 center = Vec3::Zero(), velocity = Vec3::Zero(), omega = Vec3::Zero();
  [[nodiscard]] Vec3 velocity_at(const Vec3& x) const { return velocity + omega.cross(x - center); }
};

std::map<std::string, Placed> bodies_of(const Scene& scene) {
  std::map<std::string, Placed> out{{"world", {}}};
  for (const BodyDef& def : scene.bodies) {
    Vec3 centroid = Vec3::Zero();
    if (!def.fixed && !std::holds_alternative<std::monostate>(def.shape)) centroid = mass_properties(def.shape, 1).center_of_mass;
    EXPECT_NEAR(def.orientation.norm(), 1, 1e-15) << def.name;
    out[def.name] = {def.position + def.orientation * def.center_of_mass.value_or(centroid), def.velocity, def.angular_velocity};
  }
  for (const SolidDef& def : scene.solids) {
    const ParticleGroup group = build(def);
    for (std::size_t k = 0; k < group.positions.size(); ++k)
      out[group.name + "/" + std::to_string(k)] = {
          group.positions[k],
          group.velocities.empty() ? Vec3(Vec3::Zero()) : group.velocities[group.velocities.size() > 1 ? k : 0], Vec3::Zero()};
  }
  return out;
}

/// The largest velocity, relative and in a locked direction, with which the scene's joints start.
double velocity_error(const Scene& scene) {
  const std::map<std::string, Placed> bodies = bodies_of(scene);
  double worst = 0;
  const auto check = [&](const Vec3& error) { worst = std::max(worst, error.norm()); };
  const auto across = [](const Vec3& v, const Vec3& axis) { return Vec3(v - axis * axis.dot(v) / axis.squaredNorm()); };
  for (const JointDef& joint : scene.joints)
    std::visit(
        [&](const auto& def) {
          const Placed &a = bodies.at(def.between[0]), &b = bodies.at(def.between[1]);
          using Def = std::decay_t<decltype(def)>;
          if constexpr (std::is_same_v<Def, Ball>) {
            const Vec3 at = def.between[1].find('/') != std::string::npos ? b.center : def.at;  // a particle's own place
            check(a.velocity_at(at) - b.velocity_at(at));
          } else if constexpr (std::is_same_v<Def, Hinge>) {
            check(a.velocity_at(def.at) - b.velocity_at(def.at));
            check(across(a.omega - b.omega, def.axis));
          } else if constexpr (std::is_same_v<Def, Slider>) {
            check(across(a.velocity_at(def.at) - b.velocity_at(def.at), def.axis));
            check(a.omega - b.omega);
          } else if constexpr (std::is_same_v<Def, Rod>) {
            const Vec3 from = def.from.value_or(a.center), to = def.to.value_or(b.center), d = (to - from).normalized();
            check(d * d.dot(a.velocity_at(from) - b.velocity_at(to)));
          } else {
            FAIL() << "no rule for this joint";
          }
        },
        joint);
  return worst;
}

TEST(Scenes, StartWithJointsClosedInVelocity) {
  for (const std::string& name : scenes::names()) EXPECT_LT(velocity_error(*scenes::build(name)), 1e-12) << name;
}

TEST(Scenes, AreNamedAndDescribedOnce) {
  for (const std::string& name : scenes::names()) {
    const Scene scene = *scenes::build(name);
    EXPECT_EQ(scene.name, name);
    EXPECT_TRUE(scene.description.ends_with('.')) << name;
    EXPECT_GE(scene.recipe.duration, scene.recipe.dt) << name;
    std::set<std::string> bodies, joints;
    for (const BodyDef& body : scene.bodies) EXPECT_TRUE(bodies.insert(body.name).second) << name << ": " << body.name;
    for (const JointDef& joint : scene.joints)
      std::visit([&](const auto& def) { EXPECT_TRUE(joints.insert(def.name).second) << name << ": " << def.name; }, joint);
  }
}

/// Equal but for the last digits of numbers, which may differ where another mathematical library works out a sine.
void expect_same(const nlohmann::json& a, const nlohmann::json& b, const std::string& place) {
  if (a.is_number() && b.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 1e-13 * std::max(1.0, std::abs(b.get<double>()))) << place;
  } else if (a.is_structured() && a.type() == b.type()) {
    ASSERT_EQ(a.size(), b.size()) << place;
    const nlohmann::json flat_a = a.flatten(), flat_b = b.flatten();
    for (const auto& [key, value] : flat_a.items()) {
      ASSERT_TRUE(flat_b.contains(key)) << place << key;
      if (value.is_number())
        expect_same(value, flat_b[key], place + key);
      else
        EXPECT_EQ(value, flat_b[key]) << place << key;
    }
    EXPECT_EQ(flat_a.size(), flat_b.size()) << place;
  } else {
    EXPECT_EQ(a, b) << place;
  }
}

TEST(Scenes, FilesHoldWhatTheBuildersBuild) {
  for (const std::string& name : scenes::names()) {
    const std::string path = std::string(ROTULE_SCENES_FOLDER) + "/" + name + ".json";
    std::ifstream file(path);
    ASSERT_TRUE(file) << path << ": write it with `rotule export " << name << "`";
    expect_same(nlohmann::json::parse(file), nlohmann::json::parse(to_json(*scenes::build(name))), name + ".json ");
    EXPECT_NO_THROW(load_scene(path));
  }
}

TEST(Scenes, LoopsCloseWhereTheirBarsEnd) {
  // The hinges of Bricard's loop stand at the ends of both bars that they join.
  const Scene scene = scenes::bricard();
  std::map<std::string, const BodyDef*> bars;
  for (const BodyDef& body : scene.bodies) bars[body.name] = &body;
  for (const JointDef& joint : scene.joints) {
    const Hinge& hinge = std::get<Hinge>(joint);
    for (const std::string& name : hinge.between) {
      const Vec3 local = bars[name]->orientation.conjugate() * (hinge.at - bars[name]->position);
      EXPECT_NEAR(std::abs(local.z()), 0.25, 1e-15) << name;
      EXPECT_LT(local.head<2>().norm(), 1e-15) << name;
      EXPECT_NEAR((bars[name]->orientation * Vec3::UnitZ()).dot(hinge.axis), 0, 1e-15) << name;  // bars stand square on hinges
    }
  }
}

TEST(Scenes, MannequinIsOneHumanBody) {
  const Scene scene = scenes::mannequin();
  EXPECT_EQ(scene.bodies.size(), 15u);
  EXPECT_EQ(scene.joints.size(), 14u);
  double mass = 0;
  Vec3 moment = Vec3::Zero(), momentum = Vec3::Zero();
  double foot = 0, head = 0;
  for (const BodyDef& body : scene.bodies) {
    const double m = mass_properties(body.shape, scene.materials[0].density).mass;
    mass += m;
    moment += m * body.position;
    momentum += m * body.velocity;
    if (body.name == "left_foot") foot = body.position.z();
    if (body.name == "head") head = body.position.z();
  }
  EXPECT_NEAR(mass, 70, 2);
  EXPECT_LT(moment.norm(), 1e-13 * mass);
  EXPECT_LT(momentum.norm(), 1e-12 * mass);
  EXPECT_NEAR(head - foot, 1.6, 0.1);
  // One turn is the whole run.
  EXPECT_NEAR(scene.bodies[0].angular_velocity.norm() * scene.recipe.duration, 2 * 3.141592653589793, 1e-14);
}

TEST(Scenes, ChainsOfAnyLength) {
  for (const int n : {1, 7, 1000}) {
    const Scene scene = *scenes::build("chain_" + std::to_string(n));
    EXPECT_EQ(scene.bodies.size(), std::size_t(n));
    EXPECT_EQ(scene.joints.size(), std::size_t(n));
    EXPECT_EQ(scene.name, "chain_" + std::to_string(n));
  }
  EXPECT_EQ(scenes::build("hanging_chain_1000000")->bodies.back().mass, 1e6);
  EXPECT_EQ(scenes::build("hanging_chain_1000")->name, "hanging_chain_1000");
  EXPECT_THROW(scenes::build("chain_0"), Error);
  EXPECT_THROW(scenes::build("chain_1000001"), Error);
  EXPECT_THROW(scenes::build("chain_99999999999999999999"), Error);
  EXPECT_THROW(scenes::build("hanging_chain_-1"), Error);
  for (const char* name : {"", "chain_", "chain_x", "chain_5x", "hanging_chain_", "nothing"})
    EXPECT_FALSE(scenes::build(name)) << name;
}

}  // namespace
}  // namespace rotule
