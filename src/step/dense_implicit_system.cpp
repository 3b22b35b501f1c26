#include "step/dense_implicit_system.h"

#include "constraint/formulation/formulations.h"

namespace rotule {

void DenseImplicitSystem::start(std::span<const int> bodies, Eigen::Index rows) {
  bodies_.assign(bodies.begin(), bodies.end());
  const auto n = 6 * static_cast<Eigen::Index>(bodies_.size());
  M_.setZero(n, n);
  D_.setZero(n, n);
  K_.setZero(n, n);
  for (MatX* J : {&J_, &J_by_u_, &J_by_q_}) J->setZero(rows, n);
  compliance_.setZero(rows);
  factored_ = false;
}

void DenseImplicitSystem::add_inertia(const Model& model, const Kinematics& kinematics, const VecX& udot) {
  for (std::size_t k = 0; k < bodies_.size(); ++k) {
    const int body = bodies_[k];
    const BodyLanes<double>& B = kinematics.bodies[body];
    const Mat3 I = B.R * model.inertia[body] * B.R.transpose(), w = skew(B.omega);
    const Vec3 alpha = udot.segment<3>(6 * body + 3), L = I * B.omega;
    const Eigen::Index at = 6 * static_cast<Eigen::Index>(k);
    M_.block<3, 3>(at, at).diagonal().setConstant(model.bodies[body].mass);
    M_.block<3, 3>(at + 3, at + 3) = I;
    // -omega x I omega by omega; by sigma, which turns I to I + [sigma] I - I [sigma]; and -(dI) alpha.
    D_.block<3, 3>(at + 3, at + 3) -= w * I - skew(L);
    K_.block<3, 3>(at + 3, at + 3) += w * skew(L) - w * I * w + skew(I * alpha) - I * skew(alpha);
  }
}

void DenseImplicitSystem::linearise(const Model& model, const Kinematics& kinematics, const VecX& udot, int body) {
  start({&body, 1}, 0);
  add_inertia(model, kinematics, udot);
}

void DenseImplicitSystem::linearise(const Model& model, const Kinematics& kinematics, double t, const VecX& u, const VecX& udot,
                                    const Island& island, const PenaltySettings* penalty, double h) {
  start(island.bodies, island.problem.rows());
  add_inertia(model, kinematics, udot);
  const std::vector<ConstraintBlock>& blocks = island.constraints.blocks();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const ConstraintBlock& block = blocks[i];
    const std::array<int, 2> owner{block.body_a, block.body_b};
    Eigen::Matrix<double, 12, 1> velocity, acceleration;
    for (int g = 0; g < 2; ++g) {
      const bool moves = owner[g] >= 0;
      velocity.segment<6>(6 * g) = moves ? Vec6(u.segment<6>(6 * island.bodies[owner[g]])) : Vec6(Vec6::Zero());
      acceleration.segment<6>(6 * g) = moves ? Vec6(udot.segment<6>(6 * island.bodies[owner[g]])) : Vec6(Vec6::Zero());
    }
    for (int g = 0; g < 2; ++g) {
      const JacobianRows& J = g == 0 ? island.problem.J_a : island.problem.J_b;
      if (owner[g] >= 0) J_.block(block.first_row, 6 * owner[g], block.rows, 6) = J.middleRows(block.first_row, block.rows);
    }
    const auto count = static_cast<std::size_t>(block.rows);
    const Mat12 H =
        island.constraints.hessian(static_cast<int>(i), kinematics, t, {island.lambda.data() + block.first_row, count});
    for (int row = 0; row < 2; ++row)
      for (int column = 0; column < 2; ++column)
        if (owner[row] >= 0 && owner[column] >= 0)
          K_.block<6, 6>(6 * owner[row], 6 * owner[column]) += H.block<6, 6>(6 * row, 6 * column);
    if (penalty) continue;
    for (int r = 0; r < block.rows; ++r) {
      unit_.setZero(block.rows);
      unit_[r] = 1;
      const Mat12 H_r = island.constraints.hessian(static_cast<int>(i), kinematics, t, {unit_.data(), count});
      const Eigen::Matrix<double, 12, 1> by_u = 2 * H_r * velocity, by_q = H_r * acceleration;
      for (int g = 0; g < 2; ++g) {
        if (owner[g] < 0) continue;
        J_by_u_.row(block.first_row + r).segment<6>(6 * owner[g]) = by_u.segment<6>(6 * g);
        J_by_q_.row(block.first_row + r).segment<6>(6 * owner[g]) = by_q.segment<6>(6 * g);
      }
    }
  }
  compliance_ = island.problem.C;
  if (!penalty) return;
  // Springs: lambda = -k C - d dC/dt, row by row.
  for (const ConstraintBlock& block : blocks)
    for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
      const auto [k, d] = penalty_row(island.problem, block, r, penalty->stiffness, penalty->damping, h);
      K_.noalias() -= k * J_.row(r).transpose() * J_.row(r);
      D_.noalias() -= d * J_.row(r).transpose() * J_.row(r);
    }
  for (MatX* J : {&J_, &J_by_u_, &J_by_q_}) J->resize(0, J_.cols());
}

void DenseImplicitSystem::solve(double a, double b, const VecX& r, VecX& out) {
  const Eigen::Index n = M_.rows(), m = J_.rows();
  if (!factored_ || a != a_ || b != b_) {
    matrix_.setZero(n + m, n + m);
    matrix_.topLeftCorner(n, n) = M_ - a * D_ - b * K_;
    matrix_.topRightCorner(n, m) = J_.transpose();
    matrix_.bottomLeftCorner(m, n) = J_ + a * J_by_u_ + b * J_by_q_;
    matrix_.diagonal().tail(m) = -compliance_.head(m);
    lu_.compute(matrix_);
    a_ = a;
    b_ = b;
    factored_ = true;
  }
  right_.resize(n + m);
  answer_.resize(n);
  for (std::size_t k = 0; k < bodies_.size(); ++k) answer_.segment<6>(6 * k) = r.segment<6>(6 * bodies_[k]);
  right_.head(n).noalias() = M_ * answer_;
  right_.tail(m).noalias() = J_ * answer_;
  solution_ = lu_.solve(right_);
  for (std::size_t k = 0; k < bodies_.size(); ++k) out.segment<6>(6 * bodies_[k]) = solution_.segment<6>(6 * k);
}

}  // namespace rotule
