#include "world/moving_meshes.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/meshes.h>

#include "base/text.h"

namespace rotule {
namespace {

/// Cuts what is a mesh, and counts the hulls.
void cut_into_parts(Shape& shape, int& hulls) {
  if (auto* compound = std::get_if<Compound>(&shape))
    for (CompoundPart& part : compound->parts) cut_into_parts(part.shape, hulls);
  auto* mesh = std::get_if<TriangleMesh>(&shape);
  if (mesh == nullptr || mesh->convex_parts) return;
  mesh->hulls = convex_decomposition(*mesh);
  mesh->convex_parts = DecompositionSettings{};
  hulls += int(mesh->hulls.size());
}

}  // namespace

std::string cut_moving_mesh(Model& model, int body) {
  Body& b = model.bodies[body];
  if (!b.touches || !model.movable(body)) return "";
  int hulls = 0;
  try {
    cut_into_parts(b.shape, hulls);
  } catch (const Error& error) {
    throw Error("body " + in_quotes(b.name),
                fmt::format("moves, and its triangle mesh cannot be cut into convex parts to collide: {}", error.what()));
  }
  if (hulls == 0) return "";
  return fmt::format(
      "body {} moves and is a triangle mesh: it collides as {} convex hull{}, which may stand out of it by {} of its "
      "size; its \"convex_parts\" can say otherwise",
      in_quotes(b.name), hulls, hulls > 1 ? "s" : "", DecompositionSettings{}.max_concavity);
}

}  // namespace rotule
