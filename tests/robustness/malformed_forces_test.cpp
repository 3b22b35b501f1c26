// Bad particles, solids and forces: one line with place and remedy, before anything runs.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/world.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

namespace rotule {
namespace {

struct BadForce {
  std::string text;      // what follows {"rotule": 1, ...
  std::string expected;  // fragment of the message
};

const std::string two = R"("particles": [{"name": "p", "positions": [[0,0,0],[1,0,0]], "mass": 1)";

const std::vector<BadForce> bad_forces{
    {R"("particles": [{"positions": [[0,0,0]]}])", "/particles/0/mass: missing; give mass, or masses"},
    {R"("particles": [{"positions": [[0,0,0]], "mass": 0}])", "/particles/0/mass: must be greater than 0, is 0"},
    {R"("particles": [{"positions": [[0,0,0]], "mass": -2}])", "/particles/0/mass: must be greater than 0, is -2"},
    {R"("particles": [{"positions": [], "mass": 1}])", "/particles/0/positions: must hold at least one particle"},
    {R"("particles": [{"mass": 1}])", "/particles/0: missing key \"positions\""},
    {R"("particles": [{"positions": [[0,0]], "mass": 1}])", "/particles/0/positions/0: must be a list of 3 numbers, has 2"},
    {R"("particles": [{"positions": [[0,0,0],[1,0,0]], "masses": [1]}])",
     "/particles/0/masses: must be one for each of the 2 particles, has 1"},
    {R"("particles": [{"positions": [[0,0,0],[1,0,0]], "masses": [1, -1]}])",
     "/particles/0/masses/1: must be greater than 0, is -1"},
    {R"("particles": [{"positions": [[0,0,0]], "mass": 1, "masses": [1]}])", "give mass or masses, not both"},
    {R"("particles": [{"positions": [[0,0,0],[1,0,0],[2,0,0]], "mass": 1, "velocities": [[0,0,0],[0,0,0]]}])",
     "/particles/0/velocities: must be one for all or one for each of the 3"},
    {two + R"(, "pinned": [2]}])", "/particles/0/pinned/0: must be a place in the group, 0 to 1, is 2"},
    {two + R"(, "springs": [{"pairs": [[0, 5]], "stiffness": 1}]}])",
     "/particles/0/springs/0/pairs/0/1: must be a place in the group"},
    {two + R"(, "springs": [{"pairs": [[1, 1]], "stiffness": 1}]}])", "must be two different particles"},
    {two + R"(, "springs": [{"pairs": [[0, 1]], "stiffness": -1}]}])",
     "/particles/0/springs/0/stiffness: must be at least 0, is -1"},
    {two + R"(, "springs": [{"pairs": [[0, 1]], "stiffness": 1, "rest_lengths": [1, 2]}]}])",
     "must be one for each of the 1 pairs, has 2"},
    {R"("particles": [{"positions": [[1,2,3],[1,2,3]], "mass": 1, "springs": [{"pairs": [[0, 1]], "stiffness": 1}]}])",
     "joins two particles in the same place"},
    {R"("bodies": [{"name": "p", "mass": 1}], )" + two + "}]", "\"p\" is already the name of /bodies/0"},
    {R"("particles": [{"name": "a/b", "positions": [[0,0,0]], "mass": 1}])", "hold no /"},
    {two + R"(}], "forces": [{"spring": {"between": ["p/0", "p/7"], "stiffness": 1}}])",
     "\"p/7\" is not there; the group has particles 0 to 1"},
    {two + R"(}], "forces": [{"spring": {"between": ["p", "p/1"], "stiffness": 1}}])",
     "is a group of 2 particles; name one of them"},
    {two + R"(}], "forces": [{"spring": {"between": ["q/0", "p/1"], "stiffness": 1}}])", "unknown body or particle \"q/0\""},
    {two + R"(}], "forces": [{"spring": {"between": ["p/0", "p/0"], "stiffness": 1}}])", "must name two different ends"},
    {two + R"(}], "forces": [{"spring": {"between": ["p/0", "p/1"]}}])", "this spring does nothing"},
    {two + R"(}], "forces": [{"spring": {"between": ["p/0", "p/1"], "stiffness": -3}}])",
     "/forces/0/spring/stiffness: must be at least 0, is -3"},
    {two + R"(}], "forces": [{"spring": {"between": ["world", "p/1"], "stiffness": 1}}])",
     "missing key \"from\": a point of the world"},
    {two + R"(}], "forces": [{"spring": {"between": ["p/0", "p/1"], "from": [0,0,0], "stiffness": 1}}])", "is not for particles"},
    {two + R"(}], "forces": [{"sprng": {}}])", "unknown force \"sprng\"; did you mean \"spring\"?"},
    {two + R"(}], "forces": [{"drag": {"viscous": -1}}])", "/forces/0/drag/viscous: must be at least 0, is -1"},
    {two + R"(}], "forces": [{"drag": {"on": ["ghost"], "viscous": 1}}])", "unknown body or particle \"ghost\""},
    {two + R"(}], "forces": [{"torsion_spring": {"between": ["world", "p/0"], "stiffness": 1}}])",
     "which does not turn; name a body"},
    {two + R"(}], "forces": [{"angle_spring": {"between": ["p/0", "p/1", "p/0"], "stiffness": 1}}])",
     "must name three different ones"},
    {two + R"(}], "forces": [{"penalty_plane": {"normal": [0,0,0], "stiffness": 1}}])", "must not be the zero vector"},
    {two + R"(}], "forces": [{"gravitation": {"softening": -1}}])", "must be at least 0, is -1"},
    {R"("solids": [{"cloth": {"columns": 1}}])", "/solids/0/cloth/columns: must be at least 2, is 1"},
    {R"("solids": [{"cloth": {"mass": 0}}])", "/solids/0/cloth/mass: must be greater than 0, is 0"},
    {R"("solids": [{"cloth": {"columns": 100000, "rows": 100000}}])", "particles; 1e+08 is the most"},
    {R"("solids": [{"cloth": {"along_y": [2, 0, 0]}}])", "must not be parallel to along_x"},
    {R"("solids": [{"cloth": {"pinned": ["z0"]}}])", "/solids/0/cloth/pinned/0: must be axes xy each followed by 0"},
    {R"("solids": [{"rope": {"pinned": ["start"]}}])", "/solids/0/rope/pinned/0"},
    {R"("solids": [{"rope": {"from": [1, 0, 0]}}])", "must differ from \"from\""},
    {R"("solids": [{"block": {"counts": [2, 2, 1]}}])", "/solids/0/block/counts/2: must be at least 2, is 1"},
    {R"("solids": [{"tetrahedral_mesh": {"file": "none.msh"}}])", "none.msh: cannot be read"},
    {R"("solids": [{"tetrahedral_mesh": {"file": "none.obj"}}])", "is neither .msh (Gmsh) nor .node (TetGen)"},
    {R"("solids": [{"clothes": {}}])", "unknown solid \"clothes\"; did you mean \"cloth\"?"},
};

TEST(MalformedForces, EachGivesPlaceAndRemedy) {
  for (const BadForce& bad : bad_forces) {
    try {
      parse_scene("{\"rotule\": 1, " + bad.text + "}", "x.json");
      ADD_FAILURE() << "accepted: " << bad.text;
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind("x.json: ", 0), 0u) << message;
      EXPECT_NE(message.find(bad.expected), std::string::npos)
          << bad.text << "\n  " << message << "\n  expected: " << bad.expected;
    }
  }
}

TEST(MalformedForces, CoincidentEndsAreFoundWhenTheWorldIsBuilt) {
  Scene scene;
  scene.add({.name = "a", .mass = 1.0, .position = {1, 2, 3}});
  scene.add_particles({.name = "p", .positions = {{1, 2, 3}}, .mass = 1});
  scene.add(Spring{.between = {"a", "p"}, .stiffness = 1});
  try {
    World world(scene);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "/forces/0/spring: its ends are in the same place, where a spring has no direction; move one of them apart");
  }
}

