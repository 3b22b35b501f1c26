#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/flow.h>
#include <rotule/meshes.h>
#include <rotule/robots.h>
#include <rotule/scene.h>
#include <rotule/world.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "apps/rotule/view/command.h"
#include "apps/rotule/view/live.h"
#include "fuzz.h"
#include "model/expression.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "record/scene_json.h"
#include "record/trajectory.h"
#include "support/source_dir.h"

namespace rotule::fuzz {
namespace {

namespace fs = std::filesystem;

fs::path source() { return testing::source_dir(); }

/// Seeds of a kind that is kept small: large ones make every input slow.
std::vector<std::string> small_ones(std::vector<std::string> all, std::size_t most = 20000) {
  std::erase_if(all, [&](const std::string& text) { return text.size() > most; });
  return all;
}

fs::path written(const std::string& input, const char* name) {
  const fs::path path = scratch_folder() / name;
  std::ofstream(path, std::ios::binary) << input;
  return path;
}

std::vector<std::string> scene_seeds() { return small_ones(contents_of(source() / "scenes")); }
/// Read, made into a world and stepped, within bounds: what is large is only read.
void run_scene_text(const std::string& input) {
  const Scene scene = parse_scene(input);
  if (scene.bodies.size() > 40 || scene.joints.size() > 60 || !scene.solids.empty() || !scene.particles.empty() || scene.fluid)
    return;
  Recipe recipe = recipe_of(scene);
  recipe.budget.iterations = 2000;
  recipe.budget.seconds = 0.2;
  World world(scene, recipe);
  for (int i = 0; i < 3; ++i) world.step();
  for (const BodyId body : world.bodies())
    if (!world.position(body).allFinite() || !world.velocity(body).allFinite()) throw Broken("a body is not finite");
}

std::vector<std::string> expression_seeds() {
  return {"0.5 * sin(2 * pi * t)", "max(0, t - 1)^2 / (1 + exp(-t))", "atan2(sin(t), cos(t)) + wrap(7 * t)",
          "sqrt(abs(t)) * tanh(t) - min(t, 3)", "-(-t)^3 + 1e-3 * log(1 + t^2)"};
}
void run_expression(const std::string& input) {
  const Expression expression(input);
  for (const double t : {0.0, 0.5, 1e3, -2.0}) static_cast<void>(expression.at(t));
}

std::vector<std::string> mesh_seeds() {
  std::string stl(80, ' ');
  const std::uint32_t count = 1;
  stl.append(reinterpret_cast<const char*>(&count), 4);
  const float numbers[12] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  stl.append(reinterpret_cast<const char*>(numbers), sizeof(numbers));
  stl.append(2, '\0');
  return {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
          "# quads\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -1 -2 -3\n",
          "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n",
          stl};
}
void run_mesh(const std::string& input) {
  for (const bool obj : {true, false}) try {
      const TriangleMesh mesh = obj ? read_obj(input, "input") : read_stl(input, "input");
      if (mesh.triangles.size() > 200) continue;
      for (const auto& triangle : mesh.triangles)
        for (const int corner : triangle)
          if (corner < 0 || corner >= static_cast<int>(mesh.vertices.size())) throw Broken("a corner that is not there");
      static_cast<void>(convex_decomposition(mesh));
    } catch (const Error&) {
    }
}

std::vector<std::string> robot_seeds() {
  return {
      R"(<robot name="a"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 .5"/><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial><collision><geometry><cylinder radius=".1" length="1"/></geometry></collision></link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 1" rpy="0 1 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="3" velocity="2"/><dynamics damping=".1" friction=".2"/></joint></robot>)",
      R"(<mujoco model="m"><compiler angle="radian"/><default><geom density="1000"/><default class="c"><joint damping="1"/></default></default><worldbody><body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .1 .1"/><body name="b" pos="0 .2 0"><joint name="h" class="c" type="hinge" axis="0 1 0" range="-1 1"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".05"/></body></body></worldbody><actuator><position joint="h" kp="10"/></actuator><equality><connect body1="a" body2="b" anchor="0 0 0"/></equality></mujoco>)"};
}
void run_robot(const std::string& input) {
  const bool urdf = input.find("<robot") != std::string::npos;
  const Robot robot = read_robot(written(input, urdf ? "robot.urdf" : "robot.xml").string());
  if (robot.scene.bodies.size() > 40) return;
  World world(robot.scene);
  world.step();
}

std::vector<std::string> flow_seeds() {
  const std::string head = R"(<VTKFile type="ImageData" byte_order="LittleEndian" header_type="UInt32">)"
                           R"(<ImageData WholeExtent="0 1 0 0 0 0" Origin="0 0 0" Spacing="1 1 1"><Piece Extent="0 1 0 0 0 0">)";
  const std::string array = R"(<DataArray type="Float64" Name="velocity" NumberOfComponents="3" format=)";
  const std::string tail = "</Piece></ImageData>";
  std::vector<std::string> out{
      head + "<PointData>" + array + "\"ascii\">1 2 3 4 5 6</DataArray></PointData>" + tail + "</VTKFile>",
      head + "<CellData>" + array + "\"binary\">GAAAAAAAAAAAAPA/AAAAAAAAAEAAAAAAAAAIQA==</DataArray></CellData>" + tail +
          "</VTKFile>",
      head + "<PointData>" + array + "\"appended\" offset=\"0\"/></PointData>" + tail +
          "<AppendedData "
          "encoding=\"base64\">_MAAAAAAAAAAAAPA/AAAAAAAAAEAAAAAAAAAIQAAAAAAAAPA/AAAAAAAAAEAAAAAAAAAIQA==</AppendedData></"
          "VTKFile>",
      "# vtk DataFile Version 3.0\nfield\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 1 1\nORIGIN 0 0 0\nSPACING 1 1 1\n"
      "POINT_DATA 2\nSCALARS p float 1\nLOOKUP_TABLE default\n1 2\nVECTORS velocity double\n1 2 3 4 5 6\n",
      "# vtk DataFile Version 3.0\nfield\nASCII\nDATASET STRUCTURED_POINTS\nDIMENSIONS 2 2 1\nCELL_DATA 1\nFIELD all 2\n"
      "p 1 1 float\n1\nvelocity 3 1 double\n1 2 3\nMETADATA\nINFORMATION 0\n\n"};
  out.push_back(
      "# vtk DataFile Version 3.0\nfield\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS 1 1 1\nPOINT_DATA 1\n"
      "VECTORS velocity float\n" +
      std::string(12, '\x3f'));
  out.emplace_back(
      "<VTKFile><Collection><DataSet timestep=\"0\" file=\"a.vti\"/><DataSet timestep=\"1\" file=\"b.vti\"/>"
      "</Collection></VTKFile>");
  return out;
}
/// What is read is a field as a scene wants it, or is refused there.
void run_flow(const std::string& input) {
  const bool legacy = input.starts_with("# vtk"), series = !legacy && input.find("<DataSet") != std::string::npos;
  if (series) written(flow_seeds().front(), "a.vti");
  const fs::path path = written(input, legacy ? "field.vtk" : series ? "field.pvd" : "field.vti");
  Scene scene;
  scene.add({.name = "ball", .mass = 1, .shape = Sphere{0.1}});
  scene.forces.emplace_back(Drag{.viscous = 1});
  GridFlow flow{.file = path.string(), .outside = "hold"};
  flow.grid = std::make_shared<const FlowGrid>(read_flow(flow.file));
  scene.flows.emplace_back(std::move(flow));
  World world(scene);
  world.step();
  for (const BodyId body : world.bodies())
    if (!world.velocity(body).allFinite()) throw Broken("a body in a field is not finite");
}

Scene named_scene();

std::vector<std::string> viewer_seeds() {
  return {R"({"do": "play"})",
          R"({"do": "step", "count": 3})",
          R"({"do": "seek", "time": 0.5})",
          R"({"do": "drag", "body": 1, "at": [0, 0, 0], "to": [1, 2, 3]})",
          R"({"do": "throw", "from": [0, 0, 3], "velocity": [1, 0, 0], "radius": 0.1, "mass": 1})",
          R"({"do": "recipe", "changes": {"dt": 0.01, "solver": "pgs", "solver.relaxation": 1.4}})",
          R"({"do": "dial", "setting": "exact"})",
          R"({"do": "show", "parts": ["contacts", "forces"]})",
          R"({"do": "pick", "body": 2})",
          R"({"do": "open", "scene": "pendulum"})"};
}
/// Read, and those that act on a world, done to one; a new one now and then.
void run_viewer_message(const std::string& input) {
  constexpr int messages_per_world = 40;
  static std::optional<app::Live> live;
  static int messages = 0;
  if (messages++ % messages_per_world == 0) live.emplace("fuzzed", named_scene(), std::uint16_t{0}, std::size_t{1} << 20);
  const app::Command command = app::parse_command(input);
  if (const auto* pull = std::get_if<app::ask::Pull>(&command)) live->drag(1, {pull->body, pull->at, pull->to});
  if (const auto* ball = std::get_if<app::ask::Throw>(&command))
    live->throw_ball(ball->from, ball->velocity, ball->radius, ball->mass);
  if (const auto* change = std::get_if<app::ask::Change>(&command)) live->change_recipe(change->fields);
  if (const auto* turn = std::get_if<app::ask::Turn>(&command)) live->turn_dial({turn->setting, turn->accuracy});
  live->step();
  live->capture(0);
}

Scene named_scene() {
  Scene scene;
  scene.add({.name = "floor", .fixed = true, .shape = Plane{}});
  for (int k = 0; k < 3; ++k)
    scene.add({.name = fmt::format("b{}", k), .mass = 1, .position = {0.1 * k, 0, 0.5 + 1.01 * k}, .shape = Box{}});
  scene.add(Hinge{.between = {"b1", "b2"}, .at = {0, 0, 2}, .axis = {1, 0, 0}});
  return scene;
}
World& snapshot_world(int which) {
  static std::vector<World> worlds = [] {
    std::vector<World> out;
    const Scene scene = named_scene();
    for (const Dial dial : {Dial::realtime, Dial::balanced, Dial::exact}) out.emplace_back(scene, recipe_for(scene, dial));
    for (World& world : out)
      for (int i = 0; i < 5; ++i) world.step();
    return out;
  }();
  return worlds[static_cast<std::size_t>(which)];
}
std::vector<std::string> snapshot_seeds() {
  std::vector<std::string> out;
  for (int which = 0; which < 3; ++which) {
    const Snapshot snapshot = snapshot_world(which).save();
    out.emplace_back(snapshot.bytes.begin(), snapshot.bytes.end());
  }
  return out;
}
/// The sum is made right again: whoever damages a file on purpose would do so too.
void run_snapshot(const std::string& input) {
  constexpr std::size_t sum_at = 8, header = 80;
  Snapshot snapshot;
  snapshot.bytes.assign(input.begin(), input.end());
  if (snapshot.bytes.size() > header) {
    std::uint64_t sum = 0xcbf29ce484222325ULL;
    for (std::size_t i = header; i < snapshot.bytes.size(); ++i) sum = (sum ^ snapshot.bytes[i]) * 0x100000001b3ULL;
    std::memcpy(snapshot.bytes.data() + sum_at, &sum, sizeof(sum));
  }
  for (int which = 0; which < 3; ++which) {
    World& world = snapshot_world(which);
    const Snapshot before = world.save();
    const std::uint64_t hash = world.state_hash();
    try {
      world.load(snapshot);
      world.step();
    } catch (const Error&) {
    }
    world.load(before);
    if (world.state_hash() != hash) throw Broken("a world does not come back to where it was");
  }
}

std::vector<std::string> hdf5_seeds() {
  std::vector<std::string> out = small_ones(contents_of(source() / "data" / "fclib"), 200000);
  const fs::path recording = scratch_folder() / "seed.h5", problems = scratch_folder() / "seed_problems.h5";
  fs::remove(recording);
  const Scene scene = named_scene();
  World world(scene);
  world.keep_problems(true);
  {
    std::vector<std::string> bodies, joints;
    for (const BodyId body : world.bodies()) bodies.push_back(world.name(body));
    for (const JointId joint : world.joints()) joints.push_back(world.name(joint));
    TrajectoryWriter writer(recording.string(), to_json(scene), scene.recipe, bodies, joints);
    ProblemWriter algebra(problems.string(), "", "", joints);
    TrajectoryFrame frame;
    for (int i = 0; i < 5; ++i) {
      world.step();
      capture(world, frame);
      writer.append(frame);
      for (int k = 0; k < world.islands(); ++k) algebra.append(i, world.time(), k, world.problem(k), world.multipliers(k));
    }
    writer.checkpoint({world.save().bytes, "{}", {1, 2, 3}});
    writer.finish();
    algebra.finish();
  }
  for (const fs::path& path : {recording, problems}) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    out.push_back(text.str());
  }
  return out;
}
/// Read as all that it could be, as commands do.
void run_hdf5(const std::string& input) {
  const std::string path = written(input, "input.h5").string();
  const auto tried = [](auto&& work) {
    try {
      work();
    } catch (const Error&) {
    }
  };
  tried([&] {
    const TrajectoryReader reader(path);
    static_cast<void>(reader.scene());
    static_cast<void>(reader.summary());
    static_cast<void>(reader.resume_point());
    static_cast<void>(reader.frames(0, std::min<std::size_t>(reader.frames(), 100)));
  });
  tried([&] {
    const std::vector<std::int64_t> frames = recorded_frames(path);
    if (!frames.empty()) static_cast<void>(read_problem(path, frames.front(), 0));
  });
  tried([&] {
    if (is_fclib_file(path)) static_cast<void>(read_fclib(path));
  });
  tried([&] { static_cast<void>(read_flow(path)); });
}

}  // namespace

