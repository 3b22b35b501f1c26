#pragma once
// One step of an embedded Runge-Kutta pair in the chart around its start: the end state, an estimate of its error, and a
// continuous extension over the step,
//   y(theta) = y0 + theta (D + (1 - theta) (h f0 - D + theta (2 D - h (f0 + f1) + (1 - theta) (h d1 + theta (h d2 + ...))))),
// D = y1 - y0, with weights d of the tableau (Hairer, Norsett and Wanner, Solving ODEs I, II.6). The last stage stands at the end
// of the step and serves the next one as its first.
#include <algorithm>
#include <array>
#include <utility>

#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M, class Tableau>
class EmbeddedPair {
 public:
  using State = typename M::State;

  /// Fixes the start of the step at t; `acceleration` is the one there.
  void begin(M& m, const State& s, double t, const VecX& acceleration) {
    const Eigen::Index n = s.u.size();
    if (rates_.rows() != n) {
      rates_.setZero(n, Tableau::dense_stages);
      accelerations_.setZero(n, Tableau::dense_stages);
    }
    if (end_.u.size() != n) end_ = stage_ = s;
    rates_.col(0) = s.u;
    accelerations_.col(0) = acceleration;
    for (VecX* v : {&sigma_, &sigma_error_, &u_error_, &buffer_, &sigma_end_}) v->resize(n);
    dense_ready_ = false;
    if constexpr (BookKeeper<M>)
      if (keeps_books(m)) m.flow_anew(t, s, flows_[0]);
  }

  /// Books the last attempt, which is to be taken: the weights of its end are those of the stages before the last.
  void book_attempt(M& m) {
    if constexpr (BookKeeper<M>) {
      constexpr int last = Tableau::stages - 1;
      for (int j = 0; keeps_books(m) && j < last; ++j)
        if (Tableau::a[last][j] != 0) m.book(flows_[j], h_ * Tableau::a[last][j]);
    }
  }

  /// From the start at t to t + h. `norm(sigma, u)` measures an error; what it gives times h is the estimate that is returned.
  /// Where the numbers overflow, the estimate is not a number.
  template <class Norm>
  double attempt(M& m, const State& s, double t, double h, Norm&& norm) {
    h_ = h;
    t_ = t;
    dense_ready_ = false;
    constexpr int last = Tableau::stages - 1;
    [&]<int... k>(std::integer_sequence<int, k...>) { (stage<k + 1>(m, s), ...); }
    (std::make_integer_sequence<int, last - 1>());
    combine<last>(s, sigma_end_, end_);
    m.displace(s, sigma_end_, end_);
    at_end_ = false;
    if constexpr (Tableau::error_at_end) evaluate_end(m);
    std::array<double, Tableau::error.size()> norms;
    [&]<std::size_t... e>(std::index_sequence<e...>) { ((norms[e] = error<e>(norm)), ...); }
    (std::make_index_sequence<Tableau::error.size()>());
    return h * Tableau::combine(norms);
  }

  /// The end of the last attempt; whoever accepts it may take it away.
  [[nodiscard]] State& end() { return end_; }
  /// Whether the acceleration at the end was needed for the estimate, and so is known: the one before any correction of drift.
  [[nodiscard]] bool knows_end() const { return at_end_; }
  [[nodiscard]] auto known_end_acceleration() const { return accelerations_.col(Tableau::stages - 1); }

  /// The state at theta from 0 to 1 of the last attempt, which began at `s`.
  void interpolate(M& m, const State& s, double theta, State& out) {
    if (!dense_ready_) prepare_dense(m, s);
    if (out.u.size() != s.u.size()) out = s;
    const double rest = 1 - theta;
    // From the innermost bracket outwards; the factors alternate, 1 - theta and theta.
    const auto value = [&](const MatX& f, VecX& y) {
      y = f.col(f.cols() - 1);
      for (Eigen::Index k = f.cols() - 2; k >= 0; --k) y = f.col(k) + (k % 2 == 0 ? rest : theta) * y;
      y *= theta;
    };
    value(dense_sigma_, sigma_);
    value(dense_u_, buffer_);
    m.displace(s, sigma_, out);
    out.u = s.u + buffer_;
  }

 private:
  // Rows of the tableau as types, so that their numbers are known when the sums over them are compiled.
  template <int k>
  struct StageWeights {
    static constexpr double at(int j) { return Tableau::a[k][j]; }
  };
  template <std::size_t e>
  struct ErrorWeights {
    static constexpr double at(int j) { return Tableau::error[e][j]; }
  };
  template <std::size_t d>
  struct DenseWeights {
    static constexpr double at(int j) { return Tableau::dense[d][j]; }
  };

