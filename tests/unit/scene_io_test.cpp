// Scene files: what is written reads back to the same bits, and the schema says what the reader accepts.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/scene.h>
#include <rotule/solvers/sor.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "model/scene_fields.h"
#include "record/scene_json.h"
#include "support/source_dir.h"

namespace rotule {
namespace {

// Flattens whatever a scene holds to a list of bits and words: equal lists are equal scenes. Independent of the writer, which
// compares texts.
struct Bits {
  std::vector<std::string> all;

  void put(double x) { all.push_back(std::to_string(std::bit_cast<std::uint64_t>(x))); }
  void put(int x) { all.push_back(std::to_string(x)); }
  void put(bool x) { all.push_back(x ? "true" : "false"); }
  void put(const std::string& x) { all.push_back(x); }
  void put(const Formula& x) { all.push_back(x.text); }
  void put(const EquationText& x) { put(x.lines); }
  void put(const Quat& q) {
    for (int k = 0; k < 4; ++k) put(q.coeffs()[k]);
  }
  template <class Scalar, int rows, int columns>
  void put(const Eigen::Matrix<Scalar, rows, columns>& m) {
    for (int k = 0; k < m.size(); ++k) put(m.data()[k]);
  }
  template <class T, std::size_t N>
  void put(const std::array<T, N>& items) {
    for (const T& item : items) put(item);
  }
  template <class T>
  void put(const std::vector<T>& items) {
    put(static_cast<int>(items.size()));
    for (const auto& item : items) put(item);
  }
  template <class T>
  void put(const std::optional<T>& x) {
    put(x.has_value());
    if (x) put(*x);
  }
  template <class... T>
  void put(const std::variant<T...>& x) {
    put(static_cast<int>(x.index()));
    std::visit([&](const auto& alternative) { put(alternative); }, x);
  }
  void put(const SolverChoice& choice) {
    all.emplace_back(choice.name());
    choice.visit_fields([&](const Field&, const auto& member) { put(member); });
  }
  void put(std::monostate) {}
  template <class T>
  void put(const T& described) {
    visit_fields(described, [&](const Field&, const auto& member, Need = {}) { put(member); });
  }
};

std::vector<std::string> bits(const Scene& scene) {
  Bits out;
  out.put(scene);
  return out.all;
}

// Something of everything, with numbers that have no short decimal.
Scene everything() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto number = [&] { return normal(random); };
  const auto vector = [&] { return Vec3(number(), number(), number()); };
  const auto rotation = [&] { return Quat(number(), number(), number(), number()).normalized(); };

  Scene scene;
  scene.name = "every\"thing\n\xc3\xa9";
  scene.description = "a scene \\ with all kinds";
  scene.gravity = {-0.0, 1e-300, -9.80665};
  scene.materials = {{.name = "steel", .density = 7850.1, .friction = 0.1, .restitution = 1.0 / 3}, {.name = "plain"}};

