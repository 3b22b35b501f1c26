#pragma once
// How far friction has its lever when a patch of contact spins: the mean distance of the patch's points from its centre,
//   lever = 1/A int_A |x - c| dA,
// so that under even pressure a force N resists spinning by mu N lever. A disc of radius R has 2 R / 3, a square of edge a 0.383
// a, a line of length L has L / 4. For a polygon the integral is a sum over its edges: an edge at a distance h from c that runs
// from s1 to s2 along itself gives h / 6 [s r + h^2 ln(s + r)], r^2 = h^2 + s^2.
#include <algorithm>
#include <array>
#include <cmath>

namespace rotule {

/// A point of a patch in the view along the normal.
struct PatchPoint {
  double x, y;
};

/// The lever of the convex hull of the points, which are put into another order, and its centre. No point, or one, has none.
struct PatchLever {
  double lever = 0;
  PatchPoint center{0, 0};
};

inline PatchLever patch_lever(PatchPoint* points, int count) {
  constexpr int most = 64;
  count = std::min(count, most);
  if (count < 2) return {0, count == 1 ? points[0] : PatchPoint{0, 0}};
  std::sort(points, points + count,
            [](const PatchPoint& p, const PatchPoint& q) { return p.x < q.x || (p.x == q.x && p.y < q.y); });
  const auto turn = [](const PatchPoint& o, const PatchPoint& p, const PatchPoint& q) {
    return (p.x - o.x) * (q.y - o.y) - (p.y - o.y) * (q.x - o.x);
  };
  // A. M. Andrew's chains, 1979: the lower one, then the upper one.
  std::array<PatchPoint, 2 * most> hull;
  int corners = 0;
  for (int pass = 0; pass < 2; ++pass) {
    const int start = corners;
    for (int i = 0; i < count; ++i) {
      const PatchPoint& p = points[pass == 0 ? i : count - 1 - i];
      while (corners >= start + 2 && turn(hull[corners - 2], hull[corners - 1], p) <= 0) --corners;
      hull[corners++] = p;
    }
    --corners;  // it begins the other chain
  }
  double area = 0, x = 0, y = 0;
  const PatchPoint o = hull[0];
  for (int i = 1; i + 1 < corners; ++i) {
    const double part = turn(o, hull[i], hull[i + 1]);
    area += part;
    x += part * (hull[i].x + hull[i + 1].x - 2 * o.x) / 3;
    y += part * (hull[i].y + hull[i + 1].y - 2 * o.y) / 3;
  }
  const PatchPoint &first = points[0], &last = points[count - 1];
  const double length = std::hypot(last.x - first.x, last.y - first.y);
  // Narrower than a thousandth: a line.
  if (!(area > 1e-3 * length * length)) return {length / 4, {0.5 * (first.x + last.x), 0.5 * (first.y + last.y)}};
  PatchLever out{0, {o.x + x / area, o.y + y / area}};
  for (int i = 0; i < corners; ++i) {
    const PatchPoint &p = hull[i], &q = hull[i + 1 < corners ? i + 1 : 0];
    const double ex = q.x - p.x, ey = q.y - p.y, edge = std::sqrt(ex * ex + ey * ey), h = turn(out.center, p, q) / edge;
    if (!(h > 1e-12 * edge)) continue;
    const auto along = [&](const PatchPoint& at) { return ((at.x - out.center.x) * ex + (at.y - out.center.y) * ey) / edge; };
    const double s1 = along(p), s2 = along(q), r1 = std::sqrt(h * h + s1 * s1), r2 = std::sqrt(h * h + s2 * s2);
    out.lever += h / 6 * (s2 * r2 - s1 * r1 + h * h * (std::asinh(s2 / h) - std::asinh(s1 / h)));
  }
  out.lever /= 0.5 * area;
  return out;
}

/// How much higher than the lowest a point may be and still count as touching with it, over the size of the patch: friction of a
/// body that stands on an edge or a rim is that of the edge or the rim.
constexpr double flat_patch = 2e-3;

}  // namespace rotule
