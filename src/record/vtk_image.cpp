#include "record/vtk_image.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>

#include "base/text.h"
#include "record/base64.h"

namespace rotule {
namespace {

constexpr std::int64_t most_points = std::int64_t{1} << 30;

using Attributes = std::map<std::string, std::string, std::less<>>;

/// A tag of an XML file and what stands in it; these files nest nothing of the same name.
struct Tag {
  Attributes attributes;
  std::size_t after = 0;  // behind its '>'
  bool empty = false;     // "<... />"
};

/// The next tag of that name from `from` on, before `end`.
std::optional<Tag> next_tag(std::string_view text, std::string_view kind, std::size_t from, std::size_t end) {
  const std::string open = fmt::format("<{}", kind);
  constexpr std::string_view blanks = " \t\r\n";
  for (std::size_t at = text.find(open, from); at != text.npos && at < end; at = text.find(open, at + 1)) {
    std::size_t i = at + open.size();
    if (i >= text.size() || (blanks.find(text[i]) == blanks.npos && text[i] != '>' && text[i] != '/')) continue;
    Tag out;
    while (i < end && text[i] != '>') {
      const std::size_t start = text.find_first_not_of(blanks, i);
      if (start == text.npos || start >= end) return {};
      if (text[start] == '>' || text[start] == '/') {
        out.empty = text[start] == '/';
        i = text.find('>', start);
        break;
      }
      const std::size_t equals = text.find('=', start),
                        quote = equals == text.npos ? text.npos : text.find_first_of("\"'", equals);
      const std::size_t close = quote == text.npos ? text.npos : text.find(text[quote], quote + 1);
      if (close == text.npos || close >= end) return {};
      const std::size_t last = text.find_last_not_of(blanks, equals - 1);
      out.attributes.emplace(text.substr(start, last + 1 - start), text.substr(quote + 1, close - quote - 1));
      i = close + 1;
    }
    if (i == text.npos || i >= end) return {};
    out.after = i + 1;
    return out;
  }
  return {};
}

std::string_view attribute(const Tag& tag, std::string_view key) {
  const auto found = tag.attributes.find(key);
  return found == tag.attributes.end() ? std::string_view() : std::string_view(found->second);
}

/// Words between blanks, one after the other.
class Words {
 public:
  Words(std::string_view text, const std::string& name, std::size_t at = 0) : text_(text), name_(name), at_(at) {}
  std::string_view word() {
    constexpr std::string_view blanks = " \t\r\n";
    const std::size_t start = text_.find_first_not_of(blanks, at_);
    if (start == text_.npos) return {};
    at_ = std::min(text_.find_first_of(blanks, start), text_.size());
    return text_.substr(start, at_ - start);
  }
  double number() {
    const std::string_view text = word();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // What is no number is one of its own kind: the grid's check says where it stands.
    if (error == std::errc::result_out_of_range) return infinity;
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
      throw Error(name_, text.empty() ? "is cut short: numbers are missing" : fmt::format("{} is not a number", in_quotes(text)));
    return value;
  }
  std::int64_t count() {
    const double value = number();
    if (!(value >= 0) || value > static_cast<double>(most_points) || value != std::floor(value))
      throw Error(name_, fmt::format("{:.6g} is not a count", value));
    return static_cast<std::int64_t>(value);
  }
  /// Behind the end of the line.
  std::size_t skip_line() { return at_ = std::min(text_.find('\n', at_), text_.size() - 1) + 1; }
  [[nodiscard]] std::size_t at() const { return at_; }
  void go(std::size_t at) { at_ = std::min(at, text_.size()); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

 private:
  std::string_view text_;
  const std::string& name_;
  std::size_t at_;
};

template <std::size_t count>
std::array<double, count> numbers(std::string_view text, const std::string& name) {
  Words words(text, name);
  std::array<double, count> out{};
  for (double& x : out) x = words.number();
  return out;
}

/// Numbers as bytes: floats or doubles, of this order of bytes.
std::vector<double> from_bytes(std::string_view bytes, std::size_t size, std::int64_t count, bool little,
                               const std::string& name) {
  if (bytes.size() < size * static_cast<std::size_t>(count)) throw Error(name, "is cut short: numbers are missing");
  std::vector<double> out(static_cast<std::size_t>(count));
  for (std::size_t n = 0; n < out.size(); ++n) {
    std::array<char, 8> raw{};
    std::memcpy(raw.data(), bytes.data() + n * size, size);
    if (little != (std::endian::native == std::endian::little))
      std::reverse(raw.begin(), raw.begin() + static_cast<std::ptrdiff_t>(size));
    if (size == 4) {
      float value = 0;
      std::memcpy(&value, raw.data(), 4);
      out[n] = static_cast<double>(value);
    } else {
      std::memcpy(&out[n], raw.data(), 8);
    }
  }
  return out;
}

/// Bytes of a kind of number; 0 for those that velocities are not given in.
std::size_t size_of(std::string_view type) {
  if (type == "Float32" || type == "float") return 4;
  if (type == "Float64" || type == "double") return 8;
  return 0;
}

/// Bytes of any kind of number that a legacy file may hold; 0 where it is not known.
std::size_t bytes_of(std::string_view type) {
  if (const std::size_t size = size_of(type); size > 0) return size;
  if (type == "char" || type == "unsigned_char") return 1;
  if (type == "short" || type == "unsigned_short") return 2;
  if (type == "int" || type == "unsigned_int") return 4;
  return type == "long" || type == "unsigned_long" || type == "vtktypeint64" ? 8 : 0;
}

/// Points of a grid of so many points or, where values stand in cells, of their middles.
FlowGrid grid_of(const std::array<std::int64_t, 3>& points, const Vec3& origin, const Vec3& spacing, bool in_cells,
                 const std::string& name) {
  FlowGrid out;
  out.origin = origin;
  out.spacing = spacing;
  std::int64_t all = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    std::int64_t n = points[a];
    if (n < 1) throw Error(name, "has a grid without points");
    if (in_cells && n > 1) out.origin[static_cast<Eigen::Index>(a)] += spacing[static_cast<Eigen::Index>(a)] / 2;
    if (in_cells) n = std::max<std::int64_t>(n - 1, 1);
    if (n > most_points / all) throw Error(name, "has a grid with more points than can be");
    out.points[a] = static_cast<int>(n);
    all *= n;
  }
  return out;
}

void take(const std::vector<double>& values, FlowGrid& grid) {
  grid.velocity.resize(values.size() / 3);
  for (std::size_t n = 0; n < grid.velocity.size(); ++n) grid.velocity[n] = Eigen::Map<const Vec3>(&values[3 * n]);
}

std::int64_t count_of(const FlowGrid& grid) { return std::int64_t{1} * grid.points[0] * grid.points[1] * grid.points[2]; }

[[noreturn]] void no_array(const std::string& array, const std::vector<std::string>& known, const std::string& name) {
  throw Error(name, known.empty() ? fmt::format("holds no array {}, and no other either", in_quotes(array))
                                  : fmt::format("holds no array {}; {}", in_quotes(array), suggestion(array, known)));
}

}  // namespace

FlowGrid read_vti(std::string_view text, const std::string& array, const std::string& name) {
  const std::optional<Tag> file = next_tag(text, "VTKFile", 0, text.size()), image = next_tag(text, "ImageData", 0, text.size());
  if (!file || !image || attribute(*file, "type") != "ImageData") throw Error(name, "is not image data of VTK (.vti)");
  if (!attribute(*file, "compressor").empty())
    throw Error(name, "is compressed, which is not read; write it without a compressor");
  const bool little = attribute(*file, "byte_order") != "BigEndian", long_header = attribute(*file, "header_type") == "UInt64";
  if (attribute(*image, "WholeExtent").empty()) throw Error(name, "has no WholeExtent");
  if (const std::string_view turned = attribute(*image, "Direction"); !turned.empty()) {
    const auto d = numbers<9>(turned, name);
    if (Eigen::Map<const Mat3>(d.data()) != Mat3::Identity()) throw Error(name, "has axes that are turned, which is not read");
  }
  const auto extent = numbers<6>(attribute(*image, "WholeExtent"), name);
  std::array<std::int64_t, 3> points{};
  for (std::size_t a = 0; a < 3; ++a) {
    const double n = extent[2 * a + 1] - extent[2 * a] + 1;
    if (!(n >= 1 && n < static_cast<double>(most_points))) throw Error(name, "has an extent that makes no sense");
    points[a] = static_cast<std::int64_t>(n);
  }
  const std::optional<Tag> piece = next_tag(text, "Piece", image->after, text.size());
  if (!piece || next_tag(text, "Piece", piece->after, text.size()) || numbers<6>(attribute(*piece, "Extent"), name) != extent)
    throw Error(name, "is not one piece; write it as one");
  const auto or_else = [&](std::string_view key, const char* usual) {
    const std::string_view given = attribute(*image, key);
    const auto three = numbers<3>(given.empty() ? std::string_view(usual) : given, name);
    return Vec3(three[0], three[1], three[2]);
  };
  const Vec3 spacing = or_else("Spacing", "1 1 1"), first(extent[0], extent[2], extent[4]);
  const Vec3 origin = or_else("Origin", "0 0 0") + first.cwiseProduct(spacing);
  std::vector<std::string> known;
  for (const bool in_cells : {false, true}) {
    const std::string_view kind = in_cells ? "CellData" : "PointData";
    const std::optional<Tag> data = next_tag(text, kind, piece->after, text.size());
    if (!data || data->empty) continue;
    const std::size_t end = std::min(text.find(fmt::format("</{}", kind), data->after), text.size());
    std::size_t at = data->after;
    while (const std::optional<Tag> found = next_tag(text, "DataArray", at, end)) {
      at = found->after;
      known.emplace_back(attribute(*found, "Name"));
      if (known.back() != array) continue;
      const std::size_t size = size_of(attribute(*found, "type"));
      if (size == 0 || attribute(*found, "NumberOfComponents") != "3")
        throw Error(name, fmt::format("{} must be three numbers (Float32 or Float64) for each point", in_quotes(array)));
      FlowGrid out = grid_of(points, origin, spacing, in_cells, name);
      const std::int64_t count = 3 * count_of(out);
      const std::string_view format = attribute(*found, "format");
      if (format == "ascii") {
        Words words(text.substr(0, std::min(text.find('<', at), text.size())), name, at);
        std::vector<double> values;
        for (std::int64_t n = 0; n < count; ++n) values.push_back(words.number());
        take(values, out);
        return out;
      }
      // Bytes: their number, then themselves; here, or behind an underscore at the file's end.
      std::string_view place = text.substr(at);
      bool encoded = format == "binary";
      if (format == "appended") {
        const std::optional<Tag> appended = next_tag(text, "AppendedData", end, text.size());
        const std::size_t mark = appended ? text.find('_', appended->after) : text.npos;
        const std::optional<long long> offset = to_integer(attribute(*found, "offset"));
        if (mark == text.npos || !offset || *offset < 0 || static_cast<std::size_t>(*offset) > text.size() - mark - 1)
          throw Error(name, "is cut short: its appended data are missing");
        encoded = attribute(*appended, "encoding") != "raw";
        place = text.substr(mark + 1 + static_cast<std::size_t>(*offset));
      } else if (!encoded) {
        throw Error(name, fmt::format("has data in a format that is not read, {}", in_quotes(format)));
      }
      const std::size_t header = long_header ? 8 : 4, bytes = static_cast<std::size_t>(count) * size;
      std::string decoded;
      if (encoded) {
        decoded = from_base64(place, header + bytes);
        place = decoded;
      }
      if (place.size() < header) throw Error(name, "is cut short: numbers are missing");
      std::uint64_t said = 0;
      for (std::size_t n = 0; n < header; ++n)
        said |= static_cast<std::uint64_t>(static_cast<unsigned char>(place[n])) << 8 * (little ? n : header - 1 - n);
      if (said != bytes)
        throw Error(name, fmt::format("says that {} has {} bytes, and its grid needs {}", in_quotes(array), said, bytes));
      take(from_bytes(place.substr(header), size, count, little, name), out);
      return out;
    }
  }
  no_array(array, known, name);
}

FlowGrid read_legacy_vtk(std::string_view text, const std::string& array, const std::string& name) {
  Words words(text, name);
  if (!text.starts_with("# vtk DataFile")) throw Error(name, "is not a VTK file");
  words.skip_line();
  words.skip_line();
  const std::string_view coding = words.word();
  if (coding != "ASCII" && coding != "BINARY") throw Error(name, "says neither ASCII nor BINARY in its third line");
  if (words.word() != "DATASET" || words.word() != "STRUCTURED_POINTS")
    throw Error(name, "is not a dataset of structured points, which alone are read of .vtk files");
  std::array<std::int64_t, 3> points{};
  Vec3 origin = Vec3::Zero(), spacing = Vec3::Ones();
  std::vector<std::string> known;
  bool in_cells = false;
  std::int64_t tuples = 0;
  // An array of so many numbers of this kind; those of the one that is wanted.
  const auto data = [&](std::string_view type, std::int64_t count, bool wanted) {
    std::vector<double> out;
    if (coding == "ASCII") {
      for (std::int64_t n = 0; n < count; ++n) {
        const double value = words.number();
        if (wanted) out.push_back(value);
      }
      return out;
    }
    const std::size_t size = bytes_of(type);
    if (size == 0) throw Error(name, fmt::format("has numbers of the kind {} in it, which is not read", in_quotes(type)));
    words.skip_line();
    if (wanted) out = from_bytes(words.rest(), size_of(type), count, false, name);
    words.go(words.at() + size * static_cast<std::size_t>(count));
    return out;
  };
  for (std::string_view word = words.word(); !word.empty(); word = words.word()) {
    if (word == "DIMENSIONS") {
      for (std::int64_t& n : points) n = words.count();
    } else if (word == "ORIGIN") {
      for (double& x : origin) x = words.number();
    } else if (word == "SPACING" || word == "ASPECT_RATIO") {
      for (double& x : spacing) x = words.number();
    } else if (word == "POINT_DATA" || word == "CELL_DATA") {
      in_cells = word == "CELL_DATA";
      tuples = words.count();
      if (tuples != count_of(grid_of(points, origin, spacing, in_cells, name)))
        throw Error(name, fmt::format("has {} of another number than its grid has", word));
    } else if (word == "METADATA") {  // up to an empty line
      const std::size_t end = text.find("\n\n", words.at());
      words.go(end == text.npos ? text.size() : end);
    } else if (word == "VECTORS" || word == "NORMALS" || word == "SCALARS" || word == "FIELD") {
      known.emplace_back(words.word());
      std::string_view type = word == "FIELD" ? std::string_view() : words.word();
      std::int64_t arrays = word == "FIELD" ? words.count() : 1, components = 3, count = tuples;
      if (word == "SCALARS") {
        components = 1;
        const std::size_t here = words.at();
        std::string_view next = words.word();
        if (next != "LOOKUP_TABLE") {
          words.go(here);
          components = words.count();
          next = words.word();
        }
        words.word();  // the table's name
      }
      for (; arrays > 0; --arrays) {
        if (word == "FIELD") {
          known.emplace_back(words.word());
          components = words.count();
          count = words.count();
          type = words.word();
        }
        const bool wanted = known.back() == array;
        if (wanted && (components != 3 || count != tuples || size_of(type) == 0))
          throw Error(name, fmt::format("{} must be three numbers (float or double) for each point", in_quotes(array)));
        if (components > 100 || count > most_points) throw Error(name, "has an array of a size that makes no sense");
        const std::vector<double> values = data(type, components * count, wanted);
        if (!wanted) continue;
        FlowGrid out = grid_of(points, origin, spacing, in_cells, name);
        take(values, out);
        return out;
      }
    } else {
      throw Error(name, fmt::format("has {} in it, which is not read", in_quotes(word)));
    }
  }
  no_array(array, known, name);
}

std::vector<ImageAtTime> read_pvd(std::string_view text, const std::string& name) {
  std::vector<ImageAtTime> out;
  std::size_t at = 0;
  while (const std::optional<Tag> found = next_tag(text, "DataSet", at, text.size())) {
    at = found->after;
    const std::string file(attribute(*found, "file"));
    if (!file.ends_with(".vti")) continue;
    const std::optional<double> time = to_double(attribute(*found, "timestep"));
    if (!time || !std::isfinite(*time)) throw Error(name, fmt::format("gives no time for {}", in_quotes(file)));
    out.push_back({*time, file});
  }
  if (out.empty()) throw Error(name, "lists no .vti files");
  std::stable_sort(out.begin(), out.end(), [](const ImageAtTime& a, const ImageAtTime& b) { return a.time < b.time; });
  for (std::size_t k = 1; k < out.size(); ++k)
    if (out[k].time == out[k - 1].time)
      throw Error(name, fmt::format("lists two .vti files at the time {:.6g}; a field is one of them", out[k].time));
  return out;
}

}  // namespace rotule
