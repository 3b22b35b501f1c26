#include "collide/narrow/box_box.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/box_face.h"
#include "collide/narrow/separation.h"

namespace rotule {
namespace {

constexpr double nearly_flat = 0.985;  // cosine of 10 degrees
constexpr std::uint32_t edges_feature = 0xfffffffe;

/// Nearest points of the edges of A along e_i and of B along R_j that face each other along n.
void edge_points(const Convex& a, const Convex& b, const Frame& X, int i, int j, Separation& s) {
  Vec3 p = core_support(a, s.normal), q = core_support(b, -(X.R.transpose() * s.normal));
  p[i] = 0;
  q[j] = 0;
  q = X * q;
  const Vec3 e = X.R.col(j), r = p - q;
  const double c = e[i], dr = r[i], er = e.dot(r), sine = 1 - c * c;
  const double along_a = std::clamp((c * er - dr) / sine, -a.size[i], a.size[i]);
  const double along_b = std::clamp(c * along_a + er, -b.size[j], b.size[j]);
  p[i] = along_a;
  s.on_a = p;
  s.on_b = q + along_b * e;
}

}  // namespace

AxisSeparation box_box(const Convex& a, const Convex& b, const Frame& X, double margin, PairMemory& memory) {
  const Mat3& R = X.R;
  const Vec3& t = X.p;
  const Vec3 t_B = R.transpose() * t;
  AxisSeparation out;
  Separation& s = out.separation;
  if (!memory.axis.isZero()) {
    const Vec3& n = memory.axis;
    const double gap = n.dot(t) - a.size.dot(n.cwiseAbs()) - b.size.dot((R.transpose() * n).cwiseAbs());
    if (gap > margin) {
      s = {false, n, gap};
      return out;
    }
  }

  const Mat3 absolute = R.cwiseAbs();
  const Vec3 face_a = t.cwiseAbs() - a.size - absolute * b.size;
  const Vec3 face_b = t_B.cwiseAbs() - b.size - absolute.transpose() * a.size;
  int i = 0, j = 0;
  const double best_a = face_a.maxCoeff(&i), best_b = face_b.maxCoeff(&j);
  bool edges = false;
  // A tie goes to A's face, and any face wins over edges that are no better up to rounding: contact keeps its kind.
  const double tie = 1e-9 * (a.size.maxCoeff() + b.size.maxCoeff());
  double best = best_b > best_a + tie ? best_b : best_a;
  s.normal = best_b > best_a + tie ? Vec3(std::copysign(1.0, t_B[j]) * R.col(j)) : Vec3(std::copysign(1.0, t[i]) * Vec3::Unit(i));
  if (best <= margin) {
    double bar = best + tie;
    for (int k = 0; k < 3; ++k) {
      const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
      for (int m = 0; m < 3; ++m) {
        const int m1 = (m + 1) % 3, m2 = (m + 2) % 3;
        // e_k x R_m = (0, -R(k2, m), R(k1, m)) in the axes k, k1, k2.
        const double square = 1 - R(k, m) * R(k, m);
        if (square < 1e-14) continue;
        const double along = t[k2] * R(k1, m) - t[k1] * R(k2, m);
        const double reach = a.size[k1] * absolute(k2, m) + a.size[k2] * absolute(k1, m) + b.size[m1] * absolute(k, m2) +
                             b.size[m2] * absolute(k, m1);
        const double over = std::abs(along) - reach;
        // Compared without a root first: dividing by a length below 1 moves away from zero.
        if (bar >= 0 ? (over <= 0 || over * over <= bar * bar * square) : (over < 0 && over * over >= bar * bar * square))
          continue;
        const double length = std::sqrt(square), gap = over / length;
        bar = best = gap;
        edges = true;
        i = k, j = m;
        s.normal = Vec3::Zero();
        s.normal[k1] = (along < 0 ? R(k2, m) : -R(k2, m)) / length;
        s.normal[k2] = (along < 0 ? -R(k1, m) : R(k1, m)) / length;
      }
    }
  }
  memory.axis = s.normal;
  s.gap = best;
  s.near = best <= margin;
  if (!s.near) return out;
  out.exact = best <= 0;
  if (edges) {
    out.axis = AxisSeparation::Axis::edges;
    edge_points(a, b, X, i, j, s);
  } else if (best_b > best_a + tie) {
    out.axis = AxisSeparation::Axis::face_of_b;
    s.on_a = core_support(a, s.normal);
    s.on_b = s.on_a + s.gap * s.normal;
  } else {
    s.on_b = X * core_support(b, -(R.transpose() * s.normal));
    s.on_a = s.on_b - s.gap * s.normal;
  }
  return out;
}

bool collide_boxes(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                   CandidateList& list, Manifold& out) {
  const Frame X = relative(X_WA, X_WB);
  const AxisSeparation found = box_box(a, b, X, margin, memory);
  const Separation& s = found.separation;
  if (!s.near) return false;

  // The face nearest to the normal is where points are found; for edges only if the boxes lie nearly flat on each other, where
  // one point would not hold them.
  const bool edges = found.axis == AxisSeparation::Axis::edges;
  const Vec3 n_B = X.R.transpose() * s.normal;
  int face_a = 0, face_b = 0;
  const double flat_a = s.normal.cwiseAbs().maxCoeff(&face_a), flat_b = n_B.cwiseAbs().maxCoeff(&face_b);
  const bool of_b = edges ? flat_b > flat_a : found.axis == AxisSeparation::Axis::face_of_b;
  list.count = 0;
  if (!edges || std::max(flat_a, flat_b) > nearly_flat) {
    if (of_b) {
      box_face_points(b.size, face_b, -n_B, a.size, X.inverse(), margin, list);
    } else {
      box_face_points(a.size, face_a, s.normal, b.size, X, margin, list);
    }
  }
  double least = infinity;
  for (int k = 0; k < list.count; ++k) least = std::min(least, list.items[k].point.gap);
  const double rounding = 1e-9 * (a.size.maxCoeff() + b.size.maxCoeff());
  const bool crossing = edges && (s.on_b - s.on_a).norm() <= std::abs(s.gap) + rounding;
  const bool reached = least <= s.gap + rounding || crossing;
  if (!found.exact && !reached) {
    // Apart, and nearest at a corner: the axes do not tell.
    const Separation nearest = general_separation(a, b, X, margin, memory);
    if (!nearest.near) return false;
    clip_patches(a, b, X, nearest, margin, true, list);
    out.normal = X_WA.R * nearest.normal;
    keep_four(list.items.data(), list.count, X_WA, out);
    return true;
  }
  if (least > s.gap + rounding) {
    // The deepest point, in the same frame and view as the others.
    const Vec3 p = of_b ? X.to_local(s.on_b) : s.on_a, q = of_b ? X.to_local(s.on_a) : s.on_b;
    const int k = of_b ? face_b : face_a, i = k < 2 ? k + 1 : 0, j = i < 2 ? i + 1 : 0;
    list.items[list.count++] = {{p, q, s.gap, edges_feature}, p[i], p[j]};
  }
  out.normal = X_WA.R * s.normal;
  keep_four(list.items.data(), list.count, of_b ? X_WB : X_WA, out);
  if (of_b)
    for (int k = 0; k < out.count; ++k) std::swap(out.points[k].on_a, out.points[k].on_b);
  return true;
}

}  // namespace rotule
