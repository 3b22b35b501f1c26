#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

#include "fluid/boundary.h"
#include "fluid/fluid_implementation.h"
#include "fluid/momentum.h"

namespace rotule {

namespace {

constexpr double first_stage_weight = 1.0 / 6, second_stage_weight = 2.0 / 3;
/// The stages bear so much of the largest eigenvalue of diffusion; at the imaginary axis, of advection, they bear 1.73.
constexpr double real_axis = 2.5, imaginary_axis = 1.73;

}  // namespace

FluidImplementation::FluidImplementation(const FluidDef& description, int thread_count)
    : def(description),
      layout(def, validated_sides(def, Place("fluid"))),
      poisson(layout),
      threads(thread_count),
      nu(def.viscosity / def.density),
      rounds(def.forcing_rounds) {
  for (const int c : layout.axes)
    for (Field3* field : {&u, &start, &rate}) (*field)[c].assign(layout.size, 0.0);
  for (std::vector<double>* field : {&p, &phi, &change}) field->assign(layout.size, 0.0);
  right.assign(layout.cells(), 0.0);
  row_values.assign(layout.cells() / static_cast<std::size_t>(layout.n[layout.order[0]]), 0.0);
  row_sums.resize(row_values.size());
  for (const int c : layout.axes) std::fill(u[c].begin(), u[c].end(), def.velocity[c]);
  project(0);
}

void FluidImplementation::project(double weight) {
  fill_velocity(layout, u);
  for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int row) {
    double* __restrict out = right.data() + static_cast<std::ptrdiff_t>(row) * length;
    for (int i = 0; i < length; ++i) out[i] = 0;
    for (const int c : layout.axes) {
      const double* v = u[c].data() + first;
      const std::ptrdiff_t s = layout.stride[c];
      const double per_length = 1 / layout.h[c];
      for (int i = 0; i < length; ++i) out[i] += per_length * (v[i + s] - v[i]);
    }
  });
  poisson.solve(right, threads);
  for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int row) {
    const double* solved = right.data() + static_cast<std::ptrdiff_t>(row) * length;
    for (int i = 0; i < length; ++i) {
      phi[first + i] = solved[i];
      change[first + i] += weight * solved[i];
    }
  });
  fill_pressure(layout, phi);
  for (const int c : layout.axes)
    for_rows(layout, layout.faces(c, true), threads, [&](std::ptrdiff_t first, int length, int) {
      double* __restrict v = u[c].data() + first;
      const double* q = phi.data() + first;
      const std::ptrdiff_t s = layout.stride[c];
      const double per_length = 1 / layout.h[c];
      for (int i = 0; i < length; ++i) v[i] -= per_length * (q[i] - q[i - s]);
    });
  fill_velocity(layout, u);
  if (books.opened > 0) passed_.add(side_pressure(layout, u, phi), 1);
}

void FluidImplementation::stage(double tau, double of_start, double of_rest) {
  momentum_rates(layout, u, p, nu, threads, rate);
  if (books.opened > 0) {
    SidePassage passing = side_flow(layout, u, p, nu), sum;
    passing.heat = nu * squared_slopes(layout, u, threads, row_sums);
    passed_.add(passing, tau);
    sum.add(passed_, of_rest);
    passed_ = sum;
  }
  for (const int c : layout.axes)
    for_rows(layout, layout.faces(c, true), threads, [&](std::ptrdiff_t first, int length, int) {
      double* __restrict v = u[c].data() + first;
      const double *v0 = start[c].data() + first, *r = rate[c].data() + first;
      for (int i = 0; i < length; ++i) v[i] = of_start * v0[i] + of_rest * (v[i] + tau * r[i]);
    });
}

void FluidImplementation::begin_substep(double tau) {
  tau_ = tau;
  passed_ = {};
  for (const int c : layout.axes) start[c] = u[c];
  std::fill(change.begin(), change.end(), 0.0);
  stage(tau, 0, 1);
  project(first_stage_weight);
  stage(tau, 0.75, 0.25);
  project(second_stage_weight);
  if (keep_halfway) halfway = u;
  stage(tau, 1.0 / 3, 2.0 / 3);
  if (books.opened > 0) {
    // What the last stage's projection would take out, were there no bodies, is known up to tau^3 from the two before it: those
    // are tau (p0 - p) and tau/4 (p1 - p), this one 2/3 tau (p2 - p), and p2, halfway, is the mean of p0 and p1.
    fill_pressure(layout, change);
    foreseen_ = 4 * gradient_energy(layout, change, threads, row_sums);
  }
}

void FluidImplementation::remember() {
  for (const int c : layout.axes) start[c] = u[c];
  rate[layout.axes[0]] = change;
  passed_remembered_ = passed_;
}

void FluidImplementation::go_back() {
  for (const int c : layout.axes) u[c] = start[c];
  change = rate[layout.axes[0]];
  passed_ = passed_remembered_;
}

void FluidImplementation::end_substep(Obstacles* obstacles, std::span<const Vec6> velocities) {
  if (!obstacles) return project(1);
  obstacles->forget_pushes();
  projected_ = -foreseen_;
  for (int round = 0; round < rounds; ++round) {
    obstacles->push(u, velocities, nu * tau_ / rounds, threads);
    project(1);
    if (books.opened > 0) projected_ += gradient_energy(layout, phi, threads, row_sums);
  }
}

