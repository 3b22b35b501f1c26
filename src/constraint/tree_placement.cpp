#include "constraint/tree_placement.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <numeric>

#include "constraint/pool/pools.h"
#include "math/pose.h"
#include "model/names.h"

namespace rotule {

namespace {

Pose pose_of(const Model& model, const State& state, int partner) {
  if (partner == world_body) return {};
  if (model.is_particle(partner)) return {state.particle_position(model.particle_of(partner)), Quat::Identity()};
  return {state.p[partner], state.theta[partner]};
}

}  // namespace

std::vector<Placement> placement_order(const Model& model) {
  if (const auto j = loop_closing_joint(model))
    throw Error("correction tree_placement",
                "joint \"" + model.joints[*j].name + "\" closes a loop, which placing cannot; use correction projection");
  std::vector<std::vector<int>> joints_of(model.partner_count());
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[j];
    with_pool_of(joint, [&]<class P>(std::type_identity<P>) {
      if (!P::places)
        throw Error("correction tree_placement",
                    fmt::format("cannot place {} \"{}\", which {}; use correction projection", kind_of(*joint.definition),
                                joint.name, joint.function || joint.equations ? "is a function" : "has no pose to place"));
    });
    for_each_partner(joint, [&](int body) {
      if (model.movable(body)) joints_of[body].push_back(j);
    });
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
    Pose body = pose_of(model, state, child);
    with_pool_of(joint, [&]<class P>(std::type_identity<P>) {
      if constexpr (P::places) P::place(joint, F_A, F_B, step.child_is_b, body);
    });
    if (model.is_particle(child)) {
      state.x.segment<3>(3 * model.particle_of(child)) = body.position;
      continue;
    }
    state.p[child] = body.position;
    state.theta[child] = body.orientation;
  }
}

}  // namespace rotule
