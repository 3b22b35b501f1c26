#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/reduced.h>

#include <algorithm>

#include "base/text.h"
#include "dynamics/tree/derivatives.h"
#include "math/rotation.h"
#include "model/joint_kinds.h"
#include "world/world_implementation.h"

namespace rotule {

struct ReducedModel::Inside {
  Model model;
  Tree tree;
  std::vector<ReducedAxis> axes;
  std::vector<std::string> outside;

  LinkPoses poses;
  LinkMotions motions;
  CompositeBodies composite;
  ArticulatedBodies articulated;
  MatX J;
  VecX answer, column;

  NewtonEulerDerivatives newton_derivatives;
  ReducedDerivatives derivatives;
  ReducedLinearisation linearisation;

  explicit Inside(const World& world) {
    static_cast<void>(world.islands());  // makes the stepper, and with it the inertia of point masses
    const WorldImplementation& w = implementation_of(world);
    model = w.model;
    if (const std::string why = misfit_of_tree(model); !why.empty()) throw Error("reduced coordinates", why);
    tree = Tree(model, w.state);
    require_rotors_inside(model, tree);
    for (const TreeAxis& axis : tree.axes)
      axes.push_back({axis.joint < 0 ? std::string() : model.joints[axis.joint].name, model.bodies[axis.body].name,
                      std::string(axis_names[axis.axis]), axis.position, axis.velocity});
    for (const int j : tree.outside) outside.push_back(model.joints[j].name);
    answer.setZero(tree.velocities);
    column.setZero(tree.velocities);
  }

