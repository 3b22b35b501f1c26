#include "constraint/user_constraint.h"

#include "dynamics/jet_body.h"

namespace rotule {

Jet evaluate_user(const std::function<Jet(const JetBody&, const JetBody&, const Jet&)>& function, const UserPartner& a,
                  const UserPartner& b, double t) {
  return function(jet_body(a.body, a.frame, 0, a.turns), jet_body(b.body, b.frame, 6, b.turns), Jet::variable(12, t));
}

Row<double> user_row(const Jet& C, const BodyLanes<double>& a, const BodyLanes<double>& b) {
  Eigen::Matrix<double, Jet::variables, 1> rate;
  rate << a.v, a.omega, b.v, b.omega, 1.0;
  double gamma = 0;
  for (int i = 0; i < Jet::variables; ++i)
    for (int j = 0; j < Jet::variables; ++j) gamma += rate[i] * rate[j] * C.hessian[Jet::pair(i, j)];
  return {C.value,
          gamma,
          C.gradient.segment<3>(0).matrix(),
          C.gradient.segment<3>(3).matrix(),
          C.gradient.segment<3>(6).matrix(),
          C.gradient.segment<3>(9).matrix()};
}

}  // namespace rotule
