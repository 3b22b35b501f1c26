// A scene described anew in another pose. Joints are described in world coordinates and closed in the scene's own pose: points
// and axes move with their bodies. Hinges and sliders say where their coordinates begin; those of other joints are zero in the
// pose described, and limits, springs and given motions move by what they have come to.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/inverse.h>

#include <cmath>
#include <numbers>

#include "base/text.h"
#include "constraint/joint_coordinates.h"
#include "math/pose.h"
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
};

Vec3 moved(const Pose& X, const Vec3& point) { return X.position + X.orientation * point; }

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

void shift(std::vector<AxisDrive>& drives, const JointCoordinates& q) {
  for (AxisDrive& each : drives) shift(each.drive, q[axis_number(each.axis)], axis_number(each.axis) >= 3);
}

/// A joint whose frame is the world's axes, or turned from them the shortest way, keeps it by saying so.
LockedAxes with_frame(const std::string& name, const Between& between, const Vec3& at, const Quat& frame,
                      const std::array<bool, 6>& locked, const std::vector<AxisDrive>& drives) {
  return {.name = name, .between = between, .at = at, .frame = frame.normalized(), .locked = locked, .drives = drives};
}

struct Redescribe {
  const Moves& moves;
  const Joint& joint;         // as compiled
  const JointCoordinates& q;  // where it stands

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
    return with_frame(d.name, d.between, d.at, frame(d.between), joint.locked, d.drives);
  }
  JointDef operator()(Hinge d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(first(d.between), d.at);
    d.start = q[5];
    return d;
  }
  JointDef operator()(Slider d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(second(d.between), d.at);
    d.start = q[2];
    return d;
  }
  JointDef operator()(Cylindrical d) const {
    d.axis = first(d.between).orientation * d.axis;
    d.at = moved(second(d.between), d.at);
    shift(d.drives, q);
    return d;
  }
  JointDef operator()(Universal d) const {
    d.at = moved(second(d.between), d.at);
    d.axis_a = first(d.between).orientation * d.axis_a;
    d.axis_b = second(d.between).orientation * d.axis_b;
    shift(d.drives, q);
    return d;
  }
  JointDef operator()(Planar d) const {
    d.at = moved(second(d.between), d.at);
    d.normal = first(d.between).orientation * d.normal;
    if (d.drives.empty()) return d;
    shift(d.drives, q);
    return with_frame(d.name, d.between, d.at, frame(d.between), joint.locked, d.drives);
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
    shift(d.drives, q);
    return with_frame(d.name, d.between, d.at, frame(d.between), joint.locked, d.drives);
  }
  JointDef operator()(LockedAxes d) const {
    if (d.locked[3] + d.locked[4] + d.locked[5] == 1)
      throw Error("two of its rotations are free, and their axes part; describe it as a universal joint");
    d.at = moved(second(d.between), d.at);
    d.frame = frame(d.between);
    shift(d.drives, q);
    return d;
  }
  JointDef operator()(Gear d) const {
    d.axis_a = moves.of(d.carrier).orientation * d.axis_a;
    d.axis_b = moves.of(d.carrier).orientation * d.axis_b;
    return d;
  }
  JointDef operator()(Constraint d) const { return d; }
  template <class Other>
  JointDef operator()(const Other& d) const {
    throw Error(fmt::format("a joint of kind {} cannot be described in another pose", kind_of(JointDef(d))));
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
      out.joints[j] = std::visit(Redescribe{moves, joint, joint_position(model, joint, w.state)}, before.joints[j]);
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
