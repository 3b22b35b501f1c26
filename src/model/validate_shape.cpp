#include "model/validate_shape.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <map>

#include "model/scene_fields.h"
#include "model/validate.h"

namespace rotule {
namespace {

struct SizeCheck {
  const Place& place;
  void operator()(const Field& field, double value, Need = {}) const { check_range(place / field.name, field, value); }
  void operator()(const Field& field, const Vec3& value, Need = {}) const {
    const Place here = place / field.name;
    for (int k = 0; k < 3; ++k) check_range(here / static_cast<std::size_t>(k), field, value[k]);
  }
  void operator()(const Field& field, const Quat& value, Need = {}) const {
    if (!value.coeffs().allFinite() || !(value.norm() >= 1e-6))
      fail(place / field.name, "must be a quaternion w, x, y, z of length 1, such as [1, 0, 0, 0] for no rotation");
  }
  void operator()(const Field& field, const std::vector<Vec3>& points, Need = {}) const {
    const Place here = place / field.name;
    for (std::size_t i = 0; i < points.size(); ++i)
      if (!points[i].allFinite()) fail(here / i, "must be finite numbers");
  }
  void operator()(const Field& field, const std::optional<DecompositionSettings>& value, Need = {}) const {
    if (!value) return;
    const Place here = place / field.name;
    visit_fields(*value, [&](const Field& inner, auto number) { check_range(here / inner.name, inner, number); });
  }
  template <class T>
  void operator()(const Field&, const T&, Need = {}) const {}
};

void check_inside(const ConvexHull& hull, const Place& place, int) {
  constexpr double flat = 1e-9;  // thickness over extent
  const Place points = place / "points";
  if (hull.points.size() < 4) fail(points, fmt::format("must be at least 4 points, are {}", hull.points.size()));
  Vec3 mean = Vec3::Zero();
  for (const Vec3& p : hull.points) mean += p / static_cast<double>(hull.points.size());
  Mat3 spread = Mat3::Zero();
  for (const Vec3& p : hull.points) spread += (p - mean) * (p - mean).transpose();
  const Vec3 squares = Eigen::SelfAdjointEigenSolver<Mat3>(spread, Eigen::EigenvaluesOnly).eigenvalues();
  if (!(squares[0] > flat * flat * squares[2])) fail(points, "must not all lie in one plane; add a point outside it");
}

void check_inside(const TriangleMesh& mesh, const Place& place, int) {
  const Place triangles = place / "triangles";
  if (!mesh.file.empty() && mesh.triangles.empty()) fail(place / "file", "is named, but was not read; `read_mesh` does that");
  if (mesh.triangles.size() < 4) fail(triangles, fmt::format("must be at least 4 triangles, are {}", mesh.triangles.size()));
  // A surface is closed and consistently turned where every directed edge is met by exactly one running the other way.
  std::map<std::pair<int, int>, std::size_t> edges;
  double volume = 0;
  for (std::size_t i = 0; i < mesh.triangles.size(); ++i) {
    const auto& t = mesh.triangles[i];
    for (std::size_t k = 0; k < 3; ++k) {
      if (t[k] < 0 || static_cast<std::size_t>(t[k]) >= mesh.vertices.size())
        fail((triangles / i) / k,
             fmt::format("must be the number of a vertex, 0 to {}, is {}", static_cast<long>(mesh.vertices.size()) - 1, t[k]));
      if (!edges.emplace(std::pair(t[k], t[(k + 1) % 3]), i).second)
        fail(triangles / i,
             fmt::format("runs along the edge from {} to {} in the same direction as another triangle; turn one of them", t[k],
                         t[(k + 1) % 3]));
    }
    volume += mesh.vertices[t[0]].dot(mesh.vertices[t[1]].cross(mesh.vertices[t[2]])) / 6;
  }
  for (const auto& [edge, i] : edges)
    if (!edges.contains({edge.second, edge.first}))
      fail(triangles / i, fmt::format("the surface is open at the edge from {} to {}; close it", edge.first, edge.second));
  if (!(volume > 0)) fail(triangles, "enclose no volume; order the corners counter-clockwise seen from outside");
}

void check_inside(const HeightField& field, const Place& place, int) {
  const Place heights = place / "heights";
  if (field.columns < 2) fail(place / "columns", fmt::format("must be at least 2, is {}", field.columns));
  const auto columns = static_cast<std::size_t>(field.columns);
  if (field.heights.size() < 2 * columns || field.heights.size() % columns != 0)
    fail(heights, fmt::format("must be full rows of {} columns, at least two, are {} numbers", columns, field.heights.size()));
  for (std::size_t i = 0; i < field.heights.size(); ++i)
    if (!std::isfinite(field.heights[i])) fail(heights / i, "must be a finite number");
}

void check_inside(const Compound& compound, const Place& place, int depth) {
  constexpr int deepest = 32;
  const Place parts = place / "parts";
  if (compound.parts.empty()) fail(parts, "must hold at least one part");
  if (depth >= deepest) fail(parts, fmt::format("compounds are nested deeper than {}", deepest));
  for (std::size_t i = 0; i < compound.parts.size(); ++i) {
    const Place part = parts / i;
    if (std::holds_alternative<std::monostate>(compound.parts[i].shape)) fail(part / "shape", "missing; a part needs a shape");
    visit_fields(compound.parts[i], SizeCheck{part});
    validate_shape(compound.parts[i].shape, part / "shape", depth + 1);
  }
}

template <class Simple>
void check_inside(const Simple&, const Place&, int) {}

}  // namespace

void validate_shape(const Shape& shape, const Place& place, int depth) {
  std::visit(
      [&]<class S>(const S& s) {
        if constexpr (!std::is_same_v<S, std::monostate>) {
          const Place here = place / Kind<S>::name;
          visit_fields(s, SizeCheck{here});
          check_inside(s, here, depth);
        }
      },
      shape);
}

}  // namespace rotule
