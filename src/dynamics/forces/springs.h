#pragma once
// Linear springs and dampers: with e = x_a - x_b, l = |e|, n = e / l,
//   F_a = -(k (l - l0) + d n . e') n = -F_b,   V = k/2 (l - l0)^2,
//   dF_a/de  = -k n n^T - (k (l - l0) + d n . e')/l (1 - n n^T) - d/l n (e' - (n . e') n)^T,   dF_a/de' = -d n n^T.
// The transverse part is positive for a taut spring; a compressed one buckles, which can cost an implicit method's matrix its
// definiteness. With `positive` that part is left out where the spring pushes, and so is the unsymmetric last one (D. Baraff,
// A. Witkin, "Large steps in cloth simulation", 1998; K.-J. Choi, H.-S. Ko, "Stable but responsive cloth", 2002).
// A slack spring has none of this where l <= l0.
// Angle springs between three points: V = k/2 (alpha - alpha0)^2, derivatives likewise in closed form.
#include <algorithm>

#include "dynamics/forces/end_point.h"

namespace rotule {

/// F_a and its derivatives for a spring along e, growing by e_dot.
struct SpringLaw {
  double stiffness, damping, rest_length;
  bool slack = false;

  [[nodiscard]] Vec3 force(const Vec3& e, const Vec3& e_dot) const {
    const double l = e.norm();
    if (l == 0 || (slack && l <= rest_length)) return Vec3::Zero();
    const Vec3 n = e / l;
    return -(stiffness * (l - rest_length) + damping * n.dot(e_dot)) * n;
  }
  /// a dF_a/de' + b dF_a/de.
  [[nodiscard]] Mat3 derivative(const Vec3& e, const Vec3& e_dot, double a, double b, bool positive) const {
    const double l = e.norm();
    if (slack && l <= rest_length) return Mat3::Zero();
    if (l == 0) return -b * stiffness * Mat3::Identity();
    const Vec3 n = e / l;
    const double rate = n.dot(e_dot), pull = stiffness * (l - rest_length) + damping * rate;
    const double across = positive ? std::max(pull, 0.0) / l : pull / l;
    Mat3 out = (b * (across - stiffness) - a * damping) * n * n.transpose();
    out.diagonal().array() -= b * across;
    if (!positive) out -= b * damping / l * n * (e_dot - rate * n).transpose();
    return out;
  }
};

void add_springs(const Model& model, const State& s, VecX& f);
double spring_potential(const Model& model, const State& s);
/// An angle spring's energy, its gradient by the three points and, where asked for, its second derivatives.
struct AngleLaw {
  double energy = 0;
  std::array<Vec3, 3> gradient;
  PointBlocks<3> hessian;

  AngleLaw(const std::array<Vec3, 3>& x, double stiffness, double rest_angle, bool second, bool positive);
};

/// Those of springs between particles; sink(i, i), (j, j), (i, j), (j, i) for each.
template <class Sink>
void add_particle_spring_derivatives(const Model& model, const State& s, double a, double b, bool positive, Sink& sink) {
  const ParticleSprings& pool = model.forces.particle_springs;
  for (int n = 0; n < pool.count(); ++n) {
    const int i = pool.i[n], j = pool.j[n], row = particle_triple(s, i), column = particle_triple(s, j);
    const Mat3 A = SpringLaw{pool.stiffness[n], pool.damping[n], pool.rest_length[n]}.derivative(
        s.particle_position(i) - s.particle_position(j), s.particle_velocity(i) - s.particle_velocity(j), a, b, positive);
    sink(row, row, A);
    sink(column, column, A);
    sink(row, column, Mat3(-A));
    sink(column, row, Mat3(-A));
  }
}

template <class Sink>
void add_spring_derivatives(const Model& model, const State& s, double a, double b, bool positive, Sink& sink) {
  for (const SpringForce& spring : model.forces.springs) {
    const std::array<EndPoint, 2> points{end_point(spring.a, s), end_point(spring.b, s)};
    const SpringLaw law{spring.stiffness, spring.damping, spring.rest_length, spring.slack};
    const Vec3 e = points[0].x - points[1].x, e_dot = points[0].v - points[1].v, F = law.force(e, e_dot);
    const Mat3 A = law.derivative(e, e_dot, 0, 1, positive), B = law.derivative(e, e_dot, 1, 0, positive);
    add_derivatives<2>(points, {F, -F}, {{{A, -A}, {-A, A}}}, {{{B, -B}, {-B, B}}}, a, b, sink);
  }
  for (const AngleSpringForce& spring : model.forces.angles) {
    std::array<EndPoint, 3> points;
    std::array<Vec3, 3> x, F;
    for (std::size_t k = 0; k < 3; ++k) {
      points[k] = end_point(spring.ends[k], s);
      x[k] = points[k].x;
    }
    AngleLaw law(x, spring.stiffness, spring.rest_angle, true, positive);
    PointBlocks<3> none;
    for (std::size_t p = 0; p < 3; ++p) {
      F[p] = -law.gradient[p];
      for (std::size_t q = 0; q < 3; ++q) {
        law.hessian[p][q] = -law.hessian[p][q];
        none[p][q].setZero();
      }
    }
    add_derivatives<3>(points, F, law.hessian, none, a, b, sink);
  }
}

}  // namespace rotule
