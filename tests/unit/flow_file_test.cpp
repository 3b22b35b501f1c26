// Flow fields from files: the same numbers by every format, third order between the points, words where they do not reach.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/flow.h>
#include <rotule/scene.h>
#include <rotule/world.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>

#include "flow/grid_field.h"
#include "record/base64.h"
#include "record/hdf5_file.h"
#include "support/files.h"
#include "support/runs.h"

namespace rotule {
namespace {

Vec3 moving_swirl(const Vec3& x, double t) {
  return {std::sin(x.x() + 0.3) * std::cos(2 * x.y()), std::cos(x.z() + t), std::sin(x.x() * x.y()) + t * t * x.z()};
}

/// The field at the points of a grid of n cells a metre, over (-0.5, -0.25, 0) to (0.5, 0.75, 1) and the times 0 to 1.
FlowGrid sampled_swirl(int n) {
  FlowGrid out{.points = {n + 1, n + 1, n + 1}, .origin = Vec3(-0.5, -0.25, 0), .spacing = Vec3::Constant(1.0 / n), .times = {}};
  for (int l = 0; l <= n; ++l) {
    out.times.push_back(static_cast<double>(l) / n);
    for (int k = 0; k <= n; ++k)
      for (int j = 0; j <= n; ++j)
        for (int i = 0; i <= n; ++i)
          out.velocity.push_back(moving_swirl(out.origin + Vec3(i, j, k).cwiseProduct(out.spacing), out.times.back()));
  }
  return out;
}

GridFlow flow_of(FlowGrid grid, const std::string& outside = "refuse") {
  return {.name = "field", .outside = outside, .grid = std::make_shared<const FlowGrid>(std::move(grid))};
}

FlowAt at(const GridFlow& flow, const Vec3& x, double t) {
  FlowAt out;
  add_field(flow, x, t, out);
  return out;
}

TEST(FlowFiles, ErrorsFallWithTheThirdPowerOfTheSpacing) {
  double coarse = 0;
  for (const int n : {8, 16}) {
    const GridFlow flow = flow_of(sampled_swirl(n));
    double worst = 0;
    for (int p = 0; p < 200; ++p) {
      const Vec3 x(-0.5 + std::fmod(0.618 * p, 1), -0.25 + std::fmod(0.755 * p, 1), std::fmod(0.57 * p, 1));
      const double t = std::fmod(0.431 * p, 1);
      worst = std::max(worst, (at(flow, x, t).u - moving_swirl(x, t)).norm());
    }
    if (n == 16) {
      EXPECT_GT(coarse / worst, 6.5) << coarse << " " << worst;
    }
    coarse = worst;
  }
  EXPECT_LT(coarse, 2e-4);
}

TEST(FlowFiles, DerivativesAreThoseOfTheField) {
  const GridFlow flow = flow_of(sampled_swirl(5));
  constexpr double step = 1e-6;
  for (const Vec3& x : {Vec3(-0.45, -0.2, 0.05), Vec3(0.03, 0.2, 0.51), Vec3(0.47, 0.7, 0.97)}) {
    const FlowAt here = at(flow, x, 0.33);
    for (int k = 0; k < 3; ++k) {
      const Vec3 d = step * Vec3::Unit(k);
      EXPECT_LT(((at(flow, x + d, 0.33).u - at(flow, x - d, 0.33).u) / (2 * step) - here.gradient.col(k)).norm(), 1e-8);
    }
    EXPECT_LT(((at(flow, x, 0.33 + step).u - at(flow, x, 0.33 - step).u) / (2 * step) - here.rate).norm(), 1e-8);
  }
}

TEST(FlowFiles, ParabolasAreExactOnUnevenMoments) {
  FlowGrid grid{.times = {0, 0.1, 0.4, 1}};
  for (const double t : grid.times) grid.velocity.emplace_back(1 + t, t * t, 2 - 3 * t * t);
  const GridFlow flow = flow_of(grid);
  for (const double t : {0.03, 0.2, 0.77}) {
    EXPECT_LT((at(flow, Vec3(5, 6, 7), t).u - Vec3(1 + t, t * t, 2 - 3 * t * t)).norm(), 1e-14);
    EXPECT_LT((at(flow, Vec3(5, 6, 7), t).rate - Vec3(1, 2 * t, -6 * t)).norm(), 1e-13);
  }
}

TEST(FlowFiles, OutsideIsRefusedHeldOrZero) {
  const Vec3 beyond(0.7, 0, 0.5), edge(0.5, 0, 0.5);
  EXPECT_EQ(at(flow_of(sampled_swirl(4), "hold"), beyond, 0.5).u, at(flow_of(sampled_swirl(4)), edge, 0.5).u);
  EXPECT_EQ(at(flow_of(sampled_swirl(4), "hold"), beyond, 0.5).gradient.col(0), Vec3::Zero());
  EXPECT_EQ(at(flow_of(sampled_swirl(4), "zero"), beyond, 0.5).u, Vec3::Zero());
  const auto message = [](const Vec3& x, double t) -> std::string {
    try {
      at(flow_of(sampled_swirl(4)), x, t);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message(beyond, 0.5).find("flow \"field\": does not reach the point (0.7, 0, 0.5) m"), std::string::npos);
  EXPECT_NE(message(edge, 1.5).find("has no velocities at t = 1.5 s: its file goes from 0 to 1 s"), std::string::npos);
}

/// Numbers as bytes, in this machine's order or the other one.
std::string raw_bytes(const std::vector<double>& values, bool turned) {
  std::string out;
  for (const double value : values) {
    std::string raw(reinterpret_cast<const char*>(&value), 8);
    if (turned) std::reverse(raw.begin(), raw.end());
    out += raw;
  }
  return out;
}

TEST(FlowFiles, EveryFormatHoldsTheSameNumbers) {
  const testing::Folder folder("flow_files");
  FlowGrid whole = sampled_swirl(2);
  const std::size_t all = 27;
  std::vector<double> values;
  for (const Vec3& u : whole.velocity) values.insert(values.end(), {u.x(), u.y(), u.z()});
  const auto moment = [&](std::size_t n) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(3 * all * n);
    return std::vector<double>(first, first + static_cast<std::ptrdiff_t>(3 * all));
  };
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream((folder.path / name), std::ios::binary) << text;
    return (folder.path / name).string();
  };
  const auto expect_whole = [&](const FlowGrid& got) {
    EXPECT_EQ(got.points, whole.points);
    EXPECT_EQ(got.origin, whole.origin);
    EXPECT_EQ(got.spacing, whole.spacing);
    EXPECT_EQ(got.times, whole.times);
    EXPECT_EQ(got.velocity, whole.velocity);
  };
  {
    Hdf5File file = Hdf5File::create((folder.path / "a.h5").string());
    file.write("wind", values, {3, 3, 3, 3, 3});
    file.write("time", whole.times, {3});
    file.write("origin", std::vector<double>{-0.5, -0.25, 0}, {3});
    file.write("spacing", std::vector<double>{0.5, 0.5, 0.5}, {3});
    file.finish();
  }
  expect_whole(read_flow((folder.path / "a.h5").string(), "wind"));

