// World: making it, stepping it, its state and its ledger.
#include <rotule/inverse.h>

#include <cstddef>
#include <limits>

#include "model/tessellate.h"
#include "world/world_implementation.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Handle = WorldHandle;

/// The type of a contact in an array, which reads the engine's memory in place.
py::dtype contact_dtype() {
  py::list names, formats, offsets;
  const auto add = [&](const char* name, const char* format, std::size_t offset) {
    names.append(name);
    formats.append(format);
    offsets.append(offset);
  };
  add("body_a", "u4", offsetof(ContactResult, body_a));
  add("generation_a", "u4", offsetof(ContactResult, body_a) + offsetof(BodyId, generation));
  add("body_b", "u4", offsetof(ContactResult, body_b));
  add("generation_b", "u4", offsetof(ContactResult, body_b) + offsetof(BodyId, generation));
  add("point", "(3,)f8", offsetof(ContactResult, point));
  add("normal", "(3,)f8", offsetof(ContactResult, normal));
  add("gap", "f8", offsetof(ContactResult, gap));
  add("force", "(3,)f8", offsetof(ContactResult, force));
  py::dict fields;
  fields["names"] = names;
  fields["formats"] = formats;
  fields["offsets"] = offsets;
  fields["itemsize"] = sizeof(ContactResult);
  return py::dtype::from_args(fields);
}

py::array contacts(Handle& self) {
  static const auto* type = new py::dtype(contact_dtype());  // for the life of the process: the interpreter may go first
  auto* found = new std::vector<ContactResult>(self.world().contacts());
  const py::capsule owner(found, [](void* p) { delete static_cast<std::vector<ContactResult>*>(p); });
  return {*type, {static_cast<py::ssize_t>(found->size())}, {}, found->data(), owner};
}

py::object scene_in_python(const Scene& scene) {
  return py::module_::import("rotule.scene").attr("Scene")(from_json(to_json(scene)));
}

/// Surfaces of all bodies as triangles in world coordinates, for pictures.
py::list surfaces(Handle& self, int segments) {
  World& world = self.world();
  const WorldImplementation& w = implementation_of(world);
  py::list out;
  for (const BodyId id : world.bodies()) {
    const Body& body = w.model.bodies[static_cast<std::size_t>(w.body_slots.place(id))];
    const TriangleSurface surface = tessellate(body.shape, {.segments = segments, .plane_size = 4});
    const Vec3 position = world.position(id);
    const Quat orientation = world.orientation(id);
    Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> vertices(surface.vertices.size(), 3);
    for (std::size_t k = 0; k < surface.vertices.size(); ++k)
      vertices.row(static_cast<Eigen::Index>(k)) = (position + orientation * surface.vertices[k]).transpose();
    Eigen::Matrix<int, Eigen::Dynamic, 3, Eigen::RowMajor> triangles(surface.triangles.size(), 3);
    for (std::size_t k = 0; k < surface.triangles.size(); ++k)
      for (int j = 0; j < 3; ++j) triangles(static_cast<Eigen::Index>(k), j) = surface.triangles[k][static_cast<std::size_t>(j)];
    out.append(py::make_tuple(body.name, body.fixed, std::holds_alternative<Plane>(body.shape), vertices, triangles));
  }
  return out;
}

void set_forces(Handle& self, const py::array_t<double, py::array::c_style | py::array::forcecast>& forces) {
  World& world = self.world();
  const std::vector<BodyId> bodies = world.bodies();
  if (forces.ndim() != 2 || forces.shape(0) != static_cast<py::ssize_t>(bodies.size()) || forces.shape(1) != 6)
    throw py::value_error("forces must have the shape (" + std::to_string(bodies.size()) +
                          ", 6): force and torque of every body");
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const double* row = forces.data(static_cast<py::ssize_t>(i), 0);
    world.set_force(bodies[i], Vec3(row[0], row[1], row[2]), Vec3(row[3], row[4], row[5]));
  }
  self.changed();
}

