// Scene files to scenes. The lists of model/scene_fields.h drive it; what a scene means is checked by model/validate.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/scene.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "base/place.h"
#include "base/text.h"
#include "model/choices.h"
#include "model/dial.h"
#include "model/names.h"
#include "model/other_words.h"
#include "model/scene_fields.h"
#include "model/solver_list.h"
#include "model/structures.h"
#include "model/validate.h"
#include "record/json_text.h"
#include "record/scene_files.h"
#include "record/scene_json.h"

namespace rotule {
namespace {

[[noreturn]] void wrong_type(const Place& place, std::string_view wanted, const Json& json, std::string_view example = {}) {
  fail(place, fmt::format("must be {}, is {}{}{}", wanted, type_of(json), example.empty() ? "" : "; write ", example));
}

template <class T>
void read_struct(const Json& json, const Place& place, T& out, std::initializer_list<std::string_view> others = {});

void read(const Json& json, const Place& place, double& out) {
  if (!json.is_number()) wrong_type(place, "a number", json);
  out = json.get<double>();
}
void read(const Json& json, const Place& place, int& out) {
  if (!json.is_number()) wrong_type(place, "a whole number", json);
  const double value = json.get<double>();
  if (value != std::floor(value) || std::abs(value) > std::numeric_limits<int>::max())
    fail(place, fmt::format("must be a whole number that fits 32 bits, is {}", shortest(value)));
  out = static_cast<int>(value);
}
void read(const Json& json, const Place& place, bool& out) {
  if (!json.is_boolean()) wrong_type(place, "true or false", json);
  out = json.get<bool>();
}
void read(const Json& json, const Place& place, std::string& out) {
  if (!json.is_string()) wrong_type(place, "a string", json);
  out = json.get_ref<const std::string&>();
}

template <class Numbers>
void read_numbers(const Json& json, const Place& place, Numbers& out, std::size_t count, std::string_view wanted) {
  if (!json.is_array()) wrong_type(place, wanted, json);
  if (json.size() != count) fail(place, fmt::format("must be {}, has {}", wanted, json.size()));
  for (std::size_t k = 0; k < count; ++k) read(json[k], place / k, out[k]);
}
void read(const Json& json, const Place& place, Vec3& out) {
  constexpr std::string_view wanted = "a list of 3 numbers";
  if (!json.is_array()) {  // the default is an example
    const Vec3 example = out.allFinite() && !out.isZero(0) ? out : Vec3(0, 0, 1);
    wrong_type(place, wanted, json,
               fmt::format("[{}, {}, {}]", shortest(example[0]), shortest(example[1]), shortest(example[2])));
  }
  read_numbers(json, place, out, 3, wanted);
}
void read(const Json& json, const Place& place, std::array<int, 3>& out) {
  read_numbers(json, place, out, 3, "a list of 3 whole numbers");
}
void read(const Json& json, const Place& place, std::array<int, 4>& out) {
  read_numbers(json, place, out, 4, "a list of 4 places");
}
void read(const Json& json, const Place& place, std::array<int, 2>& out) {
  read_numbers(json, place, out, 2, "a list of 2 places");
}
void read(const Json& json, const Place& place, std::array<std::string, 3>& out) {
  read_numbers(json, place, out, 3, "a list of 3 names");
}
void read(const Json& json, const Place& place, Between& out) {
  read_numbers(json, place, out, 2, "a list of 2 names of bodies");
}

void read(const Json& json, const Place& place, Formula& out) {
  if (json.is_number()) {
    out = Formula(json.get<double>());
    return;
  }
  if (!json.is_string()) wrong_type(place, "a number, or an expression of t such as \"0.5*sin(2*pi*t)\"", json);
  out = Formula(json.get_ref<const std::string&>());
}
void read(const Json& json, const Place& place, Formula3& out) {
  if (!json.is_array() || json.size() != 3) wrong_type(place, "a list of 3 numbers or expressions of t", json);
  for (std::size_t k = 0; k < 3; ++k) read(json[k], place / k, out[k]);
}

void read(const Json& json, const Place& place, EquationText& out) {
  out.lines.clear();
  if (json.is_string()) {
    out.lines.push_back(json.get_ref<const std::string&>());
    return;
  }
  if (!json.is_array() || json.empty())
    wrong_type(place, "an equation such as \"crank.x - cos(crank.y)\", or a list of them", json);
  out.lines.resize(json.size());
  for (std::size_t k = 0; k < json.size(); ++k) read(json[k], place / k, out.lines[k]);
}

void read(const Json& json, const Place& place, Quat& out) {
  if (json.is_object()) {
    AxisAngle turn;
    read_struct(json, place, turn);
    if (!(turn.axis.norm() > 0) || !std::isfinite(turn.axis.squaredNorm())) fail(place / "axis", "must not be the zero vector");
    out = Quat(Eigen::AngleAxisd(turn.angle, turn.axis.normalized()));
    return;
  }
  std::array<double, 4> w_x_y_z{};
  read_numbers(json, place, w_x_y_z, 4, "a quaternion of 4 numbers w, x, y, z, or {\"axis\": [x, y, z], \"angle\": rad}");
  out = Quat(w_x_y_z[0], w_x_y_z[1], w_x_y_z[2], w_x_y_z[3]);
  // One that is a unit quaternion up to rounding keeps its bits; the check of the scene refuses those near zero.
  const double square = out.squaredNorm();
  if (std::abs(square - 1) > 1e-14 && out.norm() >= 1e-6 && std::isfinite(square)) out.normalize();
}

void read(const Json& json, const Place& place, Mat3& out) {
  if (!json.is_array() || json.size() != 3) wrong_type(place, "[Ixx, Iyy, Izz] or a list of 3 rows", json);
  if (!json[0].is_array()) {
    Vec3 diagonal;
    read(json, place, diagonal);
    out = diagonal.asDiagonal();
    return;
  }
  for (std::size_t i = 0; i < 3; ++i) {
    Vec3 row;
    read(json[i], place / i, row);
    out.row(static_cast<Eigen::Index>(i)) = row.transpose();
  }
}

void read(const Json& json, const Place& place, MatX& out) {
  if (!json.is_array() || json.empty()) wrong_type(place, "a list of rows", json);
  for (std::size_t i = 0; i < json.size(); ++i) {
    const Json& row = json[i];
    if (!row.is_array()) wrong_type(place / i, "a row, a list of numbers", row);
    if (i == 0) out.resize(static_cast<Eigen::Index>(json.size()), static_cast<Eigen::Index>(row.size()));
    if (static_cast<Eigen::Index>(row.size()) != out.cols())
      fail(place / i, fmt::format("must have {} numbers as the first row has, has {}", out.cols(), row.size()));
    for (std::size_t k = 0; k < row.size(); ++k)
      read(row[k], place / i / k, out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)));
  }
}

