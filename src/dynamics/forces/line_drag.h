#pragma once
// Flow past a round line between two points, each of which bears half its length (rotule/forces.h). With e from the first to the
// second, l = |e|, t = e/l, w the flow's velocity relative to a point, tau = t . w and n = w - tau t,
//   F = l/2 G,   G = k_n |n| n + k_t |tau| tau t,   k_n = rho/2 across d,   k_t = rho/2 along pi d,
//   dG/dw = k_n (|n| P + n n^T/|n|) + 2 k_t |tau| t t^T,   P = 1 - t t^T,
//   dG/dt = -k_n (|n| (t n^T + tau P) + tau n n^T/|n|) + k_t (2 |tau| t n^T + |tau| tau P),
//   dF/de = (G t^T + dG/dt P)/2.
// Where an implicit method's matrix must be symmetric and positive, what depends on place is left out.
#include <array>
#include <cmath>

#include "dynamics/forces/end_point.h"

namespace rotule {

/// What both ends of a line feel.
struct LineLaw {
  std::array<EndPoint, 2> points;
  std::array<Vec3, 2> force{Vec3::Zero(), Vec3::Zero()};
  PointBlocks<2> by_place, by_velocity;

  LineLaw(const Model& model, const LineDragForce& line, const State& s, double t, bool derivatives)
      : points{end_point(line.a, s), end_point(line.b, s)} {
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = 0; q < 2; ++q) {
        by_place[p][q].setZero();
        by_velocity[p][q].setZero();
      }
    const Vec3 e = points[1].x - points[0].x;
    const double l = e.norm();
    if (l == 0) return;
    const Vec3 tangent = e / l;
    const Mat3 P = Mat3::Identity() - tangent * tangent.transpose();
    for (std::size_t p = 0; p < 2; ++p) {
      const FlowAt flow = flow_at(model.flows, line.flows, points[p].x, t);
      const Vec3 w = flow.u - points[p].v;
      const double along = tangent.dot(w);
      const Vec3 n = w - along * tangent;
      const double across = n.norm(), size = std::abs(along);
      const Vec3 G = line.across * across * n + line.along * size * along * tangent;
      force[p] = 0.5 * l * G;
      if (!derivatives) continue;
      Mat3 by_w = line.across * across * P + 2 * line.along * size * tangent * tangent.transpose();
      Mat3 by_tangent = (2 * line.along * size - line.across * across) * tangent * n.transpose() +
                        along * (line.along * size - line.across * across) * P;
      if (across > 0) {
        const Mat3 both = line.across / across * n * n.transpose();
        by_w += both;
        by_tangent -= along * both;
      }
      const Mat3 by_e = 0.5 * (G * tangent.transpose() + by_tangent * P);
      by_velocity[p][p] = -0.5 * l * by_w;
      by_place[p][0] = -by_e;
      by_place[p][1] = by_e;
      by_place[p][p] += 0.5 * l * by_w * flow.gradient;
    }
  }
};

inline void add_line_drag(const Model& model, const LineDragForce& line, const State& s, double t, VecX& f) {
  const LineLaw law(model, line, s, t, false);
  for (std::size_t p = 0; p < 2; ++p) add_force_at(law.points[p], law.force[p], f);
}

inline void add_line_drag(const Model& model, const State& s, double t, VecX& f) {
  for (const LineDragForce& line : model.forces.lines) add_line_drag(model, line, s, t, f);
}

template <class Sink>
void add_line_drag_derivatives(const Model& model, const State& s, double t, double a, double b, bool positive, Sink& sink) {
  for (const LineDragForce& line : model.forces.lines) {
    const LineLaw law(model, line, s, t, true);
    add_derivatives<2>(law.points, law.force, law.by_place, law.by_velocity, a, positive ? 0 : b, sink);
  }
}

}  // namespace rotule
