#include "dynamics/forces/springs.h"

#include <cmath>

namespace rotule {

namespace {

/// Springs between particles, on plain arrays: a cloth has hundreds of thousands.
void add_particle_springs(const ParticleSprings& springs, const double* x, const double* v, double* f) {
  const int* i = springs.i.data();
  const int* j = springs.j.data();
  const double* stiffness = springs.stiffness.data();
  const double* damping = springs.damping.data();
  const double* rest_length = springs.rest_length.data();
  for (int n = 0; n < springs.count(); ++n) {
    const std::ptrdiff_t a = 3 * static_cast<std::ptrdiff_t>(i[n]), b = 3 * static_cast<std::ptrdiff_t>(j[n]);
    const double ex = x[a] - x[b], ey = x[a + 1] - x[b + 1], ez = x[a + 2] - x[b + 2];
    const double square = ex * ex + ey * ey + ez * ez;
    if (square == 0) continue;
    const double l = std::sqrt(square), inverse = 1 / l;
    const double rate = (ex * (v[a] - v[b]) + ey * (v[a + 1] - v[b + 1]) + ez * (v[a + 2] - v[b + 2])) * inverse;
    const double along = (stiffness[n] * (l - rest_length[n]) + damping[n] * rate) * inverse;
    const double fx = along * ex, fy = along * ey, fz = along * ez;
    f[a] -= fx;
    f[a + 1] -= fy;
    f[a + 2] -= fz;
    f[b] += fx;
    f[b + 1] += fy;
    f[b + 2] += fz;
  }
}

}  // namespace

AngleLaw::AngleLaw(const std::array<Vec3, 3>& x, double stiffness, double rest_angle, bool second, bool positive) {
  const Vec3 a = x[0] - x[1], b = x[2] - x[1];
  const double la = a.norm(), lb = b.norm();
  gradient.fill(Vec3::Zero());
  for (auto& row : hessian) row.fill(Mat3::Zero());
  if (la == 0 || lb == 0) return;
  const Vec3 n = a.cross(b);
  const double sine = n.norm(), cosine = a.dot(b), angle = std::atan2(sine, cosine);
  const double off = angle - rest_angle;
  energy = 0.5 * stiffness * off * off;
  // On one line the angle has a corner: its gradient has length but no direction. A spring at rest there still has a second
  // derivative, k g g^T summed over all directions g across the line.
  const bool straight = sine < 1e-9 * la * lb;
  const Vec3 ua = a / la, ub = b / lb;
  const Mat3 Pa = Mat3::Identity() - ua * ua.transpose(), Pb = Mat3::Identity() - ub * ub.transpose();
  if (straight) {
    if (!second || std::abs(off) > 1e-6) return;
    // Deflection d = x_0 / la - x_1 (1/la +- 1/lb) +- x_2 / lb across the line turns the angle by |d|.
    const double sign = cosine < 0 ? 1.0 : -1.0;
    const std::array<double, 3> weight{1 / la, -1 / la - sign / lb, sign / lb};
    for (std::size_t p = 0; p < 3; ++p)
      for (std::size_t q = 0; q < 3; ++q) hessian[p][q] = stiffness * weight[p] * weight[q] * Pa;
    return;
  }
  // d(angle)/da and d(angle)/db: perpendicular to each arm, in the plane of both.
  const double s = sine / (la * lb), c = cosine / (la * lb);
  const Vec3 ga = -(ub - c * ua) / (s * la), gb = -(ua - c * ub) / (s * lb);
  const std::array<Vec3, 3> g{ga, -ga - gb, gb};
  for (std::size_t p = 0; p < 3; ++p) gradient[p] = stiffness * off * g[p];
  if (!second) return;
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t q = 0; q < 3; ++q) hessian[p][q] = stiffness * g[p] * g[q].transpose();
  if (positive) return;  // k g g^T is the positive part
  // Second derivatives of the angle, from cos = ua . ub: -sin H = d(d cos) + cos g g^T.
  const Mat3 Pab = Pa * Pb;
  const Mat3 caa = -(Pa * ub * ua.transpose() + ua * ub.transpose() * Pa + c * Pa) / (la * la);
  const Mat3 cbb = -(Pb * ua * ub.transpose() + ub * ua.transpose() * Pb + c * Pb) / (lb * lb);
  const Mat3 cab = Pab / (la * lb);
  const Mat3 Haa = -(caa + c * ga * ga.transpose()) / s, Hbb = -(cbb + c * gb * gb.transpose()) / s;
  const Mat3 Hab = -(cab + c * ga * gb.transpose()) / s;
  const double k = stiffness * off;
  hessian[0][0] += k * Haa;
  hessian[0][2] += k * Hab;
  hessian[2][0] += k * Hab.transpose();
  hessian[2][2] += k * Hbb;
  hessian[0][1] -= k * (Haa + Hab);
  hessian[1][0] -= k * (Haa + Hab).transpose();
  hessian[2][1] -= k * (Hbb + Hab.transpose());
  hessian[1][2] -= k * (Hbb + Hab.transpose()).transpose();
  hessian[1][1] += k * (Haa + Hab + Hab.transpose() + Hbb);
}

void add_springs(const Model& model, const State& s, VecX& f) {
  add_particle_springs(model.forces.particle_springs, s.x.data(), s.u.data() + s.first(0), f.data() + s.first(0));
  for (const SpringForce& spring : model.forces.springs) {
    const EndPoint a = end_point(spring.a, s), b = end_point(spring.b, s);
    const Vec3 F = SpringLaw{spring.stiffness, spring.damping, spring.rest_length, spring.slack}.force(a.x - b.x, a.v - b.v);
    add_force_at(a, F, f);
    add_force_at(b, -F, f);
  }
  for (const AngleSpringForce& spring : model.forces.angles) {
    std::array<EndPoint, 3> points;
    for (std::size_t k = 0; k < 3; ++k) points[k] = end_point(spring.ends[k], s);
    const AngleLaw law({points[0].x, points[1].x, points[2].x}, spring.stiffness, spring.rest_angle, false, false);
    for (std::size_t k = 0; k < 3; ++k) add_force_at(points[k], -law.gradient[k], f);
  }
}

double spring_potential(const Model& model, const State& s) {
  double twice = 0;
  const ParticleSprings& pool = model.forces.particle_springs;
  for (int n = 0; n < pool.count(); ++n) {
    const double off = (s.particle_position(pool.i[n]) - s.particle_position(pool.j[n])).norm() - pool.rest_length[n];
    twice += pool.stiffness[n] * off * off;
  }
  for (const SpringForce& spring : model.forces.springs) {
    const double off = (end_point(spring.a, s).x - end_point(spring.b, s).x).norm() - spring.rest_length;
    if (spring.slack && off <= 0) continue;
    twice += spring.stiffness * off * off;
  }
  for (const AngleSpringForce& spring : model.forces.angles)
    twice += 2 * AngleLaw({end_point(spring.ends[0], s).x, end_point(spring.ends[1], s).x, end_point(spring.ends[2], s).x},
                          spring.stiffness, spring.rest_angle, false, false)
                     .energy;
  return 0.5 * twice;
}

}  // namespace rotule
