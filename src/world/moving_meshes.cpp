#include "world/moving_meshes.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/meshes.h>

#include <algorithm>

#include "base/text.h"

namespace rotule {
namespace {

bool is_surface(const Shape& shape) {
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) return !mesh->convex_parts;
  return std::holds_alternative<HeightField>(shape);
}

/// Whether some part of the shape is a surface.
bool has_surface(const Shape& shape) {
  const auto* compound = std::get_if<Compound>(&shape);
  if (compound == nullptr) return is_surface(shape);
  return std::any_of(compound->parts.begin(), compound->parts.end(),
                     [](const CompoundPart& part) { return has_surface(part.shape); });
}

/// Cuts what can be cut, and counts the hulls.
void cut(Shape& shape, int& hulls) {
  if (auto* compound = std::get_if<Compound>(&shape))
    for (CompoundPart& part : compound->parts) cut(part.shape, hulls);
  auto* mesh = std::get_if<TriangleMesh>(&shape);
  if (mesh == nullptr || mesh->convex_parts) return;
  try {
    mesh->hulls = convex_decomposition(*mesh);
    mesh->convex_parts = DecompositionSettings{};
    hulls += int(mesh->hulls.size());
  } catch (const Error&) {
    // Open, or without volume: it stays a surface.
  }
}

bool tied(const Model& model, int a, int b) {
  return std::any_of(model.joints.begin(), model.joints.end(),
                     [&](const Joint& j) { return std::minmax(j.a, j.b) == std::minmax(a, b); });
}

}  // namespace

std::string cut_moving_mesh(Model& model, int body) {
  Body& b = model.bodies[body];
  if (!b.touches || !model.movable(body) || !has_surface(b.shape)) return "";
  int hulls = 0;
  cut(b.shape, hulls);
  if (hulls == 0) return "";
  return fmt::format(
      "body {} moves and is a triangle mesh: it collides as {} convex hull{}, which may stand out of it by {} of its "
      "size; its \"convex_parts\" say otherwise",
      in_quotes(b.name), hulls, hulls > 1 ? "s" : "", DecompositionSettings{}.max_concavity);
}

void refuse_passing_surfaces(const Model& model) {
  std::vector<int> surfaces;
  for (int i = 0; i < model.body_count(); ++i)
    if (model.bodies[i].touches && has_surface(model.bodies[i].shape)) surfaces.push_back(i);
  for (const int i : surfaces)
    for (const int other : surfaces) {
      if (i == other || !model.movable(i) || tied(model, i, other)) continue;
      const int group = model.bodies[i].group;
      if (group != 0 && group == model.bodies[other].group) continue;
      throw Error(
          "body " + in_quotes(model.bodies[i].name),
          fmt::format("moves, and its triangle mesh is not closed, so that it cannot be cut into convex parts: it would pass "
                      "through the surface of {}; close the mesh, give the body another shape, or \"contacts\": false",
                      in_quotes(model.bodies[other].name)));
    }
}

}  // namespace rotule
