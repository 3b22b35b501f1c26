// Meshes from files in scenes: read beside the scene, weighed as meshes, colliding as convex parts, and named again when written.
#include <gtest/gtest.h>
#include <rotule/analyse.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>
#include <rotule/meshes.h>
#include <rotule/queries.h>

#include <cstring>
#include <fstream>
#include <numbers>

#include "record/scene_files.h"
#include "support/files.h"

namespace rotule {
namespace {

using testing::Folder;

/// A ring about z, of the radii given, by m x n quadrilaterals cut in two.
TriangleMesh torus(double large, double small, int m, int n) {
  TriangleMesh mesh;
  for (int i = 0; i < m; ++i)
    for (int k = 0; k < n; ++k) {
      const double a = 2 * std::numbers::pi * i / m, b = 2 * std::numbers::pi * k / n, r = large + small * std::cos(b);
      mesh.vertices.emplace_back(r * std::cos(a), r * std::sin(a), small * std::sin(b));
      const int p = i * n + k, q = (i + 1) % m * n + k, p1 = i * n + (k + 1) % n, q1 = (i + 1) % m * n + (k + 1) % n;
      mesh.triangles.push_back({p, q, q1});
      mesh.triangles.push_back({p, q1, p1});
    }
  return mesh;
}

std::string as_obj(const TriangleMesh& mesh) {
  std::string out;
  for (const Vec3& v : mesh.vertices)
    out += "v " + std::to_string(v.x()) + " " + std::to_string(v.y()) + " " + std::to_string(v.z()) + "\n";
  for (const auto& t : mesh.triangles)
    out += "f " + std::to_string(t[0] + 1) + " " + std::to_string(t[1] + 1) + " " + std::to_string(t[2] + 1) + "\n";
  return out;
}

std::string as_stl(const TriangleMesh& mesh) {
  std::string out(80, ' ');
  const auto put = [&](const auto& value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(static_cast<std::uint32_t>(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) put(0.0f);
    for (const int corner : t)
      for (const double x : mesh.vertices[corner]) put(static_cast<float>(x));
    put(std::uint16_t{0});
  }
  return out;
}

void write(const std::filesystem::path& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string scene_with(const std::string& mesh) {
  return R"({"rotule": 1, "bodies": [{"name": "part", "density": 1000, "position": [0, 0, 1], "shape": {"triangle_mesh": )" +
         mesh +
         R"(}}, {"name": "floor", "fixed": true, "shape": {"plane": {}}}], "recipe": {"dt": 0.002, "formulation": "velocity",
         "integrator": "semi_implicit_euler", "contacts": "cone", "solver": "auto"}})";
}

std::string message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(MeshScene, FilesAreFoundBesideTheSceneAndScaled) {
  const Folder folder("mesh_scene");
  const TriangleMesh ring = torus(40, 10, 24, 12);
  std::filesystem::create_directories(folder.path / "meshes");
  write(folder.path / "meshes/ring.obj", as_obj(ring));
  write(folder.path / "ring.STL", as_stl(ring));
  for (const char* file : {"meshes/ring.obj", "ring.STL"}) {
    write(folder.path / "scene.json",
          scene_with(R"({"file": ")" + std::string(file) + R"(", "scale": 0.001, "convex_parts": {"max_hulls": 12}})"));
    const Scene scene = load_scene(folder.path / "scene.json");
    const auto& mesh = std::get<TriangleMesh>(scene.bodies[0].shape);
    EXPECT_EQ(mesh.vertices.size(), ring.vertices.size()) << file;
    EXPECT_EQ(mesh.triangles.size(), ring.triangles.size()) << file;
    EXPECT_NEAR(mesh.vertices[0].x(), 0.05, 1e-8);
    EXPECT_GT(mesh.hulls.size(), 3u);
    EXPECT_LE(mesh.hulls.size(), 12u);
    // It weighs as the mesh: a ring of 2 pi^2 R r^2, a little less for its flat faces; not as hulls, which overlap and stand out.
    const World world(scene);
    const double weight = 1000 * 2 * std::numbers::pi * std::numbers::pi * 0.04 * 1e-4;
    EXPECT_LT(world.mass(world.body("part")), weight);
    EXPECT_GT(world.mass(world.body("part")), 0.93 * weight);
    EXPECT_DOUBLE_EQ(world.mass(world.body("part")), mass_properties(mesh, 1000).mass);
    EXPECT_TRUE(world.warnings().empty());
    EXPECT_TRUE(examine(scene).remarks.empty());
    // Without the scale it is a ring of 100 m.
    write(folder.path / "large.json",
          scene_with(R"({"file": ")" + std::string(file) + R"(", "convex_parts": {"max_hulls": 1}})"));
    const std::vector<Remark> remarks = examine(load_scene(folder.path / "large.json")).remarks;
    const auto millimetres =
        std::find_if(remarks.begin(), remarks.end(), [](const Remark& r) { return r.kind == "millimetres"; });
    ASSERT_NE(millimetres, remarks.end());
    EXPECT_NE(millimetres->text.find("if it was drawn in millimetres, \"scale\": 0.001"), std::string::npos) << millimetres->text;
  }
}

TEST(MeshScene, ReferencesSurviveTheRoundTrip) {
  const Folder folder("mesh_round_trip");
  write(folder.path / "ring.obj", as_obj(torus(4, 1, 12, 8)));
  write(folder.path / "scene.json", scene_with(R"({"file": "ring.obj", "scale": 0.1, "convex_parts": {"max_hulls": 9}})"));
  const Scene scene = load_scene(folder.path / "scene.json");

  const std::string text = to_json(scene);
  EXPECT_EQ(text.find("vertices"), std::string::npos);
  EXPECT_NE(text.find(R"("scale": 0.1, "convex_parts": {"max_hulls": 9})"), std::string::npos) << text;
  EXPECT_EQ(to_json(parse_scene(text)), text);

  // Saved elsewhere, the name is that from there; absolute names stay as they are.
  std::filesystem::create_directories(folder.path / "deep/er");
  save_scene(scene, folder.path / "deep/er/copy.json");
  const Scene copy = load_scene(folder.path / "deep/er/copy.json");
  EXPECT_EQ(std::get<TriangleMesh>(copy.bodies[0].shape).vertices, std::get<TriangleMesh>(scene.bodies[0].shape).vertices);
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  save_scene(load_scene("scene.json"), "deep/er/relative.json");
  std::ifstream saved("deep/er/relative.json");
  const std::string saved_text{std::istreambuf_iterator<char>(saved), {}};
  EXPECT_NE(saved_text.find(R"("file": "../../ring.obj")"), std::string::npos) << saved_text;
  EXPECT_NO_THROW(load_scene("deep/er/relative.json"));
  std::filesystem::current_path(here);

  // What a recording keeps needs no file.
  const std::string kept = to_json(with_meshes_inside(scene));
  EXPECT_EQ(kept.find("ring.obj"), std::string::npos);
  std::filesystem::remove(folder.path / "ring.obj");
  EXPECT_EQ(std::get<TriangleMesh>(parse_scene(kept).bodies[0].shape).vertices,
            std::get<TriangleMesh>(scene.bodies[0].shape).vertices);
}

TEST(MeshScene, MovingMeshesAreCutIntoPartsAndSaidToBe) {
  const TriangleMesh ring = torus(0.4, 0.1, 24, 12);
  for (const bool parts : {true, false}) {
    Scene scene = parse_scene(scene_with(R"({"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],
      "triangles": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]]})"));
    scene.bodies[0].position.z() = 0.15;
    scene.bodies[0].shape = parts ? in_convex_parts(ring) : ring;
    World world(scene);
    for (int i = 0; i < 500; ++i) world.step();
    EXPECT_NEAR(world.position("part").z(), 0.1, 0.02);
    EXPECT_FALSE(world.contacts().empty());
    const std::vector<Remark> remarks = examine(scene).remarks;
    const auto cut = std::find_if(remarks.begin(), remarks.end(), [](const Remark& r) { return r.kind == "mesh_cut"; });
    ASSERT_EQ(cut == remarks.end(), parts);
    ASSERT_EQ(world.warnings().size(), parts ? 0u : 1u);
    if (parts) continue;
    EXPECT_NE(world.warnings()[0].find("\"part\" moves and is a triangle mesh"), std::string::npos) << world.warnings()[0];
    EXPECT_EQ(cut->text, world.warnings()[0]);
  }
}