void read(const Json& json, const Place& place, std::array<bool, 6>& out) {
  if (!json.is_array()) wrong_type(place, "a list of x, y, z, rx, ry, rz", json);
  out.fill(false);
  for (std::size_t i = 0; i < json.size(); ++i) {
    std::string name;
    read(json[i], place / i, name);
    const auto* axis = std::find(axis_names.begin(), axis_names.end(), name);
    if (axis == axis_names.end()) fail(place / i, fmt::format("must be one of x, y, z, rx, ry, rz, is {}", in_quotes(name)));
    bool& locked = out[static_cast<std::size_t>(axis - axis_names.begin())];
    if (locked) fail(place / i, fmt::format("{} is given twice", in_quotes(name)));
    locked = true;
  }
}

/// What is no object of one key, the kind: with what would be one.
[[noreturn]] void refuse_kind(const Json& json, const Place& place, const std::vector<std::string>& known,
                              std::string_view what) {
  const auto is_kind = [&](const Json& word) {
    return word.is_string() && std::find(known.begin(), known.end(), word.get_ref<const std::string&>()) != known.end();
  };
  if (!json.is_object())
    fail(place, fmt::format("must be an object with one key, the kind of {}, is {}; {}", what, type_of(json),
                            is_kind(json)      ? fmt::format("write {{\"{}\": {{}}}}", json.get<std::string>())
                            : json.is_string() ? remedy_for_word(json.get_ref<const std::string&>(), known)
                                               : suggestion("", known)));
  if (json.size() == 1)
    fail(place,
         fmt::format("unknown {} {}; {}", what, in_quotes(json.begin().key()), remedy_for_word(json.begin().key(), known)));
  for (const char* key : {"type", "kind"})
    if (json.contains(key) && is_kind(json[key]))
      fail(place, fmt::format("must have one key, the kind of {}: {{\"{}\": {{...}}}} with the other keys inside, has {}", what,
                              json[key].get<std::string>(), json.size()));
  fail(place, fmt::format("must have one key, the kind of {}, has {}; {}", what, json.size(), suggestion("", known)));
}

