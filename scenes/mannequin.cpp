// The mannequin: 15 rigid segments of human proportions and about 70 kg, held together by 14 perfect ball joints.
#include <rotule/mass_properties.h>

#include <array>
#include <cmath>
#include <numbers>

#include "scenes/builders.h"
#include "scenes/parts.h"

namespace rotule::scenes {
namespace {

using std::numbers::pi;

/// Directions of a limb's segments, from joint to joint: x to the front, y to the left, z up.
struct Arm {
  Vec3 upper_arm, forearm, hand;
};
struct Leg {
  Vec3 thigh, shin;
  double foot;  // rad, toes up
};

/// A limb's round segment from a joint along a direction; returns its far end.
Vec3 add_limb(Scene& scene, const std::string& name, const Vec3& from, const Vec3& direction, double length, double radius) {
  const Vec3 to = from + length * direction.normalized();
  scene.add({.name = name,
             .position = 0.5 * (from + to),
             .orientation = along(to - from),
             .shape = Capsule{radius, length},
             .material = "flesh"});
  return to;
}

void add_joint(Scene& scene, const std::string& name, const std::string& a, const std::string& b, const Vec3& at) {
  scene.add(Ball{.name = name, .between = {a, b}, .at = at});
}

void add_arm(Scene& scene, const std::string& side, const Vec3& shoulder, const Arm& arm) {
  constexpr double hand_length = 0.18;
  const Vec3 elbow = add_limb(scene, side + "upper_arm", shoulder, arm.upper_arm, 0.28, 0.04);
  const Vec3 wrist = add_limb(scene, side + "forearm", elbow, arm.forearm, 0.25, 0.033);
  scene.add({.name = side + "hand",
             .position = wrist + 0.5 * hand_length * arm.hand.normalized(),
             .orientation = along(arm.hand),
             .shape = Box{Vec3(0.08, 0.04, hand_length)},
             .material = "flesh"});
  add_joint(scene, side + "shoulder", "chest", side + "upper_arm", shoulder);
  add_joint(scene, side + "elbow", side + "upper_arm", side + "forearm", elbow);
  add_joint(scene, side + "wrist", side + "forearm", side + "hand", wrist);
}

void add_leg(Scene& scene, const std::string& side, const Vec3& hip, const Leg& leg) {
  const Vec3 knee = add_limb(scene, side + "thigh", hip, leg.thigh, 0.42, 0.07);
  const Vec3 ankle = add_limb(scene, side + "shin", knee, leg.shin, 0.41, 0.047);
  const Quat foot(Eigen::AngleAxisd(-leg.foot, Vec3::UnitY()));
  scene.add({.name = side + "foot",
             .position = ankle + foot * Vec3(0.06, 0, -0.04),
             .orientation = foot,
             .shape = Box{Vec3(0.24, 0.085, 0.055)},
             .material = "flesh"});
  add_joint(scene, side + "hip", "pelvis", side + "thigh", hip);
  add_joint(scene, side + "knee", side + "thigh", side + "shin", knee);
  add_joint(scene, side + "ankle", side + "shin", side + "foot", ankle);
}

/// The mannequin at rest, its centre of mass at the origin: bent a little, legs apart, arms raised, left and right not quite
/// alike. The limbs point outwards, to where a cartwheel pulls them, so that they sway in it rather than being flung about.
Scene posed() {
  Scene scene;
  scene.gravity = Vec3::Zero();
  scene.materials = {{.name = "flesh", .density = 970}};
  const Quat chest(Eigen::AngleAxisd(0.15, Vec3::UnitY())), head(Eigen::AngleAxisd(0.3, Vec3::UnitY()));
  const Vec3 waist(0, 0, 0.11), neck = waist + chest * Vec3(0, 0, 0.44);
  scene.add({.name = "pelvis", .shape = Box{Vec3(0.2, 0.32, 0.18)}, .material = "flesh"});
  scene.add({.name = "chest",
             .position = waist + chest * Vec3(0, 0, 0.22),
             .orientation = chest,
             .shape = Box{Vec3(0.2, 0.3, 0.4)},
             .material = "flesh"});
  scene.add({.name = "head",
             .position = neck + head * Vec3(0, 0, 0.16),
             .orientation = head,
             .shape = Capsule{0.09, 0.1},
             .material = "flesh"});
  add_joint(scene, "waist", "pelvis", "chest", waist);
  add_joint(scene, "neck", "chest", "head", neck);
  const Vec3 left_shoulder = waist + chest * Vec3(0, 0.19, 0.38), right_shoulder = waist + chest * Vec3(0, -0.19, 0.38);
  add_arm(scene, "left_", left_shoulder, {{0.15, 0.85, 0.8}, {0.2, 0.65, 0.8}, {0.15, 0.6, 0.8}});
  add_arm(scene, "right_", right_shoulder, {{0.1, -0.95, 0.8}, {0.2, -0.75, 0.8}, {0.1, -0.75, 0.8}});
  add_leg(scene, "left_", Vec3(0, 0.09, -0.08), {{0.15, 0.35, -0.9}, {-0.05, 0.35, -0.9}, -0.9});
  add_leg(scene, "right_", Vec3(0, -0.09, -0.08), {{0.05, -0.4, -0.9}, {-0.1, -0.35, -0.9}, -1.0});

  double mass = 0;
  Vec3 center = Vec3::Zero();
  for (const BodyDef& body : scene.bodies) {
    const double m = mass_properties(body.shape, scene.materials[0].density).mass;
    mass += m;
    center += m * body.position;
  }
  center /= mass;
  for (BodyDef& body : scene.bodies) body.position -= center;
  for (JointDef& joint : scene.joints) std::get<Ball>(joint).at -= center;
  return scene;
}

/// All segments move as one rigid body whose centre of mass has velocity `v`.
void set_rigid_motion(Scene& scene, const Vec3& v, const Vec3& omega) {
  for (BodyDef& body : scene.bodies) body = moving(body, Vec3::Zero(), v, omega);
}

}  // namespace

Scene mannequin() {
  constexpr double turn = 20, rate = 2 * pi / turn, tilt = 15 * pi / 180;
  Scene scene = posed();
  scene.name = "mannequin";
  scene.description =
      "A weightless mannequin of 15 segments and 14 ball joints, started in a cartwheel about an oblique axis; the run lasts one "
      "turn.";
  set_rigid_motion(scene, Vec3::Zero(), rate * Vec3(std::cos(tilt), 0, std::sin(tilt)));
  scene.recipe = {.dt = turn / 640, .duration = turn};
  return scene;
}

Scene mannequin_bounce() {
  Scene scene = posed();
  scene.name = "mannequin_bounce";
  scene.description =
      "The weightless mannequin flies into an invisible wall, to which each touch sticks for an instant, and bounces off it limb "
      "by limb.";
  set_rigid_motion(scene, Vec3(1.5, 0, 0.2), Vec3(0.3, 0.8, 0.2));
  scene.walls.push_back({.name = "wall", .at = Vec3(1.2, 0, 0), .normal = Vec3(-1, 0, 0), .restitution = 0.75, .sticking = true});
  scene.recipe = {.dt = 1e-3, .duration = 4};
  return scene;
}

}  // namespace rotule::scenes
