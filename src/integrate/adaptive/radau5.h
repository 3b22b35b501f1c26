#pragma once
// Radau IIA with three stages (Hairer and Wanner, Solving ODEs II, IV.8): collocation at c = (4 -+ sqrt 6)/10 and 1, order 5,
// L-stable, the last stage the end of the step:
//   Z_i = h sum_j a_ij f(y_0 + Z_j),   y_1 = y_0 + Z_3.
// Newton's matrix I - h A (x) f' falls apart in the eigenvectors of A^-1 (one real, 3.64; one pair, 2.68 -+ 3.05 i) into one real
// and one complex system of the mechanism's own size. Of the two halves of y only velocities are unknowns: sigma_i = h sum_j a_ij
// rate(sigma_j, u_j) is solved on the way, exactly, as it costs no forces. Newton's correction of the velocities is then, with a
// = h / lambda,
//   (I - a da/du - a^2 da/dq) w = a l^T r,   r_i = accelerations(stage i) - (A^-1 Z)_i / h,   Z_i += v_i w.
//
// The error is estimated by comparison with a formula of order 3, filtered so that what is stiff does not count too much:
//   e = (I - g f')^-1 (g f(y_0) + e_1 Z_1 + e_2 Z_2 + e_3 Z_3),   g = h / lambda_1;
// once more where the step would be rejected. Of smooth motions it overstates what the step of order 5 errs by, the more the
// smaller it is; of undamped oscillations that a step hardly resolves it does not. So a step may take a little more of a small
// tolerance than of a large one, not its 2/3rd power (as programs for smooth motions have it): springs of 1e6 N/m without dampers
// would then err by a hundred times what was asked.
//
// Newton's method starts from the last step's polynomial, continued. Its matrix, and for steps of equal length its factors, are
// kept as long as it converges quickly.
#include <array>
#include <cmath>
#include <complex>

#include "integrate/mechanism.h"
#include "math/complex_vector.h"

namespace rotule {

/// What methods with coupled stages ask for: Newton's systems for several a at one state, complex ones too.
template <class M>
concept StiffMechanism = Mechanism<M> && requires(M m, const typename M::State& s, VecX& out, const VecX& r, VecXc& complex_out,
                                                  const VecXc& complex_r, double a, std::complex<double> c) {
  m.separate(a, s, a);                           // t, state, about the a to come; right after the accelerations there
  m.solve_separated(a, r, out);                  // (M - a D - a^2 K) out = M r + J^T y with J out = J r
  m.solve_separated(c, complex_r, complex_out);  // the same
};

template <StiffMechanism M>
class RadauStep;

/// Names the method, as tableaus do (tableau_5.h).
struct Radau5 {
  template <class M>
  using Step = RadauStep<M>;
  static constexpr int order = 4;  // of the estimate
  /// What one step may take of a tolerance, over it.
  static double share(double tolerance) { return 0.05 * std::pow(tolerance, -0.125); }

  static constexpr double root_6 = 2.44948974278317809820;
  static constexpr std::array<double, 3> c{(4 - root_6) / 10, (4 + root_6) / 10, 1};
  static constexpr std::array<std::array<double, 3>, 3> a{
      {{(88 - 7 * root_6) / 360, (296 - 169 * root_6) / 1800, (-2 + 3 * root_6) / 225},
       {(296 + 169 * root_6) / 1800, (88 + 7 * root_6) / 360, (-2 - 3 * root_6) / 225},
       {(16 - root_6) / 36, (16 + root_6) / 36, 1.0 / 9}}};
  static constexpr std::array<std::array<double, 3>, 3> inverse{
      {{3.2247448713915890491, 1.1678400846904054949, -0.25319726474218082619},
       {-3.5678400846904054949, 0.7752551286084109509, 1.0531972647421808262},
       {5.5319726474218082619, -7.5319726474218082619, 5.0}}};
  // Eigenvalues of the inverse, right and left eigenvectors; the third is the second's conjugate.
  using Complex = std::complex<double>;
  static constexpr double real_eigenvalue = 3.6378342527444957322;
  static constexpr Complex eigenvalue{2.6810828736277521339, 3.0504301992474105694};
  static constexpr std::array<double, 3> real_right{0.094438762488975241487, 0.25021312296533331138, 1};
  static constexpr std::array<double, 3> real_left{4.1787185915519047273, 0.32768282076106238708, 0.52337644549944954804};
  static constexpr std::array<Complex, 3> right{Complex{-0.14125529502095420843, 0.030029194105147424492},
                                                Complex{0.204129352293799932, -0.3829421127572619378}, Complex{1, 0}};
  static constexpr std::array<Complex, 3> left{Complex{-2.0893592957759523637, -0.25143631747289343798},
                                               Complex{-0.16384141038053119354, 1.2859634749278027146},
                                               Complex{0.23831177725027522598, -0.29801960241411246248}};
  static constexpr std::array<double, 3> error_weights{(-13 - 7 * root_6) / (3 * real_eigenvalue),
                                                       (-13 + 7 * root_6) / (3 * real_eigenvalue), -1 / (3 * real_eigenvalue)};

