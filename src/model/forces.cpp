#include "model/forces.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/text.h"
#include "linalg/decompositions.h"
#include "model/elements.h"
#include "model/model.h"
#include "model/surface_volume.h"
#include "model/tessellate.h"

namespace rotule {

std::string Particles::name(int particle) const {
  for (const Group& group : groups)
    if (particle < group.first + group.count) return group.name + "/" + std::to_string(particle - group.first);
  return "particle " + std::to_string(particle);
}

std::vector<std::array<int, 3>> Particles::surface_of(const Group& group) const {
  std::vector<std::array<int, 3>> out;
  for (const std::array<int, 3>& triangle : surface)
    if (triangle[0] >= group.first && triangle[0] < group.first + group.count) out.push_back(triangle);
  return out;
}

void AirForce::gather(const Particles& particles) {
  triangles.clear();
  for (const int group : groups) {
    const std::vector<std::array<int, 3>> own = particles.surface_of(particles.groups[static_cast<std::size_t>(group)]);
    triangles.insert(triangles.end(), own.begin(), own.end());
  }
}

int Particles::find(std::string_view name) const {
  const auto slash = name.rfind('/');
  for (const Group& group : groups) {
    if (group.name == name && group.count == 1) return group.first;
    if (slash == name.npos || group.name != name.substr(0, slash)) continue;
    const std::string_view digits = name.substr(slash + 1);
    int place = -1;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), place);
    if (error == std::errc{} && end == digits.data() + digits.size() && place >= 0 && place < group.count)
      return group.first + place;
  }
  return -1;
}

namespace {

bool holds(const ForceEnd& end, int body) { return end.kind == ForceEnd::Kind::body && end.index == body; }
void renumber(ForceEnd& end, int body) {
  if (end.kind == ForceEnd::Kind::body && end.index > body) --end.index;
}

/// The end with its point as the body carries it; without a point, the centre of mass.
ForceEnd held_at(ForceEnd end, const std::optional<Vec3>& point, const State& state) {
  if (end.kind == ForceEnd::Kind::body)
    end.r = point ? Vec3(state.theta[end.index].conjugate() * (*point - state.p[end.index])) : Vec3(Vec3::Zero());
  if (end.kind == ForceEnd::Kind::world) end.r = point.value_or(Vec3::Zero());
  return end;
}

Vec3 place_of(const ForceEnd& end, const State& state) {
  switch (end.kind) {
    case ForceEnd::Kind::body:
      return state.p[end.index] + state.theta[end.index] * end.r;
    case ForceEnd::Kind::particle:
      return state.particle_position(end.index);
    default:
      return end.r;
  }
}

Quat orientation_of(const ForceEnd& end, const State& state) {
  return end.kind == ForceEnd::Kind::body ? state.theta[end.index] : Quat::Identity();
}

bool has_volume(const Shape& shape) {
  return !std::holds_alternative<std::monostate>(shape) && !std::holds_alternative<Plane>(shape) &&
         !std::holds_alternative<HeightField>(shape);
}

WettedShape wetted_shape(const Body& body, const Vec3& centre, double volume) {
  WettedShape out;
  out.centre = centre;
  if (std::holds_alternative<Sphere>(body.shape)) {
    out.radius = std::cbrt(0.75 * volume / std::numbers::pi);
    return out;
  }
  // The surface is drawn about the shape's own centroid; where another centre is given, all of it moves along.
  const TriangleSurface surface = tessellate(body.shape, {.segments = 64});
  const Vec3 shift = centre - mass_properties(body.shape, 1).center_of_mass;
  for (const Vec3& vertex : surface.vertices) out.vertices.emplace_back(vertex + shift);
  out.triangles = surface.triangles;
  out.mend = volume / enclosed_volume(surface);
  return out;
}

struct Adder {
  int source;
  const std::string& place;
  Model& model;
  const State& state;
  const std::function<ForceEnd(const std::string&)>& find;

