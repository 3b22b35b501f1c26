#include "collide/narrow/box_box.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "collide/narrow/box_face.h"
#include "collide/narrow/closed_forms.h"
#include "collide/narrow/pick_four.h"
#include "collide/narrow/separation.h"

namespace rotule {
namespace {

constexpr double nearly_flat = 0.985;  // cosine of 10 degrees
constexpr std::uint32_t edges_feature = 0xfffffffe;
constexpr std::array<int, 3> after{1, 2, 0};

/// The axis of largest separation, in A's frame.
struct BestAxis {
  enum class Kind : std::uint8_t { face_of_a, face_of_b, edges };
  Kind kind = Kind::face_of_a;
  int i = 0, j = 0;  // the face's axis of A or of B, or the two edges
  double gap = 0;
  Vec3 normal;  // from A to B
};

/// Two lanes, for the axes e_k x R_m with k = 0, 1 and then k = 2 (and 0 once more).
using Two = double __attribute__((vector_size(16)));
Two both(double v) { return Two{v, v}; }
Two magnitude(Two v) {
  using Bits = std::int64_t __attribute__((vector_size(16)));
  return std::bit_cast<Two>(std::bit_cast<Bits>(v) & std::numeric_limits<std::int64_t>::max());
}

/// The coordinates (k, k + 1) of a vector for k = 0, 1, 2, cyclically.
struct Cyclic {
  Two from0, from1, from2;
  explicit Cyclic(const Vec3& v) : from0{v.x(), v.y()}, from1{v.y(), v.z()}, from2{v.z(), v.x()} {}
};

/// Along e_k x R_m, whose square is 1 - R(k, m)^2: by how much the boxes are apart, times its length.
struct EdgeAxes {
  Two over[3][2], square[3][2];  // [m][k / 2]
  bool better = false;           // whether any is apart by more than `bar`

