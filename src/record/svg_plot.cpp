#include "record/svg_plot.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace rotule {

namespace {

constexpr std::array<const char*, 8> colours{"#1f6fb4", "#d1542a", "#2c8f4e", "#8a4fb0",
                                             "#b58900", "#3aa0a0", "#c2418c", "#555555"};

/// Maps values to pixels, and knows where ticks go.
struct Scale {
  bool logarithmic = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;  // of the value, or of its logarithm
  double from = 0, to = 1;                                            // pixels

  [[nodiscard]] double place(double value) const { return logarithmic ? std::log10(value) : value; }
  [[nodiscard]] bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
  void include(double value) {
    low = std::min(low, place(value));
    high = std::max(high, place(value));
  }
  /// Room around what would be a point or would touch the frame.
  void settle() {
    if (logarithmic) {
      low = std::floor(low + 1e-9);
      high = std::ceil(high - 1e-9);
      if (high - low < 1) high = low + 1;
      return;
    }
    const double room = high > low ? 0.03 * (high - low) : std::max(1e-12, 0.1 * std::abs(low));
    low -= room;
    high += room;
  }
  [[nodiscard]] double pixel(double value) const { return from + (place(value) - low) / (high - low) * (to - from); }

  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    if (logarithmic) {
      const int stride = std::max(1, static_cast<int>(std::ceil((high - low) / 10)));
      for (int e = static_cast<int>(low); e <= static_cast<int>(high); e += stride) out.push_back(std::pow(10.0, e));
      return out;
    }
    // 1, 2 or 5 times a power of ten, at most eight of them.
    const double raw = (high - low) / 8, power = std::pow(10.0, std::floor(std::log10(raw)));
    double step = power;
    for (const double factor : {1.0, 2.0, 5.0, 10.0})
      if (factor * power >= raw) {
        step = factor * power;
        break;
      }
    for (double k = std::ceil(low / step); k * step <= high; ++k) out.push_back(k == 0 ? 0 : k * step);
    return out;
  }
  [[nodiscard]] std::string label(double value) const {
    if (!logarithmic) return fmt::format("{:.4g}", value);
    return fmt::format("10<tspan dy=\"-5\" font-size=\"9\">{}</tspan>", static_cast<int>(std::lround(std::log10(value))));
  }
};

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  return out;
}

std::string text(double x, double y, const char* anchor, const std::string& content, const char* more = "") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, content);
}

}  // namespace

std::string to_svg(const Plot& plot) {
  Scale x{.logarithmic = plot.x.logarithmic}, y{.logarithmic = plot.y.logarithmic};
  for (const PlotSeries& series : plot.series) {
    if (series.x.size() != series.y.size()) throw Error("plot", "series \"" + series.name + "\" has more of one coordinate");
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (x.shows(series.x[i]) && y.shows(series.y[i])) {
        x.include(series.x[i]);
        y.include(series.y[i]);
      }
  }
  if (!(x.low <= x.high)) throw Error("plot", "there is no point that its axes can show");
  x.settle();
  y.settle();
  constexpr double left = 78, top = 36, bottom = 52, legend = 150;
  x.from = left;
  x.to = plot.width - legend;
  y.from = plot.height - bottom;
  y.to = top;

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" "
      "font-size=\"12\" fill=\"#222\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      plot.width, plot.height);
  out += text(left, 20, "start", escaped(plot.title), " font-weight=\"bold\"");
  for (const double value : x.ticks()) {
    out += fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}\" stroke=\"#e4e4e4\"/>\n", x.pixel(value), y.from, y.to);
    out += text(x.pixel(value), y.from + 18, "middle", x.label(value));
  }
  for (const double value : y.ticks()) {
    out += fmt::format("<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"#e4e4e4\"/>\n", x.from, y.pixel(value), x.to);
    out += text(x.from - 8, y.pixel(value) + 4, "end", y.label(value));
  }
  out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"none\" stroke=\"#444\"/>\n",
                     x.from, y.to, x.to - x.from, y.from - y.to);
  out += text((x.from + x.to) / 2, plot.height - 12, "middle", escaped(plot.x.label));
  const double middle = (y.from + y.to) / 2;
  out += text(18, middle, "middle", escaped(plot.y.label), fmt::format(" transform=\"rotate(-90 18 {:.1f})\"", middle).c_str());

  for (std::size_t k = 0; k < plot.series.size(); ++k) {
    const PlotSeries& series = plot.series[k];
    const char* colour = colours[k % colours.size()];
    std::string path, dots;
    bool drawing = false;
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!x.shows(series.x[i]) || !y.shows(series.y[i])) {
        drawing = false;
        continue;
      }
      path += fmt::format("{}{:.1f} {:.1f}", drawing ? "L" : "M", x.pixel(series.x[i]), y.pixel(series.y[i]));
      if (series.markers)
        dots += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\" fill=\"{}\"/>\n", x.pixel(series.x[i]),
                            y.pixel(series.y[i]), colour);
      drawing = true;
    }
    out += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"/>\n{}", path, colour, dots);
    const double row = top + 10 + 18 * static_cast<double>(k);
    out += fmt::format("<path d=\"M{:.1f} {:.1f}h18\" stroke=\"{}\" stroke-width=\"2\"/>\n", x.to + 12, row - 4, colour);
    out += text(x.to + 36, row, "start", escaped(series.name));
  }
  return out + "</svg>\n";
}

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

}  // namespace rotule