  void operator()(const Spring& def) const {
    SpringForce out{held_at(find(def.between[0]), def.from, state),
                    held_at(find(def.between[1]), def.to, state),
                    def.stiffness,
                    def.damping,
                    0,
                    source,
                    def.slack};
    const double length = (place_of(out.a, state) - place_of(out.b, state)).norm();
    if (length == 0)
      throw Error(place, "its ends are in the same place, where a spring has no direction; move one of them apart");
    out.rest_length = def.rest_length.value_or(length);
    if (def.slack || out.a.kind != ForceEnd::Kind::particle || out.b.kind != ForceEnd::Kind::particle) {
      model.forces.springs.push_back(out);
      return;
    }
    ParticleSprings& pool = model.forces.particle_springs;
    pool.i.push_back(out.a.index);
    pool.j.push_back(out.b.index);
    pool.stiffness.push_back(out.stiffness);
    pool.damping.push_back(out.damping);
    pool.rest_length.push_back(out.rest_length);
    pool.source.push_back(source);
  }

  void operator()(const AngleSpring& def) const {
    AngleSpringForce out;
    std::array<Vec3, 3> x;
    for (std::size_t k = 0; k < 3; ++k) {
      out.ends[k] = held_at(find(def.between[k]), {}, state);
      x[k] = place_of(out.ends[k], state);
    }
    const Vec3 a = x[0] - x[1], b = x[2] - x[1];
    if (a.norm() == 0 || b.norm() == 0) throw Error(place, "two of its points are in the same place; move one of them apart");
    out.stiffness = def.stiffness;
    out.source = source;
    out.rest_angle = def.rest_angle.value_or(std::atan2(a.cross(b).norm(), a.dot(b)));
    model.forces.angles.push_back(out);
  }

  void operator()(const TorsionSpring& def) const {
    TorsionSpringForce out{find(def.between[0]), find(def.between[1])};
    const Vec3 axis = def.axis.normalized(), reference = axis.unitOrthogonal();
    const Quat to_a = orientation_of(out.a, state).conjugate(), to_b = orientation_of(out.b, state).conjugate();
    out.axis = to_a * axis;
    out.reference_a = to_a * reference;
    out.reference_b = to_b * reference;
    out.stiffness = def.stiffness;
    out.damping = def.damping;
    out.source = source;
    model.forces.torsions.push_back(out);
  }

  void operator()(const Drag& def) const {
    DragForce out{{}, {}, def.viscous, def.quadratic, def.angular, def.on.empty(), source, flows_of(def.in)};
    if (def.on.empty()) {
      for (int i = 0; i < model.body_count(); ++i)
        if (model.movable(i)) out.bodies.push_back(i);
      for (int k = 0; k < model.particle_count(); ++k)
        if (model.particles.movable(k)) out.particles.push_back(k);
    }
    for (const std::string& name : def.on) {
      bool is_group = false;
      for (const Particles::Group& group : model.particles.groups)
        if (group.name == name) {
          is_group = true;
          for (int k = group.first; k < group.first + group.count; ++k) out.particles.push_back(k);
        }
      if (is_group) continue;
      const ForceEnd end = find(name);
      (end.kind == ForceEnd::Kind::body ? out.bodies : out.particles).push_back(end.index);
    }
    pool(out.flows).drags.push_back(std::move(out));
  }

  static bool is_meant(const std::vector<std::string>& on, const std::string& name) {
    return on.empty() || std::find(on.begin(), on.end(), name) != on.end();
  }

