// What RATTLE asks of bodies under joints (integrate/symplectic/rattle.h).
#include <algorithm>

#include "base/budget.h"
#include "base/spans.h"
#include "mechanism/jointed_mechanism.h"
#include "solve/solve.h"

namespace rotule {

void JointedMechanism::make_rotors() {
  if (rotors_.empty())
    for (int i = 0; i < model.body_count(); ++i) rotors_.emplace_back(model.movable(i) ? model.inertia[i] : Mat3::Identity());
}

void JointedMechanism::glide(int body, Quat& theta, Vec3& omega, double step) {
  make_rotors();
  rotors_[body].glide(theta, omega, step);
}

void JointedMechanism::begin_drifts(const State& s, double t) {
  make_rotors();
  drifts_.resize(islands.size());
  evaluate(s, t);
}

void JointedMechanism::kick(State& s, double t, double step) {
  ++evaluations;
  sum_forces(t, s);
  divide_by_mass(forces_);
  if (books) book_kick(s, t, step);
  s.u += step * forces_;
}

void JointedMechanism::drift_freely(const State& from, State& s, double step) const {
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    s.p[i] = from.p[i] + step * s.v(i);
    s.theta[i] = from.theta[i];
    Vec3 omega = s.omega(i);
    rotors_[i].drift(s.theta[i], omega, step);
    s.omega(i) = omega;
  }
  s.x = from.x + step * s.u.tail(s.x.size());
}

void JointedMechanism::drift(State& s, double t, double step) {
  const StageClock::Scope stage(clock, Stage::solve);
  // Where no impulses along the rows of the start close the joints at the end (near a pose in which rows become dependent, or
  // over too long a way), two drifts of half the length, the joints closed between them, do.
  constexpr int deepest = 6;
  constexpr int whole = 1 << deepest;
  for (int at = 0, size = whole; at < whole;) {
    const double from = t + step * at / whole, length = step * size / whole;
    if (!drift_closed(s, from, length)) {
      if (size > 1) {
        ++now.report.halvings;
        size /= 2;
        continue;
      }
      drift_and_project(s, from, length);
    }
    at += size;
    while (size < whole && at % (2 * size) == 0) size *= 2;
    if (at < whole) begin_step(s, t + step * at / whole);
  }
}

bool JointedMechanism::drift_closed(State& s, double t, double step) {
  // The rows at the start, along which the impulses act; guessed from the forces of the last drift.
  start_ = s;
  for (std::size_t i = 0; i < islands.size(); ++i) {
    Island& island = islands[i];
    Drift& drift = drifts_[i];
    drift.problem = island.problem;
    if (books) drift.C_t = island.values.C_t;
    VecX& force = now.joints[i].drift_force;
    if (force.size() != island.x.size()) force.setZero(island.x.size());
    drift.impulse = step * force;
  }

  // Newton's method on C(q at the end) = 0 with the matrix of the start, J W J^T h: each round gains a factor of the order of h
  // times the spin.
  double before = infinity;
  constexpr int most = 100;
  for (int iterations = 0;; ++iterations) {
    Budget::listen();
    s.u = start_.u;
    for (std::size_t i = 0; i < islands.size(); ++i) {
      Island& island = islands[i];
      const Drift& drift = drifts_[i];
      island.gather(s.u, island.local);
      apply_impulses(drift.problem, view(drift.impulse), view(island.local));
      island.scatter(s.u);
    }
    drift_freely(start_, s, step);
    evaluate(s, t + step);
    double error = 0, reach = 0;
    for (const Island& island : islands) error = std::max(error, island.largest_error());
    for (const BodyLanes<double>& body : kinematics.bodies) reach = std::max(reach, body.p.cwiseAbs().maxCoeff());
    const double rounding = std::numeric_limits<double>::epsilon() * reach;
    if (error <= 2 * rounding) break;
    // As closed as rounding allows, or no longer getting better.
    if (!std::isfinite(error) || iterations == most || (iterations >= 2 && error > 0.95 * before)) {
      if (error < 1e4 * rounding) break;
      s = start_;
      for (JointAnswer& answer : now.joints) answer.drift_force.setZero();
      evaluate(s, t);
      return false;
    }
    before = error;
    for (std::size_t i = 0; i < islands.size(); ++i) {
      Island& island = islands[i];
      Drift& drift = drifts_[i];
      drift.problem.b = -island.values.C / step;
      drift.problem.x0.setZero();
      const SolveBudget budget;
      rotule::solve(drift.problem, recipe.solver, island.workspace, view(island.x), island.report);
      drift.impulse += island.x;
    }
    count_solves();
  }
  for (std::size_t i = 0; i < islands.size(); ++i) now.joints[i].drift_force = drifts_[i].impulse / step;
  if (books) book_drift();
  return true;
}

void JointedMechanism::drift_and_project(State& s, double t, double step) {
  start_ = s;
  drift_freely(start_, s, step);
  start_ = s;
  const VecX drifted = s.u;
  project(ProjectionSettings{}, s, t + step);
  difference(s, start_, sigma_);
  s.u = drifted + sigma_ / step;
}

void JointedMechanism::constrain_velocities(State& s, double) {
  const StageClock::Scope stage(clock, Stage::solve);
  const Jump jump(*this, s);
  close_velocities(s);
  if (books)
    for (const Island& island : islands) now.flow[Agent::guides] -= island.x.dot(island.values.C_t);
}

}  // namespace rotule
