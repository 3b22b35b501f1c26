#include "model/model.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/mass_properties.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "base/union_find.h"
#include "math/rotation.h"
#include "model/function_kinds.h"
#include "model/joint_kinds.h"

namespace rotule {

int Joint::rows() const {
  if (equations) return equations->rows();
  return std::max(1, static_cast<int>(std::count(locked.begin(), locked.end(), true)));
}

void Model::add(Body body) {
  const bool moves = !body.fixed;
  for (Joint& joint : joints)  // particles are numbered behind the bodies
    for_each_partner(joint, [&](int& partner) {
      if (partner != world_body && is_particle(partner)) ++partner;
    });
  inverse_mass.push_back(moves ? 1 / body.mass : 0);
  inertia.push_back(body.inertia);
  inverse_inertia.push_back(moves && !body.point_mass ? Mat3(body.inertia.inverse()) : Mat3(Mat3::Zero()));
  kinematic_count += body.kinematic;
  sensor_count += body.sensor;
  belt_count += !body.surface_velocity.isZero(0);
  bodies.push_back(std::move(body));
  if (moves)
    for (Forces* pools : {&forces, &immersed})
      for (DragForce& drag : pools->drags)
        if (drag.on_all) drag.bodies.push_back(body_count() - 1);
  settle_added_mass();
}

void Model::settle_added_mass() {
  added_mass = {};
  if (forces.added_masses.empty()) return;
  added_mass.group_of.assign(bodies.size(), -1);
  std::vector<AddedMassBlock>& blocks = added_mass.blocks;
  const auto before = [](const AddedMassBlock& x, const AddedMassBlock& y) {
    return std::tie(x.body, x.by, x.axes) < std::tie(y.body, y.by, y.axes);
  };
  UnionFind coupled(bodies.size());
  std::vector<char> shared(bodies.size(), 0);
  for (const AddedMassForce& added : forces.added_masses) {
    const auto count = static_cast<Eigen::Index>(added.bodies.size());
    int first = -1;
    for (Eigen::Index i = 0; i < count; ++i) {
      const int body = added.bodies[static_cast<std::size_t>(i)];
      if (!movable(body)) continue;
      if (first < 0) first = body;
      coupled.join(first, body);
      if (count > 1) shared[body] = 1;
      for (Eigen::Index j = 0; j < count; ++j) {
        const AddedMassBlock block{.body = body,
                                   .by = added.bodies[static_cast<std::size_t>(j)],
                                   .axes = added.bodies.front(),
                                   .mass = added.mass.block<6, 6>(6 * i, 6 * j)};
        if (!movable(block.by)) continue;
        const auto at = std::lower_bound(blocks.begin(), blocks.end(), block, before);
        if (at != blocks.end() && !before(block, *at))
          at->mass += block.mass;
        else
          blocks.insert(at, block);
      }
    }
  }
  for (int i = 0; i <= body_count(); ++i)
    added_mass.first.push_back(static_cast<int>(std::ranges::lower_bound(blocks, i, {}, &AddedMassBlock::body) - blocks.begin()));
  for (int i = 0; i < body_count(); ++i)
    if (shared[i]) shared[coupled.root(i)] = 1;
  for (int i = 0; i < body_count(); ++i) {
    const int root = coupled.root(i);
    if (!shared[root] || !movable(i)) continue;
    if (root == i) added_mass.groups.emplace_back();
    added_mass.group_of[i] = root == i ? static_cast<int>(added_mass.groups.size()) - 1 : added_mass.group_of[root];
    added_mass.groups[static_cast<std::size_t>(added_mass.group_of[i])].push_back(i);
  }
}

bool Model::feels_computed(const std::vector<int>& which) const {
  return std::any_of(which.begin(), which.end(), [this](int k) { return flows[static_cast<std::size_t>(k)].computed(); });
}

void Model::add(const FlowDef& flow, const std::string& place) {
  TimeVelocity velocity;
  if (const auto* uniform = std::get_if<UniformFlow>(&flow)) try {
      velocity = [expression = Expression3(uniform->velocity)](double t, Vec3& u, Vec3& rate) { expression.at(t, u, &rate); };
    } catch (const Error& error) {
      throw Error(fmt::format("{}/velocity/{}", place, error.what()));
    }
  flows.emplace_back(flow, std::move(velocity));
  flow_names.push_back(std::visit([](const auto& f) { return f.name; }, flow));
}

void Model::add(Joint joint) { joints.push_back(std::move(joint)); }

void Model::remove_body(int index) {
  std::erase_if(joints, [index](const Joint& joint) { return has_partner(joint, index); });
  for (Joint& joint : joints) for_each_partner(joint, [index](int& partner) { partner -= partner > index; });
  forces.remove_body(index);
  immersed.remove_body(index);
  std::erase_if(motions, [index](const BodyMotion& motion) { return motion.body == index; });
  for (BodyMotion& motion : motions) motion.body -= motion.body > index;
  kinematic_count -= bodies[index].kinematic;
  sensor_count -= bodies[index].sensor;
  belt_count -= !bodies[index].surface_velocity.isZero(0);
  bodies.erase(bodies.begin() + index);
  inverse_mass.erase(inverse_mass.begin() + index);
  inertia.erase(inertia.begin() + index);
  inverse_inertia.erase(inverse_inertia.begin() + index);
  settle_added_mass();
}

void Model::remove_joint(int index) { joints.erase(joints.begin() + index); }

std::uint32_t Model::layer_bit(const std::string& name) {
  constexpr std::size_t most_layers = 32;
  auto found = std::find(layers.begin(), layers.end(), name);
  if (found == layers.end()) {
    if (layers.size() == most_layers)
      throw Error(fmt::format("layer {}", in_quotes(name)), fmt::format("there are {} layers already", most_layers));
    found = layers.insert(found, name);
  }
  return 1u << (found - layers.begin());
}

bool Model::may_meet(int a, int b) const {
  const Body &p = bodies[a], &q = bodies[b];
  return (p.group == 0 || p.group != q.group) && (p.layer & q.meets) != 0 && (q.layer & p.meets) != 0;
}

std::string Model::name(int partner) const {
  if (partner == world_body) return "world";
  return is_particle(partner) ? particles.name(particle_of(partner)) : bodies[partner].name;
}

int Model::join(int particle) {
  auto found = std::find(joined.begin(), joined.end(), particle);
  if (found == joined.end()) found = joined.insert(found, particle);
  return body_count() + static_cast<int>(found - joined.begin());
}

void Model::settle_point_masses() {
  std::vector<double> arm(bodies.size(), 0.0);
  for (const Joint& joint : joints) {
    for (const auto& [partner, X] : {std::pair(joint.a, &joint.X_A), std::pair(joint.b, &joint.X_B)})
      if (partner != world_body && !is_particle(partner)) arm[partner] = std::max(arm[partner], X->position.norm());
  }
  for (int i = 0; i < body_count(); ++i) {
    if (!bodies[i].point_mass || bodies[i].fixed) continue;
    const double radius = 1e-3 * (arm[i] > 0 ? arm[i] : 1.0);
    bodies[i].inertia = 0.4 * bodies[i].mass * radius * radius * Mat3::Identity();
    inertia[i] = bodies[i].inertia;
    inverse_inertia[i] = bodies[i].inertia.inverse();
  }
}

SurfaceLaw surface_of(const std::vector<Material>& materials, const std::string& name) {
  for (const Material& material : materials)
    if (material.name == name)
      return {.friction = material.friction,
              .static_friction = material.static_friction.value_or(material.friction),
              .restitution = material.restitution,
              .rolling_friction = material.rolling_friction,
              .torsional_friction = material.torsional_friction,
              .stiffness = material.contact_stiffness,
              .damping = material.contact_damping};
  return {};
}

Body compile_body(const BodyDef& def, const std::vector<Material>& materials, const std::string& place) {
  Body body{.name = def.name, .fixed = def.immovable(), .kinematic = def.kinematic || def.motion, .shape = def.shape};
  const bool has_volume = !std::holds_alternative<std::monostate>(def.shape) && !std::holds_alternative<Plane>(def.shape) &&
                          !std::holds_alternative<HeightField>(def.shape);
  if (def.center_of_mass) body.center_of_mass = *def.center_of_mass;
  body.touches = def.contacts;
  body.group = def.group;
  body.sensor = def.sensor;
  body.surface_velocity = def.surface_velocity;
  double density = 1000;
  for (const Material& material : materials)
    if (material.name == def.material) {
      body.material = static_cast<int>(&material - materials.data());
      density = material.density;
      body.surface = surface_of(materials, material.name);
    }
  if (def.immovable()) {
    body.attracting_mass = def.mass.value_or(0);
    return body;
  }
  if (def.density) density = *def.density;

  if (has_volume) {
    const MassProperties of_shape = mass_properties(def.shape, density);
    body.mass = def.mass.value_or(of_shape.mass);
    if (!def.center_of_mass) body.center_of_mass = of_shape.center_of_mass;
    // A given mass scales the shape's inertia; a given centre of mass is trusted together with that inertia.
    body.inertia = def.inertia.value_or(of_shape.inertia * (body.mass / of_shape.mass));
  } else {
    if (!def.mass) throw Error(place + "/mass", "is missing: a movable body needs a mass, or a shape to compute it from");
    body.mass = *def.mass;
    body.point_mass = !def.inertia;
    if (def.inertia) body.inertia = *def.inertia;
  }
  body.attracting_mass = body.mass;
  return body;
}

BodyMotion compile_motion(const BodyDef& def, int body, const std::string& place) {
  BodyMotion out;
  out.body = body;
  out.axis = def.motion->axis.normalized();
  out.start = {def.position, def.orientation.normalized()};
  try {
    out.displacement = Expression3(def.motion->displacement);
  } catch (const Error& error) {
    throw Error(fmt::format("{}/motion/displacement/{}", place, error.what()));
  }
  try {
    out.angle = Expression(def.motion->angle.text);
  } catch (const Error& error) {
    throw Error(place + "/motion/angle", error.what());
  }
  return out;
}

std::optional<int> loop_closing_joint(const Model& model) {
  // The last slot stands for all that cannot move.
  UnionFind connected(static_cast<std::size_t>(model.partner_count()) + 1);
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const auto place = [&](int body) { return model.movable(body) ? body : model.partner_count(); };
    const int first = place(model.joints[j].a);
    bool closes = false, itself = true;
    for_each_partner(model.joints[j], [&](int partner) {
      closes = closes || (!itself && !connected.join(first, place(partner)));
      itself = false;
    });
    if (closes) return j;
  }
  return std::nullopt;
}

