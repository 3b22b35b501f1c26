#include "world/thin_structures.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "linalg/decompositions.h"

namespace rotule {
namespace {

constexpr int loads_mixed = 6;
constexpr double load_tolerance = 1e-8;   // of the velocity that the load makes
constexpr double load_rounding = 1e-13;   // of the velocities at hand
constexpr double second_order_up_to = 2;  // x
constexpr double cells_felt = 4;          // whose mass stands for what a push of the fluid alone meets

/// The first theta of an x that leaves nothing of what is to be damped, and never less than half.
double theta_of(double x) { return x > second_order_up_to ? 1 - 1 / x : 0.5; }

/// Of angular momenta, those that the fluid knows: in a flat grid that about the flat axis.
Vec3 in_fluid(const GridLayout& layout, Vec3 angular_momentum) {
  for (int a = 0; a < 3; ++a)
    if (layout.flat[static_cast<std::size_t>(a)]) angular_momentum = Vec3(angular_momentum[a] * Vec3::Unit(a));
  return with_meaning(layout, angular_momentum);
}

}  // namespace

ThinStructures::ThinStructures(FluidImplementation& flow) : flow_(flow), kernel_(flow.layout, flow.def.density) {
  source_ = [this](const Vec3& x, FlowAt& out) {
    if (!kernel_.covers(x))
      throw Error("fluid/box", fmt::format("something that feels the fluid reaches ({:.6g}, {:.6g}, {:.6g}) m, outside of the "
                                           "box; make the box larger",
                                           x.x(), x.y(), x.z()));
    out.u += kernel_.velocity(*seen_, x);
    // Its own gradient is part of the acceleration already.
    if (wants_acceleration_) out.rate += kernel_.acceleration(*seen_, flow_.p, flow_.nu, x);
  };
}

void ThinStructures::find_masses(const Model& model, const ImmersedDamping& damping) {
  const Eigen::Index size = start_.u.size();
  const double of_fluid = tau_ / (cells_felt * flow_.def.density * flow_.layout.cell_volume);
  const int bodies = start_.bodies(), particles = start_.particles();
  theta_.setConstant(size, 0.5);
  weight_.setZero(size);
  stiffness_.setZero(size);
  response_.assign(static_cast<std::size_t>(bodies), Mat6::Zero());
  correction_.assign(static_cast<std::size_t>(bodies), Mat6::Identity());
  particle_correction_.assign(static_cast<std::size_t>(particles), Mat3::Identity());
  for (int i = 0; i < bodies; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Mat6& D = damping.of_bodies[k];
    if (D.isZero(0)) continue;
    if (!model.movable(i) || model.kinematic(i)) {
      weight_.segment<3>(6 * i).setConstant(of_fluid);
      continue;
    }
    const Mat3 R = start_.theta[k].toRotationMatrix();
    Mat6& W = response_[k];
    W.topLeftCorner<3, 3>() = tau_ * model.inverse_mass[k] * Mat3::Identity();
    W.bottomRightCorner<3, 3>() = tau_ * R * model.inverse_inertia[k] * R.transpose();
    const double x = std::max((D.topLeftCorner<3, 3>() * W.topLeftCorner<3, 3>()).norm(),
                              (D.bottomRightCorner<3, 3>() * W.bottomRightCorner<3, 3>()).norm());
    const double theta = theta_of(x);
    stiffness_.segment<6>(6 * i).setConstant(x);
    theta_.segment<6>(6 * i).setConstant(theta);
    correction_[k] = inverse_of(Mat6(Mat6::Identity() + theta * D * W));
    // Turning counts as motion at the radius of gyration.
    const double turning = W.bottomRightCorner<3, 3>().trace() / 3;
    weight_.segment<3>(6 * i).setConstant(tau_ * model.inverse_mass[k]);
    weight_.segment<3>(6 * i + 3).setConstant(std::sqrt(turning * tau_ * model.inverse_mass[k]));
  }
  for (int n = 0; n < particles; ++n) {
    const auto k = static_cast<std::size_t>(n);
    const Mat3& D = damping.of_particles[k];
    if (D.isZero(0)) continue;
    if (!model.particles.movable(n)) {
      weight_.segment<3>(start_.first(n)).setConstant(of_fluid);
      continue;
    }
    const double response = tau_ * model.particles.inverse_mass[k];
    const double x = response * D.norm(), theta = theta_of(x);
    stiffness_.segment<3>(start_.first(n)).setConstant(x);
    theta_.segment<3>(start_.first(n)).setConstant(theta);
    particle_correction_[k] = (Mat3::Identity() + theta * response * D).inverse();
    weight_.segment<3>(start_.first(n)).setConstant(response);
  }
  metric_.resize(static_cast<std::size_t>(size));
  for (Eigen::Index i = 0; i < size; ++i) metric_[static_cast<std::size_t>(i)] = weight_[i] * weight_[i];
}

void ThinStructures::look_at(Model& model, const Field3& u) {
  seen_ = &u;
  for (FlowField& flow : model.flows)
    if (flow.computed()) flow.ask(&source_);
}

double ThinStructures::stopping_rate(Model& model, const State& state, double t) {
  look_at(model, flow_.u);
  flow_.keep_halfway = true;
  const std::string outside = first_immersed(model, state, [&](const Vec3& x) { return !kernel_.covers(x); });
  if (!outside.empty())
    throw Error("fluid/box",
                fmt::format("{} feels the fluid and is outside of its box at {:.6g} s; make the box larger", outside, t));
  wants_acceleration_ = false;
  ImmersedDamping damping;
  immersed_forces(model, state, t, now_, &damping);
  // What a push by all grips at once changes in a face; as if along the first axis, and taken back.
  const int along = flow_.layout.axes[0];
  before_.clear();
  Deposit sum;
  for (const Exchange& exchange : now_.exchanges)
    kernel_.push(flow_.u, exchange.x, exchange.grip * Vec3::Unit(along), Vec3::Zero(), before_, sum);
  double rate = 0;
  for (const PushedFace& face : before_) rate = std::max(rate, flow_.u[face.component][face.index] - face.value);
  for (std::size_t n = before_.size(); n-- > 0;) flow_.u[before_[n].component][before_[n].index] = before_[n].value;
  return rate;
}

void ThinStructures::begin(Model& model, const Recipe& recipe, const State& state, double t, double tau) {
  look_at(model, flow_.halfway);
  wants_acceleration_ = !model.immersed.buoyancies.empty() || !model.immersed.added_masses.empty();
  by_impulses_ = by_impulses(recipe.formulation);
  t_ = t;
  tau_ = tau;
  start_ = state;
  between_ = state;
  ImmersedDamping damping;
  immersed_forces(model, state, t, now_, &damping);
  find_masses(model, damping);
  load_.setZero(state.u.size());
  rest_ = now_.f;
  correct();
  load_ = step_;
  const auto size = static_cast<std::size_t>(load_.size());
  mixing_.begin(size, size, loads_mixed);
}

void ThinStructures::correct() {
  step_ = rest_;
  for (std::size_t i = 0; i < correction_.size(); ++i) {
    const auto at = static_cast<Eigen::Index>(6 * i);
    step_.segment<6>(at) = correction_[i] * Vec6(rest_.segment<6>(at));
  }
  for (std::size_t k = 0; k < particle_correction_.size(); ++k) {
    const int at = start_.first(static_cast<int>(k));
    step_.segment<3>(at) = particle_correction_[k] * Vec3(rest_.segment<3>(at));
  }
}

void ThinStructures::push() {
  before_.clear();
  pushed_ = {};
  momentum_.setZero();
  angular_momentum_.setZero();
  angular_by_world_.setZero();
  const auto give = [&](const Vec3& x, const Vec3& force, const Vec3& moment, bool by_world) {
    const Vec3 impulse = tau_ * force, couple = tau_ * moment;
    kernel_.push(flow_.u, x, -impulse, -couple, before_, pushed_);
    const Vec3 angular = arm(flow_.layout, x).cross(impulse) + couple;
    momentum_ += impulse;
    angular_momentum_ += angular;
    if (by_world) angular_by_world_ += angular;
  };
  for (const Exchange& exchange : now_.exchanges) give(exchange.x, exchange.force, exchange.moment, exchange.by_world);
  // What the load has more than the forces that it was found from, which comes to nothing as it converges.
  rest_ = load_ - now_.f;
  for (int i = 0; i < between_.bodies(); ++i)
    if (!rest_.segment<6>(6 * i).isZero(0))
      give(between_.p[static_cast<std::size_t>(i)], rest_.segment<3>(6 * i), rest_.segment<3>(6 * i + 3), false);
  for (int k = 0; k < between_.particles(); ++k) {
    const int at = between_.first(k);
    if (!rest_.segment<3>(at).isZero(0)) give(between_.particle_position(k), rest_.segment<3>(at), Vec3::Zero(), false);
  }
}

void ThinStructures::look_between(const State& end) {
  between_.u = start_.u + theta_.cwiseProduct(end.u - start_.u);
  const double sixth = tau_ / 12;
  for (std::size_t i = 0; i < start_.p.size(); ++i) {
    const int body = static_cast<int>(i);
    between_.theta[i] = start_.theta[i].slerp(0.5, end.theta[i]);
    if (!by_impulses_) between_.p[i] = 0.5 * (start_.p[i] + end.p[i]) + sixth * (start_.v(body) - end.v(body));
  }
  if (!by_impulses_)
    between_.x = 0.5 * (start_.x + end.x) +
                 sixth * (start_.u.segment(start_.first(0), start_.x.size()) - end.u.segment(start_.first(0), start_.x.size()));
}

bool ThinStructures::agrees(const Model& model, const State& state) {
  look_between(state);
  immersed_forces(model, between_, t_ + 0.5 * tau_, now_, nullptr);
  rest_ = now_.f - load_;
  left_ = weight_.cwiseProduct(rest_).lpNorm<Eigen::Infinity>();
  scale_ = weight_.cwiseProduct(load_).lpNorm<Eigen::Infinity>();
  const double speed = std::max(start_.u.lpNorm<Eigen::Infinity>(), state.u.lpNorm<Eigen::Infinity>());
  bool agreed = true;
  for (Eigen::Index i = 0; i < rest_.size(); ++i)
    agreed = agreed && !(weight_[i] * std::abs(rest_[i]) > load_tolerance * scale_ + load_rounding * (1 + stiffness_[i]) * speed);
  if (agreed) return true;
  correct();
  load_ += step_;
  mixing_.mix(metric_, step_.data(), std::span(load_.data(), static_cast<std::size_t>(load_.size())));
  return false;
}

void ThinStructures::book(const State& state) {
  FluidBooks& books = flow_.books;
  if (books.opened == 0) return;
  look_between(state);
  Vec3 angular = angular_by_world_;
  for (int i = 0; i < between_.bodies(); ++i)
    angular += tau_ * (arm(flow_.layout, between_.p[static_cast<std::size_t>(i)]).cross(Vec3(load_.segment<3>(6 * i))) +
                       Vec3(load_.segment<3>(6 * i + 3)));
  for (int k = 0; k < between_.particles(); ++k)
    angular += tau_ * arm(flow_.layout, between_.particle_position(k)).cross(Vec3(load_.segment<3>(between_.first(k))));
  books.momentum_bodies += momentum_;
  books.angular_bodies += in_fluid(flow_.layout, angular);
  // What the cells did not lose the sides did.
  books.momentum_sides += momentum_ + pushed_.momentum;
  books.angular_sides += in_fluid(flow_.layout, angular_momentum_ + pushed_.angular_momentum);
  const double gained = 0.5 * tau_ * load_.dot(start_.u + state.u), given = -pushed_.energy - pushed_.of_sides;
  books.energy_bodies += gained;
  books.energy_sides -= pushed_.of_sides;
  books.drag += given - gained;
}

}  // namespace rotule
