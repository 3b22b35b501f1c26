// Exports against the formats' own rules and the motion itself: glTF's structure and what its animation says, CSV's numbers,
// VTK's arrays.
#include <gtest/gtest.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "record/base64.h"
#include "record/gltf.h"
#include "record/tables.h"
#include "support/files.h"
#include "support/frames.h"

namespace rotule {
namespace {

using Json = nlohmann::json;
using testing::Folder;

std::string read_all(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// One body of every shape, some turning, some fixed; a point mass, particles.
Scene zoo() {
  Scene scene;
  scene.name = "zoo";
  scene.gravity.setZero();
  const auto add = [&](const char* name, const Shape& shape) {
    scene.add({.name = name,
               .mass = 1.0,
               .position = {2.0 * static_cast<double>(scene.bodies.size()), 0, 1},
               .orientation = Quat(0.5, 0.5, -0.5, 0.5),
               .velocity = {0, 0.3, 0},
               .angular_velocity = {1, 9, 0.5},
               .shape = shape});
  };
  add("sphere", Sphere{0.3});
  add("box", Box{{0.4, 0.5, 0.6}});
  add("box again", Box{{0.4, 0.5, 0.6}});
  add("cylinder", Cylinder{0.2, 0.7});
  add("capsule", Capsule{0.2, 0.5});
  add("cone", Cone{0.3, 0.8});
  add("ellipsoid", Ellipsoid{{0.2, 0.3, 0.5}});
  add("hull", ConvexHull{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}}});
  add("mesh", TriangleMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}}});
  Compound compound;
  compound.parts.push_back({.shape = Sphere{0.2}, .position = {0.5, 0, 0}});
  compound.parts.push_back({.shape = Box{{0.2, 0.2, 0.2}}});
  add("compound", compound);
  add("point", std::monostate{});
  scene.add({.name = "ground", .fixed = true, .shape = Plane{}});
  scene.add({.name = "hills",
             .fixed = true,
             .position = {0, 9, 0},
             .shape = HeightField{.columns = 2, .spacing = 1, .heights = {0, 1, 1, 0}}});
  scene.add_particles(
      {.name = "pair", .positions = {{0, 0, 5}, {1, 0, 5}}, .mass = 0.1, .springs = {{.pairs = {{0, 1}}, .stiffness = 10}}});
  scene.recipe.dt = 1.0 / 120;
  return scene;
}

/// The zoo's motion for a third of a second, recorded.
std::string record_zoo(const Folder& folder) {
  const Scene scene = zoo();
  World world(scene);
  std::vector<std::string> names;
  for (const BodyId body : world.bodies()) names.push_back(world.name(body));
  const std::string path = folder.path / "zoo.h5";
  TrajectoryWriter writer(path, to_json(scene), scene.recipe, names, {}, 0, 2);
  TrajectoryFrame frame;
  for (int i = 0; i <= 40; ++i) {
    if (i > 0) world.step();
    capture(world, frame);
    writer.append(frame);
  }
  writer.finish();
  return path;
}

/// A .glb taken apart, with the rules of the format that a reader relies on checked on the way.
struct Glb {
  Json json;
  std::string bytes;

  explicit Glb(const std::string& file) {
    const auto word = [&](std::size_t at) {
      std::uint32_t value = 0;
      std::memcpy(&value, file.data() + at, 4);
      return value;
    };
    EXPECT_EQ(file.substr(0, 4), "glTF");
    EXPECT_EQ(word(4), 2u);
    EXPECT_EQ(word(8), file.size());
    const std::size_t length = word(12);
    EXPECT_EQ(length % 4, 0u);
    EXPECT_EQ(file.substr(16, 4), "JSON");
    json = Json::parse(file.substr(20, length));
    const std::size_t second = 20 + length;
    EXPECT_EQ(word(second) % 4, 0u);
    EXPECT_EQ(file.substr(second + 4, 4), std::string("BIN\0", 4));
    bytes = file.substr(second + 8);
    EXPECT_EQ(bytes.size(), word(second));
  }

