#pragma once
// Where everything is and how it moves: a copyable value. One vector u for all velocities, in world axes: six per body, linear
// then angular, followed by three per particle. It is thus a row of triples, and a body is two of them. Behind them stand three
// numbers per wake (FlowSection::unsteady): states of the first order, whose rates are integrated as accelerations are, and of
// which no position comes.
#include <rotule/types.h>

#include <vector>

#include "base/gang.h"
#include "math/rotation.h"

namespace rotule {

struct State {
  std::vector<Vec3> p;      // centres of mass
  std::vector<Quat> theta;  // body to world, unit
  VecX x;                   // particles, three coordinates each
  VecX u;

  [[nodiscard]] int bodies() const { return static_cast<int>(p.size()); }
  [[nodiscard]] int particles() const { return static_cast<int>(x.size() / 3); }
  /// Where the particle's velocity begins in u.
  [[nodiscard]] int first(int particle) const { return 6 * bodies() + 3 * particle; }
  [[nodiscard]] auto wake(int number) const { return u.segment<3>(6 * bodies() + x.size() + 3 * number); }
  [[nodiscard]] auto particle_position(int particle) const { return x.segment<3>(3 * particle); }
  [[nodiscard]] auto particle_velocity(int particle) const { return u.segment<3>(first(particle)); }
  [[nodiscard]] auto v(int body) const { return u.segment<3>(6 * body); }
  [[nodiscard]] auto omega(int body) const { return u.segment<3>(6 * body + 3); }
  [[nodiscard]] auto v(int body) { return u.segment<3>(6 * body); }
  [[nodiscard]] auto omega(int body) { return u.segment<3>(6 * body + 3); }
};

/// Where something's velocities stand in u: six numbers of a body, three of a particle, which does not turn.
struct VelocitySlot {
  int first = 0;
  bool turns = true;

  [[nodiscard]] Vec6 read(const VecX& u) const {
    Vec6 motion = Vec6::Zero();
    motion.head<3>() = u.segment<3>(first);
    if (turns) motion.tail<3>() = u.segment<3>(first + 3);
    return motion;
  }
  template <class Motion>
  void write(const Motion& motion, VecX& u) const {
    u.segment<3>(first) = motion.template head<3>();
    if (turns) u.segment<3>(first + 3) = motion.template tail<3>();
  }
};

/// out.q = base.q moved by sigma; out may be base. Velocities are left alone.
inline void displace(const State& base, const VecX& sigma, State& out, Gang* gang = nullptr) {
  share_pieces(gang, base.bodies(), [&](int first, int end) {
    for (int i = first; i < end; ++i) {
      out.p[i] = base.p[i] + sigma.segment<3>(6 * i);
      out.theta[i] = turn(base.theta[i], sigma.segment<3>(6 * i + 3));
    }
  });
  out.x = base.x + sigma.segment(6 * static_cast<Eigen::Index>(base.bodies()), base.x.size());
}

/// d(sigma)/dt at q = base moved by sigma, for velocities u of so many bodies and whatever particles follow them.
inline void chart_rate(int bodies, const VecX& sigma, const VecX& u, VecX& out, Gang* gang = nullptr) {
  share_pieces(gang, bodies, [&](int first, int end) {
    for (Eigen::Index i = 6 * first; i < 6 * end; i += 6) {
      out.segment<3>(i) = u.segment<3>(i);
      out.segment<3>(i + 3) = dexp_inverse(sigma.segment<3>(i + 3), u.segment<3>(i + 3));
    }
  });
  const Eigen::Index rest = u.size() - 6 * bodies;
  out.tail(rest) = u.tail(rest);
}

/// sigma such that base moved by sigma is q.
inline void difference(const State& q, const State& base, VecX& sigma) {
  for (int i = 0; i < q.bodies(); ++i) {
    sigma.segment<3>(6 * i) = q.p[i] - base.p[i];
    sigma.segment<3>(6 * i + 3) = log_rotation(q.theta[i] * base.theta[i].conjugate());
  }
  const Eigen::Index particles = 6 * static_cast<Eigen::Index>(q.bodies()), wakes = particles + q.x.size();
  sigma.segment(particles, q.x.size()) = q.x - base.x;
  sigma.tail(sigma.size() - wakes).setZero();
}

}  // namespace rotule
