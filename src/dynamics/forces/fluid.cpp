#include "dynamics/forces/fluid.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <cmath>
#include <numbers>

namespace rotule {
namespace {

/// What a section feels in its own axes: force, moment about the span, and their derivatives by the relative velocity.
struct SectionLoad {
  Vec3 force = Vec3::Zero();
  double moment = 0;  // about the span, right-handed
  Mat3 force_by_w = Mat3::Zero();
  Vec3 moment_by_w = Vec3::Zero();
};

SectionLoad section_load(const SectionForce& section, const Vec3& w, double t) {
  SectionLoad out;
  const double square = w.x() * w.x() + w.y() * w.y();
  if (square > 0) {
    const double alpha = std::atan2(w.y(), w.x());
    const std::optional<SectionAt> found = section.coefficients.at(alpha);
    if (!found) {
      constexpr double degrees = 180 / std::numbers::pi;
      throw Error(
          fmt::format("section \"{}\"", section.name),
          fmt::format("has no coefficients for an angle of attack of {:.4g} rad ({:.4g} degrees), which the flow has at t = "
                      "{:.6g} s: its table goes from {:.4g} to {:.4g} rad; give more of it",
                      alpha, degrees * alpha, t, section.coefficients.first(), section.coefficients.last()));
    }
    const SectionAt& c = *found;
    const double W = std::sqrt(square), cosine = w.x() / W, sine = w.y() / W, k = section.scale;
    // Along the flow and across it; slopes by the angle turn the directions too.
    const Eigen::Vector2d along(cosine, sine), across(-sine, cosine);
    const Eigen::Vector2d F = c.drag * along + c.lift * across;
    const Eigen::Vector2d F_alpha = (c.drag_slope - c.lift) * along + (c.lift_slope + c.drag) * across;
    // dW = along . dw, W d alpha = across . dw.
    out.force.head<2>() = k * square * F;
    out.force_by_w.topLeftCorner<2, 2>() = k * W * (2 * F * along.transpose() + F_alpha * across.transpose());
    // Nose up is against the span.
    out.moment = -k * section.width * square * c.moment;
    out.moment_by_w.head<2>() = -k * section.width * W * (2 * c.moment * along + c.moment_slope * across);
  }
  if (section.friction > 0 && w.z() != 0) {
    const double speed = w.norm(), k = section.scale * section.friction;
    out.force.z() = k * speed * w.z();
    out.force_by_w.row(2) = k * w.z() / speed * w.transpose();
    out.force_by_w(2, 2) += k * speed;
  }
  return out;
}

/// What the wake of a section does where the relative velocity is w in its axes, and how it changes.
struct Wake {
  double part = 0;      // sum of a_i
  double downwash = 0;  // m/s, along the normal
  Vec3 rate = Vec3::Zero();
  Mat3 rate_by_w = Mat3::Zero(), rate_by_lags = Mat3::Zero();

