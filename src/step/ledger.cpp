#include "step/ledger.h"

#include <algorithm>

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
  out.time = t;
  out.kinetic_energy = kinetic_energy(mechanism.model, s);
  out.potential_energy =
      weight_potential(mechanism.model, s) + force_potential(mechanism.model, s, t, mechanism.recipe.threads, scratch_);
  for (int i = 0; i < s.bodies(); ++i) {
    const Body& body = mechanism.model.bodies[i];
    if (body.fixed) continue;
    const Vec3 momentum = body.mass * s.v(i);
    const Quat& q = s.theta[i];
    out.linear_momentum += momentum;
    out.angular_momentum += s.p[i].cross(momentum) + q * (body.inertia * (q.conjugate() * Vec3(s.omega(i))));
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

JointError Ledger::error(const JointedMechanism& mechanism, int joint) const {
  const Island& island = mechanism.islands[places_[joint].linkage];
  const ConstraintBlock& block = island.problem.blocks[places_[joint].block];
  JointError out;
  for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
    out.position = std::max(out.position, std::abs(island.values.C[r]));
    out.velocity = std::max(out.velocity, std::abs(constraint_rate(island.problem, block, r, island.values, island.u)));
  }
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
    const int rows = static_cast<int>(std::count_if(
        set_aside.begin(), set_aside.end(), [&](int r) { return r >= block.first_row && r < block.first_row + block.rows; }));
    if (rows) out.emplace_back(j, rows);
  }
  return out;
}

}  // namespace rotule