  /// An accessor's numbers, floats or indices.
  [[nodiscard]] std::vector<double> numbers(std::size_t index) const {
    const Json& a = json.at("accessors").at(index);
    const Json& view = json.at("bufferViews").at(a.at("bufferView").get<std::size_t>());
    const std::size_t components = a["type"] == "SCALAR" ? 1 : a["type"] == "VEC3" ? 3 : 4;
    const std::size_t count = a["count"].get<std::size_t>() * components, offset = view["byteOffset"].get<std::size_t>();
    EXPECT_GE(a["count"].get<int>(), 1);
    EXPECT_EQ(offset % 4, 0u);
    EXPECT_EQ(view["byteLength"].get<std::size_t>(), 4 * count);
    EXPECT_LE(offset + 4 * count, bytes.size());
    std::vector<double> out(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (a["componentType"] == 5126) {
        float value = 0;
        std::memcpy(&value, bytes.data() + offset + 4 * i, 4);
        out[i] = static_cast<double>(value);
      } else {
        std::uint32_t value = 0;
        std::memcpy(&value, bytes.data() + offset + 4 * i, 4);
        EXPECT_EQ(a["componentType"], 5125);
        out[i] = value;
      }
    }
    return out;
  }
};

void expect_bounds(const Glb& file, std::size_t accessor, std::size_t components) {
  const std::vector<double> values = file.numbers(accessor);
  const Json& a = file.json["accessors"][accessor];
  for (std::size_t c = 0; c < components; ++c) {
    double low = infinity, high = -infinity;
    for (std::size_t i = c; i < values.size(); i += components) {
      low = std::min(low, values[i]);
      high = std::max(high, values[i]);
    }
    EXPECT_EQ(a.at("min").at(c).get<double>(), low);
    EXPECT_EQ(a.at("max").at(c).get<double>(), high);
  }
}

TEST(Gltf, FollowsTheRulesOfTheFormat) {
  const Folder folder("gltf_rules");
  const RecordedMotion motion = RecordedMotion::of_recording(record_zoo(folder));
  const Glb file(to_gltf(motion, {.rate = 60, .binary = true}));
  const Json& j = file.json;
  EXPECT_EQ(j["asset"]["version"], "2.0");
  EXPECT_EQ(j["buffers"].size(), 1u);
  EXPECT_EQ(j["buffers"][0]["byteLength"].get<std::size_t>(), file.bytes.size());
  EXPECT_FALSE(j["buffers"][0].contains("uri"));
  for (const Json& view : j["bufferViews"]) {
    EXPECT_EQ(view["buffer"], 0);
    EXPECT_LE(view["byteOffset"].get<std::size_t>() + view["byteLength"].get<std::size_t>(), file.bytes.size());
  }
  // Nodes are one tree: every node but the root has exactly one parent.
  std::multiset<std::size_t> children;
  for (const Json& node : j["nodes"])
    for (const Json& child : node.value("children", Json::array())) children.insert(child.get<std::size_t>());
  EXPECT_EQ(j["scenes"][0]["nodes"], Json::array({0}));
  EXPECT_EQ(children.count(0), 0u);
  for (std::size_t i = 1; i < j["nodes"].size(); ++i) EXPECT_EQ(children.count(i), 1u) << i;
  EXPECT_EQ(j["nodes"].size(), 1 + motion.bodies.size() + motion.particles.size());

  // Meshes: indices within the vertices, normals of length one, bounds as stated; each body's volume is that of its shape.
  for (std::size_t i = 0; i < j["nodes"].size(); ++i) {
    const Json& node = j["nodes"][i];
    if (!node.contains("mesh")) continue;
    const Json& mesh = j["meshes"].at(node["mesh"].get<std::size_t>());
    const Json& primitive = mesh["primitives"][0];
    EXPECT_LT(primitive["material"].get<std::size_t>(), j["materials"].size());
    const auto position = primitive["attributes"]["POSITION"].get<std::size_t>();
    expect_bounds(file, position, 3);
    const std::vector<double> points = file.numbers(position),
                              normals = file.numbers(primitive["attributes"]["NORMAL"].get<std::size_t>());
    const std::vector<double> indices = file.numbers(primitive["indices"].get<std::size_t>());
    ASSERT_EQ(points.size(), normals.size());
    ASSERT_EQ(indices.size() % 3, 0u);
    for (std::size_t k = 0; k < normals.size(); k += 3)
      ASSERT_NEAR(Vec3(normals[k], normals[k + 1], normals[k + 2]).norm(), 1, 1e-5);
    double six_volumes = 0;
    const auto at = [&](double index) { return Vec3(Eigen::Map<const Vec3>(&points.at(3 * static_cast<std::size_t>(index)))); };
    for (std::size_t k = 0; k < indices.size(); k += 3) {
      ASSERT_LT(std::max({indices[k], indices[k + 1], indices[k + 2]}), static_cast<double>(points.size() / 3));
      six_volumes += at(indices[k]).dot(at(indices[k + 1]).cross(at(indices[k + 2])));
    }
    if (i >= 1 && i <= 10) {
      EXPECT_NEAR(six_volumes / 6, volume(motion.scene.bodies[i - 1].shape), 0.03 * volume(motion.scene.bodies[i - 1].shape))
          << node["name"];
    }
  }
  // The two equal boxes share their numbers.
  EXPECT_EQ(j["meshes"][j["nodes"][2]["mesh"].get<std::size_t>()]["primitives"][0]["attributes"],
            j["meshes"][j["nodes"][3]["mesh"].get<std::size_t>()]["primitives"][0]["attributes"]);
}

