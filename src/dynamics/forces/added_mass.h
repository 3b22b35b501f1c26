#pragma once
// Added mass (Kirchhoff's equations): fluid that bodies set in motion has the energy 1/2 u . M_a u over all their velocities
// u_i = (v_i, omega_i). M_a is a sum of blocks, each constant in the axes of one body: its own, or, where the fluid couples
// bodies, those of the first of them. Lagrange's equations, the momenta being (P_i, L_i) = (M_a u)_i in world axes:
//   P_i' = F_i,   L_i' = omega_i x L_i + T_i, and at the body whose axes they are of + sum over i (P_i x v_i + L_i x omega_i),
// for the energy changes as those axes turn. Along the motion a block W turns with them, W' = omega_a x W - W omega_a x; so
//   force on the bodies = -M_a u' + what is left, which is gyroscopic:
// the first part is added to the mass. Both together do no work but on that energy, and take no momentum from bodies and fluid
// unless the axes are those of a body that does not move. Of one body alone it is Kirchhoff's P' = F, L' + v x P = T.
#include "dynamics/kinematics.h"

namespace rotule {

/// How bodies stand and move, as of a state or of kinematics.
struct FluidMotion {
  const Kinematics* kinematics = nullptr;
  const State* state = nullptr;
  [[nodiscard]] Mat3 axes(int body) const {
    return kinematics ? kinematics->bodies[body].R : Mat3(state->theta[body].toRotationMatrix());
  }
  [[nodiscard]] Vec6 velocity(int body) const {
    return kinematics ? kinematics->velocity(body) : Vec6(state->u.segment<6>(6 * body));
  }
};
inline FluidMotion motion_of(const Kinematics& kinematics) { return {.kinematics = &kinematics}; }
inline FluidMotion motion_of(const State& state) { return {.state = &state}; }

inline Mat6 in_world(const Mat6& block, const Mat3& R) {
  Mat6 turn = Mat6::Zero();
  turn.topLeftCorner<3, 3>() = turn.bottomRightCorner<3, 3>() = R;
  return turn * block * turn.transpose();
}

/// Calls visit(block, what it is in world axes) for each, in their order.
template <class Visit>
void visit_added_masses(const Model& model, const FluidMotion& motion, Visit&& visit) {
  for (const AddedMassBlock& block : model.added_mass.blocks) visit(block, in_world(block.mass, motion.axes(block.axes)));
}

/// out += times M_a x, both laid out as u.
void add_added_momentum(const Model& model, const FluidMotion& motion, const VecX& x, double times, VecX& out);

/// omega x w on both halves of w.
inline Vec6 turned_by(const Vec3& omega, const Vec6& w) {
  Vec6 out;
  out << omega.cross(w.head<3>()), omega.cross(w.tail<3>());
  return out;
}

/// What is left of a block's push: on its body, and on the one whose axes it is in, a torque.
struct AddedGyroscopic {
  Vec6 on_body;
  Vec3 on_axes;
};

/// Of a body that moves by `u`, another that moves by `by`, and axes that turn by `omega`.
inline AddedGyroscopic gyroscopic_of(const Mat6& mass, const Vec6& u, const Vec6& by, const Vec3& omega) {
  const Vec6 momentum = mass * by;
  const Vec3 P = momentum.head<3>(), L = momentum.tail<3>();
  AddedGyroscopic out{-turned_by(omega, momentum), P.cross(u.head<3>()) + L.cross(u.tail<3>())};
  out.on_body.tail<3>() += u.tail<3>().cross(L);
  out.on_body += mass * turned_by(omega, by);
  return out;
}

/// f += what the fluid's momentum does to bodies beyond -M_a u'.
void add_added_gyroscopic(const Model& model, const FluidMotion& motion, VecX& f);

/// The torque with which bodies that do not move keep the axes of blocks from turning: the rate of angular momentum that no force
/// brings.
Vec3 torque_on_still_axes(const Model& model, const State& s);

/// d(M_a x)/dq of a block for a fixed x, by turns of its axes.
Eigen::Matrix<double, 6, 3> turning_of(const Mat6& mass, const Vec6& x);

/// Of a block: how M_a u' - f, f being the gyroscopic part, changes by the accelerations, by a times the velocities and b times
/// the configuration, each of the body, of the one by whose motion it is, and of its axes; velocities stay while those turn.
struct AddedDerivatives {
  Mat6 body_body = Mat6::Zero(), body_by = Mat6::Zero(), body_axes = Mat6::Zero();
  Mat6 axes_body = Mat6::Zero(), axes_by = Mat6::Zero(), axes_axes = Mat6::Zero();
};
AddedDerivatives added_derivatives(const Mat6& mass, const Vec6& u, const Vec6& by, const Vec3& omega,
                                   const Vec6& by_acceleration, double a, double b);

/// Calls add(row body, column body, part) for all blocks of bodies that can be moved.
template <class Add>
void visit_added_derivatives(const Model& model, const Kinematics& kinematics, const VecX& udot, double a, double b, Add&& add) {
  visit_added_masses(model, motion_of(kinematics), [&](const AddedMassBlock& block, const Mat6& mass) {
    const AddedDerivatives d = added_derivatives(mass, kinematics.velocity(block.body), kinematics.velocity(block.by),
                                                 kinematics.bodies[block.axes].omega, udot.segment<6>(6 * block.by), a, b);
    add(block.body, block.body, d.body_body);
    add(block.body, block.by, d.body_by);
    if (!model.movable(block.axes)) return;
    add(block.body, block.axes, d.body_axes);
    add(block.axes, block.body, d.axes_body);
    add(block.axes, block.by, d.axes_by);
    add(block.axes, block.axes, d.axes_axes);
  });
}

/// A body's share of twice the kinetic energy of the fluid, u_i . (M_a u)_i.
double twice_added_energy(const Model& model, const State& s, int body);

}  // namespace rotule