  void operator()(const Pressure& def) const {
    bool any = false;
    for (const Particles::Group& group : model.particles.groups) {
      GasForce out{.triangles = model.particles.surface_of(group), .pressure = def.pressure, .closed = def.outside.has_value()};
      if (!is_meant(def.on, group.name) || out.triangles.empty()) continue;
      any = true;
      close_surface(out.triangles, model.particles, place);
      out.volume = enclosed_volume(out.triangles, state);
      if (out.volume < 0) {  // seen from inside
        for (std::array<int, 3>& triangle : out.triangles) std::swap(triangle[1], triangle[2]);
        out.volume = -out.volume;
      }
      if (out.volume == 0) throw Error(place, fmt::format("{} holds no volume; give it one at the start", in_quotes(group.name)));
      out.outside = def.outside.value_or(0);
      out.exponent = def.exponent;
      out.source = source;
      model.forces.gases.push_back(std::move(out));
    }
    if (!any) throw Error(place, "fills no surface; name a balloon, a block, a mesh or a group with triangles");
  }

  void operator()(const Air& def) const {
    AirForce out{{}, def.density, def.across, def.along, source, flows_of(def.in)};
    for (std::size_t k = 0; k < model.particles.groups.size(); ++k)
      if (is_meant(def.on, model.particles.groups[k].name)) out.groups.push_back(static_cast<int>(k));
    out.gather(model.particles);
    if (out.triangles.empty()) throw Error(place, "meets no surface; name a cloth, a sheet, a block or a group with triangles");
    pool(out.flows).airs.push_back(std::move(out));
  }

  void operator()(const Gravitation& def) const { model.forces.gravitations.push_back({def, source}); }

  void operator()(const PenaltyPlane& def) const {
    PlaneForce out{def, source};
    out.normal.normalize();
    model.forces.planes.push_back(std::move(out));
  }

  void operator()(const Load& def) const {
    LoadForce out{def.name, held_at(find(def.on), def.at, state), {}, {}, source};
    for (const auto& [key, formulas, into] :
         {std::tuple("force", &def.force, &out.force), std::tuple("torque", &def.torque, &out.torque)})
      try {
        *into = Expression3(*formulas);
      } catch (const Error& error) {
        throw Error(fmt::format("{}/{}/{}", place, key, error.what()));
      }
    model.forces.loads.push_back(std::move(out));
  }

  /// Their numbers; all of them where none is named.
  [[nodiscard]] std::vector<int> flows_of(const std::vector<std::string>& names) const {
    std::vector<int> out;
    if (names.empty()) {
      out.resize(model.flows.size());
      std::iota(out.begin(), out.end(), 0);
    }
    for (const std::string& name : names) {
      const auto found = std::find(model.flow_names.begin(), model.flow_names.end(), name);
      if (found == model.flow_names.end())
        throw Error(place + "/in", fmt::format("unknown flow {}; {}", in_quotes(name), suggestion(name, model.flow_names)));
      out.push_back(static_cast<int>(found - model.flow_names.begin()));
    }
    return out;
  }

  /// Where a force in these flows stands.
  [[nodiscard]] Forces& pool(const std::vector<int>& flows) const {
    return model.feels_computed(flows) ? model.immersed : model.forces;
  }
  /// What is there without any flow too: the fluid brings what the computed one adds to it.
  template <class Force>
  void add_to_both(Force force, std::vector<Force> Forces::*list) const {
    if (model.feels_computed(force.flows)) {
      (model.immersed.*list).push_back(force);
      std::erase_if(force.flows, [this](int k) { return model.flows[static_cast<std::size_t>(k)].computed(); });
    }
    (model.forces.*list).push_back(std::move(force));
  }

  void operator()(const FlowSection& def) const {
    const ForceEnd end = find(def.on);
    const Quat to_body = state.theta[end.index].conjugate();
    const Vec3 chord = (to_body * def.chord).normalized(), normal = to_body * def.normal;
    const Vec3 across = normal - normal.dot(chord) * chord;
    if (!(across.norm() > 1e-9 * normal.norm())) throw Error(place + "/normal", "must not be along the chord");
    SectionForce out{def.name, held_at(end, def.at, state), held_at(end, def.velocity_at ? def.velocity_at : def.at, state)};
    out.axes << chord, across.normalized(), chord.cross(across.normalized());
    out.scale = 0.5 * def.density * def.width * def.length;
    out.width = def.width;
    out.friction = def.skin_friction;
    if (def.unsteady && model.movable(end.index)) out.wake = unnumbered_wake;
    out.coefficients = Coefficients(def.angles, def.drag, def.lift, def.moment);
    out.flows = flows_of(def.in);
    out.source = source;
    if (out.wake != no_wake && model.feels_computed(out.flows))
      throw Error(place + "/unsteady", "must not be in the computed flow, which remembers the wake itself; leave it out");
    pool(out.flows).sections.push_back(std::move(out));
  }