  static constexpr int most_iterations = 10;
  /// The next step over this one, by the errors and lengths of both (Gustafsson 1994). Errors are shares of what is allowed.
  static double predict(double error, double step, double error_before, double step_before, int iterations) {
    const double safety = 0.9 * (2 * most_iterations + 1) / (2.0 * most_iterations + iterations);
    const double by_error = safety * std::pow(error, -0.25);
    if (!(step_before > 0)) return by_error;
    return std::min(by_error, safety * step / step_before * std::pow(error_before / (error * error), 0.25));
  }
};

/// The velocities of the last step over its stages, from which the next one starts.
struct StagePolynomial {
  std::array<VecX, 3> u;  // Z_1, Z_2, Z_3
  double step = 0;        // s, that it was made for; 0: there is none
};

template <StiffMechanism M>
class RadauStep {
 public:
  using State = typename M::State;

  /// Whatever was kept of earlier steps is of another motion.
  void forget() {
    matrix_ = Matrix::none;
    contraction_ = left_ = 1;
  }

  /// Fixes the start of the step; `acceleration` is the one there. `evaluated`: it was the last one that the mechanism found.
  void begin(const State& s, const VecX& acceleration, const StagePolynomial& before, bool evaluated) {
    const Eigen::Index n = s.u.size();
    start_acceleration_ = acceleration;
    before_ = &before;
    if (matrix_ != Matrix::kept) matrix_ = Matrix::none;
    evaluated_ = evaluated;
    if (Z_[0].size() == n) return;
    stage_ = end_ = s;
    for (auto* list : {&Z_, &sigma_, &rate_, &accelerations_})
      for (VecX& v : *list) v.setZero(n);
    for (VecX* v : {&buffer_, &u_, &sigma_error_, &u_error_, &real_r_, &real_w_}) v->resize(n);
    for (VecXc* v : {&complex_r_, &complex_w_}) v->resize(n);
  }

  /// From the start at t to t + h; the estimated error by `norm(sigma, u)`, which is 1 for what is tolerated. `allowed`: what of
  /// it would be accepted. Infinite where Newton's method does not converge.
  template <class Norm>
  double attempt(M& m, const State& s, double t, double h, Norm&& norm, double allowed) {
    const bool old = matrix_ == Matrix::kept;
    start_ = &s;
    t_ = t;
    if (matrix_ == Matrix::none) take_matrix(m, s, t, h);
    bool solved = iterate(m, s, t, h, norm, allowed);
    if (!solved && old) {
      take_matrix(m, s, t, h);
      solved = iterate(m, s, t, h, norm, allowed);
    }
    if (!solved) return infinity;
    end_.u = s.u + Z_[2];
    m.displace(s, sigma_[2], end_);
    h_ = h;

    const double g = h / Radau5::real_eigenvalue;
    sigma_error_ = g * s.u;
    u_error_ = g * start_acceleration_;
    for (std::size_t i = 0; i < 3; ++i) {
      sigma_error_ += Radau5::error_weights[i] * sigma_[i];
      u_error_ += Radau5::error_weights[i] * Z_[i];
    }
    filter(m, s, t, g);
    double error = norm(sigma_error_, u_error_);
    if (error > allowed) {
      filter(m, s, t, g);
      error = norm(sigma_error_, u_error_);
    }
    return error;
  }

