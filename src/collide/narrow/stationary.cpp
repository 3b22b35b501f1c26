#include "collide/narrow/stationary.h"

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

using Kind = Convex::Kind;

constexpr int most_newton_rounds = 8;
constexpr double rounding = 1e-11;  // of the size of A - B
constexpr double facing = 0.8;      // cosine up to which a flat face is tried

bool is_curved(const Convex& s) { return s.kind == Kind::cylinder || s.kind == Kind::cone || s.kind == Kind::ellipsoid; }

/// Second derivative of the core's support function at the unit vector d, where its support is p.
Mat3 bend_of(const Convex& s, const Vec3& d, const Vec3& p) {
  if (s.kind == Kind::ellipsoid) {
    const double height = d.dot(p);
    return (Mat3(s.size.cwiseAbs2().asDiagonal()) - p * p.transpose()) / height;
  }
  const bool apex = s.kind == Kind::cone && p.z() > 0;
  const double square = d.x() * d.x() + d.y() * d.y();
  if (!is_curved(s) || apex || !(square > 0)) return Mat3::Zero();
  const Vec3 t(-d.y(), d.x(), 0);
  return (s.size.x() / (square * std::sqrt(square))) * t * t.transpose();
}

/// One of the two shapes, placed in A's frame. It faces along `sign` n.
struct Side {
  const Convex& shape;
  Mat3 R;
  Vec3 p;
  double sign;
  bool edge = false;  // contact is along an edge or a straight side
  Vec3 along = Vec3::Zero(), from = Vec3::Zero(), to = Vec3::Zero();

  [[nodiscard]] Vec3 local(const Vec3& n) const { return sign * (R.transpose() * n); }
  [[nodiscard]] Vec3 support(const Vec3& n) const { return p + R * core_support(shape, local(n)); }

  /// Takes note of the edge between two of the points; false where they tell of something else.
  bool look_at(const std::array<Vec3, 4>& points, int count) {
    if (shape.kind == Kind::cone || shape.kind == Kind::ellipsoid || shape.kind == Kind::sphere) return true;
    if (shape.kind == Kind::cylinder) {
      double low = infinity, high = -infinity;
      for (int i = 0; i < count; ++i) {
        const double z = R.col(2).dot(points[i] - p);
        low = std::min(low, z), high = std::max(high, z);
      }
      edge = high - low > shape.size.z();
      along = R.col(2);
      return true;
    }
    for (int i = 1; i < count; ++i) {
      if (points[i] == points[0] || (edge && points[i] == to)) continue;
      if (edge) return false;  // three corners: a face
      edge = true;
      from = points[0], to = points[i];
      along = (to - from).normalized();
    }
    return true;
  }

  /// The ends of the edge for a direction n that is normal to it.
  void ends(const Vec3& n, Vec3& first, Vec3& second) const {
    first = from, second = to;
    if (shape.kind != Kind::cylinder) return;
    const Vec3 d = local(n);
    const Vec3 rim = shape.size.x() * Vec3(d.x(), d.y(), 0).normalized();
    first = p + R * (rim - Vec3(0, 0, shape.size.z()));
    second = p + R * (rim + Vec3(0, 0, shape.size.z()));
  }

  /// The flat face whose outward normal is nearest to n, as the direction n that fits it; false where there is none near.
  bool face(const Vec3& n, Vec3& fitting, int& which) const {
    const Vec3 d = local(n);
    Vec3 outward;
    if (shape.kind == Kind::box) {
      d.cwiseAbs().maxCoeff(&which);
      outward = std::copysign(1.0, d[which]) * Vec3::Unit(which);
    } else if (shape.kind == Kind::cylinder || (shape.kind == Kind::cone && d.z() < 0)) {
      outward = {0, 0, std::copysign(1.0, d.z())};
    } else if (shape.kind == Kind::hull) {
      which = shape.hull->support_face(d);
      outward = shape.hull->faces[which].normal;
    } else {
      return false;
    }
    fitting = sign * (R * outward);
    return outward.dot(d) > facing;
  }

