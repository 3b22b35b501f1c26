#include "scene_message.h"

#include <fmt/format.h>
#include <rotule/fluid_grid.h>

#include <algorithm>
#include <cmath>

#include "json_numbers.h"
#include "model/choices.h"
#include "model/content.h"
#include "model/convex_hull.h"
#include "model/dial.h"
#include "model/names.h"
#include "model/scene_fields.h"
#include "model/solid_surface.h"
#include "model/solver_list.h"
#include "model/tessellate.h"
#include "record/scene_json.h"
#include "world/world_implementation.h"

namespace rotule::app {
namespace {

Json mesh(const std::vector<Vec3>& vertices, const std::vector<std::array<int, 3>>& triangles) {
  Json flat = Json::array(), corners = Json::array();
  for (const Vec3& v : vertices)
    for (const double x : v) flat.push_back(x);
  for (const auto& t : triangles)
    for (const int i : t) corners.push_back(i);
  return {{"type", "mesh"}, {"vertices", std::move(flat)}, {"triangles", std::move(corners)}};
}

/// Every simple shape inside, each with its pose in the body's frame.
void add_shapes(const Shape& shape, const Pose& pose, Json& out) {
  const auto add = [&](Json one) {
    one["position"] = numbers(pose.position);
    one["orientation"] = numbers(pose.orientation);
    out.push_back(std::move(one));
  };
  std::visit(
      [&]<class T>(const T& s) {
        if constexpr (std::is_same_v<T, Compound>) {
          for (const CompoundPart& part : s.parts)
            add_shapes(part.shape, {pose.position + pose.orientation * part.position, pose.orientation * part.orientation}, out);
        } else if constexpr (std::is_same_v<T, ConvexHull>) {
          const TriangleMesh hull = hull_mesh(s);
          add(mesh(hull.vertices, hull.triangles));
        } else if constexpr (std::is_same_v<T, TriangleMesh>) {
          add(mesh(s.vertices, s.triangles));
        } else if constexpr (std::is_same_v<T, HeightField>) {
          const TriangleSurface surface = tessellate(s);
          add(mesh(surface.vertices, surface.triangles));
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          Json one = {{"type", Kind<T>::name}};
          SceneFields<T>::fields(s, [&]<class V>(const Field& field, const V& value, Need = Need::optional) {
            if constexpr (std::is_same_v<V, Vec3>)
              one[std::string(field.name)] = numbers(value);
            else
              one[std::string(field.name)] = value;
          });
          add(std::move(one));
        }
      },
      shape);
}

/// A ball about the frame's origin that holds the shape; none where it has no end or no extent.
double reach(const Shape& shape) {
  return std::visit(
      []<class T>(const T& s) -> double {
        const auto farthest = [](const std::vector<Vec3>& points) {
          double out = 0;
          for (const Vec3& p : points) out = std::max(out, p.norm());
          return out;
        };
        if constexpr (std::is_same_v<T, Sphere>) return s.radius;
        if constexpr (std::is_same_v<T, Box>) return s.size.norm() / 2;
        if constexpr (std::is_same_v<T, Cylinder>) return std::hypot(s.radius, s.height / 2);
        if constexpr (std::is_same_v<T, Capsule>) return s.radius + s.length / 2;
        if constexpr (std::is_same_v<T, Cone>) return std::max(s.radius, s.height);
        if constexpr (std::is_same_v<T, Ellipsoid>) return s.radii.maxCoeff();
        if constexpr (std::is_same_v<T, ConvexHull>) return farthest(s.points);
        if constexpr (std::is_same_v<T, TriangleMesh>) return farthest(s.vertices);
        if constexpr (std::is_same_v<T, HeightField>) return farthest(tessellate(s).vertices);
        if constexpr (std::is_same_v<T, Compound>) {
          double out = 0;
          for (const CompoundPart& part : s.parts) out = std::max(out, part.position.norm() + reach(part.shape));
          return out;
        }
        return 0;
      },
      shape);
}

std::string label_of(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '_', ' ');
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

/// Visits the fields of a recipe and lists those that a person can change while it runs.
struct FieldLister {
  Json& out;
  const Recipe& recipe;
  const JointNeeds& needs;
  std::string prefix = {};

  /// The reasons why choices would be refused, by their names; those that fit are not in it.
  [[nodiscard]] Json unfit(const std::string& path, const Json& choices) const {
    Json reasons = Json::object();
    for (const auto& choice : choices) {
      const auto name = choice.get<std::string>();
      Recipe trial = recipe;
      set(trial, path, name);
      if (std::string reason = misfit(trial, needs); !reason.empty()) reasons[name] = std::move(reason);
    }
    return reasons;
  }

