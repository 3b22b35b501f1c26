#include "collide/narrow/clip.h"

#include <algorithm>
#include <cmath>

#include "collide/narrow/patch_lever.h"
#include "collide/narrow/pick_four.h"
#include "collide/queries/ray.h"

namespace rotule {
namespace {

constexpr std::uint32_t of_b = 0x8000, deepest_feature = 0xffffffff, line_feature = 0x40000000;
constexpr double nearly_alongside = 0.5;  // cosine up to which two lines are seen as running the same way

/// An end of a line, apart from the edges that may cut it.
constexpr std::uint32_t end_feature(std::uint32_t label) { return (label & 0xfff) << 16 | (label & of_b) | 0x7fff; }

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

/// Back onto the plane of a polygon, along n.
struct LiftOntoFace {
  LiftOntoFace(const SurfacePatch& patch, const View& view)
      : view_(view), point_(patch.points[0]), normal_(patch.normal / patch.normal.dot(view.n)) {}
  [[nodiscard]] Vec3 operator()(double x, double y) const {
    const Vec3 flat = view_.at(x, y);
    return flat + normal_.dot(point_ - flat) * view_.n;
  }

 private:
  const View& view_;
  Vec3 point_, normal_;
};

/// A straight line on a surface: the side of something round, or the edge of a polyhedron; and how it is seen.
struct Line {
  bool found = false;
  Vec3 from, to;
  Point2 start{}, end{};
  double round_from = 0, round_to = 0;  // radii of the surface around it; zero for an edge

  void place(const Vec3& p, const Vec3& q, int label_p, int label_q, const View& view) {
    from = p, to = q;
    start = view.see(p, std::uint32_t(label_p)), end = view.see(q, std::uint32_t(label_q));
    // Seen along itself it is a point.
    const double dx = end.x - start.x, dy = end.y - start.y;
    found = dx * dx + dy * dy > 1e-20 * (q - p).squaredNorm();
  }
  /// The place of (x, y), which is on the line or beside it, as a share of the line.
  [[nodiscard]] double share(double x, double y) const {
    const double dx = end.x - start.x, dy = end.y - start.y;
    return std::clamp(((x - start.x) * dx + (y - start.y) * dy) / (dx * dx + dy * dy), 0.0, 1.0);
  }
  [[nodiscard]] Vec3 at(double s) const { return from + s * (to - from); }
  [[nodiscard]] double roundness(double s) const { return round_from + s * (round_to - round_from); }
};

/// All of one shape that may touch along the normal, in A's frame.
struct Facing {
  const Convex& shape;
  const Frame X;
  SurfacePatch patch;
  Line line;

  /// `n`: out of the shape.
  void look(const Vec3& n, const View& view) {
    const Vec3 local = X.R.transpose() * n;
    for (int i = 0; i < patch.count; ++i) patch.points[i] = X * patch.points[i];
    patch.normal = X.R * patch.normal;
    if (patch.count == 2) {
      line.place(patch.points[0], patch.points[1], patch.labels[0], patch.labels[1], view);
      const bool cone = shape.kind == Convex::Kind::cone;
      line.round_from = shape.kind == Convex::Kind::capsule ? shape.radius : shape.size.x();
      line.round_to = cone ? 0 : line.round_from;
    } else if (const SurfaceEdge edge = surface_edge(shape, local); edge.found) {
      line.place(X * edge.from, X * edge.to, edge.label_from, edge.label_to, view);
    }
  }
  [[nodiscard]] bool is_face() const { return patch.count > 2; }
  [[nodiscard]] bool is_disc() const {
    return is_face() && (shape.kind == Convex::Kind::cylinder || shape.kind == Convex::Kind::cone);
  }
  [[nodiscard]] double extent() const {
    double most = line.found ? (line.to - line.from).cwiseAbs().maxCoeff() : 0;
    for (int i = 1; i < patch.count; ++i) most = std::max(most, (patch.points[i] - patch.points[0]).cwiseAbs().maxCoeff());
    return most;
  }
  /// The point of the surface that is first met from outside, against n, at a place of the view. False where there is none.
  bool lift(const Vec3& place, const Vec3& n, Vec3& out) const {
    const Vec3 here = X.to_local(place), outward = X.R.transpose() * n;
    const double far = reach(shape, here);
    RayHit hit;
    if (!ray_convex(shape, here + far * outward, -outward, 2 * far, hit)) return false;
    out = place + (far - hit.t) * n;
    return true;
  }
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
    const Point2 at{p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), (p.label & 0xfff0000) | from.label};
    (hp < hq ? p : q) = at;
  }
  return true;
}

/// Whether what is left is the window itself: each of its corners is there.
bool covers(const Polygon2& window, const Polygon2& shared) {
  if (shared.count != window.count) return false;
  return std::all_of(shared.points.begin(), shared.points.begin() + shared.count,
                     [](const Point2& p) { return (p.label & of_b) != 0; });
}

