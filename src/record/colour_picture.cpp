#include "record/colour_picture.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/text.h"
#include "record/base64.h"
#include "record/html_page.h"

namespace rotule {
namespace {

using Colour = std::array<std::uint8_t, 3>;

/// Between colours at even distances.
template <std::size_t N>
Colour shade(const std::array<Colour, N>& stops, double t) {
  const double at = std::clamp(t, 0.0, 1.0) * static_cast<double>(N - 1);
  const auto k = std::min(static_cast<std::size_t>(at), N - 2);
  Colour out{};
  for (std::size_t c = 0; c < 3; ++c)
    out[c] =
        static_cast<std::uint8_t>(std::lround(stops[k][c] + (at - static_cast<double>(k)) * (stops[k + 1][c] - stops[k][c])));
  return out;
}

constexpr std::array<Colour, 5> diverging_stops{{{20, 50, 130}, {95, 160, 215}, {248, 248, 248}, {235, 130, 95}, {140, 20, 40}}};
constexpr std::array<Colour, 5> rising_stops{{{20, 15, 60}, {45, 80, 140}, {40, 150, 140}, {130, 205, 90}, {250, 235, 60}}};

Colour colour_of(const ColourPicture& picture, double value) {
  if (!std::isfinite(value)) return {128, 128, 128};
  const double t = picture.to > picture.from ? (value - picture.from) / (picture.to - picture.from) : 0.5;
  return picture.diverging ? shade(diverging_stops, t) : shade(rising_stops, t);
}

/// Large-endian, as PNG has all numbers.
void add_number(std::string& out, std::uint32_t n) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(n >> shift & 0xff);
}

/// The check sum of PNG's chunks (ISO 3309).
std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? 0xedb88320 ^ (crc >> 1) : crc >> 1;
  }
  return ~crc;
}

void add_chunk(std::string& out, std::string_view type, const std::string& data) {
  add_number(out, static_cast<std::uint32_t>(data.size()));
  const std::string body = std::string(type) + data;
  out += body;
  add_number(out, crc_of(body));
}

/// As a zlib stream (RFC 1950) of stored blocks: no library, and no smaller.
std::string zlib_stored(const std::string& bytes) {
  constexpr std::size_t most = 65535;
  std::string out("\x78\x01", 2);
  for (std::size_t at = 0; at < bytes.size(); at += most) {
    const std::size_t count = std::min(most, bytes.size() - at);
    out += at + count == bytes.size() ? '\1' : '\0';
    for (const std::size_t n : {count, most - count}) {
      out += static_cast<char>(n & 0xff);
      out += static_cast<char>(n >> 8 & 0xff);
    }
    out.append(bytes, at, count);
  }
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<std::uint8_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  add_number(out, b << 16 | a);
  return out;
}

}  // namespace

std::vector<std::string> slice_quantities() {
  return {"vorticity", "pressure", "speed", "velocity_x", "velocity_y", "velocity_z"};
}

ColourPicture picture_of(const FluidSlice& slice, std::string_view quantity, double largest) {
  ColourPicture out;
  out.columns = slice.columns;
  out.rows = slice.rows;
  for (std::size_t k = 0; k < 2; ++k) {
    const int axis = slice.axes[k];
    out.low[k] = slice.origin[axis] - slice.spacing[k] / 2;
    out.high[k] = out.low[k] + slice.spacing[k] * (k == 0 ? slice.columns : slice.rows);
    out.axes[k] = fmt::format("{} [m]", "xyz"[axis]);
  }
  out.diverging = quantity != "speed";
  if (quantity == "vorticity") {
    out.value = slice.vorticity;
    out.label = "vorticity [1/s]";
  } else if (quantity == "pressure") {
    out.value = slice.pressure;
    out.label = "pressure [Pa]";
  } else if (quantity == "speed") {
    for (const Vec3& v : slice.velocity) out.value.push_back(v.norm());
    out.label = "speed [m/s]";
  } else if (quantity == "velocity_x" || quantity == "velocity_y" || quantity == "velocity_z") {
    const int c = quantity.back() - 'x';
    for (const Vec3& v : slice.velocity) out.value.push_back(v[c]);
    out.label = fmt::format("velocity {} [m/s]", "xyz"[c]);
  } else {
    const std::vector<std::string> known = slice_quantities();
    throw Error(fmt::format("unknown quantity {}; {}", in_quotes(quantity), suggestion(quantity, known)));
  }
  if (largest == 0) {
    std::vector<double> sizes;
    for (const double v : out.value)
      if (std::isfinite(v)) sizes.push_back(std::abs(v));
    if (!sizes.empty()) {
      const auto rank = sizes.begin() + static_cast<std::ptrdiff_t>(0.99 * static_cast<double>(sizes.size() - 1));
      std::nth_element(sizes.begin(), rank, sizes.end());
      largest = *rank;
    }
    if (!(largest > 0)) largest = 1;
  }
  out.from = out.diverging ? -largest : 0;
  out.to = largest;
  return out;
}

