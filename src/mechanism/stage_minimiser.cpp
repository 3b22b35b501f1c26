#include "mechanism/stage_minimiser.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/budget.h"
#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/line_drag.h"
#include "dynamics/forces/loads.h"
#include "dynamics/forces/springs.h"
#include "dynamics/forces/weight.h"
#include "mechanism/gas_ranks.h"
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

/// The symmetric part of a spring's derivative (SpringLaw::derivative), as nine numbers in a row: large cloth is made of these.
struct SymmetricBlock {
  std::array<double, 9> value;
  SymmetricBlock(double stiffness, double damping, double rest_length, const Vec3& e, const Vec3& e_dot, double a, double b,
                 bool positive) {
    const double square = e.squaredNorm();
    if (square == 0) {
      value = {-b * stiffness, 0, 0, 0, -b * stiffness, 0, 0, 0, -b * stiffness};
      return;
    }
    const double l = std::sqrt(square), inverse = 1 / l, nx = e.x() * inverse, ny = e.y() * inverse, nz = e.z() * inverse;
    const double rate = damping > 0 ? nx * e_dot.x() + ny * e_dot.y() + nz * e_dot.z() : 0.0;
    const double pull = (stiffness * (l - rest_length) + damping * rate) * inverse,
                 across = positive ? std::max(pull, 0.0) : pull;
    const double along = b * (across - stiffness) - a * damping, off = -b * across;
    const double x = along * nx, y = along * ny, xy = x * ny, xz = x * nz, yz = y * nz;
    value = {x * nx + off, xy, xz, xy, y * ny + off, yz, xz, yz, along * nz * nz + off};
    if (positive || damping == 0) return;
    // -b d/l n (e' - rate n)^T, half of it and of its transpose.
    const double half = -0.5 * b * damping * inverse;
    const std::array<double, 3> n{nx, ny, nz}, w{e_dot.x() - rate * nx, e_dot.y() - rate * ny, e_dot.z() - rate * nz};
    for (std::size_t r = 0; r < 3; ++r)
      for (std::size_t c = 0; c < 3; ++c) value[3 * r + c] += half * (n[r] * w[c] + n[c] * w[r]);
  }
  void add_to(double* block) const {
    for (std::size_t k = 0; k < 9; ++k) block[k] += value[k];
  }
  void subtract_from(double* block) const {
    for (std::size_t k = 0; k < 9; ++k) block[k] -= value[k];
  }
};

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
  damped_ = std::any_of(forces.springs.begin(), forces.springs.end(), damped) ||
            std::any_of(forces.planes.begin(), forces.planes.end(), damped) || has_viscosity(forces.elements) ||
            std::any_of(forces.particle_springs.damping.begin(), forces.particle_springs.damping.end(),
                        [](double damping) { return damping > 0; });
  lossy_ = damped_ || !forces.drags.empty() || !forces.airs.empty() || !forces.lines.empty();
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
  for (const GasForce& gas : forces.gases)
    for (const std::array<int, 3>& triangle : gas.triangles)
      for (std::size_t k = 0; k < 3; ++k) couple(triangle[k], triangle[(k + 1) % 3]);
  for (const SpringForce& spring : forces.springs)  // slack ones may tie particles
    if (spring.a.kind == ForceEnd::Kind::particle && spring.b.kind == ForceEnd::Kind::particle)
      couple(spring.a.index, spring.b.index);
  for (const LineDragForce& line : forces.lines)
    if (line.a.kind == ForceEnd::Kind::particle && line.b.kind == ForceEnd::Kind::particle) couple(line.a.index, line.b.index);
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
  if (const auto* automatic = std::get_if<AutomaticImplicitSettings>(&recipe_.implicit_solver)) {
    // A factor serves one stage: among springs multigrid pays sooner than for a matrix that is solved with again and again.
    constexpr int sooner = 5;
    return H_.rows() <= automatic->direct_limit / (model_.forces.elements.empty() ? sooner : 1);
  }
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
    add_gas(model_, state, f);
    add_penalty_planes(model_, state, f);
  };
  add_elastic(s, at.f);
  if (lossy_) {
    add_drag(model_, s, t_, at.f);
    add_air(model_, s, t_, at.f);
    add_line_drag(model_, s, t_, at.f);
    if (damped_) {
      rest_.x = s.x;
      at.loss = at.f - dead_;
      still_.setZero(at.f.size());
      add_elastic(rest_, still_);
      at.loss -= still_;
    } else {
      at.loss.setZero();
      add_drag(model_, s, t_, at.loss);
      add_air(model_, s, t_, at.loss);
      add_line_drag(model_, s, t_, at.loss);
    }
  }
  double inertia = 0, dead = 0;
  for (const int k : particle_) {
    const int first = s.first(k);
    inertia += model_.particles.mass[k] * at.A.segment<3>(first).squaredNorm();
    dead += dead_.segment<3>(first).dot(s.particle_position(k) - start_x_.segment<3>(3 * k));
  }
  const double elastic =
      spring_potential(model_, s) + elastic_potential(model_, s) + gas_potential(model_, s) + penalty_potential(model_, s);
  at.energy = 0.5 * g_ * g_ * inertia + elastic - dead;
  at.size = 0.5 * g_ * g_ * inertia + std::abs(elastic) + std::abs(dead);
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
    const SymmetricBlock A(pool.stiffness[n], pool.damping[n], pool.rest_length[n],
                           s.particle_position(i) - s.particle_position(j), s.particle_velocity(i) - s.particle_velocity(j), a, b,
                           positive);
    if (place_[i] >= 0) A.subtract_from(S.block(S.diagonal(place_[i])));
    if (place_[j] >= 0) A.subtract_from(S.block(S.diagonal(place_[j])));
    if (spring_blocks_[n][0] < 0) continue;
    A.add_to(S.block(spring_blocks_[n][0]));
    A.add_to(S.block(spring_blocks_[n][1]));
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

  out.converged = false;
  if (const auto* settings_of = std::get_if<LocalGlobalSettings>(&recipe_.implicit_solver))
    by_local_global(settings, settings_of->memory, out, report);
  else
    by_newton(settings, out, report);
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

