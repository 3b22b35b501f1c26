// Inverse problems: poses that meet targets, forces that make a motion.
#include <rotule/inverse.h>
#include <rotule/inverse_dynamics.h>

#include <map>

#include "interrupts.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Handle = WorldHandle;
using Rows = py::array_t<double, py::array::c_style | py::array::forcecast>;

void add_targets(py::module_& module) {
  py::class_<PointTarget>(module, "PointTarget", "A point of a body comes to a point of another, or of the world.")
      .def(py::init([](std::string body, const Vec3& to, const Vec3& at, std::string onto, double weight) {
             return PointTarget{std::move(body), at, std::move(onto), to, weight};
           }),
           py::arg("body"), py::arg("to"), py::arg("at") = Vec3(Vec3::Zero()), py::arg("onto") = "world", py::arg("weight") = 1.0,
           "to, at: m, in the frames of `onto` and of `body`");
  py::class_<OrientationTarget>(module, "OrientationTarget", "A body turns to an orientation.")
      .def(py::init([](std::string body, const WXYZ& orientation, std::string against, double weight) {
             return OrientationTarget{std::move(body), quaternion(orientation), std::move(against), weight};
           }),
           py::arg("body"), py::arg("orientation"), py::arg("against") = "world", py::arg("weight") = 1.0, "w, x, y, z");
  py::class_<LookTarget>(module, "LookTarget", "A direction of a body points to a point.")
      .def(py::init([](std::string body, const Vec3& to, const Vec3& direction, const Vec3& from, std::string onto,
                       double weight) { return LookTarget{std::move(body), direction, from, std::move(onto), to, weight}; }),
           py::arg("body"), py::arg("to"), py::arg("direction") = Vec3(1, 0, 0), py::arg("from_point") = Vec3(Vec3::Zero()),
           py::arg("onto") = "world", py::arg("weight") = 1.0);
  py::class_<CenterOfMassTarget>(module, "CenterOfMassTarget", "The common centre of mass comes to a point.")
      .def(py::init([](const Vec3& to, std::vector<std::string> bodies, const std::array<bool, 3>& axes, double weight) {
             return CenterOfMassTarget{std::move(bodies), to, axes, weight};
           }),
           py::arg("to"), py::arg("bodies") = std::vector<std::string>{}, py::arg("axes") = std::array<bool, 3>{true, true, true},
           py::arg("weight") = 1.0);
  Record<InverseReport>(module, "InverseReport", "How a pose was looked for.")
      .field("reached", &InverseReport::reached, "whether the targets are met")
      .field("closest", &InverseReport::closest, "not met, but no small motion comes closer")
      .field("iterations", &InverseReport::iterations, "how many")
      .field("error", &InverseReport::error, "m, rad: the largest of the targets")
      .field("joint_error", &InverseReport::joint_error, "m, rad: the largest of the joints")
      .field("limit_error", &InverseReport::limit_error, "m, rad: by which a limit is exceeded")
      .field("target_errors", &InverseReport::target_errors, "m, rad: each one's")
      .field("at_limits", &InverseReport::at_limits, "joints that stand at a stop");
}

InverseMethod method_named(const std::string& name) {
  if (name == "automatic") return InverseMethod::automatic;
  if (name == "newton") return InverseMethod::newton;
  if (name == "damped") return InverseMethod::damped;
  throw Error("method must be automatic, newton or damped, is " + name);
}

InverseReport ik(Handle& world, const std::vector<Target>& targets, const std::string& method, double tolerance,
                 int max_iterations, bool limits, const std::vector<std::string>& hold) {
  InverseSettings settings;
  settings.method = method_named(method);
  settings.tolerance = tolerance;
  settings.max_iterations = max_iterations;
  settings.limits = limits;
  settings.hold = hold;
  InverseReport report;
  {
    const Handle::AtWork here(world);
    report = at_once([&] { return inverse_kinematics(world.world_at_work(), targets, settings); });
  }
  world.changed();
  return report;
}

/// An axis by its name, "elbow" or "shoulder.rx".
Actuator actuator_of(const std::string& name) {
  const auto dot = name.rfind('.');
  static const std::map<std::string, int> axes{{"x", 0}, {"y", 1}, {"z", 2}, {"rx", 3}, {"ry", 4}, {"rz", 5}};
  if (dot != name.npos && axes.contains(name.substr(dot + 1))) return {name.substr(0, dot), name.substr(dot + 1)};
  return {name, ""};
}

