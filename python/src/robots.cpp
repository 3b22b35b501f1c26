// Files of robots: URDF and MJCF to scenes, scenes to URDF, and the motors that an MJCF file has.
#include <rotule/robots.h>

#include <array>
#include <optional>
#include <span>

#include "module.h"
#include "record/scene_json.h"
#include "world_handle.h"

namespace rotule::python {

namespace {

template <class Choice>
Choice one_of(const std::string& given, const char* what, const std::vector<std::pair<std::string, Choice>>& known) {
  std::string names;
  for (const auto& [name, choice] : known) {
    if (name == given) return choice;
    names += (names.empty() ? "" : ", ") + name;
  }
  throw Error(what, "must be one of " + names + ", is \"" + given + "\"");
}

RobotOptions options_of(const std::string& base, const Vec3& at, bool weld, bool hold, bool self_contacts,
                        const std::string& meshes, const std::string& keyframe, std::vector<std::string> allow, bool motors_act) {
  using Base = RobotOptions::Base;
  using Meshes = RobotOptions::Meshes;
  RobotOptions out;
  out.base = one_of<Base>(base, "base", {{"automatic", Base::automatic}, {"fixed", Base::fixed}, {"floating", Base::floating}});
  out.meshes = one_of<Meshes>(meshes, "meshes", {{"hulls", Meshes::hulls}, {"parts", Meshes::parts}, {"none", Meshes::none}});
  out.base_position = at;
  out.weld_fixed = weld;
  out.hold = hold;
  out.self_contacts = self_contacts;
  out.keyframe = keyframe;
  out.folders = std::move(allow);
  out.motors_act = motors_act;
  return out;
}

py::object scene_object(const Scene& scene) {
  return py::module_::import("rotule.scene").attr("Scene")(from_json(to_json(scene)));
}

void add_parts(py::module_& module) {
  Record<RobotRemark>(module, "RobotRemark", "Something that a file says and the scene does not, or says otherwise.")
      .field("what", &RobotRemark::what, "such as \"geom@solref\" or \"joint knee\"")
      .field("text", &RobotRemark::text, "what became of it")
      .field("file", &RobotRemark::file, "that says it")
      .field("line", &RobotRemark::line, "where first")
      .field("count", &RobotRemark::count, "how often");
  Record<RobotFrame>(module, "RobotFrame", "A named frame that is no body of its own: a link held fast, a site.")
      .field("name", &RobotFrame::name, "as the file has it")
      .field("body", &RobotFrame::body, "that it moves with; \"world\" where nothing moves it")
      .value(
          "position", [](const RobotFrame& f) { return f.pose.position; }, "m, in the body's frame")
      .value(
          "orientation", [](const RobotFrame& f) { return wxyz(f.pose.orientation); }, "w, x, y, z, likewise");
  Record<JointRating>(module, "JointRating", "What a joint's motor is made for.")
      .field("joint", &JointRating::joint, "its name")
      .field("effort", &JointRating::effort, "N m, N")
      .field("velocity", &JointRating::velocity, "rad/s, m/s");
  Record<RobotActuator>(
      module, "RobotActuator",
      "A motor of an MJCF file: f = gain a + constant - stiffness L - damping L' along L = sum of ratio (q + zero), "
      "a following its control.")
      .field("name", &RobotActuator::name, "as the file has it")
      .value(
          "joints",
          [](const RobotActuator& a) {
            std::vector<std::string> out;
            for (const auto& moved : a.moves) out.push_back(moved.joint);
            return out;
          },
          "that it moves")
      .value(
          "ratios",
          [](const RobotActuator& a) {
            std::vector<double> out;
            for (const auto& moved : a.moves) out.push_back(moved.ratio);
            return out;
          },
          "of L to each of them")
      .field("gain", &RobotActuator::gain, "of its control")
      .field("constant", &RobotActuator::constant, "N m, N")
      .field("stiffness", &RobotActuator::stiffness, "per L")
      .field("damping", &RobotActuator::damping, "per L'")
      .field("lag", &RobotActuator::lag, "s, behind its control")
      .field("integrates", &RobotActuator::integrates, "whether its control is a rate")
      .field("controls", &RobotActuator::controls, "range of its control, or None")
      .field("forces", &RobotActuator::forces, "range of its force, or None")
      .field("control", &RobotActuator::control, "at the start");
  Record<RobotSensor>(module, "RobotSensor", "A sensor of an MJCF file.")
      .field("name", &RobotSensor::name, "as the file has it")
      .field("type", &RobotSensor::type, "MJCF's word, such as \"gyro\"")
      .field("size", &RobotSensor::size, "how many numbers it says")
      .field("unit", &RobotSensor::unit, "of each of them; empty where they have none, or the file does not say")
      .field("cutoff", &RobotSensor::cutoff, "beyond this it says this; 0: never")
      .field("noise", &RobotSensor::noise, "standard deviation that the file gives; not added");
}

template <class Named>
std::vector<std::string> names_of(const std::vector<Named>& list) {
  std::vector<std::string> out;
  for (const Named& each : list) out.push_back(each.name);
  return out;
}

/// A Sensors' numbers, which stay where they are for as long as it lives.
py::array_t<double> numbers_of(const py::object& sensors, std::span<const double> numbers) {
  py::array_t<double> out({static_cast<py::ssize_t>(numbers.size())}, numbers.data(), sensors);
  out.attr("setflags")(py::arg("write") = false);
  return out;
}

void add_sensors(py::module_& module) {
  py::class_<Sensors>(module, "Sensors", "The sensors of a robot in a world of its scene. Call read after steps.")
      .def(py::init([](const Robot& robot, WorldHandle& world) { return std::make_unique<Sensors>(robot, world.world()); }),
           py::arg("robot"), py::arg("world"), "Throws where the world lacks a body or joint of the robot.")
      .def(
          "read",
          [](const py::object& self, WorldHandle& world, const Actuators* actuators) {
            return numbers_of(self, self.cast<Sensors&>().read(world.world(), actuators));
          },
          py::arg("world"), py::arg("actuators") = py::none(),
          "All numbers, in the order of the file, as the world stands now: `values`, brought up to date. What motors exert is by "
          "the activations of `actuators`, or by the controls of the start.")
      .def_property_readonly(
          "values", [](const py::object& self) { return numbers_of(self, self.cast<Sensors&>().values()); },
          "what was read last: a view that follows further calls of read")
      .def(
          "__getitem__",
          [](const py::object& self, const std::string& name) { return numbers_of(self, self.cast<Sensors&>().of(name)); },
          py::arg("name"), "The numbers of one sensor: a view likewise.")
      .def_property_readonly(
          "names", [](const Sensors& self) { return names_of(self.list()); }, "in the order of the file")
      .def_property_readonly("list", &Sensors::list, "one RobotSensor each");
}

}  // namespace

void add_robots(py::module_& module) {
  add_parts(module);
  py::class_<Robot>(module, "Robot", "What a file of a robot says: a scene, and what a scene has no place for.")
      .def_property_readonly(
          "scene", [](const Robot& self) { return scene_object(self.scene); }, "a new Scene, free to be changed")
      .def_readonly("remarks", &Robot::remarks, "all that the file says and the scene does not, or says otherwise")
      .def_readonly("frames", &Robot::frames, "named frames that are no bodies: links held fast, sites")
      .def_readonly("ratings", &Robot::ratings, "effort and velocity of the motors of a URDF file")
      .def_readonly("actuators", &Robot::actuators, "the motors of an MJCF file, in its order")
      .def_readonly("sensors", &Robot::sensors, "the sensors of an MJCF file, in its order");
  module.def(
      "read_robot",
      [](const std::string& path, const std::string& base, const Vec3& at, bool weld, bool hold, bool self_contacts,
         const std::string& meshes, const std::string& keyframe, const std::vector<std::string>& allow, bool motors_act) {
        const RobotOptions options = options_of(base, at, weld, hold, self_contacts, meshes, keyframe, allow, motors_act);
        const py::gil_scoped_release others_run;
        return read_robot(path, options);
      },
      py::arg("path"), py::kw_only(), py::arg("base") = "automatic", py::arg("at") = Vec3(Vec3::Zero()), py::arg("weld") = false,
      py::arg("hold") = false, py::arg("self_contacts") = false, py::arg("meshes") = "hulls", py::arg("keyframe") = "",
      py::arg("allow") = std::vector<std::string>{}, py::arg("motors_act") = true,
      "Reads URDF or MJCF. base (of URDF): automatic, fixed or floating; at: where its root stands; weld: links on fixed joints "
      "are "
      "bodies of their own; hold: motors hold the joints, as strong as their effort; self_contacts: links can touch each other. "
      "meshes: hulls, parts or none. keyframe (of MJCF): the start. allow: folders besides the file's own. motors_act: motors of "
      "MJCF "
      "act in the scene, held at the controls of the start; False leaves them to Actuators.");
  module.def(
      "to_urdf",
      [](const py::object& scene) {
        std::vector<RobotRemark> remarks;
        std::string text = to_urdf(scene_of(scene), {}, &remarks);
        return py::make_tuple(std::move(text), std::move(remarks));
      },
      py::arg("scene"), "A scene of trees as the text of a URDF file, and remarks on what URDF cannot say.");

  using Handle = WorldHandle;
  py::class_<Actuators>(
      module, "Actuators",
      "The motors of a robot that was read with motors_act=False, in a world of its scene: with their ranges, lags and "
      "servos. Call tell before every step.")
      .def(
          py::init([](const Robot& robot, Handle& world) { return std::make_unique<Actuators>(robot.actuators, world.world()); }),
          py::arg("robot"), py::arg("world"), "Activations begin where the controls of the start would have brought them.")
      .def_property_readonly("list", &Actuators::list, "one RobotActuator each")
      .def_property_readonly(
          "names", [](const Actuators& self) { return names_of(self.list()); }, "in the order of controls")
      .def_property_readonly(
          "controls",
          [](const Actuators& self) {
            const std::vector<double> all = self.controls();
            return VecX(VecX::Map(all.data(), std::ssize(all)));
          },
          "those of the start")
      .def_property_readonly(
          "activations",
          [](const Actuators& self) { return VecX(VecX::Map(self.activations().data(), std::ssize(self.activations()))); },
          "where they are: controls, as late as they lag")
      .def(
          "tell",
          [](Actuators& self, Handle& world, const VecX& controls, std::optional<double> h) {
            self.tell(world.world(), std::span<const double>(controls.data(), static_cast<std::size_t>(controls.size())),
                      h.value_or(world.world().recipe().dt));
          },
          py::arg("world"), py::arg("controls"), py::arg("h") = py::none(),
          "Tells the world's motors what they do in the next h seconds (default: one step).");
  add_sensors(module);
}

}  // namespace rotule::python
