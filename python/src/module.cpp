// The module rotule._core.
#include "module.h"

#include "record/version.h"

namespace rotule::python {
namespace {

/// Exceptions of the engine as the classes of rotule/errors.py.
void raise(const char* name, const char* message) {
  const py::object type = py::module_::import("rotule.errors").attr(name);
  PyErr_SetString(type.ptr(), message);
}

void translate(std::exception_ptr thrown) {
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const UnknownName& error) {
    raise("UnknownName", error.what());
  } catch (const StepFailed& error) {
    raise("StepError", error.what());
  } catch (const Error& error) {
    raise("Error", error.what());
  } catch (const Interrupted& error) {
    raise("Interrupted", error.what());
  }
}

template <class AnyId>
void add_id(py::module_& module, const char* name, const char* doc) {
  py::class_<AnyId>(module, name, doc)
      .def_readonly("index", &AnyId::index, "place of the slot")
      .def_readonly("generation", &AnyId::generation, "how often the slot was given anew")
      .def(
          "__eq__", [](const AnyId& a, const AnyId& b) { return a == b; }, py::is_operator())
      .def("__hash__", [](const AnyId& id) { return py::hash(py::make_tuple(id.index, id.generation)); })
      .def("__repr__", [name](const AnyId& id) {
        return std::string(name) + "(" + std::to_string(id.index) + ", " + std::to_string(id.generation) + ")";
      });
}

}  // namespace

BodyId find(const World& world, const BodyName& name) {
  if (const auto* id = std::get_if<BodyId>(&name)) return *id;
  try {
    return world.body(std::get<std::string>(name));
  } catch (const Error& error) {
    throw UnknownName(error.what());
  }
}

JointId find(const World& world, const JointName& name) {
  if (const auto* id = std::get_if<JointId>(&name)) return *id;
  try {
    return world.joint(std::get<std::string>(name));
  } catch (const Error& error) {
    throw UnknownName(error.what());
  }
}

std::string json_of(const py::object& object) {
  return py::cast<std::string>(py::module_::import("rotule.scene").attr("to_text")(object));
}

py::object from_json(const std::string& text) { return py::module_::import("json").attr("loads")(text); }

}  // namespace rotule::python

PYBIND11_MODULE(_core, module) {
  using namespace rotule::python;
  namespace py = pybind11;
  module.doc() = "The engine behind the package rotule.";
  module.attr("__version__") = std::string(rotule::program_version);
  py::register_exception_translator(&translate);
  add_id<rotule::BodyId>(module, "BodyId", "A body of a world; stale where the body was removed.");
  add_id<rotule::JointId>(module, "JointId", "A joint of a world; stale where the joint was removed.");
  add_id<rotule::ForceId>(module, "ForceId", "A force of a world; stale where the force was removed.");
  add_results(module);
  add_scenes(module);
  add_worlds(module);
  add_problems(module);
  add_run_time(module);
  add_queries(module);
  add_analyses(module);
  add_inverse(module);
  add_reduced(module);
  add_recordings(module);
  add_batches(module);
  add_robots(module);
}
