#include "world/fluid_coupling.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "base/text.h"
#include "linalg/decompositions.h"
#include "world/world_implementation.h"

namespace rotule {
namespace {

constexpr int most_coupling_iterations = 40;
constexpr double coupling_tolerance = 1e-8;  // of the velocities at hand
constexpr double coupling_failure = 1e-6;    // what is left above it is told
/// Added mass that the first guess of the derivative takes the displaced mass for; that of a disc in two rounds of pushes.
constexpr double first_added_mass = 0.5;
/// What a line of drag C_d d per length, spread over cells of h by the kernel, takes off the velocity that it feels itself:
/// u = U (1 - own_wake C_d d/h). In a steady stream the wake is half there in its middle, and the kernel's square is 0.55/h.
constexpr double own_wake = 0.1375, own_wake_told = 0.05;

/// C_d d of the widest of what thin structures there are, as the fluid sees them, with its name.
std::pair<double, std::string> widest(const Model& model, double density) {
  std::pair<double, std::string> out{0, ""};
  const auto look = [&](double wide, const std::string& name) {
    if (wide > out.first) out = {wide, name};
  };
  for (const LineDragForce& line : model.immersed.lines) look(2 * line.across / density, "line " + in_quotes(line.name));
  for (const SectionForce& section : model.immersed.sections)
    look(section.coefficients.at(0).value_or(SectionAt{}).drag * section.width, "section " + in_quotes(section.name));
  return out;
}

}  // namespace

FluidCoupling::FluidCoupling(const FluidDef& def, const Model& model, const State& state, int threads)
    : fluid_(def, threads),
      flow_(implementation_of(fluid_)),
      obstacles_(flow_.layout, def.density),
      thin_(flow_),
      gravity_(model.gravity) {
  const std::vector<bool> immersed = immersed_bodies(model);
  for (int i = 0; i < model.body_count(); ++i) {
    const Body& body = model.bodies[i];
    const bool named = std::find(def.obstacles.begin(), def.obstacles.end(), body.name) != def.obstacles.end();
    if (immersed[static_cast<std::size_t>(i)]) {
      if (named)
        throw Error(
            "fluid/obstacles",
            fmt::format("body {} feels the fluid as an obstacle and by a force in the computed flow; leave out one of them",
                        in_quotes(body.name)));
      continue;
    }
    if (named && !is_closed(body.shape))
      throw Error("fluid/obstacles",
                  fmt::format("body {} has no closed shape; fluid cannot flow around it", in_quotes(body.name)));
    if (named || (def.obstacles.empty() && is_closed(body.shape) && !body.sensor)) {
      const double least = Eigen::SelfAdjointEigenSolver<Mat3>(body.inertia, Eigen::EigenvaluesOnly).eigenvalues()[0];
      obstacles_.add(body.name, body.shape, body.center_of_mass, body.fixed ? infinity : body.mass,
                     body.fixed ? infinity : least);
      bodies_.push_back(i);
      names_.push_back(body.name);
      if (!body.fixed) movable_.push_back(obstacles_.count() - 1);
    }
  }
  const auto count = bodies_.size();
  for (std::vector<Vec6>* list : {&given_, &velocity_, &before_, &increment_, &load_}) list->assign(count, Vec6::Zero());
  bend_.assign(count, Vec3::Zero());
  left_.assign(count, false);
  place(state, 0);
  for (int k = 0; k < obstacles_.count(); ++k) {
    if (!obstacles_.is_inside(k))
      throw Error("fluid/box",
                  fmt::format("body {} is outside of it; make the box larger, or leave the body out of \"obstacles\"",
                              in_quotes(names_[k])));
    const Mat6& mass = obstacles_.displaced(k);
    const double linear = mass.topLeftCorner<3, 3>().trace(), angular = mass.bottomRightCorner<3, 3>().trace();
    size_.push_back(std::sqrt(angular / linear));
  }
  look_for_leavers(0);
  look_for_own_wakes(model);
  // The fluid inside begins by moving along; who set the bodies in motion did that too.
  read_velocities(state, given_);
  flow_.rounds = rounds_for(model);
  flow_.end_substep(&obstacles_, given_);
  std::fill(flow_.change.begin(), flow_.change.end(), 0.0);
  const auto unknowns = static_cast<Eigen::Index>(6 * movable_.size());
  for (VecX* v : {&residual_, &residual_before_, &at_, &at_before_, &moved_, &changed_, &expected_, &row_}) v->setZero(unknowns);
  begin_inverse(model);
}

void FluidCoupling::look_for_own_wakes(const Model& model) {
  double h = infinity;
  for (const int a : flow_.layout.axes) h = std::min(h, flow_.layout.h[a]);
  const auto [wide, name] = widest(model, flow_.def.density);
  if (own_wake * wide > own_wake_told * h)
    remarks_.push_back(
        fmt::format("{} feels its own wake: in a steady stream the velocity that it feels is {:.2g} % low; {:.2g} % is "
                    "less with cells of {:.3g} m, or give it a closed shape and finer ones",
                    name, 100 * own_wake * wide / h, 100 * own_wake_told, own_wake * wide / own_wake_told));
}

int FluidCoupling::rounds_for(const Model& model) const {
  if (obstacles_.count() == 0) return 1;
  double lightest = 1;
  for (const int k : movable_) lightest = std::min(lightest, model.bodies[bodies_[k]].mass / obstacles_.buoyant_mass(k));
  return std::max(flow_.def.forcing_rounds, lightest < 0.05 ? 4 : lightest < 0.5 ? 3 : 1);
}

void FluidCoupling::begin_inverse(const Model& model) {
  inverse_.setZero(residual_.size(), residual_.size());
  for (std::size_t m = 0; m < movable_.size(); ++m) {
    const int k = movable_[m];
    const Body& body = model.bodies[bodies_[k]];
    Mat6 ratio = obstacles_.displaced(k) / body.mass;
    const double turning = body.inertia.trace() / 3;
    ratio.bottomRows<3>() = turning > 0 ? Eigen::Matrix<double, 3, 6>(obstacles_.displaced(k).bottomRows<3>() / turning)
                                        : Eigen::Matrix<double, 3, 6>::Zero();
    Vec6 scale;
    scale << Vec3::Ones(), Vec3::Constant(size_[k]);
    const Mat6 derivative = Mat6::Identity() + first_added_mass * ratio;
    const Mat6 scaled = scale.asDiagonal() * derivative * scale.cwiseInverse().asDiagonal();
    const auto first = static_cast<Eigen::Index>(6 * m);
    inverse_.block<6, 6>(first, first) = -inverse_of(scaled);
  }
}

void FluidCoupling::place(const State& state, double tau) {
  for (int k = 0; k < obstacles_.count(); ++k) {
    const int i = bodies_[k];
    obstacles_.place(k, state.p[i] + tau * state.v(i), turn(state.theta[i], tau * state.omega(i)));
  }
}

void FluidCoupling::read_velocities(const State& state, std::vector<Vec6>& out) const {
  for (std::size_t k = 0; k < bodies_.size(); ++k) out[k] = state.u.segment<6>(6 * bodies_[k]);
}

double FluidCoupling::fastest(const State& state) const {
  double speed = 0;
  for (std::size_t k = 0; k < bodies_.size(); ++k)
    speed = std::max(speed, state.v(bodies_[k]).norm() + size_[k] * state.omega(bodies_[k]).norm());
  return speed;
}

void FluidCoupling::look_for_leavers(double t) {
  for (int k = 0; k < obstacles_.count(); ++k) {
    if (left_[k] || obstacles_.is_wholly_inside(k)) continue;
    left_[k] = true;
    remarks_.push_back(fmt::format("body {} reaches out of the fluid's box at {:.6g} s: what is outside feels no fluid",
                                   in_quotes(names_[k]), t));
  }
}

void FluidCoupling::keep_books(bool keep) {
  if (!keep) {
    flow_.books = {};
  } else if (flow_.books.opened == 0) {
    Vec3 momentum = Vec3::Zero(), angular = Vec3::Zero();
    double energy = 0;
    for (int k = 0; k < obstacles_.count(); ++k) {
      const Vec6 inside = obstacles_.displaced(k) * given_[k];
      momentum += inside.head<3>();
      angular += about_origin(k, inside);
      energy += 0.5 * given_[k].dot(inside);
    }
    flow_.open_books(momentum, angular, energy);
    for (int k = 0; k < obstacles_.count(); ++k) flow_.books.displaced_mass += obstacles_.buoyant_mass(k);
  }
}

void FluidCoupling::book(const Recipe& recipe, double tau) {
  FluidBooks& books = flow_.books;
  if (books.opened == 0) return;
  books.displaced_mass = 0;
  Vec3 angular_inside = Vec3::Zero(), angular_bodies = Vec3::Zero();
  for (int k = 0; k < obstacles_.count(); ++k) {
    const Vec6 mean = 0.5 * (given_[k] + velocity_[k]), pushed = obstacles_.impulse(k), inside = gained_inside(k, tau);
    const Vec6 gained = pushed + inside;
    books.momentum_inside += inside.head<3>();
    books.momentum_bodies += gained.head<3>();
    angular_inside += about_origin(k, inside);
    angular_bodies += about_origin(k, gained);
    books.energy_inside += inside.dot(mean);
    books.energy_bodies += gained.dot(mean);
    // The fluid is pushed to the velocity at the end, and the body works with the mean one.
    books.coupling += pushed.dot(velocity_[k] - mean);
    const double mass = obstacles_.buoyant_mass(k);
    const Vec3 borne = -tau * mass * gravity_;
    books.displaced_mass += mass;
    books.buoyancy += borne;
    books.angular_buoyancy += (obstacles_.position(k) - ahead(recipe, k, tau)).cross(borne);
    books.angular_buoyancy -= tau * obstacles_.buoyant_moment(k).cross(gravity_);
  }
  books.angular_inside += with_meaning(flow_.layout, angular_inside);
  books.angular_bodies += with_meaning(flow_.layout, angular_bodies);
  books.grip += obstacles_.lost();
  books.coupling += flow_.taken_by_projections();
}

Vec3 FluidCoupling::ahead(const Recipe& recipe, int k, double tau) const {
  const Vec3 v0 = before_[k].head<3>(), v1 = velocity_[k].head<3>();
  if (by_impulses(recipe.formulation)) return tau * v0;
  return tau / 6 * (4 * v0 - v1) - 0.5 * bend_[k];
}

Vec3 FluidCoupling::about_origin(int k, const Vec6& momentum) const {
  return arm(flow_.layout, obstacles_.position(k)).cross(Vec3(momentum.head<3>())) + momentum.tail<3>();
}

Vec6 FluidCoupling::gained_inside(int k, double tau) const {
  return obstacles_.displaced(k) * (velocity_[k] - given_[k]) + tau * obstacles_.turning(k, velocity_[k].tail<3>());
}

void FluidCoupling::load_bodies(WorldImplementation& world, double tau, bool thin) {
  external_ = world.external;
  if (thin) external_ += thin_.load();
  for (int k = 0; k < obstacles_.count(); ++k) {
    Vec6 load = (obstacles_.impulse(k) + gained_inside(k, tau)) / tau;
    load.tail<3>() += ahead(world.recipe, k, tau).cross(Vec3(load.head<3>()));
    // Buoyancy, at the middle of what is displaced.
    load.head<3>() -= obstacles_.buoyant_mass(k) * gravity_;
    load.tail<3>() -= obstacles_.buoyant_moment(k).cross(gravity_);
    load_[k] = load;
    if (!world.model.bodies[bodies_[k]].fixed) external_.segment<6>(6 * bodies_[k]) += load;
  }
  world.stepper->set_external(external_);
}

void FluidCoupling::guess(double tau) {
  const double ratio = last_tau_ > 0 ? tau / last_tau_ : 0;
  for (const int k : movable_) velocity_[k] += ratio * increment_[k];
}

void FluidCoupling::update_inverse() {
  moved_ = at_ - at_before_;
  changed_ = residual_ - residual_before_;
  expected_.noalias() = inverse_ * changed_;
  const double along = moved_.dot(expected_);
  if (!(std::abs(along) > 1e-12 * moved_.squaredNorm())) return;
  row_.noalias() = inverse_.transpose() * moved_;
  moved_ = (moved_ - expected_) / along;
  inverse_.noalias() += moved_ * row_.transpose();
}

const StepReport& FluidCoupling::substep(WorldImplementation& world, double t, double tau) {
  Stepper& stepper = *world.stepper;
  place(world.state, tau);
  read_velocities(world.state, velocity_);
  before_ = velocity_;
  std::fill(bend_.begin(), bend_.end(), Vec3::Zero());
  flow_.begin_substep(tau);
  const bool thin = !world.model.immersed.empty();
  if (movable_.empty() && !thin) {
    flow_.end_substep(&obstacles_, velocity_);
    load_bodies(world, tau, thin);
    book(world.recipe, tau);
    flow_.keep_pressure(tau);
    given_ = velocity_;
    return stepper.step(world.state, t, tau);
  }

  if (!movable_.empty()) flow_.remember();
  world.remember_bodies(bodies_before_);
  guess(tau);
  if (thin) thin_.begin(world.model, world.recipe, world.state, t, tau);
  const StepReport* report = nullptr;
  double scale = 0, left = 0;
  bool converged = false;
  for (int iteration = 0;; ++iteration) {
    if (!movable_.empty()) {
      if (thin) thin_.push();
      flow_.end_substep(&obstacles_, velocity_);
    }
    load_bodies(world, tau, thin);
    report = &stepper.step(world.state, t, tau);
    for (std::size_t m = 0; m < movable_.size(); ++m) {
      const int k = movable_[m], i = bodies_[k];
      const auto first = static_cast<Eigen::Index>(6 * m);
      Vec6 weight;
      weight << Vec3::Ones(), Vec3::Constant(size_[k]);
      at_.segment<6>(first) = weight.cwiseProduct(velocity_[k]);
      residual_.segment<6>(first) = weight.cwiseProduct(Vec6(world.state.u.segment<6>(6 * i)) - velocity_[k]);
    }
    left = residual_.lpNorm<Eigen::Infinity>();
    scale = std::max({scale, left, at_.lpNorm<Eigen::Infinity>()});
    ++flow_.report.coupling_iterations;
    if (iteration > 0) update_inverse();
    const bool last = iteration + 1 == most_coupling_iterations, agreed = !thin || thin_.agrees(world.model, world.state);
    converged = agreed && !(left > coupling_tolerance * scale);
    if (converged || last) break;
    at_before_ = at_;
    residual_before_ = residual_;
    at_.noalias() -= inverse_ * residual_;
    for (std::size_t m = 0; m < movable_.size(); ++m) {
      const int k = movable_[m];
      velocity_[k] = at_.segment<6>(static_cast<Eigen::Index>(6 * m));
      velocity_[k].tail<3>() /= size_[k];
    }
    for (const int k : movable_) {
      const int i = bodies_[k];
      bend_[k] = world.state.p[i] - obstacles_.position(k) + 0.5 * tau * (before_[k].head<3>() - world.state.v(i));
    }
    if (!movable_.empty()) flow_.go_back();
    world.recall_bodies(bodies_before_);
  }
  if (movable_.empty()) {
    thin_.push();
    flow_.end_substep(&obstacles_, velocity_);
    load_bodies(world, tau, thin);  // of what stands still
  }
  flow_.report.coupling_residual = std::max({flow_.report.coupling_residual, left, thin ? thin_.left() : 0});
  if (left > coupling_failure * scale) {
    flow_.report.converged = false;
    begin_inverse(world.model);
  }
  if (!converged && thin && thin_.left() > coupling_failure * thin_.scale()) flow_.report.converged = false;
  for (const int k : movable_) increment_[k] = velocity_[k] - before_[k];
  last_tau_ = tau;
  book(world.recipe, tau);
  if (thin) thin_.book(world.state);
  given_ = velocity_;
  flow_.keep_pressure(tau);
  return *report;
}

const StepReport& FluidCoupling::step(WorldImplementation& world, double h) {
  flow_.report = {};
  force_.setZero(world.state.u.size());
  events_.clear();
  for (double left = h; left > 0;) {
    Budget::listen();
    double speed = fastest(world.state), stopping_rate = 0;
    if (!world.model.immersed.empty()) {
      speed = std::max(speed, fastest_immersed(world.model, world.state));
      stopping_rate = thin_.stopping_rate(world.model, world.state, world.time + (h - left));
    }
    const double tau = flow_.next_substep(left, speed, stopping_rate);
    const StepReport& part = substep(world, world.time + (h - left), tau);
    left = tau < left ? left - tau : 0;
    for (std::size_t k = 0; k < load_.size(); ++k) force_.segment<6>(6 * bodies_[k]) += load_[k] * (tau / h);
    if (!world.model.immersed.empty()) force_ += thin_.load() * (tau / h);
    if (flow_.report.substeps == 1)
      report_ = part;
    else
      put_together(report_, part);
    world.take_events();
    events_.insert(events_.end(), world.events.begin(), world.events.end());
  }
  world.events.assign(events_.begin(), events_.end());
  flow_.require_finite();
  look_for_leavers(world.time + h);
  flow_.report.divergence = flow_.largest_divergence();
  report_.converged = report_.converged && flow_.report.converged;
  return report_;
}

Vec6 FluidCoupling::force(int body) const {
  return 6 * body + 6 <= force_.size() ? Vec6(force_.segment<6>(6 * body)) : Vec6(Vec6::Zero());
}

const FluidGrid* World::fluid() const { return implementation_->fluid ? &implementation_->fluid->grid() : nullptr; }
Vec3 World::fluid_force(BodyId body) const {
  const int i = implementation_->body_slots.place(body);
  return implementation_->fluid ? Vec3(implementation_->fluid->force(i).head<3>()) : Vec3(Vec3::Zero());
}
Vec3 World::fluid_torque(BodyId body) const {
  const int i = implementation_->body_slots.place(body);
  return implementation_->fluid ? Vec3(implementation_->fluid->force(i).tail<3>()) : Vec3(Vec3::Zero());
}

}  // namespace rotule
