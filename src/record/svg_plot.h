#pragma once
// A plot as an SVG file: lines over linear or logarithmic axes, with ticks, labels with units and a legend.
#include <string>
#include <vector>

namespace rotule {

struct PlotAxis {
  std::string label;  // with its unit, "time [s]"
  bool logarithmic = false;
};

struct PlotSeries {
  std::string name;
  std::vector<double> x, y;
  bool markers = false;  // a dot at every point
};

struct Plot {
  std::string title;
  PlotAxis x, y;
  std::vector<PlotSeries> series;
  int width = 760, height = 420;  // pixels
};

/// The SVG text. Points that an axis cannot show (not a number; not above zero on a logarithmic one) are left out, and the line
/// is broken there. Throws Error where nothing is left to show, or a series' coordinates differ in number.
std::string to_svg(const Plot& plot);

/// Several plots in one picture, one above the other.
std::string to_svg(const std::vector<Plot>& plots);

}  // namespace rotule
