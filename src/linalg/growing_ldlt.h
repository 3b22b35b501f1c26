#pragma once
// A = L D L^T of a dense definite matrix that gains and loses rows: appending costs O(n^2), and so does removing a row, which
// adds its column of L back to the rows after it as an update of rank one (Gill, Golub, Murray, Saunders, Math. Comp. 28, 1974).
// Fails on matrices that are not definite: pivots are kept above a small positive number, which leaves the answer inexact.
#include <algorithm>
#include <vector>

namespace rotule {

class GrowingLdlt {
 public:
  /// Empties it, with memory for this many rows.
  void clear(int most_rows) {
    stride_ = most_rows;
    size_ = 0;
    L_.resize(static_cast<std::size_t>(most_rows) * most_rows);
    D_.resize(most_rows);
    work_.resize(most_rows);
  }
  [[nodiscard]] int size() const { return size_; }

  /// A new last row: its entries with the rows that are there, and its diagonal entry.
  void append(const double* row, double diagonal) {
    double* const l = L_.data() + at(size_, 0);
    double pivot = diagonal;
    for (int k = 0; k < size_; ++k) {
      double sum = row[k];
      const double* const L_k = L_.data() + at(k, 0);
      for (int m = 0; m < k; ++m) sum -= work_[m] * L_k[m];
      work_[k] = sum;
    }
    for (int k = 0; k < size_; ++k) {
      l[k] = work_[k] / D_[k];
      pivot -= work_[k] * l[k];
    }
    D_[size_++] = std::max(pivot, 1e-14 * diagonal);
  }

  void remove(int row) {
    // The rows after it: L_22 D_2 L_22^T + d l l^T, with d and l of the row that goes.
    double alpha = D_[row];
    for (int i = row + 1; i < size_; ++i) work_[i] = L_[at(i, row)];
    for (int j = row + 1; j < size_; ++j) {
      const double p = work_[j], pivot = D_[j] + alpha * p * p, beta = alpha * p / pivot;
      alpha *= D_[j] / pivot;
      D_[j] = pivot;
      for (int i = j + 1; i < size_; ++i) {
        double& l = L_[at(i, j)];
        work_[i] -= p * l;
        l += beta * work_[i];
      }
    }
    for (int i = row + 1; i < size_; ++i) {
      double* const to = L_.data() + at(i - 1, 0);
      const double* const from = L_.data() + at(i, 0);
      std::copy(from, from + row, to);
      std::copy(from + row + 1, from + i, to + row);
      D_[i - 1] = D_[i];
    }
    --size_;
  }

  /// x <- A^-1 x.
  void solve(double* x) const {
    for (int i = 1; i < size_; ++i) {
      const double* const row = L_.data() + at(i, 0);
      double sum = x[i];
      for (int k = 0; k < i; ++k) sum -= row[k] * x[k];
      x[i] = sum;
    }
    for (int i = 0; i < size_; ++i) x[i] /= D_[i];
    for (int i = size_ - 1; i > 0; --i) {
      const double* const row = L_.data() + at(i, 0);
      for (int k = 0; k < i; ++k) x[k] -= row[k] * x[i];
    }
  }

 private:
  [[nodiscard]] std::size_t at(int i, int j) const { return static_cast<std::size_t>(i) * stride_ + j; }

  int stride_ = 0, size_ = 0;
  std::vector<double> L_, D_, work_;
};

}  // namespace rotule