TEST(Gltf, TheAnimationIsTheMotion) {
  const Folder folder("gltf_motion");
  const std::string path = record_zoo(folder);
  const RecordedMotion motion = RecordedMotion::of_recording(path);
  const TrajectoryReader reader(path);
  const Glb file(to_gltf(motion, {.rate = 60, .binary = true}));
  const Json& animation = file.json["animations"][0];
  std::set<std::pair<std::size_t, std::string>> targets;
  for (const Json& channel : animation["channels"]) {
    const Json& sampler = animation["samplers"].at(channel["sampler"].get<std::size_t>());
    EXPECT_EQ(sampler["interpolation"], "LINEAR");
    const auto input = sampler["input"].get<std::size_t>();
    expect_bounds(file, input, 1);
    const std::vector<double> times = file.numbers(input), values = file.numbers(sampler["output"].get<std::size_t>());
    ASSERT_EQ(times.size(), 21u);  // every other frame of 41
    const auto node = channel["target"]["node"].get<std::size_t>();
    const auto what = channel["target"]["path"].get<std::string>();
    EXPECT_TRUE(targets.emplace(node, what).second) << "two channels move the same thing";
    const std::size_t width = what == "translation" ? 3 : 4;
    ASSERT_EQ(values.size(), times.size() * width);
    for (std::size_t i = 0; i < times.size(); ++i) {
      const TrajectoryFrame frame = reader.frame(2 * i);
      EXPECT_NEAR(times[i], frame.number("time"), 1e-6);
      if (i > 0) {
        EXPECT_GT(times[i], times[i - 1]);
      }
      const double* v = &values[i * width];
      if (what == "translation") {
        const double* p = node <= motion.bodies.size() ? &frame["position"][3 * (node - 1)]
                                                       : &frame["particle_position"][3 * (node - 1 - motion.bodies.size())];
        EXPECT_LT((Eigen::Map<const Vec3>(v) - Eigen::Map<const Vec3>(p)).norm(), 1e-5);
      } else {
        const double* q = &frame["orientation"][4 * (node - 1)];
        const Quat there(v[3], v[0], v[1], v[2]), here(q[0], q[1], q[2], q[3]);
        EXPECT_NEAR(there.norm(), 1, 1e-6);
        EXPECT_LT((there.toRotationMatrix() - here.toRotationMatrix()).norm(), 1e-5);
        if (i > 0) {  // the short way round
          EXPECT_GT(Eigen::Map<const Eigen::Vector4d>(v).dot(Eigen::Map<const Eigen::Vector4d>(v - 4)), 0);
        }
      }
    }
  }
  EXPECT_TRUE(targets.contains({1, "translation"}) && targets.contains({1, "rotation"}));
  EXPECT_FALSE(targets.contains({12, "translation"}));  // the ground stays
  // Up is y there: the root takes (0, 0, 1) to (0, 1, 0).
  const Json& r = file.json["nodes"][0]["rotation"];
  EXPECT_LT((Quat(r[3], r[0], r[1], r[2]) * Vec3::UnitZ() - Vec3::UnitY()).norm(), 1e-12);
  EXPECT_LT((Quat(r[3], r[0], r[1], r[2]) * Vec3::UnitX() - Vec3::UnitX()).norm(), 1e-12);
}

std::string from_base64(const std::string& text) {
  std::string out;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text) {
    if (c == '=') break;
    const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                      : c >= 'a' && c <= 'z' ? c - 'a' + 26
                      : c >= '0' && c <= '9' ? c - '0' + 52
                      : c == '+'             ? 62
                                             : 63;
    word = word << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) >= 8) out += static_cast<char>(word >> (bits -= 8) & 255u);
  }
  return out;
}

