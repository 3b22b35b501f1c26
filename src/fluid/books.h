#pragma once
// Books of a fluid: what passes through the sides of its box, and what its insides hold, are summed apart and must agree. Sums
// are over the faces inside of the box. Those of a component reach along its own axis from the middle of the first cell to that
// of the last; what passes there is
//   (u^2 + p - nu du/dx) for momentum, and (u' u"/2 u + p u_n) with nu u du/dn for energy,
// in the very differences of the momentum equation, where u' and u" are the velocities on both sides: with them it telescopes.
#include <rotule/fluid.h>

#include "fluid/layout.h"

namespace rotule {

/// Rates of the sums of u and of u^2/2 by what passes through the sides: per density and volume of a cell.
struct SideFlow {
  Vec3 momentum = Vec3::Zero();  // m/s^2
  double power = 0;              // m^2/s^3, by flow and friction
  double pressure_power = 0;     // likewise, by pressure
};
SideFlow side_flow(const GridLayout& layout, const Field3& u, const std::vector<double>& p, double nu);
/// What a projection, u -= grad phi, does to the sum of u.
Vec3 side_pressure(const GridLayout& layout, const std::vector<double>& phi);

/// The present sums, for which a Vec3 is needed for every row of cells.
FluidLedger sums_over_grid(const GridLayout& layout, const Field3& u, double density, double viscosity, int threads,
                           std::vector<Vec3>& rows);

/// Since they were opened; numbers alone, so that snapshots have no gaps.
struct FluidBooks {
  double opened = 0;
  Vec3 momentum_start = Vec3::Zero(), momentum_sides = Vec3::Zero(), momentum_bodies = Vec3::Zero();
  Vec3 momentum_inside = Vec3::Zero();  // of what bodies displace: it moves as they do
  double energy_start = 0, energy_sides = 0, energy_bodies = 0, energy_inside = 0, viscosity = 0;
  double side_power = 0, loss = 0;  // W, at the end of the last substep, pressure left out
};

}  // namespace rotule
