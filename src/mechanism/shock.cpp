#include "mechanism/shock.h"

#include <algorithm>

#include "constraint/joint_coordinates.h"
#include "dynamics/forces/added_mass.h"
#include "math/rotation.h"
#include "model/solver_list.h"
#include "problem/operators.h"
#include "solve/solve.h"

namespace rotule {

double kinetic_energy(const Model& model, const State& s) {
  double twice = 0;
  for (int i = 0; i < model.body_count(); ++i) {
    const Vec3 omega_B = s.theta[i].conjugate() * Vec3(s.omega(i));
    twice += model.bodies[i].mass * s.v(i).squaredNorm() + omega_B.dot(model.inertia[i] * omega_B);
    if (model.has_added_mass()) twice += twice_added_energy(model, s, i);
  }
  for (int k = 0; k < model.particle_count(); ++k) twice += model.particles.mass[k] * s.particle_velocity(k).squaredNorm();
  return 0.5 * twice + rotor_energy(model, s);
}

void ShockSolver::find(const Model& model, const State& s, std::vector<ShockPoint>& points, double slack) const {
  for_each_gap(model, s, [&](const Wall& wall, int body, const Vec3& n, const Vec3& at, double gap, double rate) {
    if (gap < slack && rate < 0)
      points.push_back({.body = body, .at = at, .direction = n, .sticking = wall.sticking, .restitution = wall.restitution});
  });
}

double ShockSolver::apply(JointedMechanism& mechanism, State& s, double t, std::vector<ShockPoint>& points, bool one_sided) {
  const Model& model = mechanism.model;
  const double before = kinetic_energy(model, s);
  mechanism.evaluate(s, t);

  std::vector<ShockPoint> here;
  const auto take = [&](auto&& belongs, const Island* island) {
    here.clear();
    std::copy_if(points.begin(), points.end(), std::back_inserter(here), belongs);
    if (!here.empty()) apply_together(model, mechanism.kinematics, island, s, here, one_sided);
  };
  std::vector<char> in_island(model.partner_count(), 0);
  for (const Island& island : mechanism.islands) {
    for (const int body : island.bodies) in_island[body] = 1;
    take([&](const ShockPoint& p) { return std::binary_search(island.bodies.begin(), island.bodies.end(), p.body); }, &island);
  }
  for (int i = 0; i < model.body_count(); ++i) {
    if (in_island[i]) continue;
    const int group = model.has_added_mass() ? model.added_mass.group_of[i] : -1;
    if (group < 0)
      take([i](const ShockPoint& p) { return p.body == i; }, nullptr);
    else if (model.added_mass.groups[group].front() == i)
      take([&](const ShockPoint& p) { return model.added_mass.group_of[p.body] == group; }, nullptr);
  }
  return before - kinetic_energy(model, s);
}

void ShockSolver::apply_together(const Model& model, const Kinematics& kinematics, const Island* island, State& s,
                                 std::vector<ShockPoint>& points, bool one_sided) {
  const int first = points.front().body, group = model.has_added_mass() ? model.added_mass.group_of[first] : -1;
  const std::vector<int> bodies =
      island ? island->bodies : (group < 0 ? std::vector<int>{first} : model.added_mass.groups[group]);
  const int joint_rows = island ? island->problem.rows() : 0;
  const auto local = [&](int body) {
    return static_cast<int>(std::lower_bound(bodies.begin(), bodies.end(), body) - bodies.begin());
  };

  velocities_.resize(6 * static_cast<Eigen::Index>(bodies.size()));
  for (std::size_t i = 0; i < bodies.size(); ++i) velocities_.segment<6>(6 * i) = model.slot(bodies[i]).read(s.u);
  const std::span<double> velocities(velocities_.data(), velocities_.size());

  for (;;) {
    // The island's joints, then one block per point against what never moves.
    int rows = joint_rows;
    problem_.blocks.clear();
    problem_.more.clear();
    if (island) {
      problem_.blocks = island->problem.blocks;
      problem_.more = island->problem.more;
      problem_.J_more = island->problem.J_more;
    }
    for (const ShockPoint& p : points) {
      const int count = p.sticking ? 3 : 1;
      problem_.blocks.push_back({rows, count, local(p.body), -1, -1});
      rows += count;
    }
    problem_.resize(static_cast<int>(bodies.size()), rows);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      problem_.inverse_mass[i].setZero();
      kinematics.write_inverse_mass(model, bodies[i], problem_.inverse_mass[i]);
    }
    problem_.coupled = model.has_added_mass();
    take_groups(model, kinematics, bodies, split_);
    split_.forget_blocks();
    if (island) {
      problem_.J_a.topRows(joint_rows) = island->problem.J_a;
      problem_.J_b.topRows(joint_rows) = island->problem.J_b;
      problem_.C.head(joint_rows) = island->problem.C;
    }
    int row = joint_rows;
    for (const ShockPoint& p : points) {
      // Rows along the direction first, then across it.
      Mat3 axes = Mat3::Identity();
      if (p.direction.squaredNorm() > 0) axes = rotation_between(Vec3::UnitX(), p.direction).toRotationMatrix();
      for (int k = 0; k < (p.sticking ? 3 : 1); ++k, ++row)
        problem_.J_a.row(row) << axes.col(k).transpose(), (p.at - s.p[p.body]).cross(axes.col(k)).transpose();
    }
    for (const ConstraintBlock& block : problem_.blocks)
      for (int r = block.first_row; r < block.first_row + block.rows; ++r) {
        problem_.b[r] = -row_velocity(problem_, block, r, velocities);
        if (r < joint_rows) problem_.b[r] -= island->values.C_t[r];
      }
    x_.resize(rows);
    solve(split_.in_use() ? split_.form(problem_) : problem_, solver_named("ldlt"), workspace_,
          {x_.data(), static_cast<std::size_t>(rows)}, report_);
    if (!one_sided) break;

    // A wall pushes and never pulls.
    std::size_t worst = points.size();
    double pull = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double impulse = x_[problem_.blocks[problem_.blocks.size() - points.size() + i].first_row];
      if (impulse < pull) {
        pull = impulse;
        worst = i;
      }
    }
    if (worst == points.size() || points.size() == 1) break;
    points.erase(points.begin() + static_cast<std::ptrdiff_t>(worst));
  }

  // One factor for all: points struck together share the smallest restitution, so that joints stay satisfied.
  double restitution = 1;
  for (const ShockPoint& p : points) restitution = std::min(restitution, p.restitution);
  x_ *= 1 + restitution;
  if (split_.in_use())
    split_.apply_impulses({x_.data(), static_cast<std::size_t>(x_.size())}, velocities_);
  else
    apply_impulses(problem_, {x_.data(), static_cast<std::size_t>(x_.size())}, velocities);
  for (std::size_t i = 0; i < bodies.size(); ++i) model.slot(bodies[i]).write(velocities_.segment<6>(6 * i), s.u);
}

}  // namespace rotule
