#pragma once
// All that an integrator knows of what it integrates. A state is a configuration q and velocities u. The configuration is moved
// in a chart around the step's start: coordinates sigma, with d(sigma)/dt = rate(sigma, u), so that a method written for
// vectors is right, and of full order, on the rotation group too.
#include <rotule/types.h>

#include <concepts>
#include <vector>

namespace rotule {

template <class M>
concept Mechanism = requires(M m, typename M::State s, const typename M::State& base, VecX& out, const VecX& x, double t) {
  { s.u } -> std::convertible_to<VecX>;
  m.accelerations(t, base, out);  // du/dt: forces and constraint solve
  m.displace(base, x, s);         // s.q = base.q moved by x; velocities left alone
  m.rate(x, x, out);              // d(sigma)/dt from sigma and u
  m.difference(base, base, out);  // sigma that moves the second to the first
};

/// What implicit methods ask for besides: Newton's linear systems. With M the mass, D = df/du and K = df/dq the linearised forces
/// and J the constraints' rows, the matrix of every one of them is M - a D - b K over motions that J allows. r is a residual of
/// accelerations; what J sees of it is wanted in the answer as it is, as constraints fix it (J u' + gamma = 0) whatever forces
/// do.
template <class M>
concept ImplicitMechanism = Mechanism<M> &&
    requires(M m, const typename M::State& s, VecX& out, const VecX& r, double t, double a, double b) {
  m.linearise(t, s);               // D and K at this state, kept until the next call
  m.solve_implicit(a, b, r, out);  // (M - a D - b K) out = M r + J^T y with J out = J r (but for gamma's own derivatives)
};

/// A mechanism that moves in a flat space under potentials and dissipation alone can find a stage as the minimum of
///   g^2/2 |A|^2_M + V(q(A)) + what dissipation takes on the way.
struct StageMinimum {
  int iterations = 0;  // of Newton's method
  bool converged = true;
};
template <class M, class Settings>
concept Minimises = requires(M m, const typename M::State& base, typename M::State& s, const VecX& x, VecX& A, double g,
                             const Settings& settings) {
  { m.minimises() } -> std::convertible_to<bool>;
  { m.minimise(g, base, x, x, g, settings, s, A) } -> std::same_as<StageMinimum>;
};

/// A mechanism that keeps books has rates of its own, work and impulses by who makes them, integrated along with the motion by
/// the method's weights. They are a read-out: nothing of the motion depends on them.
template <class M>
concept BookKeeper = requires(M m, const typename M::State& s, typename M::Flow& flow, const VecX& udot, double t) {
  { m.keeps_books() } -> std::convertible_to<bool>;
  m.flow(t, s, udot, flow);  // of the state whose accelerations were the last found
  m.flow_anew(t, s, flow);   // of any state; leaves no trace
  m.book(flow, t);           // so many times
};

/// out = an expression over all velocities, number by number: large mechanisms have it shared out by their threads.
template <class M, class Expression>
void combine(M& m, VecX& out, const Expression& expression) {
  if constexpr (requires { m.combine(out, expression); })
    m.combine(out, expression);
  else
    out = expression;
}

template <class M>
bool keeps_books(M& m) {
  if constexpr (BookKeeper<M>)
    return m.keeps_books();
  else
    return false;
}

/// Books a stage of that weight, in seconds, whose accelerations were the last found.
template <class M>
void book(M& m, double t, const typename M::State& s, const VecX& udot, double weight) {
  if constexpr (BookKeeper<M>) {
    if (!m.keeps_books()) return;
    typename M::Flow flow;
    m.flow(t, s, udot, flow);
    m.book(flow, weight);
  }
}

/// The same of any state.
template <class M>
void book_anew(M& m, double t, const typename M::State& s, double weight) {
  if constexpr (BookKeeper<M>) {
    if (!m.keeps_books()) return;
    typename M::Flow flow;
    m.flow_anew(t, s, flow);
    m.book(flow, weight);
  }
}

/// What a multistep method remembers of an earlier instant.
template <class State>
struct Sample {
  State s;
  VecX acceleration;
};

/// The memory of a multistep method: newest first. Part of what an exact snapshot saves; void once the step size changes.
template <class State>
struct Memory {
  std::vector<Sample<State>> samples;
  int filled = 0;
  double h = 0;

  void forget() { filled = 0; }
};

}  // namespace rotule
