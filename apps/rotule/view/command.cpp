#include "command.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>

#include "base/text.h"
#include "record/json_text.h"
#include "record/view_stream.h"

namespace rotule::app {
namespace {

constexpr std::size_t most_text = 200;    // characters of a name
constexpr std::size_t most_changes = 64;  // fields at once
constexpr double far = 1e12;              // m, and m/s

[[noreturn]] void refuse(const std::string& what) { throw Error("message", what); }

double number(const Json& json, const char* key, double low, double high) {
  if (!json.is_number()) refuse(fmt::format("\"{}\" must be a number", key));
  const auto value = json.get<double>();
  if (!(value >= low && value <= high)) refuse(fmt::format("\"{}\" must be from {} to {}", key, low, high));
  return value;
}

int integer(const Json& json, const char* key, double low, double high) {
  const double value = number(json, key, low, high);
  if (value != std::floor(value)) refuse(fmt::format("\"{}\" must be a whole number", key));
  return static_cast<int>(value);
}

Vec3 vector(const Json& json, const char* key) {
  if (!json.is_array() || json.size() != 3) refuse(fmt::format("\"{}\" must be three numbers", key));
  return {number(json[0], key, -far, far), number(json[1], key, -far, far), number(json[2], key, -far, far)};
}

std::string text(const Json& json, const char* key) {
  if (!json.is_string()) refuse(fmt::format("\"{}\" must be a text", key));
  auto value = json.get<std::string>();
  if (value.size() > most_text) refuse(fmt::format("\"{}\" is too long", key));
  return value;
}

/// The message's keys, each of which must be asked for.
class Keys {
 public:
  explicit Keys(const Json& json, std::initializer_list<const char*> allowed) : json_(json) {
    for (const auto& [key, value] : json.items()) {
      bool known = key == "do";
      for (const char* name : allowed) known = known || key == name;
      if (!known) refuse(fmt::format("has an unknown key {}", in_quotes(key)));
    }
  }
  [[nodiscard]] const Json& need(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(fmt::format("lacks \"{}\"", key));
    return *found;
  }
  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