  /// sum of weights[j] columns[j] over the weights that are not zero, in one pass.
  template <class Weights, int count>
  static void weighted_sum(const MatX& columns, double h, VecX& out) {
    const Eigen::Index n = columns.rows();
    const double* from = columns.data();
    double* to = out.data();
    [&]<int... j>(std::integer_sequence<int, j...>) {
      for (Eigen::Index i = 0; i < n; ++i) {
        double sum = 0;
        ((Weights::at(j) != 0 ? void(sum += Weights::at(j) * from[j * n + i]) : void()), ...);
        to[i] = h * sum;
      }
    }
    (std::make_integer_sequence<int, count>());
  }

  template <int k>
  void combine(const State& s, VecX& sigma, State& out) {
    weighted_sum<StageWeights<k>, k>(rates_, h_, sigma);
    weighted_sum<StageWeights<k>, k>(accelerations_, h_, buffer_);
    out.u = s.u + buffer_;
  }

  template <int k>
  void stage(M& m, const State& s) {
    combine<k>(s, sigma_, stage_);
    m.displace(s, sigma_, stage_);
    m.accelerations(t_ + Tableau::c[k] * h_, stage_, buffer_);
    if constexpr (BookKeeper<M> && k < Tableau::stages - 1)
      if (keeps_books(m)) m.flow(t_ + Tableau::c[k] * h_, stage_, buffer_, flows_[k]);
    accelerations_.col(k) = buffer_;
    m.rate(sigma_, stage_.u, buffer_);
    rates_.col(k) = buffer_;
  }

  void evaluate_end(M& m) {
    constexpr int last = Tableau::stages - 1;
    m.accelerations(t_ + h_, end_, buffer_);
    accelerations_.col(last) = buffer_;
    m.rate(sigma_end_, end_.u, buffer_);
    rates_.col(last) = buffer_;
    at_end_ = true;
  }

  template <std::size_t e, class Norm>
  double error(Norm&& norm) {
    constexpr int count = static_cast<int>(Tableau::error[e].size());
    weighted_sum<ErrorWeights<e>, count>(rates_, 1, sigma_error_);
    weighted_sum<ErrorWeights<e>, count>(accelerations_, 1, u_error_);
    return norm(sigma_error_, u_error_);
  }

  void prepare_dense(M& m, const State& s) {
    if (!at_end_) evaluate_end(m);
    constexpr int extra = Tableau::dense_stages - Tableau::stages;
    [&]<int... k>(std::integer_sequence<int, k...>) { (stage<Tableau::stages + k>(m, s), ...); }
    (std::make_integer_sequence<int, extra>());
    constexpr int last = Tableau::stages - 1;
    const Eigen::Index n = s.u.size();
    const auto fill = [&](const MatX& k, const VecX& change, MatX& f) {
      f.resize(n, 3 + static_cast<Eigen::Index>(Tableau::dense.size()));
      f.col(0) = change;
      f.col(1) = h_ * k.col(0) - change;
      f.col(2) = 2 * change - h_ * (k.col(0) + k.col(last));
      [&]<std::size_t... d>(std::index_sequence<d...>) {
        ((weighted_sum<DenseWeights<d>, Tableau::dense_stages>(k, h_, buffer_), f.col(3 + d) = buffer_), ...);
      }
      (std::make_index_sequence<Tableau::dense.size()>());
    };
    fill(rates_, sigma_end_, dense_sigma_);
    sigma_ = end_.u - s.u;
    fill(accelerations_, sigma_, dense_u_);
    dense_ready_ = true;
  }

  struct NoFlow {};
  template <class Kept>
  struct FlowOf {
    using type = NoFlow;
  };
  template <BookKeeper Kept>
  struct FlowOf<Kept> {
    using type = typename Kept::Flow;
  };

  std::array<typename FlowOf<M>::type, Tableau::stages> flows_;  // what the books want of each stage
  MatX rates_, accelerations_, dense_sigma_, dense_u_;           // one column per stage, or per bracket of the extension
  VecX sigma_, sigma_end_, sigma_error_, u_error_, buffer_;
  State stage_, end_;
  double h_ = 0, t_ = 0;
  bool at_end_ = false, dense_ready_ = false;
};

}  // namespace rotule
