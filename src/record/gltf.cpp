#include "record/gltf.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "model/tessellate.h"
#include "record/base64.h"
#include "record/json_text.h"
#include "record/version.h"

namespace rotule {

namespace {

static_assert(std::endian::native == std::endian::little, "glTF is little endian");

// The format's numbers for types, targets and modes.
constexpr int type_unsigned_int = 5125, type_float = 5126, array_buffer = 34962, element_array_buffer = 34963;

/// Muted colours (linear red, green, blue) for what moves; grey for what is fixed.
constexpr std::array<std::array<double, 3>, 6> palette{
    {{0.10, 0.28, 0.55}, {0.62, 0.20, 0.08}, {0.12, 0.38, 0.20}, {0.36, 0.17, 0.50}, {0.58, 0.38, 0.04}, {0.08, 0.40, 0.42}}};
constexpr std::array<double, 3> fixed_colour{0.42, 0.43, 0.45};

Json material(const std::string& name, const std::array<double, 3>& colour) {
  return {{"name", name},
          {"pbrMetallicRoughness",
           {{"baseColorFactor", {colour[0], colour[1], colour[2], 1.0}}, {"metallicFactor", 0.0}, {"roughnessFactor", 0.7}}}};
}

/// One file in the making.
class Builder {
 public:
  Json meshes = Json::array(), materials = Json::array(), nodes = Json::array(), accessors = Json::array(), views = Json::array();
  std::string bytes;

  int accessor(std::span<const float> values, int components, int target, bool bounds) {
    view(values.data(), values.size_bytes(), target);
    Json a = {{"bufferView", views.size() - 1},
              {"componentType", type_float},
              {"count", values.size() / static_cast<std::size_t>(components)},
              {"type", components == 1 ? "SCALAR" : fmt::format("VEC{}", components)}};
    if (bounds) {
      Json low = Json::array(), high = Json::array();
      for (std::size_t c = 0; c < static_cast<std::size_t>(components); ++c) {
        float least = values[c], most = values[c];
        for (std::size_t i = c; i < values.size(); i += static_cast<std::size_t>(components)) {
          least = std::min(least, values[i]);
          most = std::max(most, values[i]);
        }
        low.push_back(least);
        high.push_back(most);
      }
      a["min"] = low;
      a["max"] = high;
    }
    accessors.push_back(std::move(a));
    return static_cast<int>(accessors.size()) - 1;
  }

  /// The material of one colour of the palette, or, for -1, of what is fixed.
  int coloured(int colour) {
    const auto [at, added] = material_of_.try_emplace(colour, static_cast<int>(materials.size()));
    if (added && colour < 0) materials.push_back(material("fixed", fixed_colour));
    if (added && colour >= 0)
      materials.push_back(material(fmt::format("moving_{}", colour), palette[static_cast<std::size_t>(colour)]));
    return at->second;
  }

  /// The mesh of a surface in a colour of the palette; the same numbers are stored once. -1 where there is nothing to draw.
  int mesh(const TriangleSurface& surface, int colour, const std::string& name) {
    if (surface.triangles.empty()) return -1;
    const int in_colour = coloured(colour);
    std::vector<float> positions, normals;
    for (const Vec3& v : surface.vertices)
      for (const double x : v) positions.push_back(static_cast<float>(x));
    for (const Vec3& n : surface.normals)
      for (const double x : n) normals.push_back(static_cast<float>(x));
    const std::string key(reinterpret_cast<const char*>(positions.data()), positions.size() * sizeof(float));
    auto found = geometry_.find(key);
    if (found == geometry_.end()) {
      std::vector<std::uint32_t> indices;
      for (const auto& triangle : surface.triangles)
        for (const int i : triangle) indices.push_back(static_cast<std::uint32_t>(i));
      Geometry made;
      made.position = accessor(positions, 3, array_buffer, true);
      made.normal = accessor(normals, 3, array_buffer, false);
      view(indices.data(), indices.size() * sizeof(std::uint32_t), element_array_buffer);
      accessors.push_back({{"bufferView", views.size() - 1},
                           {"componentType", type_unsigned_int},
                           {"count", indices.size()},
                           {"type", "SCALAR"}});
      made.indices = static_cast<int>(accessors.size()) - 1;
      found = geometry_.emplace(key, made).first;
    }
    const Geometry& g = found->second;
    const auto [at, added] = mesh_of_.try_emplace({g.position, in_colour}, static_cast<int>(meshes.size()));
    if (added)
      meshes.push_back({{"name", name},
                        {"primitives",
                         {{{"attributes", {{"POSITION", g.position}, {"NORMAL", g.normal}}},
                           {"indices", g.indices},
                           {"material", in_colour}}}}});
    return at->second;
  }

 private:
  struct Geometry {
    int position, normal, indices;
  };
  void view(const void* data, std::size_t size, int target) {
    views.push_back({{"buffer", 0}, {"byteOffset", bytes.size()}, {"byteLength", size}});
    if (target != 0) views.back()["target"] = target;
    bytes.append(static_cast<const char*>(data), size);  // everything is made of words of four bytes
  }
  std::map<std::string, Geometry> geometry_;
  std::map<std::pair<int, int>, int> mesh_of_;
  std::map<int, int> material_of_;
};

/// Where one node is at every moment.
struct Track {
  std::vector<float> translation, rotation;  // x y z; x y z w

