#include "step/ledger.h"

#include <algorithm>

#include "dynamics/forces/weight.h"
#include "mechanism/shock.h"

namespace rotule {

Ledger::Ledger(const JointedMechanism& mechanism) : places_(mechanism.model.joints.size()) {
  for (int i = 0; i < static_cast<int>(mechanism.islands.size()); ++i) {
    const auto& blocks = mechanism.islands[i].constraints.blocks();
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
  for (Island& island : mechanism.islands) {
    island.gather(s.u, island.u);
    out.residual = std::max(out.residual, island.residual);
  }
  for (int j = 0; j < static_cast<int>(places_.size()); ++j) {
    const JointError e = error(mechanism, j);
    out.joint_error.position = std::max(out.joint_error.position, e.position);
    out.joint_error.velocity = std::max(out.joint_error.velocity, e.velocity);
  }
  return out;
}

JointError Ledger::error(const JointedMechanism& mechanism, int joint) const {
  const Island& island = mechanism.islands[places_[joint].island];
  const ConstraintBlock& block = island.constraints.blocks()[places_[joint].block];
  JointError out;
  for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
    out.position = std::max(out.position, std::abs(island.values.C[r]));
    out.velocity = std::max(out.velocity, std::abs(constraint_rate(island.problem, block, r, island.values, island.u)));
  }
  return out;
}

JointForce Ledger::force(const JointedMechanism& mechanism, int joint) const {
  const JointPlace place = places_[joint];
  const Island& island = mechanism.islands[place.island];
  const ConstraintBlock& block = island.constraints.blocks()[place.block];
  const Vec6 on_b =
      island.problem.J_b.middleRows(block.first_row, block.rows).transpose() * island.lambda.segment(block.first_row, block.rows);
  JointForce out;
  out.force = on_b.head<3>();
  out.torque = on_b.tail<3>() - island.constraints.lever(place.block, mechanism.kinematics, true).cross(out.force);
  for (int r = block.first_row; r < block.first_row + block.rows; ++r) out.unique = out.unique && !island.redundant.ambiguous(r);
  return out;
}

std::vector<std::pair<int, int>> Ledger::redundant(const JointedMechanism& mechanism) const {
  std::vector<std::pair<int, int>> out;
  for (int j = 0; j < static_cast<int>(places_.size()); ++j) {
    const Island& island = mechanism.islands[places_[j].island];
    const ConstraintBlock& block = island.constraints.blocks()[places_[j].block];
    const int rows = static_cast<int>(std::count_if(island.redundant.rows().begin(), island.redundant.rows().end(), [&](int r) {
      return r >= block.first_row && r < block.first_row + block.rows;
    }));
    if (rows) out.emplace_back(j, rows);
  }
  return out;
}

}  // namespace rotule
