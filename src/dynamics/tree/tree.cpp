#include "dynamics/tree/tree.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/union_find.h"
#include "math/pose.h"
#include "math/rotation.h"

namespace rotule {

namespace {

/// Whether it ties two bodies by a frame with some axes locked.
bool is_tree_joint(const Model& model, const Joint& joint) {
  const auto is_body = [&](int partner) { return partner == world_body || !model.is_particle(partner); };
  return joint.more.empty() && !joint.function && !joint.equations && is_body(joint.a) && is_body(joint.b) &&
         std::any_of(joint.locked.begin(), joint.locked.end(), [](bool locked) { return locked; });
}

/// A rotation that takes z to the axis, or to its opposite.
Mat3 axis_as_z(int axis, bool opposite) {
  Mat3 out;
  out.col(2) = (opposite ? -1.0 : 1.0) * Vec3::Unit(axis);
  out.col(0) = Vec3::Unit((axis + 1) % 3);
  out.col(1) = out.col(2).cross(out.col(0));
  return out;
}

/// One elementary joint of a chain.
struct Element {
  TreeLink::Kind kind;
  int axis = 0;  // of the joint's, 0 to 5; 3 for a ball
};

/// Translations along the axes of the first frame, then rotations: one; Cardan's two, of which that about the axis after the
/// locked one comes first; or three at once.
std::vector<Element> elements_of(const Joint& joint) {
  using Kind = TreeLink::Kind;
  std::vector<Element> out;
  for (int k = 0; k < 3; ++k)
    if (!joint.locked[k]) out.push_back({Kind::slider, k});
  const int free = !joint.locked[3] + !joint.locked[4] + !joint.locked[5];
  if (free == 3) {
    out.push_back({Kind::ball, 3});
  } else {
    const int locked = joint.locked[3] ? 0 : joint.locked[4] ? 1 : 2;
    for (int k = 1; k <= 3; ++k)
      if (const int axis = 3 + (locked + k) % 3; !joint.locked[axis]) out.push_back({Kind::hinge, axis});
  }
  return out;
}

/// Makes the links of one joint after the other.
struct TreeBuilder {
  const Model& model;
  const State& state;
  Tree& tree;

  /// The body's frame at its centre of mass, in its link's axes; where it never moves, in the world.
  [[nodiscard]] Pose in_link(int partner) const {
    if (partner == world_body) return {};
    const int link = tree.link_of[partner];
    if (link < 0) return {state.p[partner], state.theta[partner]};
    return {tree.links[link].c, Quat(tree.links[link].body_axes)};
  }

  void finish(int body, const Mat3& frame_to_child, const Vec3& frame_position) {
    // frame_to_child: the joint's frame on the child's side, in body axes.
    TreeLink& link = tree.links.back();
    link.body = body;
    link.mass = model.bodies[body].mass;
    link.body_axes = frame_to_child.transpose();
    link.c = -(link.body_axes * frame_position);
    link.I = link.body_axes * model.inertia[body] * frame_to_child;
    tree.link_of[body] = static_cast<int>(tree.links.size()) - 1;
  }

  void add(const std::vector<Element>& elements, TreeJoint joint, int parent_link, const Pose& X_P, const Pose& X_C) {
    // Every element's frame has its axis as z, turned round where the child carries the joint's first frame; `turned` is what
    // the last one's frame has been turned by against the joint's.
    Mat3 turned = Mat3::Identity();
    Mat3 E = X_P.orientation.toRotationMatrix();
    Vec3 r = X_P.position;
    int parent = parent_link;
    const auto count = static_cast<int>(elements.size());
    for (int n = 0; n < count; ++n) {
      const Element& element = elements[joint.child_is_b ? n : count - 1 - n];
      TreeLink link;
      link.kind = element.kind;
      link.parent = parent;
      link.reversed = !joint.child_is_b;
      link.travels = link.kind == TreeLink::Kind::slider && (parent < 0 || tree.links[parent].travels);
      const bool ball = element.kind == TreeLink::Kind::ball;
      const Mat3 as_z = ball ? Mat3(Mat3::Identity()) : axis_as_z(element.axis % 3, !joint.child_is_b);
      link.E = n == 0 ? Mat3(E * as_z) : Mat3(turned.transpose() * as_z);
      link.r = n == 0 ? r : Vec3(Vec3::Zero());
      link.position = joint.position[element.axis];
      link.velocity = joint.velocity[element.axis];
      turned = as_z;
      tree.links.push_back(link);
      parent = static_cast<int>(tree.links.size()) - 1;
    }
    if (count == 0) {
      TreeLink link;
      link.kind = TreeLink::Kind::weld;
      link.parent = parent;
      link.E = E;
      link.r = r;
      tree.links.push_back(link);
    }
    finish(joint.body, X_C.orientation.toRotationMatrix() * turned, X_C.position);
    joint.link = tree.link_of[joint.body];
    tree.joints.push_back(joint);
  }

