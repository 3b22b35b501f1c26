#include "fluid/books.h"

#include <algorithm>
#include <numeric>

namespace rotule {
namespace {

/// f(index, cell) for all of a range that stand at the place `at` along `axis`.
template <class F>
void for_plane(const GridLayout& layout, FaceRange range, int axis, int at, const F& f) {
  range.begin[axis] = at;
  range.end[axis] = at + 1;
  Cell cell{};
  for (cell[2] = range.begin[2]; cell[2] < range.end[2]; ++cell[2])
    for (cell[1] = range.begin[1]; cell[1] < range.end[1]; ++cell[1])
      for (cell[0] = range.begin[0]; cell[0] < range.end[0]; ++cell[0]) f(layout.at(cell), cell);
}

double total(std::vector<Vec3>& rows, int k) {
  double out = 0;
  for (Vec3& row : rows) out += row[k];
  std::fill(rows.begin(), rows.end(), Vec3::Zero());
  return out;
}

/// The sum of f(i), i from 0 to before `length`, in four parts that a processor adds at once.
template <class F>
double sum_of(int length, const F& f) {
  std::array<double, 4> part{};
  int i = 0;
  for (; i + 4 <= length; i += 4)
    for (int k = 0; k < 4; ++k) part[k] += f(i + k);
  for (; i < length; ++i) part[0] += f(i);
  return part[0] + part[1] + (part[2] + part[3]);
}

}  // namespace

Vec3 arm(const GridLayout& layout, Vec3 place) {
  for (int a = 0; a < 3; ++a)
    if (layout.flat[a]) place[a] = 0;
  return place;
}

Vec3 with_meaning(const GridLayout& layout, Vec3 angular_momentum) {
  for (const int a : layout.axes)
    if (layout.periodic(a))
      for (int k = 0; k < 3; ++k)
        if (k != a) angular_momentum[k] = 0;
  return angular_momentum;
}

SidePassage side_flow(const GridLayout& layout, const Field3& field, const std::vector<double>& p, double nu) {
  SidePassage out;
  for (const int c : layout.axes) {
    const double* u = field[c].data();
    const FaceRange range = layout.faces(c, false);
    for (const int d : layout.axes) {
      if (layout.periodic(d)) continue;
      const double h = layout.h[d];
      const std::ptrdiff_t s = layout.stride[c], t = layout.stride[d];
      for (const bool high : {false, true}) {
        const double inwards = (high ? -1 : 1) / h;
        const auto bring = [&](double flux, const Vec3& place) {
          out.momentum[c] += inwards * flux;
          out.angular_momentum += inwards * flux * arm(layout, place).cross(Vec3(Vec3::Unit(c)));
        };
        const int last = layout.n[d] - 1;
        if (d == c)  // through the middle of a cell
          for_plane(layout, layout.all_cells(), d, high ? last : 0, [&](std::ptrdiff_t i, const Cell& cell) {
            const double mean = 0.5 * (u[i] + u[i + s]), slope = nu * (u[i + s] - u[i]) / h, side = u[high ? i + s : i];
            bring(mean * mean + p[i] - slope, layout.place(cell));
            out.work += inwards * (0.5 * u[i] * u[i + s] * mean - side * slope + p[i] * side);
          });
        else  // through a side: from the face inside of it to the one beyond
          for_plane(layout, range, d, high ? last : 0, [&](std::ptrdiff_t inside, const Cell& cell) {
            const std::ptrdiff_t i = high ? inside + t : inside;
            const double* w = field[d].data() + i;
            const double below = u[i - t], above = u[i], through = 0.5 * (w[0] + w[-s]), slope = nu * (above - below) / h;
            bring(through * 0.5 * (below + above) - slope, layout.place(cell, c));
            out.work += inwards * (0.5 * below * above * through - 0.5 * (below + above) * slope);
            // What is left of the vorticities.
            out.angular_momentum += inwards * nu * u[inside] * Vec3(Vec3::Unit(d)).cross(Vec3(Vec3::Unit(c)));
          });
      }
    }
  }
  return out;
}

SidePassage side_pressure(const GridLayout& layout, const Field3& u, const std::vector<double>& phi) {
  SidePassage out;
  for (const int c : layout.axes) {
    if (layout.periodic(c)) continue;
    for (const bool high : {false, true})
      for_plane(layout, layout.all_cells(), c, high ? layout.n[c] - 1 : 0, [&](std::ptrdiff_t i, const Cell& cell) {
        const double push = (high ? -1 : 1) * phi[i] / layout.h[c];
        out.momentum[c] += push;
        out.angular_momentum += push * arm(layout, layout.place(cell)).cross(Vec3(Vec3::Unit(c)));
        out.work += push * u[c][high ? i + layout.stride[c] : i];
      });
  }
  return out;
}

double squared_slopes(const GridLayout& layout, const Field3& field, int threads, std::vector<Vec3>& rows) {
  double out = 0;
  std::fill(rows.begin(), rows.end(), Vec3::Zero());
  for (const int c : layout.axes) {
    const auto squares_along = [&](const double* u, int d, int length) {
      const std::ptrdiff_t t = layout.stride[d];
      return sum_of(length, [&](int i) { return (u[i + t] - u[i]) * (u[i + t] - u[i]); }) / (layout.h[d] * layout.h[d]);
    };
    // Across the component's own axis: each half from below, half from above.
    for_rows(layout, layout.faces(c, false), threads, [&](std::ptrdiff_t first, int length, int row) {
      const double* u = field[c].data() + first;
      double sum = 0;
      for (const int d : layout.axes)
        if (d != c) sum += 0.5 * (squares_along(u - layout.stride[d], d, length) + squares_along(u, d, length));
      rows[row][0] = sum;
    });
    out += total(rows, 0);
    for_rows(layout, layout.all_cells(), threads, [&](std::ptrdiff_t first, int length, int row) {
      rows[row][0] = squares_along(field[c].data() + first, c, length);
    });
    out += total(rows, 0);
  }
  return out;
}

double gradient_energy(const GridLayout& layout, const std::vector<double>& phi, int threads, std::vector<Vec3>& rows) {
  double out = 0;
  std::fill(rows.begin(), rows.end(), Vec3::Zero());
  for (const int c : layout.axes) {
    for_rows(layout, layout.faces(c, false), threads, [&](std::ptrdiff_t first, int length, int row) {
      const double *q = phi.data() + first, *below = q - layout.stride[c];
      rows[row][0] = sum_of(length, [&](int i) { return (q[i] - below[i]) * (q[i] - below[i]); });
    });
    out += 0.5 * total(rows, 0) / (layout.h[c] * layout.h[c]);
  }
  return out;
}

FluidLedger sums_over_grid(const GridLayout& layout, const Field3& field, double density, double viscosity, int threads,
                           std::vector<Vec3>& rows) {
  FluidLedger out;
  const double mass = density * layout.cell_volume;
  const int along = layout.order[0], inner = layout.order[1], outer = layout.order[2];
  std::fill(rows.begin(), rows.end(), Vec3::Zero());
  for (const int c : layout.axes) {
    const FaceRange range = layout.faces(c, false);
    const int count = range.end[inner] - range.begin[inner];
    for_rows(layout, range, threads, [&](std::ptrdiff_t first, int length, int row) {
      const double* u = field[c].data() + first;
      rows[row] = Vec3(sum_of(length, [&](int i) { return u[i]; }), sum_of(length, [&](int i) { return u[i] * i; }),
                       sum_of(length, [&](int i) { return u[i] * u[i]; }));
    });
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
      Cell cell = range.begin;
      cell[inner] += row % count;
      cell[outer] += row / count;
      const Vec3 begin = arm(layout, layout.place(cell, c)), step = layout.h[along] * Vec3::Unit(along);
      out.angular_momentum += mass * (rows[row][0] * begin + rows[row][1] * step).cross(Vec3(Vec3::Unit(c)));
      out.momentum[c] += mass * rows[row][0];
      out.kinetic_energy += 0.5 * mass * rows[row][2];
    }
    std::fill(rows.begin(), rows.end(), Vec3::Zero());
  }
  out.angular_momentum = with_meaning(layout, out.angular_momentum);
  out.dissipation = viscosity * layout.cell_volume * squared_slopes(layout, field, threads, rows);
  return out;
}

}  // namespace rotule
