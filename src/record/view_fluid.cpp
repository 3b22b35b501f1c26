#include "record/view_fluid.h"

#include <rotule/fluid_grid.h>

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

constexpr int most_cells = 256;  // along an axis
constexpr double last_number = 127;

/// 1, 2 or 5 times a power of ten, the least that is not below x.
double round_up(double x) {
  const double power = std::pow(10, std::floor(std::log10(x))), digit = x / power;
  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

float fitted(double before, double largest) {
  constexpr double too_small = 0.3;
  if (!(largest > 0) || !std::isfinite(largest)) return static_cast<float>(before);
  return static_cast<float>(largest > before || largest < too_small * before ? round_up(largest) : before);
}

/// What so large a share of the values stays below in size.
double size_of(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  for (double& x : values) x = std::abs(x);
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

std::int32_t whole(double x, float scale) {
  return scale > 0 && std::isfinite(x)
             ? static_cast<std::int32_t>(std::lround(std::clamp(last_number * x / scale, -last_number, last_number)))
             : 0;
}

}  // namespace

ViewFluid view_of(const FluidSlice& slice, const std::array<float, 3>& scale) {
  const int block = (std::max(slice.columns, slice.rows) + most_cells - 1) / most_cells;
  const int columns = slice.columns / block, rows = slice.rows / block;
  const auto a = static_cast<std::size_t>(slice.axes[0]), b = static_cast<std::size_t>(slice.axes[1]);
  const auto count = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
  std::array<std::vector<double>, 4> means;
  for (std::vector<double>& mean : means) mean.reserve(count);
  const double share = 1.0 / (block * block);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      std::array<double, 4> sum{};
      for (int i = row * block; i < (row + 1) * block; ++i)
        for (int j = column * block; j < (column + 1) * block; ++j) {
          const auto cell = static_cast<std::size_t>(i) * static_cast<std::size_t>(slice.columns) + static_cast<std::size_t>(j);
          sum[0] += slice.velocity[cell][slice.axes[0]];
          sum[1] += slice.velocity[cell][slice.axes[1]];
          sum[2] += slice.vorticity[cell];
          sum[3] += slice.pressure[cell];
        }
      for (std::size_t k = 0; k < 4; ++k) means[k].push_back(share * sum[k]);
    }
  ViewFluid out;
  out.columns = static_cast<std::uint16_t>(columns);
  out.rows = static_cast<std::uint16_t>(rows);
  out.axes = {static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)};
  Eigen::Vector3d origin = slice.origin;
  for (std::size_t k = 0; k < 2; ++k) {
    origin[slice.axes[k]] += 0.5 * (block - 1) * slice.spacing[k];
    out.spacing[k] = static_cast<float>(block * slice.spacing[k]);
  }
  for (int k = 0; k < 3; ++k) out.origin[static_cast<std::size_t>(k)] = static_cast<float>(origin[k]);
  constexpr double most = 0.99;
  out.scale = {fitted(scale[0], std::max(size_of(means[0], 1), size_of(means[1], 1))), fitted(scale[1], size_of(means[2], most)),
               fitted(scale[2], size_of(means[3], most))};
  out.cells.reserve(4 * count);
  for (std::size_t cell = 0; cell < count; ++cell)
    for (std::size_t k = 0; k < 4; ++k) out.cells.push_back(whole(means[k][cell], out.scale[k < 2 ? 0 : k - 1]));
  return out;
}

}  // namespace rotule
