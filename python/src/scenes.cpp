// Scenes and recipes: text in the form of scene files goes in and comes out; Python has dicts of it.
#include <rotule/scene.h>
#include <rotule/solve.h>

#include <optional>

#include "model/content.h"
#include "model/dial.h"
#include "model/names.h"
#include "model/solver_list.h"
#include "module.h"
#include "record/json_text.h"
#include "record/scene_files.h"
#include "record/scene_json.h"
#include "scenes/builders.h"

namespace rotule::python {

Scene scene_of(const py::object& scene) {
  const py::tuple text_and_origin = py::module_::import("rotule.scene").attr("text_and_origin")(scene);
  return parse_scene(py::cast<std::string>(text_and_origin[0]), py::cast<std::string>(text_and_origin[1]));
}

namespace {

/// What it gives is taken, the rest fitted to the scene.
Recipe recipe_in(const Scene& scene, const std::string& text) {
  const Json given = parse_json(text);
  const Scene bare = parse_scene(Json{{"rotule", 1}, {"recipe", given}}.dump(), "recipe");
  GivenFields fields;
  for (const auto& item : given.items()) fields.add(item.key());
  Scene named = scene;
  name_unnamed(named);
  return fitted(content_of(named), bare.recipe, fields, {bare.dial.value_or(Dial::balanced), {}});
}

}  // namespace

Recipe recipe_of(const Scene& scene, const py::object& recipe) {
  if (recipe.is_none()) return rotule::recipe_of(scene);
  if (py::isinstance<py::str>(recipe)) {
    const std::string name = py::cast<std::string>(recipe);
    return name == "fastest" ? recipes::fastest() : recipe_for(scene, dial_named(name));
  }
  if (py::isinstance<py::dict>(recipe)) return recipe_in(scene, json_of(recipe));
  if (py::isinstance<py::float_>(recipe)) return recipe_for(scene, py::cast<double>(recipe));
  throw py::type_error(
      "a recipe is a word of the dial (\"realtime\", \"balanced\", \"exact\"), an accuracy (a float), or a dict of its fields");
}

py::object dict_of(const Recipe& recipe) { return from_json(to_complete_json(recipe)); }

SolverChoice solver_of(const py::object& solver) {
  if (py::isinstance<py::str>(solver)) {
    try {
      return solver_named(py::cast<std::string>(solver));
    } catch (const Error& error) {
      throw UnknownName(error.what());
    }
  }
  if (!py::isinstance<py::dict>(solver)) throw py::type_error("a solver is a name, or a dict with a name and settings");
  const Json recipe = {{"solver", parse_json(json_of(solver))}};
  return parse_scene(Json{{"rotule", 1}, {"recipe", recipe}}.dump(), "solver").recipe.solver;
}

void add_scenes(py::module_& module) {
  module.def(
      "load_scene", [](const std::string& path) { return to_json(load_scene(path)); }, py::arg("path"),
      "The scene file as text in its full form; files that it names become names that can be opened from here.");
  module.def(
      "check_scene", [](const std::string& text, const std::string& origin) { return to_json(parse_scene(text, origin)); },
      py::arg("text"), py::arg("origin") = "scene", "Reads and checks the text of a scene file, and writes it again.");
  module.def(
      "build_scene",
      [](const std::string& name) -> std::optional<std::string> {
        const std::optional<Scene> scene = scenes::build(name);
        return scene ? std::optional(to_json(*scene)) : std::nullopt;
      },
      py::arg("name"), "A scene that the engine builds itself, such as chain_20; None where there is none of that name.");
  module.def("built_scenes", &scenes::names, "Names of the scenes that the engine builds itself.");
  module.def("scene_schema", &scene_schema, "The JSON schema of scene files.");
  module.def(
      "recipe_for",
      [](const py::object& scene, const py::object& recipe) {
        const Scene described = scene_of(scene);
        return dict_of(recipe_of(described, recipe));
      },
      py::arg("scene"), py::arg("recipe") = py::none(),
      "The full recipe by which World(scene, recipe) would run, as a dict with every field.");
  module.def("solver_names", &solver_names, "Names of all solvers, other names of the same included.");
  module.def(
      "describe_solver",
      [](const std::string& name) {
        const SolverChoice solver = solver_of(py::str(name));
        return py::make_tuple(std::string(solver.name()), std::string(solver.family()), std::string(solver.summary()));
      },
      py::arg("name"), "Name, family and purpose of a solver.");
}

}  // namespace rotule::python