const fs::path& scratch_folder() {
  static const fs::path folder = [] {
    fs::path path = fs::temp_directory_path() / fmt::format("rotule_fuzz_{}", ::getpid());
    fs::create_directories(path);
    return path;
  }();
  return folder;
}

std::vector<std::string> contents_of(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file()) files.push_back(at->path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> out;
  for (const fs::path& file : files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    out.push_back(text.str());
  }
  return out;
}

const std::vector<Target>& targets() {
  static const std::vector<Target> list{
      {"scene_text", "scene files, damaged; those that make sense are stepped", scene_seeds, nullptr, run_scene_text},
      {"scene", "scenes that make sense, at random, and what is promised of their runs", nullptr, make_scene,
       run_scene_with_promises},
      {"expression", "expressions of time", expression_seeds, nullptr, run_expression},
      {"mesh", "OBJ and STL files, cut into convex parts", mesh_seeds, nullptr, run_mesh},
      {"robot", "URDF and MJCF files", robot_seeds, nullptr, run_robot},
      {"flow", "flow fields of VTK, stood in", flow_seeds, nullptr, run_flow},
      {"viewer", "messages to the viewer's server", viewer_seeds, nullptr, run_viewer_message},
      {"snapshot", "snapshots with the right sum", snapshot_seeds, nullptr, run_snapshot},
      {"hdf5", "recordings, problems and FCLIB files", hdf5_seeds, nullptr, run_hdf5}};
  return list;
}

}  // namespace rotule::fuzz
