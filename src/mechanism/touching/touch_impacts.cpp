// Impacts at the instant at which surfaces meet. Impulses p obey
//   0 <= p_n, w+_n + e w-_n >= 0, complementary;   |p_t| <= mu p_n, against the slip that is left,
// which is Newton's restitution with Coulomb's friction. Contacts that approach fast enough to bounce are resolved by themselves,
// then those that approach because of it, and so on: blows run through a row of balls in order. What meets more slowly than
// `restitution_speed` does not bounce, and is resolved together with all that touches: so trains of bounces end. With friction
// Newton's law may ask for more energy than there is; then it gets as much of the bounce as there is energy for: between the
// velocities without bounce, which never gain, and those with it every mixture keeps all inequalities.
#include <algorithm>
#include <cmath>

#include "mechanism/touching/touching_mechanism.h"

namespace rotule {

namespace {

constexpr double met_share = 1e-9;  // gaps that count as closed, of the smaller body's size
constexpr double impact_tolerance = 1e-12;
constexpr int most_blows = 200;

}  // namespace

bool TouchingMechanism::apply_impacts(State& s, std::vector<Touch*>& closing, bool bounce) {
  make_problem(closing, false);
  for (FrictionRows& f : problem_.friction) {
    const Touch& touch = touches_[rows_[f.first_row].touch];
    if (rows_[f.first_row].row == 1 && touch.law.static_friction > 0 &&
        std::hypot(touch.w[1], touch.w[2]) > rules_.stick_speed(touch.size))
      f.mu = touch.friction[0].mu_slip;
  }
  const auto count = static_cast<Eigen::Index>(rows_.size());
  VecX w(count);
  for (Eigen::Index i = 0; i < count; ++i) w[i] = touches_[rows_[i].touch].w[rows_[i].row];
  const auto solve_for = [&](bool bouncing, VecX& u) {
    problem_.b = -w;
    if (bouncing)
      for (const ConstraintBlock& block : problem_.blocks) {
        const Touch& touch = touches_[rows_[block.first_row].touch];
        if (-touch.w[0] > rules_.restitution_speed(touch.size)) problem_.b[block.first_row] -= touch.law.restitution * touch.w[0];
      }
    problem_.x0.setZero();
    solve_problem(impact_tolerance);
    u = s.u;
    for (Eigen::Index k = 0; k < count; ++k) u += answer_[k] * responses_[static_cast<std::size_t>(k)];
  };
  VecX stopped, bounced;
  solve_for(false, stopped);
  const double before = kinetic_energy(mechanism_.model, s);
  State trial = s;
  trial.u = stopped;
  if (bounce) {
    solve_for(true, bounced);
    const auto energy_at = [&](double share) {
      trial.u = stopped + share * (bounced - stopped);
      return kinetic_energy(mechanism_.model, trial);
    };
    const double e_0 = energy_at(0), e_half = energy_at(0.5), e_1 = energy_at(1);
    double share = 1;
    if (e_1 > before) {
      // The energy is a parabola of the share.
      const double a = 2 * (e_1 - 2 * e_half + e_0), b = e_1 - e_0 - a, c = std::min(e_0 - before, 0.0);
      const double root = std::sqrt(std::max(b * b - 4 * a * c, 0.0));
      share = a > 0 ? std::clamp(b > 0 ? -2 * c / (b + root) : (root - b) / (2 * a), 0.0, 1.0) : 0;
    }
    energy_at(share);
  }
  s.u = trial.u;
  struck_energy += before - kinetic_energy(mechanism_.model, s);
  mechanism_.now.report.shocks += static_cast<int>(closing.size());
  return true;
}

bool TouchingMechanism::strike(State& s, double t, bool bounce) {
  const JointedMechanism::Jump jump(mechanism_, s);
  mechanism_.evaluate(s, t);
  double size = 0;
  for (const int i : body_of_)
    if (mechanism_.model.movable(i)) size = std::max(size, reach_[i]);
  find(s, met_share * size, touches_);
  if (touches_.empty()) return false;
  double speed = 0;
  for (const int i : body_of_)
    if (mechanism_.model.movable(i)) speed = std::max(speed, s.v(i).norm() + reach_[i] * s.omega(i).norm());
  const double approaching = 1e-9 * (speed + std::sqrt(mechanism_.model.gravity.norm() * size));
  const auto look = [&] {
    mechanism_.kinematics.update(mechanism_.model, s);
    evaluate_touches(false);
  };
  look();
  std::erase_if(touches_, [](const Touch& touch) { return touch.place.gap > met_share * touch.size; });
  bool any = false;
  for (int blow = 0;; ++blow) {
    chosen_.clear();
    const bool one_by_one = bounce && blow < most_blows;
    for (Touch& touch : touches_)
      if (one_by_one && touch.law.restitution > 0 && -touch.w[0] > std::max(rules_.restitution_speed(touch.size), approaching))
        chosen_.push_back(&touch);
    const bool bouncing = !chosen_.empty();
    if (!bouncing) {
      const bool closing =
          std::any_of(touches_.begin(), touches_.end(), [&](const Touch& touch) { return touch.w[0] < -approaching; });
      if (!closing) break;
      for (Touch& touch : touches_) chosen_.push_back(&touch);
      if (bounce && blow >= most_blows) ++mechanism_.now.report.late_shocks;
    }
    any = apply_impacts(s, chosen_, bouncing) || any;
    look();
    // Nothing that was held together without bounce approaches any more, but for what the solver left.
    if (!bouncing) break;
  }
  return any;
}

}  // namespace rotule
