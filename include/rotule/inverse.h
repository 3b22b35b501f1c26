#pragma once
// Inverse problems: which pose meets given targets (A9, inverse kinematics), and which forces make a given motion (A11, inverse
// dynamics: inverse_dynamics.h).
//
// A target is one more constraint C(q) = 0. Newton's iteration takes the smallest mass-weighted move that closes joints and
// targets at once, min 1/2 d^T M d with J d = -C, scaled where a body would turn by more than a bound: far away it follows the
// gradient, near the pose it converges quadratically. The damped iteration holds joints and limits exactly and takes the targets
// as they come,
//   min 1/2 mu d^T M d + 1/2 sum w^2 |J d + C|^2,
// with mu by Levenberg and Marquardt: out of reach, it ends in the pose whose weighted errors are least.
#include <rotule/world.h>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rotule {

/// A point of a body comes to a point of another, or of the world. Both are given in their bodies' frames.
struct PointTarget {
  std::string body = {};
  Vec3 at = Vec3::Zero();
  std::string onto = "world";
  Vec3 to = Vec3::Zero();
  double weight = 1;  // of errors in m against those of other targets; greater than 0
};

/// A body turns to an orientation, in the world or against another body.
struct OrientationTarget {
  std::string body = {};
  Quat orientation = Quat::Identity();
  std::string against = "world";
  double weight = 1;  // of errors in rad
};

/// A direction of a body points to a point of another, or of the world: an eye, a camera, a lamp.
struct LookTarget {
  std::string body = {};
  Vec3 direction{1, 0, 0};   // in the body's frame
  Vec3 from = Vec3::Zero();  // the eye, likewise
  std::string onto = "world";
  Vec3 to = Vec3::Zero();
  double weight = 1;  // of errors in rad
};

/// The common centre of mass comes to a point, or onto some of its coordinates.
struct CenterOfMassTarget {
  std::vector<std::string> bodies = {};  // none: all that have a mass
  Vec3 to = Vec3::Zero();
  std::array<bool, 3> axes{true, true, true};  // which coordinates are asked for
  double weight = 1;                           // of errors in m
};

using Target = std::variant<PointTarget, OrientationTarget, LookTarget, CenterOfMassTarget>;

enum class InverseMethod {
  automatic,  // Newton's iteration; where that finds no pose, the damped one from the start
  newton,
  damped,
};

struct InverseSettings {
  InverseMethod method = InverseMethod::automatic;
  double tolerance = 1e-12;            // m, rad: largest error at which a pose counts as reached
  int max_iterations = 500;            // of both kinds together
  double max_rotation = 2;             // rad, that a body turns in one iteration, at most; 0.7 where there are loops or stops
  bool limits = true;                  // whether stops of joints and constraints of one side hold
  std::vector<std::string> hold = {};  // bodies that stay where they are
};

struct InverseIteration {
  InverseMethod method = InverseMethod::newton;
  double error = 0;  // m, rad: largest of targets, joints and limits before it
  double step = 0;   // rad, m: largest turn or travel of a body in it
};

struct InverseReport {
  bool reached = false;
  bool closest = false;  // not reached, but no small motion brings the targets closer
  int iterations = 0;
  double error = 0;                           // m, rad: largest of the targets at the end
  double joint_error = 0;                     // m, rad: likewise of joints
  double limit_error = 0;                     // m, rad: by which a limit or a constraint of one side is exceeded
  std::vector<double> target_errors = {};     // m, rad: length of each one's error
  std::vector<std::string> at_limits = {};    // joints that stand at a stop, constraints of one side that have no room
  std::vector<InverseIteration> course = {};  // iteration by iteration
};

/// Moves the world into a pose that meets the targets, or comes closest to them; the report says which. Velocities stay, made to
/// fit the joints (A7 d); the clock stands still. Throws Error where a name is unknown, a target makes no sense, or nothing can
/// move.
InverseReport inverse_kinematics(World& world, std::span<const Target> targets, const InverseSettings& settings = {});

/// The scene with its bodies as they stand and move in the world that was made of it: joints are described anew in this pose, and
/// zeros of their coordinates move with it, so that limits and springs stay where they were. Throws Error where bodies or joints
/// came or went since, or a joint cannot be described in another pose.
Scene posed(const Scene& scene, const World& world);

/// A chain of hinges and sliders from what never moves to a tip, as robots have, in joint coordinates: no bodies, no memory from
/// call to call, made for millions of solves.
class Arm {
 public:
  /// The chain of joints from the world, or a fixed body, to `tip`; `at` is the tip's point, in that body's frame. Coordinates
  /// are those of World::joint_position, first joint first. Throws Error where there is no such chain, or one of its joints is
  /// neither hinge, slider nor weld.
  Arm(const World& world, std::string_view tip, const Vec3& at = Vec3::Zero());
  Arm(Arm&&) noexcept;
  Arm& operator=(Arm&&) noexcept;
  ~Arm();

  [[nodiscard]] int axes() const;
  [[nodiscard]] const std::vector<std::string>& joints() const;
  /// Where the tip's point stands and how its body is turned.
  [[nodiscard]] Pose tip(std::span<const double> q) const;

  struct Outcome {
    bool reached = false;
    int iterations = 0;
    double error = 0;  // m, rad
  };
  /// Moves q until the tip stands at the pose (with `turn` false: its point alone), within the joints' limits. Starts at q.
  Outcome solve(const Pose& target, std::span<double> q, bool turn = true, double tolerance = 1e-10,
                int max_iterations = 100) const;

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace rotule