void add_stepping(WorldClass& world) {
  world
      .def(
          py::init([](const py::object& scene, const py::object& recipe) {
            const auto described = std::make_shared<const Scene>(scene_of(scene));
            return std::make_shared<Handle>(described, recipe_of(*described, recipe));
          }),
          py::arg("scene"), py::arg("recipe") = py::none(),
          "scene: a Scene, the name of a shipped one, a path, a dict, or JSON text. recipe: None (the scene's own), "
          "\"realtime\", "
          "\"balanced\", \"exact\", an accuracy such as 1e-6, or a dict of fields; what is left open is chosen to fit the scene.")
      .def(
          "step",
          [](Handle& self, std::int64_t n, std::optional<double> h) {
            return self.step(n, h.value_or(std::numeric_limits<double>::quiet_NaN()));
          },
          py::arg("n") = 1, py::kw_only(), py::arg("h") = py::none(),
          "Moves on by n steps of h seconds (default: the recipe's dt). Other threads run meanwhile. Ctrl-C is heard inside of a "
          "step: KeyboardInterrupt, and the world is as it was before that step.")
      .def(
          "interrupt", [](Handle& self) { self.world_at_work().interrupt(); },
          "From another thread: ends the running step, or the next one at its start, which raises Interrupted.")
      .def_property_readonly(
          "time", [](Handle& self) { return self.world().time(); }, "s")
      .def_property_readonly(
          "steps", [](Handle& self) { return self.world().steps(); }, "that were made")
      .def_property_readonly(
          "dt", [](Handle& self) { return self.world().recipe().dt; }, "s, of a step")
      .def_property(
          "recipe", [](Handle& self) { return dict_of(self.world().recipe()); },
          [](Handle& self, const py::object& recipe) {
            self.world().set_recipe(recipe_of(*self.scene, recipe));
            self.changed();
          },
          "The recipe with every field, as a dict (a copy). Setting it takes what World takes, fitted to the scene that the "
          "world "
          "was made of, and goes on from the present state.")
      .def(
          "set",
          [](Handle& self, const std::string& key, const py::object& value) {
            Recipe recipe = self.world().recipe();
            const std::string text = py::isinstance<py::str>(value) ? py::cast<std::string>(value) : json_of(value);
            set(recipe, key, text);
            self.world().set_recipe(recipe);
          },
          py::arg("key"), py::arg("value"), "Sets one field of the recipe by its dotted name: (\"solver.max_iterations\", 50).")
      .def(
          "save", [](Handle& self) { return self.world().save(); },
          "The exact state, to go on from with the same bits. Within this process it also brings back bodies that were removed.")
      .def(
          "load",
          [](Handle& self, const std::variant<Snapshot, py::bytes>& saved) {
            if (const auto* snapshot = std::get_if<Snapshot>(&saved)) {
              self.world().load(*snapshot);
            } else {
              const auto text = std::string_view(std::get<py::bytes>(saved));
              Snapshot bytes;
              bytes.bytes.assign(text.begin(), text.end());
              self.world().load(bytes);
            }
            self.reshaped();
          },
          py::arg("snapshot"), "Back to a snapshot, or to its bytes, which need the same bodies, joints and forces.")
      .def(
          "state_hash", [](Handle& self) { return self.world().state_hash(); },
          "A number that differs where a bit of the state does.")
      .def(
          "project",
          [](Handle& self) {
            const int iterations = self.world().project();
            self.changed();
            return iterations;
          },
          "Closes all joints, in position, then in velocity; returns Newton's iterations.")
      .def_property_readonly(
          "scene", [](Handle& self) { return scene_in_python(*self.scene); },
          "The scene that the world was made of, as a Scene (a copy).")
      .def(
          "posed", [](Handle& self) { return scene_in_python(rotule::posed(*self.scene, self.world())); },
          "The scene with bodies as they stand and move now (a Scene).")
      .def(
          "_repr_svg_", [](const py::object& self) { return py::module_::import("rotule.picture").attr("svg")(self); },
          "A picture for notebooks: the world as it stands, from the side and a little above.")
      .def("__repr__", [](Handle& self) {
        World& w = self.world();
        const auto count = [](std::size_t n, const char* one, const char* many) {
          return std::to_string(n) + " " + (n == 1 ? one : many);
        };
        return "<rotule.World " + (self.scene->name.empty() ? std::string() : "\"" + self.scene->name + "\", ") +
               count(w.bodies().size(), "body", "bodies") + ", " + count(w.joints().size(), "joint", "joints") + ", step " +
               std::to_string(w.steps()) + ">";
      });
}

