#pragma once
// What the files of the Python module share: how errors become exceptions, how results show their fields, and how names or ids
// stand for bodies and joints. Each file adds its part of the interface to the module by one function.
#include <pybind11/eigen.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <rotule/error.h>
#include <rotule/world.h>

#include <string>
#include <variant>

namespace rotule::python {

namespace py = pybind11;

void add_scenes(py::module_& module);
void add_results(py::module_& module);
void add_worlds(py::module_& module);
void add_run_time(py::module_& module);
void add_queries(py::module_& module);
void add_problems(py::module_& module);
void add_analyses(py::module_& module);
void add_inverse(py::module_& module);
void add_reduced(py::module_& module);
void add_recordings(py::module_& module);
void add_batches(py::module_& module);
void add_robots(py::module_& module);

/// A name that nothing has: KeyError besides Error, as Python would.
struct UnknownName : Error {
  using Error::Error;
};
/// A step that left the realm of numbers: RuntimeError besides Error.
struct StepFailed : Error {
  using Error::Error;
};

/// A body or joint as users name it.
using BodyName = std::variant<BodyId, std::string>;
using JointName = std::variant<JointId, std::string>;
BodyId find(const World& world, const BodyName& name);
JointId find(const World& world, const JointName& name);

/// Quaternions are w, x, y, z in Python, as in scene files.
using WXYZ = Eigen::Vector4d;
inline WXYZ wxyz(const Quat& q) { return {q.w(), q.x(), q.y(), q.z()}; }
inline Quat quaternion(const WXYZ& q) { return {q[0], q[1], q[2], q[3]}; }
inline Pose pose(const Vec3& position, const WXYZ& orientation) { return {position, quaternion(orientation)}; }
inline const WXYZ unturned{1, 0, 0, 0};

/// What Python says of any object as JSON text (rotule/scene.py).
std::string json_of(const py::object& object);
py::object from_json(const std::string& text);

/// A scene given as a Scene, a name, a path, a dict or JSON text.
Scene scene_of(const py::object& scene);
/// The recipe of a run: none (the scene's own), a word of the dial, an accuracy, or a dict of fields, of which the rest is chosen
/// to fit the scene.
Recipe recipe_of(const Scene& scene, const py::object& recipe);
/// A recipe with every field.
py::object dict_of(const Recipe& recipe);
/// A solver by name, or as a dict with a name and settings.
SolverChoice solver_of(const py::object& solver);

/// A vector's memory as an array that owns it: moved, not copied.
template <class T>
py::array_t<T> array_of(std::vector<T>&& values, std::vector<py::ssize_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  const py::capsule owner(owned, [](void* p) { delete static_cast<std::vector<T>*>(p); });
  return py::array_t<T>(std::move(shape), owned->data(), owner);
}

/// A struct of results: read-only fields, listed in `_fields`, and shown by repr.
template <class T>
class Record {
 public:
  Record(py::module_& module, const char* name, const char* doc) : class_(module, name, doc) {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;
  ~Record() {
    class_.attr("_fields") = py::tuple(names_);
    class_.def("__repr__", [](const py::object& self) {
      std::string out = py::cast<std::string>(py::type::of(self).attr("__name__")) + "(";
      bool first = true;
      for (const py::handle name : py::tuple(self.attr("_fields"))) {
        out +=
            std::string(first ? "" : ", ") + py::cast<std::string>(name) + "=" + py::cast<std::string>(py::repr(self.attr(name)));
        first = false;
      }
      return out + ")";
    });
  }
  template <class Member>
  Record& field(const char* name, Member T::*member, const char* doc) {
    class_.def_readonly(name, member, doc);
    names_.append(name);
    return *this;
  }
  template <class Getter>
  Record& value(const char* name, Getter&& getter, const char* doc) {
    class_.def_property_readonly(name, std::forward<Getter>(getter), doc);
    names_.append(name);
    return *this;
  }
  py::class_<T>& get() { return class_; }

 private:
  py::class_<T> class_;
  py::list names_;
};

}  // namespace rotule::python
