#include "mechanism/island.h"

#include <algorithm>
#include <numeric>

#include "solve/solve.h"

namespace rotule {

void Island::evaluate(const Model& model, const Kinematics& kinematics, double t) {
  constraints.evaluate(kinematics, t, problem, values);
  for (std::size_t i = 0; i < bodies.size(); ++i) kinematics.write_inverse_mass(model, bodies[i], problem.inverse_mass[i]);
}

void Island::gather(const VecX& global, VecX& into) const {
  for (std::size_t i = 0; i < bodies.size(); ++i) into.segment<6>(6 * i) = slots[i].read(global);
}

void Island::scatter(VecX& global) const {
  for (std::size_t i = 0; i < bodies.size(); ++i) slots[i].write(local.segment<6>(6 * i), global);
}

void Island::solve(const SolverSettings& solver, bool warm) {
  if (warm)
    problem.x0 = x;
  else
    problem.x0.setZero();
  rotule::solve(problem, solver, workspace, {x.data(), static_cast<std::size_t>(x.size())}, report);
}

void Island::keep() {
  kept_problem = problem;
  kept_x = x;
}

void Island::judge() {
  residual = rotule::residual(problem, {x.data(), static_cast<std::size_t>(x.size())}, residual_scratch).relative;
}

void Island::apply_impulses() {
  rotule::apply_impulses(problem, {x.data(), static_cast<std::size_t>(x.size())},
                         {local.data(), static_cast<std::size_t>(local.size())});
}

namespace {

/// Whether the joints are more than a tree needs: a tree has one joint fewer than bodies, the world counting as a body.
bool closes_loops(const Model& model, const std::vector<int>& joints, const std::vector<int>& bodies) {
  // A joint of k partners counts as k - 1 joints of two, all that cannot move being one.
  bool grounded = false;
  std::size_t ties = 0;
  for (const int j : joints) {
    bool on_ground = false;
    std::size_t moving = 0;
    for_each_partner(model.joints[j], [&](int partner) {
      moving += model.movable(partner);
      on_ground = on_ground || !model.movable(partner);
    });
    ties += moving + on_ground - 1;
    grounded = grounded || on_ground;
  }
  return ties > bodies.size() - (grounded ? 0 : 1);
}

double longest_reach(const Model& model, const std::vector<int>& joints) {
  double longest = 0;
  for (const int j : joints) {
    const Joint& joint = model.joints[j];
    if (joint.a != world_body) longest = std::max(longest, joint.X_A.position.norm());
    if (joint.b != world_body) longest = std::max(longest, joint.X_B.position.norm());
    longest = std::max(longest, joint.length);
  }
  return longest > 0 ? longest : infinity;
}

}  // namespace

std::vector<Island> split_into_islands(const Model& model) {
  // Union-find over movable partners.
  std::vector<int> parent(model.partner_count());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  for (const Joint& joint : model.joints) {
    const int first = model.movable(joint.a) ? joint.a : joint.b;
    for_each_partner(joint, [&](int partner) {
      if (!model.movable(partner)) return;
      const int a = root(first), b = root(partner);
      parent[std::max(a, b)] = std::min(a, b);
    });
  }

  std::vector<std::vector<int>> joints_of(model.partner_count()), bodies_of(model.partner_count());
  for (int j = 0; j < static_cast<int>(model.joints.size()); ++j) {
    const Joint& joint = model.joints[j];
    joints_of[root(model.movable(joint.a) ? joint.a : joint.b)].push_back(j);
  }
  for (int i = 0; i < model.partner_count(); ++i)
    if (model.movable(i)) bodies_of[root(i)].push_back(i);

  std::vector<Island> islands;
  std::vector<int> local(model.partner_count(), -1);
  for (int i = 0; i < model.partner_count(); ++i) {
    if (joints_of[i].empty()) continue;
    Island& island = islands.emplace_back();
    island.bodies = std::move(bodies_of[i]);
    for (const int body : island.bodies) island.slots.push_back(model.slot(body));
    for (std::size_t k = 0; k < island.bodies.size(); ++k) local[island.bodies[k]] = static_cast<int>(k);
    island.has_loops = closes_loops(model, joints_of[i], island.bodies);
    island.reach = longest_reach(model, joints_of[i]);
    island.constraints = ConstraintSet(model, joints_of[i], local);
    const int rows = island.constraints.rows();
    island.problem.blocks = island.constraints.blocks();
    island.problem.more = island.constraints.more();
    island.problem.J_more.setZero(island.constraints.more_rows(), 6);
    island.problem.resize(static_cast<int>(island.bodies.size()), rows);
    for (Mat6& W : island.problem.inverse_mass) W.setZero();
    island.values.resize(rows);
    for (VecX* v : {&island.pull, &island.x, &island.lambda}) v->setZero(rows);
    for (VecX* v : {&island.u, &island.local}) v->setZero(6 * static_cast<Eigen::Index>(island.bodies.size()));
  }
  return islands;
}

}  // namespace rotule
