// Rows of driven axes, and of constraints of one side, as the drives' laws see them: whoever their partners are.
#include "mechanism/drive_laws.h"
#include "mechanism/jointed_mechanism.h"

namespace rotule {

void DriveLaws::Line::add(int number, const Vec3& linear, const Vec3& angular) {
  partner[static_cast<std::size_t>(count)] = number;
  J[static_cast<std::size_t>(count++)] << linear, angular;
}

double DriveLaws::Line::along(const Model& model, const VecX& u) const {
  double out = 0;
  for (int k = 0; k < count; ++k)
    if (const int number = partner[static_cast<std::size_t>(k)]; model.movable(number)) {
      const Vec6 own = model.slot(number).read(u);
      const Vec6& row = J[static_cast<std::size_t>(k)];
      out += row.head<3>().dot(own.head<3>()) + row.tail<3>().dot(own.tail<3>());
    }
  return out;
}

void DriveLaws::Line::push(const Model& model, double force, VecX& forces) const {
  for (int k = 0; k < count; ++k)
    if (const int number = partner[static_cast<std::size_t>(k)]; model.movable(number)) {
      const VelocitySlot slot = model.slot(number);
      slot.write(Vec6(slot.read(forces) + force * J[static_cast<std::size_t>(k)]), forces);
    }
}

double DriveLaws::Line::free_response(const Model& model, const Kinematics& kinematics) const {
  double out = 0;
  for (int k = 0; k < count; ++k) {
    const int number = partner[static_cast<std::size_t>(k)];
    if (!model.movable(number)) continue;
    Mat6 W = Mat6::Zero();
    kinematics.write_inverse_mass(model, number, W);
    const Vec6& row = J[static_cast<std::size_t>(k)];
    out += model.has_added_mass() && !model.is_particle(number)
               ? row.dot(W * row)
               : W(0, 0) * row.head<3>().squaredNorm() + row.tail<3>().dot(W.bottomRightCorner<3, 3>() * row.tail<3>());
  }
  return out;
}

DriveLaws::LineAt DriveLaws::line_of(const JointedMechanism& mechanism, const VecX& u, double t, const DriveLaw& law) {
  const Model& model = mechanism.model;
  const Kinematics& kinematics = mechanism.kinematics;
  LineAt out;
  if (!law.one_sided) {
    const Joint& joint = model.joints[law.joint];
    const Standing at = stand(model, kinematics, u, law);
    out.q = at.axis.q;
    out.rate = at.rate;
    out.line.gamma = driven_row(joint, {law.drive, true, at.axis.q, t, 0}, kinematics[joint.a], kinematics[joint.b], t).gamma;
    out.line.add(joint.a, at.axis.linear_a, at.axis.angular_a);
    out.line.add(joint.b, at.axis.linear_b, at.axis.angular_b);
    return out;
  }
  const ConstraintSet& constraints = mechanism.linkages[law.linkage].constraints;
  const FunctionRow row = constraints.row_of(law.block, law.drive, kinematics, t);
  out.q = row.C;
  out.rate = row.C_t;
  out.line.gamma = row.gamma;
  std::size_t k = 0;
  for_each_partner(model.joints[law.joint], [&](int number) {
    const Vec6& J = row.J[k++];
    out.line.add(number, J.head<3>(), J.tail<3>());
    if (!model.kinematic(number)) return;
    out.rate += J.dot(kinematics.velocity(number));
    out.line.gamma += J.dot(kinematics.given_acceleration(number));
  });
  out.rate += out.line.along(model, u);
  return out;
}

}  // namespace rotule
