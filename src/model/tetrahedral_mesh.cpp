#include "model/tetrahedral_mesh.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>
#include <unordered_map>

namespace rotule {
namespace {

struct Mesh {
  std::vector<Vec3> nodes;
  std::vector<std::array<int, 4>> tetrahedra;
};

/// Lines of a text file, counted, comments of # left out.
class Lines {
 public:
  explicit Lines(const std::string& path) : path_(path), file_(path) {
    if (!file_) throw Error(path, "cannot be read");
  }
  bool next(std::istringstream& line) {
    std::string text;
    while (std::getline(file_, text)) {
      ++number_;
      text = text.substr(0, text.find('#'));
      if (!text.empty() && text.back() == '\r') text.pop_back();
      if (text.find_first_not_of(" \t") == text.npos) continue;
      line.clear();
      line.str(text);
      return true;
    }
    return false;
  }
  void need(std::istringstream& line, const char* what) {
    if (!next(line)) fail(fmt::format("ends where {} should be", what));
  }
  template <class... T>
  void read(std::istringstream& line, const char* what, T&... values) {
    if (!(line >> ... >> values)) fail(fmt::format("must be {}", what));
  }
  [[noreturn]] void fail(const std::string& message) const { throw Error(fmt::format("{}: line {}", path_, number_), message); }