  EdgeAxes(const Vec3& a, const Vec3& b, const Mat3& R, const Vec3& t, double bar) {
    const Cyclic size(a), at(t);
    const Cyclic column[3] = {Cyclic(R.col(0)), Cyclic(R.col(1)), Cyclic(R.col(2))};
    const Two bars = both(bar * std::abs(bar));
    auto found = bars != bars;
    for (int m = 0; m < 3; ++m) {
      const int m1 = after[m], m2 = after[m1];
      const Two b1 = both(b[m1]), b2 = both(b[m2]);
      // e_k x R_m = (0, -R(k2, m), R(k1, m)) in the axes k, k1, k2.
      const auto axes = [&](int half, Two r0, Two r1, Two r2, Two t1, Two t2, Two a1, Two a2, Two next, Two last) {
        const Two along = t2 * r1 - t1 * r2;
        const Two reach = a1 * magnitude(r2) + a2 * magnitude(r1) + b1 * magnitude(last) + b2 * magnitude(next);
        over[m][half] = magnitude(along) - reach;
        square[m][half] = 1 - r0 * r0;
        // Squares with their signs: no root is needed to compare.
        found |= over[m][half] * magnitude(over[m][half]) > bars * square[m][half];
      };
      const Cyclic &c = column[m], &c1 = column[m1], &c2 = column[m2];
      axes(0, c.from0, c.from1, c.from2, at.from1, at.from2, size.from1, size.from2, c1.from0, c2.from0);
      axes(1, c.from2, c.from0, c.from1, at.from0, at.from1, size.from0, size.from1, c1.from2, c2.from2);
    }
    better = (found[0] | found[1]) != 0;
  }
};

double largest_size(const Convex& a) { return most(most(a.size.x(), a.size.y()), a.size.z()); }

/// Selections, not branches: which it is, is as good as random.
int largest(const Vec3& v) {
  const int first = v.y() > v.x(), third = v.z() > most(v.x(), v.y());
  return first + third * (2 - first);
}

[[gnu::always_inline]] inline BestAxis best_axis(const Convex& a, const Convex& b, const Frame& X, double margin, double tie) {
  const Mat3& R = X.R;
  const Vec3& t = X.p;
  const Vec3 t_B = R.transpose() * t;
  const Mat3 absolute = R.cwiseAbs();
  const Vec3 face_a = t.cwiseAbs() - a.size - absolute * b.size;
  const Vec3 face_b = t_B.cwiseAbs() - b.size - absolute.transpose() * a.size;
  BestAxis best;
  best.i = largest(face_a);
  best.j = largest(face_b);
  // A tie goes to A's face, and any face wins over edges that are no better up to rounding: contact keeps its kind.
  if (face_b[best.j] > face_a[best.i] + tie) {
    best.kind = BestAxis::Kind::face_of_b;
    best.gap = face_b[best.j];
    best.normal = std::copysign(1.0, t_B[best.j]) * R.col(best.j);
  } else {
    best.gap = face_a[best.i];
    best.normal = Vec3::Zero();
    best.normal[best.i] = std::copysign(1.0, t[best.i]);
  }
  if (best.gap > margin) return best;

  const double bar = best.gap + tie;
  const EdgeAxes axes(a.size, b.size, R, t, bar);
  if (!axes.better) return best;
  // The largest square with its sign; edges in parallel make no axis.
  double largest_square = bar * std::abs(bar);
  int found = -1;
  for (int m = 0; m < 3; ++m)
    for (int half = 0; half < 2; ++half) {
      const Two square = axes.square[m][half], over = axes.over[m][half];
      const Two score = square < 1e-14 ? both(-infinity) : over * magnitude(over) / square;
      for (int lane = 0; lane < 2 - half; ++lane) {
        found = score[lane] > largest_square ? 4 * m + 2 * half + lane : found;
        largest_square = most(largest_square, score[lane]);
      }
    }
  if (found < 0) return best;
  const int m = found / 4, k = found % 4, k1 = after[k], k2 = after[k1];
  best.kind = BestAxis::Kind::edges;
  best.i = k, best.j = m;
  best.gap = std::copysign(std::sqrt(std::abs(largest_square)), largest_square);
  const double side = std::copysign(1.0, t[k2] * R(k1, m) - t[k1] * R(k2, m)),
               inverse = side / std::sqrt(R(k1, m) * R(k1, m) + R(k2, m) * R(k2, m));
  best.normal[k] = 0;
  best.normal[k1] = -R(k2, m) * inverse;
  best.normal[k2] = R(k1, m) * inverse;
  return best;
}

/// The points where the separation along the best axis is found, in A's frame.
Separation on_axis(const Convex& a, const Convex& b, const Frame& X, const BestAxis& axis) {
  Separation s{true, axis.normal, axis.gap};
  switch (axis.kind) {
    case BestAxis::Kind::face_of_a:
      s.on_b = X * core_support(b, -(X.R.transpose() * s.normal));
      s.on_a = s.on_b - s.gap * s.normal;
      break;
    case BestAxis::Kind::face_of_b:
      s.on_a = core_support(a, s.normal);
      s.on_b = s.on_a + s.gap * s.normal;
      break;
    case BestAxis::Kind::edges: {
      // Nearest points of the edges that face each other along the normal.
      const int i = axis.i, j = axis.j;
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
      break;
    }
  }
  return s;
}

}  // namespace

void collide_boxes(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                   CandidateList& list, std::vector<Manifold>& found) {
  if (const Vec3& last = memory.axis; last.squaredNorm() > 0) {
    const Vec3 n = X_WA.R * last;
    const double gap = n.dot(X_WB.p - X_WA.p) - a.size.dot(last.cwiseAbs()) - b.size.dot((X_WB.R.transpose() * n).cwiseAbs());
    if (gap > margin) return;
  }
  const Frame X = relative(X_WA, X_WB);
  const double rounding = 1e-9 * (largest_size(a) + largest_size(b));
  const BestAxis axis = best_axis(a, b, X, margin, rounding);
  const Vec3& n = axis.normal;
  // Only an axis that parts is worth trying again.
  memory.axis = axis.gap > margin ? n : Vec3(Vec3::Zero());
  if (axis.gap > margin) return;

  // The face nearest to the normal is where points are found; for edges only if the boxes lie nearly flat on each other, where
  // one point would not hold them.
  const bool edges = axis.kind == BestAxis::Kind::edges;
  const Vec3 n_B = X.R.transpose() * n;
  bool of_b = axis.kind == BestAxis::Kind::face_of_b, flat = true;
  int face = of_b ? axis.j : axis.i;
  if (edges) {
    const int face_a = largest(n.cwiseAbs()), face_b = largest(n_B.cwiseAbs());
    of_b = std::abs(n_B[face_b]) > std::abs(n[face_a]);
    face = of_b ? face_b : face_a;
    flat = std::abs(of_b ? n_B[face] : n[face]) > nearly_flat;
  }
  FacePolygon polygon;
  if (flat && of_b) {
    box_face_points(b.size, face, -n_B, a.size, -n, X.inverse(), margin, polygon);
  } else if (flat) {
    box_face_points(a.size, face, n, b.size, n_B, X, margin, polygon);
  }
  double least = infinity;
  for (int k = 0; k < polygon.count; ++k) least = std::min(least, polygon.at[k].gap);

  const Frame& X_WR = of_b ? X_WB : X_WA;
  const int i = after[face], j = after[i];
  Separation s;
  bool with_deepest = false;
  if (least > axis.gap + rounding) {
    s = on_axis(a, b, X, axis);
    const bool crossing = edges && (s.on_b - s.on_a).norm() <= std::abs(s.gap) + rounding;
    if (s.gap > 0 && !crossing) {
      // Apart, and nearest at a corner: the axes do not tell.
      const Separation nearest = general_separation(a, b, X, margin, memory);
      if (!nearest.near) return;
      clip_patches(a, b, X, nearest, margin, true, list);
      Manifold& out = found.emplace_back();
      out.normal = X_WA.R * nearest.normal;
      keep_four(list.items.data(), list.count, X_WA, out);
      return;
    }
    // The deepest point, in the same view as the others.
    const Vec3 p = of_b ? X.to_local(s.on_b) : s.on_a;
    polygon.at[polygon.count++] = {p[i], p[j], s.gap, 0, edges_feature};
    with_deepest = true;
  }

  Manifold& out = found.emplace_back();
  std::array<int, 4> kept{0, 1, 2, 3};
  out.count = polygon.count <= 4 ? polygon.count
                                 : pick_four(
                                       polygon.count, [&](int k) { return polygon.at[k].x; },
                                       [&](int k) { return polygon.at[k].y; }, [&](int k) { return polygon.at[k].gap; }, kept);
  out.normal = X_WA.R * n;
  const double side = of_b ? -1 : 1;
  const double height = std::copysign(of_b ? b.size[face] : a.size[face], of_b ? -n_B[face] : n[face]);
  const Vec3 base = X_WR.p + height * X_WR.R.col(face);
  for (int k = 0; k < out.count; ++k) {
    const FacePolygon::Corner& c = polygon.at[kept[k]];
    ContactPoint& point = out.points[k];
    const Vec3 on_face = base + c.x * X_WR.R.col(i) + c.y * X_WR.R.col(j), beyond = on_face + side * c.gap * out.normal;
    point.on_a = of_b ? beyond : on_face;
    point.on_b = of_b ? on_face : beyond;
    point.gap = c.gap;
    point.feature = c.feature;
  }
  if (!with_deepest) return;
  for (int k = 0; k < out.count; ++k)
    if (kept[k] == polygon.count - 1) out.points[k].on_a = X_WA * s.on_a, out.points[k].on_b = X_WA * s.on_b;
}

}  // namespace rotule
