// A scene described anew in another pose. Joints are described in world coordinates and closed in the scene's own pose: points
// and axes move with their bodies. Hinges and sliders say where their coordinates begin; those of other joints are zero in the
// pose described, and limits, springs and given motions move by what they have come to.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "base/text.h"
#include "constraint/joint_coordinates.h"
#include "math/pose.h"
#include "model/constraint_text.h"
#include "model/joint_kinds.h"
#include "model/names.h"
#include "world/world_implementation.h"

namespace rotule {

namespace {

/// How a partner was moved, from the scene's pose to the world's.
struct Moves {
  const Scene& scene;
  const World& world;

  [[nodiscard]] Pose of(const std::string& name) const {
    for (const BodyDef& body : scene.bodies)
      if (body.name == name)
        return Pose{world.position(name), world.orientation(name)} * inverse(Pose{body.position, body.orientation});
    return {};  // the world, and particles, which have no point but their own
  }
  /// Where the partner's frame stands now.
  [[nodiscard]] Pose frame(const std::string& name) const {
    if (name == "world") return {};
    if (particle_before(name)) return {world.particle_position(world.particle(name)), Quat::Identity()};
    return {world.position(name), world.orientation(name)};
  }
  /// Where its centre of mass stood in the scene's pose.
  [[nodiscard]] Vec3 centre_before(const std::string& name) const {
    if (name == "world") return Vec3::Zero();
    if (const auto place = particle_before(name)) return *place;
    const Pose back = inverse(of(name));
    return back.position + back.orientation * world.center_of_mass(name);
  }
  [[nodiscard]] std::optional<Vec3> particle_before(const std::string& name) const {
    const std::size_t slash = name.rfind('/');
    for (const ParticleGroup& group : scene.particles)
      if (slash != std::string::npos && group.name == std::string_view(name).substr(0, slash))
        return group.positions[std::stoul(name.substr(slash + 1))];
    return std::nullopt;
  }
};

Vec3 moved(const Pose& X, const Vec3& point) { return X.position + X.orientation * point; }

/// A scene begins at time 0: what time gives goes on from where it has come to.
void go_on(Drive& drive, double t) {
  if (!drive.motion || t == 0) return;
  GivenMotion& motion = *drive.motion;
  if (motion.function || motion.formula != Formula())
    throw Error("its given motion is a function of the time, which would begin anew; ask before the first step");
  motion.offset += motion.speed * t;
  motion.phase += motion.frequency * t;
}

void shift(Drive& drive, double q, bool angle) {
  for (std::optional<double>* limit : {&drive.lower, &drive.upper}) {
    if (!*limit) continue;
    **limit -= q;
    if (angle && std::abs(**limit) > std::numbers::pi)
      throw Error(
          fmt::format("a stop would stand at {:.4g} rad in this pose, more than half a turn away; narrow it first", **limit));
  }
  drive.rest -= q;
  if (!drive.motion) return;
  if (drive.motion->function) throw Error("its given motion is a C++ function, which cannot be described in another pose");
  drive.motion->offset -= q;
}

/// A joint whose frame is the world's axes, or turned from them the shortest way, keeps it by saying so.
template <class Joint>
LockedAxes with_frame(const Joint& d, const Quat& frame, const std::array<bool, 6>& locked) {
  return {.name = d.name,
          .between = d.between,
          .at = d.at,
          .frame = frame.normalized(),
          .locked = locked,
          .drives = d.drives,
          .breaks = d.breaks};
}

class Redescribe {
 public:
  Redescribe(const Moves& m, const Joint& as_compiled, const JointCoordinates& coordinates)
      : moves(m), joint(as_compiled), q(coordinates) {}

  [[nodiscard]] Pose first(const Between& between) const { return moves.of(between[0]); }
  [[nodiscard]] Pose second(const Between& between) const { return moves.of(between[1]); }
  /// The joint's frame, as its first body carries it now.
  [[nodiscard]] Quat frame(const Between& between) const {
    const Pose& X = joint.X_A;
    const Quat a = joint.a == world_body ? Quat::Identity() : moves.world.orientation(between[0]);
    return a * X.orientation;
  }

