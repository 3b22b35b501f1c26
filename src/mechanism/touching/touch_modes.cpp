// Which contacts push and what sticks, where a stretch of motion begins. What slips already is told by its velocity. The rest is
// told by accelerations: with w' = J u' + gamma,
//   0 <= N, w'_n >= 0, N w'_n = 0;   |x_t| <= mu N, and x_t = -mu N w'_t/|w'_t| where w'_t is not zero:
// the problem that impulses solve, one derivative higher. It is only made where the plain guess - everything pushes, everything
// at rest sticks - does not fit.

#include <algorithm>
#include <cmath>

#include "base/spans.h"
#include "mechanism/touching/touching_mechanism.h"
#include "model/solver_list.h"
#include "solve/solve.h"

namespace rotule {

namespace {

constexpr double touching_share = 1e-9;     // gaps that count as closed, of the smaller body's size
constexpr double weightless_share = 1e-10;  // accelerations that count as none, of the largest
constexpr double on_cone = 1e-7;            // how near to mu N friction counts as at its end
// Modes need no more: the forces themselves come from the rows in force, to rounding.
constexpr double mode_tolerance = 1e-9;
constexpr int most_friction_rounds = 60;
constexpr int most_dropped = 100;

}  // namespace

void TouchingMechanism::decide(const State& s, double t, double ahead) {
  const Model& model = mechanism_.model;
  touches_.clear();
  accelerations(t, s, free_);

  // Scales of the motion from here on.
  double speed = 0, pull = 0, size = 0;
  for (const int i : body_of_) {
    if (!model.movable(i)) continue;
    speed = std::max(speed, s.v(i).norm() + reach_[i] * s.omega(i).norm());
    pull = std::max(pull,
                    free_.segment<3>(6 * i).norm() + reach_[i] * (free_.segment<3>(6 * i + 3).norm() + s.omega(i).squaredNorm()));
    size = std::max(size, reach_[i]);
  }
  acceleration_scale_ = pull > 0 ? pull : 1;
  speed_scale_ = std::max(speed + std::sqrt(pull * size), 1e-300);
  negligible_speed_ = standing_share * speed_scale_;
  margin_ = 2 * ahead * (speed + ahead * pull) + touching_share * size;

  find(s, touching_share * size, touches_);
  for (Touch& touch : touches_) evaluate(touch, mechanism_.kinematics, false);
  std::erase_if(touches_, [&](const Touch& touch) {
    return touch.place.gap > touching_share * touch.size || touch.w[0] > negligible_speed_;
  });
  if (touches_.empty()) return;
  for (Touch& touch : touches_)
    for (int g = 0; g < touch.groups; ++g) {
      TouchFriction& f = touch.friction[g];
      const Vec2 w = touch.velocity(f);
      const double unit = f.first == 1 && f.count == 2 && touch.law.static_friction > 0 ? 1 : 1 / touch.size;
      f.sticking = w.norm() <= negligible_speed_ * unit;
      if (!f.sticking) f.direction = w.normalized();
    }

  evaluate_touches(true);
  scratch_ = free_;
  solve_forces(scratch_);
  const bool fits = std::all_of(touches_.begin(), touches_.end(), [&](const Touch& touch) {
    bool inside = touch.x[0] * touch.inverse_mass > weightless_share * acceleration_scale_;
    for (int g = 0; g < touch.groups; ++g) {
      const TouchFriction& f = touch.friction[g];
      inside = inside && (!f.sticking || touch.force(f).norm() <= f.mu_stick * touch.x[0]);
    }
    return inside;
  });
  if (fits) return;

  solve_complementarity(free_);
  // Of forces that are not unique the solver's may all push where those of least norm do not: one after the other is let go.
  for (int dropped = 0; dropped < most_dropped && drop_what_pulls(); ++dropped) {
  }
}

bool TouchingMechanism::drop_what_pulls() {
  if (touches_.empty()) return false;
  scratch_ = free_;
  solve_forces(scratch_);
  const auto push = [](const Touch& touch) { return touch.x[0] * touch.inverse_mass; };
  const auto worst =
      std::min_element(touches_.begin(), touches_.end(), [&](const Touch& p, const Touch& q) { return push(p) < push(q); });
  if (push(*worst) <= weightless_share * acceleration_scale_) {
    touches_.erase(worst);
    return true;
  }
  // Friction beyond its cone goes along it from now on.
  double most = 1e-13;
  TouchFriction* over = nullptr;
  Vec2 direction;
  for (Touch& touch : touches_)
    for (int g = 0; g < touch.groups; ++g) {
      TouchFriction& f = touch.friction[g];
      const Vec2 x = touch.force(f);
      const double excess = x.norm() / std::max(f.mu_stick * touch.x[0], 1e-300) - 1;
      if (!f.sticking || excess <= most) continue;
      most = excess;
      over = &f;
      direction = -x.normalized();
    }
  if (!over) return false;
  over->sticking = false;
  over->from_rest = true;
  over->direction = direction;
  return true;
}

void TouchingMechanism::make_problem(std::span<Touch*> touches, bool undecided_only) {
  // Rows by touch: the normal, then friction.
  rows_.clear();
  problem_.blocks.clear();
  problem_.more.clear();
  problem_.friction.clear();
  for (std::size_t k = 0; k < touches.size(); ++k) {
    Touch& touch = *touches[k];
    const int first = static_cast<int>(rows_.size());
    const int number = static_cast<int>(&touch - touches_.data());
    rows_.push_back({number, 0});
    for (int g = 0; g < touch.groups; ++g) {
      const TouchFriction& f = touch.friction[g];
      if (undecided_only && !f.sticking) continue;
      problem_.friction.push_back({static_cast<int>(rows_.size()), f.count, first, true, f.mu_stick});
      for (int r = 0; r < f.count; ++r) rows_.push_back({number, f.first + r});
    }
    problem_.blocks.push_back({first, static_cast<int>(rows_.size()) - first, -1, -1, static_cast<int>(k)});
  }
  respond_to_rows(false);
  const int count = static_cast<int>(rows_.size());
  problem_.resize(0, count);
  for (const ConstraintBlock& block : problem_.blocks) problem_.lower[block.first_row] = 0;
  SparseRows& A = problem_.matrix;
  A.start.clear();
  A.column.clear();
  A.value.clear();
  for (int i = 0; i < count; ++i) {
    A.start.push_back(static_cast<int>(A.column.size()));
    for (int k = 0; k < count; ++k) {
      A.column.push_back(k);
      A.value.push_back(0.5 * (matrix_(i, k) + matrix_(k, i)));
    }
  }
  A.start.push_back(static_cast<int>(A.column.size()));
}

void TouchingMechanism::solve_problem(double tolerance) {
  answer_.resize(problem_.rows());
  solve(problem_, automatic_solver(tolerance), workspace_, view(answer_), report_);
  // The solver is asked for more than it may be able to give; what counts is that it is near.
  ++mechanism_.now.report.solves;
  mechanism_.now.report.iterations += report_.iterations;
  mechanism_.now.report.converged = mechanism_.now.report.converged && report_.residual < 1e-6;
}

void TouchingMechanism::solve_complementarity(const VecX& udot) {
  chosen_.clear();
  for (Touch& touch : touches_) chosen_.push_back(&touch);
  make_problem(chosen_, true);
  const auto count = static_cast<Eigen::Index>(rows_.size());
  VecX b(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Touch& touch = touches_[rows_[i].touch];
    b[i] = -(along(touch, rows_[i].row, udot) + touch.gamma[rows_[i].row]);
  }
  // What the friction of each slipping normal does to all rows, per newton.
  MatX pulled = MatX::Zero(count, count);
  bool slipping = false;
  for (Eigen::Index k = 0; k < count; ++k) {
    if (rows_[k].row != 0) continue;
    const Touch& touch = touches_[rows_[k].touch];
    Vec6 x = Vec6::Zero();
    for (int g = 0; g < touch.groups; ++g) {
      const TouchFriction& f = touch.friction[g];
      if (!f.sticking) x.segment(f.first, f.count) = -f.mu_slip * f.direction.head(f.count);
    }
    if (x.isZero(0)) continue;
    slipping = true;
    scratch_.setZero(mechanism_.model.velocity_count());
    add_force(touch, x, scratch_);
    mechanism_.respond(scratch_);
    for (Eigen::Index i = 0; i < count; ++i) pulled(i, k) = along(touches_[rows_[i].touch], rows_[i].row, scratch_);
  }
  // Friction that slips follows from normal forces, and those from it, until both agree.
  VecX normal = VecX::Zero(count);
  problem_.x0.setZero();
  std::vector<char> released(problem_.friction.size(), 0);
  for (int round = 0; round < most_friction_rounds; ++round) {
    problem_.b = b - pulled * normal;
    solve_problem(mode_tolerance);
    problem_.x0 = answer_;
    // Static friction that is overcome is so for good.
    bool changed = false;
    for (std::size_t g = 0; g < problem_.friction.size(); ++g) {
      FrictionRows& f = problem_.friction[g];
      const Touch& touch = touches_[rows_[f.first_row].touch];
      const int row = rows_[f.first_row].row;
      const auto* law = std::find_if(touch.friction.begin(), touch.friction.begin() + touch.groups,
                                     [&](const TouchFriction& other) { return other.first == row; });
      const double limit = f.mu * answer_[f.normal_row];
      if (released[g] || law->mu_slip == f.mu || answer_.segment(f.first_row, f.count).norm() < limit * (1 - on_cone)) continue;
      released[g] = 1;
      f.mu = law->mu_slip;
      changed = true;
    }
    VecX next = VecX::Zero(count);
    for (Eigen::Index k = 0; k < count; ++k)
      if (rows_[k].row == 0) next[k] = answer_[k];
    const bool settled = (next - normal).norm() <= mode_tolerance * next.norm();
    normal = next;
    if (!changed && (settled || !slipping)) break;
  }
  // What it says of each contact.
  std::vector<char> open(touches_.size(), 0);
  for (const ConstraintBlock& block : problem_.blocks) {
    const int number = rows_[block.first_row].touch;
    const double N = answer_[block.first_row];
    open[number] = N * touches_[number].inverse_mass <= weightless_share * acceleration_scale_;
  }
  for (const FrictionRows& f : problem_.friction) {
    Touch& touch = touches_[rows_[f.first_row].touch];
    TouchFriction& law = *std::find_if(touch.friction.begin(), touch.friction.end(),
                                       [&](const TouchFriction& other) { return other.first == rows_[f.first_row].row; });
    Vec2 x = Vec2::Zero();
    x.head(f.count) = answer_.segment(f.first_row, f.count);
    const double limit = f.mu * answer_[f.normal_row];
    law.sticking = f.mu > 0 && x.norm() < limit * (1 - on_cone);
    law.from_rest = !law.sticking;
    if (!law.sticking && x.norm() > 0) law.direction = -x.normalized();
  }
  int number = 0;
  std::erase_if(touches_, [&](const Touch&) { return open[number++]; });
}

}  // namespace rotule