  const Compound compound{{{.shape = Sphere{0.1}, .position = vector(), .orientation = rotation(), .density = 2.5},
                           {.shape = Compound{{{.shape = Box{{0.1, 0.2, 0.3}}}}}, .position = vector()}}};
  const TriangleMesh tetrahedron{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1.1}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}};
  const ConvexHull hull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0.1, 0.2, 1}}};
  const std::vector<Shape> shapes{Shape{},      Sphere{0.7}, Box{{1, 2, 3}}, Cylinder{0.2, 0.9}, Capsule{0.1, 2},
                                  Cone{0.3, 4}, hull,        tetrahedron,    compound,           Box{}};
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  for (const Shape& shape : shapes)
    scene.add({.mass = std::exp(number()),
               .position = vector(),
               .orientation = rotation(),
               .velocity = vector(),
               .angular_velocity = vector(),
               .shape = shape});
  Mat3 inertia = Vec3(1.1, 1.2, 1.3).asDiagonal();
  scene.bodies[1].inertia = inertia;
  const Mat3 R = rotation().toRotationMatrix();
  inertia = R * inertia * R.transpose();
  scene.bodies[2].inertia = 0.5 * (inertia + inertia.transpose());
  scene.bodies[3].center_of_mass = vector();
  scene.bodies[4].mass = {};
  scene.bodies[4].density = 1234.5;
  scene.bodies[5].mass = {};
  scene.bodies[5].material = "steel";

  const auto axis = [&] { return vector(); };
  scene.add(Ball{.between = {"world", "body_1"}, .at = vector()});
  scene.add(Hinge{.between = {"body_1", "body_2"}, .at = vector(), .axis = axis()});
  scene.add(Slider{.name = "rail", .between = {"body_2", "body_3"}, .at = vector(), .axis = axis()});
  scene.add(Cylindrical{.between = {"body_3", "body_4"}, .at = vector(), .axis = axis()});
  scene.add(Universal{.between = {"body_4", "body_5"}, .at = vector(), .axis_a = {0, 0, 2}, .axis_b = {1, 1, 0}});
  scene.add(Planar{.between = {"ground", "body_6"}, .at = vector(), .normal = axis()});
  scene.add(Weld{.between = {"body_6", "body_7"}, .at = vector()});
  scene.add(Rod{.between = {"body_7", "body_8"}, .from = vector(), .to = vector(), .length = 0.1});
  scene.add(PointOnLine{.between = {"body_8", "body_9"}, .at = vector(), .axis = axis()});
  scene.add(LockedAxes{
      .between = {"body_9", "body_10"}, .at = vector(), .frame = rotation(), .locked = {false, true, false, true, true, false}});
  scene.add(Gear{.between = {"body_1", "body_2"},
                 .carrier = "body_3",
                 .axis_a = axis(),
                 .axis_b = axis(),
                 .teeth_a = 17,
                 .teeth_b = 40,
                 .internal = true,
                 .breaks = {.force = 1e3 / 7, .torque = 1.0 / 3}});
  scene.add(
      RackAndPinion{.between = {"body_1", "body_2"}, .carrier = "body_4", .axis = axis(), .direction = axis(), .radius = 0.1});
  scene.add(Screw{.between = {"body_3", "body_4"}, .at = vector(), .axis = axis(), .pitch = -0.03});
  scene.add(Pulley{.between = {"body_1", "body_5"},
                   .carrier = "ground",
                   .from = vector(),
                   .over_a = vector(),
                   .over_b = vector(),
                   .ratio = 2.0 / 3,
                   .slack = true,
                   .restitution = 0.3});
  scene.add(Differential{.between = {"body_1", "body_2"}, .housing = "body_3", .carrier = "body_4", .axis = axis()});
  scene.add(Rail{.between = {"body_1", "body_2"}, .point = vector(), .points = {vector(), vector(), vector()}, .closed = true});
  scene.add(
      Cam{.between = {"body_1", "body_2"}, .axis = axis(), .profile = {vector(), vector(), vector(), vector()}, .roller = 0.1});
  scene.add(ConstantVelocity{.between = {"body_5", "body_6"}, .at = vector(), .axis = axis()});
  scene.add(Rolling{
      .between = {"ground", "body_7"}, .at = vector(), .normal = axis(), .center = vector(), .axis = axis(), .radius = 0.7});
  scene.add(KnifeEdge{.between = {"ground", "body_8"}, .at = vector(), .blade = axis(), .normal = axis()});
  scene.add(ConeLimit{.between = {"body_1", "body_2"}, .axis = axis(), .center = axis(), .angle = 0.4, .restitution = 0.2});
  scene.add(Constraint{.between = {"body_1", "body_2"},
                       .more = {"body_3"},
                       .at_least = 1.0 / 7,
                       .restitution = 0.1,
                       .equation = {"body_1.x - k * tip.y", "body_3.z"},
                       .points = {{"tip", "body_2", vector()}},
                       .constants = {{"k", number()}}});

  scene.impulses = {{.body = "body_1", .impulse = vector()}, {.body = "body_2", .impulse = vector(), .at = vector()}};
  scene.walls = {{.name = "left", .at = vector(), .normal = axis(), .restitution = 0.75, .sticking = true}};
  scene.recipe.dt = 1.0 / 60;
  scene.recipe.integrator = Ab4Settings{};
  scene.recipe.formulation = VelocitySettings{.baumgarte = 0.1, .geometric_stiffness = false};
  scene.recipe.solver = SorSettings{.relaxation = 1.4};
  scene.recipe.correction = NoCorrectionSettings{};
  return scene;
}

TEST(SceneIo, EverythingReadsBackToTheSameBits) {
  const Scene scene = everything();
  const std::string text = to_json(scene);
  const Scene back = parse_scene(text);
  EXPECT_EQ(bits(back), bits(scene));
  EXPECT_EQ(to_json(back), text);
}