  /// Whether a point is over that face.
  [[nodiscard]] bool over_face(const Vec3& point, int which) const {
    const Vec3 q = R.transpose() * (point - p);
    if (shape.kind == Kind::box) {
      for (int k = 0; k < 3; ++k)
        if (k != which && std::abs(q[k]) > shape.size[k]) return false;
      return true;
    }
    if (shape.kind != Kind::hull) return q.x() * q.x() + q.y() * q.y() <= shape.size.x() * shape.size.x();
    const Hull& hull = *shape.hull;
    const Hull::Face& f = hull.faces[which];
    const int* const corners = hull.face_vertices.data() + f.first;
    for (int i = 0; i < f.count; ++i) {
      const Vec3& from_here = hull.vertices[corners[i]];
      const Vec3 side = hull.vertices[corners[i + 1 < f.count ? i + 1 : 0]] - from_here;
      if (f.normal.dot(side.cross(q - from_here)) < 0) return false;
    }
    return true;
  }
};

class Search {
 public:
  Search(const Convex& a, const Convex& b, const Frame& X) : a_{a, Mat3::Identity(), Vec3::Zero(), 1}, b_{b, X.R, X.p, -1} {}

  bool run(const Simplex& near, const Vec3& n, double limit, StationaryDirection& out) {
    for (int i = 0; i < near.count; ++i) size_ = std::max(size_, near.w[i].cwiseAbs().maxCoeff());
    if (flat(a_, b_, n, out) && out.height <= limit) return true;
    if (flat(b_, a_, n, out) && out.height <= limit) return true;
    if (!a_.look_at(near.a, near.count) || !b_.look_at(near.b, near.count)) return false;
    const bool found = a_.edge && b_.edge ? both_edges(n, out) : (a_.edge || b_.edge ? one_edge(n, out) : smooth(n, out));
    return found && out.height <= limit;
  }

 private:
  /// True where no support point reaches farther along n: the features looked at are those that matter.
  [[nodiscard]] bool is_support(const Vec3& n, double height) const {
    return n.dot(a_.support(n) - b_.support(n)) <= height + 100 * rounding * size_;
  }

  /// A flat face of one against a point of the other.
  bool flat(const Side& one, const Side& other, const Vec3& n, StationaryDirection& out) const {
    int which = 0;
    Vec3 fitting;
    if (!one.face(n, fitting, which)) return false;
    const Vec3 point = other.support(fitting);
    if (!one.over_face(point, which)) return false;
    const Vec3 corner = one.support(fitting);
    const double height = one.sign * fitting.dot(corner - point);
    const Vec3 foot = point + (one.sign * height) * fitting;
    out = {fitting, height, one.sign > 0 ? foot : point, one.sign > 0 ? point : foot, Vec3::Zero(), Vec3::Zero()};
    return true;
  }

  bool both_edges(const Vec3& n, StationaryDirection& out) const {
    Vec3 normal = a_.along.cross(b_.along);
    const double sine = normal.norm();
    if (sine < 1e-6) return false;
    normal /= normal.dot(n) < 0 ? -sine : sine;
    Vec3 p0, p1, q0, q1;
    a_.ends(normal, p0, p1);
    b_.ends(normal, q0, q1);
    // p0 + s u - q0 - t v is to be along the normal.
    const Vec3 u = p1 - p0, v = q1 - q0, r = p0 - q0;
    const double whole = normal.dot(u.cross(v));
    const double s = -normal.dot(r.cross(v)) / whole, t = -normal.dot(r.cross(u)) / whole;
    if (!(s >= 0 && s <= 1 && t >= 0 && t <= 1)) return false;
    out = {normal, normal.dot(r), p0 + s * u, q0 + t * v, (a_.along + b_.along).normalized(), (a_.along - b_.along).normalized()};
    return is_support(normal, out.height);
  }

