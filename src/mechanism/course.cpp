#include "mechanism/course.h"

#include <algorithm>
#include <cmath>

namespace rotule {

void Course::begin_inner_step(const State& s, double t) {
  mechanism_.begin_step(s, t);
  converged_ = mechanism_.now.report.converged;
}

void Course::settle(State& s, double t) {
  require_finite(mechanism_.model, s);
  const Recipe& recipe = mechanism_.recipe;
  if (const auto* projection = std::get_if<ProjectionSettings>(&recipe.correction)) {
    ProjectionSettings close = *projection;
    // Loops may come near singular poses, where joints that are open by d leave freedom of sqrt(d), and turn it into motion of
    // another branch: steps under error control end anywhere, and are closed as far as rounding goes.
    constexpr double rounding = 1e-15;
    const auto& linkages = mechanism_.linkages;
    const bool loops = std::any_of(linkages.begin(), linkages.end(), [](const Linkage& linkage) { return linkage.has_loops; });
    if (loops)
      close.tolerance = std::min(close.tolerance, rounding);
    else if (!all_the_way_)
      close.tolerance = std::max(close.tolerance, 1e-3 * std::min(position_unit_, angle_unit_));
    mechanism_.project(close, s, t);
  } else if (std::holds_alternative<TreePlacementSettings>(recipe.correction)) {
    mechanism_.place(s, t);
  }
}

void Course::error_scale(const State& s, const VecX& acceleration, double t, Pace& pace) {
  const Model& model = mechanism_.model;
  Vec3 middle = Vec3::Zero();
  const double count = s.bodies() + s.particles();
  for (const Vec3& p : s.p) middle += p / count;
  for (int k = 0; k < s.particles(); ++k) middle += s.particle_position(k) / count;
  double extent = 0, speed = 0, spin = 0, pull = 0, twist = 0;
  for (int i = 0; i < s.bodies(); ++i) {
    const Body& body = model.bodies[i];
    const double radius = body.fixed ? 0 : std::sqrt(model.inertia[i].diagonal().maxCoeff() * model.inverse_mass[i]);
    extent = std::max(extent, (s.p[i] - middle).norm() + radius);
    speed = std::max(speed, s.v(i).squaredNorm());
    spin = std::max(spin, s.omega(i).squaredNorm());
    pull = std::max(pull, acceleration.segment<3>(6 * i).squaredNorm());
    twist = std::max(twist, acceleration.segment<3>(6 * i + 3).squaredNorm());
  }
  for (int k = 0; k < s.particles(); ++k) {
    extent = std::max(extent, (s.particle_position(k) - middle).norm());
    speed = std::max(speed, s.particle_velocity(k).squaredNorm());
    pull = std::max(pull, acceleration.segment<3>(s.first(k)).squaredNorm());
  }
  // A single point has no extent: lengths are then those of its way, the distance from the origin or how far it goes until its
  // velocity is another one. (At a turning point the one counts, where it passes the origin the other.)
  if (extent == 0 && s.bodies() + s.particles() == 1) {
    extent = s.particles() > 0 ? s.particle_position(0).norm() : s.p[0].norm();
    if (pull > 0) extent = std::max(extent, speed / std::sqrt(pull));
  }
  // The fastest of late is forgotten in the time that it takes to go the whole extent, or a radian: V' = -V^2 / L.
  const double elapsed = std::max(0.0, t - pace.time);
  const auto of_late = [&](double now, double before, double length) {
    return std::max(now, length > 0 ? before / (1 + elapsed * before / length) : 0);
  };
  pace = {of_late(std::sqrt(speed), pace.speed, extent), of_late(std::sqrt(spin), pace.spin, 1), t};
  speed = pace.speed > 0 ? pace.speed : std::sqrt(std::sqrt(pull) * extent);
  spin = pace.spin > 0 ? pace.spin : std::sqrt(std::sqrt(twist));
  const double rel = control_.relative_tolerance, abs = control_.absolute_tolerance;
  position_unit_ = abs + rel * extent;
  angle_unit_ = abs + rel;
  velocity_unit_ = abs + rel * speed;
  spin_unit_ = abs + rel * spin;
}

double Course::error_norm(const VecX& sigma, const VecX& u) const {
  double p = 0, angle = 0, v = 0, omega = 0;
  const Eigen::Index bodies = 6 * static_cast<Eigen::Index>(mechanism_.model.body_count());
  for (Eigen::Index i = 0; i < bodies; i += 6) {
    p = std::max(p, sigma.segment<3>(i).squaredNorm());
    angle = std::max(angle, sigma.segment<3>(i + 3).squaredNorm());
    v = std::max(v, u.segment<3>(i).squaredNorm());
    omega = std::max(omega, u.segment<3>(i + 3).squaredNorm());
  }
  const Eigen::Index wakes = bodies + 3 * static_cast<Eigen::Index>(mechanism_.model.particle_count());
  for (Eigen::Index i = bodies; i < u.size(); i += 3) {
    if (i < wakes) p = std::max(p, sigma.segment<3>(i).squaredNorm());
    v = std::max(v, u.segment<3>(i).squaredNorm());
  }
  const auto share = [](double square, double unit) { return square / (unit * unit); };
  const double largest = std::max(std::max(share(p, position_unit_), share(angle, angle_unit_)),
                                  std::max(share(v, velocity_unit_), share(omega, spin_unit_)));
  // std::max passes over what is not a number; the sums do not.
  return std::isfinite(sigma.sum() + u.sum()) ? std::sqrt(largest) : infinity;
}

double Course::longest_step(const State& s) const {
  double spin = 0;
  for (int i = 0; i < s.bodies(); ++i) spin = std::max(spin, s.omega(i).squaredNorm());
  return spin > 0 ? 3 / std::sqrt(spin) : infinity;
}

double Course::event(const State& s, double h) {
  double least = infinity;
  shocks_.for_each_gap(mechanism_.model, s, [&](const Wall&, int, const Vec3&, const Vec3&, double gap, double rate) {
    least = std::min(least, std::max(gap, h * rate));
  });
  return least;
}

void Course::strike(State& s, double t) {
  // The instant is known to the tolerance, and so is the gap.
  points_.clear();
  shocks_.find(mechanism_.model, s, points_, 10 * position_unit_);
  if (!points_.empty()) {
    const JointedMechanism::Jump jump(mechanism_, s);
    mechanism_.now.report.shocks += static_cast<int>(points_.size());
    shock_energy_ += shocks_.apply(mechanism_, s, t, points_, true);
  }
}

}  // namespace rotule
