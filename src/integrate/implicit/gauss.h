#pragma once
// Gauss-Legendre collocation with S stages: y+ = y + h sum b_i f(Y_i), Y_i = y + h sum_j a_ij f(Y_j), in the chart at the step's
// start. Order 2 S, A-stable with |R| = 1 on the imaginary axis; symplectic in flat spaces. On stiff problems the order that
// shows falls to that of a stage, S; what is too fast for the step rings on.
//
// The stages are coupled. Newton's matrix I - h A (x) T would need complex systems; here A is replaced by a lower triangular L
// with equal diagonal g, so that stages are solved one after the other with the one matrix of (g h, g^2 h^2), and iterated. On y'
// = lambda y what is left contracts by z (I - z L)^-1 (A - L) per sweep (van der Houwen and de Swart 1997): L is chosen so that
// the largest spectral radius of this over the left half plane is small: 0.134 for two stages, 0.196 for three. Where the motion
// turns much within a step one matrix fits no stage well, and sweeps contract less; Anderson's mixing of the last few makes up
// for most of it. Fails where sweeps do not contract in spite of a new matrix: the step is then halved.
#include <array>
#include <numbers>

#include "base/spans.h"
#include "integrate/implicit/newton.h"
#include "linalg/anderson_mixing.h"

namespace rotule {

template <int S>
struct GaussTable;

template <>
struct GaussTable<2> {
  static constexpr double r = std::numbers::sqrt3 / 6;
  static constexpr std::array<double, 2> b{0.5, 0.5}, c{0.5 - r, 0.5 + r};
  static constexpr std::array<std::array<double, 2>, 2> a{{{0.25, 0.25 - r}, {0.25 + r, 0.25}}};
  // I - L^-1 A is nilpotent, and A - L of rank one: sqrt(1/12) below sqrt(1/3).
  static constexpr std::array<std::array<double, 2>, 2> L{{{r, 0}, {2 * r, r}}};
};

template <>
struct GaussTable<3> {
  static constexpr double r = 3.87298334620741688518;  // sqrt 15
  static constexpr std::array<double, 3> b{5.0 / 18, 4.0 / 9, 5.0 / 18}, c{0.5 - r / 10, 0.5, 0.5 + r / 10};
  static constexpr std::array<std::array<double, 3>, 3> a{{{5.0 / 36, 2.0 / 9 - r / 15, 5.0 / 36 - r / 30},
                                                           {5.0 / 36 + r / 24, 2.0 / 9, 5.0 / 36 - r / 24},
                                                           {5.0 / 36 + r / 30, 2.0 / 9 + r / 15, 5.0 / 36}}};
  // By minimising the spectral radius over the imaginary axis.
  static constexpr std::array<std::array<double, 3>, 3> L{{{0.20658, 0, 0}, {0.23627, 0.20658, 0}, {0.169, 0.50916, 0.20658}}};
};

template <ImplicitMechanism M, int S>
class Gauss {
  using Table = GaussTable<S>;

 public:
  explicit Gauss(const NewtonSettings& settings) : settings_(settings) {}

  void advance(M& m, typename M::State& s, double t, double h) {
    report = {};
    in_halves(t, h, settings_.max_halvings, report, [&](double from, double step, bool last) {
      const bool solved = iterate(m, s, from, step);
      if (!solved && !last) return false;
      if (keeps_books(m)) book_stages(m, s, from, step);
      sigma_.setZero(s.u.size());
      for (int i = 0; i < S; ++i) {
        sigma_ += step * Table::b[i] * rate(x_, i);
        s.u += step * Table::b[i] * A(x_, i);
      }
      m.displace(s, sigma_, s);
      return solved;
    });
  }

  ImplicitReport report;

 private:
  void book_stages(M& m, const typename M::State& s, double t, double h) {
    for (int i = 0; i < S; ++i) {
      sigma_.setZero();
      stage_.u = s.u;
      for (int j = 0; j < S; ++j) {
        sigma_ += h * Table::a[i][j] * rate(x_, j);
        stage_.u += h * Table::a[i][j] * A(x_, j);
      }
      m.displace(s, sigma_, stage_);
      book_anew(m, t + Table::c[i] * h, stage_, h * Table::b[i]);
    }
  }

