#include "collide/narrow/epa.h"

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

constexpr int most_points = 128, most_faces = 2 * most_points, most_dives = 8;

struct Face {
  std::array<int, 3> point;   // counter-clockwise seen from outside
  std::array<int, 3> across;  // face across the edge from point k to k + 1
  Vec3 normal;
  int mark;
};

class Polytope {
 public:
  explicit Polytope(Difference& difference) : difference_(difference) {}

  bool start(const Simplex& simplex);
  CoreDepth expand(const DepthNear& near);
  [[nodiscard]] CoreDepth flat_result(const Simplex& simplex) const;

 private:
  int add_point(const Vec3& w) {
    w_[points_] = w;
    a_[points_] = difference_.on_a;
    b_[points_] = difference_.on_b;
    scale_ = std::max(scale_, w.cwiseAbs().maxCoeff());
    return points_++;
  }
  int add_face(int i, int j, int k);
  bool grow(const Vec3& direction, const Vec3& away_from, const Vec3& measure);
  bool replace_visible(int seed, int point);
  [[nodiscard]] Simplex corners_of(const std::array<int, 3>& points) const;
  bool settle(const Simplex& near, const Vec3& direction, CoreDepth& best);
  bool include(const Vec3& w);
  bool surround(const CoreDepth& best);
  bool dive(const Vec3& direction, CoreDepth& best);

  Difference& difference_;
  std::array<Vec3, most_points> w_, a_, b_;
  std::array<Face, most_faces> faces_;
  std::array<double, most_faces> offset_;  // of each face from the origin; infinite where there is no face any more
  std::array<int, most_faces> free_;
  std::array<int, most_points> link_{};  // the round in which a hole's border began at the point
  int points_ = 0, faces_used_ = 0, free_count_ = 0, round_ = 0;
  double scale_ = 0;
  StationaryDirection settled_at_;
  Vec3 flat_normal_ = Vec3::UnitZ();
};

int Polytope::add_face(int i, int j, int k) {
  const Vec3 cross = (w_[j] - w_[i]).cross(w_[k] - w_[i]);
  const double area = cross.norm();
  if (!(area > 1e-30 * scale_ * scale_)) return -1;
  if (free_count_ == 0 && faces_used_ == most_faces) return -1;
  const int f = free_count_ > 0 ? free_[--free_count_] : faces_used_++;
  const Vec3 normal = cross / area;
  // The mean of the three corners' offsets: they differ by rounding only.
  faces_[f] = {{i, j, k}, {-1, -1, -1}, normal, 0};
  offset_[f] = normal.dot(w_[i] + w_[j] + w_[k]) / 3;
  return f;
}

/// Adds the support point along +-direction if it is off by more than rounding along `measure`.
bool Polytope::grow(const Vec3& direction, const Vec3& away_from, const Vec3& measure) {
  for (const double sign : {1.0, -1.0}) {
    const Vec3 w = difference_.support(sign * direction);
    const double size = std::max(scale_, w.cwiseAbs().maxCoeff());
    if (std::abs(measure.dot(w - away_from)) > 1e-12 * size) {
      add_point(w);
      return true;
    }
  }
  return false;
}

/// A tetrahedron from GJK's simplex; false where the difference has no volume.
bool Polytope::start(const Simplex& simplex) {
  for (int i = 0; i < simplex.count; ++i) {
    difference_.on_a = simplex.a[i];
    difference_.on_b = simplex.b[i];
    add_point(simplex.w[i]);
  }
  if (points_ == 1) {
    bool grown = false;
    for (int k = 0; k < 3 && !grown; ++k) grown = grow(Vec3::Unit(k), w_[0], Vec3::Unit(k));
    if (!grown) return false;
  }
  if (points_ == 2) {
    const Vec3 along = (w_[1] - w_[0]).normalized(), u = any_normal_to(along), v = along.cross(u);
    flat_normal_ = u;
    if (!grow(u, w_[0], u) && !grow(v, w_[0], v)) return false;
  }
  if (points_ == 3) {
    const Vec3 n = (w_[1] - w_[0]).cross(w_[2] - w_[0]).normalized();
    flat_normal_ = n;
    if (!n.allFinite() || !grow(n, w_[0], n)) return false;
  }
  const double volume = (w_[1] - w_[0]).dot((w_[2] - w_[0]).cross(w_[3] - w_[0]));
  if (!(std::abs(volume) > 0)) return false;
  if (volume > 0) std::swap(w_[0], w_[1]), std::swap(a_[0], a_[1]), std::swap(b_[0], b_[1]);
  // Now 0, 1, 2 is counter-clockwise seen from outside.
  const int f0 = add_face(0, 1, 2), f1 = add_face(0, 3, 1), f2 = add_face(1, 3, 2), f3 = add_face(2, 3, 0);
  if (f0 < 0 || f1 < 0 || f2 < 0 || f3 < 0) return false;
  faces_[f0].across = {f1, f2, f3};
  faces_[f1].across = {f3, f2, f0};
  faces_[f2].across = {f1, f3, f0};
  faces_[f3].across = {f2, f1, f0};
  return true;
}

