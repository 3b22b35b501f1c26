// The JSON schema of scene files (draft 2020-12), from the same lists of fields.
#include <fmt/format.h>
#include <rotule/scene.h>

#include <cmath>

#include "model/choices.h"
#include "model/names.h"
#include "model/scene_fields.h"
#include "model/solver_list.h"
#include "model/structure_fields.h"
#include "record/json_text.h"
#include "record/scene_json.h"

namespace rotule {
namespace {

template <class T>
Json object_schema();

Json reference(std::string_view name) { return {{"$ref", fmt::format("#/$defs/{}", name)}}; }
Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }
Json fixed_list(Json items, int count) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", count}, {"maxItems", count}};
}
Json one_of(std::initializer_list<Json> options) {
  Json list = Json::array();
  for (const Json& option : options) list.push_back(option);
  return {{"oneOf", std::move(list)}};
}

Json bounded(std::string_view type, const Field& field) {
  Json out = {{"type", type}};
  if (std::isfinite(field.min)) out[field.above_min ? "exclusiveMinimum" : "minimum"] = field.min;
  if (std::isfinite(field.max)) out["maximum"] = field.max;
  return out;
}

// One overload per type of field; the value tells the type and, where it is simple, the default.
Json schema_of(const Field& field, double) {
  if (field.word.empty()) return bounded("number", field);
  return one_of({bounded("number", field), {{"const", field.word}}});
}
Json schema_of(const Field& field, int) { return bounded("integer", field); }
Json schema_of(const Field&, bool) { return {{"type", "boolean"}}; }
Json schema_of(const Field&, const std::string&) { return {{"type", "string"}}; }
Json schema_of(const Field& field, const Vec3&) { return fixed_list(bounded("number", field), 3); }
Json schema_of(const Field&, const Quat&) { return reference("orientation"); }
Json schema_of(const Field&, const Mat3&) { return reference("inertia"); }
Json schema_of(const Field&, const MatX&) { return list_of(list_of({{"type", "number"}})); }
Json schema_of(const Field&, const Between&) { return fixed_list({{"type", "string"}}, 2); }
Json schema_of(const Field& field, const std::array<int, 3>&) {
  Json items = bounded("integer", field);
  if (!items.contains("minimum")) items["minimum"] = 0;
  return fixed_list(std::move(items), 3);
}
Json schema_of(const Field&, const std::array<int, 2>&) { return fixed_list({{"type", "integer"}, {"minimum", 0}}, 2); }
Json schema_of(const Field&, const std::array<int, 4>&) { return fixed_list({{"type", "integer"}, {"minimum", 0}}, 4); }
Json schema_of(const Field&, const std::array<std::string, 3>&) { return fixed_list({{"type", "string"}}, 3); }
Json schema_of(const Field&, const std::array<bool, 6>&) {
  return {{"type", "array"}, {"items", {{"enum", axis_names}}}, {"minItems", 1}, {"uniqueItems", true}};
}
Json schema_of(const Field&, const Formula&) { return reference("formula"); }
Json schema_of(const Field&, const Formula3&) { return fixed_list(reference("formula"), 3); }
Json schema_of(const Field&, const MaterialPair&) { return reference("material_pair"); }
Json schema_of(const Field&, const PrescribedMotion&) { return reference("motion"); }
Json schema_of(const Field&, const Shape&) { return reference("shape"); }
Json schema_of(const Field&, const JointDef&) { return reference("joint"); }
Json schema_of(const Field&, const SolidDef&) { return reference("solid"); }
Json schema_of(const Field&, const ForceDef&) { return reference("force"); }
Json schema_of(const Field&, const FlowDef&) { return reference("flow"); }
Json schema_of(const Field&, const SectionCoefficients&) { return object_schema<SectionCoefficients>(); }
Json schema_of(const Field&, const LineCoefficients&) { return object_schema<LineCoefficients>(); }
Json schema_of(const Field&, const ParticleGroup&) { return reference("particles"); }
Json schema_of(const Field&, const SpringSet&) { return reference("spring_set"); }
Json schema_of(const Field&, const TetrahedronSet&) { return reference("tetrahedron_set"); }
Json schema_of(const Field&, const TriangleSet&) { return reference("triangle_set"); }
Json schema_of(const Field&, const ElasticMaterial&) { return reference("elastic_material"); }
Json schema_of(const Field&, const ParticleContact&) { return reference("particle_contact"); }
Json schema_of(const Field&, const Material&) { return reference("material"); }
Json schema_of(const Field&, const BodyDef&) { return reference("body"); }
Json schema_of(const Field&, const ImpulseDef&) { return reference("impulse"); }
Json schema_of(const Field&, const Wall&) { return reference("wall"); }
Json schema_of(const Field&, const FluidWall&) { return object_schema<FluidWall>(); }
Json schema_of(const Field&, const FluidDef&) { return reference("fluid"); }
Json schema_of(const Field&, const CompoundPart&) { return reference("compound_part"); }
Json schema_of(const Field&, const AxisDrive&) { return reference("axis_drive"); }
Json schema_of(const Field&, const EquationText&) {
  Json list = list_of({{"type", "string"}});
  list["minItems"] = 1;
  return one_of({{{"type", "string"}}, std::move(list)});
}
Json schema_of(const Field&, const NamedPoint&) { return object_schema<NamedPoint>(); }
Json schema_of(const Field&, const NamedConstant&) { return object_schema<NamedConstant>(); }
Json schema_of(const Field&, const ConstraintParameter&) { return object_schema<ConstraintParameter>(); }
Json schema_of(const Field&, const DecompositionSettings&) { return object_schema<DecompositionSettings>(); }
Json schema_of(const Field&, const GivenMotion&) { return one_of({object_schema<GivenMotion>(), reference("formula")}); }
Json schema_of(const Field&, const Recipe&) { return reference("recipe"); }

