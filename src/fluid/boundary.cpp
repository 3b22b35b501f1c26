#include "fluid/boundary.h"

#include <algorithm>

namespace rotule {
namespace {

/// f(index of cell 0 of the line along `axis`) for all lines, through ghosts of the other axes too.
template <class F>
void for_lines(const GridLayout& layout, int axis, bool ghosts, const F& f) {
  const int a = layout.order[0] == axis ? layout.order[1] : layout.order[0];
  const int b = 3 - axis - a;
  const auto first = [&](int k) { return ghosts && !layout.flat[k] ? -1 : 0; };
  const auto last = [&](int k) { return layout.n[k] - (ghosts && !layout.flat[k] ? 0 : 1); };
  Cell cell{};
  for (cell[b] = first(b); cell[b] <= last(b); ++cell[b])
    for (cell[a] = first(a); cell[a] <= last(a); ++cell[a]) f(layout.at(cell));
}

bool sticks(FluidBoundary kind) { return kind == FluidBoundary::no_slip || kind == FluidBoundary::inflow; }

}  // namespace

void fill_velocity(const GridLayout& layout, Field3& u) {
  for (const int axis : layout.axes) {
    const std::ptrdiff_t s = layout.stride[axis], n = layout.n[axis];
    for (const int c : layout.axes) {
      double* v = u[c].data();
      if (layout.periodic(axis)) {
        for_lines(layout, axis, true, [&](std::ptrdiff_t i) {
          v[i - s] = v[i + (n - 1) * s];
          v[i + n * s] = v[i];
        });
        continue;
      }
      for (const bool high : {false, true}) {
        const FluidSide& side = layout.sides[static_cast<std::size_t>(2 * axis + high)];
        const double given = side.velocity[c];
        if (c == axis) {
          if (side.kind == FluidBoundary::outflow) continue;
          const std::ptrdiff_t wall = high ? n * s : 0;
          for_lines(layout, axis, true, [&](std::ptrdiff_t i) { v[i + wall] = given; });
        } else {
          const std::ptrdiff_t ghost = high ? n * s : -s, cell = high ? (n - 1) * s : 0;
          if (sticks(side.kind))
            for_lines(layout, axis, true, [&](std::ptrdiff_t i) { v[i + ghost] = 2 * given - v[i + cell]; });
          else
            for_lines(layout, axis, true, [&](std::ptrdiff_t i) { v[i + ghost] = v[i + cell]; });
        }
      }
    }
  }
}

void fill_pressure(const GridLayout& layout, std::vector<double>& p) {
  for (const int axis : layout.axes) {
    const std::ptrdiff_t s = layout.stride[axis], n = layout.n[axis];
    const bool periodic = layout.periodic(axis);
    const double low = layout.kind(axis, false) == FluidBoundary::outflow ? -1 : 1;
    const double high = layout.kind(axis, true) == FluidBoundary::outflow ? -1 : 1;
    for_lines(layout, axis, false, [&](std::ptrdiff_t i) {
      p[i - s] = periodic ? p[i + (n - 1) * s] : low * p[i];
      p[i + n * s] = periodic ? p[i] : high * p[i + (n - 1) * s];
    });
  }
}

void outflow_rates(const GridLayout& layout, const Field3& u, Field3& rate) {
  for (const int axis : layout.axes)
    for (const bool high : {false, true}) {
      if (layout.kind(axis, high) != FluidBoundary::outflow) continue;
      const std::ptrdiff_t s = layout.stride[axis];
      const std::ptrdiff_t face = high ? layout.n[axis] * s : 0, inner = high ? face - s : s;
      const std::vector<double>& v = u[axis];
      double mean = 0;
      int count = 0;
      for_lines(layout, axis, false, [&](std::ptrdiff_t i) {
        mean += high ? v[i + face] : -v[i + face];
        ++count;
      });
      const double speed = std::max(0.0, mean / count) / layout.h[axis];
      for_lines(layout, axis, false, [&](std::ptrdiff_t i) { rate[axis][i + face] = -speed * (v[i + face] - v[i + inner]); });
    }
}

}  // namespace rotule
