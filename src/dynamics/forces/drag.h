#pragma once
// Resistance of a medium, F = -nu v - c |v| v on bodies (at their centres of mass) and particles, torque -nu_r omega, with v
// relative to the flows that it moves with; and penalty planes (E3), F = -k depth n - b v on particles below them. Planes have
// the potential k/2 depth^2; drag has none.
#include "dynamics/forces/end_point.h"

namespace rotule {

/// Calls visit(triple, velocity relative to the fluid, the fluid's gradient, body or -1) for all that the drag acts on.
template <class Visitor>
void visit_dragged(const Model& model, const DragForce& drag, const State& s, double t, Visitor&& visit) {
  const auto look = [&](int triple, const Vec3& x, int body) {
    const FlowAt fluid = flow_at(model.flows, drag.flows, x, t);
    visit(triple, Vec3(s.u.segment<3>(3 * triple) - fluid.u), fluid.gradient, body);
  };
  for (const int body : drag.bodies) look(2 * body, s.p[body], body);
  for (const int particle : drag.particles) look(particle_triple(s, particle), s.particle_position(particle), -1);
}

inline void add_drag(const Model& model, const DragForce& drag, const State& s, double t, VecX& f) {
  visit_dragged(model, drag, s, t, [&](int triple, const Vec3& v, const Mat3&, int body) {
    f.segment<3>(3 * triple) -= (drag.viscous + drag.quadratic * v.norm()) * v;
    if (body >= 0) f.segment<3>(6 * body + 3) -= drag.angular * s.omega(body);
  });
}

inline void add_drag(const Model& model, const State& s, double t, VecX& f) {
  for (const DragForce& drag : model.forces.drags) add_drag(model, drag, s, t, f);
}

template <class Sink>
void add_drag_derivatives(const Model& model, const State& s, double t, double a, double b, Sink& sink) {
  for (const DragForce& drag : model.forces.drags)
    visit_dragged(model, drag, s, t, [&](int triple, const Vec3& v, const Mat3& gradient, int body) {
      const double speed = v.norm();
      Mat3 D = -(drag.viscous + drag.quadratic * speed) * Mat3::Identity();
      if (speed > 0) D -= drag.quadratic / speed * v * v.transpose();
      sink(triple, triple, drag.flows.empty() ? Mat3(a * D) : Mat3(a * D - b * D * gradient));
      if (body >= 0) sink(2 * body + 1, 2 * body + 1, Mat3(-a * drag.angular * Mat3::Identity()));
    });
}

/// Calls visit(particle, depth) for every particle below the plane.
template <class Visitor>
void visit_below(const PenaltyPlane& plane, const State& s, Visitor&& visit) {
  for (int k = 0; k < s.particles(); ++k)
    if (const double depth = plane.normal.dot(plane.at - s.particle_position(k)); depth > 0) visit(k, depth);
}

inline void add_penalty_planes(const Model& model, const State& s, VecX& f) {
  for (const PenaltyPlane& plane : model.forces.planes)
    visit_below(plane, s, [&](int k, double depth) {
      f.segment<3>(s.first(k)) += plane.stiffness * depth * plane.normal - plane.damping * s.particle_velocity(k);
    });
}

inline double penalty_potential(const Model& model, const State& s) {
  double sum = 0;
  for (const PenaltyPlane& plane : model.forces.planes)
    visit_below(plane, s, [&](int k, double depth) {
      if (model.particles.movable(k)) sum += 0.5 * plane.stiffness * depth * depth;
    });
  return sum;
}

template <class Sink>
void add_penalty_derivatives(const Model& model, const State& s, double a, double b, Sink& sink) {
  for (const PenaltyPlane& plane : model.forces.planes)
    visit_below(plane, s, [&](int k, double) {
      const int triple = particle_triple(s, k);
      sink(triple, triple,
           Mat3(-b * plane.stiffness * plane.normal * plane.normal.transpose() - a * plane.damping * Mat3::Identity()));
    });
}

}  // namespace rotule
