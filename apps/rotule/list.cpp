// rotule list: what there is to choose from, out of the same lists of fields that files and checks use.
#include <fmt/format.h>
#include <rotule/error.h>

#include <cmath>

#include "base/text.h"
#include "commands.h"
#include "integrate/stability.h"
#include "model/choices.h"
#include "model/scene_fields.h"
#include "model/solver_list.h"
#include "record/tally.h"
#include "scenes/builders.h"

namespace rotule::app {
namespace {

Json value_of(double x) { return x; }
Json value_of(int x) { return x; }
Json value_of(bool x) { return x; }
Json value_of(const std::string& x) { return x; }
Json value_of(const Vec3& x) { return {x[0], x[1], x[2]}; }
Json value_of(const Formula& x) { return x == Formula() ? Json(0) : Json(x.text); }
Json value_of(const Formula3& x) { return {value_of(x[0]), value_of(x[1]), value_of(x[2])}; }
template <class T>
Json value_of(const T&) {
  return nullptr;
}

// What does not depend on the type is kept out of the templates below: there are a few hundred of them.

/// Name, unit, default and range of one field; `value` is null where it has none.
Json entry_of(const Field& field, Need need, Json value) {
  Json entry = {{"name", field.name}, {"unit", field.unit}, {"meaning", field.meaning}};
  if (need == Need::required) {
    entry["required"] = true;
  } else {
    entry["default"] = std::move(value);
  }
  if (std::isfinite(field.min)) entry["min"] = field.min;
  if (std::isfinite(field.max)) entry["max"] = field.max;
  if (field.above_min) entry["above_min"] = true;
  if (!field.word.empty()) entry["word"] = field.word;
  return entry;
}

void add_traits(const IntegratorTraits& traits, const std::optional<StabilityLimits>& limits, Json& entry) {
  entry["order"] = traits.order;
  entry["stages"] = traits.stages;
  entry["evaluations"] = traits.evaluations;
  entry["symplectic"] = traits.symplectic;
  entry["implicit"] = traits.implicit;
  if (!limits) return;
  const auto bound = [](double x) { return std::isfinite(x) ? Json(x) : Json(); };  // null: without bound
  entry["stability"] = {
      {"real", bound(limits->real)}, {"imaginary", bound(limits->imaginary)}, {"at_infinity", bound(limits->at_infinity)}};
}

void add_traits(const SolverTraits& traits, Json& entry) {
  entry["bounds"] = traits.bounds;
  entry["friction_box"] = traits.box;
  entry["friction_cone"] = traits.cone;
  entry["exact"] = traits.exact;
}

Json named(std::string_view name, std::string_view alias, std::string_view summary) {
  Json entry = {{"name", name}};
  if (!alias.empty()) entry["alias"] = alias;
  entry["summary"] = summary;
  return entry;
}

/// Visits fields and lists them.
struct FieldList {
  Json all = Json::array();
  template <class T>
  void operator()(const Field& field, const T& member, Need need = Need::optional) {
    all.push_back(entry_of(field, need, value_of(member)));
  }
};

template <class T>
Json fields_of() {
  FieldList out;
  const T defaults{};
  visit_fields(defaults, out);
  return std::move(out.all);
}

template <class Variant>
Json kinds() {
  Json out = Json::array();
  for_each_alternative<Variant>([&]<class T>(const T&) {
    if constexpr (!std::is_same_v<T, std::monostate>) {
      out.push_back(named(Kind<T>::name, "", Kind<T>::summary));
      out.back()["fields"] = fields_of<T>();
    }
  });
  return out;
}

template <class Choice>
Json choices() {
  Json out = Json::array();
  for_each_alternative<Choice>([&]<class S>(const S&) {
    Json entry = named(S::name, alias_of<S>(), S::summary);
    if constexpr (requires { S::traits.order; }) add_traits(S::traits, stability_limits(S{}), entry);
    entry["fields"] = fields_of<S>();
    out.push_back(std::move(entry));
  });
  return out;
}

Json solvers() {
  Json out = Json::array();
  for (const NamedSolver& solver : solver_list()) {
    Json entry = named(solver.name, solver.alias(), solver.summary);
    entry["family"] = solver.settings.family();
    if (solver.preset())
      entry["preset_of"] = solver.settings.name();
    else if (!solver.settings.recommended_for().empty())
      entry["recommended_for"] = solver.settings.recommended_for();
    add_traits(solver.settings.traits(), entry);
    FieldList fields;
    solver.settings.visit_fields(fields);
    entry["fields"] = std::move(fields.all);
    out.push_back(std::move(entry));
  }
  return out;
}

Json scenes_list() {
  Json out = Json::array();
  for (const std::string& name : scene_names()) {
    Json entry = {{"name", name}};
    try {
      const Scene scene = find_scene(name, true).scene;
      entry["summary"] = scene.description;
      entry["bodies"] = scene.bodies.size();
      entry["joints"] = scene.joints.size();
    } catch (const Error& error) {  // one bad file must not hide the others
      entry["summary"] = fmt::format("cannot be read: {}", error.what());
    }
    out.push_back(std::move(entry));
  }
  out.push_back({{"name", "chain_N"}, {"summary", "N links on ball joints, released horizontally"}});
  out.push_back({{"name", "hanging_chain_N"}, {"summary", "20 links with a weight of N kg at the end, plucked in the middle"}});
  out.push_back({{"name", "cloth_N"}, {"summary", "N x N particles of cloth held by two corners"}});
  out.push_back({{"name", "block_N"}, {"summary", "a clamped beam of 3 N x N x N particles"}});
  out.push_back({{"name", "n_four_bar_N"}, {"summary", "a row of N parallelograms falling over, through singular poses"}});
  return out;
}

Json forces() {
  Json out = {{{"name", "weight"}, {"summary", "m g on every body; the scene's gravity"}},
              {{"name", "gyroscopic"}, {"summary", "-omega x I omega of rotating bodies, always on"}},
              {{"name", "external"}, {"summary", "a constant force and torque per body, set from C++ (World::set_force)"}}};
  for (Json& kind : kinds<ForceDef>()) out.push_back(std::move(kind));
  return out;
}

/// What a run can be asked for, and by what names; null where it is not there.
Json quantities_list() {
  Json out = Json::array();
  for (const Quantity& q : quantities) {
    Json entry = {{"name", q.key}, {"summary", q.meaning}, {"label", q.label}, {"unit", q.unit}, {"per", name_of(q.per)}};
    if (const std::vector<std::string_view> components = component_names(q); !components.empty())
      entry["components"] = components;
    entry["dataset"] = is_recorded(q) ? Json(q.dataset) : Json(nullptr);
    entry["in_every_recording"] = q.age == Age::first;
    entry["live"] = is_number(q);
    entry["said"] = Json::array();
    for (const auto& [name, value] : said_of(q, Tally())) entry["said"].push_back(name);
    out.push_back(std::move(entry));
  }
  return out;
}

struct Category {
  std::string_view name;
  Json (*make)();
};
constexpr Category categories[] = {{"scenes", scenes_list},
                                   {"joints", kinds<JointDef>},
                                   {"shapes", kinds<Shape>},
                                   {"forces", forces},
                                   {"flows", kinds<FlowDef>},
                                   {"solids", kinds<SolidDef>},
                                   {"structures", kinds<StructureDef>},
                                   {"integrators", choices<IntegratorSettings>},
                                   {"formulations", choices<FormulationSettings>},
                                   {"corrections", choices<CorrectionSettings>},
                                   {"coordinates", choices<CoordinatesChoice>},
                                   {"solvers", solvers},
                                   {"quantities", quantities_list}};

std::string range_text(const Json& field) {
  std::string out;
  if (field.contains("min"))
    out += fmt::format("{}{}", field.value("above_min", false) ? "> " : ">= ", shortest(field["min"].get<double>()));
  if (field.contains("max")) out += fmt::format("{}<= {}", out.empty() ? "" : ", ", shortest(field["max"].get<double>()));
  if (field.contains("word")) out += fmt::format("{}or {}", out.empty() ? "" : ", ", field["word"].get<std::string>());
  return out;
}

/// What a method promises, in words.
std::string promises(const Json& e) {
  std::string out = fmt::format("order {}, {} stage{}, {} evaluation{} per {}", e["order"].get<int>(), e["stages"].get<int>(),
                                e["stages"] == 1 ? "" : "s", e["evaluations"].get<int>(), e["evaluations"] == 1 ? "" : "s",
                                e["implicit"].get<bool>() ? "iteration" : "step");
  if (e["symplectic"].get<bool>()) out += ", symplectic";
  if (e["implicit"].get<bool>()) out += ", implicit";
  if (!e.contains("stability")) return out;
  const auto bound = [&](const char* axis) {
    const Json& x = e["stability"][axis];
    return x.is_null() ? std::string("any") : fmt::format("{:.3g}", x.get<double>());
  };
  return out + fmt::format("; stable: h |lambda| up to {} for decay, {} for oscillation", bound("real"), bound("imaginary"));
}

/// Where a quantity is found: "  [m, /penetration, max, final]".
std::string quantity_facts(const Json& e) {
  std::vector<std::string> facts;
  if (!e["unit"].get<std::string>().empty()) facts.push_back(e["unit"].get<std::string>());
  if (e["per"] != "run") facts.push_back("per " + e["per"].get<std::string>());
  if (e["dataset"].is_string()) facts.push_back(e["dataset"].get<std::string>());
  for (const Json& said : e["said"]) facts.push_back(said.get<std::string>());
  return facts.empty() ? "" : fmt::format("  [{}]", fmt::join(facts, ", "));
}

std::string table(std::string_view title, const Json& entries) {
  std::string out = fmt::format("{}\n", title);
  for (const Json& e : entries) {
    std::string facts;
    if (e.contains("bodies")) facts = fmt::format("  [{} bodies, {} joints]", e["bodies"].get<int>(), e["joints"].get<int>());
    if (e.contains("per")) facts = quantity_facts(e);
    if (e.contains("alias")) facts += fmt::format("  alias {}", e["alias"].get<std::string>());
    out += fmt::format("  {:<24} {}{}\n", e["name"].get<std::string>(), e["summary"].get<std::string>(), facts);
    if (e.contains("order")) out += fmt::format("    {}\n", promises(e));
    if (!e.contains("fields")) continue;
    for (const Json& f : e["fields"]) {
      const std::string unit = f["unit"].get<std::string>(), range = range_text(f);
      const std::string value = f.contains("required")                                    ? "required"
                                : f["default"].is_null() || f["default"].dump() == "\"\"" ? ""
                                                                                          : f["default"].dump();
      out += fmt::format("    {:<22} {:<12} {}{}{}\n", f["name"].get<std::string>(), value, f["meaning"].get<std::string>(),
                         unit.empty() ? "" : fmt::format(" [{}]", unit), range.empty() ? "" : fmt::format(" ({})", range));
    }
  }
  return out;
}

/// The laws that a solver knows, in words.
std::string laws(const Json& e) {
  if (!e["bounds"].get<bool>()) return "joints";
  std::string out = "joints, bounds";
  if (e["friction_box"].get<bool>()) out += ", boxes";
  if (e["friction_cone"].get<bool>()) out += ", cones";
  return out;
}

/// First the few to choose from, by need; then the rest by family, one line each.
std::string solver_table(const Json& entries) {
  struct Family {
    std::string_view name, meaning;
  };
  constexpr Family families[] = {{"sweep", "one row or block after another"},
                                 {"gradient", "accelerated sweeps and projections"},
                                 {"newton", "Newton's method on the laws of contact"},
                                 {"pivot", "which rows stand at a bound, by exchange"},
                                 {"hybrid", "joints by elimination, stacks by a coarse problem"},
                                 {"direct", "elimination"},
                                 {"krylov", "conjugate gradients"}};
  std::string out = fmt::format("solvers\n  {:<68} {:<20} {}\n", "for", "take", "which knows");
  for (const Json& e : entries)
    if (e.contains("recommended_for"))
      out += fmt::format("  {:<68} {:<20} {}\n", e["recommended_for"].get<std::string>(), e["name"].get<std::string>(), laws(e));
  out += "The others, by family:\n";
  for (const Family& family : families) {
    std::string members;
    for (const Json& e : entries)
      if (e["family"] == family.name && !e.contains("recommended_for"))
        members += fmt::format("    {:<22} {} [{}]\n", e["name"].get<std::string>(), e["summary"].get<std::string>(), laws(e));
    if (!members.empty()) out += fmt::format("  {}: {}\n{}", family.name, family.meaning, members);
  }
  return out + "rotule list NAME shows the settings of one.\n";
}

/// The solver called `what`, or nothing.
Json one_solver(const std::string& what) {
  Json out = Json::array();
  for (Json& e : solvers())
    if (e["name"] == what || e.value("alias", std::string()) == what) out.push_back(std::move(e));
  return out;
}

}  // namespace

std::vector<std::string> list_categories() {
  std::vector<std::string> out;
  for (const Category& category : categories) out.emplace_back(category.name);
  return out;
}

void list(const ListOptions& options) {
  Json result = Json::object();
  for (const Category& category : categories)
    if (options.what.empty() || options.what == category.name) result[std::string(category.name)] = category.make();
  const bool overview = !result.empty();
  if (!overview) {
    if (Json solver = one_solver(options.what); !solver.empty())
      result["solvers"] = std::move(solver);
    else
      throw Error(fmt::format("list: unknown word {}; {}", in_quotes(options.what), suggestion(options.what, list_categories())));
  }
  if (options.json) {
    print(result.dump(2) + "\n");
    return;
  }
  std::string text;
  if (options.names) {
    for (const Json& entries : result)
      for (const Json& entry : entries) text += entry["name"].get<std::string>() + "\n";
    return print(text);
  }
  for (const auto& item : result.items()) {
    if (!text.empty()) text += '\n';
    text += overview && item.key() == "solvers" ? solver_table(item.value()) : table(item.key(), item.value());
  }
  print(text);
}

}  // namespace rotule::app
