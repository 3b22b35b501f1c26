#pragma once
// Air on surfaces, by area: a triangle of area A and normal n, moving with w (the mean of its corners' velocities, less the
// flow's in its middle) against the air,
//   F = -rho/2 A (across |w_n| w_n n + along |w_t| w_t),   w_n = w . n,   w_t = w - w_n n,
// a third of it on each corner. Its derivative by velocity is given; that by position, through A, n and the flow, is left out.
#include "dynamics/forces/end_point.h"

namespace rotule {

struct AirLaw {
  Vec3 force = Vec3::Zero();
  Mat3 by_velocity = Mat3::Zero();  // dF/dw

  AirLaw(const Model& model, const AirForce& air, const std::array<int, 3>& triangle, const State& s, double t) {
    const Vec3 x = s.particle_position(triangle[0]), y = s.particle_position(triangle[1]), z = s.particle_position(triangle[2]);
    const Vec3 twice_area = (y - x).cross(z - x);
    const double length = twice_area.norm();
    if (length == 0) return;
    const Vec3 n = twice_area / length;
    Vec3 w = (s.particle_velocity(triangle[0]) + s.particle_velocity(triangle[1]) + s.particle_velocity(triangle[2])) / 3;
    if (!air.flows.empty()) w -= flow_at(model.flows, air.flows, (x + y + z) / 3, t).u;
    const double normal = w.dot(n), factor = 0.25 * air.density * length;
    const Vec3 tangential = w - normal * n;
    const double speed = tangential.norm();
    force = -factor * (air.across * std::abs(normal) * normal * n + air.along * speed * tangential);
    by_velocity = -factor * (2 * air.across * std::abs(normal) * n * n.transpose() +
                             air.along * speed * (Mat3::Identity() - n * n.transpose()));
    if (speed > 0) by_velocity -= factor * air.along / speed * tangential * tangential.transpose();
  }
};

inline void add_air(const Model& model, const AirForce& air, const State& s, double t, VecX& f) {
  for (const std::array<int, 3>& triangle : air.triangles) {
    const Vec3 share = AirLaw(model, air, triangle, s, t).force / 3;
    for (const int corner : triangle) f.segment<3>(s.first(corner)) += share;
  }
}

inline void add_air(const Model& model, const State& s, double t, VecX& f) {
  for (const AirForce& air : model.forces.airs) add_air(model, air, s, t, f);
}

template <class Sink>
void add_air_derivatives(const Model& model, const State& s, double t, double a, Sink& sink) {
  for (const AirForce& air : model.forces.airs)
    for (const std::array<int, 3>& triangle : air.triangles) {
      const Mat3 share = a / 9 * AirLaw(model, air, triangle, s, t).by_velocity;
      for (const int p : triangle)
        for (const int q : triangle) sink(particle_triple(s, p), particle_triple(s, q), share);
    }
}

}  // namespace rotule
