#include "solve/newton/dense_form.h"

#include <algorithm>

#include "problem/operators.h"

namespace rotule {

bool DenseForm::fits(const ConstraintProblem& problem) {
  if (problem.has_matrix() || problem.more.empty() || problem.rows() > most_rows) return false;
  return std::ranges::any_of(problem.friction, [&](const FrictionRows& f) {
    const auto block = std::ranges::upper_bound(problem.blocks, f.normal_row, {}, &ConstraintBlock::first_row) - 1;
    // Six rates of a tree are a body of mass 1; particles that share a contact are not.
    return block->more_count > 0 && problem.inverse_mass[static_cast<std::size_t>(block->body_a)] == Mat6::Identity();
  });
}

void DenseForm::form(const ConstraintProblem& problem) {
  const int n = problem.rows(), width = 6 * problem.bodies();
  A_.resize(n);
  J_.assign(static_cast<std::size_t>(n) * static_cast<std::size_t>(width), 0.0);
  pushed_.assign(static_cast<std::size_t>(width * A_.stride), 0.0);
  for (const ConstraintBlock& block : problem.blocks)
    for_each_body(problem, block, [&](int body, const JacobianRows& J, int first) {
      const Mat6& W = problem.inverse_mass[static_cast<std::size_t>(body)];
      const bool of_mass_one = W == Mat6::Identity();
      for (int r = 0; r < block.rows; ++r) {
        const Vec6 row = J.row(first + r).transpose();
        const Vec6 pushed = of_mass_one ? row : multiply_inverse_mass(problem, body, row);
        for (int c = 0; c < 6; ++c) {
          J_[static_cast<std::size_t>((block.first_row + r) * width + 6 * body + c)] += row[c];
          pushed_[static_cast<std::size_t>((6 * body + c) * A_.stride + block.first_row + r)] += pushed[c];
        }
      }
    });
  add_products(J_.data(), pushed_.data(), width, A_);
  for (int r = 0; r < n; ++r) A_.row(r)[r] += problem.C[r];
}

void DenseForm::factor(const ConstraintProblem& problem, const double* T, const double* E, std::span<const char> alone) {
  active_.clear();
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    for (int r = 0; alone[i] == 0 && r < problem.blocks[i].rows; ++r) active_.push_back(problem.blocks[i].first_row + r);
  const auto count = static_cast<int>(active_.size());
  DenseRows& B = lu_.matrix();
  B.resize(count);
  changed_.resize(static_cast<std::size_t>(A_.stride));
  int at = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    if (alone[i] != 0) continue;
    const int n = problem.blocks[i].rows, first = problem.blocks[i].first_row;
    const double *const t = T + block_entries * i, *const e = E + block_entries * i;
    for (int r = 0; r < n; ++r) {
      double* const row = B.row(at + r);
      std::ranges::fill(changed_, 0.0);
      for (int k = 0; k < n; ++k) {
        const double share = e[r * n + k];
        if (share == 0) continue;
        const double* const from = A_.row(first + k);
        for (std::size_t c = 0; c < changed_.size(); ++c) changed_[c] += share * from[c];
      }
      for (int c = 0; c < count; ++c) row[c] = changed_[static_cast<std::size_t>(active_[static_cast<std::size_t>(c)])];
      for (int c = 0; c < n; ++c) row[at + c] += t[r * n + c];
    }
    at += n;
  }
  lu_.factor();
}

void DenseForm::solve(const ConstraintProblem& problem, const double* E, std::span<const char> alone, std::span<const double> F,
                      std::span<double> dx) {
  // Blocks that are alone have their answer, and what it does to the others goes to the right-hand side.
  right_.assign(static_cast<std::size_t>(A_.n), 0.0);
  changed_.assign(static_cast<std::size_t>(A_.stride), 0.0);
  bool any = false;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i)
    for (int r = problem.blocks[i].first_row; alone[i] != 0 && r < problem.blocks[i].first_row + problem.blocks[i].rows; ++r) {
      right_[static_cast<std::size_t>(r)] = F[r];
      any = any || F[r] != 0;
    }
  if (any) multiply(A_, right_.data(), changed_.data());
  std::size_t at = 0;
  for (std::size_t i = 0; i < problem.blocks.size(); ++i) {
    const int n = problem.blocks[i].rows, first = problem.blocks[i].first_row;
    for (int r = 0; r < n; ++r) {
      if (alone[i] != 0) {
        dx[first + r] = -F[first + r];
        continue;
      }
      double sum = -F[first + r];
      for (int k = 0; any && k < n; ++k) sum += E[block_entries * i + r * n + k] * changed_[static_cast<std::size_t>(first + k)];
      right_[at++] = sum;
    }
  }
  lu_.solve(right_.data());
  for (std::size_t k = 0; k < active_.size(); ++k) dx[active_[k]] = right_[k];
}

}  // namespace rotule
