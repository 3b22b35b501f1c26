#include "constraint/pool/function.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "constraint/pool/record_hessian.h"
#include "math/rotation.h"

namespace rotule {

namespace {

constexpr int most_newton_steps = 50;      // from a sample to the parameters' values
constexpr double parameter_margin = 1e-9;  // of the range: by which they may leave it
using Misfit = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Equations::most, 1>;
using ByParameters = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, Equations::most, Moving::most_parameters>;
using Parameters = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, Moving::most_parameters, 1>;
using Square = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, Equations::most, Equations::most>;

/// The parameters for a state, and what is perpendicular to them.
class Elimination {
 public:
  Elimination(const FunctionJoint& joint, Evaluation& evaluation) : joint_(joint), evaluation_(evaluation) {
    const Equations& equations = *joint.equations;
    count_ = static_cast<int>(equations.parameters.size());
    evaluation.gradients(Evaluation::Gradient::none);
    evaluation.along_motion(0);
    for (int k = 0; k < count_; ++k) {
      evaluation.parameter(k).by_parameter.fill(0);
      evaluation.parameter(k).by_parameter[static_cast<std::size_t>(k)] = 1;
    }
    search();
    F_s_ = by_parameters(look());
    find_perpendicular();
  }
  /// Rates of the parameters that go with a rate of F at constant parameters.
  [[nodiscard]] Parameters rates(const Misfit& rate) const { return -fit(F_s_, rate); }

  Square N;

