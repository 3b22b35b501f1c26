#include "constraint/pool/user.h"

#include "dynamics/jet_body.h"

namespace rotule {

void UserPool::add(const Model& model, int index) {
  const Joint& joint = model.joints[index];
  joint_.push_back(index);
  a_.push_back(joint.a);
  b_.push_back(joint.b);
  frame_a_.push_back(joint.X_A.position);
  frame_b_.push_back(joint.X_B.position);
  turns_a_.push_back(!model.is_particle(joint.a));
  turns_b_.push_back(!model.is_particle(joint.b));
  function_.push_back(joint.function);
}

Jet UserPool::value(std::size_t i, const Partners<double, 2>& body, double t) const {
  return function_[i](jet_body(*body[0], frame_a_[i], 0, turns_a_[i] != 0), jet_body(*body[1], frame_b_[i], 6, turns_b_[i] != 0),
                      Jet::variable(12, t));
}

Row<double> UserPool::row(std::size_t i, const Partners<double, 2>& body, double t) const {
  const BodyLanes<double>&a = *body[0], &b = *body[1];
  const Jet C = value(i, body, t);
  Eigen::Matrix<double, Jet::variables, 1> rate;
  rate << a.v, a.omega, b.v, b.omega, 1.0;
  double gamma = 0;
  for (int p = 0; p < Jet::variables; ++p)
    for (int q = 0; q < Jet::variables; ++q) gamma += rate[p] * rate[q] * C.hessian[Jet::pair(p, q)];
  return {C.value,
          gamma,
          C.gradient.segment<3>(0).matrix(),
          C.gradient.segment<3>(3).matrix(),
          C.gradient.segment<3>(6).matrix(),
          C.gradient.segment<3>(9).matrix(),
          C.gradient[12]};
}

Mat12 UserPool::hessian(std::size_t i, const Partners<double, 2>& body, double t, std::span<const double> lambda) const {
  const Jet C = value(i, body, t);
  Mat12 H;
  for (int row = 0; row < 12; ++row)
    for (int column = 0; column < 12; ++column) H(row, column) = lambda[0] * C.hessian[Jet::pair(row, column)];
  return H;
}

void UserPool::renumber(std::span<const int> body, std::span<const int> joint) {
  renumber_all(body, a_);
  renumber_all(body, b_);
  renumber_all(joint, joint_);
}

}  // namespace rotule
