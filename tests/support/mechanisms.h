#pragma once
// Small mechanisms with known answers, seen through the verbs of integrate/mechanism.h alone: configurations that are vectors,
// and a top on the rotation group. Both find their derivatives by central differences, which is all that Newton's method needs.
#include <rotule/integrators.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "integrate/methods.h"
#include "linalg/decompositions.h"
#include "math/rotation.h"

namespace rotule::testing {

inline VecX vector(std::initializer_list<double> values) {
  VecX v(static_cast<Eigen::Index>(values.size()));
  std::copy(values.begin(), values.end(), v.begin());
  return v;
}

/// da/du and da/dq of a mechanism, and Newton's systems from them.
class Derivatives {
 public:
  template <class M>
  void find(M& m, double t, const typename M::State& s, double reach = 1e-5) {
    const Eigen::Index n = s.u.size();
    D_.resize(n, n);
    K_.resize(n, n);
    typename M::State moved = s;
    VecX sigma, plus, minus;
    for (Eigen::Index j = 0; j < n; ++j) {
      const double d = reach * std::max(1.0, std::abs(s.u[j]));
      moved.u[j] = s.u[j] + d;
      m.accelerations(t, moved, plus);
      moved.u[j] = s.u[j] - d;
      m.accelerations(t, moved, minus);
      moved.u[j] = s.u[j];
      D_.col(j) = (plus - minus) / (2 * d);
    }
    for (Eigen::Index j = 0; j < n; ++j) {
      sigma.setZero(n);
      sigma[j] = reach;
      m.displace(s, sigma, moved);
      m.accelerations(t, moved, plus);
      sigma[j] = -reach;
      m.displace(s, sigma, moved);
      m.accelerations(t, moved, minus);
      K_.col(j) = (plus - minus) / (2 * reach);
    }
  }
  void solve(double a, double b, const VecX& r, VecX& out) const {
    out = lu_solve(MatX::Identity(r.size(), r.size()) - a * D_ - b * K_, r);
  }

 private:
  MatX D_, K_;
};

struct FlatState {
  VecX q, u;
};

/// q'' = f(t, q, u) in a vector space.
struct FlatMechanism {
  using State = FlatState;
  std::function<VecX(double, const VecX&, const VecX&)> f;
  std::int64_t evaluations = 0;
  Derivatives derivatives = {};

  void accelerations(double t, const State& s, VecX& out) {
    ++evaluations;
    out = f(t, s.q, s.u);
  }
  void displace(const State& base, const VecX& x, State& out) const { out.q = base.q + x; }
  void rate(const VecX&, const VecX& u, VecX& out) const { out = u; }
  void difference(const State& s, const State& base, VecX& out) const { out = s.q - base.q; }
  void linearise(double t, const State& s) {
    const std::int64_t before = evaluations;
    derivatives.find(*this, t, s);
    evaluations = before;
  }
  void solve_implicit(double a, double b, const VecX& r, VecX& out) const { derivatives.solve(a, b, r, out); }
};

struct TopState {
  Quat theta = Quat::Identity();
  VecX u = VecX::Zero(3);
};

/// Euler's free top in world axes: I omega' = -omega x I omega.
struct FreeTop {
  using State = TopState;
  Vec3 moments{1, 2, 3.5};
  std::int64_t evaluations = 0;
  Derivatives derivatives = {};

  void accelerations(double, const State& s, VecX& out) {
    ++evaluations;
    const Vec3 w = s.theta.conjugate() * Vec3(s.u);
    out = s.theta * Vec3(-w.cross(moments.cwiseProduct(w)).cwiseQuotient(moments));
  }
  void displace(const State& base, const VecX& x, State& out) const { out.theta = turn(base.theta, x); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { out = dexp_inverse(sigma, u); }
  void difference(const State& s, const State& base, VecX& out) const { out = log_rotation(s.theta * base.theta.conjugate()); }
  void linearise(double t, const State& s) {
    const std::int64_t before = evaluations;
    derivatives.find(*this, t, s);
    evaluations = before;
  }
  void solve_implicit(double a, double b, const VecX& r, VecX& out) const { derivatives.solve(a, b, r, out); }
  [[nodiscard]] double energy(const State& s) const {
    const Vec3 w = s.theta.conjugate() * Vec3(s.u);
    return 0.5 * w.dot(moments.cwiseProduct(w));
  }
};

inline IntegratorTraits traits_of(const IntegratorSettings& settings) {
  return std::visit([](const auto& s) { return s.traits; }, settings);
}

template <class M>
typename M::State integrate(const IntegratorSettings& settings, M& m, typename M::State s, double duration, int steps,
                            const std::function<void(const typename M::State&)>& watch = {}) {
  AnyIntegrator<M> method = make_integrator<M>(settings);
  const double h = duration / steps;
  std::visit(
      [&](auto& integrator) {
        for (int i = 0; i < steps; ++i) {
          integrator.advance(m, s, i * h, h);
          if (watch) watch(s);
        }
      },
      method);
  return s;
}

}  // namespace rotule::testing