  JointDef operator()(Ball d) const {
    d.at = moved(second(d.between), d.at);
    if (d.drives.empty()) return d;
    return with_frame(d, frame(d.between), joint.locked);
  }
  JointDef operator()(Hinge d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(first(d.between), d.at);
    d.start = q[5];
    go_on(d.drive, moves.world.time());
    return d;
  }
  JointDef operator()(Slider d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(second(d.between), d.at);
    d.start = q[2];
    go_on(d.drive, moves.world.time());
    return d;
  }
  JointDef operator()(Cylindrical d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(second(d.between), d.at);
    count_anew(d.drives);
    return d;
  }
  JointDef operator()(Universal d) const {
    d.at = moved(second(d.between), d.at);
    d.axis_a = first(d.between).orientation * d.axis_a;
    d.axis_b = second(d.between).orientation * d.axis_b;
    count_anew(d.drives);
    return d;
  }
  JointDef operator()(Planar d) const {
    d.at = moved(second(d.between), d.at);
    d.normal = first(d.between).orientation * d.normal;
    if (d.drives.empty()) return d;
    count_anew(d.drives);
    return with_frame(d, frame(d.between), joint.locked);
  }
  JointDef operator()(Weld d) const {
    d.at = moved(first(d.between), d.at);
    return d;
  }
  JointDef operator()(Rod d) const {
    // Left out, a point is the centre of mass, which moves by itself.
    if (d.from) d.from = moved(first(d.between), *d.from);
    if (d.to) d.to = moved(second(d.between), *d.to);
    if (d.length == 0) d.length = joint.length;
    return d;
  }
  JointDef operator()(PointOnLine d) const {
    d.at = moved(second(d.between), d.at);
    d.axis = first(d.between).orientation * d.axis;
    if (d.drives.empty()) return d;
    count_anew(d.drives);
    return with_frame(d, frame(d.between), joint.locked);
  }
  JointDef operator()(LockedAxes d) const {
    if (d.locked[3] + d.locked[4] + d.locked[5] == 1)
      throw Error("two of its rotations are free, and their axes part; describe it as a universal joint");
    d.at = moved(second(d.between), d.at);
    d.frame = frame(d.between);
    count_anew(d.drives);
    return d;
  }
  JointDef operator()(Gear d) const {
    d.axis_a = moves.of(d.carrier).orientation * d.axis_a;
    d.axis_b = moves.of(d.carrier).orientation * d.axis_b;
    return d;
  }
  JointDef operator()(Constraint d) const {
    if (moves.world.time() != 0 && knows_time(d))
      throw Error("it speaks of the time, which would begin anew; ask before the first step");
    return d;
  }
  JointDef operator()(RackAndPinion d) const {
    const Quat carrier = moves.of(d.carrier).orientation;
    d.axis = carrier * d.axis;
    d.direction = carrier * d.direction;
    return d;
  }
  JointDef operator()(Screw d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(second(d.between), d.at);
    return d;
  }
  JointDef operator()(Differential d) const {
    d.axis = moves.of(d.carrier).orientation * d.axis;
    return d;
  }
  JointDef operator()(Pulley d) const {
    const Vec3 from = d.from.value_or(moves.centre_before(d.between[0])), to = d.to.value_or(moves.centre_before(d.between[1]));
    const double length = (from - d.over_a).norm() + d.ratio * (to - d.over_b).norm();
    const Pose carrier = moves.of(d.carrier);
    d.over_a = moved(carrier, d.over_a);
    d.over_b = moved(carrier, d.over_b);
    const Vec3 from_now = moved(first(d.between), from), to_now = moved(second(d.between), to);
    if (d.from) d.from = from_now;
    if (d.to) d.to = to_now;
    const double room = length - (from_now - d.over_a).norm() - d.ratio * (to_now - d.over_b).norm();
    if (d.slack && room > taut * length) return loose(d, from_now, to_now, length);
    return d;
  }
  JointDef operator()(Rail d) const {
    for (Vec3& point : d.points) point = moved(first(d.between), point);
    if (d.point) d.point = moved(second(d.between), *d.point);
    return d;
  }
  JointDef operator()(Cam d) const {
    d.axis = first(d.between).orientation * d.axis;
    for (Vec3& point : d.profile) point = moved(first(d.between), point);
    if (d.point) d.point = moved(second(d.between), *d.point);
    return d;
  }
  JointDef operator()(ConstantVelocity d) const {
    const Vec3 at = moved(second(d.between), d.at), along = first(d.between).orientation * d.axis;
    if (along.cross(second(d.between).orientation * d.axis).norm() > straight * d.axis.norm()) return bent(d, at);
    d.at = at;
    d.axis = along;
    return d;
  }
  JointDef operator()(Rolling d) const {
    check_surface(d.surface, d.between);
    if (d.surface.empty()) {
      d.at = moved(first(d.between), d.at);
      d.normal = first(d.between).orientation * d.normal;
    }
    if (d.center) d.center = moved(second(d.between), *d.center);
    if (d.axis) d.axis = second(d.between).orientation * *d.axis;
    return d;
  }
  JointDef operator()(KnifeEdge d) const {
    check_surface(d.surface, d.between);
    if (d.surface.empty()) d.normal = first(d.between).orientation * d.normal;
    d.at = moved(second(d.between), d.at);
    d.blade = second(d.between).orientation * d.blade;
    return d;
  }
  JointDef operator()(ConeLimit d) const {
    d.center = first(d.between).orientation * d.center.value_or(d.axis);
    d.axis = second(d.between).orientation * d.axis;
    return d;
  }

