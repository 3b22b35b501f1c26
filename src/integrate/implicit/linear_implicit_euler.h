#pragma once
// Implicit Euler with one linear solve (B4):  (M - h df/du - h^2 df/dq) du = h (f + h df/dq u),  u+ = u + du,  q+ = q moved by h
// u+. The bracket is taken as f(q moved by h u): the same to the method's order, equal where forces are linear, and without a
// matrix product; derivatives are those of that place. Order 1, R(z) = 1/(1 - z). One evaluation and one solve per step, never
// halved: where forces turn within a step, it is less robust than implicit_euler.
#include "integrate/implicit/newton.h"

namespace rotule {

template <ImplicitMechanism M>
class LinearImplicitEuler {
 public:
  void advance(M& m, typename M::State& s, double t, double h) {
    sigma_ = h * s.u;
    ahead_ = s;
    m.displace(s, sigma_, ahead_);
    m.accelerations(t + h, ahead_, a_);
    m.linearise(t + h, ahead_);
    correction_.resizeLike(a_);
    m.solve_implicit(h, h * h, a_, correction_);
    s.u += h * correction_;
    sigma_ = h * s.u;
    m.displace(s, sigma_, s);
    book_anew(m, t + h, s, h);
  }

 private:
  typename M::State ahead_;
  VecX a_, sigma_, correction_;
};

}  // namespace rotule