  void add(const double* position, const double* orientation) {
    for (int k = 0; k < 3; ++k) translation.push_back(static_cast<float>(position[k]));
    if (orientation == nullptr) return;
    std::array<double, 4> q{orientation[1], orientation[2], orientation[3], orientation[0]};
    // Of the two signs the one nearer to the last moment's, so that what is between them turns the short way.
    double along = 0, length = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      if (rotation.size() >= 4) along += q[k] * static_cast<double>(rotation[rotation.size() - 4 + k]);
      length += q[k] * q[k];
    }
    for (const double x : q) rotation.push_back(static_cast<float>((along < 0 ? -x : x) / std::sqrt(length)));
  }
  static bool moves(const std::vector<float>& values, std::size_t components) {
    for (std::size_t i = components; i < values.size(); ++i)
      if (values[i] != values[i - components]) return true;
    return false;
  }
};

std::string packed(const Json& document, const std::string& bytes) {
  std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + 3) / 4 * 4, ' ');
  const auto word = [](std::uint64_t value) {
    if (value > 0xffffffffu) throw Error("a .glb holds at most 4 GiB; take fewer pictures per second (--fps)");
    const auto v = static_cast<std::uint32_t>(value);
    std::string out(4, '\0');
    std::memcpy(out.data(), &v, 4);
    return out;
  };
  const std::uint64_t size = 12 + 8 + text.size() + (bytes.empty() ? 0 : 8 + bytes.size());
  std::string out = "glTF" + word(2) + word(size) + word(text.size()) + "JSON" + text;
  if (!bytes.empty()) out += word(bytes.size()) + std::string("BIN\0", 4) + bytes;
  return out;
}

}  // namespace

std::string to_gltf(const RecordedMotion& motion, const GltfOptions& options) {
  const std::vector<std::size_t> wanted = motion.moments(options.rate);
  const double extent = motion.extent(wanted);
  std::vector<float> times;
  for (const std::size_t i : wanted) times.push_back(static_cast<float>(motion.times[i] - motion.times.front()));
  std::vector<Track> bodies(motion.bodies.size()), particles(motion.particles.size());
  motion.visit(wanted, [&](const TrajectoryFrame& frame) {
    for (std::size_t i = 0; i < bodies.size(); ++i) bodies[i].add(&frame["position"][3 * i], &frame["orientation"][4 * i]);
    for (std::size_t k = 0; k < particles.size(); ++k) particles[k].add(&frame["particle_position"][3 * k], nullptr);
  });

  Builder file;

  // The root turns z up to y up: a quarter turn about x.
  Json children = Json::array();
  file.nodes.push_back({{"name", motion.scene.name.empty() ? "rotule" : motion.scene.name},
                        {"rotation", {-std::sqrt(0.5), 0.0, 0.0, std::sqrt(0.5)}}});
  const auto add_node = [&](const std::string& name, const Track& track, int mesh) {
    Json node = {{"name", name}, {"translation", {track.translation[0], track.translation[1], track.translation[2]}}};
    if (!track.rotation.empty()) node["rotation"] = {track.rotation[0], track.rotation[1], track.rotation[2], track.rotation[3]};
    if (mesh >= 0) node["mesh"] = mesh;
    children.push_back(file.nodes.size());
    file.nodes.push_back(std::move(node));
  };
  const double dot = 0.01 * extent;
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const BodyDef& body = motion.scene.bodies[i];
    const bool point = std::holds_alternative<std::monostate>(body.shape);
    const TriangleSurface surface =
        point ? tessellate(Sphere{dot}, {.segments = 16}) : tessellate(body.shape, {.segments = 32, .plane_size = 4 * extent});
    const int colour = body.fixed ? -1 : static_cast<int>(i % palette.size());
    add_node(motion.bodies[i], bodies[i], file.mesh(surface, colour, motion.bodies[i]));
  }
  const TriangleSurface ball = tessellate(Sphere{dot / 2}, {.segments = 8});
  for (std::size_t k = 0; k < particles.size(); ++k) add_node(motion.particles[k], particles[k], file.mesh(ball, 0, "particle"));
  file.nodes[0]["children"] = children;
  if (children.empty()) file.nodes[0].erase("children");

  // One channel for each thing that moves, all over the same times.
  Json channels = Json::array(), samplers = Json::array();
  if (wanted.size() > 1) {
    int clock = -1;
    const auto add_channel = [&](std::size_t node, const char* path, const std::vector<float>& values, int components) {
      if (!Track::moves(values, static_cast<std::size_t>(components))) return;
      if (clock < 0) clock = file.accessor(times, 1, 0, true);
      samplers.push_back(
          {{"input", clock}, {"interpolation", "LINEAR"}, {"output", file.accessor(values, components, 0, false)}});
      channels.push_back({{"sampler", samplers.size() - 1}, {"target", {{"node", node}, {"path", path}}}});
    };
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      add_channel(1 + i, "translation", bodies[i].translation, 3);
      add_channel(1 + i, "rotation", bodies[i].rotation, 4);
    }
    for (std::size_t k = 0; k < particles.size(); ++k)
      add_channel(1 + bodies.size() + k, "translation", particles[k].translation, 3);
  }

  Json document = {{"asset", {{"version", "2.0"}, {"generator", fmt::format("rotule {}", program_version)}}},
                   {"scene", 0},
                   {"scenes", {{{"name", file.nodes[0]["name"]}, {"nodes", {0}}}}},
                   {"nodes", file.nodes}};
  if (!file.meshes.empty()) {
    document["meshes"] = file.meshes;
    document["materials"] = file.materials;
  }
  if (!channels.empty()) document["animations"] = {{{"name", "motion"}, {"channels", channels}, {"samplers", samplers}}};
  if (!file.bytes.empty()) {
    document["accessors"] = file.accessors;
    document["bufferViews"] = file.views;
    Json buffer = {{"byteLength", file.bytes.size()}};
    if (!options.binary) buffer["uri"] = "data:application/octet-stream;base64," + base64(file.bytes);
    document["buffers"] = Json::array({buffer});
  }
  if (options.binary) return packed(document, file.bytes);
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace rotule
