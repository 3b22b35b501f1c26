#pragma once
// Where everything is and how it moves: a copyable value. Six velocities per body, linear then angular, in world axes.
#include <rotule/types.h>

#include <vector>

#include "math/rotation.h"

namespace rotule {

struct State {
  std::vector<Vec3> p;      // centres of mass
  std::vector<Quat> theta;  // body to world, unit
  VecX u;

  [[nodiscard]] int bodies() const { return static_cast<int>(p.size()); }
  [[nodiscard]] auto v(int body) const { return u.segment<3>(6 * body); }
  [[nodiscard]] auto omega(int body) const { return u.segment<3>(6 * body + 3); }
  [[nodiscard]] auto v(int body) { return u.segment<3>(6 * body); }
  [[nodiscard]] auto omega(int body) { return u.segment<3>(6 * body + 3); }
};

/// out.q = base.q moved by sigma; out may be base. Velocities are left alone.
inline void displace(const State& base, const VecX& sigma, State& out) {
  for (int i = 0; i < base.bodies(); ++i) {
    out.p[i] = base.p[i] + sigma.segment<3>(6 * i);
    out.theta[i] = turn(base.theta[i], sigma.segment<3>(6 * i + 3));
  }
}

/// d(sigma)/dt at q = base moved by sigma, for velocities u.
inline void chart_rate(const VecX& sigma, const VecX& u, VecX& out) {
  for (Eigen::Index i = 0; i < u.size(); i += 6) {
    out.segment<3>(i) = u.segment<3>(i);
    out.segment<3>(i + 3) = dexp_inverse(sigma.segment<3>(i + 3), u.segment<3>(i + 3));
  }
}

/// sigma such that base moved by sigma is q.
inline void difference(const State& q, const State& base, VecX& sigma) {
  for (int i = 0; i < q.bodies(); ++i) {
    sigma.segment<3>(6 * i) = q.p[i] - base.p[i];
    sigma.segment<3>(6 * i + 3) = log_rotation(q.theta[i] * base.theta[i].conjugate());
  }
}

}  // namespace rotule