  void operator()(const LineDrag& def) const {
    LineDragForce out{def.name, held_at(find(def.between[0]), def.from, state), held_at(find(def.between[1]), def.to, state)};
    if ((place_of(out.a, state) - place_of(out.b, state)).norm() == 0)
      throw Error(place, "its ends are in the same place, where a line has no direction; move one of them apart");
    out.across = 0.5 * def.density * def.diameter * def.across;
    out.along = 0.5 * def.density * std::numbers::pi * def.diameter * def.along;
    out.flows = flows_of(def.in);
    out.source = source;
    pool(out.flows).lines.push_back(std::move(out));
  }

  void operator()(const Buoyancy& def) const {
    const ForceEnd end = find(def.on);
    const Body& body = model.bodies[end.index];
    const double of_shape = has_volume(body.shape) ? volume(body.shape) : 0;
    if (!def.volume && of_shape == 0) throw Error(place + "/volume", "is missing: the body has no shape to compute it from");
    if (def.surface && of_shape == 0)
      throw Error(place + "/surface", "needs a body with a shape that has a volume: how much of it is below is not known");
    BuoyancyForce out{.name = def.name, .at = end, .density = def.density, .volume = def.volume.value_or(of_shape)};
    if (def.at)
      out.at = held_at(end, def.at, state);
    else if (of_shape > 0)
      out.at.r = mass_properties(body.shape, 1).center_of_mass - body.center_of_mass;
    out.surface = def.surface;
    if (def.surface) out.shape = wetted_shape(body, out.at.r, out.volume);
    out.flows = flows_of(def.in);
    out.source = source;
    add_to_both(std::move(out), &Forces::buoyancies);
  }

  void operator()(const AddedMass& def) const {
    const ForceEnd end = held_at(find(def.on), def.at, state);
    AddedMassForce out{
        .name = def.name, .bodies = {end.index}, .mass = MatX::Zero(6, 6), .flows = flows_of(def.in), .source = source};
    out.mass << def.translation, def.coupling, def.coupling.transpose(), def.rotation;
    if (!model.movable(end.index)) throw Error(place + "/on", "must be a body that forces can move");
    add_mass(std::move(out), {end.r});
  }

  void operator()(const CoupledAddedMass& def) const {
    AddedMassForce out{.name = def.name, .bodies = {}, .mass = {}, .flows = flows_of(def.in), .source = source};
    const auto count = static_cast<Eigen::Index>(def.on.size());
    std::vector<Vec3> at;  // from centres of mass, in the axes of the first
    bool movable = false;
    for (std::size_t k = 0; k < def.on.size(); ++k) {
      const int body = find(def.on[k]).index;
      if (model.kinematic(body))
        throw Error(fmt::format("{}/on/{}", place, k), "must not be a body whose motion is given; fix it, or let forces move it");
      movable = movable || model.movable(body);
      out.bodies.push_back(body);
      at.push_back(def.at.empty() ? Vec3(Vec3::Zero())
                                  : Vec3(state.theta[out.bodies.front()].conjugate() * (def.at[k] - state.p[body])));
    }
    if (!movable) throw Error(place + "/on", "must name a body that forces can move");
    out.mass.setZero(6 * count, 6 * count);
    const auto put = [&](const MatX& part, int row, int column) {
      for (Eigen::Index i = 0; i < count && part.size() > 0; ++i)
        for (Eigen::Index j = 0; j < count; ++j)
          out.mass.block<3, 3>(6 * i + row, 6 * j + column) = part.block<3, 3>(3 * i, 3 * j);
    };
    put(def.translation, 0, 0);
    put(def.rotation, 3, 3);
    put(def.coupling, 0, 3);
    put(def.coupling.transpose(), 3, 0);
    add_mass(std::move(out), at);
  }

