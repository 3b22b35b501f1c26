#include "model/tessellate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "model/convex_hull.h"

namespace rotule {

namespace {

using std::numbers::pi;

/// Points of the unit circle, exact on the axes, so that a shape that is symmetric stays so.
std::vector<Eigen::Vector2d> circle(int segments) {
  std::vector<Eigen::Vector2d> out(static_cast<std::size_t>(segments));
  for (int k = 0; k < segments; ++k) {
    const double angle = 2 * pi * k / segments;
    out[static_cast<std::size_t>(k)] = {std::cos(angle), std::sin(angle)};
  }
  return out;
}

/// One ring of a surface of revolution about z. A ring of radius zero is a point that every segment has its own copy of.
struct Ring {
  double radius, z;
  double slope_radial, slope_z;  // direction of the normal in the (radius, z) half-plane
};

/// Bands between consecutive rings, from the lowest up. Where two rings have the same place, the normal jumps and no band is
/// made.
void revolve(const std::vector<Ring>& rings, int segments, TriangleSurface& out) {
  const std::vector<Eigen::Vector2d> around = circle(segments);
  const int first = static_cast<int>(out.vertices.size());
  for (const Ring& ring : rings)
    for (const Eigen::Vector2d& c : around) {
      out.vertices.emplace_back(ring.radius * c.x(), ring.radius * c.y(), ring.z);
      out.normals.push_back(Vec3(ring.slope_radial * c.x(), ring.slope_radial * c.y(), ring.slope_z).normalized());
    }
  for (std::size_t r = 0; r + 1 < rings.size(); ++r) {
    if (rings[r].radius == rings[r + 1].radius && rings[r].z == rings[r + 1].z) continue;
    for (int k = 0; k < segments; ++k) {
      const int row = first + static_cast<int>(r) * segments, next = (k + 1) % segments;
      const int a = row + k, b = row + next, c = a + segments, d = b + segments;
      if (rings[r].radius > 0) out.triangles.push_back({a, b, rings[r + 1].radius > 0 ? d : c});
      if (rings[r + 1].radius > 0) out.triangles.push_back({a, d, c});
    }
  }
}

/// Rings of a quarter of a ball's meridian, from the pole to the equator (`up` = -1) or back (+1), about (0, 0, z).
void add_quarter(double radius, double z, int up, int count, std::vector<Ring>& rings) {
  for (int k = 0; k <= count; ++k) {
    const int from_equator = up > 0 ? k : count - k;
    const double angle = pi / 2 * from_equator / count;
    const double c = from_equator == count ? 0 : std::cos(angle), s = up * std::sin(angle);
    rings.push_back({radius * c, z + radius * s, c, s});
  }
}

/// A flat polygon's corners all with one normal, as a fan.
void add_polygon(const std::vector<Vec3>& corners, const Vec3& normal, TriangleSurface& out) {
  const int first = static_cast<int>(out.vertices.size());
  for (const Vec3& corner : corners) {
    out.vertices.push_back(corner);
    out.normals.push_back(normal);
  }
  for (int k = 1; k + 1 < static_cast<int>(corners.size()); ++k) out.triangles.push_back({first, first + k, first + k + 1});
}

void add(const std::monostate&, const Tessellation&, TriangleSurface&) {}

void add(const Plane&, const Tessellation& settings, TriangleSurface& out) {
  const double r = settings.plane_size / 2;
  add_polygon({{-r, -r, 0}, {r, -r, 0}, {r, r, 0}, {-r, r, 0}}, Vec3::UnitZ(), out);
}

void add(const Sphere& s, const Tessellation& settings, TriangleSurface& out) {
  std::vector<Ring> rings;
  add_quarter(s.radius, 0, -1, settings.segments / 4, rings);
  rings.pop_back();
  add_quarter(s.radius, 0, 1, settings.segments / 4, rings);
  revolve(rings, settings.segments, out);
}

void add(const Capsule& s, const Tessellation& settings, TriangleSurface& out) {
  std::vector<Ring> rings;
  add_quarter(s.radius, -s.length / 2, -1, settings.segments / 4, rings);
  add_quarter(s.radius, s.length / 2, 1, settings.segments / 4, rings);
  revolve(rings, settings.segments, out);
}

void add(const Ellipsoid& s, const Tessellation& settings, TriangleSurface& out) {
  const std::size_t first = out.vertices.size();
  add(Sphere{1}, settings, out);
  for (std::size_t i = first; i < out.vertices.size(); ++i) {
    out.vertices[i] = out.vertices[i].cwiseProduct(s.radii);
    out.normals[i] = out.normals[i].cwiseQuotient(s.radii).normalized();
  }
}

void add(const Box& s, const Tessellation&, TriangleSurface& out) {
  for (int axis = 0; axis < 3; ++axis)
    for (const double side : {-1.0, 1.0}) {
      Vec3 normal = Vec3::Zero();
      normal[axis] = side;
      std::vector<Vec3> corners;
      for (const auto& [u, v] : {std::pair{-1, -1}, {1, -1}, {1, 1}, {-1, 1}}) {
        Vec3 corner;
        corner[axis] = side * s.size[axis] / 2;
        corner[(axis + 1) % 3] = u * side * s.size[(axis + 1) % 3] / 2;  // the other way round on the far side
        corner[(axis + 2) % 3] = v * s.size[(axis + 2) % 3] / 2;
        corners.push_back(corner);
      }
      add_polygon(corners, normal, out);
    }
}

void add(const Cylinder& s, const Tessellation& settings, TriangleSurface& out) {
  const double r = s.radius, z = s.height / 2;
  revolve({{0, -z, 0, -1}, {r, -z, 0, -1}, {r, -z, 1, 0}, {r, z, 1, 0}, {r, z, 0, 1}, {0, z, 0, 1}}, settings.segments, out);
}

void add(const Cone& s, const Tessellation& settings, TriangleSurface& out) {
  const double r = s.radius, z = s.height;
  revolve({{0, 0, 0, -1}, {r, 0, 0, -1}, {r, 0, z, r}, {0, z, z, r}}, settings.segments, out);
}

void add(const TriangleMesh& s, const Tessellation&, TriangleSurface& out) {
  for (const std::array<int, 3>& triangle : s.triangles) {
    const auto corner = [&](int k) { return s.vertices[static_cast<std::size_t>(triangle[static_cast<std::size_t>(k)])]; };
    const Vec3 normal = (corner(1) - corner(0)).cross(corner(2) - corner(0));
    if (normal.norm() > 0) add_polygon({corner(0), corner(1), corner(2)}, normal.normalized(), out);
  }
}

void add(const ConvexHull& s, const Tessellation& settings, TriangleSurface& out) { add(hull_mesh(s), settings, out); }

void add(const HeightField& s, const Tessellation&, TriangleSurface& out) {
  const int columns = s.columns, rows = static_cast<int>(s.heights.size()) / columns;
  const int first = static_cast<int>(out.vertices.size());
  const auto height = [&](int row, int column) {
    return s.heights[static_cast<std::size_t>(std::clamp(row, 0, rows - 1)) * static_cast<std::size_t>(columns) +
                     static_cast<std::size_t>(std::clamp(column, 0, columns - 1))];
  };
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      out.vertices.emplace_back(column * s.spacing, row * s.spacing, height(row, column));
      // By central differences, one-sided on the border.
      const double across = (std::min(column + 1, columns - 1) - std::max(column - 1, 0)) * s.spacing;
      const double along = (std::min(row + 1, rows - 1) - std::max(row - 1, 0)) * s.spacing;
      const double slope_x = across > 0 ? (height(row, column + 1) - height(row, column - 1)) / across : 0;
      const double slope_y = along > 0 ? (height(row + 1, column) - height(row - 1, column)) / along : 0;
      out.normals.push_back(Vec3(-slope_x, -slope_y, 1).normalized());
    }
  for (int row = 0; row + 1 < rows; ++row)
    for (int column = 0; column + 1 < columns; ++column) {
      const int a = first + row * columns + column, b = a + 1, c = a + columns, d = c + 1;
      out.triangles.push_back({a, b, d});
      out.triangles.push_back({a, d, c});
    }
}

void add(const Compound& s, const Tessellation& settings, TriangleSurface& out) {
  for (const CompoundPart& part : s.parts) {
    const std::size_t first = out.vertices.size();
    std::visit([&](const auto& shape) { add(shape, settings, out); }, part.shape);
    for (std::size_t i = first; i < out.vertices.size(); ++i) {
      out.vertices[i] = part.position + part.orientation * out.vertices[i];
      out.normals[i] = part.orientation * out.normals[i];
    }
  }
}

}  // namespace

TriangleSurface tessellate(const Shape& shape, const Tessellation& settings) {
  Tessellation used = settings;
  used.segments = std::max(8, (settings.segments + 3) / 4 * 4);
  TriangleSurface out;
  std::visit([&](const auto& s) { add(s, used, out); }, shape);
  return out;
}

double enclosed_volume(const TriangleSurface& surface) {
  double sum = 0;
  for (const auto& [a, b, c] : surface.triangles) {
    const auto at = [&](int i) { return surface.vertices[static_cast<std::size_t>(i)]; };
    sum += at(a).dot(at(b).cross(at(c)));
  }
  return sum / 6;
}

}  // namespace rotule
