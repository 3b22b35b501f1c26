#include "step/reference/kinetic.h"

#include <algorithm>
#include <cmath>

#include "dynamics/forces/added_mass.h"

namespace rotule {

namespace {

/// Of velocities over the island's bodies, and of bodies whose motion is given.
double rotor_rate(const JointedMechanism& mechanism, const Island& island, const Joint& joint, int axis, const VecX& u) {
  const DriveAxis<double> at = drive_axis(joint, axis, mechanism.kinematics);
  const auto share = [&](int body, const Vec3& linear, const Vec3& angular) {
    if (body == world_body) return 0.0;
    const auto place = std::ranges::lower_bound(island.bodies, body);
    const bool here = place != island.bodies.end() && *place == body;
    const Vec6 own = here ? Vec6(u.segment<6>(6 * (place - island.bodies.begin()))) : mechanism.kinematics.velocity(body);
    return linear.dot(own.head<3>()) + angular.dot(own.tail<3>());
  };
  return share(joint.a, at.linear_a, at.angular_a) + share(joint.b, at.linear_b, at.angular_b);
}

}  // namespace

double kinetic_product(const JointedMechanism& mechanism, const Island& island, const VecX& u, const VecX& v) {
  const Model& model = mechanism.model;
  double sum = 0;
  for (std::size_t i = 0; i < island.bodies.size(); ++i) {
    const int body = island.bodies[i];
    const auto k = static_cast<Eigen::Index>(6 * i);
    sum += model.mass(body) * u.segment<3>(k).dot(v.segment<3>(k));
    if (model.is_particle(body)) continue;
    const Mat3& R = mechanism.kinematics.bodies[body].R;
    const Vec3 p = R.transpose() * u.segment<3>(k + 3), q = R.transpose() * v.segment<3>(k + 3);
    sum += p.dot(model.inertia[body] * q);
    if (!model.has_added_mass()) continue;
    // Bodies that fluid couples are in one island.
    for (int n = model.added_mass.first[body]; n < model.added_mass.first[body + 1]; ++n) {
      const AddedMassBlock& block = model.added_mass.blocks[n];
      const auto by = 6 * (std::ranges::lower_bound(island.bodies, block.by) - island.bodies.begin());
      sum += u.segment<6>(k).dot(in_world(block.mass, mechanism.kinematics.bodies[block.axes].R) * v.segment<6>(by));
    }
  }
  for (const int linkage : island.linkages)
    for (const int j : mechanism.linkages[linkage].joints)
      for (const auto& [axis, drive] : model.joints[j].drives)
        if (drive.armature > 0)
          sum += drive.armature * rotor_rate(mechanism, island, model.joints[j], axis, u) *
                 rotor_rate(mechanism, island, model.joints[j], axis, v);
  return sum;
}

double kinetic_energy(const JointedMechanism& mechanism, const Island& island, const VecX& u) {
  return 0.5 * kinetic_product(mechanism, island, u, u);
}

double share_within_energy(const JointedMechanism& mechanism, const Island& island, const VecX& u_0, const VecX& u_1,
                           double most) {
  // T(s) = T_0 + s u_0 . M d + s^2/2 d . M d with d = u_1 - u_0.
  const double T_00 = kinetic_product(mechanism, island, u_0, u_0), T_01 = kinetic_product(mechanism, island, u_0, u_1),
               T_11 = kinetic_product(mechanism, island, u_1, u_1);
  const double c = 0.5 * T_00 - most, b = T_01 - T_00, a = std::max(0.5 * (T_11 - 2 * T_01 + T_00), 0.0);
  if (0.5 * T_11 <= most) return 1;
  if (c >= 0) return 0;
  // One root is positive, since T(0) is below; written so that nothing cancels.
  const double root = std::sqrt(b * b - 4 * a * c);
  const double s = b > 0 ? -2 * c / (b + root) : (a > 0 ? (root - b) / (2 * a) : 1.0);
  return std::clamp(s, 0.0, 1.0);
}

}  // namespace rotule