// What does not depend on the type is kept out of the templates below: there are a few hundred of them.

/// What a field is where it is left out; null where nothing is to be said.
template <class T>
Json default_of(const T& member) {
  if constexpr (std::is_arithmetic_v<T>)
    return member;
  else if constexpr (is_choice<T>)
    return chosen_name(member);
  else if constexpr (std::is_same_v<T, SolverChoice>)
    return member.name();
  else
    return {};
}

struct Properties {
  Json all = Json::object(), required = Json::array();
  void add(const Field& field, Json schema, Json value, Need need);
  template <class T>
  void operator()(const Field& field, const T& member, Need need = Need::optional);
};
void Properties::add(const Field& field, Json schema, Json value, Need need) {
  schema["description"] = field.unit.empty() ? std::string(field.meaning) : fmt::format("{} [{}]", field.meaning, field.unit);
  if (!value.is_null()) schema["default"] = std::move(value);
  all[std::string(field.name)] = std::move(schema);
  if (need == Need::required) required.push_back(field.name);
}

Json closed_object(Json properties, Json required) {
  Json out = {{"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

/// An alternative of a choice: its object, with the name that selects it.
Json named_object(std::string_view name, std::string_view alias, std::string_view summary, Json object) {
  Json names = Json::array({name});
  if (!alias.empty()) names.push_back(alias);
  Json properties = {{"name", {{"enum", std::move(names)}, {"description", summary}}}};
  properties.update(object["properties"]);
  object["properties"] = std::move(properties);
  object["required"] = {"name"};
  return object;
}

template <class T>
Json schema_of(const Field& field, const std::vector<T>&) {
  return list_of(schema_of(field, T{}));
}

template <class T>
Json schema_of(const Field& field, const std::optional<T>&) {
  return schema_of(field, T{});
}

template <class... Settings>
Json schema_of(const Field&, const std::variant<Settings...>&) requires(is_choice<std::variant<Settings...>>) {
  using Choice = std::variant<Settings...>;
  Json options = Json::array({{{"enum", choice_names<Choice>()}}});
  for_each_alternative<Choice>(
      [&]<class S>(const S&) { options.push_back(named_object(S::name, alias_of<S>(), S::summary, object_schema<S>())); });
  return {{"oneOf", std::move(options)}};
}

Json schema_of(const Field&, const SolverChoice&);

template <class T>
void Properties::operator()(const Field& field, const T& member, Need need) {
  add(field, schema_of(field, member), default_of(member), need);
}

Json schema_of(const Field&, const SolverChoice&) {
  Json options = Json::array({{{"enum", solver_names()}}});
  for (const NamedSolver& solver : solver_list()) {
    Properties properties;
    solver.settings.visit_fields(properties);
    options.push_back(named_object(solver.name, solver.alias(), solver.summary,
                                   closed_object(std::move(properties.all), std::move(properties.required))));
  }
  return {{"oneOf", std::move(options)}};
}

template <class T>
Json object_schema() {
  Properties properties;
  const T defaults{};
  visit_fields(defaults, properties);
  return closed_object(std::move(properties.all), std::move(properties.required));
}

/// {"box": {...}}: one key, the kind.
template <class Variant>
Json kind_schema() {
  Json properties = Json::object();
  for_each_alternative<Variant>([&]<class T>(const T&) {
    if constexpr (in_files<T>) {
      Json schema = object_schema<T>();
      schema["description"] = Kind<T>::summary;
      properties[std::string(Kind<T>::name)] = std::move(schema);
    }
  });
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"additionalProperties", false},
          {"minProperties", 1},
          {"maxProperties", 1}};
}

/// A setting of the dial, or fields with or without one. What is left out is chosen by what the scene contains: no defaults.
Json recipe_schema() {
  const Json dial = {{"enum", {name_of(Dial::realtime), name_of(Dial::balanced), name_of(Dial::exact)}},
                     {"description", "how exact the run should be: chooses what is left out, by what the scene contains"}};
  Json fields = object_schema<Recipe>();
  for (auto& property : fields["properties"])
    if (!property.contains("type") || property["type"] != "integer") property.erase("default");
  Json properties = {{"dial", dial}};
  properties.update(fields["properties"]);
  fields["properties"] = std::move(properties);
  return one_of({dial, std::move(fields)});
}

}  // namespace