  void check(const VecX& q) const { check_size("q", q.size(), tree.positions); }
  void check(const VecX& q, const VecX& u) const {
    check(q);
    check_size("u", u.size(), tree.velocities);
  }
  static void check_size(const char* what, Eigen::Index is, int wanted) {
    if (is != wanted) throw Error("reduced coordinates", fmt::format("{} must have {} numbers, has {}", what, wanted, is));
  }
  /// The link of a body that moves, and its number.
  [[nodiscard]] std::pair<int, int> find(std::string_view name) const {
    const auto found =
        std::find_if(model.bodies.begin(), model.bodies.end(), [&](const Body& body) { return body.name == name; });
    if (found == model.bodies.end()) {
      std::vector<std::string> names;
      for (const Body& body : model.bodies) names.push_back(body.name);
      throw Error("reduced coordinates", fmt::format("there is no body {}; {}", in_quotes(name), suggestion(name, names)));
    }
    const auto body = static_cast<int>(found - model.bodies.begin());
    if (tree.link_of[body] < 0) throw Error("reduced coordinates", fmt::format("body {} does not move", in_quotes(name)));
    return {tree.link_of[body], body};
  }
  const VecX& newton(const VecX& q, const double* u, const double* a, const Vec3& gravity) {
    place_links(tree, q.data(), poses);
    newton_euler(tree, poses, gravity, u, a, nullptr, motions, answer.data());
    return answer;
  }
  /// Links stand where they were placed.
  void differentiate(const VecX& u, const VecX& a) {
    newton_derivatives.differentiate(tree, poses, model.gravity, u.data(), a.data(), derivatives.by_position,
                                     derivatives.by_velocity);
  }
};

ReducedModel::ReducedModel(const World& world) : inside_(std::make_unique<Inside>(world)) {}
ReducedModel::ReducedModel(ReducedModel&&) noexcept = default;
ReducedModel& ReducedModel::operator=(ReducedModel&&) noexcept = default;
ReducedModel::~ReducedModel() = default;

int ReducedModel::positions() const { return inside_->tree.positions; }
int ReducedModel::velocities() const { return inside_->tree.velocities; }
const std::vector<ReducedAxis>& ReducedModel::axes() const { return inside_->axes; }
const std::vector<std::string>& ReducedModel::outside() const { return inside_->outside; }

namespace {

const State& state_of(const World& world, const Model& model) {
  const State& s = implementation_of(world).state;
  if (s.bodies() != model.body_count())
    throw Error("reduced coordinates", fmt::format("are of {} bodies, and the world has {}", model.body_count(), s.bodies()));
  return s;
}

}  // namespace

VecX ReducedModel::position(const World& world) const {
  VecX q(positions()), u(velocities());
  read_coordinates(inside_->model, inside_->tree, state_of(world, inside_->model), q, u);
  return q;
}

VecX ReducedModel::velocity(const World& world) const {
  VecX q(positions()), u(velocities());
  read_coordinates(inside_->model, inside_->tree, state_of(world, inside_->model), q, u);
  return u;
}

void ReducedModel::place(const VecX& q, const VecX& u, World& world) const {
  Inside& in = *inside_;
  in.check(q, u);
  static_cast<void>(state_of(world, in.model));
  place_links(in.tree, q.data(), in.poses);
  move_links(in.tree, in.poses, u.data(), in.motions);
  WorldImplementation& w = implementation_of(world);
  write_bodies(in.tree, in.poses, &in.motions, w.state);
  w.ready().forget();
  w.ready().begin(w.state, w.time);
  ++w.revision;
}

VecX ReducedModel::displaced(const VecX& q, const VecX& motion) const {
  inside_->check(q, motion);
  VecX out;
  displace(inside_->tree, q, motion, out);
  return out;
}

VecX ReducedModel::difference(const VecX& q, const VecX& from) const {
  inside_->check(q);
  inside_->check(from);
  VecX out(velocities());
  rotule::difference(inside_->tree, q, from, out);
  return out;
}

Pose ReducedModel::pose(const VecX& q, std::string_view body) {
  Inside& in = *inside_;
  in.check(q);
  const auto [link, number] = in.find(body);
  place_links(in.tree, q.data(), in.poses);
  const LinkPose& at = in.poses[link];
  const Mat3 R = mat3(at.R) * in.tree.links[link].body_axes;
  return {vec3(at.o + at.c) - R * in.model.bodies[number].center_of_mass, Quat(R).normalized()};
}

const MatX& ReducedModel::jacobian(const VecX& q, std::string_view body, const Vec3& at) {
  Inside& in = *inside_;
  in.check(q);
  const auto [link, number] = in.find(body);
  place_links(in.tree, q.data(), in.poses);
  const LinkPose& pose = in.poses[link];
  const Vec3 arm = mat3(pose.R) * (in.tree.links[link].body_axes * (at - in.model.bodies[number].center_of_mass));
  point_jacobian(in.tree, in.poses, link, vec3(pose.o + pose.c) + arm, in.J);
  return in.J;
}

const MatX& ReducedModel::mass_matrix(const VecX& q) {
  Inside& in = *inside_;
  in.check(q);
  place_links(in.tree, q.data(), in.poses);
  return in.composite.mass_matrix(in.tree, in.poses);
}

const VecX& ReducedModel::bias(const VecX& q, const VecX& u) {
  inside_->check(q, u);
  return inside_->newton(q, u.data(), nullptr, inside_->model.gravity);
}

const VecX& ReducedModel::gravity_compensation(const VecX& q) {
  inside_->check(q);
  return inside_->newton(q, nullptr, nullptr, inside_->model.gravity);
}

const VecX& ReducedModel::inverse_dynamics(const VecX& q, const VecX& u, const VecX& acceleration) {
  inside_->check(q, u);
  inside_->check(q, acceleration);
  return inside_->newton(q, u.data(), acceleration.data(), inside_->model.gravity);
}

const VecX& ReducedModel::forward_dynamics(const VecX& q, const VecX& u, const VecX& tau) {
  Inside& in = *inside_;
  in.check(q, u);
  in.check(q, tau);
  place_links(in.tree, q.data(), in.poses);
  in.articulated.factor(in.tree, in.poses);
  in.articulated.accelerations(in.tree, in.poses, in.model.gravity, u.data(), tau.data(), nullptr, in.answer.data());
  return in.answer;
}

const ReducedDerivatives& ReducedModel::inverse_dynamics_derivatives(const VecX& q, const VecX& u, const VecX& acceleration) {
  inside_->check(q, u);
  inside_->check(q, acceleration);
  place_links(inside_->tree, q.data(), inside_->poses);
  inside_->differentiate(u, acceleration);
  return inside_->derivatives;
}

const ReducedDerivatives& ReducedModel::forward_dynamics_derivatives(const VecX& q, const VecX& u, const VecX& tau) {
  Inside& in = *inside_;
  const VecX acceleration = forward_dynamics(q, u, tau);
  in.differentiate(u, acceleration);
  // Links stand as they were factored.
  for (MatX* part : {&in.derivatives.by_position, &in.derivatives.by_velocity})
    for (Eigen::Index k = 0; k < part->cols(); ++k) {
      in.column = -part->col(k);
      in.articulated.solve(in.tree, in.poses, in.column.data(), part->col(k).data());
    }
  return in.derivatives;
}

const ReducedLinearisation& ReducedModel::linearise(const VecX& q, const VecX& u, const VecX& tau) {
  Inside& in = *inside_;
  const ReducedDerivatives& of = forward_dynamics_derivatives(q, u, tau);
  const Eigen::Index n = in.tree.velocities;
  MatX &A = in.linearisation.A, &B = in.linearisation.B;
  A.setZero(2 * n, 2 * n);
  B.setZero(2 * n, n);
  A.topRightCorner(n, n).setIdentity();
  // Small motions of a ball are carried round by its rate: d/dt dq = du + omega x dq.
  for (const TreeLink& link : in.tree.links)
    if (link.kind == TreeLink::Kind::ball) A.block<3, 3>(link.velocity, link.velocity) = skew(u.segment<3>(link.velocity));
  A.bottomLeftCorner(n, n) = of.by_position;
  A.bottomRightCorner(n, n) = of.by_velocity;
  for (Eigen::Index k = 0; k < n; ++k) {
    in.column = VecX::Unit(n, k);
    in.articulated.solve(in.tree, in.poses, in.column.data(), B.col(k).data() + n);
  }
  return in.linearisation;
}

}  // namespace rotule
