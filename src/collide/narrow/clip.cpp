#include "collide/narrow/clip.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/pick_four.h"

namespace rotule {
namespace {

constexpr std::uint32_t of_b = 0x8000, deepest_feature = 0xffffffff;

struct Point2 {
  double x, y;
  std::uint32_t label;  // of the edge that starts here
};

struct Polygon2 {
  static constexpr int capacity = 2 * SurfacePatch::capacity + 4;
  int count = 0;
  std::array<Point2, capacity> points;
  void add(const Point2& p) {
    if (count < capacity) points[count++] = p;
  }
};

double cross(double ax, double ay, double bx, double by) { return ax * by - ay * bx; }

/// The view along n: its origin is a point of contact, so that numbers stay small.
struct View {
  Vec3 origin, t, b, n;
  [[nodiscard]] Point2 see(const Vec3& p, std::uint32_t label) const {
    const Vec3 d = p - origin;
    return {t.dot(d), b.dot(d), label};
  }
  [[nodiscard]] Vec3 at(double x, double y) const { return origin + x * t + y * b; }
};

/// Back onto the surface: along n onto a face, or to the same place along a line.
struct Lift {
  Lift(const SurfacePatch& patch, const View& view) : view_(view), polygon_(patch.count > 2) {
    if (polygon_) {
      point_ = patch.points[0];
      normal_ = patch.normal / patch.normal.dot(view.n);
    } else {
      point_ = patch.points[0];
      along_ = patch.points[1] - patch.points[0];
      p_ = view.see(point_, 0);
      const Point2 q = view.see(patch.points[1], 0);
      dx_ = q.x - p_.x, dy_ = q.y - p_.y;
      square_ = dx_ * dx_ + dy_ * dy_;
    }
  }
  [[nodiscard]] Vec3 operator()(double x, double y) const {
    if (polygon_) {
      const Vec3 flat = view_.at(x, y);
      return flat + normal_.dot(point_ - flat) * view_.n;
    }
    const double s = std::clamp(((x - p_.x) * dx_ + (y - p_.y) * dy_) / square_, 0.0, 1.0);
    return point_ + s * along_;
  }
  [[nodiscard]] bool degenerate() const { return !polygon_ && !(square_ > 1e-20 * along_.squaredNorm()); }

 private:
  const View& view_;
  bool polygon_;
  Vec3 point_, normal_, along_;
  Point2 p_{};
  double dx_ = 0, dy_ = 0, square_ = 0;
};

void see(const SurfacePatch& patch, const View& view, bool reversed, std::uint32_t side, Polygon2& out) {
  out.count = 0;
  for (int i = 0; i < patch.count; ++i) {
    // Reversed, the edge that starts at a corner is the one that ended there.
    const int k = reversed ? patch.count - 1 - i : i;
    const int label = !reversed ? k : (k > 0 ? k - 1 : patch.count - 1);
    out.add(view.see(patch.points[k], patch.labels[label] | side));
  }
}

/// What is left of the polygon on the left of each edge of the convex `window`. The result is in one of the two polygons.
const Polygon2& cut(Polygon2& first, Polygon2& second, const Polygon2& window, double tolerance) {
  Polygon2 *polygon = &first, *next = &second;
  std::array<double, Polygon2::capacity> height;
  for (int e = 0; e < window.count && polygon->count > 0; ++e) {
    const Point2 &from = window.points[e], &to = window.points[e + 1 < window.count ? e + 1 : 0];
    const double ex = to.x - from.x, ey = to.y - from.y, square = ex * ex + ey * ey;
    if (!(square > 0)) continue;
    const double inverse = 1 / std::sqrt(square), nx = -ey * inverse, ny = ex * inverse, offset = nx * from.x + ny * from.y;
    bool all_in = true;
    const int count = polygon->count;
    for (int i = 0; i < count; ++i) {
      height[i] = nx * polygon->points[i].x + ny * polygon->points[i].y - offset;
      all_in = all_in && height[i] >= -tolerance;
    }
    if (all_in) continue;
    next->count = 0;
    for (int i = 0; i < count; ++i) {
      const int k = i + 1 < count ? i + 1 : 0;
      const Point2 &p = polygon->points[i], &q = polygon->points[k];
      const double hp = height[i], hq = height[k];
      const bool p_in = hp >= -tolerance, q_in = hq >= -tolerance;
      if (p_in) next->add(p);
      if (p_in == q_in) continue;
      const double s = std::clamp(hp / (hp - hq), 0.0, 1.0);
      // Leaving: from here on the border is the window's. Entering: the polygon's own edge goes on.
      next->add({p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), p_in ? from.label : p.label});
    }
    std::swap(polygon, next);
  }
  return *polygon;
}

/// A segment within a window; the ends keep their labels or take that of the edge that cuts.
bool cut_segment(Point2& p, Point2& q, const Polygon2& window, double tolerance) {
  for (int e = 0; e < window.count; ++e) {
    const Point2 &from = window.points[e], &to = window.points[(e + 1) % window.count];
    const double ex = to.x - from.x, ey = to.y - from.y, length = std::sqrt(ex * ex + ey * ey);
    if (!(length > 0)) continue;
    const double hp = cross(ex, ey, p.x - from.x, p.y - from.y) / length, hq = cross(ex, ey, q.x - from.x, q.y - from.y) / length;
    if (hp < -tolerance && hq < -tolerance) return false;
    if (hp >= -tolerance && hq >= -tolerance) continue;
    const double s = std::clamp(hp / (hp - hq), 0.0, 1.0);
    const Point2 at{p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), from.label | 0x4000};
    (hp < hq ? p : q) = at;
  }
  return true;
}

