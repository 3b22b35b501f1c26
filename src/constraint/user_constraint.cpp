#include "constraint/user_constraint.h"

namespace rotule {

namespace {

/// exp(phi) w to second order: w + phi x w + 1/2 phi x (phi x w), phi being jet variables `first` to `first` + 2.
JetVec3 turned(const Vec3& w, int first) {
  JetVec3 out(w);
  for (int k = 0; k < 3; ++k) {
    Jet& jet = out.e[k];
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    jet.gradient[first + i] = w[j];  // (phi x w)_k = phi_i w_j - phi_j w_i
    jet.gradient[first + j] = -w[i];
    for (int m = 0; m < 3; ++m)
      for (int n = 0; n <= m; ++n)
        jet.hessian[Jet::pair(first + m, first + n)] = 0.5 * ((k == m) * w[n] + (k == n) * w[m]) - (m == n) * w[k];
  }
  return out;
}

JetBody jet_body(const BodyLanes<double>& body, const Vec3& frame, int first) {
  JetBody out;
  out.position = turned(body.R * frame, first + 3);
  for (int k = 0; k < 3; ++k) {
    out.position.e[k].value += body.p[k];
    out.position.e[k].gradient[first + k] = 1;
    out.rotation.columns[k] = turned(body.R.col(k), first + 3);
  }
  return out;
}

}  // namespace

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
