#pragma once
// What fluid exerts on bodies that are in it: sections with coefficients against their angle of attack, pressure, and the push of
// accelerating fluid on added mass. Each is a function of one body's pose, its velocities and the time; rotule/forces.h has the
// equations. For a section in its own axes (chord c, normal n, span s), with w the relative velocity and alpha = atan2(w_n, w_c),
//   F_c = k W^2 (C_d cos alpha - C_l sin alpha),  F_n = k W^2 (C_d sin alpha + C_l cos alpha),  F_s = k C_f |w| w_s,
// and derivatives by w follow from those by W and alpha. F turns with the body, and so does w as seen from it:
//   dF = -[F]x phi + R (dF/dw) R^T (dw + [w]x phi).
// The wake of an unsteady section is three lags z_i of w_n, whose downwash takes its part of w before anything else sees it:
//   w_n -> w_n - sum a_i (w_n - z_i),   z_i' = b_i 2/width W (w_n - z_i),
// so that C(k) = 1 - sum a_i i k / (b_i + i k) stands for Theodorsen's function.
#include <array>

#include "dynamics/forces/added_mass.h"
#include "dynamics/forces/end_point.h"

namespace rotule {

/// What acts on a body, at its centre of mass, and how it changes by small motions and by velocities.
struct FluidForce {
  int body = -1;
  Vec6 value = Vec6::Zero();
  Mat6 position = Mat6::Zero(), velocity = Mat6::Zero();

  // Of a section that remembers its wake: the rates of its lags, and what depends on what.
  using Tall = Eigen::Matrix<double, 6, 3>;
  using Wide = Eigen::Matrix<double, 3, 6>;
  int wake = -1;
  Vec3 rate = Vec3::Zero();
  Tall by_wake = Tall::Zero();
  Wide rate_by_position = Wide::Zero(), rate_by_velocity = Wide::Zero();
  Mat3 rate_by_wake = Mat3::Zero();
};

/// Lags that stand for Wagner's function: parts and rates per half chord travelled. They were fitted to Theodorsen's function,
/// which they meet within 0.47 % at all reduced frequencies; R. T. Jones' two (1938) do within 2.4 %.
struct WakeLags {
  static constexpr std::array<double, 3> part{0.062473, 0.280072, 0.157455}, rate{0.019161, 0.134332, 0.516230};
};

[[nodiscard]] inline bool has_fluid(const Forces& forces) {
  return !forces.sections.empty() || !forces.buoyancies.empty() || !forces.added_masses.empty();
}

/// Throws Error, with its name and the angle, where coefficients for the angle are missing.
FluidForce section_force(const Model& model, const SectionForce& section, const State& s, double t, bool derivatives);
/// Derivatives are differences: how much of a shape is below a plane has kinks, but no steep places.
FluidForce buoyancy_force(const Model& model, const BuoyancyForce& buoyancy, const State& s, double t, bool derivatives);
/// How the bodies of a block of added mass stand and move: one, that by whose motion it is, and its axes.
struct PushedBlock {
  Vec3 p, by_p;
  Quat axes;
  Vec6 u, by_u;
  Vec3 omega;
};

/// Of fluid that moves, on the body of a block of added mass and on the one whose axes it is in; nothing where it is at rest.
struct FluidPush {
  Vec6 on_body;
  Vec3 on_axes;
  /// How both change (six rows, then three) by what moves: a times by its velocity, b times by its place, where they are wanted.
  enum Column { body_linear, body_angular, by_linear, by_angular, axes_angular, columns };
  std::array<Eigen::Matrix<double, 9, 3>, columns> by = zeros();

  static std::array<Eigen::Matrix<double, 9, 3>, columns> zeros() {
    std::array<Eigen::Matrix<double, 9, 3>, columns> out;
    out.fill(Eigen::Matrix<double, 9, 3>::Zero());
    return out;
  }
};
/// For the places of body and partner in the force's list.
FluidPush added_mass_push(const Model& model, const AddedMassForce& added, int body, int by, const State& s, double t, double a,
                          double b);

template <class Visitor>
void visit_fluid_forces(const Model& model, const State& s, double t, bool derivatives, Visitor&& visit) {
  for (const SectionForce& section : model.forces.sections) visit(section_force(model, section, s, t, derivatives));
  for (const BuoyancyForce& buoyancy : model.forces.buoyancies) visit(buoyancy_force(model, buoyancy, s, t, derivatives));
}

/// Calls visit(body, by, axes, push) for every block that fluid in motion pushes along.
template <class Visitor>
void visit_fluid_pushes(const Model& model, const State& s, double t, double a, double b, Visitor&& visit) {
  for (const AddedMassForce& added : model.forces.added_masses) {
    if (added.flows.empty()) continue;
    const auto count = static_cast<int>(added.bodies.size());
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j)
        visit(added.bodies[static_cast<std::size_t>(i)], added.bodies[static_cast<std::size_t>(j)], added.bodies.front(),
              added_mass_push(model, added, i, j, s, t, a, b));
  }
}

/// Wakes of a motion that was always what it is now.
void settle_wakes(const Model& model, double t, State& s);

[[nodiscard]] inline int wake_triple(const State& s, int wake) { return 2 * s.bodies() + s.particles() + wake; }

/// Forces, and where the wakes stand in u how they change.
inline void add_fluid(const Model& model, const State& s, double t, VecX& f) {
  visit_fluid_forces(model, s, t, false, [&](const FluidForce& force) {
    f.segment<6>(6 * force.body) += force.value;
    if (force.wake >= 0) f.segment<3>(3 * wake_triple(s, force.wake)) += force.rate;
  });
  visit_fluid_pushes(model, s, t, 0, 0, [&](int body, int, int axes, const FluidPush& push) {
    f.segment<6>(6 * body) += push.on_body;
    f.segment<3>(6 * axes + 3) += push.on_axes;
  });
}

template <class Sink>
void add_fluid_derivatives(const Model& model, const State& s, double t, double a, double b, Sink& sink) {
  visit_fluid_forces(model, s, t, true, [&](const FluidForce& force) {
    const Mat6 sum = a * force.velocity + b * force.position;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) sink(2 * force.body + i, 2 * force.body + j, Mat3(sum.block<3, 3>(3 * i, 3 * j)));
    if (force.wake < 0) return;
    const int wake = wake_triple(s, force.wake);
    const FluidForce::Wide rates = a * force.rate_by_velocity + b * force.rate_by_position;
    for (int i = 0; i < 2; ++i) {
      sink(2 * force.body + i, wake, Mat3(a * force.by_wake.middleRows<3>(3 * i)));
      sink(wake, 2 * force.body + i, Mat3(rates.middleCols<3>(3 * i)));
    }
    sink(wake, wake, Mat3(a * force.rate_by_wake));
  });
  visit_fluid_pushes(model, s, t, a, b, [&](int body, int by, int axes, const FluidPush& push) {
    const std::array<int, FluidPush::columns> column{2 * body, 2 * body + 1, 2 * by, 2 * by + 1, 2 * axes + 1};
    for (std::size_t k = 0; k < column.size(); ++k) {
      sink(2 * body, column[k], Mat3(push.by[k].topRows<3>()));
      sink(2 * body + 1, column[k], Mat3(push.by[k].middleRows<3>(3)));
      sink(2 * axes + 1, column[k], Mat3(push.by[k].bottomRows<3>()));
    }
  });
}

}  // namespace rotule