Vec3 point_of(const Model& model, const State& state, int partner, const Vec3& r) {
  if (partner == world_body) return r;
  if (model.is_particle(partner)) return state.particle_position(model.particle_of(partner));
  return state.p[partner] + state.theta[partner] * r;
}

Pose body_frame(const Model& model, const State& state, int body) {
  if (body == world_body) return {};
  return {state.p[body] - state.theta[body] * model.bodies[body].center_of_mass, state.theta[body]};
}

void place_body(const Model& model, State& state, int body, const Pose& frame) {
  state.theta[body] = frame.orientation.normalized();
  state.p[body] = frame.position + state.theta[body] * model.bodies[body].center_of_mass;
}

int axis_number(std::string_view name) {
  return static_cast<int>(std::find(axis_names.begin(), axis_names.end(), name) - axis_names.begin());
}

Quat frame_of(const Vec3& x, const Vec3& y) {
  Mat3 R;
  R.col(0) = x.normalized();
  R.col(2) = x.cross(y).normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return Quat(R);
}

Pose JointSite::seen_from(int partner, const Pose& X_W) const {
  if (partner == world_body) return X_W;
  if (model.is_particle(partner)) return {Vec3::Zero(), X_W.orientation};
  const Quat inverse = state.theta[partner].conjugate();
  return {inverse * (X_W.position - state.p[partner]), inverse * X_W.orientation};
}