/// The one key of {"box": {...}}, which is a kind of `what`.
template <class Variant>
void read_kind(const Json& json, const Place& place, Variant& out, std::string_view what) {
  std::vector<std::string> known;
  bool found = false;
  const auto attempt = [&]<class T>(const T&) {
    if constexpr (in_files<T>) {
      known.emplace_back(Kind<T>::name);
      if (!json.is_object() || json.size() != 1 || json.begin().key() != Kind<T>::name) return;
      T value;
      read_struct(json.begin().value(), place / Kind<T>::name, value);
      out = std::move(value);
      found = true;
    }
  };
  for_each_alternative<Variant>(attempt);
  if (!found) refuse_kind(json, place, known, what);
}
void read(const Json& json, const Place& place, Shape& out) { read_kind(json, place, out, "shape"); }
void read(const Json& json, const Place& place, JointDef& out) { read_kind(json, place, out, "joint"); }
void read(const Json& json, const Place& place, SolidDef& out) { read_kind(json, place, out, "solid"); }
void read(const Json& json, const Place& place, ForceDef& out) { read_kind(json, place, out, "force"); }
void read(const Json& json, const Place& place, FlowDef& out) { read_kind(json, place, out, "flow"); }
void read(const Json& json, const Place& place, StructureDef& out) { read_kind(json, place, out, "structure"); }
void read(const Json& json, const Place& place, DecompositionSettings& out) { read_struct(json, place, out); }
/// An object, or its formula alone.
void read(const Json& json, const Place& place, GivenMotion& out) {
  if (json.is_object())
    read_struct(json, place, out);
  else
    read(json, place, out.formula);
}
void read(const Json& json, const Place& place, ElasticMaterial& out) { read_struct(json, place, out); }
void read(const Json& json, const Place& place, ParticleContact& out) { read_struct(json, place, out); }

/// "sor", or {"name": "sor", "relaxation": 1.4}: calls choose(name, place of the name); whether settings follow.
template <class Choose>
bool read_choice(const Json& json, const Place& place, Choose&& choose_by) {
  if (json.is_string()) {
    choose_by(json.get_ref<const std::string&>(), place);
    return false;
  }
  if (!json.is_object()) wrong_type(place, "a name, or an object with a name and settings", json);
  if (!json.contains("name")) fail(place, "missing key \"name\"");
  std::string name;
  read(json["name"], place / "name", name);
  choose_by(name, place / "name");
  return true;
}

template <class... Settings>
void read(const Json& json, const Place& place, std::variant<Settings...>& out) requires(is_choice<std::variant<Settings...>>) {
  if (read_choice(json, place, [&](const std::string& name, const Place& at) { choose(out, name, at); }))
    std::visit([&](auto& settings) { read_struct(json, place, settings, {"name"}); }, out);
}

void read(const Json& json, const Place& place, SolverChoice& out);

void read(const Json& json, const Place& place, Recipe& out);

template <class T>
concept Readable = requires(T t) {
  SceneFields<T>::fields(t, [](auto&&...) {});
};
template <Readable T>
void read(const Json& json, const Place& place, T& out) {
  read_struct(json, place, out);
}

template <class T>
void read(const Json& json, const Place& place, std::vector<T>& out) {
  if (!json.is_array()) wrong_type(place, "a list", json, "[...]");
  out.resize(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) read(json[i], place / i, out[i]);
}

template <class T>
void read(const Json& json, const Place& place, std::optional<T>& out) {
  read(json, place, out.emplace());
}

// What does not depend on the type is kept out of the templates below: there are a few hundred of them.

