#include "solve/newton/block_system.h"

#include <algorithm>
#include <cmath>

namespace rotule {

namespace {

/// The graph whose edges are given as pairs (both directions); pairs are sorted in the course.
Graph graph_of(std::vector<std::pair<int, int>>& pairs, int size) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Graph out;
  out.start.assign(size + 1, 0);
  out.neighbours.reserve(pairs.size() + 1);  // never a null pointer, which the ordering refuses
  for (const auto& [from, to] : pairs) {
    ++out.start[from + 1];
    out.neighbours.push_back(to);
  }
  for (int i = 0; i < size; ++i) out.start[i + 1] += out.start[i];
  return out;
}

}  // namespace

void BlockSystem::choose_form(const ConstraintProblem& problem) {
  structure_.keep(problem);
  matrix_start_ = problem.matrix.start;
  matrix_column_ = problem.matrix.column;
  const int count = static_cast<int>(problem.blocks.size());
  std::vector<int> sizes, order;

  BlockLu bodies;
  if (!problem.has_matrix()) {
    std::vector<std::pair<int, int>> pairs;
    for (const ConstraintBlock& block : problem.blocks)
      for_sides(problem, block, [&](int row, const double*) {
        for_sides(problem, block, [&](int column, const double*) {
          if (row != column) pairs.emplace_back(row, column);
        });
      });
    const Graph graph = graph_of(pairs, problem.bodies());
    minimum_degree(graph, order);
    sizes.assign(problem.bodies(), 6);
    bodies.analyse(sizes, graph, order);
  }
  // Constraints as nodes can only win where they have fewer rows than bodies have; a body that many of them touch makes a clique.
  by_bodies_ = !problem.has_matrix();
  if (problem.has_matrix() || problem.rows() < 6 * problem.bodies()) {
    delassus_.assemble(problem);
    std::vector<std::pair<int, int>> pairs;
    for (int i = 0; i < count; ++i)
      for (const Delassus::Entry& entry : delassus_.row(i))
        if (entry.column != i) {
          pairs.emplace_back(i, entry.column);
          pairs.emplace_back(entry.column, i);
        }
    const Graph graph = graph_of(pairs, count);
    minimum_degree(graph, order);
    sizes.clear();
    for (const ConstraintBlock& block : problem.blocks) sizes.push_back(block.rows);
    lu_.analyse(sizes, graph, order);
    by_bodies_ = !problem.has_matrix() && bodies.work() < lu_.work();
  }
  places_.clear();
  first_place_.clear();
  if (by_bodies_) {
    lu_ = std::move(bodies);
    for (const ConstraintBlock& block : problem.blocks) {
      first_place_.push_back(static_cast<std::int32_t>(places_.size()));
      for_sides(problem, block, [&](int row, const double*) {
        for_sides(problem, block, [&](int column, const double*) {
          places_.push_back(row == column ? lu_.offset(row) : lu_.offset(row, column));
        });
      });
    }
  } else {
    for (int i = 0; i < count; ++i)
      for (const Delassus::Entry& entry : delassus_.row(i)) places_.push_back(lu_.offset(i, entry.column));
  }
  has_delassus_ = !by_bodies_;
}

void BlockSystem::multiply_row(const ConstraintProblem& problem, int block, std::span<const double> x, double* y) const {
  if (!dense_) return delassus_.multiply_row(block, x, y);
  const ConstraintBlock& at = problem.blocks[static_cast<std::size_t>(block)];
  for (int r = 0; r < at.rows; ++r) {
    const double* const row = whole_.matrix().row(at.first_row + r);
    y[r] = 0;
    for (std::size_t c = 0; c < x.size(); ++c) y[r] += row[c] * x[c];
  }
}

void BlockSystem::prepare(const ConstraintProblem& problem) {
  dense_ = DenseForm::fits(problem);
  if (dense_) {
    whole_.form(problem);
  } else if (!structure_.matches(problem) || matrix_start_ != problem.matrix.start || matrix_column_ != problem.matrix.column)
    choose_form(problem);
  if (has_delassus_ && !dense_) delassus_.assemble(problem);
  const std::size_t count = problem.blocks.size();
  for (auto* v : {&diagonal_, &T_, &E_, &local_}) v->resize(block_entries * count);
  for (auto* v : {&residual_, &correction_, &A_correction_}) v->resize(problem.rows());
  alone_.resize(count);
  u_.resize(6 * problem.bodies());
  right_.resize(6 * problem.bodies());
  // Pivots within a body's six rows compare what they find: turns are measured by the way of a point at the radius of gyration.
  lengths_.resize(problem.bodies());
  for (int body = 0; body < problem.bodies(); ++body) {
    const Mat6& W = problem.inverse_mass[body];
    const double linear = W.topLeftCorner<3, 3>().trace(), angular = W.bottomRightCorner<3, 3>().trace();
    lengths_[body] = linear > 0 && angular > 0 ? std::sqrt(linear / angular) : 1.0;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows;
    double* const A = diagonal_.data() + block_entries * i;
    if (dense_) {
      for (int r = 0; r < n; ++r) std::copy_n(whole_.matrix().row(block.first_row + r) + block.first_row, n, A + r * n);
      continue;
    }
    if (has_delassus_) {
      std::copy_n(delassus_.diagonal(static_cast<int>(i)), n * n, A);
      continue;
    }
    std::fill_n(A, n * n, 0.0);
    for_sides(problem, block, [&](int body, const double* J) {
      for (int r = 0; r < n; ++r) {
        const Vec6 t = multiply_inverse_mass(problem, body, Eigen::Map<const Vec6>(J + 6 * r));
        for (int c = 0; c < n; ++c) A[r * n + c] += t.dot(Eigen::Map<const Vec6>(J + 6 * c));
      }
    });
    for (int r = 0; r < n; ++r) A[r * n + r] += problem.C[block.first_row + r];
  }
}

