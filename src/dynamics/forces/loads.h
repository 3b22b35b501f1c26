#pragma once
// Loads that a scene gives as functions of time: F at a point that the body carries, and a torque, both in world axes.
#include "dynamics/forces/end_point.h"

namespace rotule {

void add_loads(const Model& model, const State& s, double t, VecX& f);

/// A force keeps its direction while its lever turns: + b [F]x [rho]x on the body's rotation.
template <class Sink>
void add_load_derivatives(const Model& model, const State& s, double t, double b, Sink& sink) {
  for (const LoadForce& load : model.forces.loads) {
    const EndPoint point = end_point(load.a, s);
    if (point.triple < 0 || !point.turns || load.a.r.isZero(0)) continue;
    Vec3 F;
    load.force.at(t, F);
    sink(point.triple + 1, point.triple + 1, Mat3(b * skew(F) * skew(point.rho)));
  }
}

}  // namespace rotule
