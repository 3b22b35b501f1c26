#include "model/passing_surfaces.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace rotule {
namespace {

/// Whether some part of the shape is a surface or a half-space.
bool has_no_inside(const Shape& shape) {
  if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) return !mesh->convex_parts;
  if (std::holds_alternative<Plane>(shape) || std::holds_alternative<HeightField>(shape)) return true;
  const auto* compound = std::get_if<Compound>(&shape);
  return compound != nullptr && std::any_of(compound->parts.begin(), compound->parts.end(),
                                            [](const CompoundPart& part) { return has_no_inside(part.shape); });
}

}  // namespace

std::vector<std::string> passing_surfaces(const Model& model) {
  std::vector<int> surfaces;
  for (int i = 0; i < model.body_count(); ++i)
    if (model.bodies[i].touches && has_no_inside(model.bodies[i].shape)) surfaces.push_back(i);
  std::vector<std::string> out;
  if (surfaces.size() < 2) return out;
  for (const int i : surfaces) {
    if (!model.movable(i)) continue;
    const int other = surfaces[surfaces[0] == i ? 1 : 0];
    out.push_back(
        fmt::format("body {} moves and has the surface of a mesh, which meets convex shapes alone: it passes through {}{}; "
                    "give its triangle_mesh \"convex_parts\": {{}}",
                    in_quotes(model.bodies[i].name), in_quotes(model.bodies[other].name),
                    surfaces.size() > 2 ? fmt::format(" and {} more", surfaces.size() - 2) : ""));
  }
  return out;
}

}  // namespace rotule