double StageMinimiser::spread_correction() {
  dA_.setZero(stage_->u.size());
  for (std::size_t n = 0; n < particle_.size(); ++n)
    dA_.segment<3>(stage_->first(particle_[n])) = local_dA_.segment<3>(3 * static_cast<Eigen::Index>(n));
  return g_ * speed_of(dA_, particle_, stage_->first(0));
}

void StageMinimiser::by_newton(const StageSettings& settings, StageMinimum& out, StepReport& report) {
  const bool by_factor = direct();
  int fresh = 0;                     // iterations of gradients with the preconditioner as it was made
  bool renew = true;                 // whether it is to be made
  double largest = 0;                // of the corrections so far, as velocities: what the stage is about
  double last = 0, left_before = 0;  // of the last correction and residual; 0: none that says much
  while (out.iterations < settings.minimum_iterations && !(out.iterations > 0 && Budget::spent())) {
    residual(here_, local_r_);
    const double left = local_r_.norm();
    if (left == 0) {
      out.converged = true;
      break;
    }
    ++out.iterations;
    here_to_stage();
    const double scale = std::max(speed_of(stage_->u, particle_, stage_->first(0)), largest);
    assemble(false, H_);
    gas_ranks(
        model_, *stage_, g_ * g_, H_.rows(), [&](int k) { return place_[static_cast<std::size_t>(k)]; }, ranks_);
    const bool renewed = renew;
    if (renew) {
      assemble(true, P_);
      gradients_.prepare(P_, by_factor, ranks_);
      ++report.solves;
    }
    // Ever more exactly, but no more than what the tolerance asks of a correction as small as this one will be.
    const double fall = left_before > 0 ? left / left_before : 1.0;
    const double asked = last > 0 ? 0.3 * settings.minimum_tolerance * scale / (last * std::min(fall, 1.0)) : 0.0;
    const double share = std::clamp(std::max(0.9 * fall * fall, asked), 1e-6, coarsest_share);
    const TruncatedGradients::Report solved =
        gradients_.solve(H_, local_r_, share, most_gradients, recipe_.threads, local_dA_, ranks_);
    report.iterations += solved.iterations;
    if (renewed) fresh = solved.iterations;
    renew = by_factor ? solved.iterations > most_by_old_factor : solved.iterations > most_growth * fresh + 3;
    renew = renew || (!renewed && !solved.downwards);
    left_before = left;
    const double size = spread_correction();
    // What it would gain is less than what numbers of this size can tell.
    const bool at_rounding = 0.5 * g_ * g_ * local_r_.dot(local_dA_) <= std::numeric_limits<double>::epsilon() * here_.size;
    double part = 1;
    if (!go_down(!solved.downwards, part)) {
      out.converged = at_rounding || size <= 1e-6 * scale;
      if (out.converged || renewed) break;
      renew = true;  // with an old preconditioner, worth another try
      continue;
    }
    if (out.iterations == 1) largest = part * size;  // what was gone of it: where nothing holds, directions may be of any length
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
}

void StageMinimiser::by_local_global(const StageSettings& settings, int memory, StageMinimum& out, StepReport& report) {
  if (!local_global_) local_global_ = std::make_unique<LocalGlobal>(model_, place_, static_cast<int>(particle_.size()));
  local_global_->prepare(g_);
  local_global_->begin();
  double largest = 0, last = 0;
  while (out.iterations < settings.minimum_iterations && !(out.iterations > 0 && Budget::spent())) {
    residual(here_, local_r_);
    if (local_r_.isZero(0)) {
      out.converged = true;
      return;
    }
    if (out.iterations > 0) local_global_->learn(last_dA_, local_r_ - last_r_, memory);
    ++out.iterations;
    ++report.iterations;
    last_r_ = local_r_;
    local_global_->direction(local_r_, local_dA_);
    double size = spread_correction();
    const bool at_rounding = 0.5 * g_ * g_ * local_r_.dot(local_dA_) <= std::numeric_limits<double>::epsilon() * here_.size;
    double part = 1;
    if (!go_down(false, part)) {
      here_to_stage();
      out.converged = at_rounding || size <= 1e-6 * std::max(speed_of(stage_->u, particle_, stage_->first(0)), largest);
      return;
    }
    last_dA_ = part * local_dA_;
    size *= part;
    if (out.iterations == 1) largest = size;
    here_to_stage();
    const double scale = std::max(speed_of(stage_->u, particle_, stage_->first(0)), largest);
    // Corrections shrink by a factor each: what is left is the rest of that series.
    const double contraction = last > 0 ? std::clamp(size / last, 1e-3, 0.999) : 0.999;
    last = size;
    if (at_rounding || size * contraction / (1 - contraction) <= settings.minimum_tolerance * scale) {
      out.converged = true;
      return;
    }
  }
}

void StageMinimiser::here_to_stage() {
  stage_->u = u_0_ + g_ * here_.A;
  stage_->x = start_x_ + g_ * stage_->u.tail(stage_->x.size());
}

}  // namespace rotule
