#include "problem/delassus.h"

#include <algorithm>

#include "problem/operators.h"

namespace rotule {

void Delassus::assemble(const ConstraintProblem& problem) {
  if (start_.empty() || !structure_.matches(problem) || matrix_start_ != problem.matrix.start ||
      matrix_column_ != problem.matrix.column)
    find_pattern(problem);
  std::fill(values_.begin(), values_.end(), 0.0);
  if (problem.has_matrix())
    assemble_from_matrix(problem);
  else
    assemble_from_bodies(problem);
  for (int i = 0; i < blocks(); ++i) {
    const int n = rows(i);
    double* const A = values_.data() + entries_[start_[i]].value;
    for (int r = 0; r < n; ++r) A[r * n + r] += problem.C[first_row_[i] + r];
  }
}

void Delassus::find_pattern(const ConstraintProblem& problem) {
  structure_.keep(problem);
  matrix_start_ = problem.matrix.start;
  matrix_column_ = problem.matrix.column;
  const auto count = static_cast<int>(problem.blocks.size());
  first_row_.assign(1, 0);
  for (const ConstraintBlock& block : problem.blocks) first_row_.push_back(block.first_row + block.rows);
  block_of_row_.clear();
  for (int i = 0; i < count; ++i) block_of_row_.insert(block_of_row_.end(), problem.blocks[i].rows, i);

  // Which constraints touch each body.
  std::vector<std::vector<int>> touching(problem.bodies());
  for (int i = 0; i < count; ++i)
    for_each_body(problem, problem.blocks[i], [&](int body, const JacobianRows&, int) { touching[body].push_back(i); });

  entries_.clear();
  start_.assign(1, 0);
  std::vector<int> columns;
  std::int32_t size = 0;
  for (int i = 0; i < count; ++i) {
    columns.clear();
    for_each_body(problem, problem.blocks[i], [&](int body, const JacobianRows&, int) {
      columns.insert(columns.end(), touching[body].begin(), touching[body].end());
    });
    if (problem.has_matrix())
      for (int k = matrix_start_[first_row_[i]]; k < matrix_start_[first_row_[i + 1]]; ++k)
        columns.push_back(block_of_row_[matrix_column_[k]]);
    columns.push_back(i);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::iter_swap(columns.begin(), std::find(columns.begin(), columns.end(), i));
    std::sort(columns.begin() + 1, columns.end());
    for (const int j : columns) {
      entries_.push_back({j, size});
      size += problem.blocks[i].rows * problem.blocks[j].rows;
    }
    start_.push_back(static_cast<std::int32_t>(entries_.size()));
  }
  values_.resize(size);
  if (problem.has_matrix()) find_places();
}

void Delassus::assemble_from_bodies(const ConstraintProblem& problem) {
  // W J_j^T for all sides of a block, then every J_i that meets it.
  const auto rows_for = [&](const ConstraintBlock& q, int body) -> const double* {
    if (q.body_a == body) return problem.J_a.data() + 6 * q.first_row;
    if (q.body_b == body) return problem.J_b.data() + 6 * q.first_row;
    for (int k = q.first_more; k < q.first_more + q.more_count; ++k)
      if (problem.more[k].body == body) return problem.J_more.data() + 6 * problem.more[k].first;
    return nullptr;
  };
  for (int i = 0; i < blocks(); ++i) {
    const ConstraintBlock& p = problem.blocks[i];
    for_each_body(problem, p, [&](int body, const JacobianRows& J, int first) {
      Vec6 t[6];
      for (int r = 0; r < p.rows; ++r) t[r] = multiply_inverse_mass(problem, body, J.row(first + r).transpose());
      for (const Entry& entry : row(i)) {
        const ConstraintBlock& q = problem.blocks[entry.column];
        const double* const K = rows_for(q, body);
        if (!K) continue;
        double* const A = values_.data() + entry.value;
        for (int r = 0; r < p.rows; ++r)
          for (int c = 0; c < q.rows; ++c) {
            const double* const k = K + 6 * c;
            A[r * q.rows + c] +=
                (t[r][0] * k[0] + t[r][1] * k[1] + t[r][2] * k[2]) + (t[r][3] * k[3] + t[r][4] * k[4] + t[r][5] * k[5]);
          }
      }
    });
  }
}

void Delassus::assemble_from_matrix(const ConstraintProblem& problem) {
  const std::vector<double>& value = problem.matrix.value;
  for (std::size_t k = 0; k < value.size(); ++k) values_[place_[k]] += value[k];
}

void Delassus::find_places() {
  place_.resize(matrix_column_.size());
  for (int i = 0; i < blocks(); ++i)
    for (int r = first_row_[i]; r < first_row_[i + 1]; ++r)
      for (int k = matrix_start_[r]; k < matrix_start_[r + 1]; ++k) {
        const int c = matrix_column_[k], j = block_of_row_[c];
        const std::span<const Entry> entries = row(i);
        const Entry& entry = j == i ? entries.front()
                                    : *std::lower_bound(entries.begin() + 1, entries.end(), j,
                                                        [](const Entry& e, int column) { return e.column < column; });
        place_[k] = entry.value + (r - first_row_[i]) * rows(j) + (c - first_row_[j]);
      }
}

void Delassus::multiply_row(int block, std::span<const double> x, double* y) const {
  const int n = rows(block);
  std::fill_n(y, n, 0.0);
  for (const Entry& entry : row(block)) {
    const int m = rows(entry.column);
    const double* A = values(entry);
    const double* const x_j = x.data() + first_row_[entry.column];
    for (int r = 0; r < n; ++r, A += m)
      for (int c = 0; c < m; ++c) y[r] += A[c] * x_j[c];
  }
}

void Delassus::multiply(std::span<const double> x, std::span<double> y) const {
  for (int i = 0; i < blocks(); ++i) multiply_row(i, x, y.data() + first_row_[i]);
}

void Delassus::to_dense(Eigen::MatrixXd& A) const {
  A.setZero(rows(), rows());
  for (int i = 0; i < blocks(); ++i)
    for (const Entry& entry : row(i)) {
      const int m = rows(entry.column);
      for (int r = 0; r < rows(i); ++r)
        for (int c = 0; c < m; ++c) A(first_row_[i] + r, first_row_[entry.column] + c) = values(entry)[r * m + c];
    }
}

}  // namespace rotule
