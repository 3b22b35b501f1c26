#pragma once
// A four-bar whose motion and torque are known in closed form.
#include <rotule/scene.h>

#include <Eigen/LU>
#include <cmath>
#include <string>

#include "support/constants.h"

namespace rotule::testing {

/// A planar four-bar in the plane of x and y: pivots at the origin and at (d, 0), crank a, coupler b, rocker c. Bars are thin
/// unless they have a radius.
struct FourBar {
  double a = 0.3, b = 0.9, c = 0.7, d = 0.8;
  double m_a = 1.2, m_b = 2.1, m_c = 1.5;
  double theta_0 = 0.6;
  double radius = 0;

  struct Motion {
    Eigen::Vector3d angle, rate, acceleration;  // of crank, coupler, rocker
  };
  static Eigen::Vector2d along(double angle) { return {std::cos(angle), std::sin(angle)}; }
  static Eigen::Vector2d across(double angle) { return {-std::sin(angle), std::cos(angle)}; }
  [[nodiscard]] double moment(double mass, double length) const { return mass * (length * length + 3 * radius * radius) / 12; }

  [[nodiscard]] Motion at(double theta, double rate, double acceleration) const {
    const Eigen::Vector2d A = a * along(theta), C(d, 0), between = C - A;
    const double r = between.norm(), x = (b * b - c * c + r * r) / (2 * r), y = std::sqrt(b * b - x * x);
    const Eigen::Vector2d n = between / r, B = A + x * n + y * Eigen::Vector2d(-n.y(), n.x());
    Motion out;
    out.angle << theta, std::atan2(B.y() - A.y(), B.x() - A.x()), std::atan2(B.y(), B.x() - d);
    Eigen::Matrix2d M;
    M << b * across(out.angle[1]), -c * across(out.angle[2]);
    const Eigen::Vector2d w = M.inverse() * (-a * rate * across(theta));
    out.rate << rate, w;
    const Eigen::Vector2d turning = -a * (acceleration * across(theta) - rate * rate * along(theta)) +
                                    b * w[0] * w[0] * along(out.angle[1]) - c * w[1] * w[1] * along(out.angle[2]);
    out.acceleration << acceleration, Eigen::Vector2d(M.inverse() * turning);
    return out;
  }

  /// What the crank needs, by the balance of power: sum of (m (a - g) . v + I alpha omega) over its rate.
  [[nodiscard]] double torque(double theta, double rate, double acceleration) const {
    const Motion q = at(theta, rate, acceleration);
    const Eigen::Vector2d weight(0, -g);
    const auto share = [&](double mass, double length, int k, const Eigen::Vector2d& v_0, const Eigen::Vector2d& a_0) {
      const Eigen::Vector2d v = v_0 + 0.5 * length * q.rate[k] * across(q.angle[k]);
      const Eigen::Vector2d acc =
          a_0 + 0.5 * length * (q.acceleration[k] * across(q.angle[k]) - q.rate[k] * q.rate[k] * along(q.angle[k]));
      return mass * (acc - weight).dot(v) + moment(mass, length) * q.acceleration[k] * q.rate[k];
    };
    const Eigen::Vector2d none = Eigen::Vector2d::Zero();
    const Eigen::Vector2d v_A = a * rate * across(theta), a_A = a * (acceleration * across(theta) - rate * rate * along(theta));
    return (share(m_a, a, 0, none, none) + share(m_b, b, 1, v_A, a_A) + share(m_c, c, 2, none, none)) / rate;
  }

  /// With the velocities that the crank's rate gives.
  [[nodiscard]] Scene scene(const Drive& on_crank, const Drive& on_rocker = {}, double rate = 0,
                            const Drive& elsewhere = {}) const {
    const Motion q = at(theta_0, rate, 0);
    Scene out;
    out.gravity = {0, -g, 0};
    const auto bar = [&](const std::string& name, const Eigen::Vector2d& from, const Eigen::Vector2d& v_from, double length,
                         int k, double mass) {
      const Eigen::Vector2d p = from + 0.5 * length * along(q.angle[k]),
                            v = v_from + 0.5 * length * q.rate[k] * across(q.angle[k]);
      const double I = moment(mass, length);
      out.add({.name = name,
               .mass = mass,
               .inertia = Mat3(Vec3(0.1 * I, I, I).asDiagonal()),
               .position = {p.x(), p.y(), 0},
               .orientation = Quat(Eigen::AngleAxisd(q.angle[k], Vec3::UnitZ())),
               .velocity = {v.x(), v.y(), 0},
               .angular_velocity = {0, 0, q.rate[k]}});
    };
    const Eigen::Vector2d A = a * along(theta_0), C(d, 0), B = C + c * along(q.angle[2]);
    bar("crank", {0, 0}, {0, 0}, a, 0, m_a);
    bar("coupler", A, a * q.rate[0] * across(theta_0), b, 1, m_b);
    bar("rocker", C, {0, 0}, c, 2, m_c);
    out.add(Hinge{.name = "crank_pin", .between = {"world", "crank"}, .at = {0, 0, 0}, .drive = on_crank});
    out.add(Hinge{.name = "knee", .between = {"crank", "coupler"}, .at = {A.x(), A.y(), 0}, .drive = elsewhere});
    out.add(Hinge{.name = "elbow", .between = {"coupler", "rocker"}, .at = {B.x(), B.y(), 0}, .drive = elsewhere});
    out.add(Hinge{.name = "rocker_pin", .between = {"world", "rocker"}, .at = {d, 0, 0}, .drive = on_rocker});
    return out;
  }
};

}  // namespace rotule::testing