TEST(MalformedForces, NumbersThatAreNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Scene scene;
  scene.add_particles({.name = "p", .positions = {{0, 0, nan}}, .mass = 1});
  EXPECT_THROW(World{scene}, Error);
  scene.particles[0].positions[0] = Vec3::Zero();
  scene.particles[0].mass = nan;
  EXPECT_THROW(World{scene}, Error);
  scene.particles[0].mass = 1;
  scene.add(Spring{.between = {"world", "p"}, .from = Vec3(0, 0, 1), .stiffness = nan});
  EXPECT_THROW(World{scene}, Error);
  scene.forces = {UserForce{.between = {"world", "p"}}};
  EXPECT_THROW(World{scene}, Error);  // neither potential, force nor values
}

TEST(MalformedForces, AParticleThatBlowsUpIsNamed) {
  Scene scene;
  scene.add(Rope{.name = "rope", .count = 5, .stiffness = 1e9, .pinned = {"x0"}});
  scene.recipe.dt = 0.1;
  scene.recipe.integrator = SemiImplicitEulerSettings{};
  World world(scene);
  world.set_particle(4, Vec3(1, 0.1, 0), Vec3::Zero());
  try {
    for (int i = 0; i < 1000; ++i) world.step();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("particle \"rope/"), std::string::npos) << error.what();
  }
}

