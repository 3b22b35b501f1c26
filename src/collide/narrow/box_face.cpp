#include "collide/narrow/box_face.h"

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

using Corner = FacePolygon::Corner;
constexpr std::array<int, 3> after{1, 2, 0};

/// Keeps what is below x = limit (or y, or their negatives). Corners are written always and counted where they are wanted: which
/// ones are is as good as random, and a wrong guess of a branch costs more than a division.
template <double Corner::*coordinate, int sign>
void cut(FacePolygon& in, FacePolygon& out, double limit, std::uint32_t label) {
  const auto height = [&](const Corner& c) { return limit - sign * (c.*coordinate); };
  int count = 0;
  in.at[in.count] = in.at[0];
  double hq = height(in.at[0]);
  for (int i = 0; i < in.count; ++i) {
    const Corner &p = in.at[i], &q = in.at[i + 1];
    const double hp = hq;
    hq = height(q);
    out.at[count] = p;
    count += hp >= 0;
    const double s = hp / (hp - hq);
    const std::uint32_t leaving = -std::uint32_t(hp >= 0);
    out.at[count] = {p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), p.gap + s * (q.gap - p.gap),
                     (label & leaving) | (p.label & ~leaving), 0};
    count += (hp >= 0) != (hq >= 0);
  }
  out.count = count;
}

/// Whether the part of the polygon with gaps up to `margin` lies between the sides, so that nothing is cut off it.
bool uncut(const FacePolygon& polygon, double x_limit, double y_limit, double margin) {
  bool inside = true;
  for (int c = 0; c < 4; ++c) {
    const Corner &p = polygon.at[c], &q = polygon.at[c < 3 ? c + 1 : 0];
    const bool near = p.gap <= margin, leaves = near != (q.gap <= margin);
    const double s = (margin - p.gap) / (q.gap - p.gap), x = p.x + s * (q.x - p.x), y = p.y + s * (q.y - p.y);
    inside &= (!near) | ((std::abs(p.x) <= x_limit) & (std::abs(p.y) <= y_limit));
    inside &= (!leaves) | ((std::abs(x) <= x_limit) & (std::abs(y) <= y_limit));
  }
  return inside;
}

int largest(const Vec3& v) {
  const double x = std::abs(v.x()), y = std::abs(v.y()), z = std::abs(v.z());
  const int first = y > x, third = z > (y > x ? y : x);
  return first + third * (2 - first);
}

}  // namespace

void box_face_points(const Vec3& reference, int k, const Vec3& normal, const Vec3& other, const Vec3& seen, const Frame& X,
                     double margin, FacePolygon& out) {
  const int i = after[k], j = after[i];
  // The face of the other box that looks back most, by its middle and its half edges.
  const double side = std::copysign(1.0, normal[k]), along = side / normal[k];
  const int m = largest(seen), m1 = after[m], m2 = after[m1];
  const double back = -std::copysign(1.0, seen[m]);
  const Vec3 middle = X.p + back * other[m] * X.R.col(m), u = other[m1] * X.R.col(m1), v = other[m2] * X.R.col(m2);

  FacePolygon spare;
  FacePolygon *polygon = &out, *next = &spare;
  const auto own = std::uint32_t((back > 0 ? 4 : 0) + 8 * m);
  const auto corner = [&](int at, double su, double sv, std::uint32_t label) {
    const Vec3 p = middle + su * u + sv * v;
    const double gap = (side * p[k] - reference[k]) * along;
    out.at[at] = {p[i] - gap * normal[i], p[j] - gap * normal[j], gap, own + label, 0};  // down onto the face
  };
  corner(0, -1, -1, 0);
  corner(1, 1, -1, 1);
  corner(2, 1, 1, 3);
  corner(3, -1, 1, 2);
  out.count = 4;

  const double x_limit = reference[i] * (1 + 1e-9), y_limit = reference[j] * (1 + 1e-9);
  if (!uncut(out, x_limit, y_limit, margin)) {
    const double x_low = std::min(std::min(out.at[0].x, out.at[1].x), std::min(out.at[2].x, out.at[3].x)),
                 x_high = std::max(std::max(out.at[0].x, out.at[1].x), std::max(out.at[2].x, out.at[3].x)),
                 y_low = std::min(std::min(out.at[0].y, out.at[1].y), std::min(out.at[2].y, out.at[3].y)),
                 y_high = std::max(std::max(out.at[0].y, out.at[1].y), std::max(out.at[2].y, out.at[3].y));
    const auto name = std::uint32_t(0x8000 + 8 * k);
    if (x_high > x_limit) cut<&Corner::x, 1>(*polygon, *next, x_limit, name), std::swap(polygon, next);
    if (x_low < -x_limit) cut<&Corner::x, -1>(*polygon, *next, x_limit, name + 1), std::swap(polygon, next);
    if (y_high > y_limit) cut<&Corner::y, 1>(*polygon, *next, y_limit, name + 2), std::swap(polygon, next);
    if (y_low < -y_limit) cut<&Corner::y, -1>(*polygon, *next, y_limit, name + 3), std::swap(polygon, next);
  }

  // Named by the two edges that meet; those too far away are left out.
  const int corners = polygon->count;
  std::uint32_t before = corners > 0 ? polygon->at[corners - 1].label : 0;
  int count = 0;
  for (int c = 0; c < corners; ++c) {
    const Corner p = polygon->at[c];
    out.at[count] = {p.x, p.y, p.gap, p.label, before << 16 | p.label};
    before = p.label;
    count += p.gap <= margin;
  }
  out.count = count;
}

}  // namespace rotule
