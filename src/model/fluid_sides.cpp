#include "model/fluid_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "model/range_check.h"

namespace rotule {
namespace {

constexpr std::array<std::string_view, 6> side_names{"x_low", "x_high", "y_low", "y_high", "z_low", "z_high"};
constexpr std::array<std::string_view, 5> boundary_names{"periodic", "no_slip", "free_slip", "inflow", "outflow"};
constexpr int fewest_cells = 4;
constexpr double most_cells = 1 << 28;

template <std::size_t N>
std::size_t place_in(const std::array<std::string_view, N>& names, const std::string& name, const Place& place) {
  const auto* found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    fail(place, fmt::format("unknown name {}; {}", in_quotes(name),
                            suggestion(name, std::vector<std::string>(names.begin(), names.end()))));
  return static_cast<std::size_t>(found - names.begin());
}

void check_extent(const FluidDef& def, const Place& place) {
  if (def.box.size() != 2)
    fail(place / "box", fmt::format("must be two corners, the lowest and the highest, has {}", def.box.size()));
  int flat = 0;
  double cells = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto k = static_cast<Eigen::Index>(a);
    if (!(def.box[1][k] > def.box[0][k]))
      fail(place / "box", fmt::format("its second corner must be above the first along {}, is at {} and {} m", "xyz"[a],
                                      shortest(def.box[1][k]), shortest(def.box[0][k])));
    cells *= def.grid[a];
    flat += def.grid[a] == 1;
    if (def.grid[a] != 1 && def.grid[a] < fewest_cells)
      fail(place / "grid" / a, fmt::format("must be 1 (flat) or at least {} cells, is {}", fewest_cells, def.grid[a]));
    if (def.grid[a] == 1 && def.velocity[k] != 0)
      fail(place / "velocity" / a, "must be 0: nothing flows along an axis with one cell");
  }
  if (flat > 1) fail(place / "grid", "must have more than one cell along two axes at least");
  if (cells > most_cells) fail(place / "grid", fmt::format("has {:.3g} cells; at most {:.3g} are possible", cells, most_cells));
}

/// A side's velocity may say what the side can do, and no more.
void check_velocity(const FluidDef& def, std::size_t side, const FluidSide& given, const Place& place) {
  const auto axis = static_cast<Eigen::Index>(side / 2);
  const double inward = side % 2 == 0 ? given.velocity[axis] : -given.velocity[axis];
  switch (given.kind) {
    case FluidBoundary::no_slip:
      if (inward != 0) fail(place, "must be along the wall; fluid that comes through is an \"inflow\"");
      break;
    case FluidBoundary::inflow:
      if (!(inward > 0)) fail(place, "must point into the box");
      break;
    default:
      if (!given.velocity.isZero(0))
        fail(place, fmt::format("has no say at a side of kind {}; leave it out", boundary_names[static_cast<int>(given.kind)]));
  }
  for (Eigen::Index a = 0; a < 3; ++a)
    if (is_flat(def, static_cast<int>(a)) && given.velocity[a] != 0)
      fail(place / static_cast<std::size_t>(a), "must be 0: nothing flows along an axis with one cell");
}

}  // namespace

FluidSides validated_sides(const FluidDef& def, const Place& place) {
  visit_fields(def, RangeCheck{place});
  check_extent(def, place);
  FluidSides sides;
  for (int a = 0; a < 3; ++a)
    if (is_flat(def, a))
      sides[static_cast<std::size_t>(2 * a)].kind = sides[static_cast<std::size_t>(2 * a + 1)].kind = FluidBoundary::periodic;
  const Place walls = place / "walls";
  std::array<bool, 6> named{};
  for (std::size_t i = 0; i < def.walls.size(); ++i) {
    const Place here = walls / i;
    const FluidWall& wall = def.walls[i];
    const std::size_t side = place_in(side_names, wall.at, here / "at");
    if (named[side]) fail(here / "at", fmt::format("{} is spoken of already", in_quotes(wall.at)));
    named[side] = true;
    sides[side] = {static_cast<FluidBoundary>(place_in(boundary_names, wall.kind, here / "kind")), wall.velocity};
    if (is_flat(def, static_cast<int>(side / 2)) && sides[side].kind != FluidBoundary::periodic)
      fail(here / "kind", fmt::format("must be periodic: the grid has one cell along {}", "xyz"[side / 2]));
    check_velocity(def, side, sides[side], here / "velocity");
  }
  bool inflow = false, outflow = false;
  for (std::size_t side = 0; side < 6; ++side) {
    inflow |= sides[side].kind == FluidBoundary::inflow;
    outflow |= sides[side].kind == FluidBoundary::outflow;
    if (sides[side].kind == FluidBoundary::periodic && sides[side ^ 1].kind != FluidBoundary::periodic)
      fail(walls, fmt::format("{} is periodic, so {} must be", side_names[side], side_names[side ^ 1]));
  }
  if (inflow && !outflow) fail(walls, "what flows in must flow out: make another side an \"outflow\"");
  return sides;
}

}  // namespace rotule
