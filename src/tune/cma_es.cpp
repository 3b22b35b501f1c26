#include "tune/cma_es.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "linalg/decompositions.h"

namespace rotule::tune {

std::string_view to_string(Stop stop) {
  constexpr std::string_view names[] = {
      "none",  "fitness",      "evaluations",   "tol_fun",        "tol_hist_fun",         "equal_fun_values",
      "tol_x", "tol_up_sigma", "condition_cov", "no_effect_axis", "no_effect_coordinate", "stagnation"};
  return names[static_cast<int>(stop)];
}

CmaEs::CmaEs(SearchSpace space, const CmaSettings& settings, std::uint64_t seed, std::uint64_t stream)
    : settings_(settings), n_(static_cast<int>(space.start.size())), random_(seed, stream) {
  if (n_ < 1 || space.deviation.size() != n_ || !(space.deviation.array() > 0).all())
    throw Error("CMA-ES", "a start and a deviation above 0 per coordinate are needed");
  lambda_ = settings.population > 0 ? settings.population : 4 + static_cast<int>(std::floor(3 * same_log(n_)));
  if (lambda_ < 2) throw Error("CMA-ES", "a population has at least 2 members");
  mu_ = settings.parents > 0 ? std::min(settings.parents, lambda_ - 1) : lambda_ / 2;
  scale_ = space.deviation;
  if (space.lower.size() == n_) lower_ = space.lower.cwiseQuotient(scale_);
  if (space.upper.size() == n_) upper_ = space.upper.cwiseQuotient(scale_);
  if (space.least_deviation.size() == n_) least_ = space.least_deviation.cwiseQuotient(scale_);
  set_weights(settings.active);
  m_ = last_m_ = space.start.cwiseQuotient(scale_);
  p_s_ = p_c_ = Eigen::VectorXd::Zero(n_);
  D_ = Eigen::VectorXd::Ones(n_);
  B_ = C_ = Eigen::MatrixXd::Identity(n_, n_);
  gamma_ = Eigen::VectorXd::Zero(n_);
  y_.resize(n_, lambda_);
  asked_.resize(n_, lambda_);
}

/// Table 1 of the tutorial.
void CmaEs::set_weights(bool active) {
  const double n = n_;
  w_.resize(lambda_);
  for (int i = 0; i < lambda_; ++i) w_[i] = same_log((lambda_ + 1) / 2.0) - same_log(i + 1);
  // A number of parents other than half: weights fall to zero behind the last of them.
  if (mu_ != lambda_ / 2)
    for (int i = 0; i < lambda_; ++i) w_[i] = same_log(mu_ + 0.5) - same_log(i + 1);
  const auto good = w_.head(mu_), bad = w_.tail(lambda_ - mu_);
  mu_eff_ = good.sum() * good.sum() / good.squaredNorm();
  const double mu_eff_bad = bad.squaredNorm() > 0 ? bad.sum() * bad.sum() / bad.squaredNorm() : 0.0;

  c_s_ = (mu_eff_ + 2) / (n + mu_eff_ + 5);
  d_s_ = 1 + 2 * std::max(0.0, std::sqrt((mu_eff_ - 1) / (n + 1)) - 1) + c_s_;
  c_c_ = (4 + mu_eff_ / n) / (n + 4 + 2 * mu_eff_ / n);
  c_1_ = 2 / ((n + 1.3) * (n + 1.3) + mu_eff_);
  c_mu_ = std::min(1 - c_1_, 2 * (0.25 + mu_eff_ + 1 / mu_eff_ - 2) / ((n + 2) * (n + 2) + mu_eff_));
  expected_norm_ = std::sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));

  w_.head(mu_) /= good.sum();
  const double total = -bad.sum();
  if (!active || !(total > 0)) {
    w_.tail(lambda_ - mu_).setZero();
    return;
  }
  const double alpha = std::min({1 + c_1_ / c_mu_, 1 + 2 * mu_eff_bad / (mu_eff_ + 2), (1 - c_1_ - c_mu_) / (n * c_mu_)});
  w_.tail(lambda_ - mu_) *= alpha / total;
  w_.tail(lambda_ - mu_) = w_.tail(lambda_ - mu_).cwiseMin(0.0);
}

Eigen::VectorXd CmaEs::repaired(const Eigen::VectorXd& y) const {
  Eigen::VectorXd inside = y;
  if (lower_.size() > 0) inside = inside.cwiseMax(lower_);
  if (upper_.size() > 0) inside = inside.cwiseMin(upper_);
  return inside;
}