  // Of x_ and f_: the accelerations of the stages, then the rates of their charts.
  using Part = Eigen::VectorBlock<VecX>;
  [[nodiscard]] Part A(VecX& all, int i) const { return all.segment(i * size_, size_); }
  [[nodiscard]] Part rate(VecX& all, int i) const { return all.segment((S + i) * size_, size_); }

  bool iterate(M& m, const typename M::State& s, double t, double h) {
    constexpr int window = 5;
    size_ = s.u.size();
    const Eigen::Index all = 2 * S * size_;
    x_.setZero(all);
    metric_.setOnes(all);
    for (int i = 0; i < S; ++i) {
      rate(x_, i) = s.u;
      A(metric_, i).setConstant(h * h);
    }
    sigma_.resizeLike(s.u);
    stage_ = s;
    double before = infinity;
    bool wants_matrix = true;
    int since_matrix = 0, stalls = 0, rises = 0;
    for (int k = 0; k < settings_.max_iterations; ++k) {
      ++report.iterations;
      f_.setZero(all);
      double size = 0;
      for (int i = 0; i < S; ++i) {
        if (!sweep(m, s, t, h, i, wants_matrix && i == 0)) return false;
        size = std::max(size, h * Table::L[0][0] * A(f_, i).template lpNorm<Eigen::Infinity>());
      }
      if (!std::isfinite(size)) return false;
      if (wants_matrix) mixing_.begin(static_cast<std::size_t>(all), static_cast<std::size_t>(all), window);
      since_matrix = std::exchange(wants_matrix, false) ? 1 : since_matrix + 1;
      x_ += f_;
      const double scale = velocity_scale(stage_.u);
      if (size <= settings_.tolerance * scale) return true;
      if (k > 1 && size > 0.5 * before) {
        if (size > before && size <= 1e-7 * scale && ++rises > 1) return true;  // rounding; mixing alone may err once
        if (size > before && ++stalls > 3) return false;
        wants_matrix = since_matrix > 1;
      }
      before = size;
      mixing_.mix(view(metric_), f_.data(), view(x_));
    }
    return false;
  }

  /// Newton's correction of one stage, given those of the stages before it in this sweep.
  bool sweep(M& m, const typename M::State& s, double t, double h, int i, bool linearise) {
    const double g = h * Table::L[i][i];
    sigma_0_.setZero(size_);
    stage_.u = s.u;
    for (int j = 0; j < S; ++j) {
      sigma_0_ += h * Table::a[i][j] * rate(x_, j);
      stage_.u += h * Table::a[i][j] * A(x_, j);
    }
    for (int j = 0; j < i; ++j) {
      sigma_0_ += h * Table::L[i][j] * rate(f_, j);
      stage_.u += h * Table::L[i][j] * A(f_, j);
    }
    // The chart's half of the stage is solved exactly, so that only accelerations are left to correct.
    sigma_0_ -= g * rate(x_, i);
    if (!settle_chart(m, sigma_0_, g, stage_.u, sigma_, rate_)) return false;
    m.displace(s, sigma_, stage_);
    m.accelerations(t + Table::c[i] * h, stage_, r_);
    if (linearise) m.linearise(t + Table::c[i] * h, stage_);
    r_ -= A(x_, i);
    dA_.resizeLike(r_);
    m.solve_implicit(g, g * g, r_, dA_);
    A(f_, i) = dA_;
    rate(f_, i) = rate_ + g * dA_ - rate(x_, i);
    return true;
  }

  NewtonSettings settings_;
  typename M::State stage_;
  Eigen::Index size_ = 0;
  VecX x_, f_, metric_;  // all stages' derivatives, their corrections in this sweep, and what squares of those count
  VecX sigma_, sigma_0_, rate_, dA_, r_;
  AndersonMixing mixing_;
};

}  // namespace rotule