/// The stretch that two nearly parallel segments share; none where they cross.
bool shared_stretch(const SurfacePatch& a, const SurfacePatch& b, const View& view, Polygon2& out) {
  const Point2 p = view.see(a.points[0], 0), q = view.see(a.points[1], 1), r = view.see(b.points[0], 0),
               s = view.see(b.points[1], 1);
  const double dx = q.x - p.x, dy = q.y - p.y, ex = s.x - r.x, ey = s.y - r.y;
  const double length = std::hypot(dx, dy), other = std::hypot(ex, ey);
  if (!(length > 0) || std::abs(cross(dx, dy, ex, ey)) > 0.05 * length * other) return false;
  double t0 = ((r.x - p.x) * dx + (r.y - p.y) * dy) / (length * length),
         t1 = ((s.x - p.x) * dx + (s.y - p.y) * dy) / (length * length);
  std::uint32_t l0 = of_b, l1 = of_b | 1;
  if (t0 > t1) std::swap(t0, t1), std::swap(l0, l1);
  if (t0 < 0) t0 = 0, l0 = 0;
  if (t1 > 1) t1 = 1, l1 = 1;
  if (t0 > t1) return false;
  out.add({p.x + t0 * dx, p.y + t0 * dy, l0});
  out.add({p.x + t1 * dx, p.y + t1 * dy, l1});
  return true;
}

}  // namespace

void clip_patches(const Convex& a, const Convex& b, const Frame& X_AB, const Separation& s, double margin, bool with_deepest,
                  CandidateList& out) {
  out.count = 0;
  SurfacePatch patch_a, patch_b;
  surface_patch(a, s.normal, patch_a);
  if (patch_a.count > 0) surface_patch(b, -(X_AB.R.transpose() * s.normal), patch_b);

  double extent = 0, deepest = infinity;
  if (patch_a.count > 1 && patch_b.count > 1) {
    for (int i = 0; i < patch_b.count; ++i) patch_b.points[i] = X_AB * patch_b.points[i];
    patch_b.normal = X_AB.R * patch_b.normal;
    View view{s.on_a, any_normal_to(s.normal), Vec3::Zero(), s.normal};
    view.b = s.normal.cross(view.t);
    const auto extent_of = [](const SurfacePatch& patch) {
      double most = 0;
      for (int i = 1; i < patch.count; ++i) most = std::max(most, (patch.points[i] - patch.points[0]).cwiseAbs().maxCoeff());
      return most;
    };
    extent = std::min(extent_of(patch_a), extent_of(patch_b));
    const double tolerance = 1e-9 * extent;

    const Lift on_a(patch_a, view), on_b(patch_b, view);
    Polygon2 first, second, window;
    const Polygon2* result = &first;
    if (!on_a.degenerate() && !on_b.degenerate()) {
      if (patch_a.count > 2 && patch_b.count > 2) {
        see(patch_a, view, false, 0, first);
        see(patch_b, view, true, of_b, window);
        result = &cut(first, second, window, tolerance);
      } else if (patch_a.count == 2 && patch_b.count == 2) {
        shared_stretch(patch_a, patch_b, view, first);
      } else {
        const bool a_is_line = patch_a.count == 2;
        const SurfacePatch& line = a_is_line ? patch_a : patch_b;
        if (a_is_line) {
          see(patch_b, view, true, of_b, window);
        } else {
          see(patch_a, view, false, 0, window);
        }
        Point2 p = view.see(line.points[0], 0), q = view.see(line.points[1], 1);
        if (cut_segment(p, q, window, tolerance)) first.add(p), first.add(q);
      }
    }
    const Polygon2& shared = *result;
    for (int i = 0; i < shared.count; ++i) {
      const Point2& p = shared.points[i];
      Candidate& c = out.items[out.count];
      c.x = p.x, c.y = p.y;
      c.point.on_a = on_a(p.x, p.y);
      c.point.on_b = on_b(p.x, p.y);
      c.point.gap = s.normal.dot(c.point.on_b - c.point.on_a);
      const std::uint32_t before = shared.points[i > 0 ? i - 1 : shared.count - 1].label;
      c.point.feature = shared.count > 2 ? before << 16 | p.label : p.label;
      if (c.point.gap > margin) continue;
      deepest = std::min(deepest, c.point.gap);
      ++out.count;
    }
  }

  if (!with_deepest || deepest <= s.gap + 1e-7 * extent) return;
  // It stands in for candidates beside it.
  int kept = 0;
  for (int i = 0; i < out.count; ++i)
    if (std::hypot(out.items[i].x, out.items[i].y) > 0.05 * extent) out.items[kept++] = out.items[i];
  out.items[kept] = {{s.on_a, s.on_b, s.gap, deepest_feature}, 0, 0};
  out.count = kept + 1;
}

void keep_four(const Candidate* items, int count, const Frame& X, Manifold& out) {
  std::array<int, 4> kept;
  out.count = pick_four(
      count, [&](int i) { return items[i].x; }, [&](int i) { return items[i].y; }, [&](int i) { return items[i].point.gap; },
      kept);
  for (int i = 0; i < out.count; ++i) {
    const ContactPoint& p = items[kept[i]].point;
    out.points[i] = {X * p.on_a, X * p.on_b, p.gap, p.feature};
  }
}

}  // namespace rotule
