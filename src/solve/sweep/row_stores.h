#pragma once
// Three ways to hold A for methods that change x row by row: w = (A x - b)_r, and what follows from a change of x_r.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/delassus.h"
#include "solve/sweep/block_operators.h"

namespace rotule {

/// All of A, row-major.
class DenseRows {
 public:
  void assemble(const ConstraintProblem& problem) {
    delassus_.assemble(problem);
    const auto n = static_cast<std::size_t>(problem.rows());
    A_.assign(n * n, 0.0);
    for (int i = 0; i < delassus_.blocks(); ++i)
      for (const Delassus::Entry& entry : delassus_.row(i)) {
        const int m = delassus_.rows(entry.column);
        for (int r = 0; r < delassus_.rows(i); ++r)
          std::copy_n(delassus_.values(entry) + r * m, m,
                      A_.data() + n * static_cast<std::size_t>(delassus_.first_row(i) + r) + delassus_.first_row(entry.column));
      }
    b_ = problem.b.data();
  }
  void start(std::span<const double>) {}
  [[nodiscard]] double row(int, int r, std::span<const double> x) const {
    const std::size_t n = x.size();
    const double* const A = A_.data() + n * static_cast<std::size_t>(r);
    double sum[4] = {0, 0, 0, 0};
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4)
      for (std::size_t c = 0; c < 4; ++c) sum[c] += A[k + c] * x[k + c];
    for (; k < n; ++k) sum[0] += A[k] * x[k];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) - b_[r];
  }
  void update(int, int, double) {}
  void diagonal(int i, double* D) const { std::copy_n(delassus_.diagonal(i), delassus_.rows(i) * delassus_.rows(i), D); }

 private:
  Delassus delassus_;
  std::vector<double> A_;
  const double* b_ = nullptr;
};

/// The non-zeros of A by rows, the diagonal first.
class CompressedRows {
 public:
  void assemble(const ConstraintProblem& problem) {
    delassus_.assemble(problem);
    start_.assign(1, 0);
    entries_.clear();
    for (int i = 0; i < delassus_.blocks(); ++i)
      for (int r = 0; r < delassus_.rows(i); ++r) {
        const double* const D = delassus_.diagonal(i) + r * delassus_.rows(i);
        entries_.push_back({D[r], delassus_.first_row(i) + r});
        for (const Delassus::Entry& entry : delassus_.row(i)) {
          const int m = delassus_.rows(entry.column);
          const double* const A = delassus_.values(entry) + r * m;
          for (int c = 0; c < m; ++c)
            if (A[c] != 0 && !(entry.column == i && c == r)) entries_.push_back({A[c], delassus_.first_row(entry.column) + c});
        }
        start_.push_back(static_cast<std::int32_t>(entries_.size()));
      }
    b_ = problem.b.data();
  }
  void start(std::span<const double>) {}
  [[nodiscard]] double row(int, int r, std::span<const double> x) const {
    const Entry *entry = entries_.data() + start_[r], *const end = entries_.data() + start_[r + 1];
    double even = -b_[r], odd = 0;
    for (; entry + 1 < end; entry += 2) {
      even += entry[0].value * x[entry[0].column];
      odd += entry[1].value * x[entry[1].column];
    }
    if (entry < end) even += entry->value * x[entry->column];
    return even + odd;
  }
  void update(int, int, double) {}
  void diagonal(int i, double* D) const { std::copy_n(delassus_.diagonal(i), delassus_.rows(i) * delassus_.rows(i), D); }
  [[nodiscard]] std::size_t nonzeros() const { return entries_.size(); }

 private:
  struct Entry {
    double value;
    std::int32_t column;
  };
  Delassus delassus_;
  std::vector<std::int32_t> start_;
  std::vector<Entry> entries_;
  const double* b_ = nullptr;
};

/// J and M^-1 J^T by rows, and the bodies' velocities.
class BodyRows {
 public:
  void assemble(const ConstraintProblem& problem) { op_.assemble(problem); }
  void start(std::span<const double> x) { op_.start(x); }
  [[nodiscard]] double row(int block, int r, std::span<const double> x) const { return op_.single_row(block, r, x); }
  void update(int block, int r, double dx) { op_.update_single(block, r, dx); }
  void diagonal(int i, double* D) const { op_.diagonal(i, D); }

 private:
  BodyOperator op_;
};

}  // namespace rotule
