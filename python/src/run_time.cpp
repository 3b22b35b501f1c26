// World: bodies, joints and forces that come and go, motors, and what is done to bodies by hand.
#include "record/scene_json.h"
#include "world_handle.h"

namespace rotule::python {
namespace {

using Handle = WorldHandle;

/// {"hinge": {...}}, as scene files have it.
std::string kind_and_fields(const std::string& kind, const py::kwargs& fields) {
  py::dict out;
  out[py::str(kind)] = fields;
  return json_of(out);
}

void add_parts(WorldClass& world) {
  world
      .def(
          "add_body",
          [](Handle& self, const py::kwargs& fields) {
            const BodyId id = self.world().add(parse_body(json_of(fields)));
            self.reshaped();
            return id;
          },
          "Adds a body with the fields of a scene file's (rotule.describe(\"body\")).")
      .def(
          "add_joint",
          [](Handle& self, const std::string& kind, const py::kwargs& fields) {
            const JointId id = self.world().add(parse_joint(kind_and_fields(kind, fields)));
            self.reshaped();
            return id;
          },
          py::arg("kind"),
          "Adds a joint, closed in the present pose: add_joint(\"hinge\", between=[\"a\", \"b\"], at=[0, 0, 1]).")
      .def(
          "add_force",
          [](Handle& self, const std::string& kind, const py::kwargs& fields) {
            return self.world().add(parse_force(kind_and_fields(kind, fields)));
          },
          py::arg("kind"), "Adds a force: add_force(\"spring\", between=[\"a\", \"world\"], stiffness=10).")
      .def(
          "remove",
          [](Handle& self, const std::variant<BodyId, JointId, ForceId>& id) {
            std::visit([&](const auto& one) { self.world().remove(one); }, id);
            self.reshaped();
          },
          py::arg("id"), "Removes a body, with its joints and forces, a joint or a force.")
      .def(
          "body", [](Handle& self, const std::string& name) { return find(self.world(), BodyName(name)); }, py::arg("name"),
          "The id of a body.")
      .def(
          "joint", [](Handle& self, const std::string& name) { return find(self.world(), JointName(name)); }, py::arg("name"),
          "The id of a joint.")
      .def(
          "bodies", [](Handle& self) { return self.world().bodies(); }, "Ids of all bodies: rows of arrays have this order.")
      .def(
          "joints", [](Handle& self) { return self.world().joints(); }, "Ids of all joints.")
      .def(
          "name",
          [](Handle& self, const std::variant<BodyId, JointId>& id) {
            return std::visit([&](const auto& one) { return self.world().name(one); }, id);
          },
          py::arg("id"), "What a body or joint is called.")
      .def(
          "contains",
          [](Handle& self, const std::variant<BodyId, JointId, ForceId>& id) {
            return std::visit([&](const auto& one) { return self.world().contains(one); }, id);
          },
          py::arg("id"), "Whether it is still there.")
      .def_property_readonly(
          "body_names",
          [](Handle& self) {
            std::vector<std::string> out;
            for (const BodyId id : self.world().bodies()) out.push_back(self.world().name(id));
            return out;
          },
          "in the order of the arrays' rows")
      .def_property_readonly(
          "joint_names",
          [](Handle& self) {
            std::vector<std::string> out;
            for (const JointId id : self.world().joints()) out.push_back(self.world().name(id));
            return out;
          },
          "in the order of joints()");
}

void add_hands(WorldClass& world) {
  world
      .def(
          "set_pose",
          [](Handle& self, const BodyName& body, const Vec3& position, const WXYZ& orientation) {
            self.world().set_pose(find(self.world(), body), pose(position, orientation));
            self.changed();
          },
          py::arg("body"), py::arg("position"), py::arg("orientation") = unturned,
          "Places a body: m, and w, x, y, z. Joints are not asked; project() closes them.")
      .def(
          "set_velocity",
          [](Handle& self, const BodyName& body, const Vec3& velocity, const Vec3& angular_velocity) {
            self.world().set_velocity(find(self.world(), body), velocity, angular_velocity);
            self.changed();
          },
          py::arg("body"), py::arg("velocity"), py::arg("angular_velocity") = Vec3(Vec3::Zero()),
          "m/s of the centre of mass, rad/s in world axes.")
      .def(
          "move_to",
          [](Handle& self, const BodyName& body, const Vec3& position, const WXYZ& orientation, double h) {
            self.world().move_to(find(self.world(), body), pose(position, orientation), h);
            self.changed();
          },
          py::arg("body"), py::arg("position"), py::arg("orientation"), py::arg("h"),
          "Gives a kinematic body the velocity that brings it to the pose within h seconds.")
      .def(
          "set_force",
          [](Handle& self, const BodyName& body, const Vec3& force, const Vec3& torque) {
            self.world().set_force(find(self.world(), body), force, torque);
            self.changed();
          },
          py::arg("body"), py::arg("force"), py::arg("torque") = Vec3(Vec3::Zero()),
          "N at the centre of mass and N m, in world axes, kept until changed.")
      .def(
          "apply_impulse",
          [](Handle& self, const BodyName& body, const Vec3& impulse, const Vec3& at) {
            self.world().apply_impulse(find(self.world(), body), impulse, at);
            self.changed();
          },
          py::arg("body"), py::arg("impulse"), py::arg("at"),
          "A blow of so many N s at a world point; joints pass it on at once.")
      .def(
          "shock",
          [](Handle& self, const BodyName& body, const Vec3& at, double restitution, const Vec3& direction) {
            const double energy = self.world().shock(find(self.world(), body), at, restitution, direction);
            self.changed();
            return energy;
          },
          py::arg("body"), py::arg("at"), py::arg("restitution"), py::arg("direction") = Vec3(Vec3::Zero()),
          "The point is stopped (restitution 0) up to thrown back (1), along a direction or in all; returns J taken out.");
}

void add_motors(py::module_& module, WorldClass& world) {
  py::class_<MotorOff>(module, "MotorOff", "The motor does nothing.").def(py::init<>());
  py::class_<MotorSpeed>(module, "MotorSpeed", "Keeps a speed (rad/s, m/s), as far as its strength (N m, N) goes.")
      .def(py::init([](double speed, double strength) {
             return MotorSpeed{speed, strength};
           }),
           py::arg("speed"), py::arg("strength"))
      .def_readwrite("speed", &MotorSpeed::speed, "rad/s, m/s")
      .def_readwrite("strength", &MotorSpeed::strength, "N m, N");
  py::class_<MotorPosition>(module, "MotorPosition", "A servo: pulls to a position (rad, m) like a spring with a damper.")
      .def(py::init([](double position, double stiffness, double damping) {
             return MotorPosition{position, stiffness, damping};
           }),
           py::arg("position"), py::arg("stiffness"), py::arg("damping") = 0.0)
      .def_readwrite("position", &MotorPosition::position, "rad, m")
      .def_readwrite("stiffness", &MotorPosition::stiffness, "N m/rad, N/m")
      .def_readwrite("damping", &MotorPosition::damping, "N m s/rad, N s/m");
  py::class_<MotorTorque>(module, "MotorTorque", "The same torque (N m) or force (N), whatever the speed.")
      .def(py::init([](double torque) { return MotorTorque{torque}; }), py::arg("torque"))
      .def_readwrite("torque", &MotorTorque::torque, "N m, N");
  world
      .def(
          "set_motor",
          [](Handle& self, const JointName& joint, const MotorTarget& target, const std::string& axis) {
            self.world().set_motor(find(self.world(), joint), target, axis);
          },
          py::arg("joint"), py::arg("target"), py::arg("axis") = "",
          "What the motor on a free axis is to do from now on; the axis may be left out where one is free.")
      .def(
          "joint_axes", [](Handle& self, const JointName& joint) { return self.world().joint_axes(find(self.world(), joint)); },
          py::arg("joint"), "Free axes with a coordinate: x, y, z, rx, ry, rz.")
      .def(
          "joint_position",
          [](Handle& self, const JointName& joint, const std::string& axis) {
            return self.world().joint_position(find(self.world(), joint), axis);
          },
          py::arg("joint"), py::arg("axis") = "", "m, rad: of the second body against the first, zero in the scene's pose")
      .def(
          "joint_rate",
          [](Handle& self, const JointName& joint, const std::string& axis) {
            return self.world().joint_rate(find(self.world(), joint), axis);
          },
          py::arg("joint"), py::arg("axis") = "", "m/s, rad/s")
      .def(
          "joint_error", [](Handle& self, const JointName& joint) { return self.world().joint_error(find(self.world(), joint)); },
          py::arg("joint"), "How far it is open.")
      .def(
          "joint_force", [](Handle& self, const JointName& joint) { return self.world().joint_force(find(self.world(), joint)); },
          py::arg("joint"), "What it exerts on its second body.")
      .def(
          "joint_motion",
          [](Handle& self, const JointName& joint) { return self.world().joint_motion(find(self.world(), joint)); },
          py::arg("joint"), "Its free axes, and what motors, springs and friction exert along them.");
}

}  // namespace

void add_run_time(py::module_& module) {
  WorldClass world = world_class(module);
  add_parts(world);
  add_hands(world);
  add_motors(module, world);
}

}  // namespace rotule::python
