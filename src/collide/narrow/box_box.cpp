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
    out.face = j;
    out.side = t_B[j] < 0 ? 1 : -1;
    s.on_a = core_support(a, s.normal);
    s.on_b = s.on_a + s.gap * s.normal;
  } else {
    out.face = i;
    out.side = std::copysign(1.0, t[i]);
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

  // Points in the frame of the box whose face it is, then of the world.
  const Frame* frame = &X_WA;
  bool of_b = false;
  switch (found.axis) {
    case AxisSeparation::Axis::face_of_a:
      box_face_points(a.size, found.face, found.side, b.size, X, margin, list);
      break;
    case AxisSeparation::Axis::face_of_b:
      box_face_points(b.size, found.face, found.side, a.size, X.inverse(), margin, list);
      frame = &X_WB;
      of_b = true;
      break;
    case AxisSeparation::Axis::edges:
      // Nearly flat on each other they need more than the one point where edges cross.
      if (s.normal.cwiseAbs().maxCoeff() > nearly_flat || (X.R.transpose() * s.normal).cwiseAbs().maxCoeff() > nearly_flat) {
        clip_patches(a, b, X, s, margin, found.exact, list);
      } else {
        list.count = 1;
        list.items[0] = {{s.on_a, s.on_b, s.gap, edges_feature}, 0, 0};
      }
      break;
  }
  double least = infinity;
  for (int k = 0; k < list.count; ++k) least = std::min(least, list.items[k].point.gap);
  const double rounding = 1e-9 * (a.size.maxCoeff() + b.size.maxCoeff());
  const bool reached = least <= s.gap + rounding &&
                       (found.axis != AxisSeparation::Axis::edges || (s.on_b - s.on_a).norm() <= std::abs(s.gap) + rounding);
  if (!found.exact && !reached) {
    // Apart, and nearest at a corner: the axes do not tell.
    const Separation nearest = general_separation(a, b, X, margin, memory);
    if (!nearest.near) return false;
    clip_patches(a, b, X, nearest, margin, true, list);
    out.normal = X_WA.R * nearest.normal;
    keep_four(list.items.data(), list.count, X_WA, out);
    return true;
  }
  if (list.count == 0) {
    list.count = 1;
    list.items[0] = {{s.on_a, s.on_b, s.gap, edges_feature}, 0, 0};
    frame = &X_WA;
    of_b = false;
  }
  out.normal = X_WA.R * s.normal;
  keep_four(list.items.data(), list.count, *frame, out);
  if (of_b)
    for (int k = 0; k < out.count; ++k) std::swap(out.points[k].on_a, out.points[k].on_b);
  return true;
}

}  // namespace rotule
