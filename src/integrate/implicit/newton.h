#pragma once
// How implicit methods solve their equations. The unknown of a stage is its acceleration A. It fixes the stage's velocity, whose
// derivative by A is a, and its configuration, whose derivative is b; what is sought is A = accelerations(t, stage(A)).
//
// Newton's correction is (I - a da/du - b da/dq)^-1 r for the residual r = accelerations - A, constraint forces included: the
// mechanism gives it (solve_implicit). It need not be exact: the chart's own derivative is left out here, and mechanisms may
// leave out what is small. Convergence is then linear, with a rate of h |omega| or so.
//
// A correction is halved until the next one, with the same matrix, is smaller (Deuflhard's natural monotonicity test), and the
// matrix is made anew where convergence is slow. Where corrections no longer shrink but are small, rounding is what is left.
// Fails where neither helps: the caller then makes the step in halves.
#include <rotule/error.h>
#include <rotule/integrators.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/budget.h"
#include "integrate/mechanism.h"

namespace rotule {

/// What the equations of one step took.
struct ImplicitReport {
  int iterations = 0;     // of Newton's method, over all stages and halves
  int halvings = 0;       // how many times a part of the step had to be halved
  bool converged = true;  // false: some part was still not solved after the most halvings allowed, and its last iterate was taken
};

/// The chart's part of a stage: sigma = sigma_0 + g rate(sigma, u). Where rate(sigma, u) = u this is one addition; on the
/// rotation group fixed-point iteration contracts by g |omega| / 2. False where it does not.
template <Mechanism M>
bool settle_chart(M& m, const VecX& sigma_0, double g, const VecX& u, VecX& sigma, VecX& rate) {
  rate = u;
  sigma = sigma_0 + g * u;
  double before = infinity;
  for (int i = 0; i < 60; ++i) {
    m.rate(sigma, u, rate);
    double change = 0, size = 0;
    for (Eigen::Index k = 0; k < sigma.size(); ++k) {
      const double next = sigma_0[k] + g * rate[k];
      change = std::max(change, std::abs(next - sigma[k]));
      size = std::max(size, std::abs(next));
      sigma[k] = next;
    }
    if (change <= 4 * std::numeric_limits<double>::epsilon() * size) return true;
    if (i > 2 && !(change < before)) return change <= 1e-13 * size;
    before = change;
  }
  return false;
}

inline double largest(const VecX& v) { return v.size() ? v.cwiseAbs().maxCoeff() : 0.0; }

/// The velocity to which errors are compared. Below a centimetre (or radian hundredth) per second a motion counts as rest.
inline double velocity_scale(const VecX& u) { return std::max(largest(u), 1e-2); }

/// As long as it lives, joints of a mechanism that has some ask for velocities u_0 + g A that fit them, in place of
/// accelerations: for stages that move so far that J turns further than its derivative foresees.
template <Mechanism M>
class HeldJoints {
 public:
  HeldJoints(M& m, const VecX& u_0, double g) : m_(m) {
    if constexpr (requires { m.hold_joints(u_0, g); }) m.hold_joints(u_0, g);
  }
  HeldJoints(const HeldJoints&) = delete;
  HeldJoints& operator=(const HeldJoints&) = delete;
  ~HeldJoints() {
    if constexpr (requires { m_.release_joints(); }) m_.release_joints();
  }

 private:
  M& m_;
};

template <ImplicitMechanism M>
class NewtonSolver {
 public:
  explicit NewtonSolver(const NewtonSettings& settings) : settings_(settings) {}

  /// Solves for A, from the guess that A holds. `place(A, stage)` moves the stage to where A leads; false where it cannot. On
  /// return, true or not, the stage is where A leads.
  template <class Place>
  bool solve(M& m, double t, double a, double b, typename M::State& stage, VecX& A, ImplicitReport& report, Place&& place) {
    const bool solved = iterate(m, t, a, b, stage, A, report, place);
    return place(A, stage) && solved;
  }

 private:
  template <class Place>
  bool iterate(M& m, double t, double a, double b, typename M::State& stage, VecX& A, ImplicitReport& report, Place& place) {
    double size = 0, first = 0;  // of the correction, as a velocity
    const auto start_anew = [&] {
      if (!place(A, stage)) return false;
      m.accelerations(t, stage, r_);
      m.linearise(t, stage);
      r_ -= A;
      correction_.resizeLike(r_);
      m.solve_implicit(a, b, r_, correction_);
      size = a * largest(correction_);
      return std::isfinite(size);
    };
    if (!start_anew()) return false;
    first = size;
    bool fresh = true;
    double contraction = 1;
    for (int i = 0; i < settings_.max_iterations; ++i) {
      if (i > 0 && Budget::spent()) return false;
      ++report.iterations;
      const double scale = velocity_scale(stage.u);
      // With this correction made, what is left is smaller by the contraction seen last: hardly more than ten times, as the part
      // that contracts least shows last.
      if (size * std::clamp(contraction / std::max(1 - contraction, 1e-3), 0.1, 1.0) <= settings_.tolerance * scale) {
        A += correction_;
        return true;
      }
      double part = 1, next = infinity;
      for (;; part /= 2) {
        trial_ = A + part * correction_;
        if (place(trial_, stage)) {
          m.accelerations(t, stage, r_);
          r_ -= trial_;
          next_.resizeLike(r_);
          m.solve_implicit(a, b, r_, next_);
          next = a * largest(next_);
          if (next <= (1 - part / 4) * size) break;
        }
        if (part == 1 && size <= 1e-6 * std::max(scale, first)) return true;  // rounding
        if (!fresh || part < 1.0 / 64) break;
      }
      if (!(next <= (1 - part / 4) * size)) {
        if (fresh || !start_anew()) return false;
        fresh = true;
        contraction = 1;
        continue;
      }
      contraction = next / size;
      A.swap(trial_);
      correction_.swap(next_);
      size = next;
      if (contraction > 0.3 && !fresh) {
        if (!start_anew()) return false;
        fresh = true;
      } else {
        fresh = false;
      }
    }
    return false;
  }

  NewtonSettings settings_;
  VecX r_, correction_, next_, trial_;
};

/// Makes a step of h by `attempt(t, h, last)`, which says whether it succeeded and otherwise leaves the state alone; where it
/// fails, in two halves, and so on. At the deepest level, and where the step's budget is spent, it is told that this is its last
/// chance, and must move on as well as it can.
template <class Attempt>
void in_halves(double t, double h, int max_halvings, ImplicitReport& report, Attempt&& attempt) {
  const std::int64_t whole = std::int64_t{1} << max_halvings;
  std::int64_t at = 0, size = whole;
  const auto share = [&](std::int64_t n) { return static_cast<double>(n) / static_cast<double>(whole); };
  while (at < whole) {
    const bool smallest = size == 1, last = smallest || Budget::spent();
    bool made = false, possible = true;
    try {
      made = attempt(t + share(at) * h, share(size) * h, last);
    } catch (const Error&) {
      if (smallest) throw;
      possible = false;
    }
    if (possible && !made && !last && Budget::over()) continue;  // as well as it can
    if (!possible || (!made && !last)) {
      ++report.halvings;
      size /= 2;
      continue;
    }
    report.converged = report.converged && made;
    // On to the next part; after the second half of something, the parts are as large again as that was.
    at += size;
    while (size < whole && at % (2 * size) == 0) size *= 2;
  }
}

}  // namespace rotule
