#include "robot/mjcf_geoms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "math/pose.h"
#include "math/rotation.h"

namespace rotule::robot {

MjcfGeoms::MjcfGeoms(MjcfContext& context) : context_(context) {
  for (const Element& section : context.sections("contact"))
    for (const Element& pair : context.children(section))
      if (pair.tag() == "pair")
        for (const char* end : {"geom1", "geom2"}) paired_.insert(context.with_defaults(pair, "").text(end, ""));
  for (const Element& section : context.sections("asset"))
    for (const Element& child : context.children(section)) {
      if (child.tag() == "mesh") {
        const Element element = context.with_defaults(child, "");
        const std::string file = element.text("file", "");
        const std::string name = element.text("name", std::filesystem::path(file).stem().string());
        if (name.empty()) element.fail("needs a name or a file");
        if (!meshes_.try_emplace(name, Mesh{element, {}, false, element.text("inertia", "legacy")}).second)
          element.fail(fmt::format("the name {} is taken already", in_quotes(name)));
      } else if (child.tag() == "hfield") {
        height_fields_.emplace(child.text("name", std::filesystem::path(child.text("file", "")).stem().string()), child);
      } else {
        child.tell_ignored(context.remarks,
                           child.tag() == "texture" || child.tag() == "material" ? "is for the eye" : "is not taken over");
      }
    }
}

const MjcfGeoms::Mesh* MjcfGeoms::mesh_of(const Element& geom) {
  const std::string name = geom.required("mesh");
  const auto found = meshes_.find(name);
  if (found == meshes_.end()) {
    std::vector<std::string> known;
    for (const auto& each : meshes_) known.push_back(each.first);
    geom.fail(fmt::format("there is no mesh {}; {}", in_quotes(name), suggestion(name, known)));
  }
  Mesh& mesh = found->second;
  if (mesh.tried) return mesh.read ? &mesh : nullptr;
  mesh.tried = true;
  const Element& element = mesh.element;
  const Vec3 scale = element.vec3("scale", Vec3::Ones());
  if (scale.prod() == 0) element.fail("scale must not be zero");
  if (const auto points = element.numbers("vertex", 12, 30000000)) {
    TriangleMesh inside;
    for (std::size_t k = 0; k + 2 < points->size(); k += 3)
      inside.vertices.emplace_back(Vec3((*points)[k], (*points)[k + 1], (*points)[k + 2]).cwiseProduct(scale));
    inside.file = name;
    mesh.read = std::move(inside);
  } else {
    std::string file = element.required("file");
    if (context_.strip_path) file = std::filesystem::path(file).filename().string();
    mesh.read = context_.files.read(context_.find_beside(file, context_.mesh_folder, element), scale, element, context_.remarks);
  }
  const Vec3 origin = element.vec3("refpos", Vec3::Zero());
  Quat turn = Quat::Identity();
  if (const auto q = element.numbers("refquat", 4, 4)) turn = unit_quaternion(element, *q);
  if (mesh.read)
    for (Vec3& v : mesh.read->vertices) v = turn.conjugate() * (v - origin);
  element.tell_unread(context_.remarks);
  return mesh.read ? &mesh : nullptr;
}

std::optional<Shape> MjcfGeoms::height_field(const Element& geom, Pose& pose) {
  const auto found = height_fields_.find(geom.required("hfield"));
  if (found == height_fields_.end()) geom.fail("there is no height field of that name");
  const Element& element = found->second;
  const int columns = static_cast<int>(element.number("ncol", 0)), rows = static_cast<int>(element.number("nrow", 0));
  const auto size = element.numbers("size", 4, 4);
  const auto heights = element.numbers("elevation", 4, 30000000);
  if (!heights || columns < 2 || rows < 2 || !size) {
    geom.remark(context_.remarks, fmt::format("hfield {}", in_quotes(geom.required("hfield"))),
                "is left out: heights are read from the attribute elevation, and not from pictures");
    return std::nullopt;
  }
  if (heights->size() != static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows))
    element.fail(fmt::format("elevation must be {} numbers, is {}", columns * rows, heights->size()));
  const double dx = 2 * (*size)[0] / (columns - 1), dy = 2 * (*size)[1] / (rows - 1);
  if (std::abs(dx - dy) > 1e-9 * dx) {
    geom.remark(context_.remarks, fmt::format("hfield {}", in_quotes(geom.required("hfield"))),
                "is left out: its cells are not square");
    return std::nullopt;
  }
  const auto [low, high] = std::minmax_element(heights->begin(), heights->end());
  const double span = *high > *low ? *high - *low : 1;
  HeightField out{.columns = columns, .spacing = dx};
  // Rows of the text run from the far edge to the near one.
  for (int r = rows - 1; r >= 0; --r)
    for (int c = 0; c < columns; ++c)
      out.heights.push_back(
          (*size)[2] *
          ((*heights)[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(c)] - *low) /
          span);
  pose = pose * Pose{{-(*size)[0], -(*size)[1], 0}, Quat::Identity()};
  return out;
}