  Wake() = default;
  Wake(const SectionForce& section, const Vec3& w, const Vec3& lags) {
    const double W = std::hypot(w.x(), w.y());
    for (int k = 0; k < 3; ++k) {
      const double a = WakeLags::part[static_cast<std::size_t>(k)], late = w.y() - lags[k],
                   b = 2 * WakeLags::rate[static_cast<std::size_t>(k)] / section.width;
      part += a;
      downwash += a * late;
      rate[k] = b * W * late;
      rate_by_w(k, 1) = b * W;
      if (W > 0) rate_by_w.row(k).head<2>() += b * late / W * w.head<2>().transpose();
      rate_by_lags(k, k) = -b * W;
    }
  }
};

/// The part of a body that is below the plane n . x = height.
struct Submerged {
  double volume = 0;
  Vec3 moment = Vec3::Zero();  // volume times its centre
};

Submerged below(const WettedShape& shape, const Vec3& p, const Mat3& R, const Vec3& n, double height) {
  if (shape.radius > 0) {
    const Vec3 centre = p + R * shape.centre;
    const double r = shape.radius, depth = std::clamp(height - n.dot(centre) + r, 0.0, 2 * r);
    if (depth == 0) return {};
    const double volume = std::numbers::pi * depth * depth * (3 * r - depth) / 3;
    const double down = 3 * (2 * r - depth) * (2 * r - depth) / (4 * (3 * r - depth));
    return {volume, volume * (centre - down * n)};
  }
  // Signed tetrahedra over the parts of the triangles that are below, from a point of the plane: the cut itself adds none.
  const Vec3 top = p + (height - n.dot(p)) * n;
  Submerged out;
  const auto add = [&](const Vec3& a, const Vec3& b, const Vec3& c) {
    const double volume = shape.mend * a.dot(b.cross(c)) / 6;
    out.volume += volume;
    out.moment += volume / 4 * (a + b + c);
  };
  for (const std::array<int, 3>& triangle : shape.triangles) {
    std::array<Vec3, 3> x;
    std::array<double, 3> h;
    for (std::size_t k = 0; k < 3; ++k) {
      x[k] = p + R * shape.vertices[static_cast<std::size_t>(triangle[k])] - top;
      h[k] = n.dot(x[k]);
    }
    const int under = (h[0] < 0) + (h[1] < 0) + (h[2] < 0);
    if (under == 0) continue;
    if (under == 3) {
      add(x[0], x[1], x[2]);
      continue;
    }
    // The vertex that is alone on its side comes first.
    std::size_t first = 0;
    while ((h[first] < 0) != (under == 1)) ++first;
    const std::size_t second = (first + 1) % 3, third = (first + 2) % 3;
    const auto cut = [&](std::size_t i, std::size_t j) -> Vec3 { return x[i] + h[i] / (h[i] - h[j]) * (x[j] - x[i]); };
    const Vec3 ab = cut(first, second), ac = cut(first, third);
    if (under == 1) {
      add(x[first], ab, ac);
    } else {
      add(ab, x[second], x[third]);
      add(ab, x[third], ac);
    }
  }
  out.moment += out.volume * top;
  return out;
}

Vec6 pressure(const Model& model, const BuoyancyForce& buoyancy, const Vec3& p, const Mat3& R, double t) {
  const Vec3 centre = p + R * buoyancy.at.r;
  Submerged wet{buoyancy.volume, buoyancy.volume * centre};
  if (buoyancy.surface) {
    const double g = model.gravity.norm();
    const Vec3 up = g > 0 ? Vec3(-model.gravity / g) : Vec3(Vec3::UnitZ());
    SurfaceAt waves;
    for (const int k : buoyancy.flows) model.flows[static_cast<std::size_t>(k)].add_surface(centre, t, waves);
    const Vec3 n = (up - waves.slope).normalized();
    const Vec3 on = centre + (*buoyancy.surface + waves.elevation - up.dot(centre)) * up;
    wet = below(buoyancy.shape, p, R, n, n.dot(on));
  }
  Vec6 out = Vec6::Zero();
  if (!(wet.volume > 0)) return out;
  const Vec3 at = wet.moment / wet.volume;
  const Vec3 F = buoyancy.density * wet.volume * (flow_at(model.flows, buoyancy.flows, at, t).acceleration() - model.gravity);
  out << F, (at - p).cross(F);
  return out;
}

/// Differences in the middle, by the six small motions of a body: translation, then rotation vector.
template <class Function>
Mat6 by_pose(const Vec3& p, const Quat& theta, double length, Function&& function) {
  constexpr double small = 1e-5;
  Mat6 out;
  for (int k = 0; k < 6; ++k) {
    const double step = k < 3 ? small * length : small;
    Vec3 d = Vec3::Zero();
    d[k % 3] = step;
    const auto there = [&](double sign) -> Vec6 {
      if (k < 3) return function(Vec3(p + sign * d), theta.toRotationMatrix());
      return function(p, turn(theta, sign * d).toRotationMatrix());
    };
    out.col(k) = (there(1) - there(-1)) / (2 * step);
  }
  return out;
}

/// What a block of added mass pushes with, beyond fluid at rest: on its body, and on the one whose axes it is in.
struct Push {
  Vec6 on_body;
  Vec3 on_axes;
};

/// M_a Du/Dt, and what gyroscopic forces differ by because it is the velocity relative to the fluid that counts.
Push fluid_push(const Model& model, const AddedMassForce& added, const Mat6& block, const PushedBlock& at, double t) {
  const FlowAt here = flow_at(model.flows, added.flows, at.p, t), there = flow_at(model.flows, added.flows, at.by_p, t);
  const Mat6 mass = in_world(block, at.axes.toRotationMatrix());
  Vec6 u = at.u, by = at.by_u;
  u.head<3>() -= here.u;
  by.head<3>() -= there.u;
  const AddedGyroscopic relative = gyroscopic_of(mass, u, by, at.omega), own = gyroscopic_of(mass, at.u, at.by_u, at.omega);
  return {mass.leftCols<3>() * there.acceleration() + relative.on_body - own.on_body, relative.on_axes - own.on_axes};
}

/// Differences by three numbers of `at`, which change(at, k, by) moves.
template <class Change>
void add_columns(const Model& model, const AddedMassForce& added, const Mat6& block, const PushedBlock& at, double t,
                 double small, double times, int column, FluidPush& out, Change&& change) {
  Eigen::Matrix<double, 9, 3>& to = out.by[static_cast<std::size_t>(column)];
  for (int k = 0; k < 3; ++k) {
    PushedBlock more = at, less = at;
    change(more, k, small);
    change(less, k, -small);
    const Push up = fluid_push(model, added, block, more, t), down = fluid_push(model, added, block, less, t);
    to.col(k).head<6>() += times / (2 * small) * (up.on_body - down.on_body);
    to.col(k).tail<3>() += times / (2 * small) * (up.on_axes - down.on_axes);
  }
}

}  // namespace

FluidForce section_force(const Model& model, const SectionForce& section, const State& s, double t, bool derivatives) {
  const EndPoint at = end_point(section.at, s), feels = end_point(section.feels, s);
  const FlowAt fluid = flow_at(model.flows, section.flows, feels.x, t);
  const Vec3 w = fluid.u - feels.v;
  const Mat3 axes = s.theta[section.at.index].toRotationMatrix() * section.axes;
  FluidForce out;
  out.body = section.at.index;
  Vec3 seen_w = axes.transpose() * w;
  Wake wake;
  if (section.wake >= 0) {
    wake = Wake(section, seen_w, s.wake(section.wake));
    seen_w.y() -= wake.downwash;
    out.wake = section.wake;
    out.rate = wake.rate;
  }
  SectionLoad load = section_load(section, seen_w, t);
  const Vec3 F = axes * load.force, M = load.moment * axes.col(2);
  out.value << F, at.rho.cross(F) + M;
  if (!derivatives) return out;
  if (section.wake >= 0) {
    // Downwash grows with w_n and falls with the lags.
    const Vec3 by_normal = load.force_by_w.col(1);
    const double moment_by_normal = load.moment_by_w.y();
    for (int k = 0; k < 3; ++k) {
      const double part = WakeLags::part[static_cast<std::size_t>(k)];
      const Vec3 force = part * (axes * by_normal);
      out.by_wake.col(k) << force, at.rho.cross(force) + part * moment_by_normal * axes.col(2);
    }
    load.force_by_w.col(1) *= 1 - wake.part;
    load.moment_by_w.y() *= 1 - wake.part;
    out.rate_by_wake = wake.rate_by_lags;
  }
  const Mat3 G = axes * load.force_by_w * axes.transpose();
  const Eigen::RowVector3d m = (axes * load.moment_by_w).transpose();
  // dw of translations, of rotations (the point moves by phi x rho, and so does its velocity by omega x (phi x rho)), of
  // velocities.
  const Mat3 lever = skew(feels.rho), by_d = fluid.gradient, by_phi = -fluid.gradient * lever + skew(feels.omega) * lever;
  // Seen from the body w turns back: dw + [w]x phi.
  const Mat3 seen = by_phi + skew(w);
  const Mat3 F_d = G * by_d, F_phi = G * seen - skew(F), F_v = -G, F_omega = G * lever;
  const Vec3 span = axes.col(2);
  const auto torque = [&](const Mat3& force, const Mat3& dw) -> Mat3 { return skew(at.rho) * force + span * (m * dw); };
  out.position << F_d, F_phi, torque(F_d, by_d), torque(F_phi, seen) + skew(F) * skew(at.rho) - skew(M);
  out.velocity << F_v, F_omega, torque(F_v, -Mat3::Identity()), torque(F_omega, lever);
  if (section.wake >= 0) {
    const Mat3 rate = wake.rate_by_w * axes.transpose();
    out.rate_by_position << rate * by_d, rate * seen;
    out.rate_by_velocity << -rate, rate * lever;
  }
  return out;
}

void settle_wakes(const Model& model, double t, State& s) {
  for (const SectionForce& section : model.forces.sections) {
    if (section.wake < 0) continue;
    const EndPoint feels = end_point(section.feels, s);
    const Vec3 w = flow_at(model.flows, section.flows, feels.x, t).u - feels.v;
    const Vec3 normal = s.theta[section.at.index] * Vec3(section.axes.col(1));
    s.u.segment<3>(3 * wake_triple(s, section.wake)).setConstant(normal.dot(w));
  }
}

FluidForce buoyancy_force(const Model& model, const BuoyancyForce& buoyancy, const State& s, double t, bool derivatives) {
  FluidForce out;
  out.body = buoyancy.at.index;
  const Vec3& p = s.p[out.body];
  const Quat& theta = s.theta[out.body];
  out.value = pressure(model, buoyancy, p, theta.toRotationMatrix(), t);
  if (derivatives)
    out.position = by_pose(p, theta, std::cbrt(buoyancy.volume),
                           [&](const Vec3& x, const Mat3& R) { return pressure(model, buoyancy, x, R, t); });
  return out;
}

FluidPush added_mass_push(const Model& model, const AddedMassForce& added, int body, int by, const State& s, double t, double a,
                          double b) {
  const Mat6 block = added.mass.block<6, 6>(6 * body, 6 * by);
  const int i = added.bodies[static_cast<std::size_t>(body)], j = added.bodies[static_cast<std::size_t>(by)],
            axes = added.bodies.front();
  const PushedBlock at{s.p[i], s.p[j], s.theta[axes], s.u.segment<6>(6 * i), s.u.segment<6>(6 * j), s.omega(axes)};
  const Push push = fluid_push(model, added, block, at, t);
  FluidPush out{.on_body = push.on_body, .on_axes = push.on_axes};
  if (a == 0 && b == 0) return out;
  const auto columns = [&](double small, double times, int column, auto&& change) {
    if (times != 0) add_columns(model, added, block, at, t, small, times, column, out, change);
  };
  constexpr double small = 1e-5;
  columns(small, b, FluidPush::body_linear, [](PushedBlock& x, int k, double d) { x.p[k] += d; });
  columns(small, b, FluidPush::by_linear, [](PushedBlock& x, int k, double d) { x.by_p[k] += d; });
  columns(small, b, FluidPush::axes_angular, [](PushedBlock& x, int k, double d) { x.axes = turn(x.axes, d * Vec3::Unit(k)); });
  // The difference of two quadratic forms in velocities: derivatives are exact by differences of any width.
  columns(0.5, a, FluidPush::body_linear, [](PushedBlock& x, int k, double d) { x.u[k] += d; });
  columns(0.5, a, FluidPush::body_angular, [](PushedBlock& x, int k, double d) { x.u[3 + k] += d; });
  columns(0.5, a, FluidPush::by_linear, [](PushedBlock& x, int k, double d) { x.by_u[k] += d; });
  columns(0.5, a, FluidPush::by_angular, [](PushedBlock& x, int k, double d) { x.by_u[3 + k] += d; });
  columns(0.5, a, FluidPush::axes_angular, [](PushedBlock& x, int k, double d) { x.omega[k] += d; });
  return out;
}

}  // namespace rotule
