// Scenes to scene files. A field is written where its text differs from that of a default-made struct, so that files stay
// short and "same text" means "same bits".
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/scene.h>

#include <cmath>
#include <filesystem>

#include "base/text.h"
#include "model/choices.h"
#include "model/names.h"
#include "model/scene_fields.h"
#include "model/solver_list.h"
#include "record/json_text.h"
#include "record/scene_files.h"
#include "record/scene_json.h"

namespace rotule {
namespace {

template <class T>
std::string struct_text(const T& value, std::string first = {});

std::string text_of(double value) {
  if (!std::isfinite(value)) throw Error("a number that is not finite cannot be written as JSON");
  return shortest(value);
}
std::string text_of(int value) { return std::to_string(value); }
std::string text_of(bool value) { return value ? "true" : "false"; }
std::string text_of(const std::string& value) {
  try {
    return Json(value).dump();
  } catch (const Json::exception&) {
    throw Error(in_quotes(value), "is not UTF-8");
  }
}

template <class Items, class TextOf>
std::string list_text(const Items& items, TextOf text) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ", ";
    out += text(item);
  }
  return out + "]";
}
std::string text_of(const Vec3& value) {
  return list_text(value, [](double x) { return text_of(x); });
}
std::string text_of(const std::array<int, 3>& value) {
  return list_text(value, [](int x) { return text_of(x); });
}
std::string text_of(const std::array<int, 4>& value) {
  return list_text(value, [](int x) { return text_of(x); });
}
std::string text_of(const std::array<int, 2>& value) {
  return list_text(value, [](int x) { return text_of(x); });
}
std::string text_of(const std::array<std::string, 3>& value) {
  return list_text(value, [](const std::string& x) { return text_of(x); });
}
std::string text_of(const Between& value) {
  return list_text(value, [](const std::string& x) { return text_of(x); });
}
std::string text_of(const Formula& value) {
  // A plain number is written as one.
  const std::optional<double> number = to_double(value.text);
  return number && std::isfinite(*number) && Formula(*number) == value ? text_of(*number) : text_of(value.text);
}
std::string text_of(const EquationText& value) {
  if (value.lines.size() == 1) return text_of(value.lines[0]);
  return list_text(value.lines, [](const std::string& x) { return text_of(x); });
}
std::string text_of(const Formula3& value) {
  return list_text(value, [](const Formula& x) { return text_of(x); });
}
std::string text_of(const Quat& q) {
  return list_text(std::array{q.w(), q.x(), q.y(), q.z()}, [](double x) { return text_of(x); });
}
std::string text_of(const Mat3& m) {
  // The short form is for diagonal matrices whose zeros are all positive ones: the bits come back.
  const Mat3 rest = m - Mat3(m.diagonal().asDiagonal());
  const bool diagonal = rest.isZero(0) && !(m.array().unaryExpr([](double x) { return std::signbit(x) ? 1.0 : 0.0; }) > 0).any();
  if (diagonal) return text_of(Vec3(m.diagonal()));
  return list_text(std::array{0, 1, 2}, [&](int i) { return text_of(Vec3(m.row(i).transpose())); });
}
std::string text_of(const MatX& m) {
  std::vector<VecX> rows;
  for (Eigen::Index i = 0; i < m.rows(); ++i) rows.emplace_back(m.row(i).transpose());
  return list_text(rows, [](const VecX& row) { return list_text(row, [](double x) { return text_of(x); }); });
}
std::string text_of(const std::array<bool, 6>& locked) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < 6; ++k)
    if (locked[k]) names.emplace_back(axis_names[k]);
  return list_text(names, [](const std::string& x) { return text_of(x); });
}

