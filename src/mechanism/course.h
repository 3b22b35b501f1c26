#pragma once
// What a method with error control sees of a mechanism on its course through time: accelerations, the size of an error, the
// correction of drift, and walls to meet at the right instant.
#include <rotule/integrators_adaptive.h>

#include "integrate/adaptive/pace.h"
#include "mechanism/shock.h"

namespace rotule {

class Course {
 public:
  using State = rotule::State;

  Course(JointedMechanism& mechanism, ShockSolver& shocks, const ErrorControl& control, double& shock_energy)
      : mechanism_(mechanism), shocks_(shocks), control_(control), shock_energy_(shock_energy) {}

  void accelerations(double t, const State& s, VecX& udot) { mechanism_.accelerations(t, s, udot); }
  void displace(const State& base, const VecX& sigma, State& out) const { mechanism_.displace(base, sigma, out); }
  void rate(const VecX& sigma, const VecX& u, VecX& out) const { mechanism_.rate(sigma, u, out); }
  void difference(const State& q, const State& base, VecX& sigma) const { mechanism_.difference(q, base, sigma); }

  // What implicit methods ask for: joints and forces; limits that hold are no part of the matrix.
  void separate(double t, const State& s, double a) { mechanism_.separate(t, s, a); }
  void solve_separated(double a, const VecX& r, VecX& out) { mechanism_.solve_separated(a, r, out); }
  void solve_separated(std::complex<double> a, const VecXc& r, VecXc& out) { mechanism_.solve_separated(a, r, out); }
  // Books: those of the mechanism, limits holding.
  using Flow = JointedMechanism::Flow;
  [[nodiscard]] bool keeps_books() const { return mechanism_.keeps_books(); }
  void flow(double t, const State& s, const VecX& udot, Flow& out) { mechanism_.flow(t, s, udot, out); }
  void flow_anew(double t, const State& s, Flow& out) {
    const JointedMechanism::Untraced untraced(mechanism_);
    accelerations(t, s, asked_);
    mechanism_.flow(t, s, asked_, out);
  }
  void book(const Flow& flow, double times) { mechanism_.book(flow, times); }

  void begin_inner_step(const State& s, double t);
  /// A trial step that is not taken leaves no trace.
  void reject_trial() { mechanism_.now.report.converged = converged_; }
  /// Corrects drift as the recipe says, as closely as the tolerance makes sense, or all the way.
  void settle(State& s, double t);
  void settle_all_the_way() { all_the_way_ = true; }
  /// The mechanism's extent L (of a single point: of its way), its fastest motion V and spin W of late. What has not moved yet,
  /// under accelerations a, may be about to move at sqrt(a L); stiff springs turn back long before.
  void error_scale(const State& s, const VecX& acceleration, double t, Pace& pace);
  /// The largest over bodies of |dp| / L, |dsigma| / 1 rad, |dv| / V and |domega| / W, each over the tolerance.
  [[nodiscard]] double error_norm(const VecX& sigma, const VecX& u) const;
  /// Three radians: charts end at two pi.
  [[nodiscard]] double longest_step(const State& s) const;
  void unconverged_step() { mechanism_.now.report.converged = false; }

  [[nodiscard]] bool has_events() const { return !mechanism_.model.walls.empty(); }
  /// The least, over walls and bodies, of max(gap, h times the gap's rate): below zero for a point behind a wall that goes
  /// further.
  [[nodiscard]] double event(const State& s, double h);
  void strike(State& s, double t);
  void late_event() { ++mechanism_.now.report.late_shocks; }

 private:
  bool all_the_way_ = false;
  bool converged_ = true;  // before the present inner step
  JointedMechanism& mechanism_;
  ShockSolver& shocks_;
  const ErrorControl& control_;
  double& shock_energy_;
  double position_unit_ = 0, angle_unit_ = 0, velocity_unit_ = 0, spin_unit_ = 0;  // tolerated errors, once known
  std::vector<ShockPoint> points_;
  VecX asked_;
};

}  // namespace rotule