/// Takes candidates, but none twice.
class Collector {
 public:
  Collector(const Separation& s, double margin, double same, CandidateList& out)
      : s_(s), margin_(margin), same_(same), out_(out) {}
  void add(double x, double y, const Vec3& on_a, const Vec3& on_b, std::uint32_t feature) {
    const double gap = s_.normal.dot(on_b - on_a);
    if (gap > margin_ || out_.count == CandidateList::capacity) return;
    for (int i = 0; i < out_.count; ++i)
      if (std::abs(out_.items[i].x - x) <= same_ && std::abs(out_.items[i].y - y) <= same_) return;
    deepest_ = std::min(deepest_, gap);
    out_.items[out_.count++] = {{on_a, on_b, gap, feature}, x, y};
  }
  [[nodiscard]] double deepest() const { return deepest_; }
  void set_lever(double lever) { out_.lever = lever; }

 private:
  const Separation& s_;
  double margin_, same_, deepest_ = infinity;
  CandidateList& out_;
};

/// Two faces: the corners of what they share.
void face_on_face(const Facing& a, const Facing& b, const View& view, double tolerance, Collector& found) {
  Polygon2 first, second, window;
  see(a.patch, view, false, 0, first);
  see(b.patch, view, true, of_b, window);
  const Polygon2& shared = cut(first, second, window, tolerance);
  // A whole round face within the other's is more than its corners.
  if (&shared == &first && a.is_disc()) found.set_lever(2 * a.shape.size.x() / 3);
  if (b.is_disc() && covers(window, shared)) found.set_lever(2 * b.shape.size.x() / 3);
  const LiftOntoFace on_a(a.patch, view), on_b(b.patch, view);
  for (int i = 0; i < shared.count; ++i) {
    const Point2& p = shared.points[i];
    const std::uint32_t before = shared.points[i > 0 ? i - 1 : shared.count - 1].label;
    found.add(p.x, p.y, on_a(p.x, p.y), on_b(p.x, p.y), before << 16 | p.label);
  }
}

/// A line over a face: the ends of the stretch above it.
void line_on_face(const Line& line, const Facing& face, bool line_of_a, const View& view, double tolerance, Collector& found) {
  Polygon2 window;
  see(face.patch, view, line_of_a, line_of_a ? of_b : 0, window);
  Point2 p = line.start, q = line.end;
  p.label = end_feature(p.label), q.label = end_feature(q.label);
  if (!cut_segment(p, q, window, tolerance)) return;
  const LiftOntoFace lift(face.patch, view);
  for (const Point2& at : {p, q}) {
    const Vec3 on_line = line.at(line.share(at.x, at.y)), on_face = lift(at.x, at.y);
    const std::uint32_t feature = line_feature | (line_of_a ? 1u : 2u) << 28 | at.label;
    found.add(at.x, at.y, line_of_a ? on_line : on_face, line_of_a ? on_face : on_line, feature);
  }
}

