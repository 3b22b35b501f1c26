// Bad scenes of every kind give one line with file, place and remedy; nothing else may come out of a damaged file.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/scene.h>

#include <filesystem>
#include <fstream>
#include <random>

namespace rotule {
namespace {

struct Malformed {
  std::string text;
  std::string expected;  // fragment of the message
};

// The body, joint or recipe of a scene that is otherwise right.
std::string body(const std::string& fields) { return R"({"rotule": 1, "bodies": [{"name": "a", "mass": 1}, {)" + fields + "}]}"; }
std::string joint(const std::string& text) {
  return R"({"rotule": 1, "bodies": [{"name": "a", "mass": 1}, {"name": "b", "mass": 1}, {"name": "rock", "fixed": true}], "joints": [)" +
         text + "]}";
}
std::string recipe(const std::string& fields) { return R"({"rotule": 1, "recipe": {)" + fields + "}}"; }

const std::vector<Malformed> malformed_scenes{
    // Not JSON.
    {"", "the file is empty"},
    {"  \n\t ", "the file is empty"},
    {"{", "line 1, column 2: the text ends too early"},
    {R"({"rotule": 1, "bodies": [{"mass": 1})", "the text ends too early"},
    {"{\"rotule\": 1,\n \"bodies\": [}", "line 2, column 13: not valid JSON"},
    {R"({"rotule": 1,})", "line 1, column 14: not valid JSON"},
    {R"({'rotule': 1})", "line 1, column 2: not valid JSON"},
    {R"({"rotule": 1} x)", "not valid JSON"},
    {R"({"rotule": 01})", "not valid JSON"},
    {R"({"rotule": 1 "name": "x"})", "not valid JSON"},
    {R"({"rotule": 1, "gravity": [0, 0, NaN]})", "not valid JSON"},
    {R"({"rotule": 1, "gravity": [0, 0, -Infinity]})", "not valid JSON"},
    {R"({"rotule": 1, "gravity": [0, 0, 1e999]})", "number is too large for a double"},
    {"{\"rotule\": 1, \"name\": \"\xff\xfe\"}", "not valid JSON"},
    {"\xff\xfe{\"rotule\": 1}", "line 1, column 1: not valid JSON"},
    {"{\"rotule\": 1, \"name\": \"a\nb\"}", "not valid JSON"},
    {std::string("{\"rotule\": 1}\0", 14), "line 1: holds a NUL byte"},
    {std::string(200, '['), "nested deeper than 100 levels"},
    {std::string(1 << 20, '['), "nested deeper than 100 levels"},
    {R"({"rotule": 1, "name": "x", "name": "y"})", "key \"name\" is given twice"},
    {R"({"rotule": 1, "bodies": [{"mass": 1}, {"mass": 1, "mass": 2}]})", "/bodies/1: key \"mass\" is given twice"},
    // Not a scene.
    {"[]", "/: must be an object such as {\"rotule\": 1, ...}, is a list"},
    {"3", "/: must be an object"},
    {"null", "/: must be an object"},
    {"{}", "/: missing key \"rotule\""},
    {R"({"rotul": 1})", "unknown key \"rotul\"; did you mean \"rotule\"?"},
    {R"({"rotule": 2})", "/rotule: must be 1, the version of the format that this program reads, is 2"},
    {R"({"rotule": "1"})", "/rotule: must be the number of the format's version, 1, is a string"},
    {R"({"rotule": 1, "bodys": []})", "unknown key \"bodys\"; did you mean \"bodies\"?"},
    {R"({"rotule": 1, "bodies": {}})", "/bodies: must be a list, is an object"},
    {R"({"rotule": 1, "gravity": -9.81})", "/gravity: must be a list of 3 numbers, is a number"},
    {R"({"rotule": 1, "gravity": [0, -9.81]})", "/gravity: must be a list of 3 numbers, has 2"},
    {R"({"rotule": 1, "gravity": [0, 0, "down"]})", "/gravity/2: must be a number, is a string"},
    {R"({"rotule": 1, "name": 7})", "/name: must be a string, is a number"},
    // Bodies.
    {body(R"("massa": 1)"), "/bodies/1: unknown key \"massa\"; did you mean \"mass\"?"},
    {body(R"("zzzzzz": 1)"), "/bodies/1: unknown key \"zzzzzz\"; known are: name, fixed, mass"},
    {body(R"("mass": -1)"), "/bodies/1/mass: must be greater than 0, is -1"},
    {body(R"("mass": 0)"), "/bodies/1/mass: must be greater than 0, is 0"},
    {body(R"("mass": "1 kg")"), "/bodies/1/mass: must be a number, is a string"},
    {body(R"("mass": null)"), "/bodies/1/mass: must be a number, is null"},
    {body(R"("mass": 1e200)"), "/bodies/1/mass: must be at most 1e+100, is 1e+200"},
    {body(""), "/bodies/1/mass: missing; give mass"},
    {body(R"("shape": {"box": {}})"), "/bodies/1/mass: missing; give mass, density or a material"},
    {body(R"("density": 1000)"), "/bodies/1/density: needs a shape"},
    {body(R"("mass": 1, "density": 2, "shape": {"box": {}})"), "/bodies/1/density: give mass or density, not both"},
    {body(R"("density": 0, "shape": {"box": {}})"), "/bodies/1/density: must be greater than 0, is 0"},
    {body(R"("mass": 1, "name": "a")"), "/bodies/1/name: \"a\" is already the name of /bodies/0; choose another"},
    {body(R"("mass": 1, "name": "world")"), "/bodies/1/name: \"world\" is what joints call"},
    {body(R"("mass": 1, "fixed": "no")"), "/bodies/1/fixed: must be true or false, is a string"},
    {body(R"("mass": 1, "position": [0, 0, 0, 0])"), "/bodies/1/position: must be a list of 3 numbers, has 4"},
    {body(R"("mass": 1, "position": "here")"), "/bodies/1/position: must be a list of 3 numbers, is a string"},
    {body(R"("mass": 1, "orientation": [0, 0, 0, 0])"), "/bodies/1/orientation: must be a quaternion w, x, y, z of length 1"},
    {body(R"("mass": 1, "orientation": [1, 0, 0])"), "/bodies/1/orientation: must be a quaternion of 4 numbers"},
    {body(R"("mass": 1, "orientation": {"axis": [0, 0, 0], "angle": 1})"),
     "/bodies/1/orientation/axis: must not be the zero vector"},
    {body(R"("mass": 1, "orientation": {"axis": [0, 0, 1]})"), "/bodies/1/orientation: missing key \"angle\""},
    {body(R"("mass": 1, "inertia": [1, 1, 3])"), "/bodies/1/inertia: no body has it"},
    {body(R"("mass": 1, "inertia": [1, 1, -1])"),
     "/bodies/1/inertia: principal moments must be greater than 0, the smallest is -1"},
    {body(R"("mass": 1, "inertia": [0, 0, 0])"), "/bodies/1/inertia: principal moments must be greater than 0"},
    {body(R"("mass": 1, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]])"), "/bodies/1/inertia: must be symmetric"},
    {body(R"("mass": 1, "inertia": [[1, 0], [0, 1, 0], [0, 0, 1]])"), "/bodies/1/inertia/0: must be a list of 3 numbers, has 2"},
    {body(R"("mass": 1, "inertia": 4)"), "/bodies/1/inertia: must be [Ixx, Iyy, Izz] or a list of 3 rows, is a number"},
    {body(R"("mass": 1, "material": "steel")"), "/bodies/1/material: unknown material \"steel\"; there are none"},
    // Shapes.
    {body(R"("mass": 1, "shape": "box")"), "/bodies/1/shape: must be an object with one key, the kind of shape, is a string"},
    {body(R"("mass": 1, "shape": {"bx": {}})"), "/bodies/1/shape: unknown shape \"bx\"; did you mean \"box\"?"},
    {body(R"("mass": 1, "shape": {"box": {}, "sphere": {}})"), "/bodies/1/shape: must have one key, the kind of shape, has 2"},
    {body(R"("mass": 1, "shape": {"box": {"size": [1, 0, 1]}})"), "/bodies/1/shape/box/size/1: must be greater than 0, is 0"},
    {body(R"("mass": 1, "shape": {"box": {"sizes": [1, 1, 1]}})"),
     "/bodies/1/shape/box: unknown key \"sizes\"; did you mean \"size\"?"},
    {body(R"("mass": 1, "shape": {"sphere": {"radius": -0.5}})"),
     "/bodies/1/shape/sphere/radius: must be greater than 0, is -0.5"},
    {body(R"("mass": 1, "shape": {"plane": {}})"), "/bodies/1/shape: a plane is only for fixed bodies"},
    {body(R"("mass": 1, "shape": {"convex_hull": {}})"), "/bodies/1/shape/convex_hull: missing key \"points\""},
    {body(R"("mass": 1, "shape": {"convex_hull": {"points": [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]}})"),
     "must not all lie in one plane"},
    {body(R"("mass": 1, "shape": {"convex_hull": {"points": [[0,0,0],[1,0,0],[0,1,0]]}})"), "must be at least 4 points, are 3"},
    {body(R"("mass": 1, "shape": {"triangle_mesh": {"vertices": [[0,0,0]], "triangles": [[0,0,1],[0,0,0],[0,0,0],[0,0,0]]}})"),
     "must be the number of a vertex, 0 to 0, is 1"},
    {body(R"("mass": 1, "shape": {"triangle_mesh": {"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[1,1,1]],
           "triangles": [[0,2,1],[0,1,3],[0,3,2],[1,2,4]]}})"),
     "the surface is open at the edge"},
    {body(R"("mass": 1, "shape": {"triangle_mesh": {"vertices": [[0,0,0],[1,0,0],[0,1,0],[0,0,1]],
           "triangles": [[0,1,2],[0,3,1],[0,2,3],[1,3,2]]}})"),
     "enclose no volume; order the corners counter-clockwise"},
    {body(R"("mass": 1, "shape": {"triangle_mesh": {"vertices": [], "triangles": [[0.5,0,1]]}})"), "must be a whole number"},
    {body(R"("mass": 1, "shape": {"compound": {"parts": []}})"), "/bodies/1/shape/compound/parts: must hold at least one part"},
    {body(R"("mass": 1, "shape": {"compound": {"parts": [{"shape": {"sphere": {"radius": 0}}}]}})"),
     "/bodies/1/shape/compound/parts/0/shape/sphere/radius: must be greater than 0, is 0"},
    {body(R"("mass": 1, "shape": {"compound": {"parts": [{"position": [0, 0, 0]}]}})"),
     "/bodies/1/shape/compound/parts/0: missing key \"shape\""},
    // Materials, impulses, walls.
    {R"({"rotule": 1, "materials": [{"density": 1}]})", "/materials/0: missing key \"name\""},
    {R"({"rotule": 1, "materials": [{"name": "x", "restitution": 1.5}]})", "/materials/0/restitution: must be at most 1, is 1.5"},
    {R"({"rotule": 1, "materials": [{"name": "x", "friction": -0.1}]})", "/materials/0/friction: must be at least 0, is -0.1"},
    {R"({"rotule": 1, "materials": [{"name": "x"}, {"name": "x"}]})",
     "/materials/1/name: \"x\" is already the name of /materials/0"},
    {R"({"rotule": 1, "walls": [{"normal": [0, 0, 0]}]})", "/walls/0/normal: must not be the zero vector"},
    {R"({"rotule": 1, "walls": [{"restitution": -1}]})", "/walls/0/restitution: must be at least 0, is -1"},
    {R"({"rotule": 1, "impulses": [{"body": "a", "impulse": [1, 0, 0]}]})", "/impulses/0/body: unknown body \"a\""},
    {R"({"rotule": 1, "bodies": [{"name": "rock", "fixed": true}], "impulses": [{"body": "rock", "impulse": [1, 0, 0]}]})",
     "/impulses/0/body: \"rock\" is fixed"},
    // Names are told as they are written, but for what a terminal would obey.
    {body(R"("mass": 1, "größe": 1)"), "unknown key \"größe\"; known are"},
    {body(R"("mass": 1, "material": "Stahl\u001b[31m, verzinkt \"ä\"")"),
     R"(unknown material "Stahl\u001b[31m, verzinkt \"ä\""; there are none)"},
    // Words and forms that other engines have.
    {body(R"("mass": 1, "friction": 0.3)"), "/bodies/1: unknown key \"friction\"; it is a material's: \"materials\": [{"},
    {body(R"("mass": 1, "radius": 0.3)"), "unknown key \"radius\"; it is a shape's: \"shape\": {\"sphere\": {\"radius\": 0.5}}"},
    {body(R"("static": true)"), "unknown key \"static\"; it is called \"fixed\": true here"},
    {body(R"("type": "static")"), "unknown key \"type\"; it is \"fixed\": true or \"kinematic\": true here"},
    {body(R"("mass": 1, "rotation": [0, 0, 90])"), "unknown key \"rotation\"; it is \"orientation\" here: {\"axis\""},
    {body(R"("mass": 1, "pos": [0, 0, 1])"), "unknown key \"pos\"; did you mean \"position\"?"},
    {body(R"("Mass": 1)"), "unknown key \"Mass\"; did you mean \"mass\"?"},
    {body(R"("mass": 1, "material": "steel")"),
     "unknown material \"steel\"; there are none: \"materials\": [{\"name\": \"steel\"}] makes one"},
    {body(R"("mass": 1, "shape": "sphere")"), "is a string; write {\"sphere\": {}}"},
    {body(R"("mass": 1, "shape": "cube")"), "is a string; it is called \"box\" here"},
    {body(R"("mass": 1, "shape": {"type": "box", "size": [1, 1, 1]})"),
     "/bodies/1/shape: must have one key, the kind of shape: {\"box\": {...}} with the other keys inside, has 2"},
    {body(R"("mass": 1, "shape": {"sphere": 0.5})"),
     "/bodies/1/shape/sphere: must be an object, is a number; write {\"radius\": 0.5}"},
    {body(R"("mass": 1, "shape": {"box": {"half_extents": [1, 1, 1]}})"), "\"size\" has the full lengths of the edges"},
    {R"({"rotule": 1, "gravity": 9.81})", "is a number; write [0, 0, -9.81]"},
    {R"({"rotule": 1, "timestep": 0.01})", "unknown key \"timestep\"; it belongs into \"recipe\": {...}"},
    {R"({"rotule": 1, "ground": true})", "unknown key \"ground\"; a floor is a body: "},
    {recipe(R"("timestep": 0.01)"), "/recipe: unknown key \"timestep\"; it is called \"dt\" here"},
    {recipe(R"("integrator": "euler")"), "unknown name \"euler\"; did you mean \"explicit_euler\", \"semi_implicit_euler\""},
    {recipe(R"("solver": "PGS")"), "unknown name \"PGS\"; did you mean \"pgs\"?"},
    {joint(R"({"revolute": {"between": ["a", "b"]}})"), "/joints/0: unknown joint \"revolute\"; it is called \"hinge\" here"},
    {joint(R"({"type": "hinge", "between": ["a", "b"]})"), "must have one key, the kind of joint: {\"hinge\": {...}}"},
    {joint(R"({"hinge": {"parent": "a", "child": "b"}})"),
     "unknown key \"parent\"; it is \"between\": [\"one\", \"other\"] here"},
    {joint(R"({"hinge": {"between": ["a", "b"], "limits": [0, 1]}})"),
     "unknown key \"limits\"; it is \"lower\" and \"upper\" here"},
    {joint(R"({"hinge": {"between": ["ground", "b"]}})"), "unknown body \"ground\"; what never moves is called \"world\""},
    // Joints.
    {joint(R"({"ball": {"between": ["world", "c"]}})"), "/joints/0/ball/between/1: unknown body \"c\""},
    {joint(R"({"ball": {"between": ["wrld", "a"]}})"),
     "/joints/0/ball/between/0: unknown body \"wrld\"; did you mean \"world\"?"},
    {joint(R"({"ball": {"between": ["a", "a"]}})"), "/joints/0/ball/between: must name two different bodies, both are \"a\""},
    {joint(R"({"ball": {"between": ["world", "rock"]}})"), "/joints/0/ball/between: \"world\" and \"rock\" are both fixed"},
    {joint(R"({"ball": {"between": ["a"]}})"), "/joints/0/ball/between: must be a list of 2 names of bodies, has 1"},
    {joint(R"({"ball": {"between": ["a", 1]}})"), "/joints/0/ball/between/1: must be a string, is a number"},
    {joint(R"({"ball": {"at": [0, 0, 0]}})"), "/joints/0/ball: missing key \"between\""},
    {joint(R"({"bal": {"between": ["a", "b"]}})"), "/joints/0: unknown joint \"bal\"; did you mean \"ball\"?"},
    {joint(R"({"constraint": {"between": ["a", "b"]}})"), "/joints/0/constraint: missing key \"equation\""},
    {joint(R"({})"), "/joints/0: must have one key, the kind of joint, has 0"},
    {joint(R"("ball")"), "/joints/0: must be an object with one key, the kind of joint, is a string"},
    {joint(R"({"ball": {"between": ["a", "b"], "axis": [0, 0, 1]}})"), "/joints/0/ball: unknown key \"axis\""},
    {joint(R"({"hinge": {"between": ["a", "b"], "axis": [0, 0, 0]}})"), "/joints/0/hinge/axis: must not be the zero vector"},
    {joint(R"({"universal": {"between": ["a", "b"], "axis_a": [1, 0, 0], "axis_b": [1, 1, 0]}})"),
     "/joints/0/universal/axis_b: must be perpendicular to axis_a"},
    {joint(R"({"rod": {"between": ["a", "b"], "from": [1, 0, 0], "to": [1, 0, 0]}})"), "/joints/0/rod/to: must differ"},
    {joint(R"({"rod": {"between": ["a", "b"], "from": [1, 0, 0], "to": [0, 0, 0], "length": -1}})"),
     "/joints/0/rod/length: must be at least 0, is -1"},
    {joint(R"({"locked_axes": {"between": ["a", "b"], "locked": ["q"]}})"),
     "/joints/0/locked_axes/locked/0: must be one of x, y, z, rx, ry, rz, is \"q\""},
    {joint(R"({"locked_axes": {"between": ["a", "b"], "locked": []}})"), "/joints/0/locked_axes/locked: must lock something"},
    {joint(R"({"locked_axes": {"between": ["a", "b"], "locked": ["x", "x"]}})"),
     "/joints/0/locked_axes/locked/1: \"x\" is given twice"},
    {joint(R"({"ball": {"name": "j", "between": ["a", "b"]}}, {"weld": {"name": "j", "between": ["a", "b"]}})"),
     "/joints/1/weld/name: \"j\" is already the name of /joints/0"},
    // Recipes.
    {recipe(R"("integrator": "rk44")"), "/recipe/integrator: unknown name \"rk44\"; did you mean \"rk4\"?"},
    {recipe(R"("integrator": 4)"), "/recipe/integrator: must be a name, or an object with a name and settings, is a number"},
    {recipe(R"("integrator": {"name": "rk4", "order": 4})"), "/recipe/integrator: unknown key \"order\""},
    {recipe(R"("solver": {"relaxation": 1})"), "/recipe/solver: missing key \"name\""},
    {recipe(R"("solver": {"name": "sor", "relaxation": 2.5})"), "/recipe/solver/relaxation: must be at most 2, is 2.5"},
    {recipe(R"("solver": {"name": "sor", "max_iterations": 1.5})"), "/recipe/solver/max_iterations: must be a whole number"},
    {recipe(R"("solver": {"name": "sor", "max_iterations": 1e12})"),
     "/recipe/solver/max_iterations: must be a whole number that fits"},
    {recipe(R"("dt": 0)"), "/recipe/dt: must be greater than 0, is 0"},
    {recipe(R"("dt": -0.001)"), "/recipe/dt: must be greater than 0, is -0.001"},
    {recipe(R"("duration": 0)"), "/recipe/duration: must be greater than 0, is 0"},
    {recipe(R"("threads": -1)"), "/recipe/threads: must be at least 0, is -1"},
    {recipe(R"("timestep": 1)"), "/recipe: unknown key \"timestep\""},
};

void expect_one_line(const std::string& message) {
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  EXPECT_LT(message.size(), 600u) << message;
}

TEST(MalformedScenes, EachGivesPlaceAndRemedy) {
  ASSERT_GE(malformed_scenes.size(), 60u);
  for (const Malformed& c : malformed_scenes) {
    try {
      parse_scene(c.text, "x.json");
      ADD_FAILURE() << "accepted: " << c.text.substr(0, 300);
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_EQ(message.rfind("x.json: ", 0), 0u) << message;
      EXPECT_NE(message.find(c.expected), std::string::npos) << message << "\n  expected: " << c.expected;
      expect_one_line(message);
    }
  }
}

TEST(MalformedScenes, KeysThatWouldBreakALineOrATerminalAreEscaped) {
  try {
    parse_scene("{\"rotule\": 1, \"a\\nb\\u001b[31m" + std::string(5000, 'x') + "\": 1}");
    FAIL();
  } catch (const Error& error) {
    expect_one_line(error.what());
    EXPECT_EQ(std::string(error.what()).find('\x1b'), std::string::npos);
  }
}

TEST(MalformedScenes, FilesThatAreNotThere) {
  const auto expect = [](const std::string& path, const std::string& expected) {
    try {
      load_scene(path);
      ADD_FAILURE() << path << " was read";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path + ": " + expected), std::string::npos) << error.what();
    }
  };
  const auto folder = std::filesystem::temp_directory_path() / "rotule_malformed_test";
  std::filesystem::create_directories(folder);
  expect(folder / "missing.json", "cannot be read: No such file or directory");
  expect(folder, "is a folder");
  std::ofstream(folder / "empty.json");
  expect(folder / "empty.json", "the file is empty");
  std::ofstream(folder / "huge.json");
  std::filesystem::resize_file(folder / "huge.json", (std::uintmax_t{1} << 30) + 1);  // sparse: takes no room
  expect(folder / "huge.json", "is larger than 1 GiB");
  std::filesystem::remove_all(folder);
}

