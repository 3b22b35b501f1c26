// Fluids in files: scenes that read back, planes of a recording, pictures that other programs can read.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/fluid_grid.h>
#include <rotule/scene.h>

#include <cmath>
#include <cstdint>
#include <filesystem>

#include "record/colour_picture.h"
#include "record/fluid_slices.h"
#include "record/trajectory.h"
#include "support/files.h"

namespace rotule {
namespace {

using testing::Folder;

TEST(FluidScene, ReadsBackAsItWasWritten) {
  const std::string text = R"({"rotule": 1,
    "bodies": [{"name": "ball", "density": 500, "shape": {"sphere": {"radius": 0.1}}}],
    "fluid": {"grid": [16, 12, 8], "box": [[0, 0, 0], [1.6, 1.2, 0.8]], "viscosity": 0.5, "velocity": [1, 0, 0],
              "walls": [{"at": "x_low", "kind": "inflow", "velocity": [1, 0, 0]}, {"at": "x_high", "kind": "outflow"}],
              "obstacles": ["ball"], "cfl": 0.7, "forcing_rounds": 3}})";
  const Scene scene = parse_scene(text);
  ASSERT_TRUE(scene.fluid.has_value());
  EXPECT_EQ(scene.fluid->grid, (std::array<int, 3>{16, 12, 8}));
  EXPECT_EQ(scene.fluid->walls[1].kind, "outflow");
  EXPECT_EQ(scene.fluid->density, 1000);
  const Scene again = parse_scene(to_json(scene));
  EXPECT_EQ(to_json(again), to_json(scene));
  EXPECT_EQ(again.fluid->box[1], Vec3(1.6, 1.2, 0.8));
  EXPECT_EQ(again.fluid->forcing_rounds, 3);
}

std::string refusal(const std::string& fluid) {
  try {
    static_cast<void>(parse_scene(R"({"rotule": 1, "fluid": )" + fluid + "}"));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(FluidScene, MistakesAreNamedByTheirPlace) {
  EXPECT_NE(refusal(R"({"grid": [8, 1, 8]})").find("missing key \"box\""), std::string::npos);
  EXPECT_NE(refusal(R"({"grid": [8, 1], "box": [[0, 0, 0], [1, 1, 1]]})").find("/fluid/grid"), std::string::npos);
  EXPECT_NE(refusal(R"({"grid": [8, 1, 8], "box": [[0, 0, 0], [1, 1, 1]], "walls": [{"at": "x_low", "kind": "open"}]})")
                .find("/fluid/walls/0/kind"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"grid": [8, 1, 8], "box": [[0, 0, 0], [1, 1, 1]], "obstacles": ["nobody"]})").find("/fluid/obstacles/0"),
            std::string::npos);
}

FluidGrid swirl() {
  FluidGrid fluid({.grid = {12, 1, 8}, .box = {Vec3(-1, 0, 2), Vec3(2, 1, 4)}});
  fluid.set_velocity([](const Vec3& x) { return Vec3(std::sin(x.z()), 0, std::cos(2 * x.x())); });
  return fluid;
}

TEST(FluidRecording, PlanesReadBackToTheSameBits) {
  const Folder folder("fluid_planes");
  const std::string path = folder.path / "run.h5";
  FluidGrid fluid = swirl();
  std::vector<FluidSlice> slices;
  {
    TrajectoryWriter writer(path, "{\"rotule\": 1}", Recipe{}, {}, {});
    for (int i = 0; i < 3; ++i) {
      slices.push_back(fluid.slice(1, 0.5));
      writer.append(fluid.time(), slices.back());
      fluid.step(0.25);
    }
    writer.finish();
  }
  const FluidSliceReader reader(path);
  ASSERT_EQ(reader.times().size(), 3u);
  EXPECT_EQ(reader.nearest(0.3), 1u);
  EXPECT_EQ(reader.across(), 1);
  for (std::size_t i = 0; i < 3; ++i) {
    const FluidSlice back = reader.slice(i);
    EXPECT_EQ(back.velocity, slices[i].velocity);
    EXPECT_EQ(back.pressure, slices[i].pressure);
    EXPECT_EQ(back.vorticity, slices[i].vorticity);
    EXPECT_EQ(back.origin, slices[i].origin);
  }
  const std::string without = folder.path / "without.h5";
  TrajectoryWriter(without, "{\"rotule\": 1}", Recipe{}, {}, {}).finish();
  EXPECT_THROW(FluidSliceReader{without}, Error);
}

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t k = 0; k < 4; ++k) out = out << 8 | static_cast<std::uint8_t>(bytes[at + k]);
  return out;
}

TEST(FluidPicture, IsASoundPng) {
  const FluidSlice slice = swirl().slice(1, 0.5);
  const ColourPicture picture = picture_of(slice, "vorticity");
  EXPECT_EQ(picture.from, -picture.to);
  const std::string png = to_png(picture, 100);
  ASSERT_EQ(png.substr(0, 8), std::string("\x89PNG\r\n\x1a\n", 8));
  EXPECT_EQ(number_at(png, 16), 108u);  // 12 cells of 9 pixels
  EXPECT_EQ(number_at(png, 20), 72u);
  // Chunks follow each other to the end, as long as they say.
  std::size_t at = 8;
  std::string last;
  while (at + 12 <= png.size()) {
    last = png.substr(at + 4, 4);
    at += 12 + number_at(png, at);
  }
  EXPECT_EQ(at, png.size());
  EXPECT_EQ(last, "IEND");
  EXPECT_EQ(number_at(png, png.size() - 4), 0xae426082u);  // the known check sum of an empty IEND
  EXPECT_NE(to_svg(picture).find("vorticity [1/s]"), std::string::npos);
  EXPECT_THROW(picture_of(slice, "vortex"), Error);
}

}  // namespace
}  // namespace rotule
