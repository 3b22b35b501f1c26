#pragma once
// A plane of a fluid for the viewer's stream: four whole numbers from -127 to 127 for each cell, velocity along the plane's
// columns and rows, vorticity and pressure. Planes of more than 256 cells along an axis are drawn coarser, by means over blocks.
#include <array>
#include <cstdint>
#include <vector>

namespace rotule {

struct FluidSlice;

struct ViewFluid {
  std::uint16_t columns = 0, rows = 0;
  std::array<std::uint8_t, 2> axes{0, 2};  // that columns and rows run along
  std::array<float, 3> origin{};           // m, middle of the first cell
  std::array<float, 2> spacing{};          // m
  std::array<float, 3> scale{};            // what 127 means: m/s, 1/s, Pa
  std::vector<std::int32_t> cells;         // 4 each, row after row from the lowest upwards

  friend bool operator==(const ViewFluid&, const ViewFluid&) = default;
};

/// `scale` as of the plane before, so that colours stay what they were until values have left them: speeds are all within it, of
/// vorticity and pressure 99 of 100 cells; the others have the last number.
ViewFluid view_of(const FluidSlice& slice, const std::array<float, 3>& scale);

}  // namespace rotule
