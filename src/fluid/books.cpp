#include "fluid/books.h"

#include <numeric>

namespace rotule {
namespace {

/// f(index) for all of a range that stand at the place `at` along `axis`.
template <class F>
void for_plane(const GridLayout& layout, FaceRange range, int axis, int at, const F& f) {
  range.begin[axis] = at;
  range.end[axis] = at + 1;
  Cell cell{};
  for (cell[2] = range.begin[2]; cell[2] < range.end[2]; ++cell[2])
    for (cell[1] = range.begin[1]; cell[1] < range.end[1]; ++cell[1])
      for (cell[0] = range.begin[0]; cell[0] < range.end[0]; ++cell[0]) f(layout.at(cell));
}

}  // namespace

SideFlow side_flow(const GridLayout& layout, const Field3& field, const std::vector<double>& p, double nu) {
  SideFlow out;
  for (const int c : layout.axes) {
    const double* u = field[c].data();
    const FaceRange range = layout.faces(c, false);
    double momentum = 0;
    for (const int d : layout.axes) {
      if (layout.periodic(d)) continue;
      const double h = layout.h[d];
      const std::ptrdiff_t s = layout.stride[c], t = layout.stride[d];
      for (const bool high : {false, true}) {
        const double inwards = (high ? -1 : 1) / h;
        if (d == c)  // through the middle of a cell
          for_plane(layout, layout.all_cells(), d, high ? layout.n[d] - 1 : 0, [&](std::ptrdiff_t i) {
            const double mean = 0.5 * (u[i] + u[i + s]), slope = nu * (u[i + s] - u[i]) / h, side = u[high ? i + s : i];
            momentum += inwards * (mean * mean + p[i] - slope);
            out.power += inwards * (0.5 * u[i] * u[i + s] * mean - side * slope);
            out.pressure_power += inwards * p[i] * side;
          });
        else  // through a side: `i` is the first index beyond it, or the first inside
          for_plane(layout, range, d, high ? layout.n[d] : 0, [&](std::ptrdiff_t i) {
            const double* w = field[d].data() + i;
            const double below = u[i - t], above = u[i], through = 0.5 * (w[0] + w[-s]), slope = nu * (above - below) / h;
            momentum += inwards * (through * 0.5 * (below + above) - slope);
            out.power += inwards * (0.5 * below * above * through - 0.5 * (below + above) * slope);
          });
      }
    }
    out.momentum[c] = momentum;
  }
  return out;
}

Vec3 side_pressure(const GridLayout& layout, const std::vector<double>& phi) {
  Vec3 out = Vec3::Zero();
  for (const int c : layout.axes) {
    if (layout.periodic(c)) continue;
    double sum = 0;
    for_plane(layout, layout.all_cells(), c, 0, [&](std::ptrdiff_t i) { sum += phi[i]; });
    for_plane(layout, layout.all_cells(), c, layout.n[c] - 1, [&](std::ptrdiff_t i) { sum -= phi[i]; });
    out[c] = sum / layout.h[c];
  }
  return out;
}

FluidLedger sums_over_grid(const GridLayout& layout, const Field3& field, double density, double viscosity, int threads,
                           std::vector<Vec3>& rows) {
  FluidLedger out;
  Vec3 all = Vec3::Zero();  // of u, u^2 and the squares of its slopes, for all components
  const auto add_rows = [&] {
    all = std::accumulate(rows.begin(), rows.end(), all);
    std::fill(rows.begin(), rows.end(), Vec3::Zero());
  };
  const double mass = density * layout.cell_volume;
  std::fill(rows.begin(), rows.end(), Vec3::Zero());
  for (const int c : layout.axes) {
    all[0] = 0;
    for_rows(layout, layout.faces(c, false), threads, [&](std::ptrdiff_t first, int length, int row) {
      const double* u = field[c].data() + first;
      Vec3 sum = Vec3::Zero();
      for (int i = 0; i < length; ++i) {
        sum[0] += u[i];
        sum[1] += u[i] * u[i];
      }
      // Slopes across the component's own axis: each half from below, half from above.
      for (const int d : layout.axes) {
        if (d == c) continue;
        const std::ptrdiff_t t = layout.stride[d];
        double squares = 0;
        for (int i = 0; i < length; ++i) {
          const double below = u[i] - u[i - t], above = u[i + t] - u[i];
          squares += below * below + above * above;
        }
        sum[2] += 0.5 * squares / (layout.h[d] * layout.h[d]);
      }
      rows[row] = sum;
    });
    add_rows();
    for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int row) {
      const double* u = field[c].data() + first;
      const std::ptrdiff_t s = layout.stride[c];
      double squares = 0;
      for (int i = 0; i < length; ++i) squares += (u[i + s] - u[i]) * (u[i + s] - u[i]);
      rows[row] = Vec3(0, 0, squares / (layout.h[c] * layout.h[c]));
    });
    add_rows();
    out.momentum[c] = mass * all[0];
  }
  out.kinetic_energy = 0.5 * mass * all[1];
  out.dissipation = viscosity * layout.cell_volume * all[2];
  return out;
}

}  // namespace rotule