 private:
  void count_anew(std::vector<AxisDrive>& drives) const {
    for (AxisDrive& each : drives) {
      const int axis = axis_number(each.axis);
      go_on(each.drive, moves.world.time());
      shift(each.drive, q[axis], axis >= 3);
    }
  }

  const Moves& moves;
  const Joint& joint;
  const JointCoordinates& q;  // where it stands

  static constexpr double taut = 1e-12, straight = 1e-12, still = 1e-12;

  /// Equations of surfaces are in the coordinates of the pose described.
  void check_surface(const std::string& surface, const Between& between) const {
    const Pose X = first(between);
    if (!surface.empty() && X.position.norm() + X.orientation.vec().norm() > still)
      throw Error(
          fmt::format("its surface has moved with body {}, and its equation is of the pose described", in_quotes(between[0])));
  }
  /// Points of equations, under names that no body has.
  struct Points {
    const Moves& moves;
    Constraint& constraint;
    std::string add(std::string name, const std::string& body, const Vec3& place) {
      const auto taken = [&](const std::string& other) { return other == name; };
      while (taken(constraint.between[0]) || taken(constraint.between[1]) ||
             std::any_of(constraint.more.begin(), constraint.more.end(), taken))
        name += '_';
      constraint.points.push_back({name, body, moved(inverse(moves.frame(body)), place)});
      return name;
    }
  };
  /// A rope is as long as its pulley finds it: one that hangs loose is its equation, with its length.
  [[nodiscard]] Constraint loose(const Pulley& d, const Vec3& from, const Vec3& to, double length) const {
    Constraint out{.name = d.name, .between = d.between, .at_most = length, .restitution = d.restitution, .breaks = d.breaks};
    if (d.carrier != d.between[0] && d.carrier != d.between[1]) out.more = {d.carrier};
    Points points{moves, out};
    const auto distance = [](const std::string& a, const std::string& b) {
      return fmt::format("sqrt(({0}.x - {1}.x)^2 + ({0}.y - {1}.y)^2 + ({0}.z - {1}.z)^2)", a, b);
    };
    const std::string a = points.add("end_a", d.between[0], from), over_a = points.add("over_a", d.carrier, d.over_a);
    const std::string b = points.add("end_b", d.between[1], to), over_b = points.add("over_b", d.carrier, d.over_b);
    out.equation = fmt::format("{} + {:.17g} * {}", distance(a, over_a), d.ratio, distance(b, over_b));
    return out;
  }
  /// Shafts at an angle have no axis in common: a point that they have, and R_xy = R_yx of the rotation from one to the other.
  [[nodiscard]] Constraint bent(const ConstantVelocity& d, const Vec3& at) const {
    Constraint out{.name = d.name, .between = d.between, .breaks = d.breaks};
    Points points{moves, out};
    const Mat3 frame = frame_along(d.axis).toRotationMatrix();
    const auto arm = [&](const char* name, const std::string& body, int k) {
      return points.add(name, body, at + moves.of(body).orientation * frame.col(k));
    };
    const std::string o_a = points.add("o_a", d.between[0], at), o_b = points.add("o_b", d.between[1], at);
    const std::string x_a = arm("x_a", d.between[0], 0), y_a = arm("y_a", d.between[0], 1);
    const std::string x_b = arm("x_b", d.between[1], 0), y_b = arm("y_b", d.between[1], 1);
    std::string turn;
    for (const char k : {'x', 'y', 'z'}) {
      out.equation.lines.push_back(fmt::format("{}.{} - {}.{}", o_a, k, o_b, k));
      const auto part = [&](const std::string& of_a, const std::string& of_b) {
        return fmt::format("({}.{} - {}.{}) * ({}.{} - {}.{})", of_a, k, o_a, k, of_b, k, o_b, k);
      };
      turn += fmt::format("{}{} - {}", turn.empty() ? "" : " + ", part(x_a, y_b), part(y_a, x_b));
    }
    out.equation.lines.push_back(turn);
    return out;
  }
};

/// Springs and elements that are slack as placed stay slack where they were.
void move_particles(ParticleGroup& group, const World& world) {
  if (group.rest_positions.empty() && (!group.tetrahedra.empty() || !group.triangles.empty()))
    group.rest_positions = group.positions;
  for (SpringSet& set : group.springs)
    if (set.rest_lengths.empty())
      for (const auto& [i, j] : set.pairs) set.rest_lengths.push_back((group.positions[i] - group.positions[j]).norm());
  for (std::size_t k = 0; k < group.positions.size(); ++k)
    group.positions[k] = world.particle_position(world.particle(fmt::format("{}/{}", group.name, k)));
}

/// Forces name points of bodies in the scene's pose, too; what they are at rest in that pose is said outright.
void move_force(ForceDef& force, int number, const Moves& moves, const Model& model) {
  if (auto* spring = std::get_if<Spring>(&force)) {
    if (spring->from) spring->from = moved(moves.of(spring->between[0]), *spring->from);
    if (spring->to) spring->to = moved(moves.of(spring->between[1]), *spring->to);
    for (const SpringForce& compiled : model.forces.springs)
      if (compiled.source == number) spring->rest_length = compiled.rest_length;
    for (int k = 0; k < model.forces.particle_springs.count(); ++k)
      if (model.forces.particle_springs.source[k] == number) spring->rest_length = model.forces.particle_springs.rest_length[k];
  } else if (auto* angle = std::get_if<AngleSpring>(&force)) {
    for (const AngleSpringForce& compiled : model.forces.angles)
      if (compiled.source == number) angle->rest_angle = compiled.rest_angle;
  } else if (std::holds_alternative<TorsionSpring>(force)) {
    throw Error("a torsion spring is slack in the pose described, and cannot be described in another; use the spring of a hinge");
  } else if (auto* load = std::get_if<Load>(&force)) {
    if (load->at) load->at = moved(moves.of(load->on), *load->at);
  } else if (auto* added = std::get_if<AddedMass>(&force)) {
    if (added->at) added->at = moved(moves.of(added->on), *added->at);
  } else if (auto* coupled = std::get_if<CoupledAddedMass>(&force)) {
    for (std::size_t k = 0; k < coupled->at.size(); ++k) coupled->at[k] = moved(moves.of(coupled->on[k]), coupled->at[k]);
  }
}

}  // namespace

Scene posed(const Scene& scene, const World& world) {
  const WorldImplementation& w = implementation_of(world);
  const Model& model = w.model;
  Scene out = scene;
  name_unnamed(out);
  const Scene before = out;
  if (before.bodies.size() != model.bodies.size() || before.joints.size() != model.joints.size())
    throw Error("posed", "bodies or joints of the world are not those of the scene");
  const Moves moves{before, world};
  for (std::size_t j = 0; j < out.joints.size(); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.name != name_of(out.joints[j])) throw Error("posed", "joints of the world are not those of the scene");
    try {
      const JointCoordinates q = joint_position(model, joint, w.state);
      out.joints[j] = std::visit(Redescribe(moves, joint, q), before.joints[j]);
    } catch (const Error& error) {
      throw Error(fmt::format("joint {}", in_quotes(joint.name)), error.what());
    }
  }
  for (BodyDef& body : out.bodies) {
    const BodyId id = world.body(body.name);
    body.position = world.position(id);
    body.orientation = world.orientation(id);
    if (body.immovable()) continue;
    body.velocity = world.velocity(id);
    body.angular_velocity = world.angular_velocity(id);
  }
  for (ParticleGroup& group : out.particles) move_particles(group, world);
  for (std::size_t i = 0; i < out.forces.size(); ++i) {
    try {
      move_force(out.forces[i], static_cast<int>(i), moves, model);
    } catch (const Error& error) {
      throw Error(fmt::format("/forces/{}", i), error.what());
    }
  }
  return out;
}

}  // namespace rotule
