// Recordings: trajectories written to HDF5 files while a world runs, and read back as arrays.
#include <memory>
#include <optional>

#include "record/scene_files.h"
#include "record/scene_json.h"
#include "record/trajectory.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

/// Writes a world's course; the file gets its name when it is closed.
class Recorder {
 public:
  Recorder(std::shared_ptr<WorldHandle> world, const std::string& path, std::int64_t expected_frames) : world_(std::move(world)) {
    const World& now = world_->world();
    for (const BodyId id : now.bodies()) bodies_.push_back(now.name(id));
    for (const JointId id : now.joints()) joints_.push_back(now.name(id));
    const Scene& scene = *world_->scene;
    if (bodies_.size() != scene.bodies.size() || joints_.size() != scene.joints.size())
      throw Error("bodies or joints came or went since the world was made: a recording holds those of its scene");
    writer_.emplace(path, to_json(with_meshes_inside(scene)), now.recipe(), bodies_, joints_, expected_frames,
                    static_cast<std::size_t>(now.particles()));
    world_->world().keep_books(true);
    time_stages(now);
  }

  void capture() {
    if (!writer_) throw Error("the recording is closed");
    const World& now = world_->world();
    if (now.bodies().size() != bodies_.size() || now.joints().size() != joints_.size())
      throw Error("bodies or joints came or went: a recording holds the same ones in all its frames");
    rotule::capture(now, frame_);
    writer_->append(frame_);
  }

  void close() {
    if (!writer_) return;
    writer_->finish();
    writer_.reset();
  }
  /// Leaves no file behind.
  void discard() {
    if (writer_) writer_->discard();
    writer_.reset();
  }

 private:
  std::shared_ptr<WorldHandle> world_;
  std::vector<std::string> bodies_, joints_;
  std::optional<TrajectoryWriter> writer_;
  TrajectoryFrame frame_;
};

const rotule::Quantity& recorded_quantity(const std::string& key) {
  for (const rotule::Quantity& q : quantities)
    if (is_recorded(q) && q.key == key) return q;
  std::string known;
  for (const rotule::Quantity& q : quantities)
    if (is_recorded(q)) known += (known.empty() ? "" : ", ") + std::string(q.key);
  throw UnknownName("recordings have no quantity \"" + key + "\"; they have: " + known);
}

py::array_t<double> series(const TrajectoryReader& self, const std::string& key) {
  const rotule::Quantity& q = recorded_quantity(key);
  if (!self.holds(q)) throw UnknownName("this recording, of an older program, does not hold " + key);
  std::vector<double> values = self.series(std::string(q.dataset));
  std::vector<py::ssize_t> shape;
  if (q.per == Per::contact)
    shape.push_back(static_cast<py::ssize_t>(values.size()) / q.components);
  else
    shape.push_back(static_cast<py::ssize_t>(self.frames()));
  if (q.per == Per::body) shape.push_back(static_cast<py::ssize_t>(self.body_names().size()));
  if (q.per == Per::joint) shape.push_back(static_cast<py::ssize_t>(self.joint_names().size()));
  if (q.per == Per::particle) shape.push_back(static_cast<py::ssize_t>(self.particles()));
  if (q.components > 1) shape.push_back(q.components);
  py::ssize_t count = 1;
  for (const py::ssize_t n : shape) count *= n;
  if (count != static_cast<py::ssize_t>(values.size()))
    throw Error(self.path(), key + " has another number of values than its frames");
  return array_of(std::move(values), std::move(shape));
}

}  // namespace

void add_recordings(py::module_& module) {
  py::class_<Recorder>(module, "Recorder", "Writes the course of a world to an HDF5 file; use it in a with statement.")
      .def(py::init<std::shared_ptr<WorldHandle>, const std::string&, std::int64_t>(), py::arg("world"), py::arg("path"),
           py::arg("expected_frames") = 0, "expected_frames only sizes the file's pieces.")
      .def("capture", &Recorder::capture, "Records the present moment: energies, poses, velocities, forces, contacts.")
      .def("close", &Recorder::close, "Writes what is left, and gives the file its name.")
      .def("__enter__", [](const py::object& self) { return self; })
      .def("__exit__", [](Recorder& self, const py::object& type, const py::object&, const py::object&) {
        if (type.is_none())
          self.close();
        else
          self.discard();
      });
  py::class_<TrajectoryReader>(module, "Recording", "A recorded run, as arrays by the names of `rotule list quantities`.")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def_property_readonly(
          "frames", [](const TrajectoryReader& self) { return self.frames(); }, "how many")
      .def_property_readonly("body_names", &TrajectoryReader::body_names, "in the order of the arrays")
      .def_property_readonly("joint_names", &TrajectoryReader::joint_names, "in the order of the arrays")
      .def_property_readonly(
          "scene",
          [](const TrajectoryReader& self) { return py::module_::import("rotule.scene").attr("Scene")(from_json(self.scene())); },
          "the scene that was run")
      .def_property_readonly(
          "recipe", [](const TrajectoryReader& self) { return from_json(self.recipe()); }, "by which it was run")
      .def(
          "keys",
          [](const TrajectoryReader& self) {
            std::vector<std::string> out;
            for (const rotule::Quantity& q : quantities)
              if (is_recorded(q) && self.holds(q)) out.emplace_back(q.key);
            return out;
          },
          "Names of what it holds.")
      .def("__getitem__", &series, py::arg("key"),
           "All frames of a quantity: (frames,), (frames, 3), (frames, bodies, 3) ...; of contacts (contacts, ...), frame after "
           "frame. The "
           "array owns what was read.")
      .def("__len__", [](const TrajectoryReader& self) { return self.frames(); });
  module.def(
      "describe_quantity",
      [](const std::string& key) {
        const rotule::Quantity& q = recorded_quantity(key);
        return py::make_tuple(std::string(q.unit), std::string(q.meaning), std::string(name_of(q.per)));
      },
      py::arg("key"), "Unit and meaning of a recorded quantity, and of what there is one each.");
}

}  // namespace rotule::python
