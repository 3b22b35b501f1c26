#include "mechanism/stage_minimiser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/budget.h"
#include "dynamics/forces/weight.h"
#include "mechanism/line_search.h"

namespace rotule {

namespace {

/// Corrections are solved to this share of themselves at first, and ever more exactly as the residual falls.
constexpr double coarsest_share = 0.1;
/// A factor does for that many conjugate gradients; multigrid until they are that many times more than they were.
constexpr int most_by_old_factor = 10;
constexpr double most_growth = 1.5;
constexpr int most_gradients = 300;

double speed_of(const VecX& v, const std::vector<int>& particles, Eigen::Index first) {
  double largest = 0;
  for (const int k : particles) largest = std::max(largest, v.segment<3>(first + 3 * static_cast<Eigen::Index>(k)).squaredNorm());
  return std::sqrt(largest);
}

}  // namespace

bool StageMinimiser::fits(const Model& model, const Recipe& recipe) {
  bool positive = true;
  std::visit([&](const auto& settings) { positive = settings.positive; }, recipe.implicit_solver);
  bool bodies = false;
  for (int i = 0; i < model.body_count(); ++i) bodies = bodies || model.movable(i) || model.kinematic(i);
  return positive && !bodies && model.particle_count() > 0 && model.joints.empty() && model.motions.empty() &&
         model.forces.users.empty() && model.forces.gravitations.empty();
}

StageMinimiser::StageMinimiser(const Model& model, const Recipe& recipe) : model_(model), recipe_(recipe) {
  const Forces& forces = model.forces;
  const auto damped = [](const auto& spring) { return spring.damping > 0; };
  lossy_ = std::any_of(forces.springs.begin(), forces.springs.end(), damped) || !forces.drags.empty() || !forces.airs.empty() ||
           std::any_of(forces.planes.begin(), forces.planes.end(), damped) || has_viscosity(forces.elements) ||
           std::any_of(forces.particle_springs.damping.begin(), forces.particle_springs.damping.end(),
                       [](double damping) { return damping > 0; });
  find_pattern();
}

void StageMinimiser::find_pattern() {
  place_.assign(static_cast<std::size_t>(model_.particle_count()), -1);
  for (int k = 0; k < model_.particle_count(); ++k)
    if (model_.particles.movable(k)) {
      place_[k] = static_cast<int>(particle_.size());
      particle_.push_back(k);
    }
  std::vector<std::array<int, 2>> pairs;
  const auto couple = [&](int i, int j) {
    if (place_[i] >= 0 && place_[j] >= 0) pairs.push_back({place_[i], place_[j]});
  };
  const Forces& forces = model_.forces;
  const ParticleSprings& springs = forces.particle_springs;
  for (int n = 0; n < springs.count(); ++n) couple(springs.i[n], springs.j[n]);
  visit_element_pairs(forces.elements, couple);
  for (const AirForce& air : forces.airs)
    for (const std::array<int, 3>& triangle : air.triangles)
      for (std::size_t k = 0; k < 3; ++k) couple(triangle[k], triangle[(k + 1) % 3]);
  for (const SpringForce& spring : forces.springs)  // slack ones may tie particles
    if (spring.a.kind == ForceEnd::Kind::particle && spring.b.kind == ForceEnd::Kind::particle)
      couple(spring.a.index, spring.b.index);
  for (const AngleSpringForce& angle : forces.angles)
    for (std::size_t k = 0; k < 3; ++k)
      if (const ForceEnd& a = angle.ends[k], &b = angle.ends[(k + 1) % 3];
          a.kind == ForceEnd::Kind::particle && b.kind == ForceEnd::Kind::particle)
        couple(a.index, b.index);
  H_.analyse(static_cast<int>(particle_.size()), pairs);
  P_ = H_;
  spring_blocks_.resize(static_cast<std::size_t>(springs.count()));
  for (int n = 0; n < springs.count(); ++n) {
    const int i = place_[springs.i[n]], j = place_[springs.j[n]];
    const bool both = i >= 0 && j >= 0;
    spring_blocks_[n] = {both ? H_.find(i, j) : -1, both ? H_.find(j, i) : -1};
  }
}

bool StageMinimiser::direct() const {
  if (const auto* automatic = std::get_if<AutomaticImplicitSettings>(&recipe_.implicit_solver))
    return H_.rows() <= automatic->direct_limit;
  return std::holds_alternative<ImplicitLdltSettings>(recipe_.implicit_solver);
}

void StageMinimiser::evaluate(Point& at) {
  Budget::listen();
  State& s = *stage_;
  const Eigen::Index count = 3 * static_cast<Eigen::Index>(model_.particle_count());
  s.u = u_0_ + g_ * at.A;
  s.x = start_x_ + g_ * s.u.tail(count);
  at.f = dead_;
  const auto add_elastic = [&](const State& state, VecX& f) {
    add_springs(model_, state, f);
    add_elasticity(model_, state, f);
    add_penalty_planes(model_, state, f);
  };
  add_elastic(s, at.f);
  if (lossy_) {
    add_drag(model_, s, t_, at.f);
    add_air(model_, s, at.f);
    rest_.x = s.x;
    at.loss = at.f - dead_;
    still_.setZero(at.f.size());
    add_elastic(rest_, still_);
    at.loss -= still_;
  }
  double inertia = 0, dead = 0;
  for (const int k : particle_) {
    const int first = s.first(k);
    inertia += model_.particles.mass[k] * at.A.segment<3>(first).squaredNorm();
    dead += dead_.segment<3>(first).dot(s.particle_position(k) - start_x_.segment<3>(3 * k));
  }
  const double elastic = spring_potential(model_, s) + elastic_potential(model_, s) + penalty_potential(model_, s);
  at.energy = 0.5 * g_ * g_ * inertia + elastic - dead;
  at.size = 0.5 * g_ * g_ * inertia + elastic + std::abs(dead);
}

double StageMinimiser::change(const Point& a, const Point& b) const {
  double out = b.energy - a.energy;
  if (!lossy_) return out;
  for (const int k : particle_) {
    const int first = stage_->first(k);
    out -=
        0.5 * g_ * g_ * (a.loss.segment<3>(first) + b.loss.segment<3>(first)).dot(b.A.segment<3>(first) - a.A.segment<3>(first));
  }
  return out;
}

void StageMinimiser::residual(const Point& at, VecX& r) const {
  r.resize(3 * static_cast<Eigen::Index>(particle_.size()));
  for (std::size_t n = 0; n < particle_.size(); ++n) {
    const int k = particle_[n], first = stage_->first(k);
    r.segment<3>(3 * static_cast<Eigen::Index>(n)) = at.f.segment<3>(first) - model_.particles.mass[k] * at.A.segment<3>(first);
  }
}

void StageMinimiser::assemble(bool positive, Block3Matrix& S) {
  const State& s = *stage_;
  const double a = g_, b = g_ * g_;
  S.set_zero();
  for (std::size_t n = 0; n < particle_.size(); ++n)
    S.add(S.diagonal(static_cast<int>(n)), model_.particles.mass[particle_[n]] * Mat3::Identity());
  const ParticleSprings& pool = model_.forces.particle_springs;
  for (int n = 0; n < pool.count(); ++n) {
    const int i = pool.i[n], j = pool.j[n];
    Mat3 A = SpringLaw{pool.stiffness[n], pool.damping[n], pool.rest_length[n]}.derivative(
        s.particle_position(i) - s.particle_position(j), s.particle_velocity(i) - s.particle_velocity(j), a, b, positive);
    if (!positive) A = 0.5 * (A + A.transpose()).eval();
    if (place_[i] >= 0) S.add(S.diagonal(place_[i]), -A);
    if (place_[j] >= 0) S.add(S.diagonal(place_[j]), -A);
    if (spring_blocks_[n][0] < 0) continue;
    S.add(spring_blocks_[n][0], A);
    S.add(spring_blocks_[n][1], A);
  }
  // The symmetric part: half of each block where it belongs, half of its transpose on the other side.
  const int first = 2 * s.bodies();
  auto sink = [&](int row, int column, const Mat3& block) {
    if (row < first || column < first) return;
    const int i = place_[row - first], j = place_[column - first];
    if (i < 0 || j < 0) return;
    S.add(S.find(i, j), -0.5 * block);
    S.add(S.find(j, i), -0.5 * block.transpose());
  };
  add_force_derivatives(model_, s, t_, a, b, positive, sink);
}

bool StageMinimiser::go_down(bool curved, double& part) {
  const double steepness = local_r_.dot(local_dA_);
  const auto look = [&](double share, Point& at) {
    at.A = here_.A + share * dA_;
    evaluate(at);
    return change(here_, at);
  };
  const auto noise = [&](const Point& at) {
    return rounding_of_sums * (here_.size + at.size) * std::sqrt(static_cast<double>(particle_.size()));
  };
  const auto flatter = [&](const Point& at) {
    residual(at, r_);
    return std::abs(r_.dot(local_dA_)) <= steepness;
  };
  return search_line(here_, there_, further_, g_ * g_ * steepness, curved, part, look, noise, flatter);
}

StageMinimum StageMinimiser::minimise(double t, const State& base, const VecX& external, const VecX& sigma_0, const VecX& u_0,
                                      double g, const StageSettings& settings, State& stage, VecX& A, StepReport& report) {
  StageMinimum out;
  stage_ = &stage;
  t_ = t;
  g_ = g;
  u_0_ = u_0;
  start_x_ = base.x + sigma_0.tail(base.x.size());
  rest_ = base;
  rest_.u.setZero();
  dead_ = external;
  add_weight(model_, dead_);
  add_loads(model_, base, t, dead_);
  const Eigen::Index first = base.first(0);

  for (Point* point : {&here_, &there_, &further_})
    for (VecX* v : {&point->A, &point->f, &point->loss}) v->setZero(base.u.size());
  r_.resize(3 * static_cast<Eigen::Index>(particle_.size()));
  if (particle_.empty()) {
    here_to_stage();
    A = here_.A;
    return out;
  }

  // From what moves on as it did, or falls freely: whichever is lower.
  for (const int k : particle_) there_.A.segment<3>(base.first(k)) = dead_.segment<3>(base.first(k)) / model_.particles.mass[k];
  evaluate(there_);
  evaluate(here_);
  if (change(here_, there_) < 0) std::swap(here_, there_);

  const bool by_factor = direct();
  int fresh = 0;                     // iterations of gradients with the preconditioner as it was made
  bool renew = true;                 // whether it is to be made
  double largest = 0;                // of the corrections so far, as velocities: what the stage is about
  double last = 0, left_before = 0;  // of the last correction and residual; 0: none that says much
  out.converged = false;
  while (out.iterations < settings.minimum_iterations) {
    residual(here_, local_r_);
    const double left = local_r_.norm();
    if (left == 0) {
      out.converged = true;
      break;
    }
    ++out.iterations;
    here_to_stage();
    const double scale = std::max(speed_of(stage.u, particle_, first), largest);
    assemble(false, H_);
    const bool renewed = renew;
    if (renew) {
      assemble(true, P_);
      gradients_.prepare(P_, by_factor);
      ++report.solves;
    }
    // Ever more exactly, but no more than what the tolerance asks of a correction as small as this one will be.
    const double fall = left_before > 0 ? left / left_before : 1.0;
    const double asked = last > 0 ? 0.3 * settings.minimum_tolerance * scale / (last * std::min(fall, 1.0)) : 0.0;
    const double share = std::clamp(std::max(0.9 * fall * fall, asked), 1e-6, coarsest_share);
    const TruncatedGradients::Report solved = gradients_.solve(H_, local_r_, share, most_gradients, recipe_.threads, local_dA_);
    report.iterations += solved.iterations;
    if (renewed) fresh = solved.iterations;
    renew = by_factor ? solved.iterations > most_by_old_factor : solved.iterations > most_growth * fresh + 3;
    renew = renew || (!renewed && !solved.downwards);
    left_before = left;
    dA_.setZero(base.u.size());
    for (std::size_t n = 0; n < particle_.size(); ++n)
      dA_.segment<3>(base.first(particle_[n])) = local_dA_.segment<3>(3 * static_cast<Eigen::Index>(n));
    const double size = g * speed_of(dA_, particle_, first);
    if (out.iterations == 1) largest = size;
    // What it would gain is less than what numbers of this size can tell.
    const bool at_rounding = 0.5 * g * g * local_r_.dot(local_dA_) <= std::numeric_limits<double>::epsilon() * here_.size;
    double part = 1;
    if (!go_down(!solved.downwards, part)) {
      out.converged = at_rounding || size <= 1e-6 * scale;
      if (out.converged || renewed) break;
      renew = true;  // with an old preconditioner, worth another try
      continue;
    }
    if (at_rounding && part <= 1) {
      out.converged = true;
      break;
    }
    // What is left after this correction: what gradients left of it, and what the last one but this foretells.
    const double contraction = last > 0 ? std::clamp(size / last, 1e-3, 1.0) : 1.0;
    if (part == 1 && solved.downwards && size * std::max(contraction, solved.residual) <= settings.minimum_tolerance * scale) {
      out.converged = true;
      break;
    }
    last = part == 1 && solved.downwards ? size : 0;
  }
  here_to_stage();
  A = here_.A;
  residual(here_, local_r_);
  double largest_left = 0, largest_force = 0;
  for (std::size_t n = 0; n < particle_.size(); ++n) {
    const int k = particle_[n];
    largest_left = std::max(largest_left, local_r_.segment<3>(3 * static_cast<Eigen::Index>(n)).norm());
    largest_force = std::max(
        {largest_force, model_.particles.mass[k] * A.segment<3>(base.first(k)).norm(), dead_.segment<3>(base.first(k)).norm()});
  }
  if (largest_left > 0) report.residual = std::max(report.residual, largest_left / std::max(largest_force, largest_left));
  return out;
}

void StageMinimiser::here_to_stage() {
  stage_->u = u_0_ + g_ * here_.A;
  stage_->x = start_x_ + g_ * stage_->u.tail(stage_->x.size());
}

}  // namespace rotule
