#include "mechanism/soft/soft_stage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "base/budget.h"
#include "dynamics/forces/air.h"
#include "dynamics/forces/drag.h"
#include "dynamics/forces/elasticity.h"
#include "dynamics/forces/end_point.h"
#include "dynamics/forces/line_drag.h"
#include "dynamics/forces/loads.h"
#include "dynamics/forces/springs.h"
#include "dynamics/forces/weight.h"
#include "mechanism/gas_ranks.h"
#include "mechanism/implicit_system.h"
#include "mechanism/line_search.h"

namespace rotule {

namespace {

/// Times what resists at a contact, M and stiffness together: multipliers then gain a factor of that much per round. Larger ones
/// make minima with such steep sides that Newton, stopped at each of them, needs a hundred steps and more.
constexpr double penalty_share = 5;
/// What is to be left of errors in gaps and of creep, per step, of the rounding.
constexpr double contact_tolerance = 1e-4;
/// And of errors in impulses, of the largest.
constexpr double impulse_tolerance = 1e-3;
/// Of an overlap, how much a step takes out: all at once would throw things about.
constexpr double share_taken_out = 0.2;
constexpr double finest_share = 1e-6, roughest_share = 0.1;
constexpr int gradients_per_correction = 300;
constexpr int multiplier_rounds = 100, newton_limit = 200, newton_per_round = 4, radius_updates = 2;
/// Iterations with a factor from which on a new one pays.
constexpr int worn_out = 12;

SpringLaw law_of(const SpringForce& s) { return {s.stiffness, s.damping, s.rest_length, s.slack}; }

}  // namespace

SoftStage::SoftStage(const Model& model, const Recipe& recipe) : model_(model), recipe_(recipe) {
  require_linear_solver(recipe);
  const Forces& forces = model.forces;
  const int first = 2 * model.body_count();
  const auto damped = [](const auto& spring) { return spring.damping > 0; };
  lossy_ = std::any_of(forces.springs.begin(), forces.springs.end(), damped) || !forces.drags.empty() || !forces.airs.empty() ||
           !forces.lines.empty() || std::any_of(forces.planes.begin(), forces.planes.end(), damped) ||
           has_viscosity(forces.elements) ||
           std::any_of(forces.particle_springs.damping.begin(), forces.particle_springs.damping.end(),
                       [](double damping) { return damping > 0; });
  const auto couple = [&](int i, int j) { own_pairs_.push_back({first + i, first + j}); };
  const ParticleSprings& springs = forces.particle_springs;
  for (int n = 0; n < springs.count(); ++n) couple(springs.i[n], springs.j[n]);
  visit_element_pairs(forces.elements, couple);
  for (const AirForce& air : forces.airs)
    for (const std::array<int, 3>& triangle : air.triangles)
      for (std::size_t k = 0; k < 3; ++k) couple(triangle[k], triangle[(k + 1) % 3]);
  for (const GasForce& gas : forces.gases)
    for (const std::array<int, 3>& triangle : gas.triangles)
      for (std::size_t k = 0; k < 3; ++k) couple(triangle[k], triangle[(k + 1) % 3]);
  const auto particle = [](const ForceEnd& end) { return end.kind == ForceEnd::Kind::particle; };
  for (const LineDragForce& line : forces.lines)
    if (particle(line.a) && particle(line.b)) couple(line.a.index, line.b.index);
  for (const SpringForce& spring : forces.springs) {
    if (particle(spring.a) && particle(spring.b)) couple(spring.a.index, spring.b.index);
    for (const auto& [own, other] : {std::pair(&spring.a, &spring.b), std::pair(&spring.b, &spring.a)}) {
      if (!particle(*own) || other->kind != ForceEnd::Kind::body || !model.movable(other->index)) continue;
      ties_.push_back(spring);
      own_pairs_.push_back({first + own->index, 2 * other->index});
      own_pairs_.push_back({first + own->index, 2 * other->index + 1});
      own_pairs_.push_back({2 * other->index, 2 * other->index + 1});
    }
  }
  for (const AngleSpringForce& angle : forces.angles)
    for (std::size_t k = 0; k < 3; ++k)
      if (const ForceEnd& a = angle.ends[k], &b = angle.ends[(k + 1) % 3]; particle(a) && particle(b)) couple(a.index, b.index);
}

void SoftStage::add_ties(const State& s, VecX& f) const {
  for (const SpringForce& tie : ties_) {
    const EndPoint a = end_point(tie.a, s), b = end_point(tie.b, s);
    const Vec3 F = law_of(tie).force(a.x - b.x, a.v - b.v);
    if (a.turns) add_force_at(a, F, f);
    if (b.turns) add_force_at(b, -F, f);
  }
}

bool SoftStage::direct() const {
  if (const auto* automatic = std::get_if<AutomaticImplicitSettings>(&recipe_.implicit_solver))
    return H_.rows() <= automatic->direct_limit;
  return std::holds_alternative<ImplicitLdltSettings>(recipe_.implicit_solver);
}

template <class Visit>
void SoftStage::visit_sides(const SoftContact& c, const Visit& visit) const {
  // visit(triple, what its velocity adds to that of the contact).
  const int first = 2 * model_.body_count();
  for (int k = 0; k < c.count; ++k) visit(first + c.particles[k], Mat3(c.weights[k] * Mat3::Identity()));
  if (c.body < 0 || !model_.movable(c.body)) return;
  visit(2 * c.body, Mat3(-Mat3::Identity()));
  visit(2 * c.body + 1, skew(c.lever));
}

void SoftStage::choose_places(std::span<const SoftContact> contacts) {
  const int bodies = model_.body_count();
  place_.assign(2 * model_.bodies.size() + model_.particles.mass.size(), -1);
  std::vector<char> takes_part(static_cast<std::size_t>(bodies), 0);
  for (const SoftContact& c : contacts)
    if (c.body >= 0 && model_.movable(c.body)) takes_part[static_cast<std::size_t>(c.body)] = 1;
  for (const SpringForce& tie : ties_)
    for (const ForceEnd* end : {&tie.a, &tie.b})
      if (end->kind == ForceEnd::Kind::body) takes_part[static_cast<std::size_t>(end->index)] = 1;
  triple_.clear();
  mass_.clear();
  const auto take = [&](int triple, const Mat3& mass) {
    place_[static_cast<std::size_t>(triple)] = static_cast<int>(triple_.size());
    triple_.push_back(triple);
    mass_.push_back(mass);
  };
  for (int k = 0; k < model_.particle_count(); ++k)
    if (model_.particles.movable(k)) take(2 * bodies + k, model_.particles.mass[k] * Mat3::Identity());
  for (int i = 0; i < bodies; ++i) {
    if (!takes_part[static_cast<std::size_t>(i)]) continue;
    const Mat3 R = start_->theta[i].toRotationMatrix();
    take(2 * i, model_.bodies[i].mass * Mat3::Identity());
    take(2 * i + 1, R * model_.inertia[i] * R.transpose());
  }
}

void SoftStage::find_pattern(std::span<const SoftContact> contacts) {
  pairs_.clear();
  const auto couple = [&](int a, int b) {
    const int i = place_[static_cast<std::size_t>(a)], j = place_[static_cast<std::size_t>(b)];
    if (i >= 0 && j >= 0 && i != j) pairs_.push_back({std::min(i, j), std::max(i, j)});
  };
  for (const auto& [a, b] : own_pairs_) couple(a, b);
  for (const SoftContact& c : contacts)
    visit_sides(c, [&](int a, const Mat3&) { visit_sides(c, [&](int b, const Mat3&) { couple(a, b); }); });
  std::sort(pairs_.begin(), pairs_.end());
  pairs_.erase(std::unique(pairs_.begin(), pairs_.end()), pairs_.end());
  if (pairs_ == known_pairs_ && triple_ == known_triple_) return;
  known_pairs_ = pairs_;
  known_triple_ = triple_;
  H_.analyse(static_cast<int>(triple_.size()), pairs_);
  P_ = H_;
  gradients_.forget_pattern();
}

void SoftStage::place_state(const VecX& U) {
  const Eigen::Index count = start_->x.size();
  now_.u = U;
  now_.x = start_->x + h_ * U.tail(count);
}

Vec3 SoftStage::velocity(const SoftContact& c, const VecX& U) const {
  Vec3 y = -c.given;
  visit_sides(c, [&](int triple, const Mat3& J) { y += J * U.segment<3>(3 * triple); });
  Vec3 w = c.frame.transpose() * y;
  w[0] += (c.gap < 0 ? share_taken_out * c.gap : c.gap) / h_;
  return w;
}

Vec3 SoftStage::exerted(const SoftContact& c, std::size_t number, const Vec3& w, double radius) const {
  Vec3 out = c.x - rho_[number] * w;
  out[0] = std::max(out[0], 0.0);
  if (const double size = std::hypot(out[1], out[2]); size > radius) out.tail<2>() *= radius / size;
  return out;
}

Mat3 SoftStage::curvature(const SoftContact& c, std::size_t number, const Vec3& w, double radius) const {
  const Vec3 pushed = c.x - rho_[number] * w;
  Mat3 local = Mat3::Zero();
  if (pushed[0] > 0) local(0, 0) = rho_[number];
  const double size = std::hypot(pushed[1], pushed[2]);
  if (size <= radius) {
    if (radius > 0) local.bottomRightCorner<2, 2>().setIdentity() *= rho_[number];
  } else {
    const Eigen::Vector2d t = pushed.tail<2>() / size;
    local.bottomRightCorner<2, 2>() = rho_[number] * radius / size * (Eigen::Matrix2d::Identity() - t * t.transpose());
  }
  return c.frame * local * c.frame.transpose();
}

void SoftStage::hold_radii(const Point& at, std::span<const SoftContact> contacts) {
  for (std::size_t k = 0; k < contacts.size(); ++k)
    radius_[k] = contacts[k].friction * std::max(contacts[k].x[0] - rho_[k] * velocity(contacts[k], at.U)[0], 0.0);
}

void SoftStage::evaluate(Point& at, std::span<const SoftContact> contacts) {
  Budget::listen();
  place_state(at.U);
  State& s = now_;
  // Bodies stand where they would without particles, but for springs that tie them to particles: those see them move.
  const int bodies = model_.body_count();
  at.f = dead_;
  const auto add_elastic = [&](const State& state, VecX& f) {
    add_springs(model_, state, f);
    add_elasticity(model_, state, f);
    add_gas(model_, state, f);
    add_penalty_planes(model_, state, f);
  };
  const auto add_moved = [&](const VecX& velocities, bool lossless, VecX& f) {
    double moved = 0;
    for (const SpringForce& tie : ties_) {
      const std::array<EndPoint, 2> before{end_point(tie.a, s), end_point(tie.b, s)};
      std::array<EndPoint, 2> after = before;
      for (EndPoint& end : after) {
        if (!end.turns) continue;
        const int body = end.triple / 2;
        const Vec3 v = velocities.segment<3>(6 * body), omega = velocities.segment<3>(6 * body + 3);
        const Vec3 dv = v - s.v(body), domega = omega - s.omega(body);
        end.x += h_ * (dv + domega.cross(end.rho));
        end.v = v + omega.cross(end.rho);
      }
      const SpringLaw law = law_of(tie);
      const auto force = [&](const std::array<EndPoint, 2>& ends) {
        return law.force(ends[0].x - ends[1].x, lossless ? Vec3(Vec3::Zero()) : Vec3(ends[0].v - ends[1].v));
      };
      const Vec3 was = force(before), is = force(after);
      for (std::size_t k = 0; k < 2; ++k) {
        const double sign = k == 0 ? 1 : -1;
        add_force_at(after[k], sign * (after[k].turns ? is : Vec3(is - was)), f);
      }
      const auto stored = [&](const std::array<EndPoint, 2>& ends) {
        const double longer = (ends[0].x - ends[1].x).norm() - tie.rest_length;
        return tie.slack && longer <= 0 ? 0.0 : 0.5 * tie.stiffness * longer * longer;
      };
      moved += stored(after) - stored(before);
    }
    return moved;
  };
  // The bodies' own velocities are not those of the forces: `s` has those that they would have without particles.
  s.u.head(6 * bodies) = free_.head(6 * bodies);
  add_elastic(s, at.f);
  at.f.head(6 * bodies).setZero();
  if (lossy_) {
    add_drag(model_, s, t_, at.f);
    add_air(model_, s, t_, at.f);
    add_line_drag(model_, s, t_, at.f);
    at.f.head(6 * bodies).setZero();
  }
  const double moved = add_moved(at.U, false, at.f);
  if (lossy_) {
    still_state_.x = s.x;
    still_state_.u.setZero(s.u.size());
    still_.setZero(at.f.size());
    add_elastic(still_state_, still_);
    still_.head(6 * bodies).setZero();
    add_moved(at.U, true, still_);
    at.loss = at.f - dead_ - still_;
  }
  double inertia = 0, dead = 0, contact = 0;
  for (std::size_t n = 0; n < triple_.size(); ++n) {
    const Eigen::Index k = 3 * static_cast<Eigen::Index>(triple_[n]);
    const Vec3 d = at.U.segment<3>(k) - free_.segment<3>(k);
    inertia += 0.5 * d.dot(mass_[n] * d);
    dead += std::abs(d.dot(mass_[n] * free_.segment<3>(k)));
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    // The distance from the cylinder, squared, is what |P(z)|^2 stands for where the cylinder is no cone.
    const Vec3 z = contacts[k].x - rho_[k] * velocity(contacts[k], at.U);
    const double n = std::max(z[0], 0.0), size = std::hypot(z[1], z[2]), radius = radius_[k];
    const double t = size <= radius ? 0.5 * size * size : radius * (size - 0.5 * radius);
    contact += (0.5 * n * n + t) / rho_[k];
  }
  const double elastic = spring_potential(model_, s) + elastic_potential(model_, s) + gas_potential(model_, s) +
                         penalty_potential(model_, s) + moved;
  at.energy = inertia + elastic + contact;
  at.size = inertia + std::abs(elastic) + contact + dead;
}

double SoftStage::change(const Point& a, const Point& b) const {
  double out = b.energy - a.energy;
  if (!lossy_) return out;
  for (const int triple : triple_) {
    const Eigen::Index k = 3 * static_cast<Eigen::Index>(triple);
    out -= 0.5 * h_ * (a.loss.segment<3>(k) + b.loss.segment<3>(k)).dot(b.U.segment<3>(k) - a.U.segment<3>(k));
  }
  return out;
}

void SoftStage::residual(const Point& at, std::span<const SoftContact> contacts, VecX& r) const {
  r.resize(3 * static_cast<Eigen::Index>(triple_.size()));
  for (std::size_t n = 0; n < triple_.size(); ++n) {
    const Eigen::Index k = 3 * static_cast<Eigen::Index>(triple_[n]);
    r.segment<3>(3 * static_cast<Eigen::Index>(n)) =
        mass_[n] * (free_.segment<3>(k) - at.U.segment<3>(k)) + h_ * at.f.segment<3>(k);
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const SoftContact& c = contacts[k];
    const Vec3 F = c.frame * exerted(c, k, velocity(c, at.U), radius_[k]);
    visit_sides(c, [&](int triple, const Mat3& J) {
      if (const int n = place_[static_cast<std::size_t>(triple)]; n >= 0)
        r.segment<3>(3 * static_cast<Eigen::Index>(n)) += J.transpose() * F;
    });
  }
}

void SoftStage::assemble(bool positive, std::span<const SoftContact> contacts, Block3Matrix& S) {
  const double a = h_, b = h_ * h_;
  const int first = 2 * model_.body_count();
  S.set_zero();
  for (std::size_t n = 0; n < triple_.size(); ++n) S.add(S.diagonal(static_cast<int>(n)), mass_[n]);
  // The symmetric part: half of each block where it belongs, half of its transpose on the other side.
  const auto put = [&](int row, int column, const Mat3& block) {
    const int i = place_[static_cast<std::size_t>(row)], j = place_[static_cast<std::size_t>(column)];
    if (i < 0 || j < 0) return;
    S.add(S.find(i, j), -0.5 * block);
    S.add(S.find(j, i), -0.5 * block.transpose());
  };
  auto among_particles = [&](int row, int column, const Mat3& block) {
    if (row >= first && column >= first) put(row, column, block);
  };
  place_state(here_.U);
  now_.u.head(6 * model_.body_count()) = free_.head(6 * model_.body_count());
  add_particle_spring_derivatives(model_, now_, a, b, positive, among_particles);
  add_force_derivatives(model_, now_, t_, a, b, positive, among_particles);
  // Ties: those sinks have the particle's own block of them, as the body stands; only what the body adds is left.
  for (const SpringForce& tie : ties_) {
    const std::array<EndPoint, 2> points{end_point(tie.a, now_), end_point(tie.b, now_)};
    const Mat3 A = law_of(tie).derivative(points[0].x - points[1].x, points[0].v - points[1].v, a, b, positive);
    for (std::size_t p = 0; p < 2; ++p)
      for (std::size_t q = 0; q < 2; ++q) {
        if (!points[p].turns && !points[q].turns) continue;
        const Mat3 own = p == q ? A : Mat3(-A), right = -own * skew(points[q].rho), lever = skew(points[p].rho);
        put(points[p].triple, points[q].triple, own);
        if (points[q].turns) put(points[p].triple, points[q].triple + 1, right);
        if (points[p].turns) put(points[p].triple + 1, points[q].triple, lever * own);
        if (points[p].turns && points[q].turns) put(points[p].triple + 1, points[q].triple + 1, lever * right);
      }
  }
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const SoftContact& c = contacts[k];
    const Mat3 C = curvature(c, k, velocity(c, here_.U), radius_[k]);
    if (C.isZero(0)) continue;
    visit_sides(c, [&](int row, const Mat3& J) {
      visit_sides(c, [&](int column, const Mat3& K) {
        const int i = place_[static_cast<std::size_t>(row)], j = place_[static_cast<std::size_t>(column)];
        if (i >= 0 && j >= 0) S.add(S.find(i, j), J.transpose() * C * K);
      });
    });
  }
}