TEST(SceneIo, RandomDoublesReadBackToTheSameBits) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const auto x = std::bit_cast<double>(random());
    if (!std::isfinite(x)) continue;
    Scene scene;
    scene.gravity = {x, -x, 0};
    const Scene back = parse_scene(to_json(scene));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back.gravity[0]), std::bit_cast<std::uint64_t>(x));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(back.gravity[1]), std::bit_cast<std::uint64_t>(-x));
  }
}

TEST(SceneIo, DefaultsAreNotWritten) {
  EXPECT_EQ(to_json(Scene{}), "{\n  \"rotule\": 1\n}\n");
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0});
  scene.add(Ball{.name = "pivot", .between = {"world", "bob"}});
  EXPECT_EQ(to_json(scene),
            "{\n  \"rotule\": 1,\n  \"bodies\": [\n    {\"name\": \"bob\", \"mass\": 1}\n  ],\n  \"joints\": [\n"
            "    {\"ball\": {\"name\": \"pivot\", \"between\": [\"world\", \"bob\"]}}\n  ]\n}\n");
}

TEST(SceneIo, ReadsThePendulum) {
  const Scene scene =
      parse_scene(R"({"rotule": 1, "gravity": [0,0,-9.81], "bodies": [{"name": "bob", "mass": 1, "position": [1,0,0]}],
      "joints": [{"ball": {"between": ["world","bob"], "at": [0,0,0]}}], "recipe": {"integrator": "midpoint", "dt": 0.002,
      "solver": {"name": "sor", "relaxation": 1.5}}})");
  ASSERT_EQ(scene.bodies.size(), 1u);
  EXPECT_EQ(scene.bodies[0].position, Vec3(1, 0, 0));
  EXPECT_EQ(std::get<Ball>(scene.joints.at(0)).name, "ball_0");
  EXPECT_EQ(name_of(scene.recipe.integrator), "rk2");
  EXPECT_EQ(scene.recipe.dt, 0.002);
  EXPECT_EQ(scene.recipe.solver.get_if<SorSettings>()->relaxation, 1.5);
}

TEST(SceneIo, OrientationsInBothForms) {
  const Scene scene = parse_scene(R"({"rotule": 1, "bodies": [
      {"mass": 1, "orientation": [2, 0, 0, 2]}, {"mass": 1, "orientation": {"axis": [0, 0, 5], "angle": 1.5707963267948966}}]})");
  for (const BodyDef& body : scene.bodies)
    EXPECT_LT((body.orientation * Vec3(1, 0, 0) - Vec3(0, 1, 0)).norm(), 1e-15) << body.name;
}

TEST(SceneIo, UnnamedThingsGetNamesThatDoNotClash) {
  const Scene read = parse_scene(R"({"rotule": 1, "bodies": [{"mass": 1}, {"name": "body_0", "mass": 1}]})");
  EXPECT_EQ(read.bodies[0].name, "body_1");
  Scene scene;
  scene.add({.name = "body_1", .mass = 1.0});
  const BodyId id = scene.add({.mass = 1.0});
  EXPECT_EQ(id.index, 1u);
  EXPECT_EQ(scene.bodies[1].name, "body_2");
}

TEST(SceneIo, ConstraintFunctionsAreRefused) {
  Scene scene;
  scene.add({.name = "bob", .mass = 1.0});
  scene.add(Constraint{.name = "curve",
                       .between = {"world", "bob"},
                       .function = [](const JetBody&, const JetBody& b, const Jet&) { return b.position.x(); }});
  EXPECT_THROW(to_json(scene), Error);
}