TEST(MeshScene, TheHoleOfARingStaysOpen) {
  Scene scene;
  scene.gravity.setZero();
  TriangleMesh ring = torus(0.4, 0.1, 24, 12);
  ring.convex_parts = DecompositionSettings{.max_concavity = 0.02};  // hulls are found when a query needs them
  scene.add({.name = "ring", .mass = 1.0, .shape = ring});
  const World world(scene);
  EXPECT_FALSE(cast_ray(world, {.origin = {0, 0, 3}}));
  EXPECT_FALSE(cast_shape(world, Sphere{0.2}, {{0, 0, 3}, Quat::Identity()}, {0, 0, -6}));
  const auto hit = cast_ray(world, {.origin = {0.4, 0, 3}});
  ASSERT_TRUE(hit);
  EXPECT_NEAR(hit->distance, 2.9, 0.02);
  EXPECT_GE(hit->part, 0);
}

TEST(MeshScene, BadFilesAreRefusedWithFileAndPlace) {
  const Folder folder("mesh_bad");
  const auto refusal = [&](const std::string& mesh) {
    write(folder.path / "scene.json", scene_with(mesh));
    const std::string path = (folder.path / "").string();
    std::string said = message([&] { load_scene(folder.path / "scene.json"); });
    for (std::size_t i = said.find(path); i != std::string::npos; i = said.find(path)) said.erase(i, path.size());
    return said;
  };
  const std::string place = "scene.json: /bodies/0/shape/triangle_mesh";
  std::string open = as_obj(torus(1, 0.3, 6, 5));
  open.resize(open.rfind("f "));
  write(folder.path / "open.obj", open);
  write(folder.path / "short.stl", as_stl(torus(1, 0.3, 6, 5)).substr(0, 500));
  write(folder.path / "wrong.obj", "v 0 0 0\nv 1 0 zero\n");
  write(folder.path / "flat.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nf 3 2 1\n");
  EXPECT_EQ(refusal(R"({"file": "none.obj"})"), place + "/file: none.obj: cannot be opened");
  EXPECT_EQ(refusal(R"({"file": "part.step"})"), place + "/file: part.step: is no mesh file; its name must end in .obj or .stl");
  EXPECT_EQ(refusal(R"({"file": "wrong.obj"})"), place + "/file: wrong.obj: line 2: must be a finite number, is \"zero\"");
  EXPECT_NE(refusal(R"({"file": "short.stl"})").find("/file: short.stl: announces 60 triangles"), std::string::npos);
  EXPECT_NE(refusal(R"({"file": "open.obj"})").find("/file: open.obj: /triangle_mesh/triangles/"), std::string::npos);
  EXPECT_NE(refusal(R"({"file": "open.obj"})").find("the surface is open at the edge"), std::string::npos);
  EXPECT_NE(refusal(R"({"file": "flat.obj"})").find("must be at least 4 triangles, are 2"), std::string::npos);
  EXPECT_EQ(refusal(R"({"file": "open.obj", "scale": 0})").substr(0, place.size() + 5), place + "/file");
  EXPECT_EQ(refusal(R"({"file": "open.obj", "vertices": [[0,0,0]]})"),
            place + ": must have a \"file\", or else \"vertices\" and \"triangles\", not both");
  EXPECT_EQ(refusal("{}"), place + ": missing key \"file\", or \"vertices\" and \"triangles\": where the surface is");
  EXPECT_NE(refusal(R"({"file": "open.obj", "convex_part": {}})").find("did you mean \"convex_parts\"?"), std::string::npos);
  const std::string tetrahedron =
      R"("vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], "triangles": [[0,2,1],[0,1,3],[0,3,2],[1,2,3]])";
  EXPECT_EQ(refusal("{" + tetrahedron + R"(, "scale": 0.001})"),
            place + "/scale: is for a mesh from a file; vertices are in metres");
  EXPECT_NE(refusal("{" + tetrahedron + R"(, "convex_parts": {"max_hulls": 0}})").find("/convex_parts/max_hulls: must be"),
            std::string::npos);
  EXPECT_EQ(message([&] { World(Scene{.bodies = {{.mass = 1.0, .shape = TriangleMesh{.file = "x.obj"}}}}); }),
            "/bodies/0/shape/triangle_mesh/file: is named, but was not read; `read_mesh` does that");
}

TEST(MeshScene, TheShippedOneHoldsAMarbleInItsNotch) {
  const Scene scene = load_scene(std::string(ROTULE_SCENES_FOLDER) + "/brackets.json");
  const auto& mesh = std::get<TriangleMesh>(scene.bodies[1].shape);
  EXPECT_EQ(mesh.hulls.size(), 2u);
  // 80 x 20 + 20 x 40, 40 deep, in millimetres.
  EXPECT_NEAR(volume(mesh), 9.6e-5, 1e-15);
  World world(scene);
  while (world.time() < 1.999) world.step();
  const Vec3 marble = world.position("marble");
  EXPECT_NEAR(marble.z(), 0.035, 1e-4);
  EXPECT_GT(marble.x(), 0.03);
  EXPECT_LT(marble.x(), 0.08);
  EXPECT_NEAR(world.position("bracket").z(), 0, 1e-4);
}

}  // namespace
}  // namespace rotule
