#pragma once
// Points at which forces hold on to bodies, particles and the world, and what their motion makes of a force's derivatives. For a
// body the point moves by G (d, phi) = d - rho x phi, and G^T F = (F, rho x F) is what a force does to it. Where forces F_p at
// points p = 1 ... n depend on the points' places and velocities by A_pq = dF_p/dx_q and B_pq = dF_p/dv_q,
//   K_pq = G_p^T (A_pq G_q + B_pq dv_q/dq_q)  and, as F keeps its direction while its lever turns, + [F_p]x [rho_p]x on p's
//   rotation; D_pq = G_p^T B_pq G_q.
// A sink takes 3 x 3 blocks of a D + b K: sink(row, column, block), triples of u counted from 0.
#include <array>

#include "model/model.h"

namespace rotule {

struct EndPoint {
  Vec3 x, v;
  Vec3 rho = Vec3::Zero();    // lever, in world axes
  Vec3 omega = Vec3::Zero();  // of the body that carries it
  int triple = -1;            // the first triple of u that moves it; none for the world
  bool turns = false;         // whether the triple after it turns it
};

inline int particle_triple(const State& s, int particle) { return 2 * s.bodies() + particle; }

inline EndPoint end_point(const ForceEnd& end, const State& s) {
  switch (end.kind) {
    case ForceEnd::Kind::body: {
      const Vec3 rho = s.theta[end.index] * end.r, omega = s.omega(end.index);
      return {s.p[end.index] + rho, s.v(end.index) + omega.cross(rho), rho, omega, 2 * end.index, true};
    }
    case ForceEnd::Kind::particle:
      return {s.particle_position(end.index),
              s.particle_velocity(end.index),
              Vec3::Zero(),
              Vec3::Zero(),
              particle_triple(s, end.index),
              false};
    default:
      return {end.r, Vec3::Zero()};
  }
}

inline void add_force_at(const EndPoint& point, const Vec3& F, VecX& f) {
  if (point.triple < 0) return;
  f.segment<3>(3 * point.triple) += F;
  if (point.turns) f.segment<3>(3 * point.triple + 3) += point.rho.cross(F);
}

template <std::size_t N>
using PointBlocks = std::array<std::array<Mat3, N>, N>;

template <std::size_t N, class Sink>
void add_derivatives(const std::array<EndPoint, N>& points, const std::array<Vec3, N>& F, const PointBlocks<N>& A,
                     const PointBlocks<N>& B, double a, double b, Sink& sink) {
  for (std::size_t p = 0; p < N; ++p) {
    const int row = points[p].triple;
    if (row < 0) continue;
    const Mat3 lever = skew(points[p].rho);
    for (std::size_t q = 0; q < N; ++q) {
      const int column = points[q].triple;
      if (column < 0) continue;
      const Mat3 linear = a * B[p][q] + b * A[p][q];
      sink(row, column, linear);
      if (points[p].turns) sink(row + 1, column, Mat3(lever * linear));
      if (!points[q].turns) continue;
      const Mat3 angular = -(linear + b * B[p][q] * skew(points[q].omega)) * skew(points[q].rho);
      sink(row, column + 1, angular);
      if (points[p].turns) sink(row + 1, column + 1, Mat3(lever * angular));
    }
    if (points[p].turns) sink(row + 1, row + 1, Mat3(b * skew(F[p]) * lever));
  }
}

}  // namespace rotule