TEST(Base64, KnownAnswersOfTheRfc) {
  const std::vector<std::pair<std::string, std::string>> known{{"", ""},
                                                               {"f", "Zg=="},
                                                               {"fo", "Zm8="},
                                                               {"foo", "Zm9v"},
                                                               {"foob", "Zm9vYg=="},
                                                               {"fooba", "Zm9vYmE="},
                                                               {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : known) {
    EXPECT_EQ(base64(plain), coded);
    EXPECT_EQ(from_base64(coded), plain);
  }
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

TEST(Gltf, TextHoldsTheSameAsBinary) {
  const RecordedMotion motion = RecordedMotion::of_scene(zoo(), "zoo");
  const Glb binary(to_gltf(motion, {.rate = 60, .binary = true}));
  Json text = Json::parse(to_gltf(motion, {.rate = 60, .binary = false}));
  const std::string uri = text["buffers"][0]["uri"], head = "data:application/octet-stream;base64,";
  ASSERT_EQ(uri.rfind(head, 0), 0u);
  EXPECT_EQ(from_base64(uri.substr(head.size())), binary.bytes);
  text["buffers"][0].erase("uri");
  EXPECT_EQ(text, binary.json);
  EXPECT_FALSE(text.contains("animations"));  // a scene is one moment
}

TEST(RecordedMotion, RefusesWhatIsNoMotion) {
  const Folder folder("motion_refused");
  const std::string path = folder.path / "run.h5";
  const std::string scene = R"({"rotule": 1, "bodies": [{"name": "a", "mass": 1}]})";
  const auto refused = [&](double x, double w, double late) {
    TrajectoryWriter writer(path, scene, Recipe{}, {"a"}, {});
    for (const double time : {0.0, late}) {
      TrajectoryFrame f;
      f.number("time") = time;
      f["position"] = {x, 0, 0};
      f["orientation"] = {w, 0, 0, 0};
      testing::fill_with_zeros(f, 1, 0);
      writer.append(f);
    }
    writer.finish();
    try {
      static_cast<void>(to_gltf(RecordedMotion::of_recording(path), {}));
      return std::string();
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(refused(1, 1, 1), "");
  EXPECT_NE(refused(std::nan(""), 1, 1).find("/position of frame 0 is not a motion"), std::string::npos);
  EXPECT_NE(refused(1, 0, 1).find("/orientation of frame 0 is not a motion"), std::string::npos);
  EXPECT_NE(refused(1, 1, -1).find("/time is not a course of time"), std::string::npos);
  // A recording of other bodies than its scene has.
  TrajectoryWriter writer(path, scene, Recipe{}, {"b"}, {});
  TrajectoryFrame f;
  f["orientation"] = {1, 0, 0, 0};
  testing::fill_with_zeros(f, 1, 0);
  writer.append(f);
  writer.finish();
  EXPECT_THROW(static_cast<void>(RecordedMotion::of_recording(path)), Error);
}

TEST(RecordedMotion, MomentsOfAFilm) {
  const Folder folder("motion_moments");
  const RecordedMotion motion = RecordedMotion::of_recording(record_zoo(folder));  // 41 frames, 120 per second
  EXPECT_EQ(motion.moments(0).size(), 41u);
  EXPECT_EQ(motion.moments(1000).size(), 41u);
  EXPECT_EQ(motion.moments(120).size(), 41u);
  EXPECT_EQ(motion.moments(30), (std::vector<std::size_t>{0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40}));
  for (const double rate : {7.0, 24.0, 50.0, 100.0}) {  // never the same one twice, never too many
    const std::vector<std::size_t> chosen = motion.moments(rate);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end(), std::less_equal<>())) << rate;
    EXPECT_LE(static_cast<double>(chosen.size()), 40.0 / 120 * rate + 2) << rate;
    EXPECT_GE(static_cast<double>(chosen.size()), 40.0 / 120 * rate - 1) << rate;
  }
}

TEST(Csv, HoldsTheNumbersOfTheRecording) {
  const Folder folder("csv");
  const std::string path = record_zoo(folder);
  const RecordedMotion motion = RecordedMotion::of_recording(path);
  const TrajectoryReader reader(path);
  write_csv(motion, 0, folder.path / "zoo.csv");
  std::istringstream lines(read_all(folder.path / "zoo.csv"));
  std::string line, cell;
  std::getline(lines, line);
  std::vector<std::string> header;
  for (std::istringstream cells(line); std::getline(cells, cell, ',');) header.push_back(cell);
  std::size_t columns = 0;
  for (const Quantity& q : quantities)
    if (is_recorded(q) && !q.measured)
      columns += static_cast<std::size_t>(q.components) * (q.per == Per::body       ? motion.bodies.size()
                                                           : q.per == Per::particle ? motion.particles.size()
                                                           : q.per == Per::joint || q.per == Per::contact ? 0
                                                                                                          : 1);
  EXPECT_EQ(header.size(), columns);
  const auto column = [&](const std::string& name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  for (std::size_t i = 0; i < 41; ++i) {
    ASSERT_TRUE(std::getline(lines, line));
    std::vector<double> numbers;
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) numbers.push_back(std::stod(cell));
    ASSERT_EQ(numbers.size(), header.size());
    const TrajectoryFrame frame = reader.frame(i);  // to the last bit
    EXPECT_EQ(numbers.at(column("time [s]")), frame.number("time"));
    EXPECT_EQ(numbers.at(column("box again.position.y [m]")), frame["position"][3 * 2 + 1]);
    EXPECT_EQ(numbers.at(column("cone.orientation.w")), frame["orientation"][4 * 5]);
    EXPECT_EQ(numbers.at(column("cone.angular_velocity.z [rad/s]")), frame["angular_velocity"][3 * 5 + 2]);
    EXPECT_EQ(numbers.at(column("pair/1.velocity.x [m/s]")), frame["particle_velocity"][3]);
    EXPECT_EQ(numbers.at(column("kinetic_energy [J]")), frame.number("kinetic_energy"));
  }
  EXPECT_FALSE(std::getline(lines, line));
}

/// The numbers of the array of that name.
template <class T>
std::vector<T> vtk_array(const std::string& file, const std::string& name) {
  const std::size_t tag = file.find("Name=\"" + name + "\"");
  EXPECT_NE(tag, file.npos) << name;
  const std::size_t from = file.find('>', tag) + 1;
  const std::string bytes = from_base64(file.substr(from, file.find('<', from) - from));
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  EXPECT_EQ(bytes.size(), sizeof size + size);
  std::vector<T> out(size / sizeof(T));
  std::memcpy(out.data(), bytes.data() + sizeof size, size);
  return out;
}

TEST(Vtk, SurfacesAreWhereTheBodiesAre) {
  const Folder folder("vtk");
  const std::string path = record_zoo(folder);
  const RecordedMotion motion = RecordedMotion::of_recording(path);
  write_vtk(motion, 30, folder.path / "zoo.pvd");
  const std::string list = read_all(folder.path / "zoo.pvd");
  EXPECT_NE(list.find("<DataSet timestep=\"0\" part=\"0\" file=\"zoo_frames/frame_00000.vtp\"/>"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path / "zoo_frames"), {}), 11);
  const std::string last = read_all(folder.path / "zoo_frames" / "frame_00010.vtp");
  const auto points = vtk_array<float>(last, "points");
  const auto speeds = vtk_array<float>(last, "speed");
  const auto body = vtk_array<std::int32_t>(last, "body");
  ASSERT_EQ(points.size(), 3 * speeds.size());
  // The first hundred points are of the sphere: its radius away from where the recording has it at the end.
  const TrajectoryFrame frame = TrajectoryReader(path).frame(40);
  const Eigen::Map<const Vec3> center(frame["position"].data());
  const std::size_t of_sphere = 100;
  for (std::size_t k = 0; k < of_sphere; ++k) {
    EXPECT_NEAR((Eigen::Map<const Eigen::Vector3f>(&points[3 * k]).cast<double>() - center).norm(), 0.3, 1e-6);
    EXPECT_NEAR(speeds[k], 0.3, 1e-6);
  }
  // Cells: two particles, one spring, then triangles body by body.
  ASSERT_GT(body.size(), 3u);
  EXPECT_EQ(body[0], -1);
  EXPECT_EQ(body[2], -1);
  EXPECT_EQ(body[3], 0);
  EXPECT_EQ(body.back(), 12);
  EXPECT_TRUE(std::is_sorted(body.begin(), body.end()));
}

}  // namespace
}  // namespace rotule
