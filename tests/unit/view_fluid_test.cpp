// A plane of a fluid in the viewer's stream: what is sent comes out, colours keep their scale, large planes become coarser.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>

#include <cmath>

#include "record/view_stream.h"

namespace rotule {
namespace {

FluidSlice waves(int columns, int rows, double time) {
  FluidSlice out;
  out.columns = columns;
  out.rows = rows;
  out.origin = {-1, 0.5, 2};
  out.spacing = {0.1, 0.2};
  for (int j = 0; j < rows; ++j)
    for (int i = 0; i < columns; ++i) {
      const double a = 0.05 * i - time, b = 0.07 * j;
      out.velocity.emplace_back(3 * std::sin(a), 7, std::cos(b));
      out.vorticity.push_back(20 * std::sin(a + b));
      out.pressure.push_back(-300 * std::cos(a));
    }
  return out;
}

TEST(ViewFluid, NumbersMeanWhatTheSliceHeldToHalfAStep) {
  const FluidSlice slice = waves(40, 30, 0.3);
  const ViewFluid view = view_of(slice, {});
  ASSERT_EQ(view.columns, 40);
  ASSERT_EQ(view.rows, 30);
  EXPECT_EQ(view.scale, (std::array<float, 3>{5, 20, 500}));  // round numbers, the least that hold all
  for (std::size_t k = 0; k < slice.velocity.size(); ++k) {
    EXPECT_NEAR(view.cells[4 * k] * 5 / 127.0, slice.velocity[k].x(), 0.5001 * 5 / 127);
    EXPECT_NEAR(view.cells[4 * k + 1] * 5 / 127.0, slice.velocity[k].z(), 0.5001 * 5 / 127);
    EXPECT_NEAR(view.cells[4 * k + 2] * 20 / 127.0, slice.vorticity[k], 0.5001 * 20 / 127);
    EXPECT_NEAR(view.cells[4 * k + 3] * 500 / 127.0, slice.pressure[k], 0.5001 * 500 / 127);
  }
}

TEST(ViewFluid, ScalesStayUntilValuesHaveLeftThem) {
  const ViewFluid view = view_of(waves(40, 30, 0.3), {9, 25, 2000});
  EXPECT_EQ(view.scale[0], 9);
  EXPECT_EQ(view.scale[1], 25);
  EXPECT_EQ(view.scale[2], 500);  // 300 of 2000 would hardly be seen
}

TEST(ViewFluid, LargePlanesAreDrawnByMeansOverBlocks) {
  FluidSlice slice = waves(600, 20, 0);
  const ViewFluid view = view_of(slice, {});
  EXPECT_EQ(view.columns, 200);
  EXPECT_EQ(view.rows, 6);
  EXPECT_FLOAT_EQ(view.spacing[0], 0.3F);
  EXPECT_FLOAT_EQ(view.origin[0], -0.9F);
  double mean = 0;
  for (std::size_t j = 0; j < 3; ++j)
    for (std::size_t i = 3; i < 6; ++i) mean += slice.vorticity[600 * j + i] / 9;
  EXPECT_NEAR(view.cells[4 * 1 + 2] * static_cast<double>(view.scale[1]) / 127, mean,
              0.5001 * static_cast<double>(view.scale[1]) / 127);
}

TEST(ViewFluid, StreamedPlanesComeOutAsTheyWere) {
  ViewEncoder encoder;
  ViewDecoder decoder;
  ViewFrame sent, got;
  sent.parts = view_fluid;
  std::size_t first = 0, last = 0;
  std::array<float, 3> scale{};
  for (int frame = 0; frame < 8; ++frame) {
    // Another plane in between, and one that nobody wants to see.
    sent.fluid = view_of(waves(frame == 5 ? 30 : 120, 90, 0.01 * frame), scale);
    scale = sent.fluid.scale;
    const auto bytes = encoder.encode(sent, frame == 3 ? 0u : unsigned{view_fluid});
    (frame == 0 ? first : last) = bytes.size();
    decoder.decode(bytes, got);
    EXPECT_EQ(got.parts, frame == 3 ? 0u : unsigned{view_fluid});
    if (frame != 3) {
      EXPECT_EQ(got.fluid, sent.fluid) << frame;
    }
  }
  EXPECT_LT(first, 9u * 120 * 90);
  EXPECT_LT(2 * last, first);  // flows change little from picture to picture
}

TEST(ViewFluid, DamagedPlanesAreRefused) {
  ViewFrame sent, got;
  sent.parts = view_fluid;
  sent.fluid = view_of(waves(12, 9, 0), {});
  ViewEncoder encoder;
  const auto bytes = encoder.encode(sent, view_fluid);
  std::vector<std::uint8_t> damaged(bytes.begin(), bytes.end());
  // After the header and the two sections of bodies and particles: id and length, then kind, axes, columns.
  damaged[20 + 5 + 5 + 5 + 4] = 13;
  EXPECT_THROW(ViewDecoder().decode(damaged, got), Error);
}

}  // namespace
}  // namespace rotule
