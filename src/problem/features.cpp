#include "problem/features.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "problem/operators.h"
#include "problem/row_sets.h"

namespace rotule {

namespace {

constexpr int powers = 2;

/// j . W j, W being the inverse mass of one body.
double square_by(const Mat6& W, bool coupled, const double* j) {
  double sum = 0;
  for (int part = 0; part < 6; part += 3)
    for (int r = part; r < part + 3; ++r)
      sum += j[r] * (W(r, part) * j[part] + W(r, part + 1) * j[part + 1] + W(r, part + 2) * j[part + 2]);
  if (coupled)
    for (int r = 0; r < 3; ++r) sum += 2 * j[r] * (W(r, 3) * j[3] + W(r, 4) * j[4] + W(r, 5) * j[5]);
  return sum;
}

auto row(const JacobianRows& J, int r) { return Eigen::Map<const Vec6>(J.data() + 6 * static_cast<std::ptrdiff_t>(r)); }

/// y = A y, where J and M^-1 make A; M^-1 is asked once per body. `f` is scratch of six numbers per body.
void multiply_by_bodies(const ConstraintProblem& problem, std::span<double> f, std::span<double> y) {
  std::fill(f.begin(), f.end(), 0.0);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      Vec6 push = Vec6::Zero();
      for (int r = 0; r < block.rows; ++r) push += y[block.first_row + r] * row(J, first + r);
      Eigen::Map<Vec6>(f.data() + 6 * static_cast<std::ptrdiff_t>(body)) += push;
    });
  for (int body = 0; body < problem.bodies(); ++body) {
    Eigen::Map<Vec6> velocity(f.data() + 6 * static_cast<std::ptrdiff_t>(body));
    velocity = multiply_inverse_mass(problem, body, velocity);
  }
  for (int r = 0; r < problem.rows(); ++r) y[r] *= problem.C[r];
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      const Vec6 u = Eigen::Map<const Vec6>(f.data() + 6 * static_cast<std::ptrdiff_t>(body));
      for (int r = 0; r < block.rows; ++r) y[block.first_row + r] += row(J, first + r).dot(u);
    });
}

}  // namespace

std::array<double, feature_names.size()> values_of(const ProblemFeatures& f) {
  return {f.rows,       f.joint_rows, f.contacts, f.bodies, f.contacts_per_body, f.diagonal_spread,
          f.mass_ratio, f.coupling,   f.activity};
}

ProblemFeatures FeatureFinder::find(const ConstraintProblem& problem) {
  const int n = problem.rows();
  ProblemFeatures out{.rows = static_cast<double>(n)};
  scale_.assign(n, 0.0);
  touching_.assign(problem.bodies(), 0.0);
  double smallest = infinity, largest = 0, loaded = 0, partners = 0;
  FrictionCursor friction(problem);
  for (const ConstraintBlock& block : problem.blocks) {
    bool bounded = !friction.next(block).empty(), pushed = false;
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      bounded = bounded || problem.lower[r] > -infinity || problem.upper[r] < infinity;
      pushed = pushed || problem.x0[r] != 0;
    }
    out.joint_rows += bounded ? 0 : block.rows;
    out.contacts += bounded ? 1 : 0;
    loaded += bounded && pushed ? 1 : 0;
    if (problem.has_matrix()) continue;
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) scale_[r] = problem.C[r];
    double lightest = infinity, heaviest = 0;  // 1 / m of those that move
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      for (int k = 0; k < block.rows; ++k)
        scale_[block.first_row + k] += square_by(problem.inverse_mass[body], problem.coupled, J.data() + 6 * (first + k));
      const double inverse = problem.inverse_mass[body](0, 0);
      if (!(inverse > 0)) return;
      touching_[body] = 1;
      partners += bounded ? 1 : 0;
      lightest = std::min(lightest, inverse);
      heaviest = std::max(heaviest, inverse);
    });
    if (heaviest > 0) out.mass_ratio = std::max(out.mass_ratio, heaviest / lightest);
  }
  if (problem.has_matrix()) {
    const auto& [start, column, value] = problem.matrix;
    for (int r = 0; r < n; ++r) {
      scale_[r] = problem.C[r];
      for (int k = start[r]; k < start[r + 1]; ++k)
        if (column[k] == r) scale_[r] += value[k];
    }
  }
  for (double& d : scale_) {
    if (d > 0) smallest = std::min(smallest, d), largest = std::max(largest, d);
    d = d > 0 ? 1 / std::sqrt(d) : 0.0;
  }
  if (largest > 0) out.diagonal_spread = largest / smallest;
  for (const double touched : touching_) out.bodies += touched;
  if (out.bodies > 0) out.contacts_per_body = partners / out.bodies;
  if (out.contacts > 0) out.activity = loaded / out.contacts;

  // Powers of D^-1/2 A D^-1/2 on a vector without a pattern that rows could be orthogonal to.
  u_.resize(6 * static_cast<std::size_t>(problem.bodies()));
  x_.resize(n);
  for (int r = 0; r < n; ++r) x_[r] = 1 + 0.25 * ((r * 7919) % 17 - 8) / 8.0;
  for (int k = 0; k < powers && n > 0; ++k) {
    double length = 0;
    for (const double v : x_) length += v * v;
    if (!(length > 0)) break;
    const double shorten = 1 / std::sqrt(length);
    for (int r = 0; r < n; ++r) x_[r] *= shorten * scale_[r];
    if (problem.has_matrix()) {
      y_ = x_;
      multiply(problem, y_, u_, x_);
    } else {
      multiply_by_bodies(problem, u_, x_);
    }
    double image = 0;
    for (int r = 0; r < n; ++r) {
      x_[r] *= scale_[r];
      image += x_[r] * x_[r];
    }
    out.coupling = std::max(out.coupling, std::sqrt(image));
  }
  return out;
}

}  // namespace rotule
