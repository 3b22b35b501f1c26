#include "solve/sweep/colouring.h"

#include <algorithm>

#include "problem/operators.h"

namespace rotule {

void Colouring::assign(const ConstraintProblem& problem) {
  const auto is_fixed = [&](int body) { return problem.inverse_mass[body].isZero(0); };
  bool same = !start_.empty() && structure_.matches(problem) && matrix_start_ == problem.matrix.start &&
              matrix_column_ == problem.matrix.column && static_cast<int>(fixed_.size()) == problem.bodies();
  for (int body = 0; same && body < problem.bodies(); ++body) same = fixed_[body] == is_fixed(body);
  if (same) return;
  structure_.keep(problem);
  matrix_start_ = problem.matrix.start;
  matrix_column_ = problem.matrix.column;
  fixed_.resize(problem.bodies());
  for (int body = 0; body < problem.bodies(); ++body) fixed_[body] = is_fixed(body);

  const auto count = static_cast<std::int32_t>(problem.blocks.size());
  std::vector<std::vector<std::int32_t>> touching(problem.bodies());
  std::vector<std::vector<std::int32_t>> coupled_to(problem.has_matrix() ? count : 0);
  std::vector<std::int32_t> block_of_row(problem.rows()), colour(count, -1), taken_by(count + 1, -1);
  for (std::int32_t i = 0; i < count; ++i)
    std::fill_n(block_of_row.begin() + problem.blocks[i].first_row, problem.blocks[i].rows, i);
  int colours = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const auto take = [&](std::int32_t j) {
      if (colour[j] >= 0) taken_by[colour[j]] = i;
    };
    for_each_body(problem, block, [&](int body, const JacobianRows&, int) {
      if (fixed_[body]) return;
      for (const std::int32_t j : touching[body]) take(j);
      touching[body].push_back(i);
    });
    if (problem.has_matrix()) {
      // An entry may be there one way only: it counts both ways.
      for (int k = matrix_start_[block.first_row]; k < matrix_start_[block.first_row + block.rows]; ++k) {
        const std::int32_t j = block_of_row[matrix_column_[k]];
        if (j < i)
          take(j);
        else if (j > i)
          coupled_to[j].push_back(i);
      }
      for (const std::int32_t j : coupled_to[i]) take(j);
    }
    int free = 0;
    while (taken_by[free] == i) ++free;
    colour[i] = free;
    colours = std::max(colours, free + 1);
  }
  start_.assign(colours + 1, 0);
  order_.resize(count);
  for (const int c : colour) ++start_[c + 1];
  for (int c = 0; c < colours; ++c) start_[c + 1] += start_[c];
  std::vector<std::int32_t> next(start_.begin(), start_.end());
  for (std::int32_t i = 0; i < count; ++i) order_[next[colour[i]]++] = i;
}

}  // namespace rotule
