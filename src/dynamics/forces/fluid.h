#pragma once
// What fluid exerts on bodies that are in it: sections with coefficients against their angle of attack, pressure, and the push of
// accelerating fluid on added mass. Each is a function of one body's pose, its velocities and the time; rotule/forces.h has the
// equations. For a section in its own axes (chord c, normal n, span s), with w the relative velocity and alpha = atan2(w_n, w_c),
//   F_c = k W^2 (C_d cos alpha - C_l sin alpha),  F_n = k W^2 (C_d sin alpha + C_l cos alpha),  F_s = k C_f |w| w_s,
// and derivatives by w follow from those by W and alpha. F turns with the body, and so does w as seen from it:
//   dF = -[F]x phi + R (dF/dw) R^T (dw + [w]x phi).
#include "dynamics/forces/added_mass.h"
#include "dynamics/forces/end_point.h"

namespace rotule {

/// What acts on a body, at its centre of mass, and how it changes by small motions and by velocities.
struct FluidForce {
  int body = -1;
  Vec6 value = Vec6::Zero();
  Mat6 position = Mat6::Zero(), velocity = Mat6::Zero();
};

[[nodiscard]] inline bool has_fluid(const Forces& forces) {
  return !forces.sections.empty() || !forces.buoyancies.empty() || !forces.added_masses.empty();
}

/// Throws Error, with its name and the angle, where coefficients for the angle are missing.
FluidForce section_force(const Model& model, const SectionForce& section, const State& s, double t, bool derivatives);
/// Derivatives are differences: how much of a shape is below a plane has kinks, but no steep places.
FluidForce buoyancy_force(const Model& model, const BuoyancyForce& buoyancy, const State& s, double t, bool derivatives);
/// Of fluid that moves: nothing where it is at rest.
FluidForce added_mass_force(const Model& model, const AddedMassForce& added, const State& s, double t, bool derivatives);

template <class Visitor>
void visit_fluid_forces(const Model& model, const State& s, double t, bool derivatives, Visitor&& visit) {
  for (const SectionForce& section : model.forces.sections) visit(section_force(model, section, s, t, derivatives));
  for (const BuoyancyForce& buoyancy : model.forces.buoyancies) visit(buoyancy_force(model, buoyancy, s, t, derivatives));
  for (const AddedMassForce& added : model.forces.added_masses)
    if (!added.flows.empty()) visit(added_mass_force(model, added, s, t, derivatives));
}

inline void add_fluid(const Model& model, const State& s, double t, VecX& f) {
  visit_fluid_forces(model, s, t, false, [&](const FluidForce& force) { f.segment<6>(6 * force.body) += force.value; });
}

template <class Sink>
void add_fluid_derivatives(const Model& model, const State& s, double t, double a, double b, Sink& sink) {
  visit_fluid_forces(model, s, t, true, [&](const FluidForce& force) {
    const Mat6 sum = a * force.velocity + b * force.position;
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) sink(2 * force.body + i, 2 * force.body + j, Mat3(sum.block<3, 3>(3 * i, 3 * j)));
  });
}

}  // namespace rotule
