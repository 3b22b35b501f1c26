// What steps, ledgers and joints report, as plain records.
#include <rotule/results.h>

#include "module.h"

namespace rotule::python {
namespace {

void add_books(py::module_& module) {
  Record<EnergyBalance>(
      module, "EnergyBalance",
      "Where the energy came from and went to since the books were opened (World.keep_books), in J: energy now = "
      "start + brought_in - taken_out + left_over.")
      .field("kept", &EnergyBalance::kept, "whether books are kept at all")
      .field("start", &EnergyBalance::start, "J when they were opened")
      .field("motors", &EnergyBalance::motors, "J brought in by motors of joints")
      .field("forces", &EnergyBalance::forces, "J brought in by World.set_force")
      .field("fields", &EnergyBalance::fields, "J brought in by potentials that change in time")
      .field("fluid", &EnergyBalance::fluid, "J brought in by fluid that flows past bodies or bears them")
      .field("guides", &EnergyBalance::guides, "J brought in by prescribed motion")
      .field("hands", &EnergyBalance::hands, "J brought in between steps, by impulses, poses and velocities that were set")
      .field("drag", &EnergyBalance::drag, "J taken out by drag")
      .field("dampers", &EnergyBalance::dampers, "J taken out by dampers")
      .field("joint_friction", &EnergyBalance::joint_friction, "J taken out by dry friction of joints")
      .field("contact_friction", &EnergyBalance::contact_friction, "J taken out by friction of contacts")
      .field("impacts", &EnergyBalance::impacts, "J taken out by impacts and shocks")
      .field("yielding", &EnergyBalance::yield, "J taken out by materials that flow")
      .field("tearing", &EnergyBalance::tearing, "J taken out by what tears")
      .field("left_over", &EnergyBalance::left_over, "J that nothing explains: the method's error")
      .value("brought_in", &EnergyBalance::brought_in, "J, the sum of the six")
      .value("taken_out", &EnergyBalance::taken_out, "J, the sum of those");
  Record<MomentumBalance>(module, "MomentumBalance",
                          "Of a momentum: now = start + weight + applied + supports + hands + left_over, in N s or N m s.")
      .field("start", &MomentumBalance::start, "when the books were opened")
      .field("weight", &MomentumBalance::weight, "by gravity")
      .field("applied", &MomentumBalance::applied, "by forces set by hand and drag")
      .field("supports", &MomentumBalance::supports, "of all that does not move")
      .field("hands", &MomentumBalance::hands, "between steps")
      .field("left_over", &MomentumBalance::left_over, "that nothing explains");
  Record<Diagnostics>(module, "Diagnostics", "The ledger at one moment.")
      .field("time", &Diagnostics::time, "s")
      .value("energy", &Diagnostics::energy, "J, kinetic and potential")
      .field("kinetic_energy", &Diagnostics::kinetic_energy, "J")
      .field("potential_energy", &Diagnostics::potential_energy, "J, zero at the origin's height and with springs at rest")
      .field("spring_energy", &Diagnostics::spring_energy, "J of it in springs")
      .field("gravity_energy", &Diagnostics::gravity_energy, "J of it by weight and gravitation")
      .field("linear_momentum", &Diagnostics::linear_momentum, "N s")
      .field("angular_momentum", &Diagnostics::angular_momentum, "N m s, about the origin")
      .field("joint_error", &Diagnostics::joint_error, "the largest of all joints")
      .field("residual", &Diagnostics::residual, "of the last constraint solve, relative")
      .field("shock_energy", &Diagnostics::shock_energy, "J taken out by all shocks so far")
      .field("contacts", &Diagnostics::contacts, "points that touch or nearly do")
      .field("penetration", &Diagnostics::penetration, "m, the deepest of them")
      .field("push_energy", &Diagnostics::push_energy, "J added so far by moving bodies out of each other")
      .field("kinematic_work", &Diagnostics::kinematic_work, "J done so far by kinematic bodies and belts")
      .field("energy_balance", &Diagnostics::energy_balance, "kept where World.keep_books asked for it")
      .field("momentum_balance", &Diagnostics::momentum_balance, "likewise")
      .field("angular_momentum_balance", &Diagnostics::angular_momentum_balance, "likewise");
}

void add_steps(py::module_& module) {
  Record<StepReport> step(module, "StepReport", "What a step did, or several together: counts are sums, the rest is the worst.");
  for_each_report_field([&](const auto& field) {
    const std::string unit(field.unit), meaning(field.meaning);
    step.field(std::string(field.key).c_str(), field.member, (unit.empty() ? meaning : unit + " " + meaning).c_str());
  });
  step.value("sound", &StepReport::sound, "whether no energy was gained and no joint left open");
  Record<BrokenJoint>(module, "BrokenJoint", "A joint that exerted more than it bears, and has left the world.")
      .field("joint", &BrokenJoint::joint, "its name")
      .field("time", &BrokenJoint::time, "s")
      .field("force", &BrokenJoint::force, "N that it exerted then")
      .field("torque", &BrokenJoint::torque, "N m that it exerted then");
  Record<Redundancy>(module, "Redundancy", "A joint with rows that others already imply.")
      .field("joint", &Redundancy::joint, "its name")
      .field("rows", &Redundancy::rows, "how many of them");
  Record<Restless>(module, "Restless", "A body or particle that is not in equilibrium.")
      .field("name", &Restless::name, "of the body or particle")
      .field("force", &Restless::force, "N that are left")
      .field("torque", &Restless::torque, "N m that are left")
      .field("speed", &Restless::speed, "m/s")
      .field("angular_speed", &Restless::angular_speed, "rad/s");
  Record<Balance>(module, "Balance", "How far from equilibrium everything is.")
      .value("reached", &Balance::reached, "whether all is within the tolerances")
      .field("force", &Balance::force, "N, the largest that is left")
      .field("torque", &Balance::torque, "N m, likewise")
      .field("speed", &Balance::speed, "m/s, the largest")
      .field("angular_speed", &Balance::angular_speed, "rad/s, the largest")
      .field("restless_count", &Balance::restless_count, "how many are not at rest")
      .field("restless", &Balance::restless, "the ten furthest from it");
}

void add_joints(py::module_& module) {
  Record<JointError>(module, "JointError", "How far a joint is open.")
      .field("position", &JointError::position, "m, rad")
      .field("velocity", &JointError::velocity, "m/s, rad/s");
  Record<JointForce>(module, "JointForce", "What a joint exerts on its second body, at the joint's point, in world axes.")
      .field("force", &JointForce::force, "N")
      .field("torque", &JointForce::torque, "N m")
      .field("unique", &JointForce::unique, "false where redundant joints share it in many possible ways")
      .field("drive", &JointForce::drive, "N, N m: what drives exert besides, along and about x, y, z of the joint's frame");
  Record<JointMotion>(module, "JointMotion", "The free axes of a joint, in its frame as the first body carries it.")
      .field("displacement", &JointMotion::displacement, "m")
      .field("angle", &JointMotion::angle, "rad")
      .field("displacement_rate", &JointMotion::displacement_rate, "m/s")
      .field("angular_rate", &JointMotion::angular_rate, "rad/s")
      .field("motor_force", &JointMotion::motor_force, "N")
      .field("motor_torque", &JointMotion::motor_torque, "N m")
      .field("passive_force", &JointMotion::passive_force, "N, of springs, dampers, friction and limits")
      .field("passive_torque", &JointMotion::passive_torque, "N m, likewise")
      .field("motor_power", &JointMotion::motor_power, "W that the motors give to the mechanism");
}

}  // namespace

void add_results(py::module_& module) {
  add_joints(module);
  add_books(module);
  add_steps(module);
}

}  // namespace rotule::python