  /// What is said about points `at` from the centres of mass, about those: a point at r moves by v + omega x r = v - [r]x omega.
  void add_mass(AddedMassForce added, const std::vector<Vec3>& at) const {
    const Eigen::Index size = added.mass.rows();
    if (!added.mass.isApprox(added.mass.transpose()))
      throw Error(place, "must be symmetric: fluid that is set in motion has an energy");
    MatX G = MatX::Identity(size, size);
    for (std::size_t k = 0; k < at.size(); ++k) {
      const auto first = static_cast<Eigen::Index>(6 * k);
      G.block<3, 3>(first, first + 3) = -skew(at[k]);
    }
    added.mass = G.transpose() * added.mass * G;
    if (symmetric_eigenvalues(added.mass).minCoeff() < -1e-9 * added.mass.cwiseAbs().maxCoeff())
      throw Error(place, "must be symmetric and must not have negative directions: fluid that is set in motion has an energy");
    add_to_both(std::move(added), &Forces::added_masses);
  }

  void operator()(const UserForce& def) const {
    // The user speaks of the body's frame; the engine's coordinates start at the centre of mass.
    UserForceEntry out{def.name, find(def.between[0]), find(def.between[1]), def, source};
    for (ForceEnd* end : {&out.a, &out.b})
      if (end->kind == ForceEnd::Kind::body) end->r = -model.bodies[end->index].center_of_mass;
    model.forces.users.push_back(std::move(out));
  }
};

}  // namespace

std::vector<int> Forces::settle_wakes() {
  std::vector<int> were;
  for (SectionForce& section : sections) {
    if (section.wake == no_wake) continue;
    were.push_back(section.wake == unnumbered_wake ? -1 : section.wake);
    section.wake = static_cast<int>(were.size()) - 1;
  }
  wakes = static_cast<int>(were.size());
  return were;
}

void Forces::remove_body(int index) {
  const auto drop = [index](auto& pool) {
    std::erase_if(pool, [index](const auto& f) { return holds(f.a, index) || holds(f.b, index); });
    for (auto& f : pool) {
      renumber(f.a, index);
      renumber(f.b, index);
    }
  };
  drop(springs);
  drop(torsions);
  drop(lines);
  drop(users);
  const auto drop_one = [index](auto& pool) {
    std::erase_if(pool, [index](const auto& f) { return holds(f.at, index); });
    for (auto& f : pool) renumber(f.at, index);
  };
  for (SectionForce& section : sections) renumber(section.feels, index);
  drop_one(sections);
  drop_one(buoyancies);
  std::erase_if(added_masses, [index](const AddedMassForce& added) {
    return std::find(added.bodies.begin(), added.bodies.end(), index) != added.bodies.end();
  });
  for (AddedMassForce& added : added_masses)
    for (int& body : added.bodies) body -= body > index;
  std::erase_if(loads, [index](const LoadForce& load) { return holds(load.a, index); });
  for (LoadForce& load : loads) renumber(load.a, index);
  std::erase_if(angles, [index](const AngleSpringForce& f) {
    return holds(f.ends[0], index) || holds(f.ends[1], index) || holds(f.ends[2], index);
  });
  for (AngleSpringForce& f : angles)
    for (ForceEnd& end : f.ends) renumber(end, index);
  for (DragForce& drag : drags) {
    std::erase(drag.bodies, index);
    for (int& body : drag.bodies) body -= body > index;
  }
}