  bool one_edge(Vec3 n, StationaryDirection& out) const {
    const Side &one = a_.edge ? a_ : b_, &other = a_.edge ? b_ : a_;
    const Vec3& c = one.along;
    n -= c.dot(n) * c;
    if (!(n.squaredNorm() > 1e-4)) return false;
    n.normalize();
    for (int round = 0; round < most_newton_rounds; ++round) {
      const Vec3 t = c.cross(n);
      Vec3 e0, e1;
      one.ends(n, e0, e1);
      const Vec3 point = other.support(n), w = one.sign * (e0 - point);
      const double height = n.dot(w), slope = t.dot(w);
      if (std::abs(slope) <= rounding * size_) {
        const Vec3 u = e1 - e0;
        const double s = c.dot(point - e0) / c.dot(u);
        if (!(s >= 0 && s <= 1)) return false;
        const Vec3 on_edge = e0 + s * u;
        out = {n,
               height,
               one.sign > 0 ? on_edge : point,
               one.sign > 0 ? point : on_edge,
               (t + c).normalized(),
               (t - c).normalized()};
        return is_support(n, height);
      }
      const double bend = curvature(one, n, e0, t) + curvature(other, n, point, t) - height;
      if (!(bend > 0)) return false;
      n = (n - std::clamp(slope / bend, -0.5, 0.5) * t).normalized();
    }
    return false;
  }

  bool smooth(Vec3 n, StationaryDirection& out) const {
    for (int round = 0; round < most_newton_rounds; ++round) {
      const Vec3 p = a_.support(n), q = b_.support(n), w = p - q;
      const Vec3 t = any_normal_to(n), u = n.cross(t);
      const double height = n.dot(w), gt = t.dot(w), gu = u.dot(w);
      const Mat3 bend = full_bend(a_, n, p) + full_bend(b_, n, q);
      const double tt = t.dot(bend * t) - height, uu = u.dot(bend * u) - height, tu = t.dot(bend * u), det = tt * uu - tu * tu;
      if (std::abs(gt) + std::abs(gu) <= rounding * size_) {
        const double angle = 0.5 * std::atan2(2 * tu, tt - uu), c = std::cos(angle), s = std::sin(angle);
        out = {n, height, p, q, c * t + s * u, c * u - s * t};
        return true;
      }
      if (!(tt > 0 && det > 0)) return false;
      double st = -(uu * gt - tu * gu) / det, su = -(tt * gu - tu * gt) / det;
      const double step = std::hypot(st, su);
      if (step > 0.5) st *= 0.5 / step, su *= 0.5 / step;
      n = (n + st * t + su * u).normalized();
    }
    return false;
  }

  /// In A's frame.
  [[nodiscard]] static Mat3 full_bend(const Side& s, const Vec3& n, const Vec3& point) {
    if (!is_curved(s.shape)) return Mat3::Zero();
    return s.R * bend_of(s.shape, s.local(n), s.R.transpose() * (point - s.p)) * s.R.transpose();
  }
  [[nodiscard]] static double curvature(const Side& s, const Vec3& n, const Vec3& point, const Vec3& t) {
    if (!is_curved(s.shape)) return 0;
    const Vec3 along = s.R.transpose() * t;
    return along.dot(bend_of(s.shape, s.local(n), s.R.transpose() * (point - s.p)) * along);
  }

  Side a_, b_;
  double size_ = 0;
};

}  // namespace

bool has_curvature(const Convex& a, const Convex& b) { return is_curved(a) || is_curved(b); }

bool stationary_direction(const Convex& a, const Convex& b, const Frame& X_AB, const Simplex& near, const Vec3& n, double limit,
                          StationaryDirection& out) {
  return Search(a, b, X_AB).run(near, n, limit, out);
}

}  // namespace rotule
