#include "dynamics/kinematics.h"

#include <Eigen/LU>

#include "linalg/decompositions.h"

namespace rotule {

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
    if (!model.movable(i)) continue;
    Mat6 in_body = model.added_mass[i], turned = Mat6::Zero();
    in_body.topLeftCorner<3, 3>().diagonal().array() += model.bodies[i].mass;
    in_body.bottomRightCorner<3, 3>() += model.inertia[i];
    turned.topLeftCorner<3, 3>() = turned.bottomRightCorner<3, 3>() = bodies[i].R;
    inverse_mass[i].noalias() = turned * inverse_of(in_body) * turned.transpose();
  }
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