bool Forces::contains(int source) const {
  const auto in = [source](const auto& pool) {
    return std::any_of(pool.begin(), pool.end(), [source](const auto& force) { return force.source == source; });
  };
  return in(springs) || in(angles) || in(torsions) || in(drags) || in(airs) || in(gases) || in(gravitations) || in(planes) ||
         in(loads) || in(sections) || in(lines) || in(buoyancies) || in(added_masses) || in(users) ||
         std::find(particle_springs.source.begin(), particle_springs.source.end(), source) != particle_springs.source.end();
}

void Forces::remove(int source) {
  const auto drop = [source](auto& pool) { std::erase_if(pool, [source](const auto& force) { return force.source == source; }); };
  drop(springs);
  drop(angles);
  drop(torsions);
  drop(drags);
  drop(airs);
  drop(gases);
  drop(gravitations);
  drop(planes);
  drop(loads);
  drop(sections);
  drop(lines);
  drop(buoyancies);
  drop(added_masses);
  drop(users);
  ParticleSprings& pool = particle_springs;
  for (auto n = static_cast<std::ptrdiff_t>(pool.count()); n-- > 0;) {
    if (pool.source[static_cast<std::size_t>(n)] != source) continue;
    const auto drop_one = [n](auto& list) { list.erase(list.begin() + n); };
    drop_one(pool.i), drop_one(pool.j), drop_one(pool.source);
    drop_one(pool.stiffness), drop_one(pool.damping), drop_one(pool.rest_length);
  }
}

void add_particles(const ParticleGroup& group, Model& model, State& state, std::span<const std::array<int, 3>> surface) {
  const std::vector<double> masses = particle_masses(group);
  const int first = model.particle_count(), count = static_cast<int>(group.positions.size());
  model.particles.groups.push_back({group.name, first, count});
  state.x.conservativeResize(3 * (first + count));
  state.u.conservativeResize(state.u.size() + 3 * count);
  for (int k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    state.x.segment<3>(3 * (first + k)) = group.positions[at];
    Vec3 velocity = Vec3::Zero();
    if (!group.velocities.empty()) velocity = group.velocities[group.velocities.size() == 1 ? 0 : at];
    state.u.segment<3>(state.first(first + k)) = velocity;
    model.particles.mass.push_back(masses[at]);
    model.particles.inverse_mass.push_back(1 / masses[at]);
  }
  for (const int place : group.pinned) {
    model.particles.inverse_mass[first + place] = 0;
    state.u.segment<3>(state.first(first + place)).setZero();
  }
  ParticleSprings& pool = model.forces.particle_springs;
  for (const SpringSet& set : group.springs)
    for (std::size_t n = 0; n < set.pairs.size(); ++n) {
      const auto [i, j] = set.pairs[n];
      pool.i.push_back(first + i);
      pool.j.push_back(first + j);
      pool.stiffness.push_back(set.stiffness);
      pool.damping.push_back(set.damping);
      pool.rest_length.push_back(
          set.rest_lengths.empty()
              ? (group.positions[static_cast<std::size_t>(i)] - group.positions[static_cast<std::size_t>(j)]).norm()
              : set.rest_lengths[n]);
      pool.source.push_back(no_source);
    }
  add_elements(group, first, model.forces.elements);
  const auto add_surface = [&](const std::array<int, 3>& triangle) {
    model.particles.surface.push_back({first + triangle[0], first + triangle[1], first + triangle[2]});
  };
  if (!surface.empty())
    std::for_each(surface.begin(), surface.end(), add_surface);
  else
    for (const TriangleSet& set : group.triangles) std::for_each(set.triangles.begin(), set.triangles.end(), add_surface);
}

void add_force(const ForceDef& def, int source, const std::string& place, Model& model, const State& state,
               const std::function<ForceEnd(const std::string&)>& find) {
  std::visit(Adder{source, place, model, state, find}, def);
  model.settle_added_mass();
}

}  // namespace rotule