  /// Numbers of its coordinates, axes rising; a ball's quaternion stands at the first of its three.
  void number(const std::vector<Element>& elements, TreeJoint& joint) {
    std::array<bool, 6> free{};
    bool ball = false;
    for (const Element& element : elements) {
      free[element.axis] = true;
      if (element.kind == TreeLink::Kind::ball) free[4] = free[5] = ball = true;
    }
    for (int axis = 0; axis < 6; ++axis) {
      if (!free[axis]) continue;
      const bool of_ball = ball && axis >= 3;
      joint.velocity[axis] = tree.velocities++;
      joint.position[axis] = of_ball && axis > 3 ? joint.position[3] : tree.positions;
      if (!of_ball || axis == 3) tree.positions += of_ball ? 4 : 1;
      tree.axes.push_back({joint.joint, joint.body, axis, joint.velocity[axis], joint.position[axis], of_ball});
    }
  }

  void float_freely(int body) {
    const std::vector<Element> elements{
        {TreeLink::Kind::slider, 0}, {TreeLink::Kind::slider, 1}, {TreeLink::Kind::slider, 2}, {TreeLink::Kind::ball, 3}};
    TreeJoint joint{.joint = -1, .body = body};
    number(elements, joint);
    add(elements, joint, -1, {}, {});
  }

  void hang(int j, bool child_is_b) {
    const Joint& joint = model.joints[j];
    const std::vector<Element> elements = elements_of(joint);
    TreeJoint out{.joint = j, .body = child_is_b ? joint.b : joint.a, .child_is_b = child_is_b};
    const int parent = child_is_b ? joint.a : joint.b;
    if (parent != world_body && !model.movable(parent)) tree.grounds.push_back({parent, state.p[parent], state.theta[parent]});
    number(elements, out);
    add(elements, out, model.movable(parent) ? tree.link_of[parent] : -1, in_link(parent) * (child_is_b ? joint.X_A : joint.X_B),
        child_is_b ? joint.X_B : joint.X_A);
    for (const Joint::AxisDrive& axis : joint.drives)
      for (TreeLink& link : tree.links)
        if (axis.drive.armature > 0 && link.rates() == 1 && link.velocity == out.velocity[axis.axis])
          link.rotor = axis.drive.armature;
  }
};

}  // namespace

namespace {

std::vector<int> first_numbers(std::size_t count) {
  std::vector<int> out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

}  // namespace

Tree::Tree(const Model& model, const State& state)
    : Tree(model, state, first_numbers(model.bodies.size()), first_numbers(model.joints.size())) {}

Tree::Tree(const Model& model, const State& state, std::span<const int> bodies, std::span<const int> joint_numbers)
    : link_of(model.body_count(), -1) {
  // Joints with many rows leave few coordinates: they come first, and loops are cut where little holds.
  std::vector<int> order(joint_numbers.begin(), joint_numbers.end());
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return model.joints[i].rows() > model.joints[j].rows(); });
  const auto ground = static_cast<int>(bodies.size());
  std::vector<int> place(static_cast<std::size_t>(model.partner_count()), ground);
  for (int k = 0; k < ground; ++k)
    if (model.movable(bodies[k])) place[bodies[k]] = k;
  const auto node = [&](int partner) { return partner == world_body ? ground : place[partner]; };
  UnionFind parts(ground + 1);
  std::vector<char> inside(model.joints.size(), 0);
  for (const int j : order) {
    const Joint& joint = model.joints[j];
    if (!is_tree_joint(model, joint)) continue;
    if (!parts.join(node(joint.a), node(joint.b))) continue;
    inside[j] = 1;
  }
  std::vector<std::vector<int>> joints_of(ground + 1);
  for (const int j : joint_numbers) {
    const Joint& joint = model.joints[j];
    bool any = false;
    for_each_partner(joint, [&](int partner) { any = any || model.movable(partner); });
    if (!inside[j] && any) outside.push_back(j);
    if (!inside[j]) continue;
    for (const int partner : {joint.a, joint.b}) joints_of[node(partner)].push_back(j);
  }