/// Removes the faces that the new point sees, in one connected piece, and closes the hole with a fan around the point. False
/// where rounding makes the hole no simple loop: the polytope must not be used any more then.
bool Polytope::replace_visible(int seed, int point) {
  struct Border {
    int to, outside, edge;  // where the edge ends, the face behind it, and which edge of that face it is
  };
  std::array<Border, most_points> border;  // by the point where the edge begins
  std::array<int, most_faces> visible;
  int seen = 0, borders = 0, at = -1;
  ++round_;
  faces_[seed].mark = round_;
  visible[seen++] = seed;
  for (int n = 0; n < seen; ++n) {
    const Face& face = faces_[visible[n]];
    for (int k = 0; k < 3; ++k) {
      const int beyond = face.across[k];
      Face& next = faces_[beyond];
      if (next.mark == round_) continue;
      if (next.normal.dot(w_[point] - w_[next.point[0]]) > 1e-14 * scale_) {
        next.mark = round_;
        visible[seen++] = beyond;
      }
    }
  }
  for (int n = 0; n < seen; ++n) {
    const int f = visible[n];
    for (int k = 0; k < 3; ++k) {
      const int beyond = faces_[f].across[k];
      if (faces_[beyond].mark == round_) continue;
      at = faces_[f].point[k];
      const std::array<int, 3>& across = faces_[beyond].across;
      border[at] = {faces_[f].point[k == 2 ? 0 : k + 1], beyond, across[0] == f ? 0 : (across[1] == f ? 1 : 2)};
      link_[at] = round_;
      ++borders;
    }
  }
  for (int n = 0; n < seen; ++n) {
    offset_[visible[n]] = infinity;
    free_[free_count_++] = visible[n];
  }

  // Around the hole, building the fan as it goes.
  if (borders < 3) return false;
  int first = -1, last = -1;
  const int begin = at;
  for (int n = 0; n < borders; ++n) {
    if (link_[at] != round_) return false;
    link_[at] = 0;
    const Border edge = border[at];
    const int f = add_face(at, edge.to, point);
    if (f < 0) return false;
    faces_[f].across[0] = edge.outside;
    faces_[edge.outside].across[edge.edge] = f;
    if (last >= 0) {
      faces_[f].across[2] = last;
      faces_[last].across[1] = f;
    } else {
      first = f;
    }
    last = f;
    at = edge.to;
  }
  if (at != begin) return false;
  faces_[first].across[2] = last;
  faces_[last].across[1] = first;
  return true;
}

Simplex Polytope::corners_of(const std::array<int, 3>& points) const {
  Simplex corners;
  for (const int i : points) {
    corners.w[corners.count] = w_[i];
    corners.a[corners.count] = a_[i];
    corners.b[corners.count++] = b_[i];
  }
  return corners;
}

CoreDepth Polytope::expand(const DepthNear& near) {
  CoreDepth best;
  best.depth = infinity;
  std::array<int, 3> best_corners{};
  const bool curved = has_curvature(difference_.a, difference_.b);
  bool settled = near.found;
  if (settled) {
    settled_at_ = near.minimum;
    best = {settled_at_.normal, settled_at_.height, settled_at_.on_a, settled_at_.on_b};
  }
  bool whole = !settled || surround(best);
  while (whole) {
    int nearest = 0;
    for (int f = 1; f < faces_used_; ++f) nearest = offset_[f] < offset_[nearest] ? f : nearest;
    const double offset = offset_[nearest];
    // What is settled is a minimum up to rounding: others can hide only within a small angle of it, and are no better there.
    const double tolerance = 1e-10 * scale_;
    if (offset >= best.depth - (settled ? slack_below(best.depth, scale_) : tolerance)) break;
    const Vec3 normal = faces_[nearest].normal, w = difference_.support(normal);
    const double depth = normal.dot(w);
    if (depth < best.depth) {
      best.normal = normal;
      best.depth = depth;
      best_corners = faces_[nearest].point;
      settled = curved && depth - offset < 0.2 * scale_ && settle(corners_of(best_corners), normal, best);
      if (settled) {
        if (is_least(difference_, settled_at_)) return best;
        whole = surround(best);
        continue;
      }
    }
    if (depth - offset <= tolerance || points_ == most_points) break;
    whole = replace_visible(nearest, add_point(w));
  }
  if (settled) return best;
  // Round shapes about one axis are equally deep all around, and room runs out before any one place is found sharply.
  bool dived = false;
  if (points_ == most_points && whole)
    for (int i = 0; i < most_dives && dive(best.normal, best); ++i) dived = true;
  if (dived) return best;
  // Faces in one plane share their distance; the points come from the one that the origin is before.
  double distance = infinity;
  const auto use_points = [&](const std::array<int, 3>& points) {
    Simplex corners = corners_of(points);
    const double other = reduce_to_nearest(corners).norm();
    if (other >= distance) return;
    distance = other;
    best.on_a = corners.on_a();
    best.on_b = corners.on_b();
  };
  use_points(best_corners);
  for (int f = 0; f < faces_used_ && whole; ++f)
    if (offset_[f] <= best.depth + 1e-9 * scale_) use_points(faces_[f].point);
  return best;
}

