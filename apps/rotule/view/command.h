#pragma once
// What a page asks for: the text messages that the server takes, read and checked.
#include <rotule/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rotule::app {

namespace ask {
struct Play {};
struct Pause {};
struct Step {
  int count = 1;
};
struct Speed {
  double factor = 1;
};
struct Seek {
  double time = 0;
};
struct Restart {};
struct Open {
  std::string scene;
};
struct Pick {
  int body = -1;  // -1: none
};
struct Pull {
  int body = 0;
  Vec3 at = Vec3::Zero(), to = Vec3::Zero();
};
struct Release {};
struct Pose {  // the body's point is brought there, joints holding, and all stands still
  int body = 0;
  Vec3 at = Vec3::Zero(), to = Vec3::Zero();
};
struct Modes {
  std::optional<int> shape;  // of this one, by its number in the list; else the list
};
struct Throw {
  Vec3 from = Vec3::Zero(), velocity = Vec3::Zero();
  double radius = 0.1, mass = 1;
};
struct Change {
  std::vector<std::pair<std::string, std::string>> fields;
};
struct Turn {  // of the dial: to a setting, or to an accuracy
  std::string setting;
  std::optional<double> accuracy;
};
struct Parts {
  unsigned parts = 0;
};
struct Slice {  // of the fluid: across an axis, at a coordinate
  int axis = 1;
  double at = 0;
};
struct Key {};
struct Record {};  // of the steps' problems: on, or off
}  // namespace ask

using Command = std::variant<ask::Play, ask::Pause, ask::Step, ask::Speed, ask::Seek, ask::Restart, ask::Open, ask::Pick,
                             ask::Pull, ask::Release, ask::Pose, ask::Modes, ask::Throw, ask::Change, ask::Turn, ask::Parts,
                             ask::Slice, ask::Key, ask::Record>;

/// Throws Error where the text is anything else than one of these messages: unknown or missing keys, wrong types, numbers that
/// are not finite or out of range.
Command parse_command(std::string_view text);

}  // namespace rotule::app
