// Particles that touch, in a step by impulses. Bodies meet particles in the minimum of the particles' step, and joints and other
// bodies in their islands; each gets what the other gave last, until bodies move the same way in both (block Gauss-Seidel on the
// impulses).
#include <algorithm>

#include "base/budget.h"
#include "mechanism/soft/soft_motion.h"
#include "step/reference/reference_stepper.h"

namespace rotule {

namespace {

constexpr int most_exchanges = 30;
constexpr double exchange_tolerance = 0.02;  // of the rounding, per step

}  // namespace

void ReferenceStepper::look_for_soft() {
  soft_.reset();
  if (SoftMotion::wanted(mechanism.model, mechanism.recipe))
    soft_ = std::make_unique<SoftMotion>(mechanism.model, mechanism.recipe);
}

void ReferenceStepper::begin_soft(double h) {
  if (!soft_) return;
  const State& s = mechanism.now.state;
  // Springs between particles and bodies act at the end of the step, not at its start.
  push_.setZero(s.u.size());
  soft_->add_ties(s, push_);
  push_ *= -h;
  alone_ = free_;
  add_push(alone_);
  soft_->begin(s, h, alone_);
}

void ReferenceStepper::add_push(VecX& u) const {
  const Model& model = mechanism.model;
  for (int i = 0; i < model.body_count(); ++i) {
    if (!model.movable(i)) continue;
    u.segment<3>(6 * i) += model.inverse_mass[i] * push_.segment<3>(6 * i);
    u.segment<3>(6 * i + 3) += mechanism.kinematics.inverse_inertia[i] * push_.segment<3>(6 * i + 3);
  }
}

bool ReferenceStepper::exchange(const Part& part) {
  if (!soft_) return false;
  const State& s = mechanism.now.state;
  const Eigen::Index bodies = 6 * static_cast<Eigen::Index>(s.bodies()), rest = s.x.size();
  held_ = first_ - free_;  // what joints and contacts of bodies give
  bool agreed = false;
  if (exchanges_ == 0) {
    soft_report_ = {};
  } else {
    const double off = (first_ - soft_u_).head(bodies).lpNorm<Eigen::Infinity>();
    agreed = part.h * off <= exchange_tolerance * soft_->finest();
    if (!agreed && (exchanges_ == most_exchanges || Budget::spent())) {
      soft_report_.converged = false;
      agreed = true;
    }
  }
  if (!agreed) {
    given_ = alone_ + held_;
    soft_report_.converged = true;
    soft_report_.residual = 0;
    const StageClock::Scope stage(mechanism.clock, Stage::solve);
    soft_->solve(part.t, s, part.h, mechanism.external, given_, soft_u_, push_, soft_report_);
    ++exchanges_;
    agreed = push_.isZero(0);
  }
  if (agreed) {
    first_.tail(rest) = after_.tail(rest) = soft_u_.tail(rest);
    return false;
  }
  free_ = alone_;
  add_push(free_);
  return true;
}

void ReferenceStepper::count_soft(StepReport& report) const {
  report.solves += soft_report_.solves;
  report.iterations += soft_report_.iterations;
  report.newton_iterations += soft_report_.newton_iterations;
  report.converged = report.converged && soft_report_.converged;
  report.residual = std::max(report.residual, soft_report_.residual);
}

void ReferenceStepper::book_soft() {
  if (!soft_) return;
  const Model& model = mechanism.model;
  const State& s = mechanism.now.state;
  Flow& flow = mechanism.now.flow;
  for (const SoftContact& c : soft_->contacts()) {
    Vec3 y = Vec3::Zero();
    for (int k = 0; k < c.count; ++k) y += c.weights[k] * mean_.segment<3>(s.first(c.particles[k]));
    if (c.body >= 0 && model.movable(c.body))
      y -= mean_.segment<3>(6 * c.body) + Vec3(mean_.segment<3>(6 * c.body + 3)).cross(c.lever);
    const Vec3 w = c.frame.transpose() * (y - c.given);
    flow[Agent::impacts] += c.x[0] * w[0];
    flow[Agent::contact_friction] += c.x.tail<2>().dot(w.tail<2>());
    flow[Agent::guides] += c.impulse().dot(c.given);
  }
}

}  // namespace rotule