 private:
  std::string path_;
  std::ifstream file_;
  int number_ = 0;
};

constexpr long most_nodes = 100'000'000;

long read_count(Lines& lines, std::istringstream& line, const char* what) {
  long count = 0;
  lines.need(line, what);
  lines.read(line, what, count);
  if (count < 0 || count > most_nodes) lines.fail(fmt::format("must be a count from 0 to {}, is {}", most_nodes, count));
  return count;
}

int found(const std::unordered_map<long, int>& place, long number, const Lines& lines) {
  const auto at = place.find(number);
  if (at == place.end()) lines.fail(fmt::format("names node {}, which is not there", number));
  return at->second;
}

void add_node(Mesh& mesh, std::unordered_map<long, int>& place, long number, const Vec3& x, const Lines& lines) {
  if (!x.allFinite()) lines.fail("must be finite coordinates");
  if (!place.emplace(number, static_cast<int>(mesh.nodes.size())).second) lines.fail(fmt::format("gives node {} twice", number));
  mesh.nodes.push_back(x);
}

Mesh read_gmsh(const std::string& path) {
  Lines lines(path);
  Mesh mesh;
  std::unordered_map<long, int> place;
  std::istringstream line;
  bool has_format = false;
  while (lines.next(line)) {
    std::string section;
    line >> section;
    if (section == "$MeshFormat") {
      double version = 0;
      int type = 0;
      lines.need(line, "the version");
      lines.read(line, "version, file type and data size", version, type);
      if (version < 2 || version >= 3 || type != 0)
        lines.fail(fmt::format("is format {} ({}); save it as version 2 ASCII (gmsh -format msh2)", version,
                               type == 0 ? "ASCII" : "binary"));
      has_format = true;
    } else if (section == "$Nodes") {
      for (long n = read_count(lines, line, "the number of nodes"); n > 0; --n) {
        long number = 0;
        Vec3 x;
        lines.need(line, "a node");
        lines.read(line, "a node: number x y z", number, x[0], x[1], x[2]);
        add_node(mesh, place, number, x, lines);
      }
    } else if (section == "$Elements") {
      for (long n = read_count(lines, line, "the number of elements"); n > 0; --n) {
        constexpr int tetrahedron = 4;
        long number = 0, tag = 0;
        int type = 0, tags = 0;
        lines.need(line, "an element");
        lines.read(line, "an element: number type tags ... nodes ...", number, type, tags);
        if (type != tetrahedron) continue;
        for (int k = 0; k < tags; ++k) lines.read(line, "an element with all its tags", tag);
        std::array<int, 4> corners{};
        for (int& corner : corners) {
          lines.read(line, "a tetrahedron of four nodes", tag);
          corner = found(place, tag, lines);
        }
        mesh.tetrahedra.push_back(corners);
      }
    }
  }
  if (!has_format) throw Error(path, "is not a Gmsh file: there is no $MeshFormat");
  return mesh;
}

Mesh read_tetgen(const std::string& path) {
  Mesh mesh;
  std::unordered_map<long, int> place;
  std::istringstream line;
  {
    Lines lines(path);
    for (long n = read_count(lines, line, "the number of nodes"); n > 0; --n) {
      long number = 0;
      Vec3 x;
      lines.need(line, "a node");
      lines.read(line, "a node: number x y z", number, x[0], x[1], x[2]);
      add_node(mesh, place, number, x, lines);
    }
  }
  Lines lines(path.substr(0, path.size() - 5) + ".ele");
  for (long n = read_count(lines, line, "the number of tetrahedra"); n > 0; --n) {
    long number = 0;
    std::array<long, 4> corners{};
    lines.need(line, "a tetrahedron");
    lines.read(line, "a tetrahedron: number and four nodes", number, corners[0], corners[1], corners[2], corners[3]);
    std::array<int, 4> places{};
    for (std::size_t k = 0; k < 4; ++k) places[k] = found(place, corners[k], lines);
    mesh.tetrahedra.push_back(places);
  }
  return mesh;
}

Mesh read_mesh(const std::string& file) {
  if (file.empty()) throw Error("must name a file");
  Mesh mesh;
  if (file.ends_with(".msh")) {
    mesh = read_gmsh(file);
  } else if (file.ends_with(".node")) {
    mesh = read_tetgen(file);
  } else {
    throw Error(file, "is neither .msh (Gmsh) nor .node (TetGen)");
  }
  if (mesh.tetrahedra.empty()) throw Error(file, "holds no tetrahedra");
  return mesh;
}

/// Particles at the nodes that tetrahedra use (Gmsh writes those of its geometry too, which would fly about alone), each with its
/// share of the volume around it; tetrahedra are numbered anew.
template <class Def>
ParticleGroup nodes_of(const Def& def, Mesh& mesh, std::vector<double>& shares, double& volume) {
  std::vector<double> share(mesh.nodes.size(), 0.0);
  volume = 0;
  for (std::size_t n = 0; n < mesh.tetrahedra.size(); ++n) {
    const auto& [a, b, c, d] = mesh.tetrahedra[n];
    const auto x = [&](int k) { return mesh.nodes[static_cast<std::size_t>(k)]; };
    const double six = std::abs((x(b) - x(a)).dot((x(c) - x(a)).cross(x(d) - x(a))));
    const double edge = std::max({(x(b) - x(a)).norm(), (x(c) - x(a)).norm(), (x(d) - x(a)).norm()});
    if (!(six > 1e-12 * edge * edge * edge)) throw Error(def.file, fmt::format("tetrahedron {} has no volume", n));
    volume += six;
    for (const int corner : mesh.tetrahedra[n]) share[static_cast<std::size_t>(corner)] += six / 4;
  }
  std::vector<int> place(mesh.nodes.size(), -1);
  ParticleGroup group;
  group.name = def.name;
  for (std::size_t k = 0; k < mesh.nodes.size(); ++k) {
    if (share[k] == 0) continue;
    place[k] = static_cast<int>(group.positions.size());
    group.positions.push_back(def.at + def.scale * mesh.nodes[k]);
    shares.push_back(share[k]);
  }
  if (!def.velocity.isZero(0)) group.velocities = {def.velocity};
  for (const int node : def.pinned) {
    if (node < 0 || static_cast<std::size_t>(node) >= place.size() || place[static_cast<std::size_t>(node)] < 0)
      throw Error(def.file, fmt::format("has no node {} to pin", node));
    group.pinned.push_back(place[static_cast<std::size_t>(node)]);
  }
  for (std::array<int, 4>& corners : mesh.tetrahedra)
    for (int& corner : corners) corner = place[static_cast<std::size_t>(corner)];
  return group;
}

}  // namespace

ParticleGroup tetrahedral_group(const TetrahedralMesh& def) {
  Mesh mesh = read_mesh(def.file);
  std::vector<double> shares;
  double volume = 0;
  ParticleGroup group = nodes_of(def, mesh, shares, volume);
  for (const double share : shares) group.masses.push_back(def.mass * share / volume);
  std::set<std::array<int, 2>> edges;
  for (const auto& corners : mesh.tetrahedra)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t j = i + 1; j < 4; ++j) edges.insert({std::min(corners[i], corners[j]), std::max(corners[i], corners[j])});
  SpringSet set{.stiffness = def.stiffness, .damping = def.damping};
  set.pairs.assign(edges.begin(), edges.end());
  group.springs.push_back(std::move(set));
  return group;
}

ParticleGroup tetrahedral_group(const ElasticMesh& def) {
  Mesh mesh = read_mesh(def.file);
  std::vector<double> shares;
  double volume = 0;
  ParticleGroup group = nodes_of(def, mesh, shares, volume);
  group.tetrahedra.push_back({.tetrahedra = std::move(mesh.tetrahedra), .material = def.material});
  return group;
}

}  // namespace rotule