 private:
  std::span<const Moving> look() { return evaluation_(); }
  /// The s for which F_s s is as near to r as can be.
  [[nodiscard]] static Parameters fit(const ByParameters& F_s, const Misfit& r) {
    Parameters out(F_s.cols());
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
  /// Householder's reflections turn the columns of F_s into the first ones; the others of them are perpendicular to these.
  void find_perpendicular() {
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
  static Misfit residual(std::span<const Moving> F) {
    Misfit out(static_cast<Eigen::Index>(F.size()));
    for (std::size_t k = 0; k < F.size(); ++k) out[static_cast<Eigen::Index>(k)] = F[k].value;
    return out;
  }
  [[nodiscard]] ByParameters by_parameters(std::span<const Moving> F) const {
    ByParameters out(static_cast<Eigen::Index>(F.size()), count_);
    for (std::size_t i = 0; i < F.size(); ++i)
      for (int k = 0; k < count_; ++k) out(static_cast<Eigen::Index>(i), k) = F[i].by_parameter[static_cast<std::size_t>(k)];
    return out;
  }
  void put(const Parameters& s) {
    for (int k = 0; k < count_; ++k) evaluation_.parameter(k).value = s[k];
  }

  /// Gauss and Newton's steps from s to where |F| is least nearby; |F| there. s stays within the range.
  double descend(Parameters& s) {
    const Equations& equations = *joint_.equations;
    double before = infinity;
    for (int round = 0; round < most_newton_steps; ++round) {
      put(s);
      const std::span<const Moving> F = look();
      const Misfit r = residual(F);
      const ByParameters F_s = by_parameters(F);
      const Parameters step = -fit(F_s, r);
      if (!step.allFinite()) return infinity;
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
      const double norm = r.norm();
      if (still || (round > 3 && !(norm < before) && step.cwiseAbs().maxCoeff() < 1e-12)) return norm;
      before = norm;
    }
    put(s);
    return residual(look()).norm();
  }

  /// From the samples at which |F| is least among their neighbours; where two places fit about equally, as where a curve crosses
  /// itself, the one along which the motion goes.
  void search() {
    const Equations& equations = *joint_.equations;
    constexpr int grid = 16;
    static_assert(grid * grid <= Equations::most_samples);
    const int per = count_ == 1 ? std::min(equations.samples, Equations::most_samples) : grid, second = count_ == 1 ? 1 : grid;
    std::array<double, Equations::most_samples> size, nearest;  // NOLINT: written below; |F|, and about its least value around
    const auto sample = [&](int i, int j) {
      Parameters s(count_);
      const auto at = [&](int k, int place, int places) {
        const auto& [name, from, to, periodic] = equations.parameters[static_cast<std::size_t>(k)];
        return from + (to - from) * place / (periodic ? places : places - 1);
      };
      s[0] = at(0, i, per);
      if (count_ > 1) s[1] = at(1, j, second);
      return s;
    };
    for (int i = 0; i < per; ++i)
      for (int j = 0; j < second; ++j) {
        put(sample(i, j));
        const std::span<const Moving> F = look();
        const int place = i * second + j;
        size[place] = residual(F).norm();
        const ByParameters F_s = by_parameters(F);
        nearest[place] = size[place];
        for (int k = 0; k < count_; ++k) {
          const auto& [name, from, to, periodic] = equations.parameters[static_cast<std::size_t>(k)];
          nearest[place] -= F_s.col(k).norm() * (to - from) / ((k == 0 ? per : second) - 1);
        }
      }
    const auto neighbour = [&](int k, int place, int places, int by) {
      const int next = place + by;
      if (equations.parameters[static_cast<std::size_t>(k)].periodic) return (next + places) % places;
      return std::clamp(next, 0, places - 1);
    };
    // The smallest first: what cannot come as near is not looked at.
    const auto* const smallest = std::min_element(size.begin(), size.begin() + per * second);
    const int start = static_cast<int>(smallest - size.begin());
    const double largest = *std::max_element(size.begin(), size.begin() + per * second);
    constexpr double about_equal = 1e-4;  // of the largest
    Parameters best = sample(start / second, start % second);
    double least = descend(best), least_slip = slip_at(best);
    for (int i = 0; i < per; ++i)
      for (int j = 0; j < second; ++j) {
        const int place = i * second + j;
        const double own = size[place];
        if (nearest[place] > least + about_equal * largest) continue;
        bool lowest = true;
        for (const int di : {-1, 0, 1})
          for (const int dj : {-1, 0, 1})
            lowest = lowest && own <= size[neighbour(0, i, per, di) * second + (count_ > 1 ? neighbour(1, j, second, dj) : 0)];
        if (!lowest) continue;
        Parameters s = sample(i, j);
        const double norm = descend(s);
        if (!(norm < least + about_equal * largest)) continue;
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
  }
  /// What of the bodies' velocities is left that the parameters cannot follow, with what does not fit in position.
  double slip_at(const Parameters& s) {
    put(s);
    evaluation_.along_motion();
    const std::span<const Moving> F = look();
    Misfit rate(static_cast<Eigen::Index>(F.size()));
    for (std::size_t k = 0; k < F.size(); ++k) rate[static_cast<Eigen::Index>(k)] = F[k].first;
    const ByParameters F_s = by_parameters(F);
    const Parameters followed = fit(F_s, rate);
    Misfit left = rate;
    for (int k = 0; k < count_; ++k) left -= followed[k] * F_s.col(k);
    const double slip = left.norm();
    const double fast = rate.norm(), off = residual(F).norm();
    evaluation_.along_motion(0);
    return fast > 0 ? slip / fast + off : off;
  }

  const FunctionJoint& joint_;
  Evaluation& evaluation_;
  int count_ = 0;
  ByParameters F_s_;
};

/// The gradient of a number, one part per partner.
void write_gradient(const FunctionJoint& joint, const Moving& from, FunctionRow& out) {
  const int asked = joint.partners > 4 ? Moving::most_bodies : joint.partners;  // as wide as the joint's pool
  for (int k = 0; k < joint.first; ++k) out.J[static_cast<std::size_t>(k)].setZero();
  for (int b = 0; b < from.bodies; ++b)
    out.J[b + joint.first] = Eigen::Map<const Vec6>(from.by_body[static_cast<std::size_t>(b)].data());
  for (int k = joint.first + from.bodies; k < asked; ++k) out.J[static_cast<std::size_t>(k)].setZero();
}

void check_finite(const FunctionJoint& joint, const FunctionRow& row) {
  double sum = row.C + row.C_t + row.gamma;
  for (int k = 0; k < joint.partners; ++k) sum += row.J[static_cast<std::size_t>(k)].sum();
  if (!std::isfinite(sum)) no_number(joint);
}

void rows_with_parameters(const FunctionJoint& joint, Evaluation& evaluation, std::span<FunctionRow> out) {
  const Elimination elimination(joint, evaluation);
  evaluation.gradients(Evaluation::Gradient::by_motion);
  evaluation.along_motion();
  const int parameters = static_cast<int>(joint.equations->parameters.size());
  std::span<const Moving> F = evaluation();
  Misfit rate(static_cast<Eigen::Index>(F.size()));
  for (std::size_t k = 0; k < F.size(); ++k) rate[static_cast<Eigen::Index>(k)] = F[k].first;
  const Parameters s_dot = elimination.rates(rate);
  for (int k = 0; k < parameters; ++k) evaluation.parameter(k).first = s_dot[k];
  F = evaluation();
  for (std::size_t r = 0; r < out.size(); ++r) {
    Moving row(0.0);
    for (std::size_t k = 0; k < F.size(); ++k)
      row += elimination.N(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(r)) * F[k];
    out[r].C = row.value;
    out[r].C_t = row.by_time;
    out[r].gamma = row.second;
    write_gradient(joint, row, out[r]);
    check_finite(joint, out[r]);
  }
}

}  // namespace

void no_number(const FunctionJoint& joint) {
  throw Error("joint \"" + *joint.name + "\"",
              "its equations or their derivatives are no longer finite numbers; look where they divide by zero or take roots");
}

FunctionJoint function_joint(const Model& model, int index) {
  const Joint& joint = model.joints[index];
  FunctionJoint out;
  out.equations = joint.equations;
  out.first = joint.equations->function.single ? 1 : 0;
  out.name = {joint.definition, &std::visit([](const auto& def) -> const std::string& { return def.name; }, *joint.definition)};
  for_each_partner(joint, [&](int partner) {
    const auto k = static_cast<std::size_t>(out.partners);
    out.body[k] = moving_body(model, partner);
    out.body[k].index = out.partners - out.first;
    out.moves[k] = model.movable(partner);
    out.still[k] = !model.movable(partner) && !model.kinematic(partner);
    ++out.partners;
  });
  if (!joint.equations->tape) return out;
  for (const EquationTape::Vector& vector : joint.equations->tape->vectors()) {
    const MovingBody& body = out.body[static_cast<std::size_t>(vector.body) + static_cast<std::size_t>(out.first)];
    const bool point = vector.kind == EquationLeaf::Kind::point || vector.kind == EquationLeaf::Kind::velocity;
    out.arms.push_back(point ? Vec3(vector.at + body.offset) : vector.at);
  }
  return out;
}

void function_rows(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                   std::span<FunctionRow> out) {
  const Equations& equations = *joint.equations;
  Evaluation evaluation(joint, bodies, t);
  if (!equations.parameters.empty()) return rows_with_parameters(joint, evaluation, out);
  if (equations.positions) {
    evaluation.gradients(Evaluation::Gradient::by_motion);
    const std::span<const Moving> C = evaluation();
    for (std::size_t r = 0; r < out.size(); ++r) {
      if (equations.on_velocities[r]) continue;
      out[r].C = C[r].value;
      out[r].C_t = C[r].by_time;
      out[r].gamma = C[r].second;
      write_gradient(joint, C[r], out[r]);
      check_finite(joint, out[r]);
    }
  }
  if (!equations.velocities) return;
  evaluation.gradients(Evaluation::Gradient::by_velocity);
  const std::span<const Moving> w = evaluation();
  for (std::size_t r = 0; r < out.size(); ++r) {
    if (!equations.on_velocities[r]) continue;
    write_gradient(joint, w[r], out[r]);
    double along = 0, sizes = 0;
    for (int k = 0; k < joint.partners; ++k) {
      const Vec6& J = out[r].J[static_cast<std::size_t>(k)];
      const BodyLanes<double>& body = *bodies[static_cast<std::size_t>(k)];
      along += J.head<3>().dot(body.v) + J.tail<3>().dot(body.omega);
      sizes += J.head<3>().cwiseAbs().dot(body.v.cwiseAbs()) + J.tail<3>().cwiseAbs().dot(body.omega.cwiseAbs());
    }
    constexpr double rounding = 1e-14;
    const double rest = w[r].value - along;
    out[r].C = 0;
    out[r].C_t = std::abs(rest) > rounding * sizes ? rest : 0;
    out[r].gamma = w[r].first;
    check_finite(joint, out[r]);
  }
}

void add_function_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                          std::span<const double> lambda, Eigen::Ref<MatX> H) {
  const Equations& equations = *joint.equations;
  if (std::all_of(lambda.begin(), lambda.end(), [](double x) { return x == 0; })) return;
  if (equations.plain()) {
    if (equations.tape) return add_tape_hessian(joint, bodies, t, lambda, H);
    return add_record_hessian(joint, bodies, t, lambda, H);
  }
  Evaluation evaluation(joint, bodies, t);
  std::array<double, Equations::most> weight{};
  for (std::size_t r = 0; r < lambda.size(); ++r) weight[r] = lambda[r];

  std::optional<Elimination> elimination;
  if (!equations.parameters.empty()) {
    elimination.emplace(joint, evaluation);
    weight.fill(0);
    for (int k = 0; k < equations.function.equations; ++k)
      for (std::size_t r = 0; r < lambda.size(); ++r)
        weight[static_cast<std::size_t>(k)] += elimination->N(k, static_cast<Eigen::Index>(r)) * lambda[r];
  }
  evaluation.gradients(Evaluation::Gradient::none);
  evaluation.along_motion(0);

  // Columns that a partner's small motions have.
  std::array<std::pair<int, int>, 6 * Moving::most_bodies> motion;  // NOLINT: written below
  int motions = 0;
  for (int p = joint.first; p < joint.partners; ++p)
    if (joint.moves[static_cast<std::size_t>(p)])
      for (int k = 0; k < (joint.body[static_cast<std::size_t>(p)].turns ? 6 : 3); ++k)
        motion[static_cast<std::size_t>(motions++)] = {p, k};
  const auto column = [&](int i) {
    return 6 * motion[static_cast<std::size_t>(i)].first + motion[static_cast<std::size_t>(i)].second;
  };
  const auto go = [&](int i, double by) {
    evaluation.direction(motion[static_cast<std::size_t>(i)].first, motion[static_cast<std::size_t>(i)].second, by);
  };

  if (equations.positions) {
    const auto bend = [&] {
      std::span<const Moving> F = evaluation();
      if (elimination) {
        Misfit rate(static_cast<Eigen::Index>(F.size()));
        for (std::size_t k = 0; k < F.size(); ++k) rate[static_cast<Eigen::Index>(k)] = F[k].first;
        const Parameters s_dot = elimination->rates(rate);
        for (int k = 0; k < s_dot.size(); ++k) evaluation.parameter(k).first = s_dot[k];
        F = evaluation();
        for (int k = 0; k < s_dot.size(); ++k) evaluation.parameter(k).first = 0;
      }
      double sum = 0;
      for (std::size_t k = 0; k < F.size(); ++k)
        if (!equations.on_velocities[k]) sum += weight[k] * F[k].second;
      return sum;
    };
    std::array<double, 6 * Moving::most_bodies> alone;  // NOLINT: written below
    for (int i = 0; i < motions; ++i) {
      go(i, 1);
      alone[static_cast<std::size_t>(i)] = bend();
      H(column(i), column(i)) += alone[static_cast<std::size_t>(i)];
      for (int j = 0; j < i; ++j) {
        go(j, 1);
        const double mixed = 0.5 * (bend() - alone[static_cast<std::size_t>(i)] - alone[static_cast<std::size_t>(j)]);
        H(column(i), column(j)) += mixed;
        H(column(j), column(i)) += mixed;
        go(j, 0);
      }
      go(i, 0);
    }
  }
  if (!equations.velocities) return;
  // J_i = w(e_i) - w(0), as w is linear in velocities; its derivative along each motion, and the torque that it stands for.
  const auto rates = [&](double& value, double& change) {
    const std::span<const Moving> w = evaluation();
    value = change = 0;
    for (std::size_t k = 0; k < w.size(); ++k)
      if (equations.on_velocities[k]) {
        value += weight[k] * w[k].value;
        change += weight[k] * w[k].first;
      }
  };
  evaluation.stand_still();
  std::array<Vec3, Moving::most_bodies> torque;
  torque.fill(Vec3::Zero());
  for (int j = 0; j < motions; ++j) {
    double at_rest = 0, change_at_rest = 0;
    go(j, 1);
    rates(at_rest, change_at_rest);
    for (int i = 0; i < motions; ++i) {
      const auto [p, k] = motion[static_cast<std::size_t>(i)];
      double value = 0, change = 0;
      evaluation.velocity(p, k, 1);
      rates(value, change);
      evaluation.velocity(p, k, 0);
      H(column(i), column(j)) += change - change_at_rest;
      if (j == 0 && k >= 3) torque[static_cast<std::size_t>(p)][k - 3] = value - at_rest;
    }
    go(j, 0);
  }
  for (int p = joint.first; p < joint.partners; ++p)
    H.block<3, 3>(6 * p + 3, 6 * p + 3) += 0.5 * skew(torque[static_cast<std::size_t>(p)]);
}

}  // namespace rotule
