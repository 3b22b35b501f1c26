#include "model/model.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <numeric>

#include "math/rotation.h"
#include "model/mass_properties.h"
#include "model/names.h"

namespace rotule {

int Joint::rows() const {
  if (kind != Kind::locked_axes) return 1;
  return static_cast<int>(std::count(locked.begin(), locked.end(), true));
}

void Model::add(Body body) {
  const bool moves = !body.fixed;
  for (Joint& joint : joints)  // particles are numbered behind the bodies
    for (int* partner : {&joint.a, &joint.b})
      if (*partner != world_body && is_particle(*partner)) ++*partner;
  inverse_mass.push_back(moves ? 1 / body.mass : 0);
  inertia.push_back(body.inertia);
  inverse_inertia.push_back(moves && !body.point_mass ? Mat3(body.inertia.inverse()) : Mat3(Mat3::Zero()));
  bodies.push_back(std::move(body));
}

void Model::add(Joint joint) { joints.push_back(std::move(joint)); }

void Model::remove_body(int index) {
  std::erase_if(joints, [index](const Joint& j) { return j.a == index || j.b == index; });
  for (Joint& joint : joints) {
    joint.a -= joint.a > index;
    joint.b -= joint.b > index;
  }
  forces.remove_body(index);
  bodies.erase(bodies.begin() + index);
  inverse_mass.erase(inverse_mass.begin() + index);
  inertia.erase(inertia.begin() + index);
  inverse_inertia.erase(inverse_inertia.begin() + index);
}

void Model::remove_joint(int index) { joints.erase(joints.begin() + index); }

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

Body compile_body(const BodyDef& def, const std::vector<Material>& materials, const std::string& place) {
  Body body{.name = def.name, .fixed = def.fixed, .shape = def.shape};
  const bool has_volume = !std::holds_alternative<std::monostate>(def.shape) && !std::holds_alternative<Plane>(def.shape) &&
                          !std::holds_alternative<HeightField>(def.shape);
  if (def.center_of_mass) body.center_of_mass = *def.center_of_mass;
  body.touches = def.contacts;
  body.group = def.group;
  double density = 1000;
  for (const Material& material : materials)
    if (material.name == def.material) {
      density = material.density;
      body.surface = {.friction = material.friction,
                      .static_friction = material.static_friction.value_or(material.friction),
                      .restitution = material.restitution,
                      .rolling_friction = material.rolling_friction,
                      .torsional_friction = material.torsional_friction,
                      .stiffness = material.contact_stiffness,
                      .damping = material.contact_damping};
    }
  if (def.fixed) {
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

std::optional<int> loop_closing_joint(const Model& model) {
  // Union-find; the last slot stands for all that cannot move.
  std::vector<int> parent(model.partner_count() + 1);
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const auto place = [&](int body) { return root(model.movable(body) ? body : model.partner_count()); };
    const int a = place(model.joints[j].a), b = place(model.joints[j].b);
    if (a == b) return j;
    parent[a] = b;
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

namespace {

/// A frame whose z is the direction given; x is any perpendicular.
Quat frame_along(const Vec3& z) { return rotation_between(Vec3::UnitZ(), z.normalized()); }

/// A frame from two perpendicular directions.
Quat frame_of(const Vec3& x, const Vec3& y) {
  Mat3 R;
  R.col(0) = x.normalized();
  R.col(2) = x.cross(y).normalized();
  R.col(1) = R.col(2).cross(R.col(0));
  return Quat(R);
}

/// The world frame, seen from the partner's centre of mass; a particle has the world's axes, and no point but its own.
Pose seen_from(const Model& model, const State& state, int body, const Pose& X_W) {
  if (body == world_body) return X_W;
  if (model.is_particle(body)) return {Vec3::Zero(), X_W.orientation};
  const Quat inverse = state.theta[body].conjugate();
  return {inverse * (X_W.position - state.p[body]), inverse * X_W.orientation};
}

struct Locks {
  Pose X_W;
  std::array<bool, 6> locked;
};

Locks locks(const Ball& j) { return {{j.at, Quat::Identity()}, {true, true, true, false, false, false}}; }
Locks locks(const Hinge& j) { return {{j.at, frame_along(j.axis)}, {true, true, true, true, true, false}}; }
Locks locks(const Slider& j) { return {{j.at, frame_along(j.axis)}, {true, true, false, true, true, true}}; }
Locks locks(const Cylindrical& j) { return {{j.at, frame_along(j.axis)}, {true, true, false, true, true, false}}; }
Locks locks(const Universal& j) { return {{j.at, frame_of(j.axis_a, j.axis_b)}, {true, true, true, false, false, true}}; }
Locks locks(const Planar& j) { return {{j.at, frame_along(j.normal)}, {false, false, true, true, true, false}}; }
Locks locks(const Weld& j) { return {{j.at, Quat::Identity()}, {true, true, true, true, true, true}}; }
Locks locks(const PointOnLine& j) { return {{j.at, frame_along(j.axis)}, {true, true, false, false, false, false}}; }
Locks locks(const LockedAxes& j) { return {{j.at, j.frame.normalized()}, j.locked}; }

/// Where the joint is: at the particles it holds, which `at` need not repeat and must not contradict, else at `at`.
Vec3 joint_point(const Joint& joint, const Vec3& at, const std::string& place, const Model& model, const State& state) {
  constexpr double same_place = 1e-9;  // m
  std::optional<Vec3> point;
  for (const int partner : {joint.a, joint.b}) {
    if (partner == world_body || !model.is_particle(partner)) continue;
    const Vec3 own = point_of(model, state, partner, Vec3::Zero());
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

}  // namespace

int axis_number(std::string_view name) {
  return static_cast<int>(std::find(axis_names.begin(), axis_names.end(), name) - axis_names.begin());
}

std::array<bool, 6> locked_axes(const JointDef& def) {
  return std::visit(
      [](const auto& d) {
        if constexpr (requires { locks(d); })
          return locks(d).locked;
        else
          return std::array<bool, 6>{};
      },
      def);
}

Joint compile_joint(const JointDef& def, const std::string& place, const Model& model, const State& state,
                    const std::function<int(const std::string&)>& find) {
  return std::visit(
      [&](const auto& d) {
        using Def = std::decay_t<decltype(d)>;
        Joint joint;
        joint.name = d.name;
        joint.a = find(d.between[0]);
        joint.b = find(d.between[1]);
        if constexpr (std::is_same_v<Def, Rod>) {
          joint.kind = Joint::Kind::rod;
          const auto end = [&](int partner, const std::optional<Vec3>& point) {
            return point.value_or(point_of(model, state, partner, Vec3::Zero()));
          };
          const Vec3 from = end(joint.a, d.from), to = end(joint.b, d.to);
          if (from == to) throw Error(place, "its ends are in the same place; a rod of no length is a ball");
          joint.X_A = seen_from(model, state, joint.a, {from, Quat::Identity()});
          joint.X_B = seen_from(model, state, joint.b, {to, Quat::Identity()});
          joint.length = d.length > 0 ? d.length : (to - from).norm();
        } else if constexpr (std::is_same_v<Def, Constraint>) {
          // The user speaks of the body's frame; the engine's coordinates start at the centre of mass.
          joint.kind = Joint::Kind::user;
          const auto turns = [&](int partner) { return partner != world_body && !model.is_particle(partner); };
          if (turns(joint.a)) joint.X_A.position = -model.bodies[joint.a].center_of_mass;
          if (turns(joint.b)) joint.X_B.position = -model.bodies[joint.b].center_of_mass;
          joint.function = d.function;
        } else {
          Locks l = locks(d);
          l.X_W.position = joint_point(joint, l.X_W.position, place, model, state);
          joint.X_A = seen_from(model, state, joint.a, l.X_W);
          joint.X_B = seen_from(model, state, joint.b, l.X_W);
          joint.locked = l.locked;
          if constexpr (requires { d.drive; }) {
            const auto free = std::find(joint.locked.begin(), joint.locked.end(), false);
            if (d.drive != Drive{}) joint.drives.push_back({static_cast<int>(free - joint.locked.begin()), d.drive});
          }
          if constexpr (requires { d.drives; })
            for (const AxisDrive& drive : d.drives) joint.drives.push_back({axis_number(drive.axis), drive.drive});
          std::sort(joint.drives.begin(), joint.drives.end(), [](const auto& p, const auto& q) { return p.axis < q.axis; });
        }
        return joint;
      },
      def);
}

}  // namespace rotule
