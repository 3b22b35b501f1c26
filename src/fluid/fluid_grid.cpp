#include <rotule/error.h>
#include <rotule/fluid_grid.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fluid/boundary.h"
#include "fluid/fluid_implementation.h"

namespace rotule {

FluidGrid::FluidGrid(const FluidDef& def, int threads) : implementation_(std::make_unique<FluidImplementation>(def, threads)) {}
FluidGrid::FluidGrid(FluidGrid&&) noexcept = default;
FluidGrid& FluidGrid::operator=(FluidGrid&&) noexcept = default;
FluidGrid::~FluidGrid() = default;

const FluidDef& FluidGrid::def() const { return implementation_->def; }
Vec3 FluidGrid::spacing() const { return implementation_->layout.h; }
double FluidGrid::time() const { return implementation_->time; }
const FluidReport& FluidGrid::report() const { return implementation_->report; }
std::int64_t FluidGrid::cells() const { return static_cast<std::int64_t>(implementation_->layout.cells()); }

void FluidGrid::set_velocity(const std::function<Vec3(const Vec3&)>& field) {
  FluidImplementation& f = *implementation_;
  const GridLayout& layout = f.layout;
  for (const int c : layout.axes) {
    const FaceRange range = layout.faces(c, true);
    Cell cell{};
    for (cell[2] = range.begin[2]; cell[2] < range.end[2]; ++cell[2])
      for (cell[1] = range.begin[1]; cell[1] < range.end[1]; ++cell[1])
        for (cell[0] = range.begin[0]; cell[0] < range.end[0]; ++cell[0])
          f.u[c][layout.at(cell)] = field(layout.place(cell, c))[c];
  }
  f.project(0);
  std::fill(f.p.begin(), f.p.end(), 0.0);
  if (f.books.opened > 0) f.open_books(Vec3::Zero(), Vec3::Zero(), 0);
}

const FluidReport& FluidGrid::step(double h) {
  if (!(h > 0) || !std::isfinite(h)) throw Error("step", fmt::format("must be a positive number of seconds, is {}", h));
  FluidImplementation& f = *implementation_;
  f.report = {};
  for (double left = h; left > 0;) {
    const double tau = f.next_substep(left, 0);
    f.begin_substep(tau);
    f.end_substep(nullptr, {});
    f.keep_pressure(tau);
    left = tau < left ? left - tau : 0;
  }
  f.require_finite();
  f.report.divergence = f.largest_divergence();
  return f.report;
}

FluidLedger FluidGrid::ledger() const { return implementation_->sums(); }

void FluidGrid::keep_books(bool keep) {
  if (!keep)
    implementation_->books = {};
  else if (implementation_->books.opened == 0)
    implementation_->open_books(Vec3::Zero(), Vec3::Zero(), 0);
}

FluidBalance FluidGrid::balance() const { return implementation_->balance(); }

double FluidGrid::bytes_per_cell() const {
  const FluidImplementation& f = *implementation_;
  const auto fields = static_cast<double>((f.keep_halfway ? 4 : 3) * f.layout.axes.size() + 3);
  const double numbers = fields * static_cast<double>(f.layout.size) + static_cast<double>(f.right.size());
  return (numbers * sizeof(double) + static_cast<double>(f.poisson.bytes())) / static_cast<double>(f.layout.cells());
}

}  // namespace rotule
