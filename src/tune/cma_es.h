#pragma once
// Covariance matrix adaptation evolution strategy, as in N. Hansen, The CMA Evolution Strategy: A Tutorial (arXiv:1604.00772).
//
//   x_k = m + sigma y_k,   y_k = B D z_k,   z_k ~ N(0, I),   C = B D^2 B^T                  sampling
//   m <- m + sigma <y>_w,   <y>_w = sum_{i <= mu} w_i y_{i:lambda}                          selection and recombination
//   p_s <- (1 - c_s) p_s + sqrt(c_s (2 - c_s) mu_eff) C^-1/2 <y>_w
//   sigma <- sigma exp(c_s / d_s (|p_s| / E|N(0, I)| - 1))                                  step-size control
//   p_c <- (1 - c_c) p_c + h_s sqrt(c_c (2 - c_c) mu_eff) <y>_w
//   C <- (1 + c_1 dh - c_1 - c_mu sum w_j) C + c_1 p_c p_c^T + c_mu sum_i w_i° y_i y_i^T    rank one and rank mu
//
// Weights of the worse half are negative (active), unless switched off; parameters are those of the tutorial's table 1. `ask`
// gives a whole generation, `tell` takes its values, so that all may be evaluated at once. The generator is its own: the same
// seed gives the same bits on every machine.
//
// Bounds: a point outside is evaluated at the nearest one inside, and pays for the distance; the weights of the payment adapt
// (Hansen, Niederberger, Guzzella and Koumoutsakos 2009, section IV-B). The optimum may lie on a bound.
#include <Eigen/Core>
#include <cstdint>
#include <string_view>
#include <vector>

#include "tune/same_bits.h"

namespace rotule::tune {

/// Why a search ended: the tutorial's criteria (B.3), and the two that its programs add.
enum class Stop {
  none,
  fitness,           // the value asked for is reached
  evaluations,       // the most that were allowed
  tol_fun,           // values of the last generations and of this one within tol_fun
  tol_hist_fun,      // best values of the last generations within tol_hist_fun
  equal_fun_values,  // best values of the last generations all the same
  tol_x,             // deviations and path below tol_x
  tol_up_sigma,      // deviation has grown without end: the first step was far too small
  condition_cov,
  no_effect_axis,
  no_effect_coordinate,
  stagnation
};
std::string_view to_string(Stop stop);

struct CmaSettings {
  int population = 0;  // lambda; 0: 4 + floor(3 ln n)
  int parents = 0;     // mu; 0: half of lambda
  bool active = true;  // negative weights
  double stop_fitness = -std::numeric_limits<double>::infinity();
  double tol_fun = 1e-12;
  double tol_hist_fun = 0;  // 0: only where they are all equal
  double tol_x = 1e-12;     // times the first sigma
  double tol_up_sigma = 1e4;
  double condition_cov = 1e14;
  std::int64_t max_evaluations = 0;  // 0: no limit
};

/// Where to search: `start` and `deviation` per coordinate, bounds where finite. A coordinate that is read as a whole number
/// keeps a deviation of at least `least_deviation`, so that it does not freeze on the first number that is good.
struct SearchSpace {
  Eigen::VectorXd start, deviation, lower, upper;  // bounds: empty, or one per coordinate
  Eigen::VectorXd least_deviation;                 // empty, or one per coordinate
};

class CmaEs {
 public:
  CmaEs(SearchSpace space, const CmaSettings& settings, std::uint64_t seed, std::uint64_t stream = 0);

  /// The next generation, one point per column, within the bounds.
  const Eigen::MatrixXd& ask();
  /// Their values; not a number counts as infinite.
  void tell(const Eigen::VectorXd& values);
  [[nodiscard]] Stop stop() const { return stop_; }

  [[nodiscard]] int dimension() const { return n_; }
  [[nodiscard]] int population() const { return lambda_; }
  [[nodiscard]] int generation() const { return generation_; }
  [[nodiscard]] std::int64_t evaluations() const { return evaluations_; }
  [[nodiscard]] const Eigen::VectorXd& best() const { return best_; }
  [[nodiscard]] double best_value() const { return best_value_; }
  [[nodiscard]] double generation_best() const { return generation_best_; }
  [[nodiscard]] double generation_median() const { return generation_median_; }
  /// Of the distribution, in the coordinates of the search.
  [[nodiscard]] Eigen::VectorXd mean() const { return unscaled(m_); }
  [[nodiscard]] double sigma() const { return sigma_; }
  [[nodiscard]] const Eigen::VectorXd& axes() const { return D_; }
  [[nodiscard]] Eigen::VectorXd deviations() const;

  /// What the published counts of evaluations rest on: how much of the population the weights let count.
  [[nodiscard]] double mu_eff() const { return mu_eff_; }
  [[nodiscard]] const Eigen::VectorXd& weights() const { return w_; }
  [[nodiscard]] double c_1() const { return c_1_; }
  [[nodiscard]] double c_mu() const { return c_mu_; }

 private:
  void set_weights(bool active);
  void decompose();
  void pay_for_bounds(const Eigen::VectorXd& values);
  void keep_deviations();
  [[nodiscard]] Stop judge(const Eigen::VectorXd& sorted) const;
  [[nodiscard]] Eigen::VectorXd unscaled(const Eigen::VectorXd& y) const { return y.cwiseProduct(scale_); }
  [[nodiscard]] Eigen::VectorXd repaired(const Eigen::VectorXd& y) const;

  CmaSettings settings_;
  int n_, lambda_, mu_;
  Random random_;
  // Inside, coordinates are in units of their first deviation, and sigma begins at 1.
  Eigen::VectorXd scale_, lower_, upper_, least_;
  Eigen::VectorXd w_;
  double mu_eff_ = 0, c_s_ = 0, d_s_ = 0, c_c_ = 0, c_1_ = 0, c_mu_ = 0, expected_norm_ = 0;

  Eigen::VectorXd m_, last_m_, p_s_, p_c_, D_;
  Eigen::MatrixXd C_, B_;
  double sigma_ = 1;
  int generation_ = 0, decomposed_at_ = 0;
  std::int64_t evaluations_ = 0;

  Eigen::MatrixXd y_;      // steps of this generation, before any repair
  Eigen::MatrixXd asked_;  // its points, repaired, as the caller sees them
  Eigen::VectorXd penalised_, gamma_;
  std::vector<double> spreads_;  // of values, in recent generations: what distances are weighed against
  bool weighed_ = false;

  Eigen::VectorXd best_;
  double best_value_ = std::numeric_limits<double>::infinity(), generation_best_ = 0, generation_median_ = 0;
  std::vector<double> best_history_, median_history_;
  Stop stop_ = Stop::none;
};

}  // namespace rotule::tune
