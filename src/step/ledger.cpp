#include "step/ledger.h"

#include <algorithm>

#include "constraint/joint_coordinates.h"
#include "dynamics/forces/added_mass.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/gas.h"
#include "dynamics/forces/pair_forces.h"
#include "dynamics/forces/springs.h"
#include "dynamics/forces/weight.h"
#include "mechanism/shock.h"

namespace rotule {

void Ledger::find_joints(const JointedMechanism& mechanism) {
  places_.assign(mechanism.model.joints.size(), {});
  for (int i = 0; i < static_cast<int>(mechanism.linkages.size()); ++i) {
    const auto& blocks = mechanism.linkages[i].constraints.blocks();
    for (int k = 0; k < static_cast<int>(blocks.size()); ++k) places_[blocks[k].source] = {i, k};
  }
}

Diagnostics Ledger::diagnose(JointedMechanism& mechanism, const State& s, double t) {
  Diagnostics out;
  out.time = time_ = t;
  const Energies energy = energies(mechanism, s, t);
  out.kinetic_energy = energy.kinetic;
  out.potential_energy = energy.potential();
  out.spring_energy = energy.springs;
  out.gravity_energy = energy.gravity;
  VecX fluid = VecX::Zero(mechanism.model.has_added_mass() ? s.u.size() : 0);
  if (mechanism.model.has_added_mass()) add_added_momentum(mechanism.model, motion_of(s), s.u, 1, fluid);
  for (int i = 0; i < s.bodies(); ++i) {
    const Body& body = mechanism.model.bodies[i];
    if (body.fixed) continue;
    const Vec3 momentum = body.mass * s.v(i);
    const Quat& q = s.theta[i];
    out.linear_momentum += momentum;
    out.angular_momentum += s.p[i].cross(momentum) + q * (body.inertia * (q.conjugate() * Vec3(s.omega(i))));
    if (!mechanism.model.has_added_mass()) continue;
    const Vec3 P = fluid.segment<3>(6 * i), L = fluid.segment<3>(6 * i + 3);
    out.linear_momentum += P;
    out.angular_momentum += s.p[i].cross(P) + L;
  }
  for (int k = 0; k < s.particles(); ++k) {
    const Vec3 momentum = mechanism.model.particles.mass[k] * s.particle_velocity(k);
    out.linear_momentum += momentum;
    out.angular_momentum += s.particle_position(k).cross(momentum);
  }
  mechanism.refresh_forces(t, s);
  for (Island& island : mechanism.islands) island.gather(s.u, island.u);
  for (const JointAnswer& answer : mechanism.now.joints) out.residual = std::max(out.residual, answer.residual);
  for (int j = 0; j < static_cast<int>(places_.size()); ++j) {
    const JointError e = error(mechanism, j);
    out.joint_error.position = std::max(out.joint_error.position, e.position);
    out.joint_error.velocity = std::max(out.joint_error.velocity, e.velocity);
  }
  return out;
}

Ledger::Energies Ledger::energies(const JointedMechanism& mechanism, const State& s, double t) {
  const Model& model = mechanism.model;
  Energies out;
  out.kinetic = kinetic_energy(model, s);
  out.gravity = weight_potential(model, s);
  out.springs = joint_spring_potential(model, s);
  for (const Contact& c : mechanism.now.contacts)
    if (c.law.stiffness > 0) {
      const Vec3 e = point_of(model, s, c.b, c.on_b) - point_of(model, s, c.a, c.on_a);
      const double depth = std::max(-c.normal.dot(e), 0.0);
      out.springs += 0.5 * c.law.stiffness * depth * depth;
    }
  if (model.forces.empty()) return out;
  out.gravity += gravitation_potential(model, s, mechanism.recipe.threads, scratch_.attractors);
  out.springs += spring_potential(model, s) + elastic_potential(model, s) + gas_potential(model, s) +
                 penalty_potential(model, s) + torsion_potential(model, s);
  out.fields = user_potential(model, s, t);
  return out;
}

void Ledger::look_at_hands(const JointedMechanism& mechanism, const State& s, double t, StepTotals& totals) {
  look_at_hands(energies(mechanism, s, t).sum(), momentum_of(mechanism.model, s), totals);
}

void Ledger::look_at_hands(double energy, const MomentumRate& momentum, StepTotals& totals) {
  Books& books = totals.books;
  if (books.opened == 0) {
    books = {};
    books.opened = 1;
    books.start = books.end = energy;
    books.shocks_start = books.shocks_end = totals.shock_energy;
    books.momentum_start = books.momentum_end = momentum;
    return;
  }
  books.hands += energy - books.end + totals.shock_energy - books.shocks_end;
  for (std::size_t i = 0; i < momentum.size(); ++i) books.momentum_hands[i] += momentum[i] - books.momentum_end[i];
  books.end = energy;
  books.shocks_end = totals.shock_energy;
  books.momentum_end = momentum;
}

void Ledger::close_step(const JointedMechanism& mechanism, const State& s, double t, StepTotals& totals) {
  close_step(energies(mechanism, s, t).sum(), momentum_of(mechanism.model, s), mechanism.now.flow, totals);
}

void Ledger::close_step(double energy, const MomentumRate& momentum, const Flow& flow, StepTotals& totals) {
  Books& books = totals.books;
  books.flow.add(flow, 1);
  books.end = energy;
  books.shocks_end = totals.shock_energy;
  books.momentum_end = momentum;
}

void Ledger::take_out(const Flow& flow, StepTotals& totals) {
  Books& books = totals.books;
  if (books.opened == 0) return;
  books.flow.add(flow, 1);
  for (const double work : flow.work) books.end += work;
}

void Ledger::read(const StepTotals& totals, const Model& model, const State& s, Diagnostics& out) {
  const Books& books = totals.books;
  const Flow& flow = books.flow;
  EnergyBalance& energy = out.energy_balance;
  energy.kept = true;
  energy.start = books.start;
  energy.motors = flow[Agent::motors];
  energy.forces = flow[Agent::forces];
  energy.fields = flow[Agent::fields];
  energy.fluid = flow[Agent::fluid];
  energy.guides = flow[Agent::guides];
  energy.hands = books.hands + out.energy() - books.end + totals.shock_energy - books.shocks_end;
  energy.drag = -flow[Agent::drag];
  energy.dampers = -flow[Agent::dampers];
  energy.joint_friction = -flow[Agent::joint_friction];
  energy.contact_friction = -flow[Agent::contact_friction];
  energy.impacts = totals.shock_energy - books.shocks_start - flow[Agent::impacts];
  energy.yield = -flow[Agent::yield];
  energy.tearing = -flow[Agent::tearing];
  energy.left_over = out.energy() - energy.start - energy.brought_in() + energy.taken_out();
  const MomentumRate momentum = momentum_of(model, s);
  const auto fill = [&](MomentumBalance& to, int first) {
    const auto part = [first](const MomentumRate& of) { return Vec3(Eigen::Map<const Vec3>(of.data() + first)); };
    to.start = part(books.momentum_start);
    to.weight = part(flow.weight);
    to.applied = part(flow.applied);
    to.supports = part(flow.supports);
    to.hands = part(books.momentum_hands) + part(momentum) - part(books.momentum_end);
    to.left_over = part(momentum) - to.start - to.weight - to.applied - to.supports - to.hands;
  };
  fill(out.momentum_balance, 0);
  fill(out.angular_momentum_balance, 3);
}

JointError Ledger::error(const JointedMechanism& mechanism, int joint) const {
  const Island& island = mechanism.islands[places_[joint].linkage];
  const ConstraintBlock& block = island.problem.blocks[places_[joint].block];
  JointError out;
  for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
    out.position = std::max(out.position, island.error(r));
    out.velocity = std::max(out.velocity, std::abs(constraint_rate(island.problem, block, r, island.values, island.u)));
  }
  // Rows of one side that are not in force are empty: what they are exceeded by is nowhere in the problem.
  const ConstraintSet& constraints = mechanism.linkages[places_[joint].linkage].constraints;
  for (const DrivenAxis& row : constraints.switched(places_[joint].block))
    if (!row.in_force)
      out.position = std::max(out.position, -constraints.row_of(places_[joint].block, row.drive, mechanism.kinematics, time_).C);
  return out;
}

