#include "solve/newton/pivoted_system.h"

#include <algorithm>

#include "problem/operators.h"

namespace rotule {

bool PivotedSystem::factor(const ConstraintProblem& problem, BlockSystem& blocks) {
  const int rows = problem.rows(), bodies = problem.has_matrix() ? 0 : problem.bodies(), size = rows + 6 * bodies;
  entries_.clear();
  for (int i = 0; i < static_cast<int>(problem.blocks.size()); ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows, first = block.first_row;
    const double *const T = blocks.T(i), *const E = blocks.E(i);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) entries_.emplace_back(first + r, first + c, T[r * n + c] + E[r * n + c] * problem.C[first + c]);
    if (problem.has_matrix()) {
      const auto& [start, column, value] = problem.matrix;
      for (int k = 0; k < n; ++k)
        for (int entry = start[first + k]; entry < start[first + k + 1]; ++entry)
          for (int r = 0; r < n; ++r) entries_.emplace_back(first + r, column[entry], E[r * n + k] * value[entry]);
      continue;
    }
    for_sides(problem, block, [&](int body, const double* J) {
      for (int r = 0; r < n; ++r) {
        Vec6 felt = Vec6::Zero();
        for (int k = 0; k < n; ++k) felt += E[r * n + k] * Eigen::Map<const Vec6>(J + 6 * k);
        const Vec6 pushed = multiply_inverse_mass(problem, body, Eigen::Map<const Vec6>(J + 6 * r));
        for (int k = 0; k < 6; ++k) {
          entries_.emplace_back(first + r, rows + 6 * body + k, felt[k]);
          entries_.emplace_back(rows + 6 * body + k, first + r, -pushed[k]);
        }
      }
    });
  }
  for (int k = rows; k < size; ++k) entries_.emplace_back(k, k, 1.0);
  K_.resize(size, size);
  K_.setFromTriplets(entries_.begin(), entries_.end());
  const auto same = [](const std::vector<int>& v, const int* begin, Eigen::Index count) {
    return std::equal(v.begin(), v.end(), begin, begin + count);
  };
  if (!same(start_, K_.outerIndexPtr(), size + 1) || !same(row_, K_.innerIndexPtr(), K_.nonZeros())) {
    start_.assign(K_.outerIndexPtr(), K_.outerIndexPtr() + size + 1);
    row_.assign(K_.innerIndexPtr(), K_.innerIndexPtr() + K_.nonZeros());
    lu_.analyzePattern(K_);
  }
  lu_.factorize(K_);
  return lu_.info() == Eigen::Success;
}

void PivotedSystem::solve(std::span<const double> F, std::span<double> dx) {
  right_.setZero(K_.rows());
  for (std::size_t r = 0; r < F.size(); ++r) right_[static_cast<Eigen::Index>(r)] = -F[r];
  out_ = lu_.solve(right_);
  right_ -= K_ * out_;
  out_ += lu_.solve(right_);
  std::copy_n(out_.data(), dx.size(), dx.data());
}

}  // namespace rotule
