#include "record/scene_files.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/meshes.h>

#include "base/place.h"
#include "model/validate_shape.h"

namespace rotule {
namespace {

/// visit(TriangleMesh, Place) for all in the shape; compounds nested deeper than any scene may have are left to its checks.
template <class Visit>
void for_each_mesh(Shape& shape, const Place& place, const Visit& visit, int depth = 0) {
  constexpr int deepest_compound = 64;
  if (auto* mesh = std::get_if<TriangleMesh>(&shape)) visit(*mesh, place / "triangle_mesh");
  auto* compound = std::get_if<Compound>(&shape);
  if (compound == nullptr || depth > deepest_compound) return;
  const Place here = place / "compound", parts = here / "parts";
  for (std::size_t i = 0; i < compound->parts.size(); ++i) {
    const Place part = parts / i;
    for_each_mesh(compound->parts[i].shape, part / "shape", visit, depth + 1);
  }
}

template <class Visit>
void for_each_mesh(Scene& scene, const Visit& visit) {
  const Place top, bodies = top / "bodies";
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const Place body = bodies / i;
    for_each_mesh(scene.bodies[i].shape, body / "shape", visit);
  }
}

template <class Visit>
void for_each_solid_file(Scene& scene, const Visit& visit) {
  for (SolidDef& solid : scene.solids)
    std::visit(
        [&](auto& s) {
          if constexpr (requires { s.file; })
            if (!s.file.empty()) visit(s.file);
        },
        solid);
}

template <class Visit>
void for_each_field(Scene& scene, const Visit& visit) {
  const Place top, flows = top / "flows";
  for (std::size_t i = 0; i < scene.flows.size(); ++i)
    if (auto* flow = std::get_if<GridFlow>(&scene.flows[i])) {
      const Place item = flows / i;
      visit(*flow, item / "file");
    }
}

void read_field_of(GridFlow& flow, const Place& place, const std::filesystem::path& folder) {
  const std::string path = (folder / flow.file).string();
  try {
    flow.grid = std::make_shared<const FlowGrid>(read_flow(path, flow.array));
  } catch (const Error& error) {
    fail(place / "file", error.what());
  }
  flow.file = path;
}

void read_mesh_of(TriangleMesh& mesh, const Place& place, const std::filesystem::path& folder) {
  if (mesh.file.empty()) {
    if (mesh.scale != 1) fail(place / "scale", "is for a mesh from a file; vertices are in metres");
    if (mesh.vertices.empty() && mesh.triangles.empty())
      fail(place, "missing key \"file\", or \"vertices\" and \"triangles\": where the surface is");
    return;
  }
  if (!mesh.vertices.empty() || !mesh.triangles.empty())
    fail(place, "must have a \"file\", or else \"vertices\" and \"triangles\", not both");
  TriangleMesh read;
  try {
    read = read_mesh((folder / mesh.file).string(), mesh.scale);
  } catch (const Error& error) {
    fail(place / "file", error.what());
  }
  try {
    validate_shape(read, Place(""));
  } catch (const Error& error) {
    fail(place / "file", fmt::format("{}: {}", read.file, error.what()));
  }
  read.convex_parts = mesh.convex_parts;
  mesh = std::move(read);
}

}  // namespace

void read_files(Scene& scene, const std::filesystem::path& folder) {
  for_each_mesh(scene, [&](TriangleMesh& mesh, const Place& place) { read_mesh_of(mesh, place, folder); });
  for_each_solid_file(scene, [&](std::string& file) { file = (folder / file).string(); });
  for_each_field(scene, [&](GridFlow& flow, const Place& place) { read_field_of(flow, place, folder); });
}

void cut_meshes(Scene& scene) {
  for_each_mesh(scene, [](TriangleMesh& mesh, const Place& place) {
    if (!mesh.convex_parts) return;
    try {
      mesh.hulls = convex_decomposition(mesh, *mesh.convex_parts);
    } catch (const Error& error) {
      fail(place / "convex_parts", error.what());
    }
  });
}

Scene seen_from(const std::filesystem::path& folder, Scene scene) {
  const auto rename = [&](std::string& file) {
    const std::filesystem::path path(file);
    if (file.empty() || path.is_absolute()) return;
    const auto from = std::filesystem::absolute(folder.empty() ? std::filesystem::path(".") : folder).lexically_normal();
    file = std::filesystem::absolute(path).lexically_normal().lexically_proximate(from).generic_string();
  };
  for_each_mesh(scene, [&](TriangleMesh& mesh, const Place&) { rename(mesh.file); });
  for_each_solid_file(scene, rename);
  for_each_field(scene, [&](GridFlow& flow, const Place&) { rename(flow.file); });
  return scene;
}

Scene with_meshes_inside(Scene scene) {
  for_each_mesh(scene, [](TriangleMesh& mesh, const Place&) {
    mesh.file.clear();
    mesh.scale = 1;
  });
  for_each_field(scene, [](GridFlow& flow, const Place&) { flow.file = std::filesystem::absolute(flow.file).string(); });
  return scene;
}

}  // namespace rotule