JointForce Ledger::force(const JointedMechanism& mechanism, int joint) const {
  const JointPlace place = places_[joint];
  const Linkage& linkage = mechanism.linkages[place.linkage];
  const ConstraintProblem& problem = mechanism.islands[place.linkage].problem;
  const ConstraintBlock& block = problem.blocks[place.block];
  // Rows of driven axes come last.
  const int rows = block.rows - static_cast<int>(linkage.constraints.driven(place.block).size());
  const auto lambda = mechanism.now.joints[place.linkage].lambda.segment(block.first_row, rows);
  const Vec6 on_b = problem.J_b.middleRows(block.first_row, rows).transpose() * lambda;
  JointForce out;
  out.force = on_b.head<3>();
  out.torque = on_b.tail<3>() - linkage.constraints.lever(place.block, mechanism.kinematics, true).cross(out.force);
  for (int r = block.first_row; r < block.first_row + block.rows; ++r) out.unique = out.unique && !linkage.redundant.ambiguous(r);
  return out;
}

std::vector<std::pair<int, int>> Ledger::redundant(const JointedMechanism& mechanism) const {
  std::vector<std::pair<int, int>> out;
  for (int j = 0; j < static_cast<int>(places_.size()); ++j) {
    const Linkage& linkage = mechanism.linkages[places_[j].linkage];
    const ConstraintBlock& block = linkage.constraints.blocks()[places_[j].block];
    const std::vector<int>& set_aside = linkage.redundant.rows();
    const int rows = static_cast<int>(std::ranges::lower_bound(set_aside, block.first_row + block.rows) -
                                      std::ranges::lower_bound(set_aside, block.first_row));
    if (rows) out.emplace_back(j, rows);
  }
  return out;
}

}  // namespace rotule
