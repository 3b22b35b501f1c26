#include "robot/mesh_files.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/meshes.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "base/text.h"
#include "model/convex_hull.h"
#include "model/validate_shape.h"

namespace rotule::robot {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_hull_points = 256;  // of a hull that collides
constexpr int most_parents = 8;                // in which a package is looked for

/// As the file system has it, links followed; of what is not there as far as it goes.
fs::path settled(const fs::path& path) {
  std::error_code error;
  fs::path out = fs::weakly_canonical(fs::absolute(path), error);
  return error ? fs::absolute(path).lexically_normal() : out;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// The points on the surface; where they are many, those that are furthest in evenly spread directions.
std::vector<Vec3> hull_points(const TriangleMesh& mesh, const Element& element, Remarks& remarks) {
  const TriangleMesh hull = hull_mesh(ConvexHull{mesh.vertices});
  std::set<int> used;
  for (const std::array<int, 3>& triangle : hull.triangles) used.insert(triangle.begin(), triangle.end());
  std::vector<Vec3> all;
  for (const int k : used) all.push_back(hull.vertices[static_cast<std::size_t>(k)]);
  if (all.size() <= most_hull_points) return all;
  std::set<std::size_t> kept;
  for (std::size_t n = 0; n < most_hull_points; ++n) {
    const double z = 1 - (2 * static_cast<double>(n) + 1) / most_hull_points, r = std::sqrt(1 - z * z);
    const double turn = std::numbers::pi * (3 - std::sqrt(5.0)) * static_cast<double>(n);  // Fibonacci's spiral
    const Vec3 d(r * std::cos(turn), r * std::sin(turn), z);
    const auto furthest =
        std::max_element(all.begin(), all.end(), [&](const Vec3& a, const Vec3& b) { return a.dot(d) < b.dot(d); });
    kept.insert(static_cast<std::size_t>(furthest - all.begin()));
  }
  std::vector<Vec3> out;
  for (const std::size_t k : kept) out.push_back(all[k]);
  // How far the others stand out of what is left.
  const TriangleMesh rest = hull_mesh(ConvexHull{out});
  double outside = 0;
  for (const std::array<int, 3>& t : rest.triangles) {
    const Vec3 &a = rest.vertices[static_cast<std::size_t>(t[0])], &b = rest.vertices[static_cast<std::size_t>(t[1])],
               &c = rest.vertices[static_cast<std::size_t>(t[2])];
    const Vec3 n = (b - a).cross(c - a).normalized();
    for (const Vec3& p : all) outside = std::max(outside, n.dot(p - a));
  }
  element.remark(remarks, fmt::format("mesh {}", in_quotes(fs::path(mesh.file).filename().string())),
                 fmt::format("its hull of {} points is taken with {} of them; the others stand out by at most {:.2g} m",
                             all.size(), out.size(), outside));
  return out;
}

/// Volume and centre of the tetrahedra between `apex` and all triangles, each counted as positive.
std::pair<double, Vec3> tetrahedra(const TriangleMesh& mesh, const Vec3& apex) {
  double volume = 0;
  Vec3 moment = Vec3::Zero();
  for (const std::array<int, 3>& t : mesh.triangles) {
    const Vec3 a = mesh.vertices[static_cast<std::size_t>(t[0])] - apex, b = mesh.vertices[static_cast<std::size_t>(t[1])] - apex,
               c = mesh.vertices[static_cast<std::size_t>(t[2])] - apex;
    const double v = std::abs(a.dot(b.cross(c))) / 6;
    volume += v;
    moment += 0.25 * v * (a + b + c);
  }
  if (!(volume > 0)) throw Error("it has no volume");
  return {volume, apex + moment / volume};
}

/// About the centre that the tetrahedra on the surface's centroid have.
MassProperties mass_of_tetrahedra(const TriangleMesh& mesh, double density) {
  double area = 0;
  Vec3 centroid = Vec3::Zero();
  const auto corner = [&](const std::array<int, 3>& t, std::size_t k) { return mesh.vertices[static_cast<std::size_t>(t[k])]; };
  for (const std::array<int, 3>& t : mesh.triangles) {
    const double part = 0.5 * (corner(t, 1) - corner(t, 0)).cross(corner(t, 2) - corner(t, 0)).norm();
    area += part;
    centroid += part / 3 * (corner(t, 0) + corner(t, 1) + corner(t, 2));
  }
  if (!(area > 0)) throw Error("it has no surface");
  const Vec3 center = tetrahedra(mesh, centroid / area).second;
  Mat3 second = Mat3::Zero();  // int x x^T dV
  for (const std::array<int, 3>& t : mesh.triangles) {
    const Vec3 a = corner(t, 0) - center, b = corner(t, 1) - center, c = corner(t, 2) - center, sum = a + b + c;
    const double v = std::abs(a.dot(b.cross(c))) / 6;
    second += v / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  return {density * tetrahedra(mesh, center).first, center, density * (second.trace() * Mat3::Identity() - second)};
}

/// A skin: `density` is per area.
MassProperties mass_of_shell(const TriangleMesh& mesh, double density) {
  double area = 0;
  Vec3 moment = Vec3::Zero();
  Mat3 second = Mat3::Zero();  // int x x^T dA
  for (const std::array<int, 3>& t : mesh.triangles) {
    const Vec3 &a = mesh.vertices[static_cast<std::size_t>(t[0])], &b = mesh.vertices[static_cast<std::size_t>(t[1])],
               &c = mesh.vertices[static_cast<std::size_t>(t[2])];
    const Vec3 sum = a + b + c;
    const double part = 0.5 * (b - a).cross(c - a).norm();
    area += part;
    moment += part / 3 * sum;
    second += part / 12 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + sum * sum.transpose());
  }
  if (!(area > 0)) throw Error("it has no surface");
  const Vec3 center = moment / area;
  second -= area * center * center.transpose();
  return {density * area, center, density * (second.trace() * Mat3::Identity() - second)};
}

bool mirrored(const Vec3& scale) { return scale.prod() < 0; }

}  // namespace

MeshFiles::MeshFiles(const fs::path& robot, const RobotOptions& options) : folder_(settled(robot).parent_path()) {
  roots_.push_back(folder_);
  for (const std::string& folder : options.folders) roots_.push_back(settled(folder));
  // The package that the file lies in.
  fs::path at = folder_;
  for (int k = 0; k < most_parents && at.has_relative_path(); ++k, at = at.parent_path()) {
    std::error_code error;
    if (!fs::exists(at / "package.xml", error)) continue;
    roots_.push_back(at);
    break;
  }
}

bool MeshFiles::allowed(const fs::path& path) const {
  return std::any_of(roots_.begin(), roots_.end(), [&](const fs::path& root) { return lies_in(path, root); });
}

fs::path MeshFiles::find(const std::string& name, const fs::path& folder, const Element& element) const {
  std::string rest = name;
  fs::path from = folder;
  for (const std::string_view scheme : {"package://", "model://"}) {
    if (!rest.starts_with(scheme)) continue;
    rest.erase(0, std::min(rest.find_first_not_of('/', scheme.size()), rest.size()));
    const std::string package = rest.substr(0, rest.find('/'));
    rest.erase(0, std::min(rest.size(), package.size() + 1));
    fs::path at = folder_;
    std::optional<fs::path> found;
    std::error_code error;
    for (int k = 0; k < most_parents && !found && !package.empty() && package != "." && package != "..";
         ++k, at = at.parent_path()) {
      if (at.filename() == package) found = at;
      if (!found && fs::exists(at / package / "package.xml", error)) found = settled(at / package);
      if (!at.has_relative_path()) break;
    }
    if (!found)
      element.fail(fmt::format(
          "{}: no folder {} among the parents of {} and no package of that name beside them; put it there, or name the mesh by "
          "a path in the file's folder",
          in_quotes(name), in_quotes(package), folder_.string()));
    roots_.push_back(*found);
    from = *found;
  }
  if (rest.starts_with("file://")) rest.erase(0, 7);
  if (rest.find("://") != rest.npos)
    element.fail(fmt::format("{}: only files, package:// and model:// are read", in_quotes(name)));
  fs::path out = settled(from / rest);
  if (!allowed(out))
    element.fail(fmt::format("{} lies outside of {}; allow its folder, or put it there", in_quotes(name), folder_.string()));
  std::error_code error;
  if (!fs::is_regular_file(out, error)) element.fail(fmt::format("{} is not there: {}", in_quotes(name), out.string()));
  return out;
}

std::optional<TriangleMesh> MeshFiles::read(const fs::path& path, const Vec3& scale, const Element& element, Remarks& remarks) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  if (ending != ".stl" && ending != ".obj") {
    element.remark(remarks, fmt::format("mesh {}", in_quotes(path.filename().string())),
                   "is left out: STL and OBJ are read, by their endings");
    return std::nullopt;
  }
  const auto [at, is_new] = read_.try_emplace(path);
  if (is_new) try {
      at->second = read_mesh(path.string());
    } catch (const Error& error) {
      read_.erase(at);
      element.fail(error.what());
    }
  TriangleMesh out = at->second;
  if (scale == Vec3::Ones()) return out;
  for (Vec3& v : out.vertices) v = v.cwiseProduct(scale);
  if (mirrored(scale))
    for (std::array<int, 3>& t : out.triangles) std::swap(t[1], t[2]);
  return out;
}