void BlockSystem::product(const ConstraintProblem& problem, std::span<const double> x, std::span<double> y) {
  if (dense_)
    rotule::multiply(whole_.matrix(), x.data(), y.data());
  else if (has_delassus_)
    delassus_.multiply(x, y);
  else
    multiply(problem, x, u_, y);
}

void BlockSystem::factor(const ConstraintProblem& problem, std::span<const double> weights) {
  weights_ = weights;
  if (dense_) return whole_.factor(problem, T_.data(), E_.data(), alone_);
  std::fill(lu_.values().begin(), lu_.values().end(), 0.0);
  if (by_bodies_)
    factor_bodies(problem);
  else
    factor_constraints(problem);
  lu_.factor();
}

double BlockSystem::solve(const ConstraintProblem& problem, std::span<const double> F, std::span<double> dx,
                          std::span<double> A_dx, double accuracy, int max_refinements) {
  const auto solve_once = [&](std::span<const double> right, std::span<double> out) {
    if (dense_)
      whole_.solve(problem, E_.data(), alone_, right, out);
    else if (by_bodies_)
      solve_bodies(problem, right, out);
    else
      solve_constraints(problem, right, out);
  };
  // residual_ = F + T dx + E A dx; returns its squared length, weighted.
  const auto residual_of = [&] {
    double squares = 0;
    for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
      const int n = problem.blocks[i].rows, first = problem.blocks[i].first_row;
      const double *const t = T_.data() + block_entries * i, *const e = E_.data() + block_entries * i;
      for (int r = 0; r < n; ++r) {
        double sum = F[first + r];
        for (int c = 0; c < n; ++c) sum += t[r * n + c] * dx[first + c] + e[r * n + c] * A_dx[first + c];
        residual_[first + r] = sum;
        squares += weights_[first + r] * sum * sum;
      }
    }
    return squares;
  };
  double norm = 0;
  for (std::size_t r = 0; r < F.size(); ++r) norm += weights_[r] * F[r] * F[r];
  solve_once(F, dx);
  product(problem, dx, A_dx);
  double now = residual_of();
  for (int k = 0; k < max_refinements && now > accuracy * accuracy * norm; ++k) {
    solve_once(residual_, correction_);
    product(problem, correction_, A_correction_);
    for (std::size_t r = 0; r < dx.size(); ++r) {
      dx[r] += correction_[r];
      A_dx[r] += A_correction_[r];
    }
    const double next = residual_of();
    if (!(next < now)) {
      for (std::size_t r = 0; r < dx.size(); ++r) {
        dx[r] -= correction_[r];
        A_dx[r] -= A_correction_[r];
      }
      break;
    }
    const bool stalled = next > 0.25 * now;
    now = next;
    if (stalled) break;
  }
  return norm > 0 ? std::sqrt(now / norm) : 0.0;
}

void BlockSystem::factor_constraints(const ConstraintProblem& problem) {
  const int count = static_cast<int>(problem.blocks.size());
  double* const values = lu_.values().data();
  std::size_t place = 0;
  for (int i = 0; i < count; ++i) {
    const int n = problem.blocks[i].rows;
    const double* const e = E_.data() + block_entries * i;
    lu_.set_alone(i, alone_[i]);
    std::copy_n(T_.data() + block_entries * i, n * n, values + places_[place]);
    for (const Delassus::Entry& entry : delassus_.row(i)) {
      double* const B = values + places_[place++];
      if (alone_[i] || alone_[entry.column]) continue;
      const int m = problem.blocks[entry.column].rows;
      const double* const A = delassus_.values(entry);
      for (int r = 0; r < n; ++r)
        for (int k = 0; k < n; ++k) {
          const double d = e[r * n + k];
          if (d == 0) continue;
          for (int c = 0; c < m; ++c) B[r * m + c] += d * A[k * m + c];
        }
    }
  }
}

