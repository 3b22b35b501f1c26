#include "dynamics/kinematics.h"

#include <Eigen/LU>
#include <algorithm>

#include "dynamics/forces/added_mass.h"
#include "linalg/decompositions.h"

namespace rotule {

namespace {

/// The group's masses; and for each of its bodies the own block of their inverse.
void write_group(const Model& model, const std::vector<int>& members, Kinematics& kinematics, MassGroup& out) {
  const auto count = static_cast<Eigen::Index>(members.size());
  out.mass.setZero(6 * count, 6 * count);
  const AddedMasses& added = model.added_mass;
  for (Eigen::Index k = 0; k < count; ++k) {
    const int i = members[static_cast<std::size_t>(k)];
    const Mat3& R = kinematics.bodies[i].R;
    out.mass.block<3, 3>(6 * k, 6 * k).diagonal().array() += model.bodies[i].mass;
    out.mass.block<3, 3>(6 * k + 3, 6 * k + 3) += R * model.inertia[i] * R.transpose();
    for (int n = added.first[i]; n < added.first[i + 1]; ++n) {
      const AddedMassBlock& block = added.blocks[n];
      const auto by = std::lower_bound(members.begin(), members.end(), block.by) - members.begin();
      out.mass.block<6, 6>(6 * k, 6 * by) += in_world(block.mass, kinematics.bodies[block.axes].R);
    }
  }
  out.inverse = inverse_of(out.mass);
  for (Eigen::Index k = 0; k < count; ++k)
    kinematics.inverse_mass[members[static_cast<std::size_t>(k)]] = out.inverse.block<6, 6>(6 * k, 6 * k);
}

}  // namespace

void Kinematics::divide_by_mass(const Model& model, const VecX& f, VecX& out, Gang* gang) const {
  share_pieces(gang, model.body_count(), [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      if (model.has_added_mass()) {
        if (model.added_mass.group_of[i] >= 0) continue;
        const Vec6 force = f.segment<6>(6 * i);
        out.segment<6>(6 * i).noalias() = inverse_mass[i] * force;
        continue;
      }
      out.segment<3>(6 * i) = f.segment<3>(6 * i) * model.inverse_mass[i];
      const Vec3 torque = f.segment<3>(6 * i + 3);
      out.segment<3>(6 * i + 3).noalias() = inverse_inertia[i] * torque;
    }
  });
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::vector<int>& members = model.added_mass.groups[g];
    VecX own(6 * static_cast<Eigen::Index>(members.size()));
    for (std::size_t k = 0; k < members.size(); ++k)
      own.segment<6>(static_cast<Eigen::Index>(6 * k)) = f.segment<6>(6 * members[k]);
    own = groups[g].inverse * own;
    for (std::size_t k = 0; k < members.size(); ++k)
      out.segment<6>(6 * members[k]) = own.segment<6>(static_cast<Eigen::Index>(6 * k));
  }
}

void Kinematics::update(const Model& model, const State& state, Gang* gang) {
  bodies.resize(model.partner_count());
  inverse_inertia.resize(state.bodies());
  share_pieces(gang, state.bodies(), [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      BodyLanes<double>& body = bodies[i];
      body.p = state.p[i];
      body.R = state.theta[i].toRotationMatrix();
      body.v = state.v(i);
      body.omega = state.omega(i);
      const Mat3 RW = body.R * model.inverse_inertia[i];
      inverse_inertia[i].noalias() = RW * body.R.transpose();
    }
  });
  inverse_mass.resize(model.has_added_mass() ? bodies.size() : 0);
  for (int i = 0; model.has_added_mass() && i < state.bodies(); ++i) {
    // Fixed bodies stay immovable, whatever flows around them.
    inverse_mass[i].setZero();
    if (!model.movable(i) || model.added_mass.group_of[i] >= 0) continue;
    Mat6 in_body = Mat6::Zero(), turned = Mat6::Zero();
    if (const int block = model.added_mass.first[i]; block < model.added_mass.first[i + 1])
      in_body = model.added_mass.blocks[block].mass;
    in_body.topLeftCorner<3, 3>().diagonal().array() += model.bodies[i].mass;
    in_body.bottomRightCorner<3, 3>() += model.inertia[i];
    turned.topLeftCorner<3, 3>() = turned.bottomRightCorner<3, 3>() = bodies[i].R;
    inverse_mass[i].noalias() = turned * inverse_of(in_body) * turned.transpose();
  }
  groups.resize(model.added_mass.groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g) write_group(model, model.added_mass.groups[g], *this, groups[g]);
  for (int i = state.bodies(); i < model.partner_count(); ++i) {
    bodies[i] = {};
    bodies[i].p = state.particle_position(model.particle_of(i));
    bodies[i].v = state.particle_velocity(model.particle_of(i));
  }
  given.clear();
}

void Kinematics::update(const Model& model, const State& state, double t, Gang* gang) {
  update(model, state, gang);
  if (model.motions.empty()) return;
  given.assign(bodies.size(), Vec6::Zero());
  for (const BodyMotion& motion : model.motions) {
    const MotionAt now = motion_at(model, motion, t);
    bodies[motion.body].p = now.p;
    bodies[motion.body].R = now.theta.toRotationMatrix();
    bodies[motion.body].v = now.velocity.head<3>();
    bodies[motion.body].omega = now.velocity.tail<3>();
    given[motion.body] = now.acceleration;
  }
}

}  // namespace rotule
