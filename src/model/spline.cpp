#include "model/spline.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>

#include "linalg/decompositions.h"

namespace rotule {

Spline::Spline(const std::vector<Vec3>& points, bool closed) {
  const auto count = static_cast<Eigen::Index>(points.size());
  const Eigen::Index pieces = closed ? count : count - 1;
  const auto point = [&](Eigen::Index k) { return points[static_cast<std::size_t>(k % count)]; };
  knot_.push_back(0);
  for (Eigen::Index k = 0; k < pieces; ++k) knot_.push_back(knot_.back() + (point(k + 1) - point(k)).norm());
  const auto width = [&](Eigen::Index k) {
    const auto piece = static_cast<std::size_t>((k + pieces) % pieces);
    return knot_[piece + 1] - knot_[piece];
  };

  // Second derivatives at the points: w_{k-1} m_{k-1} + 2 (w_{k-1} + w_k) m_k + w_k m_{k+1} = 6 (change of slope).
  MatX A = MatX::Zero(count, count), b = MatX::Zero(count, 3);
  for (Eigen::Index k = 0; k < count; ++k) {
    if (!closed && (k == 0 || k == count - 1)) {
      A(k, k) = 1;
      continue;
    }
    const Eigen::Index before = (k + count - 1) % count, after = (k + 1) % count;
    A(k, before) += width(k - 1);
    A(k, k) += 2 * (width(k - 1) + width(k));
    A(k, after) += width(k);
    b.row(k) = 6 * ((point(after) - point(k)) / width(k) - (point(k) - point(before)) / width(k - 1)).transpose();
  }
  const MatX m = lu_solve(A, b);
  for (Eigen::Index k = 0; k < pieces; ++k) {
    const Vec3 m0 = m.row(k).transpose(), m1 = m.row((k + 1) % count).transpose();
    const double w = width(k);
    piece_.push_back({point(k), (point(k + 1) - point(k)) / w - w / 6 * (2 * m0 + m1), m0 / 2, (m1 - m0) / (6 * w)});
  }
}

int Spline::samples() const { return std::clamp(4 * static_cast<int>(piece_.size()), 64, 1024); }

MovingVec3 Spline::value(const Moving& s, int derivative) const {
  const auto after = std::upper_bound(knot_.begin() + 1, knot_.end() - 1, s.value);
  const auto k = static_cast<std::size_t>(after - knot_.begin() - 1);
  const auto& [c0, c1, c2, c3] = piece_[k];
  const double u = s.value - knot_[k];
  const Vec3 first = c1 + u * (2 * c2 + 3 * u * c3), second = 2 * c2 + 6 * u * c3, third = 6 * c3;
  const Vec3 value = c0 + u * (c1 + u * (c2 + u * c3));
  MovingVec3 out;
  for (int i = 0; i < 3; ++i)
    out.e[static_cast<std::size_t>(i)] =
        derivative == 0 ? s.chain(value[i], first[i], second[i]) : s.chain(first[i], second[i], third[i]);
  return out;
}

void check_distinct(const std::vector<Vec3>& points, bool closed, const Place& place) {
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (k + 1 == points.size() && !closed) break;
    if ((points[(k + 1) % points.size()] - points[k]).norm() < 1e-12)
      fail(place / k, "is where the next one is; leave one of them out");
  }
}

}  // namespace rotule
