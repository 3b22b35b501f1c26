#include "constraint/pool/function.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "constraint/pool/elimination.h"
#include "constraint/pool/record_hessian.h"
#include "math/rotation.h"

namespace rotule {

namespace {

/// The gradient of a number, one part per partner.
void write_gradient(const FunctionJoint& joint, const Moving& from, FunctionRow& out) {
  for (int k = 0; k < joint.first; ++k) out.J[static_cast<std::size_t>(k)].setZero();
  for (int b = 0; b < from.bodies; ++b)
    out.J[b + joint.first] = Eigen::Map<const Vec6>(from.by_body[static_cast<std::size_t>(b)].data());
  for (int k = joint.first + from.bodies; k < joint.wide(); ++k) out.J[static_cast<std::size_t>(k)].setZero();
}

void check_finite(const FunctionJoint& joint, const FunctionRow& row) {
  double sum = row.C + row.C_t + row.gamma;
  for (int k = 0; k < joint.partners; ++k) sum += row.J[static_cast<std::size_t>(k)].sum();
  if (!std::isfinite(sum)) no_number(joint);
}

void rows_with_parameters(const FunctionJoint& joint, Evaluation& evaluation, std::span<FunctionRow> out) {
  Elimination elimination(joint, evaluation);
  const std::span<const Moving> F = elimination.look_around();
  for (std::size_t r = 0; r < out.size(); ++r) {
    FunctionRow& row = out[r];
    row.C = row.C_t = row.gamma = 0;
    for (int p = 0; p < joint.wide(); ++p) row.J[static_cast<std::size_t>(p)].setZero();
    for (std::size_t k = 0; k < F.size(); ++k) {
      const double n = elimination.perpendicular(k, r);
      row.C += n * F[k].value;
      row.C_t += n * F[k].by_time;
      row.gamma += n * F[k].second;
      for (int b = 0; b < F[k].bodies; ++b) {
        const Moving::Gradient& by = F[k].by_body[static_cast<std::size_t>(b)];
        Vec6& J = row.J[static_cast<std::size_t>(b) + static_cast<std::size_t>(joint.first)];
        for (int c = 0; c < 6; ++c) J[c] += n * by[static_cast<std::size_t>(c)];
      }
    }
    check_finite(joint, row);
  }
}

void add_plain_hessian(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                       std::span<const double> lambda, std::span<const ParameterMotion> parameters, const Eigen::Ref<MatX>& H) {
  if (joint.equations->tape)
    add_tape_hessian(joint, bodies, t, lambda, parameters, H);
  else
    add_record_hessian(joint, bodies, t, lambda, parameters, H);
}

/// Second derivatives of N^T F where the parameters follow the bodies, ds = -(dF/ds)^+ dF.
void add_hessian_with_parameters(const FunctionJoint& joint, std::span<const BodyLanes<double>* const> bodies, double t,
                                 std::span<const double> lambda, const Eigen::Ref<MatX>& H) {
  Evaluation evaluation(joint, bodies, t);
  Elimination elimination(joint, evaluation);
  const std::span<const Moving> F = elimination.look_around();
  std::array<double, Equations::most> weight{};
  for (std::size_t k = 0; k < F.size(); ++k)
    for (std::size_t r = 0; r < lambda.size(); ++r) weight[k] += elimination.perpendicular(k, r) * lambda[r];
  std::array<ParameterMotion, Moving::most_parameters> motion;
  const std::size_t count = joint.equations->parameters.size();
  for (std::size_t k = 0; k < count; ++k) motion[k].value = evaluation.parameter(static_cast<int>(k)).value;
  Elimination::Misfit change = Elimination::Misfit::Zero();
  for (int p = joint.first; p < joint.partners; ++p)
    for (int c = 0; c < 6; ++c) {
      for (std::size_t k = 0; k < F.size(); ++k)
        change[static_cast<Eigen::Index>(k)] =
            p - joint.first < F[k].bodies ? F[k].by_body[static_cast<std::size_t>(p - joint.first)][static_cast<std::size_t>(c)]
                                          : 0;
      const Elimination::Parameters follows = elimination.follow(change);
      for (std::size_t k = 0; k < count; ++k) motion[k].by_body[static_cast<std::size_t>(p)][c] = follows[k];
    }
  add_plain_hessian(joint, bodies, t, {weight.data(), F.size()}, {motion.data(), count}, H);
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
  if (!equations.parameters.empty()) return add_hessian_with_parameters(joint, bodies, t, lambda, H);
  if (equations.plain()) return add_plain_hessian(joint, bodies, t, lambda, {}, H);
  Evaluation evaluation(joint, bodies, t);
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
      const std::span<const Moving> F = evaluation();
      double sum = 0;
      for (std::size_t k = 0; k < F.size(); ++k)
        if (!equations.on_velocities[k]) sum += lambda[k] * F[k].second;
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
        value += lambda[k] * w[k].value;
        change += lambda[k] * w[k].first;
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
