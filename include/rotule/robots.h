#pragma once
// Files of robots: URDF and MJCF to scenes, and scenes that are trees to URDF. A link is a body whose frame is the link's; what
// is held fast to another link is one body with it. Joints keep their names and coordinates: q of a hinge or slider is the
// file's. What a file says and a scene cannot is never dropped in silence: it is a remark, by name and line.
#include <rotule/ids.h>
#include <rotule/scene.h>
#include <rotule/shapes.h>
#include <rotule/types.h>

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rotule {

class World;

/// Something that a file says and the scene does not, or says otherwise.
struct RobotRemark {
  std::string what = {};  // "geom@solref", "joint knee"
  std::string text = {};  // what became of it
  std::string file = {};
  int line = 0;   // where first
  int count = 1;  // how often
};

/// A named frame that is no body of its own: a link held fast to another, a link without mass, a site.
struct RobotFrame {
  std::string name = {};
  std::string body = {};  // "world" where nothing moves it
  Pose pose = {};         // in the body's frame
};

/// What a joint's motor is made for: scenes have no place for it unless a motor is at work.
struct JointRating {
  std::string joint = {};
  double effort = 0;    // N m, N
  double velocity = 0;  // rad/s, m/s
};

/// A motor of an MJCF file. Along L = sum of ratio (q + zero) it exerts
///   f = gain a + constant - stiffness L - damping L',
/// a being its control c, or what follows it: a' = (c - a) / lag, or a' = c where it integrates.
struct RobotActuator {
  struct Moved {
    std::string joint = {};
    double ratio = 1;
    double zero = 0;  // the file's coordinate where the scene's is 0
  };
  using Range = std::optional<std::array<double, 2>>;
  std::string name = {};
  std::vector<Moved> moves = {};
  double gain = 1, constant = 0, stiffness = 0, damping = 0;
  double lag = 0;  // s
  bool integrates = false;
  Range controls = {}, activations = {}, forces = {};
  Range joint_torques = {};  // of all motors of its joint together
  double control = 0;        // at the start
};

/// A sensor of an MJCF file. What it says is exact: `noise` is what the file gives as its standard deviation, for who wants to
/// add some.
struct RobotSensor {
  struct Seat {
    std::string body = {};  // "world" where nothing moves it
    Pose pose = {};         // in the body's frame
  };
  /// Of all that it is about: a share of a body.
  struct Part {
    std::string body = {};
    double mass = 0;
    Vec3 center = Vec3::Zero();   // m, in the body's frame
    Mat3 inertia = Mat3::Zero();  // kg m^2, about that, in its axes
    double weight = 1;            // share of it that nothing unseen carries
  };
  std::string name = {};
  std::string type = {};  // MJCF's word: "gyro", "framepos"
  int size = 1;           // numbers
  std::string unit = {};
  Seat at = {};
  std::optional<Seat> against = {};               // the frame in which it is told; else the world's
  std::vector<RobotActuator::Moved> joints = {};  // L = sum of ratio (q + zero)
  std::string actuator = {};
  std::vector<Part> parts = {};
  Shape zone = Sphere{0.005};    // of touch
  Vec3 field = Vec3::Zero();     // of magnetometers, in the world
  double cutoff = 0, noise = 0;  // beyond the former it says the former; 0: never
};

struct RobotOptions {
  enum class Base { automatic, fixed, floating };
  /// Of a URDF file's root. Automatic: fixed where it is named "world" or has no inertia.
  Base base = Base::automatic;
  Vec3 base_position = Vec3::Zero();  // m, of a URDF file's root
  /// Whether links that fixed joints tie are bodies of their own, welded; else they are one body, and named frames.
  bool weld_fixed = false;
  /// Whether motors hold the joints of a URDF file where they are, as strong as the file's `effort`.
  bool hold = false;
  /// Whether links of a URDF file can touch each other; those of MJCF do as the file says.
  bool self_contacts = false;
  enum class Meshes { hulls, parts, none };
  Meshes meshes = Meshes::hulls;  // as convex hulls; cut into convex parts; left out
  /// Whether motors of an MJCF file act in the scene, held at the controls that they start with; else they wait for `Actuators`.
  bool motors_act = true;
  std::string keyframe = {};              // of MJCF; empty: "home", else the first, else none
  std::vector<std::string> folders = {};  // that may be read besides the file's own and those of its packages
};

struct Robot {
  Scene scene = {};
  std::vector<RobotRemark> remarks = {};
  std::vector<RobotFrame> frames = {};
  std::vector<JointRating> ratings = {};
  std::vector<RobotActuator> actuators = {};  // in the order of the file
  std::vector<RobotSensor> sensors = {};      // likewise
};

/// Whether the name ends as files of robots do: .urdf, .xml, .mjcf.
bool names_robot(std::string_view path);

/// Reads URDF or MJCF, whichever the root element says. Throws Error, one line with file, line and remedy. No entity is expanded
/// and nothing is read from outside the file's folder, the package that it lies in, and `folders`.
Robot read_robot(const std::string& path, const RobotOptions& options = {});

/// The motors of a robot that was read with `motors_act` off, in a world of its scene: ranges of controls and forces, lags, and
/// several motors on one joint. Springs and dampers of servos act within the step, implicitly where the method is. The object has
/// the activations; copies go with snapshots of the world.
class Actuators {
 public:
  /// Activations begin where the controls of the start would have brought them. Throws Error where the world lacks a joint.
  Actuators(std::vector<RobotActuator> actuators, const World& world);

  [[nodiscard]] const std::vector<RobotActuator>& list() const { return actuators_; }
  [[nodiscard]] const std::vector<double>& activations() const { return activations_; }
  /// The controls of the start.
  [[nodiscard]] std::vector<double> controls() const;
  /// Tells the world's motors what they do in the next step, of h seconds: before World::step. One control for each actuator.
  void tell(World& world, std::span<const double> controls, double h);

 private:
  struct Motor {
    JointId joint;
    std::vector<std::pair<std::size_t, std::size_t>> parts;  // actuators, and which of their moves
  };
  std::vector<RobotActuator> actuators_;
  std::vector<double> activations_;
  std::vector<Motor> motors_;
};

/// The sensors of a robot in a world of its scene. Places and velocities are those of the world's state; accelerations are
/// World::acceleration's, the mean of the last step at velocity level (none before the first); forces come from those and from
/// the contacts of the last step.
class Sensors {
 public:
  /// Throws Error where the world lacks a body or joint.
  Sensors(const Robot& robot, const World& world);

  [[nodiscard]] const std::vector<RobotSensor>& list() const { return sensors_; }
  /// All numbers, sensor after sensor in the order of the file, as the world stands now; valid until the next call. What motors
  /// exert is by the activations of `actuators`, or by the controls of the start.
  std::span<const double> read(const World& world, const Actuators* actuators = nullptr);
  /// Those of one sensor, of what was read last. Throws Error with the nearest name.
  [[nodiscard]] std::span<const double> of(std::string_view name) const;
  [[nodiscard]] std::span<const double> values() const { return values_; }
  /// Where a sensor's numbers begin among all.
  [[nodiscard]] int first(std::size_t sensor) const { return sources_[sensor].first; }

 private:
  struct Seat {
    std::optional<BodyId> body = {};  // none: the world
    Pose pose = {};
  };
  struct Source {
    int first = 0, kind = 0;
    Seat at = {};
    std::optional<Seat> against = {};
    std::vector<JointId> joints = {};
    std::vector<BodyId> parts = {};
    std::vector<std::size_t> actuators = {};
  };
  struct Reading;
  std::vector<RobotSensor> sensors_;
  std::vector<RobotActuator> actuators_;
  std::vector<std::vector<JointId>> moved_;  // by each of them
  std::vector<Source> sources_;
  std::vector<double> values_;
};

/// A scene whose joints form trees of hinges, sliders, planar joints and welds, as the text of a URDF file; remarks say what URDF
/// cannot. Throws Error where joints close a loop or are of another kind.
std::string to_urdf(const Scene& scene, const std::vector<JointRating>& ratings = {},
                    std::vector<RobotRemark>* remarks = nullptr);

}  // namespace rotule
