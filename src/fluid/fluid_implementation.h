#pragma once
// The state of a fluid and the parts that its substep is made of. With u0 the velocity at the start, tau the substep and
// L = -div(u u) + nu lap u - grad p of the last pressure known, the stages (C.-W. Shu and S. Osher, J. Comput. Phys. 77, 1988)
//   u1 = u0 + tau L(u0),   u2 = 3/4 u0 + 1/4 (u1 + tau L(u1)),   u3 = 1/3 u0 + 2/3 (u2 + tau L(u2))
// each end with a projection; bodies push the fluid inside of them along before the last one. What the projection of a stage
// takes out counts in the mean pressure of the substep by 1/6, 2/3 and 1.
#include <rotule/fluid_grid.h>

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "base/snapshot_check.h"
#include "fluid/books.h"
#include "fluid/layout.h"
#include "fluid/obstacles.h"
#include "fluid/poisson.h"

namespace rotule {

struct FluidImplementation {
  FluidImplementation(const FluidDef& description, int thread_count);

  FluidDef def;
  GridLayout layout;
  Poisson poisson;
  int threads = 1;
  double nu = 0;  // m^2/s
  int rounds = 1;
  double time = 0;
  Field3 u, start, rate;
  bool keep_halfway = false;
  Field3 halfway;                             // where it is kept: the second stage's velocity, that of the middle of a substep
  std::vector<double> p, phi, change, right;  // pressures per density; `right` without ghosts
  std::vector<double> row_values;             // for maxima
  std::vector<Vec3> row_sums;                 // for sums whose order does not depend on threads
  FluidBooks books;
  FluidReport report;

  /// Of `u`: the longest stable substep at the scene's CFL number, bodies that move at `speed` included.
  [[nodiscard]] double longest_substep(double speed);
  /// The next substep of `left` seconds, counted in the report, no longer than 1/most. Throws Error where there would be too
  /// many.
  double next_substep(double left, double speed, double most = 0);
  /// Removes the divergence of u; what is done to u counts by `weight` in the substep.
  void project(double weight);
  /// All stages, up to the third before its projection; `remember` keeps a copy to go back to.
  void begin_substep(double tau);
  void remember();
  void go_back();
  /// Projects the last stage, after bodies, moving at these velocities, have pushed; in `rounds` rounds, since the projection
  /// moves the inside of bodies too. Impulses are those of these rounds.
  void end_substep(Obstacles* obstacles, std::span<const Vec6> velocities);
  /// Ends the substep, its books included.
  void keep_pressure(double tau);
  [[nodiscard]] FluidLedger sums();
  /// Books from now on: of what bodies displace, the momentum, that about the origin, and the energy.
  void open_books(const Vec3& momentum_inside, const Vec3& angular_inside, double energy_inside);
  /// J that projections took of what bodies pushed in this substep, less what the last pressure had brought in for it.
  [[nodiscard]] double taken_by_projections() const { return def.density * layout.cell_volume * projected_; }
  [[nodiscard]] FluidBalance balance();
  [[nodiscard]] double largest_divergence();
  /// Throws Error where a velocity is not a number.
  void require_finite();

  /// All that the next substep depends on.
  template <class Archive>
  void archive(Archive& io) {
    io(time);
    for (const int c : layout.axes) archive_sized(io, u[c]);
    archive_sized(io, p);
    io(books);
  }

 private:
  double tau_ = 0;                          // s, the substep
  SidePassage passed_, passed_remembered_;  // in it so far
  double foreseen_ = 0;                     // m^2/s^2: |grad phi|^2 / 2 of the last stage's pressure, had nobody pushed
  double projected_ = 0;                    // m^2/s^2
  void stage(double tau, double of_start, double of_rest);
};

inline FluidImplementation& implementation_of(FluidGrid& fluid) { return *fluid.implementation_; }

}  // namespace rotule
