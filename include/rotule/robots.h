#pragma once
// Files of robots: URDF and MJCF to scenes, and scenes that are trees to URDF. A link is a body whose frame is the link's; what
// is held fast to another link is one body with it. Joints keep their names and coordinates: q of a hinge or slider is the
// file's. What a file says and a scene cannot is never dropped in silence: it is a remark, by name and line.
#include <rotule/scene.h>
#include <rotule/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rotule {

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
  Meshes meshes = Meshes::hulls;          // as convex hulls; cut into convex parts; left out
  std::string keyframe = {};              // of MJCF; empty: "home", else the first, else none
  std::vector<std::string> folders = {};  // that may be read besides the file's own and those of its packages
};

struct Robot {
  Scene scene = {};
  std::vector<RobotRemark> remarks = {};
  std::vector<RobotFrame> frames = {};
  std::vector<JointRating> ratings = {};
};

/// Whether the name ends as files of robots do: .urdf, .xml, .mjcf.
bool names_robot(std::string_view path);

/// Reads URDF or MJCF, whichever the root element says. Throws Error, one line with file, line and remedy. No entity is expanded
/// and nothing is read from outside the file's folder, the package that it lies in, and `folders`.
Robot read_robot(const std::string& path, const RobotOptions& options = {});

/// A scene whose joints form trees of hinges, sliders, planar joints and welds, as the text of a URDF file; remarks say what URDF
/// cannot. Throws Error where joints close a loop or are of another kind.
std::string to_urdf(const Scene& scene, const std::vector<JointRating>& ratings = {},
                    std::vector<RobotRemark>* remarks = nullptr);

}  // namespace rotule