  template <class T>
  void operator()(const Field& field, const T& member) {
    const std::string path = prefix + std::string(field.name);
    if (path == "duration") return;
    Json one = {{"path", path}, {"label", label_of(field.name)}, {"about", field.meaning}};
    if constexpr (is_choice<T>) {
      one["kind"] = "choice";
      one["value"] = chosen_name(member);
      one["choices"] = Json::array();
      for_each_alternative<T>([&]<class Settings>(const Settings&) { one["choices"].push_back(Settings::name); });
      one["unfit"] = unfit(path, one["choices"]);
      out.push_back(std::move(one));
      std::visit([&](const auto& settings) { settings.fields(settings, FieldLister{out, recipe, needs, path + "."}); }, member);
    } else if constexpr (std::is_same_v<T, SolverChoice>) {
      one["kind"] = "choice";
      one["value"] = member.name();
      one["choices"] = Json::array();
      one["groups"] = Json::object();  // those that people should take come first, each with what for; the others by family
      one["hints"] = Json::object();
      for (const bool recommended : {true, false})
        for (const NamedSolver& solver : solver_list()) {
          if (solver.preset() || solver.settings.recommended_for().empty() == recommended) continue;
          one["choices"].push_back(solver.name);
          one["groups"][recommended ? "recommended" : std::string(solver.settings.family())].push_back(solver.name);
          one["hints"][std::string(solver.name)] = recommended ? solver.settings.recommended_for() : solver.summary;
        }
      one["unfit"] = unfit(path, one["choices"]);
      out.push_back(std::move(one));
      member.visit_fields(FieldLister{out, recipe, needs, path + "."});
    } else if constexpr (std::is_same_v<T, bool>) {
      one["kind"] = "bool";
      one["value"] = member;
      out.push_back(std::move(one));
    } else {
      one["kind"] = std::is_same_v<T, int> ? "integer" : "number";
      one["value"] = member;
      one["unit"] = field.unit;
      if (std::isfinite(field.min)) one["min"] = field.min;
      if (std::isfinite(field.max)) one["max"] = field.max;
      out.push_back(std::move(one));
    }
  }
};

Json joints_json(const Scene& scene, const Model& model) {
  Json out = Json::array();
  for (std::size_t j = 0; j < model.joints.size(); ++j) {
    // The anchor belongs to a body or the world, where one of the partners is no particle.
    const Joint& joint = model.joints[j];
    const bool swapped = model.is_particle(joint.a);
    const int first = swapped ? joint.b : joint.a, second = swapped ? joint.a : joint.b;
    const auto body = [&](int partner) { return model.is_particle(partner) ? -1 : partner; };
    const auto particle = [&](int partner) { return model.is_particle(partner) ? model.particle_of(partner) : -1; };
    const Vec3 center = body(first) < 0 ? Vec3::Zero() : model.bodies[first].center_of_mass;
    Json one{{"name", joint.name},
             {"type", j < scene.joints.size() ? kind_of(scene.joints[j]) : "constraint"},
             {"bodies", {body(first), body(second)}},
             {"anchor", numbers(Vec3(center + (swapped ? joint.X_B : joint.X_A).position))}};
    if (joint.length > 0 && body(second) >= 0)  // two points, apart
      one["other_anchor"] = numbers(Vec3(model.bodies[second].center_of_mass + (swapped ? joint.X_A : joint.X_B).position));
    if (model.is_particle(second)) one["particles"] = {particle(first), particle(second)};
    out.push_back(std::move(one));
  }
  return out;
}

Json links_json(const Model& model) {
  Json out = Json::array();
  const auto put = [&](Json& link, const ForceEnd& end, const char* body, const char* at, const char* particle) {
    const bool is_body = end.kind == ForceEnd::Kind::body;
    link[body] = is_body ? end.index : -1;
    link[at] = numbers(is_body ? Vec3(model.bodies[end.index].center_of_mass + end.r) : end.r);
    if (end.kind == ForceEnd::Kind::particle) link[particle] = end.index;
  };
  for (const SpringForce& spring : model.forces.springs) {
    Json link;
    put(link, spring.a, "body", "at", "particle");
    put(link, spring.b, "other", "other_at", "other_particle");
    out.push_back(std::move(link));
  }
  return out;
}

}  // namespace

Bounds bounds_of(const World& world) {
  Bounds out;
  const auto& inside = implementation_of(world);
  for (int i = 0; i < inside.model.body_count(); ++i) {
    const Shape& shape = inside.model.bodies[i].shape;
    const Pose pose = body_frame(inside.model, inside.state, i);
    if (const auto* field = std::get_if<HeightField>(&shape)) {
      const auto rows = static_cast<double>(field->heights.size()) / field->columns;
      const auto [low, high] = std::minmax_element(field->heights.begin(), field->heights.end());
      out.include(pose.position + pose.orientation * Vec3(0, 0, *low));
      out.include(pose.position + pose.orientation * Vec3(field->spacing * field->columns, field->spacing * rows, *high));
    } else if (!std::holds_alternative<Plane>(shape)) {
      out.include(pose.position, reach(shape));
    }
  }
  for (int k = 0; k < world.particles(); ++k) out.include(world.particle_position(k));
  for (const Joint& joint : inside.model.joints)
    if (joint.a == world_body) out.include(joint.X_A.position);
  if (const FluidGrid* fluid = world.fluid())
    for (const Vec3& corner : fluid->def().box) out.include(corner);
  if (out.empty()) out.include(Vec3::Zero(), 1);
  return out;
}

FluidPlane middle_plane(const FluidDef& fluid) {
  FluidPlane out;
  for (int a = 0; a < 3; ++a)
    if (fluid.grid[static_cast<std::size_t>(a)] == 1) out.axis = a;
  out.at = 0.5 * (fluid.box[0][out.axis] + fluid.box[1][out.axis]);
  return out;
}

ViewQuanta quanta_for(const Bounds& bounds) {
  const double size = bounds.diagonal();
  ViewQuanta out;
  if (size > 0 && size < 1) out.position = 1e-4 * size;
  if (size > 1e4) out.position = 1e-8 * size;
  return out;
}

const std::vector<const Quantity*>& live_numbers() {
  static const std::vector<const Quantity*> all = [] {
    std::vector<const Quantity*> out;
    for (const Quantity& q : quantities)
      if (is_number(q)) out.push_back(&q);
    return out;
  }();
  return all;
}

std::string scene_message(const SceneMessage& about, const Scene& scene, const World& world) {
  const auto& inside = implementation_of(world);
  const Model& model = inside.model;
  Json bodies = Json::array();
  for (const Body& body : model.bodies) {
    Json shapes = Json::array();
    add_shapes(body.shape, {}, shapes);
    bodies.push_back({{"name", body.name},
                      {"static", body.fixed && !body.kinematic},
                      {"mass", body.fixed ? 0 : body.mass},
                      {"com", numbers(body.center_of_mass)},
                      {"shapes", std::move(shapes)}});
  }

  Json pinned = Json::array(), springs = Json::array(), triangles = Json::array();
  for (int k = 0; k < model.particle_count(); ++k)
    if (!model.particles.movable(k)) pinned.push_back(k);
  const ParticleSprings& pairs = model.forces.particle_springs;
  for (std::size_t k = 0; k < pairs.i.size(); ++k) {
    springs.push_back(pairs.i[k]);
    springs.push_back(pairs.j[k]);
  }
  double spacing = infinity;  // the shortest spring: particles are drawn as balls that do not hide it
  for (const double length : pairs.rest_length) spacing = std::min(spacing, length);
  // Groups of the scene's own come first, then those of its solids, in order.
  for (std::size_t s = 0; s < scene.solids.size(); ++s) {
    const int first = model.particles.groups[scene.particles.size() + s].first;
    for (const auto& triangle : surface_triangles(scene.solids[s]))
      for (const int corner : triangle) triangles.push_back(first + corner);
  }
  Json groups = Json::array();  // names for those who point at particles
  for (const auto& group : model.particles.groups)
    groups.push_back({{"name", group.name}, {"first", group.first}, {"count", group.count}});
  const double radius = std::isfinite(spacing) ? 0.15 * spacing : 0.01 * about.bounds.diagonal();

  Json fluid = nullptr;
  if (about.plane && world.fluid()) {
    const FluidDef& def = world.fluid()->def();
    fluid = {{"grid", def.grid},
             {"box", {numbers(def.box[0]), numbers(def.box[1])}},
             {"slice", {{"axis", about.plane->axis}, {"at", about.plane->at}}}};
  }

  Json fields = Json::array(), labels = Json::array();
  if (about.live) {
    const JointNeeds needs = needs_of(model);
    Recipe::fields(world.recipe(), FieldLister{fields, world.recipe(), needs});
  }
  for (const Quantity* q : about.numbers)
    labels.push_back(
        {{"key", q->key}, {"label", q->label}, {"unit", q->unit}, {"about", q->meaning}, {"logarithmic", q->logarithmic}});

  const Json out = {
      {"say", "scene"},
      {"generation", about.generation},
      {"source", about.live ? "live" : "recording"},
      {"name", about.name},
      {"about", scene.description},
      {"dt", world.recipe().dt},
      {"duration", about.duration},
      {"pace", about.pace},
      {"dial", about.dial.setting.empty() ? Json(nullptr) : Json(about.dial.setting)},
      {"accuracy", about.dial.accuracy ? Json(*about.dial.accuracy) : Json(nullptr)},
      {"gravity", numbers(world.gravity())},
      {"position_quantum", about.quanta.position},
      {"quaternion_quantum", about.quanta.quaternion},
      {"bounds", {numbers(about.bounds.low), numbers(about.bounds.high)}},
      {"bodies", std::move(bodies)},
      {"joints", joints_json(scene, model)},
      {"particles",
       {{"count", model.particle_count()}, {"radius", radius}, {"pinned", std::move(pinned)}, {"groups", std::move(groups)}}},
      {"springs", std::move(springs)},
      {"triangles", std::move(triangles)},
      {"links", links_json(model)},
      {"fluid", std::move(fluid)},
      {"numbers", std::move(labels)},
      {"recipe", Json::parse(to_complete_json(world.recipe()))},
      {"fields", std::move(fields)}};
  return out.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rotule::app
