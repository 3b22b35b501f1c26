// Flow fields that cannot be read, or that do not reach: one line with the scene's place and the file, status 2.
#include "support/cli.h"

namespace rotule {
namespace {

using FlowFilesCli = testing::Cli;

std::string scene_with(const std::string& flow, const std::string& more = "") {
  return R"({"rotule": 1, "bodies": [{"name": "ball", "mass": 1, "shape": {"sphere": {"radius": 0.1}}}],
             "forces": [{"drag": {"viscous": 1}}], "flows": [{"file": {"name": "wind", "file": ")" +
         flow + "\"" + more + "}}]}";
}

std::string image(const std::string& numbers, const std::string& extent = "0 1 0 0 0 0", const std::string& type = "Float64",
                  const std::string& more = "") {
  return "<VTKFile type=\"ImageData\"" + more + "><ImageData WholeExtent=\"" + extent + "\"><Piece Extent=\"" + extent +
         "\"><PointData><DataArray type=\"" + type + "\" Name=\"velocity\" NumberOfComponents=\"3\" format=\"ascii\">" + numbers +
         "</DataArray></PointData></Piece></ImageData></VTKFile>";
}

TEST_F(FlowFilesCli, WhatCannotBeReadIsRefused) {
  file("cut.vti", image("1 2 3 4"));
  file("word.vti", image("1 2 3 4 five 6"));
  file("nan.vti", image("1 2 3 4 nan 6"));
  file("empty.vti", "");
  file("open.vti", "<VTKFile type=\"ImageData");
  file("huge.vti", image("1 2 3", "0 1000000000 0 1000000000 0 1"));
  file("strange.vti", image("1 2 3", "0 nan 0 1 0 1"));
  file("whole.vti", image("1 2 3 4 5 6", "0 1 0 0 0 0", "Int32"));
  file("packed.vti", image("1", "0 1 0 0 0 0", "Float64", " compressor=\"vtkZLibDataCompressor\""));
  file("good.vti", image("1 2 3 4 5 6"));
  file("none.pvd", "<VTKFile><Collection></Collection></VTKFile>");
  file("twice.pvd", "<DataSet timestep=\"0\" file=\"good.vti\"/><DataSet timestep=\"0\" file=\"good.vti\"/>");
  file("grid.vtk", "# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\n");
  file("short.vtk",
       "# vtk DataFile Version 3.0\n\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 1 1\nPOINT_DATA 2\nVECTORS velocity "
       "double\n123");
  file("noise.h5", "nothing of the kind");
  const std::vector<std::array<std::string, 2>> bad{
      {"gone.vti", "gone.vti"},
      {"cut.vti", "is cut short"},
      {"word.vti", "\"five\" is not a number"},
      {"nan.vti", "not a number"},
      {"empty.vti", "is not image data of VTK"},
      {"open.vti", "is not image data of VTK"},
      {"huge.vti", "more points than can be"},
      {"strange.vti", "extent"},
      {"whole.vti", "must be three numbers (Float32 or Float64)"},
      {"packed.vti", "is compressed"},
      {"none.pvd", "lists no .vti files"},
      {"twice.pvd", "two .vti files at the time 0"},
      {"grid.vtk", "structured points"},
      {"short.vtk", "is cut short"},
      {"noise.h5", "noise.h5"},
      {"field.csv", "give a .h5, .vti, .vtk or .pvd file"},
  };
  for (const auto& [name, expected] : bad)
    for (const std::string command : {"check ", "run "})
      expect_refusal(rotule(command + file("scene.json", scene_with(name))), expected, command + name);
  expect_refusal(rotule("run " + file("scene.json", scene_with("gone.vti"))), "/flows/0/file", "place");
  expect_refusal(rotule("run " + file("scene.json", scene_with("good.vti", R"(, "array": "velocty")"))),
                 "did you mean \"velocity\"?", "array");
  expect_refusal(rotule("run " + file("scene.json", scene_with("good.vti", R"(, "outside": "mirror")"))),
                 "must be refuse, hold or zero, is \"mirror\"", "outside");
}

TEST_F(FlowFilesCli, WhatDoesNotReachIsSaidBeforeAnythingRuns) {
  file("good.vti", image("1 2 3 4 5 6"));
  const std::string scene = file("scene.json", scene_with("good.vti", R"(, "shift": [2, 0, 0])"));
  expect_refusal(rotule("run " + scene + " --duration 0.01"), "does not reach the point (0, 0, 0) m", "run");
  const testing::Result held = rotule(
      "run " + file("held.json", scene_with("good.vti", R"(, "shift": [2, 0, 0], "outside": "hold")")) + " --duration 0.01");
  EXPECT_EQ(held.status, 0) << held.err;
}

}  // namespace
}  // namespace rotule
