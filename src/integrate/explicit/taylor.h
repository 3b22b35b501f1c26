#pragma once
// Taylor's series of the motion, to order P (B4):  u + h a + h^2/2 a' + h^3/6 a'',  a(tau) = a(t + tau, q(tau), u(tau)).
//
// The derivatives are those along the motion, constraint forces included: no mechanism has to know more than its accelerations.
// a' is the central difference of a over +-d along the curve that starts as the motion does (velocity u, acceleration a); a'' the
// second difference along the curve that has a' right as well. Both are exact where a is linear, so that R(z) is the
// exponential's series. Elsewhere they are off by d^2/6 a''' and d^2/12 a'''' at most. d is a fixed part of h:
//   truncation adds h^2/2 d^2/6 = h^4/768 a''' for d = h/8: above the order of taylor2, and 1/32 of taylor3's own h^4/24;
//   rounding adds h^3/6 4 eps/d^2 = 43 eps h |a| for a'' and 4 eps h |a| for a': that of a few steps more.
// A smaller d would lose more to rounding than it gains. Where accelerations jump within h, so does the method's error.
//
// On the group d(sigma)/dt = rate(sigma, u(tau)) is followed with u(tau) the polynomial just found, less its last term, by
// Kutta's third-order method: free of evaluations, and in a flat space exactly Taylor's h u + h^2/2 a + h^3/6 a'.
#include "integrate/mechanism.h"

namespace rotule {

template <Mechanism M, int P>
class Taylor {
  static_assert(P == 2 || P == 3);

 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    const double d = h / 8;
    point_ = s;
    // The same series of whatever is booked: derivatives by differences, as sums of the three values.
    const double bend = P == 3 ? h * h * h / (6 * d * d) : 0;
    m.accelerations(t, s, a_);
    book(m, t, s, a_, h - 2 * bend);
    jerk_.setZero(a_.size());
    snap_.setZero(a_.size());
    sample(m, s, t, d, P == 2, h, bend);
    jerk_ = (ahead_ - behind_) / (2 * d);
    if constexpr (P == 3) {
      sample(m, s, t, d, true, h, bend);
      snap_ = ((ahead_ - a_) + (behind_ - a_)) / (d * d);
    }

    rate_.resizeLike(a_);
    middle_.resizeLike(a_);
    velocity_ = s.u + h / 2 * a_;
    if constexpr (P == 3) velocity_ += h * h / 8 * jerk_;
    sigma_ = h / 2 * s.u;
    m.rate(sigma_, velocity_, middle_);
    velocity_ = s.u + h * a_;
    if constexpr (P == 3) velocity_ += h * h / 2 * jerk_;
    sigma_ = h * (2 * middle_ - s.u);
    m.rate(sigma_, velocity_, rate_);
    sigma_ = h / 6 * (s.u + 4 * middle_ + rate_);
    m.displace(s, sigma_, s);
    s.u += h * (a_ + h / 2 * (jerk_ + h / 3 * snap_));
  }

 private:
  /// Accelerations a little later and a little earlier, on the curve whose derivatives are known so far. In the chart the curve
  /// is tau u + tau^2/2 a to second order: rate(sigma, u) differs from u by sigma x u / 2, and sigma is along u.
  void sample(M& m, const typename M::State& s, double t, double d, bool booked, double h, double bend) {
    for (const double tau : {d, -d}) {
      sigma_ = tau * (s.u + tau / 2 * a_);
      m.displace(s, sigma_, point_);
      point_.u = s.u + tau * (a_ + tau / 2 * jerk_);
      m.accelerations(t + tau, point_, tau > 0 ? ahead_ : behind_);
      if (booked) book(m, t + tau, point_, tau > 0 ? ahead_ : behind_, h * h / (4 * tau) + bend);
    }
  }

  typename M::State point_;
  VecX a_, jerk_, snap_, ahead_, behind_, sigma_, velocity_, middle_, rate_;
};

}  // namespace rotule
