// What is asked of a fluid: values between faces, planes, sums.
#include <rotule/error.h>
#include <rotule/fluid_grid.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fluid/fluid_implementation.h"

namespace rotule {
namespace {

/// Linear between the eight places around x; `component` is the one whose faces the field stands on, -1 for cells.
double interpolated(const GridLayout& layout, const std::vector<double>& field, int component, const Vec3& x) {
  Cell base{};
  Vec3 part = Vec3::Zero();
  for (const int a : layout.axes) {
    double at = (x[a] - layout.lower[a]) / layout.h[a] - (a == component ? 0.0 : 0.5);
    const double n = layout.n[a];
    if (layout.periodic(a)) at -= n * std::floor(at / n);
    at = std::clamp(at, a == component ? 0.0 : -0.5, a == component ? n : n - 0.5);
    base[a] = std::clamp(static_cast<int>(std::floor(at)), -1, layout.n[a] - 1);
    part[a] = at - base[a];
  }
  double sum = 0;
  for (int corner = 0; corner < 8; ++corner) {
    Cell cell = base;
    double weight = 1;
    for (int a = 0; a < 3; ++a) {
      const bool up = (corner >> a & 1) != 0;
      if (layout.flat[a] && up) weight = 0;
      if (layout.flat[a]) continue;
      cell[a] += up;
      weight *= up ? part[a] : 1 - part[a];
    }
    if (weight != 0) sum += weight * field[layout.at(cell)];
  }
  return sum;
}

}  // namespace

Vec3 FluidGrid::velocity(const Vec3& x) const {
  const FluidImplementation& f = *implementation_;
  Vec3 out = Vec3::Zero();
  for (const int c : f.layout.axes) out[c] = interpolated(f.layout, f.u[c], c, x);
  return out;
}

double FluidGrid::pressure(const Vec3& x) const {
  const FluidImplementation& f = *implementation_;
  return f.def.density * interpolated(f.layout, f.p, -1, x);
}

FluidSlice FluidGrid::slice(int axis, double at) const {
  const FluidImplementation& f = *implementation_;
  const GridLayout& layout = f.layout;
  if (axis < 0 || axis > 2) throw Error("slice", fmt::format("the axis must be 0, 1 or 2, is {}", axis));
  for (int a = 0; a < 3; ++a)
    if (layout.flat[a] && a != axis) throw Error("slice", fmt::format("must be across {}, the grid's flat axis", "xyz"[a]));
  const double place = (at - layout.lower[axis]) / layout.h[axis];
  if (!layout.flat[axis] && !(place >= 0 && place <= layout.n[axis]))
    throw Error("slice", fmt::format("{} = {} m is outside of the fluid's box", "xyz"[axis], at));
  FluidSlice out;
  out.axes = {axis == 0 ? 1 : 0, axis == 2 ? 1 : 2};
  const int a = out.axes[0], b = out.axes[1];
  out.columns = layout.n[a];
  out.rows = layout.n[b];
  out.spacing = {layout.h[a], layout.h[b]};
  Cell cell{};
  cell[axis] = layout.flat[axis] ? 0 : std::min(static_cast<int>(place), layout.n[axis] - 1);
  out.origin = layout.place(cell);
  const std::ptrdiff_t sa = layout.stride[a], sb = layout.stride[b];
  const double* ua = f.u[a].data();
  const double* ub = f.u[b].data();
  // Across the plane by the right hand: y points away from the reader where columns are x and rows are z.
  const double sign = axis == 1 ? -1 : 1;
  for (cell[b] = 0; cell[b] < out.rows; ++cell[b])
    for (cell[a] = 0; cell[a] < out.columns; ++cell[a]) {
      const std::ptrdiff_t i = layout.at(cell);
      Vec3 middle = Vec3::Zero();
      for (const int c : layout.axes) middle[c] = 0.5 * (f.u[c][i] + f.u[c][i + layout.stride[c]]);
      out.velocity.push_back(middle);
      out.pressure.push_back(f.def.density * f.p[i]);
      const double b_along_a = (ub[i + sa] + ub[i + sa + sb] - ub[i - sa] - ub[i - sa + sb]) / (4 * layout.h[a]);
      const double a_along_b = (ua[i + sb] + ua[i + sb + sa] - ua[i - sb] - ua[i - sb + sa]) / (4 * layout.h[b]);
      out.vorticity.push_back(sign * (b_along_a - a_along_b));
    }
  return out;
}

}  // namespace rotule