const Eigen::MatrixXd& CmaEs::ask() {
  // Eigenvectors age by little from one generation to the next: they are found anew only now and then.
  const double aged = generation_ - decomposed_at_;
  if (generation_ > 0 && aged > 1 / ((c_1_ + c_mu_) * n_ * 10)) decompose();
  for (int k = 0; k < lambda_; ++k) {
    Eigen::VectorXd z(n_);
    for (int i = 0; i < n_; ++i) z[i] = random_.normal();
    y_.col(k) = B_ * D_.cwiseProduct(z);
    asked_.col(k) = unscaled(repaired(m_ + sigma_ * y_.col(k)));
  }
  return asked_;
}

void CmaEs::decompose() {
  C_ = (0.5 * (C_ + C_.transpose())).eval();
  const SymmetricEigen eigen = symmetric_eigen(C_);
  B_ = eigen.vectors;
  const double largest = eigen.values[n_ - 1];
  D_ = eigen.values.cwiseMax(largest * 1e-20).cwiseSqrt();
  decomposed_at_ = generation_;
}

/// Values of points outside are raised by sum gamma_i d_i^2 / xi_i, d the way back inside. The weights gamma begin at the size
/// of what values differ by, as soon as the mean is outside, and grow while it is far out and moves further.
void CmaEs::pay_for_bounds(const Eigen::VectorXd& values) {
  penalised_ = values;
  if (lower_.size() == 0 && upper_.size() == 0) return;
  std::vector<double> sorted(values.data(), values.data() + lambda_);
  std::sort(sorted.begin(), sorted.end());
  const Eigen::VectorXd variance = C_.diagonal();
  const double spread = (sorted[3 * lambda_ / 4] - sorted[lambda_ / 4]) / (sigma_ * sigma_ * variance.mean());
  const std::size_t kept = static_cast<std::size_t>(20 + 3.0 * n_ / lambda_);
  if (std::isfinite(spread) && spread > 0) {
    spreads_.push_back(spread);
    if (spreads_.size() > kept) spreads_.erase(spreads_.begin());
  }
  const Eigen::VectorXd out = m_ - repaired(m_);
  if (!weighed_ && (out.array() != 0).any() && !spreads_.empty()) {
    std::vector<double> recent = spreads_;
    std::nth_element(recent.begin(), recent.begin() + recent.size() / 2, recent.end());
    gamma_.setConstant(2 * recent[recent.size() / 2]);
    weighed_ = true;
  }
  const double reach = 3 * std::max(1.0, std::sqrt(static_cast<double>(n_)) / mu_eff_);
  const double growth = same_exp(same_log(1.1) * std::max(1.0, mu_eff_ / (10.0 * n_)));
  for (int i = 0; i < n_; ++i)
    if (weighed_ && std::abs(out[i]) > reach * sigma_ * std::sqrt(variance[i]) && out[i] * (m_[i] - last_m_[i]) > 0)
      gamma_[i] *= growth;

  double mean_log = 0;
  for (int i = 0; i < n_; ++i) mean_log += same_log(variance[i]) / n_;
  for (int k = 0; k < lambda_; ++k) {
    const Eigen::VectorXd x = m_ + sigma_ * y_.col(k), way = x - repaired(x);
    for (int i = 0; i < n_; ++i)
      if (way[i] != 0) penalised_[k] += gamma_[i] * way[i] * way[i] / same_exp(0.9 * (same_log(variance[i]) - mean_log));
  }
}