void SoftStage::choose_penalties(std::span<const SoftContact> contacts) {
  rho_.assign(contacts.size(), 0.0);
  radius_.assign(contacts.size(), 0.0);
  assemble(true, {}, P_);
  stiffness_.resize(triple_.size());
  for (std::size_t n = 0; n < triple_.size(); ++n)
    stiffness_[n] = Eigen::Map<const RowMajor3>(P_.block(P_.diagonal(static_cast<int>(n)))).trace() / 3;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    double gives = 0;
    visit_sides(contacts[k], [&](int triple, const Mat3& J) {
      const int n = place_[static_cast<std::size_t>(triple)];
      if (n >= 0) gives += J.squaredNorm() / (3 * stiffness_[static_cast<std::size_t>(n)]);
    });
    rho_[k] = gives > 0 ? penalty_share / gives : 1;
  }
}

bool SoftStage::go_down(std::span<const SoftContact> contacts, bool curved, double& part) {
  const double slope = local_r_.dot(local_d_);
  const auto look = [&](double share, Point& at) {
    at.U = here_.U + share * d_;
    evaluate(at, contacts);
    return change(here_, at);
  };
  const auto noise = [&](const Point& at) {
    return rounding_of_sums * (here_.size + at.size) * std::sqrt(static_cast<double>(triple_.size()));
  };
  const auto flatter = [&](const Point& at) {
    residual(at, contacts, r_);
    return std::abs(r_.dot(local_d_)) <= slope;
  };
  return search_line(here_, there_, further_, slope, curved, part, look, noise, flatter);
}