TEST(SceneIo, SavesAndLoads) {
  const auto folder = std::filesystem::temp_directory_path() / "rotule_scene_io_test";
  std::filesystem::create_directories(folder);
  const std::string path = folder / "scene.json";
  save_scene(everything(), path);
  EXPECT_EQ(bits(load_scene(path)), bits(everything()));
  EXPECT_THROW(save_scene(everything(), folder / "missing" / "scene.json"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  std::filesystem::remove_all(folder);
}

std::string content(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

const std::filesystem::path source_root = testing::source_dir();

TEST(SceneSchema, TheCommittedOneIsTheGeneratedOne) {
  EXPECT_EQ(content(source_root / "scenes" / "schema.json"), scene_schema()) << "rotule schema > scenes/schema.json";
}

// An independent judge of the schema: the package python3-jsonschema.
int validate_with_python(const std::string& text) {
  const auto folder = std::filesystem::temp_directory_path() / "rotule_schema_test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "scene.json") << text;
  std::ofstream(folder / "schema.json") << scene_schema();
  std::ofstream(folder / "judge.py") << "import json, sys\n"
                                        "try:\n  import jsonschema\n  judge = jsonschema.Draft202012Validator\n"
                                        "except (ImportError, AttributeError): sys.exit(77)\n"
                                        "folder = sys.argv[1] + '/'\n"
                                        "schema = json.load(open(folder + 'schema.json'))\n"
                                        "judge.check_schema(schema)\n"
                                        "sys.exit(0 if judge(schema).is_valid(json.load(open(folder + 'scene.json'))) else 1)\n";
  const int status =
      std::system(("/usr/bin/python3 " + (folder / "judge.py").string() + " " + folder.string() + " 2>/dev/null").c_str());
  std::filesystem::remove_all(folder);
  return WEXITSTATUS(status);
}

TEST(SceneSchema, AcceptsWhatTheReaderAcceptsAndRefusesWhatItRefuses) {
  const int verdict = validate_with_python(to_json(everything()));
  if (verdict == 77 || verdict == 127) GTEST_SKIP() << "python3-jsonschema is not there";
  EXPECT_EQ(verdict, 0);
  for (const char* good :
       {R"({"rotule": 1})", R"({"rotule": 1, "bodies": [{"mass": 1, "orientation": {"axis": [1,0,0], "angle": 1}}]})",
        R"({"rotule": 1, "recipe": {"integrator": "midpoint", "solver": {"name": "sor", "relaxation": 1.9}}})"}) {
    EXPECT_NO_THROW(parse_scene(good)) << good;
    EXPECT_EQ(validate_with_python(good), 0) << good;
  }
  for (const char* bad :
       {R"({})", R"({"rotule": 2})", R"({"rotule": 1, "bodies": [{"massa": 1}]})", R"({"rotule": 1, "bodies": [{"mass": -1}]})",
        R"({"rotule": 1, "recipe": {"solver": {"name": "sor", "relaxation": 3}}})",
        R"({"rotule": 1, "joints": [{"ball": {}}]})"}) {
    EXPECT_THROW(parse_scene(bad), Error) << bad;
    EXPECT_EQ(validate_with_python(bad), 1) << bad;
  }
}

// Parts by themselves, as they stand in a file, are what the whole file would have.
TEST(SceneIo, PartsAreReadByThemselves) {
  const char* const body = R"({"name": "a", "mass": 2, "position": [1, 2, 3], "shape": {"box": {"size": [1, 2, 4]}}})";
  const char* const joint = R"({"hinge": {"between": ["world", "a"], "at": [1, 0, 0], "axis": [0, 1, 0], "lower": -1}})";
  const char* const force = R"({"spring": {"between": ["world", "a"], "from": [0, 0, 1], "stiffness": 3}})";
  const Scene whole = parse_scene(std::string(R"({"rotule": 1, "bodies": [)") + body + R"(], "joints": [)" + joint +
                                  R"(], "forces": [)" + force + "]}");
  Scene parts = whole;
  parts.bodies = {parse_body(body)};
  parts.joints = {parse_joint(joint)};
  parts.forces = {parse_force(force)};
  std::get<Hinge>(parts.joints[0]).name = std::get<Hinge>(whole.joints[0]).name;  // which the whole gives it
  std::get<Spring>(parts.forces[0]).name = std::get<Spring>(whole.forces[0]).name;
  EXPECT_EQ(to_json(parts), to_json(whole));
  EXPECT_EQ(std::get<Box>(parse_shape(R"({"box": {"size": [1, 2, 4]}})")).size, Vec3(1, 2, 4));
  EXPECT_THROW(parse_body(R"({"massa": 1})"), Error);
  EXPECT_THROW(parse_joint(R"({"hing": {}})"), Error);
  EXPECT_THROW(parse_force("[]"), Error);
  EXPECT_THROW(parse_shape(R"({"triangle_mesh": {"file": "there_is_no_such_file.obj"}})"), Error);
}

}  // namespace
}  // namespace rotule