void CmaEs::tell(const Eigen::VectorXd& given) {
  if (given.size() != lambda_) throw Error("CMA-ES", "one value per member of the generation is needed");
  const Eigen::VectorXd values =
      given.unaryExpr([](double f) { return std::isnan(f) ? std::numeric_limits<double>::infinity() : f; });
  for (int k = 0; k < lambda_; ++k)
    if (values[k] < best_value_ || best_.size() == 0) {
      best_value_ = values[k];
      best_ = asked_.col(k);
    }
  evaluations_ += lambda_;
  pay_for_bounds(values);
  std::vector<int> order(lambda_);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return penalised_[a] < penalised_[b]; });

  // Mean and paths.
  Eigen::VectorXd step = Eigen::VectorXd::Zero(n_);
  for (int i = 0; i < mu_; ++i) step += w_[i] * y_.col(order[i]);
  last_m_ = m_;
  m_ += sigma_ * step;
  const auto whitened = [&](const Eigen::VectorXd& y) -> Eigen::VectorXd { return B_ * (B_.transpose() * y).cwiseQuotient(D_); };
  p_s_ = (1 - c_s_) * p_s_ + std::sqrt(c_s_ * (2 - c_s_) * mu_eff_) * whitened(step);
  ++generation_;
  const double fade = 1 - same_exp(2 * generation_ * same_log(1 - c_s_));
  const bool h = p_s_.norm() / std::sqrt(fade) < (1.4 + 2.0 / (n_ + 1)) * expected_norm_;
  p_c_ = (1 - c_c_) * p_c_ + (h ? std::sqrt(c_c_ * (2 - c_c_) * mu_eff_) : 0.0) * step;

  // Covariance. A negative weight counts against a step of the length that is expected, however long it was.
  const double delta_h = h ? 0 : c_c_ * (2 - c_c_);
  C_ *= 1 + c_1_ * delta_h - c_1_ - c_mu_ * w_.sum();
  C_ += c_1_ * p_c_ * p_c_.transpose();
  for (int i = 0; i < lambda_; ++i) {
    if (w_[i] == 0) continue;
    const auto y = y_.col(order[i]);
    const double weight = w_[i] > 0 ? w_[i] : w_[i] * n_ / std::max(whitened(y).squaredNorm(), 1e-300);
    C_ += (c_mu_ * weight) * y * y.transpose();
  }
  sigma_ *= same_exp(std::min(1.0, c_s_ / d_s_ * (p_s_.norm() / expected_norm_ - 1)));
  keep_deviations();

  Eigen::VectorXd sorted = values;
  std::sort(sorted.data(), sorted.data() + lambda_);
  generation_best_ = sorted[0];
  generation_median_ = sorted[lambda_ / 2];
  best_history_.push_back(generation_best_);
  median_history_.push_back(generation_median_);
  stop_ = judge(sorted);
}

void CmaEs::keep_deviations() {
  if (least_.size() == 0) return;
  for (int i = 0; i < n_; ++i) {
    const double deviation = sigma_ * std::sqrt(C_(i, i));
    if (!(deviation < least_[i])) continue;
    const double stretch = least_[i] / deviation;
    C_.row(i) *= stretch;
    C_.col(i) *= stretch;
  }
}

Eigen::VectorXd CmaEs::deviations() const { return sigma_ * scale_.cwiseProduct(C_.diagonal().cwiseSqrt()); }

Stop CmaEs::judge(const Eigen::VectorXd& sorted) const {
  if (best_value_ <= settings_.stop_fitness) return Stop::fitness;
  if (settings_.max_evaluations > 0 && evaluations_ >= settings_.max_evaluations) return Stop::evaluations;

  const int recent = 10 + static_cast<int>(std::ceil(30.0 * n_ / lambda_));
  if (generation_ >= recent) {
    const auto [low, high] = std::minmax_element(best_history_.end() - recent, best_history_.end());
    const double range = *high - *low;
    if (range == 0) return Stop::equal_fun_values;
    if (range < settings_.tol_hist_fun) return Stop::tol_hist_fun;
    if (std::max(*high, sorted[lambda_ - 1]) - std::min(*low, sorted[0]) < settings_.tol_fun) return Stop::tol_fun;
  }
  const Eigen::VectorXd deviation = C_.diagonal().cwiseSqrt();
  const double tol_x = settings_.tol_x;
  if ((sigma_ * p_c_.cwiseAbs().array() < tol_x).all() && (sigma_ * deviation.array() < tol_x).all()) return Stop::tol_x;
  if (sigma_ * D_.maxCoeff() > settings_.tol_up_sigma) return Stop::tol_up_sigma;
  const double ratio = D_.maxCoeff() / D_.minCoeff();
  if (ratio * ratio > settings_.condition_cov) return Stop::condition_cov;

  const int axis = generation_ % n_;
  if (m_ == m_ + 0.1 * sigma_ * D_[axis] * B_.col(axis)) return Stop::no_effect_axis;
  for (int i = 0; i < n_; ++i)
    if (m_[i] == m_[i] + 0.2 * sigma_ * deviation[i]) return Stop::no_effect_coordinate;

  // Neither best nor median of the last third are better than of the first, over at least a fifth of all generations.
  const int window = std::max(static_cast<int>(120 + 30.0 * n_ / lambda_), generation_ / 5);
  if (generation_ >= window && window >= 10) {
    const auto worse = [&](const std::vector<double>& history) {
      const int part = 3 * window / 10;
      std::vector<double> first(history.end() - window, history.end() - window + part), last(history.end() - part, history.end());
      std::nth_element(first.begin(), first.begin() + part / 2, first.end());
      std::nth_element(last.begin(), last.begin() + part / 2, last.end());
      return last[part / 2] >= first[part / 2];
    };
    if (worse(best_history_) && worse(median_history_)) return Stop::stagnation;
  }
  return Stop::none;
}

}  // namespace rotule::tune