 private:
  const Json& json_;
};

constexpr double most_bodies = 1e8;

ask::Change change(const Json& json) {
  const Keys keys(json, {"changes"});
  const Json& changes = keys.need("changes");
  if (!changes.is_object() || changes.empty() || changes.size() > most_changes)
    refuse("\"changes\" must be an object of a few fields");
  ask::Change out;
  for (const auto& [path, value] : changes.items()) {
    if (path.size() > most_text) refuse("a field's name is too long");
    if (value.is_boolean())
      out.fields.emplace_back(path, value.get<bool>() ? "true" : "false");
    else if (value.is_number_integer())
      out.fields.emplace_back(path, value.dump());
    else if (value.is_number())
      out.fields.emplace_back(path, shortest(number(value, "changes", -1e300, 1e300)));
    else
      out.fields.emplace_back(path, text(value, "changes"));
  }
  return out;
}

ask::Turn dial(const Json& json) {
  const Keys keys(json, {"setting", "accuracy"});
  const Json *setting = keys.find("setting"), *accuracy = keys.find("accuracy");
  if ((setting == nullptr) == (accuracy == nullptr)) refuse("wants one of \"setting\" and \"accuracy\"");
  ask::Turn out;
  if (setting != nullptr) out.setting = text(*setting, "setting");
  if (accuracy != nullptr) out.accuracy = number(*accuracy, "accuracy", 1e-300, 1);
  return out;
}

ask::Parts parts(const Json& json) {
  const Keys keys(json, {"parts"});
  const Json& list = keys.need("parts");
  if (!list.is_array() || list.size() > 16) refuse("\"parts\" must be a short list");
  static const std::map<std::string, unsigned> names{{"contacts", view_contacts},     {"forces", view_forces},
                                                     {"velocities", view_velocities}, {"islands", view_islands},
                                                     {"loads", view_loads},           {"fluid", view_fluid}};
  ask::Parts out;
  for (const Json& part : list) {
    const auto found = names.find(text(part, "parts"));
    if (found == names.end()) refuse("\"parts\" knows contacts, forces, velocities, islands, loads and fluid");
    out.parts |= found->second;
  }
  return out;
}

ask::Pick pick(const Json& json) {
  const Keys keys(json, {"body"});
  const Json& body = keys.need("body");
  return {body.is_null() ? -1 : integer(body, "body", 0, most_bodies)};
}

template <class Grip>
Grip grip(const Json& json) {
  const Keys keys(json, {"body", "at", "to"});
  return {integer(keys.need("body"), "body", 0, most_bodies), vector(keys.need("at"), "at"), vector(keys.need("to"), "to")};
}

ask::Modes modes_of(const Json& json) {
  const Keys keys(json, {"shape"});
  ask::Modes out;
  if (const Json* shape = keys.find("shape")) out.shape = integer(*shape, "shape", 0, most_bodies);
  return out;
}

ask::Throw throw_ball(const Json& json) {
  const Keys keys(json, {"from", "velocity", "radius", "mass"});
  ask::Throw out{vector(keys.need("from"), "from"), vector(keys.need("velocity"), "velocity")};
  if (const Json* radius = keys.find("radius")) out.radius = number(*radius, "radius", 1e-6, 1e6);
  if (const Json* mass = keys.find("mass")) out.mass = number(*mass, "mass", 1e-9, 1e12);
  return out;
}

ask::Slice slice(const Json& json) {
  const Keys keys(json, {"axis", "at"});
  return {integer(keys.need("axis"), "axis", 0, 2), number(keys.need("at"), "at", -far, far)};
}

template <class Plain>
Command plain(const Json& json) {
  Keys(json, {});
  return Plain{};
}

using Reader = Command (*)(const Json&);
const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> table{
      {"play", plain<ask::Play>},
      {"pause", plain<ask::Pause>},
      {"restart", plain<ask::Restart>},
      {"release", plain<ask::Release>},
      {"key", plain<ask::Key>},
      {"record", plain<ask::Record>},
      {"step",
       [](const Json& json) -> Command {
         const Keys keys(json, {"count"});
         const Json* count = keys.find("count");
         return ask::Step{count ? integer(*count, "count", 1, 1000) : 1};
       }},
      {"speed",
       [](const Json& json) -> Command {
         return ask::Speed{number(Keys(json, {"factor"}).need("factor"), "factor", 1e-12, 1e12)};
       }},
      {"seek",
       [](const Json& json) -> Command { return ask::Seek{number(Keys(json, {"time"}).need("time"), "time", -far, far)}; }},
      {"open", [](const Json& json) -> Command { return ask::Open{text(Keys(json, {"scene"}).need("scene"), "scene")}; }},
      {"pick", [](const Json& json) -> Command { return pick(json); }},
      {"drag", [](const Json& json) -> Command { return grip<ask::Pull>(json); }},
      {"pose", [](const Json& json) -> Command { return grip<ask::Pose>(json); }},
      {"modes", [](const Json& json) -> Command { return modes_of(json); }},
      {"throw", [](const Json& json) -> Command { return throw_ball(json); }},
      {"recipe", [](const Json& json) -> Command { return change(json); }},
      {"dial", [](const Json& json) -> Command { return dial(json); }},
      {"slice", [](const Json& json) -> Command { return slice(json); }},
      {"show", [](const Json& json) -> Command { return parts(json); }}};
  return table;
}

}  // namespace

Command parse_command(std::string_view message) {
  const Json json = parse_json(message);
  if (!json.is_object()) refuse("must be an object");
  const auto verb = json.find("do");
  if (verb == json.end()) refuse("lacks \"do\"");
  const auto found = readers().find(text(*verb, "do"));
  if (found == readers().end()) refuse("asks for something unknown");
  return found->second(json);
}

}  // namespace rotule::app
