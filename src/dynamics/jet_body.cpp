#include "dynamics/jet_body.h"

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

}  // namespace

JetBody jet_body(const BodyLanes<double>& body, const Vec3& frame, int first, bool turns) {
  JetBody out;
  out.position = turns ? turned(body.R * frame, first + 3) : JetVec3(Vec3(body.R * frame));
  for (int k = 0; k < 3; ++k) {
    out.position.e[k].value += body.p[k];
    out.position.e[k].gradient[first + k] = 1;
    out.rotation.columns[k] = turns ? turned(body.R.col(k), first + 3) : JetVec3(Vec3(body.R.col(k)));
  }
  return out;
}

}  // namespace rotule