  constexpr bool little = std::endian::native == std::endian::little;
  const auto vti = [&](const std::string& order, const std::string& format, const std::string& data, const std::string& behind) {
    return "<?xml version=\"1.0\"?>\n<VTKFile type=\"ImageData\" byte_order=\"" + order +
           "\" header_type=\"UInt64\">\n<ImageData WholeExtent=\"1 3 0 2 0 2\" Origin=\"-1 -0.25 0\" Spacing=\"0.5 0.5 0.5\">\n"
           "<Piece Extent=\"1 3 0 2 0 2\"><PointData><DataArray type=\"Float32\" Name=\"p\" format=\"ascii\"> 1 2 </DataArray>"
           "<DataArray type=\"Float64\" Name=\"velocity\" NumberOfComponents=\"3\" " +
           format + ">" + data + "</DataArray></PointData></Piece></ImageData>" + behind + "</VTKFile>\n";
  };
  const auto ascii = [](const std::vector<double>& of) {
    std::string out;
    for (const double value : of) out += fmt::format("{} ", value);
    return out;
  };
  const std::string ours = little ? "LittleEndian" : "BigEndian", theirs = little ? "BigEndian" : "LittleEndian";
  const auto counted = [&](const std::vector<double>& of, bool turned) {
    const std::uint64_t size = 8 * of.size();
    std::string header(reinterpret_cast<const char*>(&size), 8);
    if (turned) std::reverse(header.begin(), header.end());
    return header + raw_bytes(of, turned);
  };
  write("0.vti", vti(ours, "format=\"ascii\"", ascii(moment(0)), ""));
  write("1.vti", vti(theirs, "format=\"binary\"", "\n  " + base64(counted(moment(1), true)) + "\n", ""));
  write("2.vti", vti(ours, "format=\"appended\" offset=\"3\"", "",
                     "<AppendedData encoding=\"raw\">_abc" + counted(moment(2), false) + "</AppendedData>"));
  const std::string series =
      write("all.pvd",
            "<VTKFile type=\"Collection\"><Collection><DataSet timestep=\"1\" file=\"2.vti\"/><DataSet timestep=\"0\" "
            "file=\"0.vti\"/><DataSet timestep=\"0.5\" part=\"0\" file=\"1.vti\"/></Collection></VTKFile>");
  expect_whole(read_flow(series));

  whole.times = {0};
  whole.velocity.resize(all);
  const auto legacy = [&](const std::string& coding, const std::string& data) {
    return "# vtk DataFile Version 3.0\na field\n" + coding +
           "\nDATASET STRUCTURED_POINTS\nDIMENSIONS 3 3 3\nORIGIN -0.5 -0.25 0\nSPACING 0.5 0.5 0.5\nPOINT_DATA 27\n"
           "VECTORS velocity double\n" +
           data + "\n";
  };
  expect_whole(read_flow(write("a.vtk", legacy("ASCII", ascii(moment(0))))));
  expect_whole(read_flow(write("b.vtk", legacy("BINARY", raw_bytes(moment(0), little)))));
}

TEST(FlowFiles, AUniformFieldIsAUniformFlow) {
  const auto end = [](const FlowDef& flow) {
    Scene scene;
    scene.add({.name = "ball", .mass = 0.1, .shape = Sphere{0.1}, .contacts = false});
    scene.add(flow);
    scene.add(Drag{.quadratic = 0.02});
    World world(scene, recipes::exact());
    run_for(world, 0.5);
    return world.velocity("ball");
  };
  FlowGrid grid{.points = {2, 3, 4}, .origin = Vec3(-10, -10, -10), .spacing = Vec3(20, 10, 7), .times = {0, 5}};
  grid.velocity.assign(48, Vec3(4, -1, 2));
  EXPECT_LT((end(flow_of(grid)) - end(UniformFlow{.velocity = {4, -1, 2}})).norm(), 1e-12);
}

}  // namespace
}  // namespace rotule