  // From the ground, then from the heaviest body of each part that floats; branch by branch, so that a chain's links are
  // neighbours.
  TreeBuilder builder{model, state, *this};
  std::vector<char> used(model.joints.size(), 0);
  std::vector<int> stack;
  const auto spread = [&](int from) {
    stack.assign(joints_of[from].rbegin(), joints_of[from].rend());
    while (!stack.empty()) {
      const int j = stack.back();
      stack.pop_back();
      if (used[j]) continue;
      used[j] = 1;
      const Joint& joint = model.joints[j];
      const bool b_stands = !model.movable(joint.b) || link_of[joint.b] >= 0;
      builder.hang(j, !b_stands);
      const std::vector<int>& next = joints_of[node(b_stands ? joint.a : joint.b)];
      stack.insert(stack.end(), next.rbegin(), next.rend());
    }
  };
  spread(ground);
  std::vector<int> by_mass;
  for (const int body : bodies)
    if (model.movable(body) && !model.is_particle(body)) by_mass.push_back(body);
  std::stable_sort(by_mass.begin(), by_mass.end(), [&](int i, int j) { return model.bodies[i].mass > model.bodies[j].mass; });
  for (const int root : by_mass) {
    if (link_of[root] >= 0) continue;
    builder.float_freely(root);
    spread(place[root]);
  }
}

bool Tree::stands(const State& s) const {
  return std::ranges::all_of(
      grounds, [&](const Ground& at) { return at.p == s.p[at.body] && at.theta.coeffs() == s.theta[at.body].coeffs(); });
}

void require_rotors_inside(const Model& model, const Tree& tree) {
  for (const int j : tree.outside)
    for (const Joint::AxisDrive& axis : model.joints[j].drives)
      if (axis.drive.armature > 0)
        throw Error(
            "joint \"" + model.joints[j].name + "\"",
            "closes a loop and has armature, which trees know of their own joints alone; put it to another joint of the loop, or "
            "take methods of accelerations with --set coordinates=maximal");
}

std::string misfit_of_tree(const Model& model) {
  for (const Joint& joint : model.joints) {
    int kinematic = world_body;
    for_each_partner(joint, [&](int partner) {
      if (partner != world_body && model.kinematic(partner)) kinematic = partner;
    });
    if (kinematic != world_body)
      return "joint \"" + joint.name + "\" stands on \"" + model.name(kinematic) +
             "\", which is kinematic, and trees stand on what never moves";
  }
  if (model.has_added_mass()) return "body \"" + model.added_mass_name() + "\" has added mass, which trees do not know";
  for (const SectionForce& section : model.forces.sections)
    if (section.wake != no_wake) return "section \"" + section.name + "\" remembers its wake, which trees do not know";
  return {};
}

void read_coordinates(const Model& model, const Tree& tree, const State& s, VecX& q, VecX& u) {
  read_coordinates(model, tree, s, s.u, q, u);
}