TEST(MalformedScenes, DamagedFilesGiveErrorsAndNothingElse) {
  const std::string good =
      R"({"rotule": 1, "name": "fuzz", "gravity": [0, 0, -9.81], "materials": [{"name": "steel", "density": 7850}],
 "bodies": [{"name": "ground", "fixed": true, "shape": {"plane": {}}},
  {"name": "a", "mass": 1.5, "inertia": [1, 1, 1], "position": [1, 0, 0], "orientation": [1, 0, 0, 0], "shape": {"box": {"size": [1, 2, 3]}}},
  {"name": "b", "material": "steel", "shape": {"compound": {"parts": [{"shape": {"sphere": {"radius": 0.5}}, "density": 2}]}}}],
 "joints": [{"ball": {"between": ["world", "a"], "at": [0, 0, 0]}}, {"hinge": {"name": "h", "between": ["a", "b"], "axis": [0, 1, 0]}},
  {"locked_axes": {"between": ["a", "b"], "locked": ["x", "ry"], "frame": {"axis": [1, 0, 0], "angle": 0.5}}}],
 "impulses": [{"body": "a", "impulse": [1, 2, 3]}], "walls": [{"normal": [1, 0, 0], "restitution": 0.75}],
 "recipe": {"integrator": "rk4", "dt": 1e-3, "solver": {"name": "sor", "relaxation": 1.4}}})";
  ASSERT_NO_THROW(parse_scene(good));
  std::mt19937 random(12345);
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::string alphabet = "{}[]\",:0123456789.eE+-truefalsn \\\n\x80\xff\x01";
  int refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = good;
    if (i % 4 == 0) text.resize(below(text.size()));
    for (std::size_t edits = 1 + below(4); edits > 0 && !text.empty(); --edits) {
      const std::size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text[at] = alphabet[below(alphabet.size())];
          break;
        case 1:
          text.erase(at, 1 + below(8));
          break;
        case 2:
          text.insert(at, 1, alphabet[below(alphabet.size())]);
          break;
        default:
          text.insert(below(text.size()), text.substr(at, below(40)));
          break;
      }
    }
    try {
      const Scene scene = parse_scene(text);
      parse_scene(to_json(scene));  // what is accepted can be written and read again
    } catch (const Error& error) {
      ++refused;
      expect_one_line(error.what());
    }
  }
  EXPECT_GT(refused, 3000);
}

}  // namespace
}  // namespace rotule