void add_dynamics(py::module_& module) {
  py::class_<InverseDynamics>(module, "InverseDynamics", "Which forces make a given motion of this mechanism.")
      .def(py::init([](Handle& world, const std::vector<std::string>& actuators) {
             InverseDynamicsSettings settings;
             for (const std::string& name : actuators) settings.actuators.push_back(actuator_of(name));
             return std::make_unique<InverseDynamics>(world.world(), settings);
           }),
           py::arg("world"), py::arg("actuators") = std::vector<std::string>{},
           "actuators: axes with motors, \"elbow\" or \"shoulder.rx\"; none: those that the scene drives, else all free ones.")
      .def_property_readonly(
          "actuators",
          [](const InverseDynamics& self) {
            std::vector<std::pair<std::string, std::string>> out;
            for (const Actuator& a : self.actuators()) out.emplace_back(a.joint, a.axis);
            return out;
          },
          "(joint, axis) each, in the order of the forces")
      .def_property_readonly("recursive", &InverseDynamics::recursive, "whether the mechanism is a tree that is walked once")
      .def(
          "solve",
          [](InverseDynamics& self, Handle& world, const std::optional<Rows>& accelerations) {
            MotionState motion = motion_of(world.world());
            if (accelerations) {
              const auto bodies = static_cast<py::ssize_t>(motion.poses.size());
              if (accelerations->ndim() != 2 || accelerations->shape(0) != bodies || accelerations->shape(1) != 6)
                throw py::value_error("accelerations must have the shape (" + std::to_string(bodies) + ", 6)");
              for (py::ssize_t i = 0; i < bodies; ++i) {
                const double* row = accelerations->data(i, 0);
                motion.accelerations[static_cast<std::size_t>(i)] = Vec3(row[0], row[1], row[2]);
                motion.angular_accelerations[static_cast<std::size_t>(i)] = Vec3(row[3], row[4], row[5]);
              }
            }
            const InverseForces& forces = self.solve(motion);
            std::vector<double> drives = forces.drives;
            const auto count = static_cast<py::ssize_t>(drives.size());
            return py::make_tuple(array_of(std::move(drives), {count}), forces.joints, forces.unexplained);
          },
          py::arg("world"), py::arg("accelerations") = py::none(),
          "Forces of the actuators (N, N m), forces of the joints, and the largest that nothing explains, for the world's pose "
          "and "
          "velocities with these accelerations, linear and angular, (bodies, 6); zeros hold it still. Default: its present "
          "ones.");
}

void add_arm(py::module_& module) {
  py::class_<Arm>(module, "Arm", "A chain of hinges and sliders from what never moves to a tip, in joint coordinates.")
      .def(py::init([](Handle& world, const std::string& tip, const Vec3& at) {
             return std::make_unique<Arm>(world.world(), tip, at);
           }),
           py::arg("world"), py::arg("tip"), py::arg("at") = Vec3(Vec3::Zero()), "tip: a body; at: its point, m, in its frame")
      .def_property_readonly("axes", &Arm::axes, "how many")
      .def_property_readonly("joints", &Arm::joints, "names, first joint first")
      .def(
          "tip",
          [](const Arm& self, const Rows& q) {
            if (q.size() != self.axes()) throw py::value_error("q must have " + std::to_string(self.axes()) + " numbers");
            const Pose pose = self.tip({q.data(), static_cast<std::size_t>(q.size())});
            return py::make_tuple(pose.position, wxyz(pose.orientation));
          },
          py::arg("q"), "Where the tip's point stands (m) and how its body is turned (w, x, y, z).")
      .def(
          "solve",
          [](const Arm& self, const Rows& q, const Vec3& position, const std::optional<WXYZ>& orientation, double tolerance,
             int max_iterations) {
            if (q.size() != self.axes()) throw py::value_error("q must have " + std::to_string(self.axes()) + " numbers");
            std::vector<double> moved(q.data(), q.data() + q.size());
            const Arm::Outcome outcome = self.solve(pose(position, orientation.value_or(unturned)), moved,
                                                    orientation.has_value(), tolerance, max_iterations);
            return py::make_tuple(array_of(std::move(moved), {q.size()}), outcome.reached, outcome.error);
          },
          py::arg("q"), py::arg("position"), py::arg("orientation") = py::none(), py::arg("tolerance") = 1e-10,
          py::arg("max_iterations") = 100,
          "From q to coordinates with the tip at the position (and turned so, where that is given): q, whether reached, error.");
}

}  // namespace

void add_inverse(py::module_& module) {
  add_targets(module);
  module.def("ik", &ik, py::arg("world"), py::arg("targets"), py::arg("method") = "automatic", py::arg("tolerance") = 1e-12,
             py::arg("max_iterations") = 500, py::arg("limits") = true, py::arg("hold") = std::vector<std::string>{},
             "Moves the world into a pose that meets the targets, or comes closest to them.");
  add_dynamics(module);
  add_arm(module);
}

}  // namespace rotule::python