/// Goes from a direction with support points near it straight to the minimum there, if it is no deeper than the best.
bool Polytope::settle(const Simplex& near, const Vec3& direction, CoreDepth& best) {
  StationaryDirection& end = settled_at_;
  if (!stationary_direction(difference_.a, difference_.b, difference_.X_AB, near, direction, best.depth, end)) return false;
  if (end.height < 0) return false;
  best = {end.normal, end.height, end.on_a, end.on_b};
  return true;
}

/// Makes the difference's last point a corner of the polytope, unless it is inside already.
bool Polytope::include(const Vec3& w) {
  int seed = -1;
  double highest = 1e-9 * scale_;
  for (int f = 0; f < faces_used_; ++f) {
    const double height = faces_[f].normal.dot(w) - offset_[f];
    if (height > highest) highest = height, seed = f;
  }
  if (seed < 0 || points_ == most_points) return true;
  return replace_visible(seed, add_point(w));
}

/// Makes the point of a settled depth a corner, and support points of directions around its normal: near enough that the faces
/// between them are as far from the origin as is asked for.
bool Polytope::surround(const CoreDepth& best) {
  difference_.on_a = best.on_a;
  difference_.on_b = best.on_b;
  if (!include(best.on_a - best.on_b)) return false;
  if (settled_at_.first.isZero()) return true;
  const double angle = near_angle(best.depth, scale_);
  for (const Vec3& tangent : {settled_at_.first, settled_at_.second})
    for (const double side : {angle, -angle})
      if (!include(difference_.support(best.normal + side * tangent))) return false;
  return true;
}

/// Refines only where the ray from the origin along `direction` leaves the difference (the portal of G. Snethen, "XenoCollide",
/// 2008): the normal there is that of the surface itself. True if it betters the depth.
bool Polytope::dive(const Vec3& direction, CoreDepth& best) {
  std::array<Vec3, 3> w, a, b;
  bool found = false;
  for (int f = 0; f < faces_used_ && !found; ++f) {
    if (offset_[f] == infinity) continue;
    for (int k = 0; k < 3; ++k) w[k] = w_[faces_[f].point[k]], a[k] = a_[faces_[f].point[k]], b[k] = b_[faces_[f].point[k]];
    found = direction.dot(faces_[f].normal) > 0;
    for (int k = 0; k < 3 && found; ++k) found = direction.dot(w[k].cross(w[(k + 1) % 3])) >= 0;
  }
  if (!found) return false;
  const double before = best.depth;
  for (int round = 0; round < 60; ++round) {
    const Vec3 cross = (w[1] - w[0]).cross(w[2] - w[0]);
    const double area = cross.norm();
    if (!(area > 1e-14 * scale_ * scale_)) break;
    const Vec3 normal = cross / area, next = difference_.support(normal);
    const double depth = normal.dot(next);
    if (depth < best.depth) {
      Simplex corners{3, {w[0], w[1], w[2]}, {a[0], a[1], a[2]}, {b[0], b[1], b[2]}};
      reduce_to_nearest(corners);
      best = {normal, depth, corners.on_a(), corners.on_b()};
    }
    if (normal.dot(next - w[0]) <= 1e-11 * scale_) break;
    // Which of the three triangles around the new point the ray goes through.
    int out = -1;
    for (int k = 0; k < 3 && out < 0; ++k)
      if (direction.dot(next.cross(w[k])) >= 0 && direction.dot(next.cross(w[(k + 1) % 3])) <= 0) out = (k + 2) % 3;
    if (out < 0) break;
    w[out] = next, a[out] = difference_.on_a, b[out] = difference_.on_b;
  }
  return best.depth < before - 1e-12 * scale_;
}

CoreDepth Polytope::flat_result(const Simplex& simplex) const { return {flat_normal_, 0, simplex.on_a(), simplex.on_b()}; }

}  // namespace

CoreDepth core_depth(const Convex& a, const Convex& b, const Frame& X_AB, const Simplex& simplex, const DepthNear& near) {
  Difference difference{a, b, X_AB};
  Polytope polytope(difference);
  if (polytope.start(simplex)) return polytope.expand(near);
  CoreDepth flat = polytope.flat_result(simplex);
  // Towards B's centre, so that the same pose always gives the same side.
  if (flat.normal.dot(X_AB * center(b) - center(a)) < 0) flat.normal = -flat.normal;
  return flat;
}

}  // namespace rotule
