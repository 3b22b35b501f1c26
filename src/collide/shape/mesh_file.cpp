#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/meshes.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <tuple>

#include "base/text.h"

namespace rotule {
namespace {

/// The words of a text, line by line.
class Words {
 public:
  Words(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  bool next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = text_.substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    return true;
  }
  std::string_view next() {
    constexpr std::string_view blank = " \t\r\f\v";
    const std::size_t first = std::min(line_.find_first_not_of(blank), line_.size());
    const std::size_t end = std::min(line_.find_first_of(blank, first), line_.size());
    const std::string_view word = line_.substr(first, end - first);
    line_.remove_prefix(end);
    return word;
  }
  double number() {
    const std::string_view word = next();
    const std::optional<double> value = to_double(word);
    if (!value || !std::isfinite(*value)) fail(fmt::format("must be a finite number, is {}", in_quotes(word)));
    return *value;
  }
  Vec3 vector() {
    Vec3 v;
    for (int k = 0; k < 3; ++k) v[k] = number();
    return v;
  }
  [[noreturn]] void fail(const std::string& message) const { throw Error(fmt::format("{}: line {}", name_, number_), message); }

 private:
  std::string_view text_, line_;
  const std::string& name_;
  std::size_t at_ = 0;
  long number_ = 0;
};

/// Corners that are equal in every bit become one vertex.
class VertexMerger {
 public:
  explicit VertexMerger(TriangleMesh& mesh) : mesh_(mesh) {}
  int operator()(const Vec3& v) {
    // + 0.0 turns -0 into 0.
    const auto [place, fresh] = known_.try_emplace({v.x() + 0.0, v.y() + 0.0, v.z() + 0.0}, int(mesh_.vertices.size()));
    if (fresh) mesh_.vertices.push_back(v);
    return place->second;
  }

 private:
  TriangleMesh& mesh_;
  std::map<std::tuple<double, double, double>, int> known_;
};

TriangleMesh read_binary_stl(std::string_view bytes, std::uint32_t count, const std::string& name) {
  static_assert(std::endian::native == std::endian::little);
  TriangleMesh mesh;
  VertexMerger vertex(mesh);
  for (std::uint32_t t = 0; t < count; ++t) {
    std::array<float, 12> numbers;  // a normal, which is not needed, and three corners
    std::memcpy(numbers.data(), bytes.data() + 84 + 50 * std::size_t(t), sizeof numbers);
    std::array<int, 3> triangle;
    for (int k = 0; k < 3; ++k) {
      const Vec3 v(numbers[3 + 3 * k], numbers[4 + 3 * k], numbers[5 + 3 * k]);
      if (!v.allFinite()) throw Error(fmt::format("{}: triangle {}", name, t), "has a corner that is not finite");
      triangle[k] = vertex(v);
    }
    mesh.triangles.push_back(triangle);
  }
  return mesh;
}

TriangleMesh read_text_stl(std::string_view text, const std::string& name) {
  TriangleMesh mesh;
  VertexMerger vertex(mesh);
  Words words(text, name);
  std::array<int, 3> triangle{};
  int corners = -1;  // -1: outside of a facet
  bool ended = false;
  while (words.next_line()) {
    const std::string_view word = words.next();
    if (word == "facet") {
      if (corners >= 0) words.fail("a facet begins inside another");
      corners = 0;
    } else if (word == "vertex") {
      if (corners < 0 || corners > 2) words.fail("a vertex must be one of the three of a facet");
      triangle[corners++] = vertex(words.vector());
    } else if (word == "endfacet") {
      if (corners != 3) words.fail("a facet must have three vertices");
      mesh.triangles.push_back(triangle);
      corners = -1;
    } else if (word == "endsolid") {
      ended = true;
    } else if (!word.empty() && word != "solid" && word != "outer" && word != "endloop") {
      words.fail(fmt::format("{} is no word of an STL file", in_quotes(word)));
    }
  }
  if (corners >= 0 || !ended) throw Error(name, "is cut short: \"endsolid\" is missing");
  return mesh;
}

}  // namespace

TriangleMesh read_obj(std::string_view text, const std::string& name) {
  TriangleMesh mesh;
  Words words(text, name);
  std::vector<int> face;
  while (words.next_line()) {
    const std::string_view kind = words.next();
    if (kind == "v") {
      mesh.vertices.push_back(words.vector());
    } else if (kind == "f") {
      face.clear();
      for (std::string_view corner = words.next(); !corner.empty(); corner = words.next()) {
        // "7", "7/1", "7/1/2", "7//2": the vertex is what comes first; negative numbers count from the last vertex.
        const std::optional<long long> given = to_integer(corner.substr(0, corner.find('/')));
        const auto count = static_cast<long long>(mesh.vertices.size());
        const long long v = !given ? -1 : (*given > 0 ? *given - 1 : (*given < 0 && *given >= -count ? count + *given : -1));
        if (v < 0 || v >= count)
          words.fail(fmt::format("a face names vertex {}; there are {} before it", in_quotes(corner), count));
        face.push_back(static_cast<int>(v));
      }
      if (face.size() < 3) words.fail(fmt::format("a face must have at least three corners, has {}", face.size()));
      for (std::size_t i = 2; i < face.size(); ++i) mesh.triangles.push_back({face[0], face[i - 1], face[i]});
    }
  }
  if (mesh.triangles.empty()) throw Error(name, "holds no faces");
  return mesh;
}

TriangleMesh read_stl(std::string_view bytes, const std::string& name) {
  // Binary files may begin with "solid" too; what tells them is that their length fits their count.
  std::uint32_t count = 0;
  if (bytes.size() >= 84) std::memcpy(&count, bytes.data() + 80, sizeof count);
  const bool fits = bytes.size() >= 84 && bytes.size() == 84 + 50 * std::size_t(count);
  TriangleMesh mesh;
  if (fits) {
    mesh = read_binary_stl(bytes, count, name);
  } else if (bytes.substr(0, 5) == "solid") {
    mesh = read_text_stl(bytes, name);
  } else {
    throw Error(name, bytes.size() < 84
                          ? fmt::format("is no STL file: {} bytes are fewer than a header", bytes.size())
                          : fmt::format("announces {} triangles, which need {} bytes, and has {}; it is cut short or no STL file",
                                        count, 84 + 50 * std::size_t(count), bytes.size()));
  }
  if (mesh.triangles.empty()) throw Error(name, "holds no triangles");
  return mesh;
}

TriangleMesh read_mesh(const std::string& path, double scale) {
  if (!(scale > 0) || !std::isfinite(scale)) throw Error(path, fmt::format("its scale must be greater than 0, is {}", scale));
  const std::size_t dot = path.find_last_of('.');
  std::string ending = dot == std::string::npos ? "" : path.substr(dot + 1);
  for (char& c : ending) c = char(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  if (ending != "obj" && ending != "stl") throw Error(path, "is no mesh file; its name must end in .obj or .stl");
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path, "cannot be opened");
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw Error(path, "cannot be read");
  TriangleMesh mesh = ending == "obj" ? read_obj(bytes, path) : read_stl(bytes, path);
  for (Vec3& vertex : mesh.vertices) vertex *= scale;
  mesh.file = path;
  mesh.scale = scale;
  return mesh;
}

}  // namespace rotule
