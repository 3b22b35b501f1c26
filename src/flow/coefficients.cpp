#include "flow/coefficients.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "linalg/decompositions.h"

namespace rotule {

bool spans_full_turn(const std::vector<double>& angles) {
  return angles.size() > 1 && std::abs(angles.back() - angles.front() - 2 * std::numbers::pi) < 1e-6;
}

Coefficients::Coefficients(const std::vector<double>& angles, const std::vector<double>& drag, const std::vector<double>& lift,
                           const std::vector<double>& moment)
    : angle_(angles), periodic_(spans_full_turn(angles)) {
  const auto value = [&](std::size_t k) {
    const auto of = [k](const std::vector<double>& column) { return column.empty() ? 0.0 : column[k]; };
    return Vec3(of(drag), of(lift), of(moment));
  };
  if (angles.size() == 1) {
    piece_.push_back({value(0), Vec3::Zero(), Vec3::Zero(), Vec3::Zero()});
    return;
  }
  const auto pieces = static_cast<Eigen::Index>(angles.size()) - 1, count = periodic_ ? pieces : pieces + 1;
  const auto width = [&](Eigen::Index k) {
    const auto piece = static_cast<std::size_t>((k + pieces) % pieces);
    return angles[piece + 1] - angles[piece];
  };
  const auto slope = [&](Eigen::Index k) -> Vec3 {
    const auto piece = static_cast<std::size_t>((k + pieces) % pieces);
    return (value(piece + 1) - value(piece)) / width(k);
  };
  // Second derivatives at the angles: w_{k-1} m_{k-1} + 2 (w_{k-1} + w_k) m_k + w_k m_{k+1} = 6 (change of slope).
  MatX A = MatX::Zero(count, count), b = MatX::Zero(count, 3);
  for (Eigen::Index k = 0; k < count; ++k) {
    if (!periodic_ && (k == 0 || k == count - 1)) {
      A(k, k) = 1;
      continue;
    }
    A(k, (k + count - 1) % count) += width(k - 1);
    A(k, k) += 2 * (width(k - 1) + width(k));
    A(k, (k + 1) % count) += width(k);
    b.row(k) = 6 * (slope(k) - slope(k - 1)).transpose();
  }
  const MatX m = lu_solve(A, b);
  for (Eigen::Index k = 0; k < pieces; ++k) {
    const Vec3 m0 = m.row(k).transpose(), m1 = m.row((k + 1) % count).transpose();
    const double w = width(k);
    piece_.push_back({value(static_cast<std::size_t>(k)), slope(k) - w / 6 * (2 * m0 + m1), m0 / 2, (m1 - m0) / (6 * w)});
  }
}

std::optional<SectionAt> Coefficients::at(double angle) const {
  std::size_t k = 0;
  double u = 0;
  if (piece_.size() > 1 || angle_.size() > 1) {
    constexpr double turn = 2 * std::numbers::pi;
    // An angle is known up to full turns; a table need not begin at -pi.
    angle -= turn * std::floor((angle - angle_.front()) / turn);
    if (!periodic_ && angle > angle_.back()) {
      // What rounding puts just below the first angle came out a full turn above it.
      if (angle - turn < angle_.front() - 1e-12) return std::nullopt;
      angle = angle_.front();
    }
    const auto after = std::upper_bound(angle_.begin() + 1, angle_.end() - 1, angle);
    k = static_cast<std::size_t>(after - angle_.begin() - 1);
    u = angle - angle_[k];
  }
  const auto& [c0, c1, c2, c3] = piece_[k];
  const Vec3 value = c0 + u * (c1 + u * (c2 + u * c3)), slope = c1 + u * (2 * c2 + 3 * u * c3);
  return SectionAt{value[0], value[1], value[2], slope[0], slope[1], slope[2]};
}

}  // namespace rotule
