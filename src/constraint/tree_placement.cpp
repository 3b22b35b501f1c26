#include "constraint/tree_placement.h"

#include <rotule/error.h>

#include <algorithm>
#include <numeric>

#include "math/rotation.h"

namespace rotule {

namespace {

Pose operator*(const Pose& X, const Pose& Y) { return {X.position + X.orientation * Y.position, X.orientation * Y.orientation}; }
Pose inverse(const Pose& X) {
  const Quat q = X.orientation.conjugate();
  return {-(q * X.position), q};
}

Pose pose_of(const Model& model, const State& state, int partner) {
  if (partner == world_body) return {};
  if (model.is_particle(partner)) return {state.particle_position(model.particle_of(partner)), Quat::Identity()};
  return {state.p[partner], state.theta[partner]};
}

/// The nearest relative pose that the joint allows: X is frame B seen from frame A.
Pose allowed(const Joint& joint, Pose X) {
  for (int k = 0; k < 3; ++k)
    if (joint.locked[k]) X.position[k] = 0;
  const int rotations = joint.locked[3] + joint.locked[4] + joint.locked[5];
  for (int k = 0; k < 3; ++k) {
    const Vec3 axis = Vec3::Unit(k);
    if (rotations == 3) {
      X.orientation = Quat::Identity();
    } else if (rotations == 2 && !joint.locked[3 + k]) {
      X.orientation = rotation_between(X.orientation * axis, axis) * X.orientation;
    } else if (rotations == 1 && joint.locked[3 + k]) {
      // The next axis of A and the one after it of B stay perpendicular: turn the latter out of the former.
      const Vec3 of_a = Vec3::Unit((k + 1) % 3);
      const Vec3 of_b = X.orientation * Vec3::Unit((k + 2) % 3);
      const Vec3 perpendicular = of_b - of_b.dot(of_a) * of_a;
      X.orientation = rotation_between(of_b, perpendicular) * X.orientation;
    }
  }
  return X;
}

}  // namespace

std::vector<Placement> placement_order(const Model& model) {
  if (const auto j = loop_closing_joint(model))
    throw Error("correction tree_placement",
                "joint \"" + model.joints[*j].name + "\" closes a loop, which placing cannot; use correction projection");
  std::vector<std::vector<int>> joints_of(model.partner_count());
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[j];
    if (joint.kind == Joint::Kind::user)
      throw Error("correction tree_placement",
                  "cannot place constraint \"" + joint.name + "\", which is a function; use correction projection");
    for (const int body : {joint.a, joint.b})
      if (model.movable(body)) joints_of[body].push_back(j);
  }
  std::vector<char> placed(model.partner_count(), 0), used(model.joints.size(), 0);
  std::vector<Placement> order;
  std::vector<int> queue;

  const auto use = [&](int j, bool child_is_b) {
    const int child = child_is_b ? model.joints[j].b : model.joints[j].a;
    used[j] = 1;
    placed[child] = 1;
    order.push_back({j, child_is_b});
    queue.push_back(child);
  };
  const auto spread = [&] {
    for (std::size_t next = 0; next < queue.size(); ++next) {  // NOLINT(modernize-loop-convert): the queue grows meanwhile
      const int body = queue[next];
      for (const int j : joints_of[body])
        if (!used[j]) use(j, model.joints[j].a == body);
    }
    queue.clear();
  };

  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[j];
    const bool a_moves = model.movable(joint.a), b_moves = model.movable(joint.b);
    if (a_moves != b_moves) use(j, b_moves);
  }
  spread();
  std::vector<int> by_mass(model.partner_count());
  std::iota(by_mass.begin(), by_mass.end(), 0);
  std::stable_sort(by_mass.begin(), by_mass.end(), [&](int i, int j) { return model.mass(i) > model.mass(j); });
  for (const int root : by_mass) {
    if (placed[root] || !model.movable(root)) continue;
    placed[root] = 1;
    queue.push_back(root);
    spread();
  }
  return order;
}

void place(const Model& model, const std::vector<Placement>& order, State& state) {
  for (const Placement& step : order) {
    const Joint& joint = model.joints[step.joint];
    const int child = step.child_is_b ? joint.b : joint.a;
    const Pose F_A = pose_of(model, state, joint.a) * joint.X_A, F_B = pose_of(model, state, joint.b) * joint.X_B;
    const bool particle = model.is_particle(child);
    if (joint.kind == Joint::Kind::rod) {
      // Slide the child along the rod to the right distance.
      const Vec3 e = F_A.position - F_B.position;
      const Vec3 correction = e * ((joint.length - e.norm()) / e.norm());
      const Vec3 move = step.child_is_b ? Vec3(-correction) : correction;
      if (particle)
        state.x.segment<3>(3 * model.particle_of(child)) += move;
      else
        state.p[child] += move;
      continue;
    }
    const Pose X = allowed(joint, inverse(F_A) * F_B);
    const Pose body = step.child_is_b ? F_A * X * inverse(joint.X_B) : F_B * inverse(X) * inverse(joint.X_A);
    if (particle) {
      state.x.segment<3>(3 * model.particle_of(child)) = body.position;
      continue;
    }
    state.p[child] = body.position;
    state.theta[child] = body.orientation.normalized();
  }
}

}  // namespace rotule
