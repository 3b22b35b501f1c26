#pragma once
// A scene that no engine owns, and what can be said of its bodies' poses whichever engine moved them.
#include <Eigen/Core>
#include <Eigen/Geometry>
#include <string>
#include <vector>

namespace peers {

using Vec = Eigen::Vector3d;
using Turn = Eigen::Quaterniond;

struct Pose {
  Vec p = Vec::Zero();
  Turn q = Turn::Identity();
};

struct Part {
  enum class Kind { box, sphere, capsule };
  Kind kind = Kind::box;
  Vec half = Vec::Zero();  // of a box
  double radius = 0;
  double length = 0;  // half of a capsule's segment, along its y
  Pose at;            // in the body
};

struct BodyOf {
  bool fixed = false;
  Pose at;
  double mass = 0;
  Vec inertia = Vec::Zero();
  std::vector<Part> parts;
};

struct BallJoint {
  int a = -1, b = -1;  // a: -1 for the world
  Vec in_a = Vec::Zero(), in_b = Vec::Zero();
};

struct Scene {
  std::string name;
  Vec gravity = Vec::Zero();
  double friction = 0, dt = 0;
  int steps = 0;
  std::vector<BodyOf> bodies;
  std::vector<BallJoint> joints;
};

Scene read_scene(const std::string& file);

struct Quality {
  double deepest = 0, mean_depth = 0;  // m, over pairs of bodies that overlap
  double joint_gap = 0;                // m
  double moved = 0;                    // m, the farthest that a body is from where it began
  bool finite = true;
};
Quality quality_of(const Scene& scene, const std::vector<Pose>& now);
/// The widest that a joint is open.
double widest_joint(const Scene& scene, const std::vector<Pose>& now);

/// One engine with one scene in it.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;
  virtual void step() = 0;
  [[nodiscard]] virtual Pose pose(int body) const = 0;
};

}  // namespace peers