std::optional<Shape> shape_of(const TriangleMesh& mesh, const RobotOptions& options, const Element& element, Remarks& remarks) {
  const std::string what = fmt::format("mesh {}", in_quotes(std::filesystem::path(mesh.file).filename().string()));
  try {
    if (options.meshes == RobotOptions::Meshes::parts) {
      TriangleMesh whole = mesh;
      whole.file.clear();
      whole.scale = 1;
      try {
        validate_shape(whole, Place(""));
        return in_convex_parts(std::move(whole));
      } catch (const Error& error) {
        element.remark(remarks, what, fmt::format("cannot be cut into parts ({}); its hull is taken", error.what()));
      }
    }
    return ConvexHull{hull_points(mesh, element, remarks)};
  } catch (const Error& error) {
    element.remark(remarks, what, fmt::format("is left out: {}", error.what()));
  }
  return std::nullopt;
}

MassProperties mass_of(const TriangleMesh& mesh, const std::string& how, double density, const Element& element,
                       Remarks& remarks) {
  const std::string what = fmt::format("mesh {}", in_quotes(std::filesystem::path(mesh.file).filename().string()));
  try {
    if (how == "legacy" && !mesh.triangles.empty()) return mass_of_tetrahedra(mesh, density);
    if (how == "exact") return mass_properties(mesh, density);
    if (how == "shell") return mass_of_shell(mesh, density);
  } catch (const Error& error) {
    element.remark(remarks, what, fmt::format("has no inside to weigh ({}); its hull is weighed", error.what()));
  }
  try {
    return mass_properties(ConvexHull{mesh.vertices}, density);
  } catch (const Error& error) {
    element.remark(remarks, what, fmt::format("weighs nothing: {}", error.what()));
  }
  return {};
}

}  // namespace rotule::robot
