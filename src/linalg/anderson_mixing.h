#pragma once
// Anderson's mixing of a sweep G(x), with f(x) = G(x) - x: of the last m sweeps those weights are taken for which the combined f
// is smallest,
//   theta = argmin |f_k - sum theta_j (f_k-j+1 - f_k-j)|,   x_k+1 = G(x_k) - sum theta_j (G(x_k-j+1) - G(x_k-j)).
// Anderson (1965); Walker, Ni (2011). The least squares go by normal equations, slightly raised against dependence. Safeguard: an
// x at which the sweep changes more than twice (once, after such a failure) what it did before the step is given up for the plain
// sweep's x, and the history with it; plain sweeps follow, more of them each time that this happens again.
#include <rotule/types.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "linalg/dense_ldlt.h"

namespace rotule {

class AndersonMixing {
 public:
  /// `size` numbers of x and of what is linear in it; f has those of x alone.
  void begin(std::size_t size, std::size_t rows, int window) {
    window_ = static_cast<std::size_t>(window);
    size_ = size;
    rows_ = rows;
    G_last_.resize(size);
    f_last_.resize(rows);
    df_.resize(rows * window_);
    weighed_.resize(rows * window_);
    dG_.resize(size * window_);
    for (auto* v : {&gram_, &factor_}) v->resize(window_ * window_);
    for (auto* v : {&theta_, &scale_, &work_}) v->resize(window_);
    held_ = next_ = 0;
    has_last_ = false;
    accepted_ = infinity;
    plain_sweeps_ = gained_ = 0;
    cool_down_ = 1;
  }

  /// After a sweep that went by f to x, lengths being taken in the metric d: x becomes the next start. Whether it changed.
  bool mix(std::span<const double> d, const double* f, std::span<double> x) {
    const double length = std::sqrt(square(d, f));
    if (length > (cool_down_ > 1 ? 1 : 2) * accepted_) {
      std::copy(G_last_.begin(), G_last_.end(), x.begin());  // the plain sweep's
      held_ = next_ = 0;
      has_last_ = false;
      accepted_ = infinity;
      gained_ = 0;
      plain_sweeps_ = cool_down_;
      cool_down_ = std::min(2 * cool_down_, 128);
      return true;
    }
    if (plain_sweeps_ > 0) {
      --plain_sweeps_;
      return false;
    }
    if (++gained_ == 4 * static_cast<int>(window_)) cool_down_ = 1;
    if (has_last_) remember(d, f, x);
    std::copy_n(f, rows_, f_last_.begin());
    std::copy(x.begin(), x.end(), G_last_.begin());
    has_last_ = true;
    accepted_ = length;
    if (held_ == 0) return false;
    for (std::size_t r = 0; r < held_; ++r) {
      for (std::size_t c = 0; c < held_; ++c) factor_[r * held_ + c] = gram_[r * window_ + c];
      scale_[r] = factor_[r * held_ + r];
      factor_[r * held_ + r] *= 1 + 1e-12;
      theta_[r] = dot(weighed_.data() + rows_ * r, f, rows_);
    }
    const int size = static_cast<int>(held_);
    factor_dense_ldlt(factor_.data(), size, 1e-14, scale_.data(), work_.data(), [](int) {});
    solve_dense_ldlt(factor_.data(), size, theta_.data());
    constexpr std::size_t at_once = 512;  // stay in the nearest cache
    for (std::size_t first = 0; first < size_; first += at_once) {
      const std::size_t end = std::min(first + at_once, size_);
      for (std::size_t j = 0; j < held_; ++j)
        for (std::size_t i = first; i < end; ++i) x[i] -= theta_[j] * dG_[size_ * j + i];
    }
    return true;
  }

 private:
  static double dot(const double* a, const double* b, std::size_t n) {
    double even = 0, odd = 0;
    std::size_t i = 0;
    for (; i + 1 < n; i += 2) {
      even += a[i] * b[i];
      odd += a[i + 1] * b[i + 1];
    }
    return even + odd + (i < n ? a[i] * b[i] : 0.0);
  }
  /// In the metric d.
  static double square(std::span<const double> d, const double* a) {
    double even = 0, odd = 0;
    std::size_t i = 0;
    for (; i + 1 < d.size(); i += 2) {
      even += d[i] * a[i] * a[i];
      odd += d[i + 1] * a[i + 1] * a[i + 1];
    }
    return even + odd + (i < d.size() ? d[i] * a[i] * a[i] : 0.0);
  }

  /// What changed since the last sweep, in the place of the oldest.
  void remember(std::span<const double> d, const double* f, std::span<const double> x) {
    double *const df = df_.data() + rows_ * next_, *const dG = dG_.data() + size_ * next_;
    double* const weighed = weighed_.data() + rows_ * next_;
    for (std::size_t i = 0; i < rows_; ++i) {
      df[i] = f[i] - f_last_[i];
      weighed[i] = d[i] * df[i];
    }
    for (std::size_t i = 0; i < size_; ++i) dG[i] = x[i] - G_last_[i];
    held_ = std::min(held_ + 1, window_);
    for (std::size_t j = 0; j < held_; ++j)
      gram_[next_ * window_ + j] = gram_[j * window_ + next_] = dot(weighed, df_.data() + rows_ * j, rows_);
    next_ = (next_ + 1) % window_;
  }

  std::size_t window_ = 0, size_ = 0, rows_ = 0;
  std::size_t held_ = 0, next_ = 0;  // columns in use, and the one to be written
  bool has_last_ = false;
  double accepted_ = infinity;  // length of f before the last mixed step
  int plain_sweeps_ = 0, cool_down_ = 1, gained_ = 0;
  std::vector<double> f_last_, G_last_;
  std::vector<double> df_, weighed_, dG_;                     // `window` columns of differences; weighed: d times df
  std::vector<double> gram_, factor_, theta_, scale_, work_;  // of the normal equations
};

}  // namespace rotule