SoftStage::Report SoftStage::solve(double t, const State& start, double h, const VecX& external, const VecX& free,
                                   std::span<SoftContact> contacts, VecX& U, VecX& push, StepReport& report) {
  Report out;
  start_ = &start;
  t_ = t;
  h_ = h;
  const int bodies = model_.body_count();
  now_ = start;
  now_.u = free;
  displace(start, h * free, now_);
  still_state_ = now_;
  choose_places(contacts);
  find_pattern(contacts);

  // Where weight and loads alone lead; bodies are told.
  dead_.setZero(start.u.size());
  free_ = external;
  add_weight(model_, free_);
  add_loads(model_, start, t, free_);
  for (int k = 0; k < model_.particle_count(); ++k) {
    const int at = start.first(k);
    free_.segment<3>(at) = start.u.segment<3>(at) + h * model_.particles.inverse_mass[k] * free_.segment<3>(at);
  }
  free_.head(6 * bodies) = free.head(6 * bodies);

  for (Point* point : {&here_, &there_, &further_})
    for (VecX* v : {&point->U, &point->f, &point->loss}) v->setZero(start.u.size());
  here_.U = U;
  here_.U.head(6 * bodies) = free.head(6 * bodies);
  for (int k = 0; k < model_.particle_count(); ++k)
    if (!model_.particles.movable(k)) here_.U.segment<3>(start.first(k)) = free_.segment<3>(start.first(k));
  choose_penalties(contacts);
  used_.resize(contacts.size());
  hold_radii(here_, contacts);
  evaluate(here_, contacts);

  double smallest = infinity;  // rounding
  for (const SoftContact& c : contacts) smallest = std::min(smallest, c.radius);
  const double tolerance = 1e-8, wanted = contacts.empty() ? infinity : contact_tolerance * smallest / h;
  const bool by_factor = direct();
  bool worn = true;
  double error = infinity, last = 0, left_before = 0, changed = 0, largest_impulse = 0;
  out.converged = false;
  for (int round = 0; round < multiplier_rounds && !out.converged && !Budget::spent(); ++round) {
    // Minimise: as exactly as the multipliers deserve. A few steps each, and a factor for several of them, are enough.
    bool still = false;
    const int steps = contacts.empty() ? newton_limit : newton_per_round;
    for (int inner = 0; !still && inner < steps && out.newton_iterations < newton_limit; ++inner) {
      if (out.newton_iterations > 0 && Budget::spent()) break;
      // Friction follows the pressure of the first minimum as it is found; from then on that of the last one, or the minimum
      // would run away.
      if (round == 0 && inner < radius_updates) hold_radii(here_, contacts);
      evaluate(here_, contacts);
      residual(here_, contacts, local_r_);
      const double left = local_r_.norm();
      if (left == 0) {
        still = true;
        changed = 0;
        break;
      }
      ++out.newton_iterations;
      assemble(false, contacts, H_);
      gas_ranks(
          model_, now_, h * h, H_.rows(),
          [&](int k) { return place_[2 * static_cast<std::size_t>(bodies) + static_cast<std::size_t>(k)]; }, ranks_);
      if (worn || !by_factor) {
        assemble(true, contacts, P_);
        gradients_.prepare(P_, by_factor, ranks_);
      }
      ++report.solves;
      double fastest = 0;
      for (const int triple : triple_) fastest = std::max(fastest, here_.U.segment<3>(3 * triple).norm());
      const double fall = left_before > 0 ? left / left_before : 1.0;
      const double share = std::clamp(0.9 * fall * fall, finest_share, roughest_share);
      const TruncatedGradients::Report solved =
          gradients_.solve(H_, local_r_, share, gradients_per_correction, recipe_.threads, local_d_, ranks_);
      report.iterations += solved.iterations;
      worn = solved.iterations > worn_out || !solved.downwards;
      left_before = left;
      d_.setZero(start.u.size());
      double size = 0;
      for (std::size_t n = 0; n < triple_.size(); ++n) {
        const Vec3 d = local_d_.segment<3>(3 * static_cast<Eigen::Index>(n));
        d_.segment<3>(3 * triple_[n]) = d;
        size = std::max(size, d.norm());
      }
      fastest = std::max(fastest, size);
      const bool at_rounding = 0.5 * local_r_.dot(local_d_) <= std::numeric_limits<double>::epsilon() * here_.size;
      double part = 1;
      if (!go_down(contacts, !solved.downwards, part)) break;
      const double contraction = last > 0 ? std::clamp(size / last, 1e-3, 1.0) : 1.0;
      last = part == 1 && solved.downwards ? size : 0;
      double fine = tolerance * fastest;
      if (!contacts.empty()) fine = std::max({fine, 0.01 * wanted, round == 0 ? 0.01 * fastest : 0.1 * error});
      still = at_rounding || (part == 1 && solved.downwards && size * std::max(contraction, solved.residual) <= fine);
      changed = size * std::max(contraction, solved.residual);
    }
    // Multipliers.
    error = largest_impulse = 0;
    double step = 0;
    for (std::size_t k = 0; k < contacts.size(); ++k) {
      SoftContact& c = contacts[k];
      Vec3 x = c.x - rho_[k] * velocity(c, here_.U);
      x[0] = std::max(x[0], 0.0);
      used_[k] = exerted(c, k, velocity(c, here_.U), radius_[k]);
      const double most = c.friction * x[0], size = std::hypot(x[1], x[2]);
      if (size > most) x.tail<2>() *= size > 0 ? most / size : 0.0;
      error = std::max(error, (x - c.x).norm() / rho_[k]);
      step = std::max(step, (x - c.x).norm());
      largest_impulse = std::max(largest_impulse, x.norm());
      c.x = x;
      radius_[k] = most;
    }
    out.residual = largest_impulse > 0 ? step / largest_impulse : 0;
    const double speed = std::max(here_.U.lpNorm<Eigen::Infinity>(), 1e-300);
    out.converged = error <= wanted && step <= impulse_tolerance * largest_impulse &&
                    (contacts.empty() ? still : changed <= std::max(1e-6 * speed, 0.1 * wanted));
    if (contacts.empty() || out.newton_iterations >= newton_limit) break;
  }

  // What contacts and ties give to bodies is what the particles have of them.
  for (std::size_t k = 0; k < contacts.size(); ++k) contacts[k].x = used_[k];
  U = here_.U;
  push.setZero(start.u.size());
  push.head(6 * bodies) = h * here_.f.head(6 * bodies);
  for (const SoftContact& c : contacts) {
    if (c.body < 0 || !model_.movable(c.body)) continue;
    const Vec3 F = c.impulse();
    push.segment<3>(6 * c.body) -= F;
    push.segment<3>(6 * c.body + 3) -= c.lever.cross(F);
  }
  report.newton_iterations += out.newton_iterations;
  return out;
}

}  // namespace rotule
