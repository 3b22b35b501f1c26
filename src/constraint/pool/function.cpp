#include "constraint/pool/function.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "constraint/pool/elimination.h"
#include "constraint/pool/record_hessian.h"
#include "math/rotation.h"

namespace rotule {

namespace {

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
  const Elimination::Parameters s_dot = elimination.rates_of_motion();
  for (int k = 0; k < s_dot.size(); ++k) evaluation.parameter(k).first = s_dot[k];
  const std::span<const Moving> F = evaluation();
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
        const Elimination::Parameters s_dot = elimination->rates(F);
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