std::string scene_schema() {
  const Json number = {{"type", "number"}};
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", "A scene of Rotule"}};
  Json properties = {{"rotule", {{"const", scene_version}, {"description", "version of the format"}}},
                     {"$schema", {{"type", "string"}}}};
  Json scene = object_schema<Scene>();
  properties.update(scene["properties"]);
  properties["structures"] = list_of(reference("structure"));
  properties["structures"]["description"] = "beams, cables, trusses and bridges in a few numbers";
  scene["properties"] = std::move(properties);
  scene["required"] = {"rotule"};
  schema.update(scene);
  schema["$defs"] = {{"body", object_schema<BodyDef>()},
                     {"material", object_schema<Material>()},
                     {"material_pair", object_schema<MaterialPair>()},
                     {"motion", object_schema<PrescribedMotion>()},
                     {"formula", one_of({number, {{"type", "string"}}})},
                     {"impulse", object_schema<ImpulseDef>()},
                     {"wall", object_schema<Wall>()},
                     {"fluid", object_schema<FluidDef>()},
                     {"joint", kind_schema<JointDef>()},
                     {"shape", kind_schema<Shape>()},
                     {"solid", kind_schema<SolidDef>()},
                     {"force", kind_schema<ForceDef>()},
                     {"flow", kind_schema<FlowDef>()},
                     {"structure", kind_schema<StructureDef>()},
                     {"particles", object_schema<ParticleGroup>()},
                     {"spring_set", object_schema<SpringSet>()},
                     {"tetrahedron_set", object_schema<TetrahedronSet>()},
                     {"triangle_set", object_schema<TriangleSet>()},
                     {"elastic_material", object_schema<ElasticMaterial>()},
                     {"particle_contact", object_schema<ParticleContact>()},
                     {"compound_part", object_schema<CompoundPart>()},
                     {"axis_drive", object_schema<AxisDrive>()},
                     {"recipe", recipe_schema()},
                     {"orientation", one_of({fixed_list(number, 4), object_schema<AxisAngle>()})},
                     {"inertia", one_of({fixed_list(number, 3), fixed_list(fixed_list(number, 3), 3)})}};
  return schema.dump(2) + "\n";
}

}  // namespace rotule
