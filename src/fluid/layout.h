#pragma once
// Where the numbers of a grid stand in memory. Fields have one layer of ghost cells around them, except along a flat axis, whose
// stride is zero: neighbours along it are the cell itself, and all differences vanish. Component c of the velocity at index i is
// on the face between cells i - 1 and i along c; at a wall the faces 0 and n are the wall.
#include <rotule/fluid.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "base/parallel.h"
#include "model/fluid_sides.h"

namespace rotule {

using Field3 = std::array<std::vector<double>, 3>;
/// Cell or face numbers by axis.
using Cell = std::array<int, 3>;

/// Faces of one component that the equations move, by axis: from `begin` to before `end`.
struct FaceRange {
  Cell begin, end;
};

struct GridLayout {
  FluidSides sides;
  Cell n{};  // cells
  std::array<bool, 3> flat{};
  Vec3 lower = Vec3::Zero(), h = Vec3::Zero();
  std::array<std::ptrdiff_t, 3> stride{};
  std::array<int, 3> order{};  // axes, fastest in memory first; a flat one last
  std::size_t size = 0;        // of a field, ghosts included
  std::ptrdiff_t origin = 0;   // of cell 0, 0, 0
  std::vector<int> axes;       // that are not flat
  double cell_volume = 0;

  GridLayout(const FluidDef& def, const FluidSides& s) : sides(s), n(def.grid), lower(def.box[0]) {
    int count = 0;
    for (int a = 0; a < 3; ++a)
      if (!(flat[a] = is_flat(def, a))) {
        order[count++] = a;
        axes.push_back(a);
      }
    for (int a = 0; a < 3; ++a)
      if (flat[a]) order[count++] = a;
    std::ptrdiff_t next = 1;
    for (const int a : order) {
      h[a] = (def.box[1][a] - def.box[0][a]) / n[a];
      stride[a] = flat[a] ? 0 : next;
      if (flat[a]) continue;
      origin += next;
      next *= n[a] + 2;
    }
    size = static_cast<std::size_t>(next);
    cell_volume = h.prod();
  }

  [[nodiscard]] std::ptrdiff_t at(const Cell& cell) const {
    return origin + cell[0] * stride[0] + cell[1] * stride[1] + cell[2] * stride[2];
  }
  [[nodiscard]] std::size_t cells() const {
    return static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) * static_cast<std::size_t>(n[2]);
  }
  [[nodiscard]] FluidBoundary kind(int axis, bool high) const {
    return sides[2 * static_cast<std::size_t>(axis) + (high ? 1 : 0)].kind;
  }
  [[nodiscard]] bool periodic(int axis) const { return kind(axis, false) == FluidBoundary::periodic; }
  [[nodiscard]] FaceRange all_cells() const { return {{0, 0, 0}, n}; }
  /// Faces inside of the box; with those on sides through which the fluid leaves, where `open`.
  [[nodiscard]] FaceRange faces(int component, bool open) const {
    FaceRange range = all_cells();
    if (periodic(component)) return range;
    range.begin[component] = open && kind(component, false) == FluidBoundary::outflow ? 0 : 1;
    range.end[component] = n[component] + (open && kind(component, true) == FluidBoundary::outflow ? 1 : 0);
    return range;
  }
  /// The middle of a cell, or of its lower face across `component`.
  [[nodiscard]] Vec3 place(const Cell& cell, int component = -1) const {
    Vec3 x;
    for (int a = 0; a < 3; ++a) x[a] = lower[a] + (cell[a] + (a == component ? 0.0 : 0.5)) * h[a];
    return x;
  }
};

/// f(start of the row, its length, its number) for all rows of a range along the fastest axis, several rows to a task.
template <class F>
void for_rows(const GridLayout& layout, const FaceRange& range, int threads, const F& f) {
  constexpr int numbers_per_task = 8192;
  const int a0 = layout.order[0], a1 = layout.order[1], a2 = layout.order[2];
  const int length = range.end[a0] - range.begin[a0], inner = range.end[a1] - range.begin[a1];
  const int rows = inner * (range.end[a2] - range.begin[a2]);
  const int rows_per_task = std::max(1, numbers_per_task / std::max(1, length));
  parallel_for((rows + rows_per_task - 1) / rows_per_task, threads, [&](int task) {
    Cell cell = range.begin;
    for (int row = task * rows_per_task; row < std::min(rows, (task + 1) * rows_per_task); ++row) {
      cell[a1] = range.begin[a1] + row % inner;
      cell[a2] = range.begin[a2] + row / inner;
      f(layout.at(cell), length, row);
    }
  });
}

}  // namespace rotule