std::string to_png(const ColourPicture& picture, int width) {
  const int scale = std::max(1, (width + picture.columns - 1) / std::max(1, picture.columns));
  std::string rows;
  for (int row = picture.rows - 1; row >= 0; --row) {
    std::string line(1, '\0');  // not filtered
    for (int column = 0; column < picture.columns; ++column) {
      const Colour colour = colour_of(picture, picture.value[static_cast<std::size_t>(row) * picture.columns + column]);
      for (int k = 0; k < scale; ++k) line.append(colour.begin(), colour.end());
    }
    for (int k = 0; k < scale; ++k) rows += line;
  }
  std::string out("\x89PNG\r\n\x1a\n", 8), header;
  add_number(header, static_cast<std::uint32_t>(picture.columns * scale));
  add_number(header, static_cast<std::uint32_t>(picture.rows * scale));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // 8 bits of each of three colours
  add_chunk(out, "IHDR", header);
  add_chunk(out, "IDAT", zlib_stored(rows));
  add_chunk(out, "IEND", "");
  return out;
}

std::string to_svg(const ColourPicture& picture) {
  constexpr double left = 60, top = 40, right = 110, bottom = 50, longest = 640;
  const double width_m = picture.high[0] - picture.low[0], height_m = picture.high[1] - picture.low[1];
  const double per_metre = longest / std::max(width_m, height_m), w = width_m * per_metre, h = height_m * per_metre;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{:.0f}\" height=\"{:.0f}\" font-family=\"sans-serif\" font-size=\"12\" "
      "fill=\"#808080\">\n<text x=\"{}\" y=\"24\" font-size=\"14\">{}</text>\n",
      left + w + right, top + h + bottom, left, markup_escaped(picture.title));
  out += fmt::format(
      "<image x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{:.2f}\" preserveAspectRatio=\"none\" "
      "style=\"image-rendering:pixelated\" "
      "href=\"data:image/png;base64,{}\"/>\n<rect x=\"{}\" y=\"{}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"none\" "
      "stroke=\"#808080\"/>\n",
      left, top, w, h, base64(to_png(picture, 1)), left, top, w, h);
  const auto text = [&](double x, double y, const char* anchor, const std::string& words) {
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, markup_escaped(words));
  };
  for (const double t : {0.0, 0.5, 1.0}) {
    text(left + t * w, top + h + 16, "middle", fmt::format("{:.4g}", picture.low[0] + t * width_m));
    text(left - 6, top + h - t * h + 4, "end", fmt::format("{:.4g}", picture.low[1] + t * height_m));
  }
  text(left + w / 2, top + h + 34, "middle", picture.axes[0]);
  text(left - 6, top - 8, "end", picture.axes[1]);
  constexpr int shades = 32;
  for (int k = 0; k < shades; ++k) {
    const double t = (k + 0.5) / shades;
    const Colour c = colour_of(picture, picture.from + t * (picture.to - picture.from));
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{:.2f}\" width=\"16\" height=\"{:.2f}\" fill=\"rgb({},{},{})\"/>\n", left + w + 14,
                       top + h - (k + 1) * h / shades, h / shades + 0.3, c[0], c[1], c[2]);
  }
  for (const double t : {0.0, 0.5, 1.0})
    text(left + w + 34, top + h - t * h + 4, "start", fmt::format("{:.3g}", picture.from + t * (picture.to - picture.from)));
  text(left + w + 14, top - 8, "start", picture.label);
  return out + "</svg>\n";
}

}  // namespace rotule
