// Rope, cloth, block, disk, ball: particles with springs or elastic elements from a few numbers.
#include "model/solids.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <cmath>
#include <numbers>

#include "base/text.h"
#include "model/elements.h"
#include "model/icosphere.h"
#include "model/solid_surface.h"
#include "model/tetrahedral_mesh.h"

namespace rotule {
namespace {

constexpr double most = 1e8;  // particles of one solid

/// A lattice of n[0] x n[1] x n[2] particles; those with `there` false are left out.
struct Lattice {
  std::array<int, 3> n;
  std::vector<int> place;  // in the group, or -1

  [[nodiscard]] std::size_t node(int i, int j, int k) const {
    return (static_cast<std::size_t>(k) * static_cast<std::size_t>(n[1]) + static_cast<std::size_t>(j)) *
               static_cast<std::size_t>(n[0]) +
           static_cast<std::size_t>(i);
  }
  template <class Visitor>
  void visit(Visitor&& visitor) const {
    for (int k = 0; k < n[2]; ++k)
      for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) visitor(i, j, k);
  }
  /// Springs from every particle to the one so many steps further.
  void connect(std::array<int, 3> step, SpringSet& set) const {
    visit([&](int i, int j, int k) {
      const int a = i + step[0], b = j + step[1], c = k + step[2];
      if (a < 0 || b < 0 || c < 0 || a >= n[0] || b >= n[1] || c >= n[2]) return;
      const int from = place[node(i, j, k)], to = place[node(a, b, c)];
      if (from >= 0 && to >= 0) set.pairs.push_back({from, to});
    });
  }
  void pin(const Pins& pins, std::vector<int>& pinned) const {
    std::vector<char> is_pinned;
    for (const std::string& pin : pins) {
      is_pinned.resize(place.size(), 0);
      visit([&](int i, int j, int k) {
        const std::array<int, 3> at{i, j, k};
        for (std::size_t c = 0; c + 1 < pin.size(); c += 2) {
          const auto axis = static_cast<std::size_t>(pin[c] - 'x');
          if (at[axis] != (pin[c + 1] == '0' ? 0 : n[axis] - 1)) return;
        }
        is_pinned[node(i, j, k)] = 1;
      });
    }
    for (std::size_t node_index = 0; node_index < is_pinned.size(); ++node_index)
      if (is_pinned[node_index]) pinned.push_back(place[node_index]);
  }
};

constexpr std::array<std::array<int, 3>, 3> lattice_edges{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
constexpr std::array<std::array<int, 3>, 10> lattice_diagonals{
    {{1, 1, 0}, {1, -1, 0}, {1, 0, 1}, {1, 0, -1}, {0, 1, 1}, {0, 1, -1}, {1, 1, 1}, {1, 1, -1}, {1, -1, 1}, {1, -1, -1}}};

/// All of a lattice, point(i, j, k) giving the places; the mass shared evenly.
template <class Solid, class Point>
Lattice fill(const Solid& solid, std::array<int, 3> n, ParticleGroup& group, Point&& point) {
  Lattice lattice{n, {}};
  lattice.place.assign(lattice.node(0, 0, n[2]), -1);
  lattice.visit([&](int i, int j, int k) {
    const std::optional<Vec3> at = point(i, j, k);
    if (!at) return;
    lattice.place[lattice.node(i, j, k)] = static_cast<int>(group.positions.size());
    group.positions.push_back(*at);
  });
  group.name = solid.name;
  if constexpr (requires { solid.mass; }) group.mass = solid.mass / static_cast<double>(group.positions.size());
  if (!solid.velocity.isZero(0)) group.velocities = {solid.velocity};
  return lattice;
}

template <class Steps>
void add_springs(const Lattice& lattice, const Steps& steps, double stiffness, double damping, ParticleGroup& group) {
  if (stiffness == 0 && damping == 0) return;
  SpringSet set{.stiffness = stiffness, .damping = damping};
  for (const std::array<int, 3>& step : steps) lattice.connect(step, set);
  group.springs.push_back(std::move(set));
}

ParticleGroup make(const Rope& r) {
  ParticleGroup group;
  const Lattice lattice = fill(r, {r.count, 1, 1}, group, [&](int i, int, int) {
    return std::optional<Vec3>(r.from + static_cast<double>(i) / (r.count - 1) * (r.to - r.from));
  });
  using Steps = std::array<std::array<int, 3>, 1>;
  add_springs(lattice, Steps{{{1, 0, 0}}}, r.stiffness, r.damping, group);
  if (r.bending_stiffness > 0) add_springs(lattice, Steps{{{2, 0, 0}}}, r.bending_stiffness, r.damping, group);
  lattice.pin(r.pinned, group.pinned);
  return group;
}

template <class Sheet>
Lattice fill_sheet(const Sheet& c, ParticleGroup& group) {
  return fill(c, {c.columns, c.rows, 1}, group, [&](int i, int j, int) {
    return std::optional<Vec3>(c.at + static_cast<double>(i) / (c.columns - 1) * c.along_x +
                               static_cast<double>(j) / (c.rows - 1) * c.along_y);
  });
}

template <class Cuboid>
Lattice fill_cuboid(const Cuboid& b, ParticleGroup& group) {
  return fill(b, b.counts, group, [&](int i, int j, int k) {
    const Vec3 share(static_cast<double>(i) / (b.counts[0] - 1), static_cast<double>(j) / (b.counts[1] - 1),
                     static_cast<double>(k) / (b.counts[2] - 1));
    return std::optional<Vec3>(b.at + share.cwiseProduct(b.size));
  });
}

ParticleGroup make(const Cloth& c) {
  ParticleGroup group;
  const Lattice lattice = fill_sheet(c, group);
  using Steps = std::array<std::array<int, 3>, 2>;
  add_springs(lattice, Steps{{{1, 0, 0}, {0, 1, 0}}}, c.stiffness, c.damping, group);
  if (c.shear_stiffness > 0) add_springs(lattice, Steps{{{1, 1, 0}, {1, -1, 0}}}, c.shear_stiffness, c.damping, group);
  if (c.bending_stiffness > 0) add_springs(lattice, Steps{{{2, 0, 0}, {0, 2, 0}}}, c.bending_stiffness, c.damping, group);
  lattice.pin(c.pinned, group.pinned);
  return group;
}

ParticleGroup make(const Block& b) {
  ParticleGroup group;
  const Lattice lattice = fill_cuboid(b, group);
  add_springs(lattice, lattice_edges, b.stiffness, b.damping, group);
  if (b.shear_stiffness > 0) add_springs(lattice, lattice_diagonals, b.shear_stiffness, b.damping, group);
  lattice.pin(b.pinned, group.pinned);
  return group;
}

ParticleGroup make(const SoftBall& b) {
  ParticleGroup group;
  const double spacing = 2 * b.radius / (b.across - 1);
  const Lattice lattice = fill(b, {b.across, b.across, b.across}, group, [&](int i, int j, int k) {
    const Vec3 off = spacing * Vec3(i, j, k) - Vec3::Constant(b.radius);
    return off.norm() <= b.radius * (1 + 1e-12) ? std::optional<Vec3>(b.center + off) : std::nullopt;
  });
  add_springs(lattice, lattice_edges, b.stiffness, b.damping, group);
  add_springs(lattice, lattice_diagonals, b.stiffness, b.damping, group);
  return group;
}

ParticleGroup make(const Disk& d) {
  ParticleGroup group;
  group.name = d.name;
  if (!d.velocity.isZero(0)) group.velocities = {d.velocity};
  const Vec3 n = d.normal.normalized(), x = n.unitOrthogonal(), y = n.cross(x);
  group.positions.push_back(d.center);
  for (int ring = 1; ring <= d.rings; ++ring)
    for (int sector = 0; sector < d.sectors; ++sector) {
      const double angle = 2 * std::numbers::pi * sector / d.sectors, r = d.radius * ring / d.rings;
      group.positions.emplace_back(d.center + r * (std::cos(angle) * x + std::sin(angle) * y));
    }
  group.mass = d.mass / static_cast<double>(group.positions.size());
  const auto place = [&](int ring, int sector) { return ring == 0 ? 0 : 1 + (ring - 1) * d.sectors + sector % d.sectors; };
  SpringSet set{.stiffness = d.stiffness, .damping = d.damping};
  for (int ring = 1; ring <= d.rings; ++ring)
    for (int sector = 0; sector < d.sectors; ++sector) {
      set.pairs.push_back({place(ring, sector), place(ring, sector + 1)});
      set.pairs.push_back({place(ring - 1, sector), place(ring, sector)});
      if (ring == 1) continue;
      set.pairs.push_back({place(ring - 1, sector), place(ring, sector + 1)});
      set.pairs.push_back({place(ring - 1, sector + 1), place(ring, sector)});
    }
  group.springs.push_back(std::move(set));
  return group;
}

ParticleGroup make(const TetrahedralMesh& mesh) { return tetrahedral_group(mesh); }
ParticleGroup make(const ElasticMesh& mesh) { return tetrahedral_group(mesh); }

/// Each cell as six tetrahedra about its diagonal from first to last corner, one per order of the axes: neighbours fit.
ParticleGroup make(const ElasticBlock& b) {
  ParticleGroup group;
  const Lattice lattice = fill_cuboid(b, group);
  TetrahedronSet set{.material = b.material};
  constexpr std::array<std::array<std::size_t, 3>, 6> orders{{{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}}};
  lattice.visit([&](int i, int j, int k) {
    if (i + 1 == b.counts[0] || j + 1 == b.counts[1] || k + 1 == b.counts[2]) return;
    for (std::size_t n = 0; n < orders.size(); ++n) {
      std::array<int, 3> at{i, j, k};
      std::array<int, 4> corners{};
      for (std::size_t c = 0; c < 4; ++c) {
        corners[c] = lattice.place[lattice.node(at[0], at[1], at[2])];
        if (c < 3) ++at[orders[n][c]];
      }
      if (n >= 3) std::swap(corners[1], corners[2]);  // odd orders would count the other way round
      set.tetrahedra.push_back(corners);
    }
  });
  group.tetrahedra.push_back(std::move(set));
  lattice.pin(b.pinned, group.pinned);
  return group;
}

ParticleGroup make(const ElasticSheet& c) {
  ParticleGroup group;
  const Lattice lattice = fill_sheet(c, group);
  TriangleSet set{.triangles = surface_triangles(c), .thickness = c.thickness, .material = c.material};
  group.triangles.push_back(std::move(set));
  lattice.pin(c.pinned, group.pinned);
  return group;
}

ParticleGroup make(const Balloon& b) {
  ParticleGroup group;
  group.name = b.name;
  group.velocities.assign(1, b.velocity);
  Icosphere sphere(b.subdivisions);
  for (const Vec3& p : sphere.points) group.positions.emplace_back(b.center + b.radius * p);
  group.triangles.push_back({.triangles = std::move(sphere.triangles), .thickness = b.thickness, .material = b.material});
  return group;
}

void check_pins(const Pins& pins, std::string_view axes, const Place& place) {
  const Place here = place / "pinned";
  for (std::size_t n = 0; n < pins.size(); ++n) {
    const std::string& pin = pins[n];
    bool good = !pin.empty() && pin.size() % 2 == 0 && pin.size() <= 2 * axes.size();
    for (std::size_t c = 0; good && c < pin.size(); c += 2)
      good = axes.find(pin[c]) != axes.npos && (pin[c + 1] == '0' || pin[c + 1] == '1');
    if (!good)
      fail(here / n, fmt::format("must be axes {} each followed by 0 (its start) or 1 (its end), such as \"x0\", is {}",
                                 std::string(axes), in_quotes(pin)));
  }
}

void check_size(double count, const Place& place) {
  if (count > most) fail(place, fmt::format("would make {:.3g} particles; {:.0g} is the most", count, most));
}

void check(const Rope& r, const Place& place) {
  if (r.from == r.to) fail(place / "to", "must differ from \"from\"");
  check_pins(r.pinned, "x", place);
}
template <class Sheet>
void check_sheet(const Sheet& c, const Place& place) {
  check_size(static_cast<double>(c.columns) * c.rows, place);
  if (c.along_x.cross(c.along_y).norm() < 1e-9 * c.along_x.norm() * c.along_y.norm())
    fail(place / "along_y", "must not be parallel to along_x");
  check_pins(c.pinned, "xy", place);
}
template <class Cuboid>
void check_cuboid(const Cuboid& b, const Place& place) {
  check_size(static_cast<double>(b.counts[0]) * b.counts[1] * b.counts[2], place);
  check_pins(b.pinned, "xyz", place);
}
/// What is wrong with its elements; the place is the solid's own, as its elements are in no file.
void check_filling(const SolidDef& solid, const Place& place) {
  try {
    check_elements(build(solid), Place());
  } catch (const Error& error) {
    fail(place, fmt::format("its element {}", error.what()));
  }
}
void check(const Cloth& c, const Place& place) { check_sheet(c, place); }
void check(const Block& b, const Place& place) { check_cuboid(b, place); }
void check(const ElasticSheet& c, const Place& place) {
  check_sheet(c, place);
  check_filling(c, place);
}
void check(const ElasticBlock& b, const Place& place) {
  check_cuboid(b, place);
  check_filling(b, place);
}
void check(const Balloon& b, const Place& place) { check_filling(b, place); }
void check(const Disk& d, const Place& place) { check_size(static_cast<double>(d.rings) * d.sectors, place); }
void check(const SoftBall&, const Place&) {}
template <class Mesh>
void check_file(const Mesh& mesh, const Place& place) {
  try {
    tetrahedral_group(mesh);
  } catch (const Error& error) {
    fail(place / "file", error.what());
  }
}
void check(const TetrahedralMesh& mesh, const Place& place) { check_file(mesh, place); }
void check(const ElasticMesh& mesh, const Place& place) {
  check_file(mesh, place);
  check_filling(mesh, place);
}

}  // namespace

ParticleGroup build(const SolidDef& solid) {
  return std::visit(
      [](const auto& s) {
        ParticleGroup group = make(s);
        group.contact = s.contact;
        return group;
      },
      solid);
}

std::size_t particle_count(const SolidDef& solid) {
  if (const auto* r = std::get_if<Rope>(&solid)) return static_cast<std::size_t>(r->count);
  if (const auto* c = std::get_if<Cloth>(&solid)) return static_cast<std::size_t>(c->columns) * static_cast<std::size_t>(c->rows);
  return build(solid).positions.size();
}

void validate_solid(const SolidDef& solid, const Place& place) {
  std::visit([&](const auto& s) { check(s, place); }, solid);
}

}  // namespace rotule