void read_coordinates(const Model& model, const Tree& tree, const State& s, const VecX& velocities, VecX& q, VecX& u) {
  for (const TreeJoint& at : tree.joints) {
    if (at.joint < 0) {
      q.segment<3>(at.position[0]) = s.p[at.body];
      q.segment<4>(at.position[3]) = s.theta[at.body].coeffs();
      u.segment<3>(at.velocity[0]) = velocities.segment<3>(6 * at.body);
      u.segment<3>(at.velocity[3]) = velocities.segment<3>(6 * at.body + 3);
      continue;
    }
    const Joint& joint = model.joints[at.joint];
    struct Side {
      Pose frame;
      Vec3 p = Vec3::Zero(), v = Vec3::Zero(), omega = Vec3::Zero();
    };
    const auto side = [&](int partner, const Pose& X) {
      if (partner == world_body) return Side{X};
      Side out{Pose{s.p[partner], s.theta[partner]} * X, s.p[partner]};
      if (model.movable(partner)) {
        out.v = velocities.segment<3>(6 * partner);
        out.omega = velocities.segment<3>(6 * partner + 3);
      }
      return out;
    };
    const Side a = side(joint.a, joint.X_A), b = side(joint.b, joint.X_B);
    const Mat3 A = a.frame.orientation.toRotationMatrix(), B = b.frame.orientation.toRotationMatrix();
    const Mat3 R = A.transpose() * B;
    const Vec3 apart = b.frame.position - a.frame.position;
    const Vec3 passing = b.v + b.omega.cross(b.frame.position - b.p) - a.v - a.omega.cross(b.frame.position - a.p);
    const Vec3 turning = b.omega - a.omega;
    const bool ball = at.velocity[3] >= 0 && at.velocity[4] >= 0 && at.velocity[5] >= 0;
    for (int axis = 0; axis < 6; ++axis) {
      if (at.velocity[axis] < 0) continue;
      const int k = axis % 3, i = (k + 1) % 3, j = (k + 2) % 3;
      // Of Cardan's two angles the second is about an axis of b.
      const bool second = axis >= 3 && joint.locked[3 + i] && !joint.locked[3 + j];
      if (axis < 3) {
        q[at.position[axis]] = A.col(k).dot(apart);
        u[at.velocity[axis]] = A.col(k).dot(passing);
      } else if (ball) {
        if (k == 0) q.segment<4>(at.position[3]) = (a.frame.orientation.conjugate() * b.frame.orientation).normalized().coeffs();
        u[at.velocity[axis]] = A.col(k).dot(turning);
      } else {
        q[at.position[axis]] = std::atan2(R(j, i), second ? R(j, j) : R(i, i));
        u[at.velocity[axis]] = (second ? B : A).col(k).dot(turning);
      }
    }
  }
}

void displace(const Tree& tree, const VecX& q, const VecX& sigma, VecX& out) {
  out.resize(q.size());
  for (const TreeLink& link : tree.links) {
    if (link.kind == TreeLink::Kind::weld) continue;
    if (link.kind != TreeLink::Kind::ball) {
      out[link.position] = q[link.position] + sigma[link.velocity];
      continue;
    }
    const Quat before(Eigen::Map<const Eigen::Vector4d>(q.data() + link.position));
    out.segment<4>(link.position) = turn(before, sigma.segment<3>(link.velocity)).coeffs();
  }
}

void chart_rate(const Tree& tree, const VecX& sigma, const VecX& u, VecX& out) {
  out = u;
  for (const TreeLink& link : tree.links)
    if (link.kind == TreeLink::Kind::ball)
      out.segment<3>(link.velocity) = dexp_inverse(sigma.segment<3>(link.velocity), u.segment<3>(link.velocity));
}

void difference(const Tree& tree, const VecX& q, const VecX& base, VecX& sigma) {
  for (const TreeLink& link : tree.links) {
    if (link.kind == TreeLink::Kind::weld) continue;
    if (link.kind == TreeLink::Kind::ball) {
      const Quat now(Eigen::Map<const Eigen::Vector4d>(q.data() + link.position));
      const Quat then(Eigen::Map<const Eigen::Vector4d>(base.data() + link.position));
      sigma.segment<3>(link.velocity) = log_rotation(now * then.conjugate());
      continue;
    }
    const double by = q[link.position] - base[link.position];
    sigma[link.velocity] = link.kind == TreeLink::Kind::hinge ? std::remainder(by, 2 * std::numbers::pi) : by;
  }
}

}  // namespace rotule
