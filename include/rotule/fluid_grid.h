#pragma once
// The fluid of a world, or one on its own. Velocities stand on the faces of cells, pressures in their middles (F. H. Harlow and
// J. E. Welch, "Numerical calculation of time-dependent viscous incompressible flow of fluid with free surface", Phys. Fluids 8,
// 1965). Every stage of a third-order Runge-Kutta method ends with a projection onto fields without divergence.
#include <rotule/fluid.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rotule {

struct FluidImplementation;

/// Values at the middles of the cells of a plane, row after row: `value[row * columns + column]`.
struct FluidSlice {
  int columns = 0, rows = 0;
  std::array<int, 2> axes{0, 2};        // that columns and rows run along
  Vec3 origin = Vec3::Zero();           // m, middle of the first cell
  std::array<double, 2> spacing{1, 1};  // m
  std::vector<Vec3> velocity;           // m/s
  std::vector<double> pressure;         // Pa
  std::vector<double> vorticity;        // 1/s, across the plane
};

/// Where the momentum and the energy of a fluid came from and went to since its books were opened. What bodies gain the fluid
/// loses; what they displace does not count, nor does the hydrostatic pressure, which the sides bear at once.
///   momentum now = start + sides - bodies + left over, linear and angular about the origin,
///   energy now = start + sides - bodies - viscosity - drag - grip - coupling + left over.
/// Sides are summed over the planes through the middles of the outermost cells, bodies over their pushes. The momentum left over
/// is rounding, of the energy it is the error of the steps. About an axis across which the box is periodic there is no angular
/// momentum: it is zero. Buoyancy is the hydrostatic pressure's: bodies get it, and the fluid does not lose it.
struct FluidBalance {
  bool kept = false;
  Vec3 momentum_start = Vec3::Zero(), momentum = Vec3::Zero();  // kg m/s
  Vec3 momentum_sides = Vec3::Zero(), momentum_bodies = Vec3::Zero(), momentum_left_over = Vec3::Zero();
  Vec3 angular_momentum_start = Vec3::Zero(), angular_momentum = Vec3::Zero();  // kg m^2/s
  Vec3 angular_momentum_sides = Vec3::Zero(), angular_momentum_bodies = Vec3::Zero(), angular_momentum_left_over = Vec3::Zero();
  Vec3 buoyancy = Vec3::Zero(), angular_buoyancy = Vec3::Zero();  // what bodies got of it: impulse, and about the origin
  double displaced_mass = 0;                                      // kg, of the bodies as the grid sees them now
  double energy_start = 0, energy = 0;                            // J
  double energy_sides = 0, energy_bodies = 0, energy_left_over = 0;
  double viscosity = 0;  // heat by the slopes that the grid sees
  double drag = 0;       // heat where structures thinner than cells slip through it; work of given flows that they feel too
  double grip = 0;       // heat where bodies take hold of the fluid: friction in cells that their surfaces cut
  double coupling = 0;   // what moving body and fluid in turns takes, of either sign; it falls with the step
};

class FluidGrid {
 public:
  /// Throws Error where the description makes no sense. `threads` as in a recipe: 0 is as many as the machine has.
  explicit FluidGrid(const FluidDef& def, int threads = 1);
  FluidGrid(FluidGrid&&) noexcept;
  FluidGrid& operator=(FluidGrid&&) noexcept;
  ~FluidGrid();

  [[nodiscard]] const FluidDef& def() const;
  [[nodiscard]] Vec3 spacing() const;  // m, of the cells
  [[nodiscard]] double time() const;   // s that it has been moved on by

  /// Sets the velocity from a function of place, made free of divergence.
  void set_velocity(const std::function<Vec3(const Vec3&)>& field);
  /// Moves on by `h`, in as many substeps as `cfl` asks for.
  const FluidReport& step(double h);
  [[nodiscard]] const FluidReport& report() const;

  /// Between the nearest faces and cells, linearly.
  [[nodiscard]] Vec3 velocity(const Vec3& x) const;
  [[nodiscard]] double pressure(const Vec3& x) const;
  /// Across an axis (0 to 2) at a coordinate; of a flat grid, the flat axis.
  [[nodiscard]] FluidSlice slice(int axis, double at) const;
  [[nodiscard]] FluidLedger ledger() const;
  /// Opens books of momentum and energy, or closes them; those of a world's fluid go with the world's own.
  void keep_books(bool keep);
  [[nodiscard]] FluidBalance balance() const;

  [[nodiscard]] double bytes_per_cell() const;
  [[nodiscard]] std::int64_t cells() const;

 private:
  friend FluidImplementation& implementation_of(FluidGrid& fluid);
  std::unique_ptr<FluidImplementation> implementation_;
};

}  // namespace rotule