/// Two lines that run nearly the same way: the ends of the stretch along which they are near each other. Where they cross in the
/// view, what is round or falls away on both sides of an edge opens a gap between them, so the points are lifted onto the
/// surfaces themselves at one place of the view: on the edge if one is an edge, else between the lines.
void line_on_line(const Facing& a, const Facing& b, const View& view, double same, Collector& found) {
  const Line &la = a.line, &lb = b.line;
  const double dx = la.end.x - la.start.x, dy = la.end.y - la.start.y, ex = lb.end.x - lb.start.x, ey = lb.end.y - lb.start.y;
  const double square = dx * dx + dy * dy, along = dx * ex + dy * ey, length = std::sqrt(square);
  if (!(std::abs(along) > nearly_alongside * length * std::hypot(ex, ey))) return;
  // Shares of A's line; B's line at the same length along it is `other`, and `aside` of it.
  const auto share_of = [&](const Point2& p) { return ((p.x - la.start.x) * dx + (p.y - la.start.y) * dy) / square; };
  const double b0 = share_of(lb.start), b1 = share_of(lb.end);
  const auto other = [&](double t) { return std::clamp((t - b0) / (b1 - b0), 0.0, 1.0); };
  double low = std::max(0.0, std::min(b0, b1)), high = std::min(1.0, std::max(b0, b1));
  std::uint32_t low_label = end_feature(low > 0 ? of_b | (b0 < b1 ? lb.start : lb.end).label : la.start.label);
  std::uint32_t high_label = end_feature(high < 1 ? of_b | (b0 < b1 ? lb.end : lb.start).label : la.end.label);
  const auto aside = [&](double t) {
    const double u = other(t), x = lb.start.x + u * ex - (la.start.x + t * dx), y = lb.start.y + u * ey - (la.start.y + t * dy);
    return cross(dx, dy, x, y) / length;
  };
  const auto round = [&](double t) { return la.roundness(t) + lb.roundness(other(t)); };
  if (!(low < high)) return;
  // Beside something round by more than half its radius there is no contact: cut off where that begins.
  if (round(0.5 * (low + high)) > 0) {
    const double y0 = aside(low), y1 = aside(high), r0 = 0.5 * round(low), r1 = 0.5 * round(high);
    double first = 0, last = 1;
    for (const double side : {1.0, -1.0}) {
      const double over0 = side * y0 - r0, over1 = side * y1 - r1;
      if (over0 > 0 && over1 > 0) return;
      if (over0 > 0) first = std::max(first, over0 / (over0 - over1));
      if (over1 > 0) last = std::min(last, over0 / (over0 - over1));
    }
    if (first > last) return;
    const double stretch = high - low;
    high = low + last * stretch;
    low += first * stretch;
  }
  const bool on_a_line = la.round_from == 0 && b.shape.kind != Convex::Kind::triangle,
             on_b_line = !on_a_line && lb.round_from == 0;
  const double middle = 0.5 * (low + high);
  for (const bool upper : {false, true}) {
    const double t = upper ? high : low, u = other(t), ra = la.roundness(t), rb = lb.roundness(u);
    const double ax = la.start.x + t * dx, ay = la.start.y + t * dy, bx = lb.start.x + u * ex, by = lb.start.y + u * ey;
    const double mix = on_a_line ? 0 : (on_b_line ? 1 : (ra + rb > 0 ? ra / (ra + rb) : 0.5));
    const double x = ax + mix * (bx - ax), y = ay + mix * (by - ay);
    Vec3 on_a = la.at(t), on_b = lb.at(u);
    if (std::hypot(bx - ax, by - ay) > same) {
      // A little inwards, so that rays at the very end do not miss.
      const double inwards = 1e-9 * (middle - t);
      const Vec3 place = view.at(x + inwards * dx, y + inwards * dy);
      if (!on_a_line && !a.lift(place, view.n, on_a)) continue;
      if (!on_b_line && !b.lift(place, -view.n, on_b)) continue;
    }
    found.add(x, y, on_a, on_b, line_feature | 3u << 28 | (upper ? high_label : low_label));
  }
}

}  // namespace

void clip_patches(const Convex& a, const Convex& b, const Frame& X_AB, const Separation& s, double margin, bool with_deepest,
                  CandidateList& out) {
  out.count = 0;
  out.lever = 0;
  Facing side_a{a, Frame{}, {}, {}}, side_b{b, X_AB, {}, {}};
  double extent = 0, deepest = infinity;
  // Something round on all sides touches in one point.
  const auto is_point = [](const Convex& c) { return c.kind == Convex::Kind::sphere || c.kind == Convex::Kind::ellipsoid; };
  if (!is_point(a) && !is_point(b)) {
    View view{s.on_a, any_normal_to(s.normal), Vec3::Zero(), s.normal};
    view.b = s.normal.cross(view.t);
    surface_patch(a, s.normal, side_a.patch);
    surface_patch(b, -(X_AB.R.transpose() * s.normal), side_b.patch);
    side_a.look(s.normal, view);
    side_b.look(-s.normal, view);
    extent = std::min(side_a.extent(), side_b.extent());
    const double tolerance = 1e-9 * extent, same = 1e-6 * extent;
    Collector found(s, margin, same, out);
    if (side_a.is_face() && side_b.is_face()) face_on_face(side_a, side_b, view, tolerance, found);
    if (side_a.line.found && side_b.is_face()) line_on_face(side_a.line, side_b, true, view, tolerance, found);
    if (side_a.is_face() && side_b.line.found) line_on_face(side_b.line, side_a, false, view, tolerance, found);
    if (side_a.line.found && side_b.line.found) line_on_line(side_a, side_b, view, same, found);
    deepest = found.deepest();
  }

  if (!with_deepest || deepest <= s.gap + 1e-9 * extent) return;
  // It stands in for candidates right beside it.
  int kept = 0;
  for (int i = 0; i < out.count; ++i)
    if (std::hypot(out.items[i].x, out.items[i].y) > 1e-3 * extent) out.items[kept++] = out.items[i];
  out.items[kept] = {{s.on_a, s.on_b, s.gap, deepest_feature}, 0, 0};
  out.count = kept + 1;
}

void keep_four(const Candidate* items, int count, double lever, const Frame& X, Manifold& out) {
  out.lever = lever;
  if (lever == 0 && count > 4) {
    std::array<PatchPoint, 64> points;
    const int seen = std::min(count, int(points.size()));
    double low = infinity, high = -infinity, extent = 0;
    for (int i = 0; i < seen; ++i) {
      points[i] = {items[i].x, items[i].y};
      low = std::min(low, items[i].point.gap), high = std::max(high, items[i].point.gap);
      extent = std::max({extent, std::abs(items[i].x - items[0].x), std::abs(items[i].y - items[0].y)});
    }
    if (high - low <= flat_patch * extent) out.lever = patch_lever(points.data(), seen).lever;
  }
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