void add_state(WorldClass& world) {
  const auto array = [&](const char* name, Quantity quantity, const char* doc) {
    world.def_property_readonly(
        name, [quantity](Handle& self) { return py::reinterpret_borrow<py::array_t<double>>(self.array(quantity)); }, doc);
  };
  array("positions", Quantity::positions, "m, of the bodies' frames, (bodies, 3); read-only, follows the world");
  array("orientations", Quantity::orientations, "w, x, y, z, body to world, (bodies, 4); read-only, follows the world");
  array("centers_of_mass", Quantity::centers_of_mass, "m, (bodies, 3); read-only, follows the world");
  array("velocities", Quantity::velocities, "m/s, of centres of mass, (bodies, 3); read-only, follows the world");
  array("angular_velocities", Quantity::angular_velocities, "rad/s, in world axes, (bodies, 3); read-only, follows the world");
  array("forces", Quantity::forces,
        "N, N m: what set_force has set, force and torque, (bodies, 6); read-only, follows the world");
  array("joint_positions", Quantity::joint_positions,
        "m, rad: of all free axes with a coordinate (coordinates); read-only, follows the world");
  array("joint_rates", Quantity::joint_rates, "m/s, rad/s: likewise; read-only, follows the world");
  array("particle_positions", Quantity::particle_positions, "m, (particles, 3); read-only, follows the world");
  array("particle_velocities", Quantity::particle_velocities, "m/s, (particles, 3); read-only, follows the world");
  world
      .def_property_readonly(
          "coordinates", &Handle::coordinate_names,
          "Names of the free axes, in the order of joint_positions: \"elbow\", or \"shoulder.rx\" where there are "
          "several.")
      .def(
          "position", [](Handle& self, const BodyName& body) { return self.world().position(find(self.world(), body)); },
          py::arg("body"), "m, of the body's frame")
      .def(
          "orientation",
          [](Handle& self, const BodyName& body) { return wxyz(self.world().orientation(find(self.world(), body))); },
          py::arg("body"), "w, x, y, z, body to world")
      .def(
          "center_of_mass",
          [](Handle& self, const BodyName& body) { return self.world().center_of_mass(find(self.world(), body)); },
          py::arg("body"), "m")
      .def(
          "velocity", [](Handle& self, const BodyName& body) { return self.world().velocity(find(self.world(), body)); },
          py::arg("body"), "m/s, of the centre of mass")
      .def(
          "angular_velocity",
          [](Handle& self, const BodyName& body) { return self.world().angular_velocity(find(self.world(), body)); },
          py::arg("body"), "rad/s, in world axes")
      .def(
          "mass", [](Handle& self, const BodyName& body) { return self.world().mass(find(self.world(), body)); }, py::arg("body"),
          "kg")
      .def(
          "inertia", [](Handle& self, const BodyName& body) { return self.world().inertia(find(self.world(), body)); },
          py::arg("body"), "kg m^2, about the centre of mass, in body axes")
      .def(
          "acceleration", [](Handle& self, const BodyName& body) { return self.world().acceleration(find(self.world(), body)); },
          py::arg("body"), "m/s^2, of the centre of mass")
      .def(
          "angular_acceleration",
          [](Handle& self, const BodyName& body) { return self.world().angular_acceleration(find(self.world(), body)); },
          py::arg("body"), "rad/s^2, in world axes")
      .def_property_readonly(
          "gravity", [](Handle& self) { return Vec3(self.world().gravity()); }, "m/s^2")
      .def_property_readonly(
          "particles", [](Handle& self) { return self.world().particles(); }, "how many there are")
      .def(
          "particle", [](Handle& self, const std::string& name) { return self.world().particle(name); }, py::arg("name"),
          "The number of a particle: \"cloth/12\".")
      .def(
          "set_particle",
          [](Handle& self, int particle, const Vec3& position, const Vec3& velocity) {
            self.world().set_particle(particle, position, velocity);
            self.changed();
          },
          py::arg("particle"), py::arg("position"), py::arg("velocity"),
          "Places a pinned particle, which moves at that velocity.")
      .def("set_forces", &set_forces, py::arg("forces"),
           "N, N m: force and torque of every body in world axes, (bodies, 6), kept until changed.")
      .def("_surfaces", &surfaces, py::arg("segments") = 12,
           "Of each body: name, whether fixed, whether a plane, vertices, triangles.");
}

