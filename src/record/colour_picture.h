#pragma once
// Values on the cells of a plane as colours: blue below zero, red above, white at zero; or, for what is never negative, from dark
// to light. As a PNG file, or as an SVG picture with axes and a scale beside it.
#include <rotule/fluid_grid.h>

#include <string>
#include <string_view>
#include <vector>

namespace rotule {

struct ColourPicture {
  std::string title, label;  // the label has the unit
  int columns = 0, rows = 0;
  std::vector<double> value;  // rows from the lowest upwards
  double from = 0, to = 1;    // of the colours; values beyond have the last one
  bool diverging = false;
  std::array<double, 2> low{0, 0}, high{1, 1};  // m, of the picture's corners
  std::array<std::string, 2> axes{"x [m]", "z [m]"};
};

/// Of a slice: vorticity, pressure, speed, or a component of the velocity ("velocity_x"). `largest`: the value of the last
/// colour; 0: one that 99 of 100 cells stay below. Throws Error for other names.
ColourPicture picture_of(const FluidSlice& slice, std::string_view quantity, double largest = 0);
std::vector<std::string> slice_quantities();

/// Bytes of a PNG file, cells as squares of so many pixels that it is at least `width` wide.
std::string to_png(const ColourPicture& picture, int width = 640);
std::string to_svg(const ColourPicture& picture);

}  // namespace rotule