  /// Books the last attempt, which is to be taken; the state at its start still stands.
  void book_attempt(M& m) {
    for (std::size_t i = 0; keeps_books(m) && i < 3; ++i) {
      stage_.u = start_->u + Z_[i];
      m.displace(*start_, sigma_[i], stage_);
      book_anew(m, t_ + Radau5::c[i] * h_, stage_, h_ * Radau5::a[2][i]);
    }
  }

  /// The step was taken: what of it serves the next one.
  void keep(StagePolynomial& polynomial) {
    matrix_ = contraction_ < 0.02 ? Matrix::kept : Matrix::none;
    polynomial.u = Z_;
    polynomial.step = h_;
  }

  [[nodiscard]] bool keeps_matrix() const { return contraction_ < 0.02; }
  [[nodiscard]] State& end() { return end_; }
  /// Of the last attempt, and of all so far.
  [[nodiscard]] int iterations() const { return iterations_; }
  std::int64_t all_iterations = 0;

  /// The state at theta from 0 to 1 of the last attempt, which began at `s`: the collocation polynomial, of order 3.
  void interpolate(M& m, const State& s, double theta, State& out) {
    if (out.u.size() != s.u.size()) out = s;
    const std::array<double, 3> weight = weights(theta);
    buffer_ = weight[0] * sigma_[0] + weight[1] * sigma_[1] + weight[2] * sigma_[2];
    m.displace(s, buffer_, out);
    out.u = s.u + weight[0] * Z_[0] + weight[1] * Z_[1] + weight[2] * Z_[2];
  }

 private:
  enum class Matrix : std::uint8_t { none, kept, fresh };

  /// Of the polynomial that is 0 at 0: weights of its values at the stages.
  static std::array<double, 3> weights(double x) {
    constexpr auto& c = Radau5::c;
    std::array<double, 3> out;
    for (std::size_t i = 0; i < 3; ++i) {
      out[i] = x / c[i];
      for (std::size_t j = 0; j < 3; ++j)
        if (j != i) out[i] *= (x - c[j]) / (c[i] - c[j]);
    }
    return out;
  }

  void take_matrix(M& m, const State& s, double t, double h) {
    if (!evaluated_) m.accelerations(t, s, start_acceleration_);
    m.separate(t, s, h / Radau5::real_eigenvalue);
    matrix_ = Matrix::fresh;
  }

  void predict(double h) {
    const StagePolynomial& before = *before_;
    constexpr double farthest = 4;  // steps ahead that a cubic is believed
    if (before.step > 0 && before.u[0].size() == Z_[0].size() && h <= farthest * before.step) {
      for (std::size_t i = 0; i < 3; ++i) {
        const std::array<double, 3> weight = weights(1 + Radau5::c[i] * h / before.step);
        Z_[i] = weight[0] * before.u[0] + weight[1] * before.u[1] + (weight[2] - 1) * before.u[2];
      }
    } else {
      for (std::size_t i = 0; i < 3; ++i) Z_[i] = Radau5::c[i] * h * start_acceleration_;
    }
  }

  /// The chart's half of the stages, for the velocities of now. Contracts by h |omega| / 4 or so.
  bool settle_charts(M& m, const State& s, double h) {
    double before = infinity;
    for (int k = 0; k < 60; ++k) {
      for (std::size_t i = 0; i < 3; ++i) {
        u_ = s.u + Z_[i];
        m.rate(sigma_[i], u_, rate_[i]);
      }
      double change = 0, size = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        buffer_ = h * (Radau5::a[i][0] * rate_[0] + Radau5::a[i][1] * rate_[1] + Radau5::a[i][2] * rate_[2]);
        for (Eigen::Index n = 0; n < buffer_.size(); ++n) {
          change = std::max(change, std::abs(buffer_[n] - sigma_[i][n]));
          size = std::max(size, std::abs(buffer_[n]));
        }
        sigma_[i] = buffer_;
      }
      if (!std::isfinite(change + size)) return false;
      if (change <= 4 * std::numeric_limits<double>::epsilon() * size) return true;
      if (k > 3 && !(change < before)) return change <= 1e-13 * size;
      before = change;
    }
    return false;
  }

