#pragma once
// A plot as an SVG picture: lines over linear or logarithmic axes, with ticks, labels with units and a legend. Colours follow the
// reader's choice of light or dark. Long series are thinned to what the pixels can show: of all points over one column of pixels,
// the first, the last, the lowest and the highest stay, so that no spike is lost.
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

/// An HTML <figure class="plot">: the picture and its numbers, which the script of html_page.h shows under the pointer.
std::string to_figure(const Plot& plot);

}  // namespace rotule