Vec3 JointSite::joint_point(const Joint& joint, const Vec3& at) const {
  constexpr double same_place = 1e-9;  // m
  std::optional<Vec3> point;
  for (const int partner : {joint.a, joint.b}) {
    if (partner == world_body || !model.is_particle(partner)) continue;
    const Vec3 own = centre(partner);
    if (point && (own - *point).norm() > same_place)
      throw Error(place,
                  fmt::format("its particles are {:.6g} m apart; place them together, or use a rod", (own - *point).norm()));
    if (!at.isZero(0) && (own - at).norm() > same_place)
      throw Error(place + "/at",
                  fmt::format("is {:.6g} m from particle \"{}\", which has no other point than its own; leave it out",
                              (own - at).norm(), model.name(partner)));
    point = own;
  }
  return point.value_or(at);
}

void compile_locks(Locks locks, const JointSite& site, Joint& joint) {
  locks.X_W.position = site.joint_point(joint, locks.X_W.position);
  joint.X_A = site.seen_from(joint.a, locks.X_W);
  joint.X_B = site.seen_from(joint.b, locks.X_W);
  joint.locked = locks.locked;
}

Joint compile_joint(const JointDef& def, const std::string& place, const Model& model, const State& state,
                    const std::function<int(const std::string&)>& find) {
  Joint joint;
  joint.definition = std::make_shared<const JointDef>(def);
  std::visit(
      [&](const auto& d) {
        joint.name = d.name;
        joint.a = find(d.between[0]);
        joint.b = find(d.between[1]);
        for (const FurtherPartner& partner : further_partners(d)) joint.more.push_back(find(partner.name));
        compile(d, JointSite{model, state, place}, joint);
      },
      def);
  joint.defined = joint.drives;
  joint.breaks = std::visit([](const auto& d) { return d.breaks; }, def);
  return joint;
}

}  // namespace rotule
