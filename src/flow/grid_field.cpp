#include "flow/grid_field.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>

namespace rotule {
namespace {

/// What the value at a place, and its derivative, are made of: up to four neighbours along an axis.
struct AxisWeights {
  std::size_t first = 0, count = 1;
  std::array<double, 4> value{1, 0, 0, 0}, slope{0, 0, 0, 0};
};

/// Hermite's cubic between knots i and i + 1 of `count`, where `at` lies; `knot(i)` says where they are.
template <class Knot>
AxisWeights axis_weights(double at, std::size_t i, std::size_t count, const Knot& knot) {
  AxisWeights out;
  out.first = i > 0 ? i - 1 : 0;
  out.count = std::min(i + 3, count) - out.first;
  out.value[0] = 0;
  const auto width = [&](std::size_t k) { return knot(k + 1) - knot(k); };
  const double h = width(i), s = (at - knot(i)) / h;
  const double whole = s * s * (3 - 2 * s), whole_rate = 6 * s * (1 - s) / h;
  const auto put = [&](std::size_t k, double value, double slope) {
    out.value[k - out.first] += value;
    out.slope[k - out.first] += slope;
  };
  put(i, 1 - whole, -whole_rate);
  put(i + 1, whole, whole_rate);
  // The slope at a knot, times what it weighs: that of the parabola through it and its neighbours, or through the three at an
  // end.
  const auto put_slope = [&](std::size_t k, double value, double slope) {
    const auto put_difference = [&](std::size_t n, double part) {  // of the divided difference behind knot n
      const double share = part / width(n);
      put(n, -share * value, -share * slope);
      put(n + 1, share * value, share * slope);
    };
    if (count == 2) return put_difference(0, 1);
    const std::size_t middle = std::clamp<std::size_t>(k, 1, count - 2);
    const double before = width(middle - 1), after = width(middle), sum = before + after;
    // At the middle one the differences on both sides, the nearer counting more; at an end it goes on beyond the nearer.
    const double of_before = k < middle ? 1 + before / sum : k == middle ? after / sum : -after / sum;
    put_difference(middle - 1, of_before);
    put_difference(middle, 1 - of_before);
  };
  put_slope(i, h * s * (1 - s) * (1 - s), (1 - s) * (1 - 3 * s));
  put_slope(i + 1, h * s * s * (s - 1), s * (3 * s - 2));
  return out;
}

/// Whether the place lies between the first and the last knot, up to rounding.
template <class Knot>
bool find_weights(double at, std::size_t count, const Knot& knot, bool hold, AxisWeights& out) {
  if (count == 1) return true;
  const double low = knot(0), high = knot(count - 1), little = 1e-9 * (high - low);
  const bool inside = at >= low - little && at <= high + little;
  if (!inside && !hold) return false;
  const double there = std::clamp(at, low, high);
  std::size_t i = 0, end = count - 1;
  while (end - i > 1) {
    const std::size_t middle = (i + end) / 2;
    (knot(middle) <= there ? i : end) = middle;
  }
  out = axis_weights(there, i, count, knot);
  if (!inside) out.slope = {};
  return true;
}

}  // namespace

std::array<Vec3, 2> covered_box(const GridFlow& flow) {
  const FlowGrid& grid = *flow.grid;
  std::array<Vec3, 2> out;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto k = static_cast<Eigen::Index>(a);
    const double low = flow.shift[k] + grid.origin[k];
    out[0][k] = grid.points[a] > 1 ? low : -infinity;
    out[1][k] = grid.points[a] > 1 ? low + (grid.points[a] - 1) * grid.spacing[k] : infinity;
  }
  return out;
}

void add_field(const GridFlow& flow, const Vec3& x, double t, FlowAt& out) {
  const FlowGrid& grid = *flow.grid;
  const bool hold = flow.outside == "hold", zero = flow.outside == "zero";
  std::array<AxisWeights, 4> axis;  // x, y, z, time
  for (std::size_t a = 0; a < 3; ++a) {
    if (grid.points[a] == 1) continue;
    const auto k = static_cast<Eigen::Index>(a);
    const double at = (x[k] - flow.shift[k] - grid.origin[k]) / grid.spacing[k];
    if (!find_weights(
            at, static_cast<std::size_t>(grid.points[a]), [](std::size_t i) { return static_cast<double>(i); }, hold, axis[a])) {
      if (zero) return;
      const auto [low, high] = covered_box(flow);
      throw Error(fmt::format("flow \"{}\"", flow.name),
                  fmt::format("does not reach the point ({:.4g}, {:.4g}, {:.4g}) m, where it is asked for at t = {:.6g} s: it "
                              "covers ({:.4g}, {:.4g}, {:.4g}) to ({:.4g}, {:.4g}, {:.4g}) m; give a larger one, or set its "
                              "outside to hold or zero",
                              x.x(), x.y(), x.z(), t, low.x(), low.y(), low.z(), high.x(), high.y(), high.z()));
    }
    for (double& slope : axis[a].slope) slope /= grid.spacing[k];
  }
  if (!find_weights(
          t - flow.start, grid.times.size(), [&](std::size_t i) { return grid.times[i]; }, hold, axis[3])) {
    if (zero) return;
    throw Error(fmt::format("flow \"{}\"", flow.name),
                fmt::format("has no velocities at t = {:.6g} s: its file goes from {:.6g} to {:.6g} s; give more of it, or set "
                            "its outside to hold or zero",
                            t, flow.start + grid.times.front(), flow.start + grid.times.back()));
  }
  const std::array<std::size_t, 3> points{static_cast<std::size_t>(grid.points[0]), static_cast<std::size_t>(grid.points[1]),
                                          static_cast<std::size_t>(grid.points[2])};
  for (std::size_t l = 0; l < axis[3].count; ++l)
    for (std::size_t k = 0; k < axis[2].count; ++k)
      for (std::size_t j = 0; j < axis[1].count; ++j) {
        const std::size_t row = ((axis[3].first + l) * points[2] + axis[2].first + k) * points[1] + axis[1].first + j;
        const Vec3* const line = &grid.velocity[row * points[0] + axis[0].first];
        Vec3 value = Vec3::Zero(), slope = Vec3::Zero();
        for (std::size_t i = 0; i < axis[0].count; ++i) {
          value += axis[0].value[i] * line[i];
          slope += axis[0].slope[i] * line[i];
        }
        const double y = axis[1].value[j], z = axis[2].value[k], w = axis[3].value[l];
        out.u += y * z * w * value;
        out.gradient.col(0) += y * z * w * slope;
        out.gradient.col(1) += axis[1].slope[j] * z * w * value;
        out.gradient.col(2) += y * axis[2].slope[k] * w * value;
        out.rate += y * z * axis[3].slope[l] * value;
      }
}

}  // namespace rotule