void BlockSystem::solve_constraints(const ConstraintProblem& problem, std::span<const double> F, std::span<double> dx) {
  const int count = static_cast<int>(problem.blocks.size());
  for (std::size_t r = 0; r < dx.size(); ++r) dx[r] = -F[r];
  // Blocks that are alone have T = I: their answer is known, and what it does to the others goes to the right-hand side.
  for (int i = 0; i < count; ++i) {
    if (alone_[i]) continue;
    const int n = problem.blocks[i].rows, first = problem.blocks[i].first_row;
    double change[6] = {};
    for (const Delassus::Entry& entry : delassus_.row(i)) {
      if (!alone_[entry.column]) continue;
      const int m = problem.blocks[entry.column].rows;
      const double *const A = delassus_.values(entry), *const f = F.data() + problem.blocks[entry.column].first_row;
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < m; ++c) change[r] += A[r * m + c] * f[c];
    }
    const double* const e = E_.data() + block_entries * i;
    for (int r = 0; r < n; ++r)
      for (int k = 0; k < n; ++k) dx[first + r] += e[r * n + k] * change[k];
  }
  lu_.solve(dx.data());
}

void BlockSystem::factor_bodies(const ConstraintProblem& problem) {
  const int count = static_cast<int>(problem.blocks.size());
  double* const values = lu_.values().data();
  for (int body = 0; body < problem.bodies(); ++body)
    for (int r = 0; r < 6; ++r) values[lu_.offset(body) + 7 * r] = 1;
  for (int i = 0; i < count; ++i) {
    if (alone_[i]) continue;
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows, first = block.first_row;
    const double* const e = E_.data() + block_entries * i;
    double* const inverse = local_.data() + block_entries * i;
    for (int r = 0; r < n; ++r)
      for (int c = 0; c < n; ++c) inverse[r * n + c] = T_[block_entries * i + r * n + c] + e[r * n + c] * problem.C[first + c];
    invert_block(inverse, n, smallest_local_pivot);
    double S[block_entries] = {};
    for (int r = 0; r < n; ++r)
      for (int k = 0; k < n; ++k)
        for (int c = 0; c < n; ++c) S[r * n + c] += inverse[r * n + k] * e[k * n + c];
    std::size_t place = first_place_[i];
    for_sides(problem, block, [&](int row_body, const double* J) {
      Vec6 pushed[6], stiff[6];  // M^-1 J^T column by column, and times S
      for (int r = 0; r < n; ++r) pushed[r] = multiply_inverse_mass(problem, row_body, Eigen::Map<const Vec6>(J + 6 * r));
      for (int c = 0; c < n; ++c) {
        stiff[c].setZero();
        for (int r = 0; r < n; ++r) stiff[c] += S[r * n + c] * pushed[r];
      }
      for (int c = 0; c < n; ++c) stiff[c].tail<3>() *= lengths_[row_body];
      for_sides(problem, block, [&](int column_body, const double* J_column) {
        double* const K = values + places_[place++];
        const double turn = 1 / lengths_[column_body];
        for (int k = 0; k < n; ++k) {
          double J_scaled[6];
          for (int c = 0; c < 6; ++c) J_scaled[c] = (c < 3 ? 1.0 : turn) * J_column[6 * k + c];
          for (int r = 0; r < 6; ++r) {
            const double s = stiff[k][r];
            for (int c = 0; c < 6; ++c) K[6 * r + c] += s * J_scaled[c];
          }
        }
      });
    });
  }
}

void BlockSystem::solve_bodies(const ConstraintProblem& problem, std::span<const double> F, std::span<double> dx) {
  const int count = static_cast<int>(problem.blocks.size());
  const auto local = [&](int i, const double* v, double* out) {  // -(T + E C)^-1 v
    const int n = problem.blocks[i].rows;
    const double* const inverse = local_.data() + block_entries * i;
    for (int r = 0; r < n; ++r) {
      out[r] = alone_[i] ? -v[r] : 0.0;
      if (!alone_[i])
        for (int c = 0; c < n; ++c) out[r] -= inverse[r * n + c] * v[c];
    }
  };
  std::fill(right_.begin(), right_.end(), 0.0);
  for (int i = 0; i < count; ++i) local(i, F.data() + problem.blocks[i].first_row, dx.data() + problem.blocks[i].first_row);
  apply_impulses(problem, dx, right_);
  for (int body = 0; body < problem.bodies(); ++body)
    for (int r = 3; r < 6; ++r) right_[6 * body + r] *= lengths_[body];
  lu_.solve(right_.data());
  for (int body = 0; body < problem.bodies(); ++body)
    for (int r = 3; r < 6; ++r) right_[6 * body + r] /= lengths_[body];
  for (int i = 0; i < count; ++i) {
    if (alone_[i]) continue;
    const ConstraintBlock& block = problem.blocks[i];
    const int n = block.rows, first = block.first_row;
    const double* const e = E_.data() + block_entries * i;
    double v[6];
    std::copy_n(F.data() + first, n, v);
    for (int k = 0; k < n; ++k) {
      const double motion = row_velocity(problem, block, first + k, right_);
      for (int r = 0; r < n; ++r) v[r] += e[r * n + k] * motion;
    }
    local(i, v, dx.data() + first);
  }
}

}  // namespace rotule