void add_ledger(WorldClass& world) {
  world
      .def(
          "diagnostics", [](Handle& self) { return self.world().diagnostics(); }, "The ledger: energies, momenta, errors.")
      .def(
          "keep_books", [](Handle& self, bool keep) { self.world().keep_books(keep); }, py::arg("keep") = true,
          "Asks every step to keep the books of energy and momentum (diagnostics().energy_balance), from now on.")
      .def(
          "balance",
          [](Handle& self, double force_tolerance, double speed_tolerance) {
            return self.world().balance(force_tolerance, speed_tolerance);
          },
          py::arg("force_tolerance"), py::arg("speed_tolerance"),
          "Who is not in equilibrium, to so many N (N m) and m/s (rad/s).")
      .def("contacts", &contacts,
           "Where bodies touch or nearly do, with the forces of the last step: a structured array with body_a, generation_a, "
           "body_b, "
           "generation_b (of ids), point (m), normal (from a to b), gap (m) and force (N, on b). It reads the engine's list in "
           "place and is "
           "its only owner.")
      .def(
          "touching",
          [](Handle& self, const BodyName& a, const BodyName& b) {
            return self.world().touching(find(self.world(), a), find(self.world(), b));
          },
          py::arg("a"), py::arg("b"), "Whether two bodies touch, or one overlaps a sensor, at the end of the last step.")
      .def(
          "events",
          [](Handle& self) {
            py::list out;
            for (const ContactEvent& event : self.world().events())
              out.append(py::make_tuple(event.body_a, event.body_b, event.begins, event.sensor));
            return out;
          },
          "Who began or ceased to touch in the last step: (body_a, body_b, begins, sensor).")
      .def(
          "broken",
          [](Handle& self) {
            const auto broken = self.world().broken();
            return std::vector<BrokenJoint>(broken.begin(), broken.end());
          },
          "Joints that broke in the last step.")
      .def(
          "redundancies", [](Handle& self) { return self.world().redundancies(); }, "Joints with rows that others imply.")
      .def(
          "warnings", [](Handle& self) { return self.world().warnings(); }, "What a careful user should know.")
      .def(
          "evaluations", [](Handle& self) { return self.world().evaluations(); }, "of the accelerations, so far")
      .def(
          "islands", [](Handle& self) { return self.world().islands(); }, "how many there are");
}

}  // namespace

WorldClass world_class(py::module_& module) { return module.attr("World").cast<WorldClass>(); }

void add_worlds(py::module_& module) {
  py::class_<Snapshot>(module, "Snapshot", "The exact state of a world at one moment.")
      .def_property_readonly(
          "bytes",
          [](const Snapshot& self) {
            return py::bytes(reinterpret_cast<const char*>(self.bytes.data()), self.bytes.size());  // NOLINT: bytes are bytes
          },
          "All of it where the world still has the same bodies, joints and forces: for files and other processes.");
  WorldClass world(module, "World", "A scene in motion.");
  add_stepping(world);
  add_state(world);
  add_ledger(world);
}

}  // namespace rotule::python