struct MeshFile {
  std::string name, text, expected;
};

TEST(MalformedForces, MeshFilesThatAreNotWhatTheySay) {
  const std::string head = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  const std::string nodes = "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n";
  const std::vector<MeshFile> files{
      {"a.msh", "hello\n", "is not a Gmsh file"},
      {"b.msh", "$MeshFormat\n4.1 0 8\n", "save it as version 2 ASCII"},
      {"c.msh", head + "$Nodes\n4\n1 0 0 0\n", "line 6: ends where a node should be"},
      {"d.msh", head + "$Nodes\n1\n1 0 zero 0\n", "line 6: must be a node: number x y z"},
      {"e.msh", head + nodes, "holds no tetrahedra"},
      {"f.msh", head + nodes + "$Elements\n1\n1 4 2 0 0 1 2 3 9\n", "names node 9, which is not there"},
      {"g.msh", head + nodes + "$Elements\n1\n1 4 2 0 0 1 2 3 3\n", "has no volume"},
      {"h.node", "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "h.ele: cannot be read"},
  };
  const auto folder = std::filesystem::temp_directory_path() / ("rotule_meshes_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  for (const MeshFile& file : files) {
    std::ofstream(folder / file.name) << file.text;
    try {
      build(TetrahedralMesh{.name = "mesh", .file = (folder / file.name).string()});
      ADD_FAILURE() << file.name << " accepted";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(file.expected), std::string::npos) << file.name << ": " << error.what();
    }
  }
  // And one that is: four nodes, six edges, the mass shared.
  std::ofstream(folder / "good.msh") << head + nodes + "$Elements\n2\n1 2 2 0 0 1 2 3\n2 4 2 0 0 1 2 3 4\n$EndElements\n";
  const ParticleGroup good =
      build(TetrahedralMesh{.name = "mesh", .file = (folder / "good.msh").string(), .scale = 2, .mass = 8});
  EXPECT_EQ(good.positions.size(), 4u);
  EXPECT_EQ(good.springs.at(0).pairs.size(), 6u);
  EXPECT_EQ(good.masses.at(2), 2);
  EXPECT_EQ(good.positions.at(1), Vec3(2, 0, 0));
  // A scene file looks for its mesh beside itself.
  std::ofstream(folder / "scene.json") << R"({"rotule": 1, "solids": [{"tetrahedral_mesh": {"file": "good.msh"}}]})";
  EXPECT_EQ(World(load_scene((folder / "scene.json").string())).particles(), 4);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rotule
