#include "model/particle_surface.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "model/names.h"

namespace rotule {

namespace {

constexpr double usual_thickness = 0.1;  // of the shortest edge
/// Neighbours on a lattice are an edge apart, and must not touch where they are at rest.
constexpr double most_thickness = 0.5;

std::vector<std::array<int, 3>> outside_of(const ParticleGroup& group) {
  std::vector<std::array<int, 3>> out;
  for (const TriangleSet& set : group.triangles) out.insert(out.end(), set.triangles.begin(), set.triangles.end());
  // Faces that belong to one tetrahedron alone; which way round they go does not matter here.
  std::map<std::array<int, 3>, int> count;
  for (const TetrahedronSet& set : group.tetrahedra)
    for (const std::array<int, 4>& c : set.tetrahedra)
      for (std::array<int, 3> face : {std::array{c[1], c[2], c[3]}, std::array{c[0], c[3], c[2]}, std::array{c[0], c[1], c[3]},
                                      std::array{c[0], c[2], c[1]}}) {
        std::sort(face.begin(), face.end());
        ++count[face];
      }
  for (const auto& [face, times] : count)
    if (times == 1) out.push_back(face);
  return out;
}

/// Springs between neighbours of a group that has no surface: those of a rope. Of a lattice they are inside.
std::vector<std::array<int, 2>> segments_of(const ParticleGroup& group) {
  std::vector<std::array<int, 2>> out;
  if (group.springs.empty()) return out;
  for (const auto& [i, j] : group.springs.front().pairs) out.push_back({i, j});
  return out;
}

double shortest_edge(const ParticleGroup& group, std::span<const std::array<int, 3>> faces) {
  double shortest = infinity;
  const auto look = [&](int i, int j) {
    shortest =
        std::min(shortest, (group.positions[static_cast<std::size_t>(i)] - group.positions[static_cast<std::size_t>(j)]).norm());
  };
  for (const std::array<int, 3>& face : faces)
    for (std::size_t k = 0; k < 3; ++k) look(face[k], face[(k + 1) % 3]);
  if (faces.empty())
    for (const SpringSet& set : group.springs)
      for (const auto& [i, j] : set.pairs) look(i, j);
  return shortest;
}

}  // namespace

void add_particle_surface(const ParticleGroup& group, std::span<const std::array<int, 3>> outside,
                          const std::vector<Material>& materials, Model& model) {
  if (!group.contact) return;
  const std::vector<std::array<int, 3>> own = outside.empty() ? outside_of(group) : std::vector(outside.begin(), outside.end());
  ParticleSurface out{.name = group.name,
                      .first = model.particle_count(),
                      .count = static_cast<int>(group.positions.size()),
                      .itself = group.contact->itself,
                      .law = surface_of(materials, group.contact->material)};
  for (std::size_t i = 0; i < materials.size(); ++i)
    if (materials[i].name == group.contact->material) out.material = static_cast<int>(i);
  double thickness = group.contact->thickness;
  const double edge = shortest_edge(group, own);
  if (thickness == 0 && std::isfinite(edge)) {
    thickness = usual_thickness * edge;
    if (!group.triangles.empty()) thickness = std::min(group.triangles.front().thickness, most_thickness * edge);
  }
  out.radius = 0.5 * thickness;
  for (const auto& [a, b, c] : own) out.faces.push_back({out.first + a, out.first + b, out.first + c});
  if (own.empty())
    for (const auto& [a, b] : segments_of(group)) out.segments.push_back({out.first + a, out.first + b});
  model.particle_surfaces.push_back(std::move(out));
}

void check_particle_contact(const ParticleGroup& group, std::span<const Material> materials, const Place& place) {
  if (!group.contact) return;
  const Place here = place / "contact";
  const std::string& name = group.contact->material;
  std::vector<std::string> known;
  for (const Material& material : materials) known.push_back(material.name);
  if (!name.empty() && std::find(known.begin(), known.end(), name) == known.end())
    fail(here / "material", fmt::format("unknown material {}; {}", in_quotes(name), suggestion(name, known)));
  const double edge = shortest_edge(group, outside_of(group));
  if (!std::isfinite(edge) && group.contact->thickness == 0)
    fail(here / "thickness", "missing; particles without springs and elements have no edge to take it from: give metres");
  if (group.contact->thickness > most_thickness * edge)
    fail(here / "thickness", fmt::format("must be at most half the shortest edge, {:.6g} m, or neighbours would touch; is {:.6g}",
                                         most_thickness * edge, group.contact->thickness));
}

}  // namespace rotule