std::optional<Shape> primitive(const Element& geom, const std::string& type, std::vector<double> size, Pose& pose) {
  std::optional<double> half;
  if (const auto ends = geom.numbers("fromto", 6, 6)) {
    const Vec3 from((*ends)[0], (*ends)[1], (*ends)[2]), to((*ends)[3], (*ends)[4], (*ends)[5]);
    if (!((to - from).norm() > 0)) geom.fail("fromto must be two points apart");
    pose = {0.5 * (from + to), rotation_between(Vec3::UnitZ(), (to - from).normalized())};
    half = 0.5 * (to - from).norm();
  }
  const auto need = [&](std::size_t count) {
    if (half && count == 2)
      size.insert(size.begin() + std::min<std::ptrdiff_t>(1, static_cast<std::ptrdiff_t>(size.size())), *half);
    if (half && count == 3) {
      size.resize(std::max<std::size_t>(size.size(), 1));
      size = {size[0], size.size() > 1 && size[1] > 0 ? size[1] : size[0], *half};
    }
    if (size.size() < count || *std::min_element(size.begin(), size.begin() + static_cast<std::ptrdiff_t>(count)) <= 0)
      geom.fail(fmt::format("size must be {} length{} greater than 0 for a {}", count, count == 1 ? "" : "s", type));
  };
  if (type == "sphere") {
    need(1);
    return Sphere{size[0]};
  }
  if (type == "capsule" || type == "cylinder") {
    need(2);
    if (type == "capsule") return Capsule{size[0], 2 * size[1]};
    return Cylinder{size[0], 2 * size[1]};
  }
  if (type == "box" || type == "ellipsoid") {
    need(3);
    if (type == "box") return Box{2 * Vec3(size[0], size[1], size[2])};
    return Ellipsoid{Vec3(size[0], size[1], size[2])};
  }
  return std::nullopt;
}

std::optional<Shape> MjcfGeoms::shape(const Element& geom, const std::string& type, Pose& pose, const Mesh*& mesh) {
  if (type == "mesh" || geom.has("mesh")) {
    if (type != "mesh")
      geom.remark(context_.remarks, "geom@mesh", fmt::format("is to be fitted by a {}; its hull is taken", type));
    if (context_.options.meshes == RobotOptions::Meshes::none) {
      static_cast<void>(geom.text("mesh"));
      geom.remark(context_.remarks, "mesh", "is left out, as asked");
      return std::nullopt;
    }
    static_cast<void>(geom.text("size"));
    mesh = mesh_of(geom);
    return mesh ? shape_of(*mesh->read, context_.options, geom, context_.remarks) : std::nullopt;
  }
  if (type == "hfield") return height_field(geom, pose);
  std::vector<double> size = geom.numbers("size", 1, 3).value_or(std::vector<double>{});
  if (type == "plane") return Plane{};
  if (std::optional<Shape> out = primitive(geom, type, std::move(size), pose)) return out;
  geom.remark(context_.remarks, fmt::format("geom of type {}", type), "is left out");
  return std::nullopt;
}

void MjcfGeoms::add(const std::vector<Given>& geoms, bool weighs, std::vector<TreeGeom>& out,
                    std::optional<MassProperties>& mass) {
  const auto mask = [](const Element& geom, const char* name) {
    return static_cast<unsigned>(static_cast<long long>(std::clamp(geom.number(name, 1), -2147483648.0, 4294967295.0)));
  };
  const auto masked = [&](const Element& geom) { return mask(geom, "contype") != 0 || mask(geom, "conaffinity") != 0; };
  const auto paired = [&](const Element& geom) { return geom.has("name") && paired_.contains(*geom.text("name")); };
  const auto collides = [&](const Element& geom) { return masked(geom) || paired(geom); };
  const auto some = [&](const auto& which) {
    return std::any_of(geoms.begin(), geoms.end(), [&](const Given& each) { return which(each.element); });
  };
  const bool any = some(collides), any_masked = some(masked);
  for (const auto& [geom, frame] : geoms) {
    const std::string type = geom.text("type", "sphere");
    const double group = geom.number("group", 0);
    const std::optional<double> own_mass = geom.number("mass");
    const double density = geom.number("density", 1000);
    const bool heavy = weighs && (own_mass ? *own_mass > 0 : density > 0) && type != "plane" && type != "hfield" &&
                       group >= context_.inertia_groups[0] && group <= context_.inertia_groups[1];
    const bool shown = !any || collides(geom);
    if (!shown) geom.remark(context_.remarks, "geom for the eye", "is left out where a body has others that collide");
    if (!shown && !heavy) continue;
    TreeGeom each;
    each.name = geom.text("name", "");
    each.collides = collides(geom);
    each.contype = mask(geom, "contype");
    each.conaffinity = mask(geom, "conaffinity");
    each.pose = context_.pose(geom);
    const Mesh* mesh = nullptr;
    std::optional<Shape> found = shape(geom, type, each.pose, mesh);
    each.pose = frame * each.pose;
    each.pose.orientation.normalize();
    const double condim = geom.number("condim", 3);
    std::vector<double> friction = geom.numbers("friction", 1, 3).value_or(std::vector<double>{1});
    for (std::size_t k = friction.size(); k < 3; ++k) friction.push_back(k == 1 ? 0.005 : 0.0001);
    each.friction = {std::max(friction[0], 0.0), condim >= 4 ? std::max(friction[1], 0.0) : 0,
                     condim >= 6 ? std::max(friction[2], 0.0) : 0};
    each.slides_freely = condim < 3;
    each.priority = geom.number("priority", 0);
    if (any_masked && paired(geom) && !masked(geom))
      geom.remark(context_.remarks, geom.title(),
                  "touches in pairs alone, and its body has others: as part of one shape it touches what they touch");
    geom.tell_unread(context_.remarks);
    if (!found) continue;
    if (heavy) {
      MassProperties m = mesh ? mass_of(*mesh->read, mesh->inertia, own_mass ? 1000 : density, geom, context_.remarks)
                              : mass_properties(*found, own_mass ? 1000 : density);
      if (own_mass && m.mass > 0) m = {*own_mass, m.center_of_mass, m.inertia * (*own_mass / m.mass)};
      mass = together(mass.value_or(MassProperties{}), seen_from(each.pose, m));
    }
    if (!shown) continue;
    each.shape = std::move(*found);
    out.push_back(std::move(each));
  }
}

}  // namespace rotule::robot
