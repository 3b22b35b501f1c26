#include "record/svg_plot.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "record/html_page.h"
#include "record/json_text.h"

namespace rotule {

namespace {

// Eight hues that stay apart for most eyes, on white and on black; a ninth series begins again, dashed.
constexpr const char* style = R"(<style>
.paper{fill:#fff}.plot-text{fill:#24292f}.quiet{fill:#59636e}.grid{stroke:#e7eaee}.fine{stroke:#f3f5f7}.axis{stroke:#8c959f}
.line{fill:none;stroke-width:1.6;stroke-linejoin:round}
.c0{stroke:#1f6fb4}.c1{stroke:#d1542a}.c2{stroke:#2c8f4e}.c3{stroke:#8a4fb0}.c4{stroke:#a87b00}.c5{stroke:#17868c}.c6{stroke:#c2418c}.c7{stroke:#57606a}
.d0{fill:#1f6fb4}.d1{fill:#d1542a}.d2{fill:#2c8f4e}.d3{fill:#8a4fb0}.d4{fill:#a87b00}.d5{fill:#17868c}.d6{fill:#c2418c}.d7{fill:#57606a}
@media (prefers-color-scheme:dark){
.paper{fill:#14181d}.plot-text{fill:#e3e8ee}.quiet{fill:#9aa4af}.grid{stroke:#2b323b}.fine{stroke:#1f252c}.axis{stroke:#5d6772}
.c0{stroke:#62aef0}.c1{stroke:#f0875f}.c2{stroke:#5cc983}.c3{stroke:#c191e6}.c4{stroke:#e0b43c}.c5{stroke:#4fc3c9}.c6{stroke:#ee7dbb}.c7{stroke:#a8b2bd}
.d0{fill:#62aef0}.d1{fill:#f0875f}.d2{fill:#5cc983}.d3{fill:#c191e6}.d4{fill:#e0b43c}.d5{fill:#4fc3c9}.d6{fill:#ee7dbb}.d7{fill:#a8b2bd}}
</style>
)";
constexpr std::size_t colours = 8;

/// "10" with a raised exponent.
std::string power_of_ten(int exponent) {
  return fmt::format("10<tspan dy=\"-5\" font-size=\"9\">{}{}</tspan>", exponent < 0 ? "−" : "", std::abs(exponent));
}

/// Maps values to pixels, and knows where ticks go.
struct Scale {
  bool logarithmic = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;  // of the value, or of its logarithm
  double from = 0, to = 1;                                            // pixels
  // Labels say (value - offset) / 10^exponent with so many decimals.
  double offset = 0, step = 1;
  int exponent = 0, decimals = 0;

  [[nodiscard]] double place(double value) const { return logarithmic ? std::log10(value) : value; }
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  void include(double value) {
    low = std::min(low, place(value));
    high = std::max(high, place(value));
  }
  /// Room around what would be a point or would touch the frame.
  void settle(double margin) {
    if (logarithmic) {
      low = std::floor(low + 1e-9);
      high = std::ceil(high - 1e-9);
      if (high - low < 1) high = low + 1;
      return;
    }
    // Differences near rounding are no picture of anything.
    const double reach = std::max(std::abs(low), std::abs(high));
    const bool flat = high - low <= 1e-13 * reach;
    const double room = flat ? std::max(1e-12, 0.1 * reach) : margin * (high - low);
    low -= room;
    high += room;

    // 1, 2 or 5 times a power of ten, at most eight of them.
    const double raw = (high - low) / 8, power = std::pow(10.0, std::floor(std::log10(raw)));
    step = 10 * power;
    for (const double factor : {5.0, 2.0, 1.0})
      if (factor * power >= raw) step = factor * power;
    if (!flat && high - low < 1e-3 * reach) {  // all digits but the last few are the same: said once
      const double unit = std::pow(10.0, std::ceil(std::log10(high - low)));
      offset = std::round((low + high) / 2 / unit) * unit;
    }
    const double largest = std::max(std::abs(low - offset), std::abs(high - offset));
    if (largest >= 1e5 || largest < 1e-2) exponent = 3 * static_cast<int>(std::floor(std::log10(largest) / 3));
    decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step * std::pow(10.0, -exponent)) + 1e-9)));
  }
  [[nodiscard]] double pixel(double value) const { return from + (place(value) - low) / (high - low) * (to - from); }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    if (logarithmic) {
      const int stride = std::max(1, static_cast<int>(std::ceil((high - low) / 10)));
      for (int e = static_cast<int>(low); e <= static_cast<int>(high); e += stride) out.push_back(std::pow(10.0, e));
      return out;
    }
    for (double k = std::ceil((low - offset) / step); offset + k * step <= high; ++k) out.push_back(offset + k * step);
    return out;
  }
  /// 2 to 9 times the powers of ten, where there is room for them.
  [[nodiscard]] std::vector<double> fine_ticks() const {
    std::vector<double> out;
    if (!logarithmic || high - low > 4) return out;
    for (int e = static_cast<int>(low); e < static_cast<int>(high); ++e)
      for (int k = 2; k <= 9; ++k) out.push_back(k * std::pow(10.0, e));
    return out;
  }
  [[nodiscard]] std::string label(double value) const {
    if (logarithmic) return power_of_ten(static_cast<int>(std::lround(std::log10(value))));
    const double shown = (value - offset) * std::pow(10.0, -exponent);
    std::string out = fmt::format("{:.{}f}", std::abs(shown) < 1e-9 * step * std::pow(10.0, -exponent) ? 0.0 : shown, decimals);
    if (out.starts_with("-")) out.replace(0, 1, "−");
    return out;
  }
  /// What the labels leave out.
  [[nodiscard]] std::string note() const {
    std::string out;
    if (exponent != 0) out += "× " + power_of_ten(exponent);
    if (offset != 0)
      out +=
          fmt::format("<tspan{}> {} {:.10g}</tspan>", exponent != 0 ? " dy=\"5\"" : "", offset < 0 ? "−" : "+", std::abs(offset));
    return out;
  }
};

std::string text(double x, double y, const char* anchor, const std::string& content, const char* more = "") {
  return fmt::format("<text class=\"plot-text\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more,
                     content);
}

/// The first characters of a text (UTF-8) that is too long.
std::string shortened(const std::string& name, std::size_t most) {
  std::size_t count = 0, at = 0;
  for (; at < name.size(); ++at)
    if ((static_cast<unsigned char>(name[at]) & 0xC0) != 0x80 && ++count > most) return name.substr(0, at) + "…";
  return name;
}
constexpr std::size_t longest_name = 24;

/// Where everything goes.
struct Layout {
  Scale x, y;
  std::vector<std::vector<std::size_t>> points;  // of each series, those that are drawn
  bool legend = false;
};

/// Which points are drawn: all, or where they are dense and in order, at most four per column of pixels.
std::vector<std::size_t> thinned(const PlotSeries& series, const Scale& x, const Scale& y) {
  std::vector<std::size_t> out;
  const std::size_t n = series.x.size();
  if (static_cast<double>(n) <= 4 * (x.to - x.from) || series.markers || !std::is_sorted(series.x.begin(), series.x.end())) {
    for (std::size_t i = 0; i < n; ++i) out.push_back(i);
    return out;
  }
  for (std::size_t first = 0; first < n;) {
    const double column = std::floor(x.shows(series.x[first]) ? x.pixel(series.x[first]) : -1);
    std::size_t last = first, lowest = n, highest = n;
    for (std::size_t i = first; i < n && std::floor(x.shows(series.x[i]) ? x.pixel(series.x[i]) : -1) == column; ++i) {
      last = i;
      if (!y.shows(series.y[i])) continue;
      if (lowest == n || series.y[i] < series.y[lowest]) lowest = i;
      if (highest == n || series.y[i] > series.y[highest]) highest = i;
    }
    std::array<std::size_t, 4> kept{first, lowest, highest, last};
    std::sort(kept.begin(), kept.end());
    for (const std::size_t i : kept)
      if (i < n && (out.empty() || out.back() != i)) out.push_back(i);
    first = last + 1;
  }
  return out;
}

Layout lay_out(const Plot& plot) {
  Layout out;
  Scale &x = out.x, &y = out.y;
  x.logarithmic = plot.x.logarithmic;
  y.logarithmic = plot.y.logarithmic;
  std::size_t longest = 0;
  for (const PlotSeries& series : plot.series) {
    if (series.x.size() != series.y.size()) throw Error("plot", "series \"" + series.name + "\" has more of one coordinate");
    longest = std::max(longest, series.name.size());
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (x.shows(series.x[i]) && y.shows(series.y[i])) {
        x.include(series.x[i]);
        y.include(series.y[i]);
      }
  }
  if (!(x.low <= x.high)) throw Error("plot", "there is no point that its axes can show");
  x.settle(0.01);
  y.settle(0.05);
  constexpr double left = 78, top = 46, bottom = 52, right = 24;
  out.legend = plot.series.size() > 1;
  x.from = left;
  x.to = plot.width - (out.legend ? 54 + 6.8 * static_cast<double>(std::min(longest, longest_name + 1)) : right);
  y.from = plot.height - bottom;
  y.to = top;
  for (const PlotSeries& series : plot.series) out.points.push_back(thinned(series, x, y));
  return out;
}

std::string draw(const Plot& plot, const Layout& layout) {
  const Scale &x = layout.x, &y = layout.y;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\" "
      "aria-label=\"{2}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n{3}"
      "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
      plot.width, plot.height, markup_escaped(plot.title), style);
  out += text(x.from, 22, "start", markup_escaped(plot.title), " font-weight=\"600\" font-size=\"14\"");

  // The grid, fine lines first.
  const auto upright = [&](double value, const char* kind) {
    return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}V{:.1f}\"/>\n", kind, x.pixel(value), y.from, y.to);
  };
  const auto level = [&](double value, const char* kind) {
    return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}H{:.1f}\"/>\n", kind, x.from, y.pixel(value), x.to);
  };
  for (const double value : x.fine_ticks()) out += upright(value, "fine");
  for (const double value : y.fine_ticks()) out += level(value, "fine");
  for (const double value : x.ticks()) {
    out += upright(value, "grid");
    out += text(x.pixel(value), y.from + 18, "middle", x.label(value));
  }
  for (const double value : y.ticks()) {
    out += level(value, "grid");
    out += text(x.from - 8, y.pixel(value) + 4, "end", y.label(value));
  }
  out += fmt::format("<path class=\"axis\" fill=\"none\" d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\"/>\n", x.from, y.to, y.from, x.to);
  const std::string x_note = x.note();
  out += text((x.from + x.to) / 2, plot.height - 12, "middle",
              markup_escaped(plot.x.label) + (x_note.empty() ? "" : "   " + x_note));
  if (const std::string note = y.note(); !note.empty()) out += text(x.from - 8, y.to - 9, "start", note, " font-size=\"11\"");
  const double middle = (y.from + y.to) / 2;
  out += text(18, middle, "middle", markup_escaped(plot.y.label),
              fmt::format(" transform=\"rotate(-90 18 {:.1f})\"", middle).c_str());

  const auto rows = static_cast<std::size_t>((y.from - y.to) / 18);  // of the legend, that there is room for
  for (std::size_t k = 0; k < plot.series.size(); ++k) {
    const PlotSeries& series = plot.series[k];
    const std::size_t colour = k % colours;
    const char* dashes = k / colours % 2 == 1 ? " stroke-dasharray=\"5 3\"" : "";
    std::string path, dots;
    bool drawing = false;
    for (const std::size_t i : layout.points[k]) {
      if (!x.shows(series.x[i]) || !y.shows(series.y[i])) {
        drawing = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", x.pixel(series.x[i]), y.pixel(series.y[i]));
      if (series.markers)
        dots += fmt::format("<circle class=\"d{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"/>\n", colour, x.pixel(series.x[i]),
                            y.pixel(series.y[i]));
      drawing = true;
    }
    out += fmt::format("<path class=\"line c{}\" d=\"{}\"{}/>\n{}", colour, path, dashes, dots);
    if (!layout.legend) continue;
    const double row = y.to + 10 + 18 * static_cast<double>(k);
    if (k + 1 >= rows && plot.series.size() > rows) {
      if (k + 1 == rows) out += text(x.to + 38, row, "start", fmt::format("and {} more", plot.series.size() - k));
      continue;
    }
    out += fmt::format("<path class=\"line c{}\" d=\"M{:.1f} {:.1f}h18\"{}/>\n", colour, x.to + 14, row - 4, dashes);
    out += text(x.to + 38, row, "start", markup_escaped(shortened(series.name, longest_name)));
  }
  return out + "</svg>\n";
}

}  // namespace

