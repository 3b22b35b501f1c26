#include "collide/narrow/box_face.h"

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

struct Corner {
  double x, y, gap;
  std::uint32_t label;  // of the edge that starts here
};

struct Corners {
  int count = 0;
  std::array<Corner, 12> at;
};

/// Keeps what is below x = limit (or y, or their negatives); `polygon` is then what was left, `spare` the other.
template <int coordinate, int sign>
void cut(Corners*& polygon, Corners*& spare, double limit, std::uint32_t label) {
  const Corners& in = *polygon;
  Corners& out = *spare;
  const auto height = [&](const Corner& c) { return limit - sign * (coordinate == 0 ? c.x : c.y); };
  bool inside = true;
  for (int i = 0; i < in.count; ++i) inside = inside && height(in.at[i]) >= 0;
  if (inside) return;
  out.count = 0;
  for (int i = 0; i < in.count; ++i) {
    const Corner &p = in.at[i], &q = in.at[i + 1 < in.count ? i + 1 : 0];
    const double hp = height(p), hq = height(q);
    if (hp >= 0) out.at[out.count++] = p;
    if ((hp >= 0) == (hq >= 0)) continue;
    const double s = hp / (hp - hq);
    out.at[out.count++] = {p.x + s * (q.x - p.x), p.y + s * (q.y - p.y), p.gap + s * (q.gap - p.gap), hp >= 0 ? label : p.label};
  }
  std::swap(polygon, spare);
}

}  // namespace

void box_face_points(const Vec3& reference, int k, const Vec3& normal, const Vec3& other, const Frame& X, double margin,
                     CandidateList& out) {
  const int i = k < 2 ? k + 1 : 0, j = i < 2 ? i + 1 : 0;
  // The face of the other box that looks back most, by its middle and its half edges.
  const double side = std::copysign(1.0, normal[k]), along = side / normal[k];
  const Vec3 seen = X.R.transpose() * normal;
  int m = 0;
  seen.cwiseAbs().maxCoeff(&m);
  const int m1 = m < 2 ? m + 1 : 0, m2 = m1 < 2 ? m1 + 1 : 0;
  const double back = seen[m] > 0 ? -1 : 1;
  const Vec3 middle = X.p + back * other[m] * X.R.col(m), u = other[m1] * X.R.col(m1), v = other[m2] * X.R.col(m2);

  Corners first, second;
  first.count = 4;
  const double x_limit = reference[i] * (1 + 1e-9), y_limit = reference[j] * (1 + 1e-9);
  for (int c = 0; c < 4; ++c) {
    const double su = c == 0 || c == 3 ? -1 : 1, sv = c < 2 ? -1 : 1;
    Vec3 p = middle + su * u + sv * v;
    const double gap = (side * p[k] - reference[k]) * along;
    p -= gap * normal;  // down onto the face
    const auto label = std::uint32_t((back > 0 ? 4 : 0) + (su > 0 ? 1 : 0) + (sv > 0 ? 2 : 0) + 8 * m);
    first.at[c] = {p[i], p[j], gap, label};
  }
  Corners *polygon = &first, *spare = &second;
  const auto name = std::uint32_t(0x8000 + 8 * k);
  cut<0, 1>(polygon, spare, x_limit, name);
  cut<0, -1>(polygon, spare, x_limit, name + 1);
  cut<1, 1>(polygon, spare, y_limit, name + 2);
  cut<1, -1>(polygon, spare, y_limit, name + 3);

  out.count = 0;
  for (int c = 0; c < polygon->count; ++c) {
    const Corner& p = polygon->at[c];
    if (p.gap > margin) continue;
    Candidate& candidate = out.items[out.count++];
    candidate.x = p.x;
    candidate.y = p.y;
    candidate.point.on_a[i] = p.x;
    candidate.point.on_a[j] = p.y;
    candidate.point.on_a[k] = side * reference[k];
    candidate.point.on_b = candidate.point.on_a + p.gap * normal;
    candidate.point.gap = p.gap;
    candidate.point.feature = polygon->at[c > 0 ? c - 1 : polygon->count - 1].label << 16 | p.label;
  }
}

}  // namespace rotule
