#pragma once
// An incompressible fluid in a box, as a scene describes it: density rho, dynamic viscosity mu,
//   rho (du/dt + (u . grad) u) = -grad p + mu lap u + f,   div u = 0,
// on a regular grid of cells. An axis with one cell is flat: nothing changes along it, and the flow is two-dimensional. Weight is
// left to the bodies, which feel buoyancy: p is the pressure beyond the hydrostatic one.
#include <rotule/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace rotule {

/// What happens at one of the six sides of the box.
enum class FluidBoundary : std::uint8_t { periodic, no_slip, free_slip, inflow, outflow };

/// One side of the box. Those that a scene does not name are walls at rest, or periodic where the axis is flat.
struct FluidWall {
  std::string at = {};           // "x_low", "x_high", "y_low" ...
  std::string kind = {};         // the names of FluidBoundary
  Vec3 velocity = Vec3::Zero();  // m/s: of a wall along itself, of an inflow in any direction
};

struct FluidDef {
  std::array<int, 3> grid{64, 1, 64};  // cells along x, y and z
  std::vector<Vec3> box = {};          // m, its lowest and its highest corner
  double density = 1000;               // kg/m^3
  double viscosity = 1e-3;             // Pa s
  Vec3 velocity = Vec3::Zero();        // m/s, everywhere at the start
  std::vector<FluidWall> walls = {};
  std::vector<std::string> obstacles = {};  // bodies that stand in it; none: all with a closed shape
  double cfl = 1;                           // cells that the fluid may cross in a substep
  int forcing_rounds = 2;                   // how often a substep moves the fluid inside of bodies along with them
};

/// What the last step did to the fluid.
struct FluidReport {
  int substeps = 0;              // that the step was made of
  int coupling_iterations = 0;   // over all substeps
  double coupling_residual = 0;  // m/s, rad/s by which bodies and the fluid inside of them differ at most
  bool converged = true;         // whether that is below the tolerance in every substep
  double cfl = 0;                // cells crossed in a substep, at most
  double divergence = 0;         // 1/s, the largest left in a cell
};

/// Sums over the grid, bodies' insides included.
struct FluidLedger {
  Vec3 momentum = Vec3::Zero();          // kg m/s
  Vec3 angular_momentum = Vec3::Zero();  // kg m^2/s, about the origin; none about axes across which the box is periodic
  double kinetic_energy = 0;             // J
  double dissipation = 0;                // W, by viscosity
};

}  // namespace rotule