/// A value where an object with that one key stands: {"sphere": 0.5}.
void require_object(const Json& json, const Place& place, const std::vector<std::string>& known) {
  if (json.is_object()) return;
  constexpr std::size_t longest = 40;
  const std::string value = json.dump();
  wrong_type(place, "an object", json,
             known.size() == 1 && value.size() <= longest ? fmt::format("{{\"{}\": {}}}", known[0], value)
             : known.empty()                              ? "{}"
                                                          : fmt::format("{{\"{}\": ...}}", known[0]));
}

void require_known_keys(const Json& json, const Place& place, const std::vector<std::string>& known) {
  for (const auto& item : json.items())
    if (std::find(known.begin(), known.end(), item.key()) == known.end())
      fail(place, known.empty() ? fmt::format("unknown key {}; there are none here", in_quotes(item.key()))
                                : fmt::format("unknown key {}; {}", in_quotes(item.key()), remedy_for_word(item.key(), known)));
}

/// The value of a field; null where it may be left out and is.
const Json* value_of(const Json& json, const Place& place, const Field& field, Need need) {
  if (const auto found = json.find(field.name); found != json.end()) return &*found;
  if (need == Need::required) fail(place, fmt::format("missing key \"{}\": {}", field.name, field.meaning));
  return nullptr;
}

/// Of fields that know a word besides numbers.
bool reads_word(const Json& json, const Field& field) {
  return !field.word.empty() && json.is_string() && json.get_ref<const std::string&>() == field.word;
}

void add_name(std::vector<std::string>& names, const Field& field) { names.emplace_back(field.name); }

/// Gathers the names of a struct's fields, in order, or reads their values: one visitor for both, since a list of fields is
/// compiled anew for each visitor.
struct Reader {
  const Json& json;
  const Place& place;
  std::vector<std::string>* names = nullptr;  // where given, nothing is read
  template <class T>
  void operator()(const Field& field, T& member, Need need = Need::optional) const {
    if (names != nullptr) {
      add_name(*names, field);
      return;
    }
    const Json* value = value_of(json, place, field, need);
    if (value == nullptr) return;
    if constexpr (std::is_same_v<T, double>) {
      if (reads_word(*value, field)) {
        member = field.min;
        return;
      }
      if (!field.word.empty() && !value->is_number())
        wrong_type(place / field.name, fmt::format("a number or {}", in_quotes(field.word)), *value);
    }
    read(*value, place / field.name, member);
  }
};

void read(const Json& json, const Place& place, SolverChoice& out) {
  if (!read_choice(json, place, [&](const std::string& name, const Place& at) { out = named_solver(name, at).settings; })) return;
  std::vector<std::string> known{"name"};
  out.visit_fields(Reader{json, place, &known});
  require_known_keys(json, place, known);
  out.visit_fields(Reader{json, place});
}

template <class T>
void read_struct(const Json& json, const Place& place, T& out, std::initializer_list<std::string_view> others) {
  // Unknown keys first: a misspelt one explains a missing one.
  std::vector<std::string> known(others.begin(), others.end());
  visit_fields(out, Reader{json, place, &known});
  require_object(json, place, known);
  require_known_keys(json, place, known);
  visit_fields(out, Reader{json, place});
}

/// Angles of orientations beyond a full turn, wherever they stand.
void find_large_angles(const Json& json, const std::string& place, std::vector<LargeAngle>& out) {
  if (json.is_object() && json.size() == 2 && json.contains("axis") && json.contains("angle") && json["angle"].is_number())
    if (const double angle = json["angle"].get<double>(); std::abs(angle) > 2 * std::numbers::pi)
      out.push_back({place + "/angle", angle});
  if (!json.is_structured()) return;
  std::size_t i = 0;
  for (const auto& item : json.items()) {
    find_large_angles(item.value(), fmt::format("{}/{}", place, json.is_array() ? std::to_string(i) : item.key()), out);
    ++i;
  }
}

/// A setting of the dial, by name.
Dial read_dial(const Json& json, const Place& place) {
  std::string name;
  read(json, place, name);
  try {
    return dial_named(name);
  } catch (const Error& error) {
    throw Error(place.str(), error.what());
  }
}

