#include "model/solid_surface.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "model/icosphere.h"

namespace rotule {
namespace {

using Triangles = std::vector<std::array<int, 3>>;

void add_quad(Triangles& out, int a, int b, int c, int d) {
  out.push_back({a, b, c});
  out.push_back({a, c, d});
}

/// The hull of all whole cells of a lattice; place(i, j, k) is negative where no particle is.
template <class Place>
Triangles cell_surface(const std::array<int, 3>& n, Place&& place) {
  const auto whole = [&](std::array<int, 3> c) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (c[axis] < 0 || c[axis] + 1 >= n[axis]) return false;
    for (int corner = 0; corner < 8; ++corner)
      if (place(c[0] + (corner & 1), c[1] + (corner >> 1 & 1), c[2] + (corner >> 2)) < 0) return false;
    return true;
  };
  Triangles out;
  for (int k = 0; k + 1 < n[2]; ++k)
    for (int j = 0; j + 1 < n[1]; ++j)
      for (int i = 0; i + 1 < n[0]; ++i) {
        const std::array<int, 3> cell{i, j, k};
        if (!whole(cell)) continue;
        for (std::size_t axis = 0; axis < 3; ++axis)
          for (const int side : {0, 1}) {
            std::array<int, 3> neighbour = cell;
            neighbour[axis] += 2 * side - 1;
            if (whole(neighbour)) continue;
            // The face's corners, in the order that turns about the outward axis.
            const std::size_t u = (axis + 1) % 3, v = (axis + 2) % 3;
            const auto corner = [&](int along_u, int along_v) {
              std::array<int, 3> at = cell;
              at[axis] += side;
              at[u] += along_u;
              at[v] += along_v;
              return place(at[0], at[1], at[2]);
            };
            if (side == 1)
              add_quad(out, corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
            else
              add_quad(out, corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0));
          }
      }
  return out;
}

template <class Sheet>
Triangles sheet_surface(const Sheet& c) {
  Triangles out;
  for (int j = 0; j + 1 < c.rows; ++j)
    for (int i = 0; i + 1 < c.columns; ++i) {
      const int first = j * c.columns + i;
      add_quad(out, first, first + 1, first + 1 + c.columns, first + c.columns);
    }
  return out;
}

Triangles surface(const Cloth& c) { return sheet_surface(c); }
Triangles surface(const ElasticSheet& c) { return sheet_surface(c); }

template <class Cuboid>
Triangles cuboid_surface(const Cuboid& b) {
  return cell_surface(b.counts, [&](int i, int j, int k) { return (k * b.counts[1] + j) * b.counts[0] + i; });
}

Triangles surface(const Block& b) { return cuboid_surface(b); }
Triangles surface(const ElasticBlock& b) { return cuboid_surface(b); }

Triangles surface(const SoftBall& b) {
  // Its particles stand on a lattice of which some places are empty: number those that are taken.
  const std::vector<Vec3> positions = build(b).positions;
  const double spacing = 2 * b.radius / (b.across - 1);
  const auto n = static_cast<std::size_t>(b.across);
  std::vector<int> place(n * n * n, -1);
  const auto node = [n](int i, int j, int k) {
    return (static_cast<std::size_t>(k) * n + static_cast<std::size_t>(j)) * n + static_cast<std::size_t>(i);
  };
  for (std::size_t p = 0; p < positions.size(); ++p) {
    const Vec3 at = ((positions[p] - b.center).array() + b.radius) / spacing;
    place[node(static_cast<int>(std::lround(at.x())), static_cast<int>(std::lround(at.y())),
               static_cast<int>(std::lround(at.z())))] = static_cast<int>(p);
  }
  return cell_surface({b.across, b.across, b.across}, [&](int i, int j, int k) { return place[node(i, j, k)]; });
}

Triangles surface(const Disk& d) {
  const auto place = [&](int ring, int sector) { return ring == 0 ? 0 : 1 + (ring - 1) * d.sectors + sector % d.sectors; };
  Triangles out;
  for (int ring = 1; ring <= d.rings; ++ring)
    for (int sector = 0; sector < d.sectors; ++sector) {
      if (ring == 1)
        out.push_back({0, place(1, sector), place(1, sector + 1)});
      else
        add_quad(out, place(ring - 1, sector), place(ring, sector), place(ring, sector + 1), place(ring - 1, sector + 1));
    }
  return out;
}

Triangles surface(const Balloon& b) { return Icosphere(b.subdivisions).triangles; }
Triangles surface(const Rope&) { return {}; }
Triangles surface(const TetrahedralMesh&) { return {}; }

/// Faces of one tetrahedron alone, seen from outside.
Triangles surface(const ElasticMesh& mesh) {
  const ParticleGroup group = build(mesh);
  std::map<std::array<int, 3>, std::array<int, 3>> open;
  for (const std::array<int, 4>& c : group.tetrahedra.front().tetrahedra) {
    const auto x = [&](int k) -> const Vec3& { return group.positions[static_cast<std::size_t>(k)]; };
    const bool mirrored = (x(c[1]) - x(c[0])).dot((x(c[2]) - x(c[0])).cross(x(c[3]) - x(c[0]))) < 0;
    for (const std::array<int, 3> face : {std::array{c[1], c[2], c[3]}, std::array{c[0], c[3], c[2]},
                                          std::array{c[0], c[1], c[3]}, std::array{c[0], c[2], c[1]}}) {
      std::array<int, 3> key = face;
      std::sort(key.begin(), key.end());
      const auto [at, is_new] = open.emplace(key, mirrored ? std::array{face[0], face[2], face[1]} : face);
      if (!is_new) open.erase(at);
    }
  }
  Triangles out;
  for (const auto& [key, face] : open) out.push_back(face);
  return out;
}

}  // namespace

std::vector<std::array<int, 3>> surface_triangles(const SolidDef& solid) {
  return std::visit([](const auto& s) { return surface(s); }, solid);
}

}  // namespace rotule