template <class Variant>
std::string kind_text(const Variant& value) {
  return std::visit(
      []<class T>(const T& v) -> std::string {
        if constexpr (std::is_same_v<T, TriangleMesh>) {
          // A mesh from a file is named, not listed.
          return fmt::format(
              "{{\"{}\": {}}}", Kind<T>::name,
              struct_text(v.file.empty() ? v : T{.file = v.file, .scale = v.scale, .convex_parts = v.convex_parts}));
        } else if constexpr (in_files<T>) {
          if constexpr (std::is_same_v<T, Constraint>)
            if (v.function || v.law)
              throw Error(fmt::format("joint {} is a C++ function, which a file cannot hold", in_quotes(v.name)));
          return fmt::format("{{\"{}\": {}}}", Kind<T>::name, struct_text(v));
        } else if constexpr (std::is_same_v<T, UserForce>) {
          throw Error(fmt::format("force {} is a C++ function, which a file cannot hold", in_quotes(v.name)));
        } else {
          return {};
        }
      },
      value);
}
std::string text_of(const Shape& shape) { return kind_text(shape); }
std::string text_of(const JointDef& joint) { return kind_text(joint); }
std::string text_of(const SolidDef& solid) { return kind_text(solid); }
std::string text_of(const ForceDef& force) { return kind_text(force); }
std::string text_of(const FlowDef& flow) { return kind_text(flow); }
std::string text_of(const DecompositionSettings& settings) { return struct_text(settings); }
std::string text_of(const ElasticMaterial& material) { return struct_text(material); }
std::string text_of(const ParticleContact& contact) { return struct_text(contact); }
std::string text_of(const GivenMotion& motion) {
  if (motion.function) throw Error("motion", "is a function, which files cannot hold; give it by its numbers or as a formula");
  return motion == GivenMotion{.formula = motion.formula} ? text_of(motion.formula) : struct_text(motion);
}

/// The name alone where all settings are the usual ones; `object` writes them after their first key.
template <class Object>
std::string named_text(std::string_view name, Object&& object) {
  const std::string quoted = fmt::format("\"{}\"", name);
  const std::string all = object("\"name\": " + quoted);
  return all.find(", ") == all.npos ? quoted : all;
}

template <class... Settings>
std::string text_of(const std::variant<Settings...>& choice) requires(is_choice<std::variant<Settings...>>) {
  return std::visit(
      [](const auto& settings) {
        return named_text(settings.name, [&](std::string first) { return struct_text(settings, std::move(first)); });
      },
      choice);
}

std::string text_of(const SolverChoice& choice);

template <class T>
concept Writable = requires(const T t) {
  SceneFields<T>::fields(t, [](auto&&...) {});
}
|| std::is_same_v<T, Recipe>;
template <Writable T>
std::string text_of(const T& value) {
  return struct_text(value);
}

template <class T>
std::string text_of(const std::vector<T>& items) {
  return list_text(items, [](const T& item) { return text_of(item); });
}

template <class T>
std::string text_of(const std::optional<T>& value) {
  return value ? text_of(*value) : std::string();
}

struct WrittenField {
  std::string_view name;
  std::string text;
  bool required;
};

// What does not depend on the type is kept out of the templates below: there are a few hundred of them.

struct WrittenFields {
  std::vector<WrittenField> all;
  void add(const Field& field, std::string text, Need need);
  template <class T>
  void operator()(const Field& field, const T& member, Need need = Need::optional) {
    if constexpr (std::is_same_v<T, double>)
      if (!field.word.empty() && member == field.min) return add(field, fmt::format("\"{}\"", field.word), need);
    add(field, text_of(member), need);
  }
};
void WrittenFields::add(const Field& field, std::string text, Need need) {
  all.push_back({field.name, std::move(text), need == Need::required});
}

template <class T>
std::vector<WrittenField> written_fields(const T& value) {
  WrittenFields out;
  visit_fields(value, out);
  return std::move(out.all);
}

std::string object_text(std::string first, const std::vector<WrittenField>& fields, const std::vector<WrittenField>& defaults) {
  std::string out = "{" + std::move(first);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].text.empty() || (!fields[i].required && fields[i].text == defaults[i].text)) continue;
    if (out.size() > 1) out += ", ";
    out += fmt::format("\"{}\": {}", fields[i].name, fields[i].text);
  }
  return out + "}";
}