/// What was said of the recipe: a setting of the dial, fields, or both.
void read(const Json& json, const Place& place, Recipe& out) {
  if (json.is_string()) {
    static_cast<void>(read_dial(json, place));
    return;
  }
  if (!json.is_object()) wrong_type(place, "\"realtime\", \"balanced\" or \"exact\", or an object", json);
  if (const auto dial = json.find("dial"); dial != json.end()) static_cast<void>(read_dial(*dial, place / "dial"));
  read_struct(json, place, out, {"dial"});
}

/// Chooses what the file leaves open, now that the whole scene is known. The scene stays open where whoever opens it later would
/// choose the same, so that it is written again as it was read.
void choose_recipe(const Json& json, Scene& scene) {
  GivenFields given;
  if (const auto recipe = json.find("recipe"); recipe != json.end()) {
    const Place place("/recipe");
    if (recipe->is_string()) scene.dial = read_dial(*recipe, place);
    if (recipe->is_object())
      for (const auto& item : recipe->items()) {
        if (item.key() == "dial") scene.dial = read_dial(item.value(), place / "dial");
        given.add(item.key());
      }
  }
  const Recipe chosen = fitted(content_of(scene), scene.recipe, given, {*scene.dial, {}});
  if (same_recipe(chosen, recipe_of(scene))) return;
  scene.recipe = chosen;
  scene.dial.reset();
}

/// What structures are made of: the scene holds that, and not how it was described.
void read_structures(const Json& json, const Place& place, Scene& scene) {
  std::vector<StructureDef> structures;
  read(json, place, structures);
  for (std::size_t i = 0; i < structures.size(); ++i) {
    const Place item = place / i;
    build_structure(structures[i], item / kind_of(structures[i]), scene);
  }
}

Scene read_scene(const Json& json, const std::filesystem::path& folder) {
  const Place top;
  if (!json.is_object()) fail(Place("/"), fmt::format("must be an object such as {{\"rotule\": 1, ...}}, is {}", type_of(json)));
  if (const auto version = json.find("rotule"); version != json.end()) {
    if (!version->is_number()) wrong_type(top / "rotule", "the number of the format's version, 1", *version);
    if (*version != 1)
      fail(top / "rotule",
           fmt::format("must be 1, the version of the format that this program reads, is {}", shortest(version->get<double>())));
  }
  Scene scene;
  read_struct(json, top, scene, {"rotule", "$schema", "structures"});
  if (!json.contains("rotule")) fail(Place("/"), "missing key \"rotule\": a scene file says {\"rotule\": 1, ...}");
  if (const auto bodies = json.find("bodies"); bodies != json.end()) find_large_angles(*bodies, "/bodies", scene.large_angles);
  if (const auto structures = json.find("structures"); structures != json.end())
    read_structures(*structures, top / "structures", scene);
  read_files(scene, folder);
  name_unnamed(scene);
  validate(scene);
  choose_recipe(json, scene);
  cut_meshes(scene);
  return scene;
}

}  // namespace

namespace {

/// Files that the scene names are looked for beside `folder`.
Scene read_named(std::string_view text, const std::string& origin, const std::filesystem::path& folder) {
  try {
    return read_scene(parse_json(text), folder);
  } catch (const Error& error) {
    throw Error(origin, error.what());
  }
}

template <class T>
T read_part(std::string_view text) {
  T out;
  read(parse_json(text), Place(), out);
  return out;
}

}  // namespace

BodyDef parse_body(std::string_view text) {
  Scene alone;
  alone.bodies.push_back(read_part<BodyDef>(text));
  read_files(alone, {});
  cut_meshes(alone);
  return std::move(alone.bodies.front());
}

JointDef parse_joint(std::string_view text) { return read_part<JointDef>(text); }
ForceDef parse_force(std::string_view text) { return read_part<ForceDef>(text); }

Shape parse_shape(std::string_view text) {
  Scene alone;
  alone.bodies.push_back({.shape = read_part<Shape>(text)});
  read_files(alone, {});
  cut_meshes(alone);
  return std::move(alone.bodies.front().shape);
}

Scene parse_scene(std::string_view text, const std::string& origin) { return read_named(text, origin, {}); }

Scene load_scene(const std::string& path) {
  return read_named(read_text_file(path), path, std::filesystem::path(path).parent_path());
}

}  // namespace rotule
