#include "dynamics/kinematics.h"

namespace rotule {

void Kinematics::update(const Model& model, const State& state) {
  bodies.resize(model.partner_count());
  inverse_inertia.resize(state.bodies());
  for (int i = 0; i < state.bodies(); ++i) {
    BodyLanes<double>& body = bodies[i];
    body.p = state.p[i];
    body.R = state.theta[i].toRotationMatrix();
    body.v = state.v(i);
    body.omega = state.omega(i);
    const Mat3 RW = body.R * model.inverse_inertia[i];
    inverse_inertia[i].noalias() = RW * body.R.transpose();
  }
  for (int i = state.bodies(); i < model.partner_count(); ++i) {
    bodies[i] = {};
    bodies[i].p = state.particle_position(model.particle_of(i));
    bodies[i].v = state.particle_velocity(model.particle_of(i));
  }
}

}  // namespace rotule