template <class T>
const std::vector<WrittenField>& default_fields() {
  static const std::vector<WrittenField> fields = written_fields(T{});
  return fields;
}

template <class T>
std::string struct_text(const T& value, std::string first) {
  return object_text(std::move(first), written_fields(value), default_fields<T>());
}

std::string text_of(const SolverChoice& choice) {
  WrittenFields fields, usual;
  choice.visit_fields(fields);
  named_solver(choice.name(), Place("solver")).settings.visit_fields(usual);
  return named_text(choice.name(), [&](std::string first) { return object_text(std::move(first), fields.all, usual.all); });
}

/// Every field that could be chosen otherwise, and the rest where it differs from the usual.
std::string complete_text(const Recipe& recipe) {
  std::vector<WrittenField> fields = written_fields(recipe);
  for (WrittenField& field : fields)
    field.required = field.name != "threads" && field.name != "stepper" && field.name != "implicit_solver" &&
                     !field.name.starts_with("budget");
  return object_text({}, fields, default_fields<Recipe>());
}

// The scene itself, one line per item of its lists.
struct SceneWriter {
  std::optional<Dial> dial;
  std::string out = fmt::format("{{\n  \"rotule\": {}", scene_version);
  std::size_t next = 0;

  template <class T>
  void operator()(const Field& field, const T& member, Need = Need::optional) {
    const std::string& usual = default_fields<Scene>()[next++].text;
    if (std::string text = text_of(member); text != usual) out += fmt::format(",\n  \"{}\": {}", field.name, text);
  }
  /// An open recipe is what was said of it; a complete one is every choice, so that nothing is left to be chosen.
  void operator()(const Field& field, const Recipe& recipe, Need = Need::optional) {
    const std::string& usual = default_fields<Scene>()[next++].text;
    std::string text;
    if (!dial) {
      text = complete_text(recipe);
    } else if (*dial == Dial::balanced) {
      if (text = struct_text(recipe); text == usual) return;
    } else {
      const std::string name = fmt::format("\"{}\"", name_of(*dial));
      text = struct_text(recipe) == usual ? name : struct_text(recipe, "\"dial\": " + name);
    }
    out += fmt::format(",\n  \"{}\": {}", field.name, text);
  }
  template <class T>
  void operator()(const Field& field, const std::vector<T>& items, Need = Need::optional) {
    ++next;
    if (items.empty()) return;
    out += fmt::format(",\n  \"{}\": [", field.name);
    for (std::size_t i = 0; i < items.size(); ++i) out += fmt::format("{}\n    {}", i > 0 ? "," : "", text_of(items[i]));
    out += "\n  ]";
  }
};

}  // namespace

std::string to_complete_json(const Recipe& recipe) {
  std::string out;
  const auto put = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{}\"{}\": {}", out.empty() ? "" : ", ", name, text);
  };
  Recipe::fields(recipe, [&]<class T>(const Field& field, const T& member) {
    if constexpr (is_choice<T>)
      std::visit(
          [&](const auto& settings) {
            std::string all = fmt::format("\"name\": \"{}\"", settings.name);
            settings.fields(settings, [&](const Field& inner, const auto& value) {
              all += fmt::format(", \"{}\": {}", inner.name, text_of(value));
            });
            put(field.name, "{" + all + "}");
          },
          member);
    else
      put(field.name, text_of(member));
  });
  return "{" + out + "}";
}

std::string to_json(const Scene& scene) {
  SceneWriter writer{scene.dial};
  visit_fields(scene, writer);
  return writer.out + "\n}\n";
}

void save_scene(const Scene& scene, const std::string& path) {
  write_text_file(path, to_json(seen_from(std::filesystem::path(path).parent_path(), scene)));
}

}  // namespace rotule
