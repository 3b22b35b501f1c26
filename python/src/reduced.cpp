// Reduced coordinates: mass matrix, bias, Jacobians and the two dynamics of a mechanism's trees.
#include <rotule/reduced.h>

#include "module.h"
#include "world_handle.h"

namespace rotule::python {

void add_reduced(py::module_& module) {
  using Handle = WorldHandle;
  Record<ReducedAxis>(module, "ReducedAxis", "One rate of u.")
      .field("joint", &ReducedAxis::joint, "its name; empty where a body floats")
      .field("body", &ReducedAxis::body, "that moves along it")
      .field("axis", &ReducedAxis::axis, "x to rz, of the joint's frame")
      .field("position", &ReducedAxis::position, "its number in q; of a ball, where its quaternion (x, y, z, w) begins")
      .field("velocity", &ReducedAxis::velocity, "its number in u");
  py::class_<ReducedModel>(
      module, "ReducedModel",
      "A mechanism by what its joints leave free: H(q) u' + b(q, u) = tau, with weight in b. Springs, drives "
      "and other forces of the scene are not in it.")
      .def(py::init([](Handle& world) { return std::make_unique<ReducedModel>(world.world()); }), py::arg("world"),
           "The trees of the world's joints.")
      .def_property_readonly("positions", &ReducedModel::positions, "numbers in q")
      .def_property_readonly("velocities", &ReducedModel::velocities, "numbers in u")
      .def_property_readonly("axes", &ReducedModel::axes, "one per rate")
      .def_property_readonly("outside", &ReducedModel::outside, "joints that are no part of the trees")
      .def(
          "position", [](const ReducedModel& self, Handle& world) { return self.position(world.world()); }, py::arg("world"),
          "q of a world.")
      .def(
          "velocity", [](const ReducedModel& self, Handle& world) { return self.velocity(world.world()); }, py::arg("world"),
          "u of a world.")
      .def(
          "place",
          [](const ReducedModel& self, Handle& world, const VecX& q, const VecX& u) {
            self.place(q, u, world.world());
            world.changed();
          },
          py::arg("world"), py::arg("q"), py::arg("u"), "Puts the world's bodies where the coordinates say.")
      .def("displaced", &ReducedModel::displaced, py::arg("q"), py::arg("motion"), "q moved by a small motion.")
      .def("difference", &ReducedModel::difference, py::arg("q"), py::arg("from_q"), "The small motion between two.")
      .def(
          "jacobian",
          [](ReducedModel& self, const VecX& q, const std::string& body, const Vec3& at) -> MatX {
            return self.jacobian(q, body, at);
          },
          py::arg("q"), py::arg("body"), py::arg("at") = Vec3(Vec3::Zero()),
          "Velocity of a point of a body (at: m, in its frame) and angular velocity, per rate: (6, velocities), in world axes.")
      .def(
          "mass_matrix", [](ReducedModel& self, const VecX& q) -> MatX { return self.mass_matrix(q); }, py::arg("q"), "H.")
      .def(
          "bias", [](ReducedModel& self, const VecX& q, const VecX& u) -> VecX { return self.bias(q, u); }, py::arg("q"),
          py::arg("u"), "b: weight, Coriolis and gyroscopic terms, N and N m.")
      .def(
          "gravity_compensation", [](ReducedModel& self, const VecX& q) -> VecX { return self.gravity_compensation(q); },
          py::arg("q"), "What motors must exert at rest, N and N m.")
      .def(
          "inverse_dynamics",
          [](ReducedModel& self, const VecX& q, const VecX& u, const VecX& acceleration) -> VecX {
            return self.inverse_dynamics(q, u, acceleration);
          },
          py::arg("q"), py::arg("u"), py::arg("acceleration"), "tau, N and N m.")
      .def(
          "forward_dynamics",
          [](ReducedModel& self, const VecX& q, const VecX& u, const VecX& tau) -> VecX {
            return self.forward_dynamics(q, u, tau);
          },
          py::arg("q"), py::arg("u"), py::arg("tau"), "u', m/s^2 and rad/s^2.")
      .def(
          "inverse_dynamics_derivatives",
          [](ReducedModel& self, const VecX& q, const VecX& u, const VecX& acceleration) {
            const ReducedDerivatives& out = self.inverse_dynamics_derivatives(q, u, acceleration);
            return py::make_tuple(out.by_position, out.by_velocity);
          },
          py::arg("q"), py::arg("u"), py::arg("acceleration"), "Of tau, by small motions of q and by u.")
      .def(
          "forward_dynamics_derivatives",
          [](ReducedModel& self, const VecX& q, const VecX& u, const VecX& tau) {
            const ReducedDerivatives& out = self.forward_dynamics_derivatives(q, u, tau);
            return py::make_tuple(out.by_position, out.by_velocity);
          },
          py::arg("q"), py::arg("u"), py::arg("tau"), "Of u', by small motions of q and by u.")
      .def(
          "linearise",
          [](ReducedModel& self, const VecX& q, const VecX& u, const VecX& tau) {
            const ReducedLinearisation& out = self.linearise(q, u, tau);
            return py::make_tuple(out.A, out.B);
          },
          py::arg("q"), py::arg("u"), py::arg("tau"),
          "A and B of the motion beside this one: d/dt [dq; du] = A [dq; du] + B dtau, dq being small motions of q.");
}

}  // namespace rotule::python
