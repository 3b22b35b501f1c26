#include "constraint/user_constraint.h"

#include "dynamics/jet_body.h"

namespace rotule {

Jet evaluate_user(const std::function<Jet(const JetBody&, const JetBody&, const Jet&)>& function, const BodyLanes<double>& a,
                  const Vec3& frame_a, const BodyLanes<double>& b, const Vec3& frame_b, double t) {
  return function(jet_body(a, frame_a, 0), jet_body(b, frame_b, 6), Jet::variable(12, t));
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
