#pragma once
// Image data of VTK: vectors on a regular grid, from .vti (XML) and legacy .vtk files (Kitware, "VTK File Formats").
#include <rotule/flow.h>

#include <string_view>

namespace rotule {

/// The array of that name, at one moment. `name` is what errors call the file. Throws Error.
FlowGrid read_vti(std::string_view text, const std::string& array, const std::string& name);
FlowGrid read_legacy_vtk(std::string_view text, const std::string& array, const std::string& name);

/// What a .pvd file lists, in the order of time.
struct ImageAtTime {
  double time = 0;
  std::string file;
};
/// Those that are .vti files. Throws Error where there are none, or two of one time.
std::vector<ImageAtTime> read_pvd(std::string_view text, const std::string& name);

}  // namespace rotule