std::string to_svg(const Plot& plot) { return draw(plot, lay_out(plot)); }

std::string to_svg(const std::vector<Plot>& plots) {
  int width = 0, height = 0;
  std::string inside;
  for (const Plot& plot : plots) {
    // A picture within the picture, moved down to where the last one ends.
    inside += to_svg(plot).replace(0, 4, fmt::format("<svg y=\"{}\"", height));
    width = std::max(width, plot.width);
    height += plot.height;
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n{2}</svg>\n", width,
      height, inside);
}

std::string to_figure(const Plot& plot) {
  const Layout layout = lay_out(plot);
  const auto axis = [](const PlotAxis& named, const Scale& scale) {
    return Json{{"label", named.label}, {"log", scale.logarithmic}, {"low", scale.low},
                {"high", scale.high},   {"from", scale.from},       {"to", scale.to}};
  };
  Json series = Json::array();
  for (std::size_t k = 0; k < plot.series.size(); ++k) {
    Json xs = Json::array(), ys = Json::array();
    for (const std::size_t i : layout.points[k])
      if (layout.x.shows(plot.series[k].x[i]) && layout.y.shows(plot.series[k].y[i])) {
        xs.push_back(plot.series[k].x[i]);
        ys.push_back(plot.series[k].y[i]);
      }
    series.push_back({{"name", plot.series[k].name}, {"x", xs}, {"y", ys}});
  }
  return fmt::format("<figure class=\"plot\">\n{}<script type=\"application/json\">{}</script>\n</figure>\n", draw(plot, layout),
                     script_safe(Json{{"x", axis(plot.x, layout.x)}, {"y", axis(plot.y, layout.y)}, {"series", series}}.dump(
                         -1, ' ', false, Json::error_handler_t::replace)));
}

}  // namespace rotule