void FluidImplementation::keep_pressure(double tau) {
  for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int) {
    for (int i = 0; i < length; ++i) p[first + i] += change[first + i] / tau;
  });
  fill_pressure(layout, p);
  time += tau;
  if (books.opened == 0) return;
  const double mass = def.density * layout.cell_volume;
  books.momentum_sides += mass * passed_.momentum;
  books.angular_sides += mass * with_meaning(layout, passed_.angular_momentum);
  books.energy_sides += mass * passed_.work;
  books.viscosity += mass * passed_.heat;
}

FluidLedger FluidImplementation::sums() { return sums_over_grid(layout, u, def.density, def.viscosity, threads, row_sums); }

void FluidImplementation::open_books(const Vec3& momentum_inside, const Vec3& angular_inside, double energy_inside) {
  const FluidLedger now = sums();
  books = {};
  books.opened = 1;
  books.momentum_inside = momentum_inside;
  books.angular_inside = with_meaning(layout, angular_inside);
  books.energy_inside = energy_inside;
  books.momentum_start = now.momentum - books.momentum_inside;
  books.angular_start = now.angular_momentum - books.angular_inside;
  books.energy_start = now.kinetic_energy - energy_inside;
}

FluidBalance FluidImplementation::balance() {
  if (books.opened == 0) return {};
  const FluidLedger now = sums();
  FluidBalance out{.kept = true,
                   .momentum_start = books.momentum_start,
                   .momentum = now.momentum - books.momentum_inside,
                   .momentum_sides = books.momentum_sides,
                   .momentum_bodies = books.momentum_bodies,
                   .angular_momentum_start = books.angular_start,
                   .angular_momentum = now.angular_momentum - books.angular_inside,
                   .angular_momentum_sides = books.angular_sides,
                   .angular_momentum_bodies = books.angular_bodies,
                   .buoyancy = books.buoyancy,
                   .angular_buoyancy = books.angular_buoyancy,
                   .displaced_mass = books.displaced_mass,
                   .energy_start = books.energy_start,
                   .energy = now.kinetic_energy - books.energy_inside,
                   .energy_sides = books.energy_sides,
                   .energy_bodies = books.energy_bodies,
                   .viscosity = books.viscosity,
                   .drag = books.drag,
                   .grip = books.grip,
                   .coupling = books.coupling};
  out.momentum_left_over = out.momentum - out.momentum_start - out.momentum_sides + out.momentum_bodies;
  out.angular_momentum_left_over =
      out.angular_momentum - out.angular_momentum_start - out.angular_momentum_sides + out.angular_momentum_bodies;
  out.energy_left_over =
      out.energy - out.energy_start - out.energy_sides + out.energy_bodies + out.viscosity + out.drag + out.grip + out.coupling;
  return out;
}

double FluidImplementation::longest_substep(double speed) {
  for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int row) {
    double most = 0;
    for (int i = 0; i < length; ++i) {
      double rate_here = 0;
      for (const int c : layout.axes) {
        const double *v = u[c].data() + first + i, fastest = std::max(std::abs(v[0]), std::abs(v[layout.stride[c]]));
        rate_here += fastest / layout.h[c];
      }
      most = std::max(most, rate_here);
    }
    row_values[row] = most;
  });
  double advection = *std::max_element(row_values.begin(), row_values.end());
  double diffusion = 0;
  for (const int c : layout.axes) {
    diffusion += 4 * nu / (layout.h[c] * layout.h[c]);
    advection = std::max(advection, speed / layout.h[c]);
    // Walls drag the fluid along before it moves as they do.
    for (const FluidSide& side : layout.sides) advection = std::max(advection, std::abs(side.velocity[c]) / layout.h[c]);
  }
  // Both at once: the region of stability holds the ellipse's half between the two axes.
  const double inverse = std::max(advection / def.cfl, std::hypot(advection / imaginary_axis, diffusion / real_axis));
  return inverse > 0 ? 1 / inverse : infinity;
}

double FluidImplementation::next_substep(double left, double speed, double most) {
  constexpr double most_substeps = 1e6;
  const double longest = std::min(longest_substep(speed), 1 / most), count = std::ceil(left / longest * (1 - 1e-12));
  if (!(count + report.substeps <= most_substeps))
    throw Error("fluid", fmt::format("{} s take {:.3g} substeps of {:.3g} s for the fluid; give a shorter step or larger cells",
                                     left, count, longest));
  ++report.substeps;
  const double tau = left / std::max(1.0, count);
  report.cfl = std::max(report.cfl, def.cfl * tau / longest);
  return tau;
}

double FluidImplementation::largest_divergence() {
  for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int row) {
    double most = 0;
    for (int i = 0; i < length; ++i) {
      double sum = 0;
      for (const int c : layout.axes) {
        const double* v = u[c].data() + first + i;
        sum += (v[layout.stride[c]] - v[0]) / layout.h[c];
      }
      most = std::max(most, std::abs(sum));
    }
    row_values[row] = most;
  });
  return *std::max_element(row_values.begin(), row_values.end());
}

void FluidImplementation::require_finite() {
  double sum = 0;
  for (const int c : layout.axes)
    for (const double v : u[c]) sum += v - v;  // not zero where one is not finite
  if (sum != 0 || std::isnan(sum)) throw Error("fluid", fmt::format("velocities overflowed at {:.6g} s", time));
}

}  // namespace rotule