  template <class Norm>
  bool iterate(M& m, const State& s, double t, double h, Norm&& norm, double allowed) {
    // What is left may be a thousandth of the tolerance, as it adds up over many short steps. What rounding leaves need not be
    // less than a hundredth of what the step's own error may be.
    constexpr double small = 1e-3, rounding = 1e-2;
    evaluated_ = false;
    contraction_ = 1;
    iterations_ = 0;
    predict(h);
    for (std::size_t i = 0; i < 3; ++i) sigma_[i] = Radau5::c[i] * h * s.u;
    double before = 0, left = std::pow(std::max(left_, 1e-16), 0.8);
    for (int k = 0; k < Radau5::most_iterations; ++k) {
      ++iterations_;
      ++all_iterations;
      if (!settle_charts(m, s, h)) return false;
      const double size = correct(m, s, t, h, norm);
      if (!std::isfinite(size)) return false;
      if (k > 0) {
        contraction_ = before > 0 ? size / before : 0;
        if (contraction_ >= 0.99) return size <= rounding * allowed && settle_charts(m, s, h);
        left = contraction_ / (1 - contraction_);
        const double at_the_end = size * left * std::pow(contraction_, Radau5::most_iterations - 2 - k);
        if (at_the_end > small && size > rounding * allowed) return false;
      }
      if (left * size <= small) {
        left_ = left;
        if (k == 0) contraction_ = 0;
        return settle_charts(m, s, h);
      }
      before = size;
    }
    return false;
  }

  /// One correction of Newton's method; its size.
  template <class Norm>
  double correct(M& m, const State& s, double t, double h, Norm&& norm) {
    for (std::size_t i = 0; i < 3; ++i) {
      stage_.u = s.u + Z_[i];
      m.displace(s, sigma_[i], stage_);
      m.accelerations(t + Radau5::c[i] * h, stage_, accelerations_[i]);
    }
    real_r_.setZero();
    complex_r_.setZero();
    for (std::size_t i = 0; i < 3; ++i) {
      const auto& row = Radau5::inverse[i];
      buffer_ = accelerations_[i] - (row[0] * Z_[0] + row[1] * Z_[1] + row[2] * Z_[2]) / h;
      real_r_ += Radau5::real_left[i] * buffer_;
      complex_r_ += Radau5::left[i] * buffer_;
    }
    const double a = h / Radau5::real_eigenvalue;
    const std::complex<double> b = h / Radau5::eigenvalue;
    m.solve_separated(a, real_r_, real_w_);
    m.solve_separated(b, complex_r_, complex_w_);
    double size = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      buffer_ = a * Radau5::real_right[i] * real_w_ + 2 * (b * Radau5::right[i] * complex_w_).real();
      Z_[i] += buffer_;
      u_ = Radau5::c[i] * h * buffer_;
      size = std::max(size, norm(u_, buffer_));
    }
    return size;
  }

  /// (sigma_error_, u_error_) by (I - g f')^-1 times them, da/dq by a difference.
  void filter(M& m, const State& s, double t, double g) {
    stage_.u = s.u;
    m.displace(s, sigma_error_, stage_);
    m.accelerations(t, stage_, buffer_);
    real_r_ = u_error_ + g * (buffer_ - start_acceleration_);
    m.solve_separated(g, real_r_, u_error_);
    sigma_error_ += g * u_error_;
  }

  std::array<VecX, 3> Z_, sigma_, rate_, accelerations_;
  VecX start_acceleration_, buffer_, u_, sigma_error_, u_error_, real_r_, real_w_;
  VecXc complex_r_, complex_w_;
  State stage_, end_;
  const StagePolynomial* before_ = nullptr;
  const State* start_ = nullptr;  // of the last attempt
  Matrix matrix_ = Matrix::none;
  bool evaluated_ = false;  // whether the last accelerations were those at the start
  double contraction_ = 1, left_ = 1, h_ = 0, t_ = 0;
  int iterations_ = 0;
};

}  // namespace rotule
