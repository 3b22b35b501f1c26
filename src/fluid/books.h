#pragma once
// Books of a fluid: what passes through the sides of its box, and what its insides hold, are summed apart and must agree. Sums
// are over the faces inside of the box. Those of a component reach along its own axis from the middle of the first cell to that
// of the last; what passes there is
//   (u^2 + p - nu du/dx) for momentum, and (u' u"/2 u + p u_n) with nu u du/dn for energy,
// in the very differences of the momentum equation, where u' and u" are the velocities on both sides: with them it telescopes.
// Angular momentum does so too. Of r x u a term such as x du_z/dt, summed along x by parts, leaves the flux of u_z through x on
// every edge, which advection has the same as that of u_x through z, and the two cancel; friction leaves a vorticity, whose sum
// is a circulation along the sides.
#include <rotule/fluid.h>

#include "fluid/layout.h"

namespace rotule {

/// What passes through the sides and what friction takes inside, as rates or as amounts: per density and volume of a cell.
struct SidePassage {
  Vec3 momentum = Vec3::Zero(), angular_momentum = Vec3::Zero();  // m/s, m^2/s; about the origin
  double work = 0, heat = 0;                                      // m^2/s^2

  void add(const SidePassage& other, double times) {
    momentum += times * other.momentum;
    angular_momentum += times * other.angular_momentum;
    work += times * other.work;
    heat += times * other.heat;
  }
};
/// Rates at the sides.
SidePassage side_flow(const GridLayout& layout, const Field3& u, const std::vector<double>& p, double nu);
/// What a projection, u -= grad phi, does through the sides: amounts; u is the velocity after it.
SidePassage side_pressure(const GridLayout& layout, const Field3& u, const std::vector<double>& phi);

// Sums for which a Vec3 is needed for every row of cells.
FluidLedger sums_over_grid(const GridLayout& layout, const Field3& u, double density, double viscosity, int threads,
                           std::vector<Vec3>& rows);
/// Of grad u : grad u over cells, 1/s^2.
double squared_slopes(const GridLayout& layout, const Field3& u, int threads, std::vector<Vec3>& rows);
/// Of |grad phi|^2 / 2 over the faces.
double gradient_energy(const GridLayout& layout, const std::vector<double>& phi, int threads, std::vector<Vec3>& rows);
/// Without the components that a periodic box does not have.
Vec3 with_meaning(const GridLayout& layout, Vec3 angular_momentum);
/// In a flat grid the origin is an axis.
Vec3 arm(const GridLayout& layout, Vec3 place);

/// Since they were opened; numbers alone, so that snapshots have no gaps.
struct FluidBooks {
  double opened = 0;
  Vec3 momentum_start = Vec3::Zero(), momentum_sides = Vec3::Zero(), momentum_bodies = Vec3::Zero();
  Vec3 angular_start = Vec3::Zero(), angular_sides = Vec3::Zero(), angular_bodies = Vec3::Zero();
  Vec3 momentum_inside = Vec3::Zero(), angular_inside = Vec3::Zero();  // of what bodies displace: it moves as they do
  Vec3 buoyancy = Vec3::Zero(), angular_buoyancy = Vec3::Zero();
  double displaced_mass = 0;
  double energy_start = 0, energy_sides = 0, energy_bodies = 0, energy_inside = 0, viscosity = 0, grip = 0, drag = 0,
         coupling = 0;
};

}  // namespace rotule
