#include "constraint/pool/elimination.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>

namespace rotule {

namespace {

constexpr int most_newton_steps = 50;      // from a place to the parameters' values
constexpr double parameter_margin = 1e-9;  // of the range: by which they may leave it
constexpr double about_equal = 1e-4;       // of the largest misfit: what counts as fitting as well
constexpr double misled = 1e-6;            // of the largest: by which a table may be wrong

Elimination::Misfit residual(std::span<const Moving> F) {
  Elimination::Misfit out(static_cast<Eigen::Index>(F.size()));
  for (std::size_t k = 0; k < F.size(); ++k) out[static_cast<Eigen::Index>(k)] = F[k].value;
  return out;
}

Elimination::Misfit rate(std::span<const Moving> F) {
  Elimination::Misfit out(static_cast<Eigen::Index>(F.size()));
  for (std::size_t k = 0; k < F.size(); ++k) out[static_cast<Eigen::Index>(k)] = F[k].first;
  return out;
}

/// The s for which F_s s is as near to r as can be.
Elimination::Parameters fit(const Elimination::ByParameters& F_s, const Elimination::Misfit& r) {
  Elimination::Parameters out(F_s.cols());
  const double a = F_s.col(0).squaredNorm(), p = F_s.col(0).dot(r);
  if (F_s.cols() == 1) {
    out[0] = p / a;
    return out;
  }
  const double b = F_s.col(0).dot(F_s.col(1)), c = F_s.col(1).squaredNorm(), q = F_s.col(1).dot(r), all = a * c - b * b;
  out[0] = (c * p - b * q) / all;
  out[1] = (a * q - b * p) / all;
  return out;
}

}  // namespace

Elimination::Elimination(const FunctionJoint& joint, Evaluation& evaluation)
    : joint_(joint), evaluation_(evaluation), grid_(*joint.equations), count_(grid_.dimensions()) {
  evaluation.gradients(Evaluation::Gradient::none);
  // Text is quickest to tell one derivative; other functions tell all at once.
  const bool alone = count_ == 1 && joint.equations->tape != nullptr;
  along_parameter(alone);
  evaluation.along_motion(alone ? 0 : 1);
  const Parameters best = search();
  if (alone || best != looked_at_) {
    along_parameter(false);
    evaluation.along_motion();
    put(best);
    const std::span<const Moving> F = look();
    F_s_ = by_parameters(F);
    rate_ = rate(F);
  }
  rates_of_motion_ = -fit(F_s_, rate_);
  find_perpendicular();
}

Elimination::Parameters Elimination::rates(std::span<const Moving> F) const { return -fit(F_s_, rate(F)); }

void Elimination::along_parameter(bool alone) {
  alone_ = alone;
  for (int k = 0; k < count_; ++k) {
    Moving& s = evaluation_.parameter(k);
    s.first = alone ? 1 : 0;
    s.by_parameter.fill(0);
    s.by_parameter[static_cast<std::size_t>(k)] = alone ? 0 : 1;
  }
}

void Elimination::put(const Parameters& s) {
  for (int k = 0; k < count_; ++k) evaluation_.parameter(k).value = s[k];
}

Elimination::ByParameters Elimination::by_parameters(std::span<const Moving> F) const {
  ByParameters out(static_cast<Eigen::Index>(F.size()), count_);
  for (std::size_t i = 0; i < F.size(); ++i)
    for (int k = 0; k < count_; ++k)
      out(static_cast<Eigen::Index>(i), k) = alone_ ? F[i].first : F[i].by_parameter[static_cast<std::size_t>(k)];
  return out;
}

/// Householder's reflections turn the columns of F_s into the first ones; the others of them are perpendicular to these.
void Elimination::find_perpendicular() {
  const Eigen::Index rows = F_s_.rows();
  ByParameters R = F_s_;
  Square Q = Square::Identity(rows, rows);
  for (Eigen::Index j = 0; j < count_; ++j) {
    Misfit v = R.col(j);
    v.head(j).setZero();
    v[j] += v[j] < 0 ? -v.norm() : v.norm();
    const double square = v.squaredNorm();
    for (Eigen::Index k = j; k < count_; ++k) R.col(k) -= 2 / square * v.dot(R.col(k)) * v;
    for (Eigen::Index k = 0; k < rows; ++k) {
      const double along = 2 / square * Q.row(k).dot(v.transpose());
      for (Eigen::Index i = 0; i < rows; ++i) Q(k, i) -= along * v[i];
    }
  }
  N = Q.rightCols(rows - count_);
}

Elimination::Parameters Elimination::sample(int place) const {
  Parameters s(count_);
  for (int k = 0; k < count_; ++k) s[k] = grid_.at(k, place);
  return s;
}

void Elimination::measure(const ParameterTable* table) {
  const int places = grid_.size();
  if (table == nullptr) {
    for (int place = 0; place < places; ++place) {
      put(sample(place));
      square_[static_cast<std::size_t>(place)] = residual(look()).squaredNorm();
    }
    return;
  }
  const auto terms = static_cast<Eigen::Index>(table->at.size());
  const Eigen::Index equations = table->base.cols();
  Eigen::Matrix<double, Equations::most, ParameterTable::most_terms> by;
  for (Eigen::Index m = 0; m < terms; ++m) {
    const int place = table->at[static_cast<std::size_t>(m)];
    put(sample(place));
    const std::span<const Moving> F = look();
    for (Eigen::Index k = 0; k < equations; ++k) by(k, m) = F[static_cast<std::size_t>(k)].value - table->base(place, k);
  }
  std::fill_n(square_.begin(), places, 0.0);
  std::array<double, Equations::most_samples> value;  // NOLINT: written next
  for (Eigen::Index k = 0; k < equations; ++k) {
    std::copy_n(table->base.col(k).data(), places, value.begin());
    for (Eigen::Index m = 0; m < terms; ++m) {
      const double* const weight = table->weights.col(m).data();
      const double times = by(k, m);
      for (int place = 0; place < places; ++place) value[place] += times * weight[place];  // NOLINT: in step
    }
    for (int place = 0; place < places; ++place) square_[place] += value[place] * value[place];  // NOLINT: in step
  }
}

double Elimination::descend(Parameters& s) {
  const Equations& equations = *joint_.equations;
  double before = infinity;
  for (int round = 0; round < most_newton_steps; ++round) {
    put(s);
    const std::span<const Moving> F = look();
    const Misfit r = residual(F);
    const double norm = r.norm();
    if (round == 0) entry_ = norm;
    F_s_ = by_parameters(F);
    const Parameters step = -fit(F_s_, r);
    if (!step.allFinite()) return infinity;
    if (!alone_) {
      rate_ = rate(F);
      looked_at_ = s;
    }
    bool still = true;
    for (int k = 0; k < count_; ++k) {
      const auto& [name, from, to, periodic] = equations.parameters[static_cast<std::size_t>(k)];
      const double most = (to - from) / 4, slack = parameter_margin * (to - from);
      double next = s[k] + std::clamp(step[k], -most, most);
      if (periodic)
        next -= (to - from) * std::floor((next - from) / (to - from));
      else
        next = std::clamp(next, from - slack, to + slack);
      still = still && std::abs(next - s[k]) <= 4e-16 * std::max(std::abs(from), std::abs(to));
      s[k] = next;
    }
    if (still || (round > 3 && !(norm < before) && step.cwiseAbs().maxCoeff() < 1e-12)) {
      if (!alone_) s = looked_at_;  // what is left is rounding
      return norm;
    }
    before = norm;
  }
  put(s);
  return residual(look()).norm();
}

bool Elimination::lowest(int place) const {
  const double here = square_[static_cast<std::size_t>(place)];
  const auto below = [&](int other) { return square_[static_cast<std::size_t>(other)] < here; };
  if (count_ == 1) {
    const int last = grid_.size() - 1;
    if (place > 0 && place < last) return !below(place - 1) && !below(place + 1);
    return !below(grid_.neighbour(place, -1, 0)) && !below(grid_.neighbour(place, 1, 0));
  }
  for (const int i : {-1, 0, 1})
    for (const int j : {-1, 0, 1})
      if (below(grid_.neighbour(place, i, j))) return false;
  return true;
}

/// How near |F| can come to zero half way to the neighbours, by its slope there.
double Elimination::nearest(int place) {
  put(sample(place));
  const ByParameters F_s = by_parameters(look());
  double out = std::sqrt(square_[static_cast<std::size_t>(place)]);
  for (int k = 0; k < count_; ++k) {
    const ConstraintParameter& parameter = joint_.equations->parameters[static_cast<std::size_t>(k)];
    out -= F_s.col(k).norm() * (parameter.to - parameter.from) / (grid_.places(k) - 1);
  }
  return out;
}

Elimination::Parameters Elimination::search() {
  const Equations& equations = *joint_.equations;
  const int places = grid_.size();
  const ParameterTable* table = equations.table.get();
  int start = 0;
  double largest = 0, least = 0;
  Parameters best;
  const auto from_smallest = [&](const ParameterTable* by) {
    measure(by);
    const auto end = square_.begin() + places;
    start = static_cast<int>(std::min_element(square_.begin(), end) - square_.begin());
    largest = std::sqrt(*std::max_element(square_.begin(), end));
    best = sample(start);
    least = descend(best);
  };
  from_smallest(table);
  // What is the same sum everywhere is so here too; a function that asks where it is need not be.
  const double promised = std::sqrt(square_[static_cast<std::size_t>(start)]);
  if (table != nullptr && !(std::abs(entry_ - promised) <= misled * largest)) from_smallest(nullptr);
  double least_slip = -1;  // not known yet: most have no rival
  for (int place = 0; place < places; ++place) {
    if (!lowest(place) || place == start || nearest(place) > least + about_equal * largest) continue;
    Parameters s = sample(place);
    const double norm = descend(s);
    if (!(norm < least + about_equal * largest)) continue;
    if (least_slip < 0) least_slip = slip_at(best);
    const double slip = slip_at(s);
    if (norm < least - about_equal * largest || slip < least_slip) {
      least = norm;
      least_slip = slip;
      best = s;
    }
  }
  if (!std::isfinite(least))
    throw Error("joint \"" + *joint_.name + "\"",
                "no values of its parameters fit; look at its equations and at the range of its parameters");
  put(best);
  for (int k = 0; k < count_; ++k) {
    const auto& [name, from, to, periodic] = equations.parameters[static_cast<std::size_t>(k)];
    if (!periodic && (best[k] < from || best[k] > to))
      throw Error("joint \"" + *joint_.name + "\"", "has come to the end of its " +
                                                        (name.empty() ? "parameter" : "parameter " + name) +
                                                        "; give a longer range, or stop it before");
  }
  return best;
}

/// What of the bodies' velocities is left that the parameters cannot follow, with what does not fit in position.
double Elimination::slip_at(const Parameters& s) {
  put(s);
  const bool alone = alone_;
  along_parameter(false);
  evaluation_.along_motion();
  const std::span<const Moving> F = look();
  const ByParameters F_s = by_parameters(F);
  const Misfit moving = rate(F);
  const Parameters followed = fit(F_s, moving);
  Misfit left = moving;
  for (int k = 0; k < count_; ++k) left -= followed[k] * F_s.col(k);
  const double fast = moving.norm(), off = residual(F).norm();
  evaluation_.along_motion(alone ? 0 : 1);
  along_parameter(alone);
  return fast > 0 ? left.norm() / fast + off : off;
}

}  // namespace rotule
