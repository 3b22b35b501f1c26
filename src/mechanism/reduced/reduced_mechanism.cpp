#include "mechanism/reduced/reduced_mechanism.h"

#include <rotule/error.h>
#include <rotule/solvers/dense_ldlt.h>

#include <algorithm>
#include <cmath>

#include "base/budget.h"
#include "base/spans.h"
#include "problem/operators.h"
#include "solve/solve.h"

namespace rotule {

std::string misfit_of_trees(const Model& model, bool by_impulses) {
  for (const Body& body : model.bodies)
    if (body.kinematic && !by_impulses)
      return "body \"" + body.name + "\" is kinematic, and joints are integrated where all others stand still";
  return misfit_of_tree(model);
}

void require_trees(const Model& model, bool by_impulses) {
  if (const std::string why = misfit_of_trees(model, by_impulses); !why.empty())
    throw Error("reduced coordinates", why + "; --set coordinates=maximal runs it");
}

ReducedMechanism::ReducedMechanism(JointedMechanism& mechanism) : bodies_(mechanism) { require_trees(mechanism.model); }

void ReducedMechanism::find_trees(const rotule::State& s) {
  const Model& model = bodies_.model;
  tree_ = Tree(model, s);
  outside_.assign(model.joints.size(), 0);
  for (const int j : tree_.outside) outside_[j] = 1;
  require_rotors_inside(model, tree_);
  s_ = again_ = s;
  const int particles = 3 * model.particle_count();
  read_.q.setZero(tree_.positions);
  read_.u.setZero(tree_.velocities + particles);
  body_udot_.setZero(model.velocity_count());
  response_udot_.setZero(model.velocity_count());
  none_.setZero(read_.u.size());
  known_ = true;
}

bool ReducedMechanism::has_rows() const {
  return !tree_.outside.empty() || bodies_.drives.given_motions() || bodies_.drives.holding();
}

void ReducedMechanism::read(const rotule::State& s, State& r) const {
  r.q.resize(tree_.positions);
  r.u.resize(tree_.velocities + s.x.size());
  read_coordinates(bodies_.model, tree_, s, r.q, r.u);
  r.x = s.x;
  r.u.tail(s.x.size()) = s.u.tail(s.x.size());
}

void ReducedMechanism::write(const State& r, rotule::State& s) {
  place_links(tree_, r.q.data(), poses_);
  move_links(tree_, poses_, r.u.data(), motions_);
  write_bodies(tree_, poses_, &motions_, s);
  s.x = r.x;
  s.u.tail(r.x.size()) = r.u.tail(r.x.size());
}

ReducedMechanism::Opening ReducedMechanism::opening(const rotule::State& s) {
  read(s, read_);
  again_ = s;
  write(read_, again_);
  Opening out;
  for (int i = 0; i < s.bodies(); ++i) {
    if (!bodies_.model.movable(i)) continue;
    out.position = std::max({out.position, (again_.p[i] - s.p[i]).cwiseAbs().maxCoeff(),
                             log_rotation(again_.theta[i] * s.theta[i].conjugate()).cwiseAbs().maxCoeff()});
    out.velocity = std::max(out.velocity, (again_.u - s.u).segment<6>(6 * i).cwiseAbs().maxCoeff());
  }
  return out;
}

void ReducedMechanism::lift(const VecX& u, const LinkPoses& poses, VecX& out) {
  move_links(tree_, poses, u.data(), lifted_);
  out.setZero(bodies_.model.velocity_count());
  for (std::size_t i = 0; i < tree_.links.size(); ++i) {
    const int body = tree_.links[i].body;
    if (body < 0) continue;
    out.segment<3>(6 * body) = vec3(lifted_[i].v + cross3(lifted_[i].w, poses[i].c));
    out.segment<3>(6 * body + 3) = vec3(lifted_[i].w);
  }
  const Eigen::Index particles = u.size() - tree_.velocities;
  out.tail(particles) = u.tail(particles);
}

void ReducedMechanism::displace(const State& base, const VecX& sigma, State& out) const {
  rotule::displace(tree_, base.q, sigma, out.q);
  out.x = base.x + sigma.tail(base.x.size());
}

void ReducedMechanism::rate(const VecX& sigma, const VecX& u, VecX& out) const { chart_rate(tree_, sigma, u, out); }

void ReducedMechanism::difference(const State& r, const State& base, VecX& sigma) const {
  sigma.resize(r.u.size());
  rotule::difference(tree_, r.q, base.q, sigma);
  sigma.tail(r.x.size()) = r.x - base.x;
}

void ReducedMechanism::flow(double t, const State& r, const VecX& /*udot*/, Flow& out) { flow_anew(t, r, out); }

void ReducedMechanism::flow_anew(double t, const State& r, Flow& out) {
  // Who does which work is known of bodies and all their joints: the maximal problem of the same state says.
  write(r, s_);
  bodies_.flow_anew(t, s_, out);
}

void ReducedMechanism::find_rows() {
  all_.clear();
  for (std::size_t i = 0; i < bodies_.linkages.size(); ++i) {
    const ConstraintSet& constraints = bodies_.linkages[i].constraints;
    const std::vector<int>& idle = bodies_.linkages[i].idle;
    const auto count = static_cast<int>(constraints.blocks().size());
    for (int n = 0; n < count; ++n) {
      const ConstraintBlock& block = constraints.blocks()[n];
      // Of a joint of the tree there are the rows of axes that something holds.
      const int first = outside_[block.source] != 0 ? 0 : block.rows - static_cast<int>(constraints.driven(n).size());
      for (int r = block.first_row + first; r < block.first_row + block.rows; ++r)
        if (!std::binary_search(idle.begin(), idle.end(), r)) all_.push_back({static_cast<int>(i), n, r});
    }
  }
}

void ReducedMechanism::evaluate_rows(double t) {
  int last = -1;
  for (const Row& row : all_) {
    if (row.island == last) continue;
    last = row.island;
    bodies_.islands[last].evaluate(bodies_.linkages, bodies_.model, bodies_.kinematics, t);
  }
}

void ReducedMechanism::push(const Row& row, double times, VecX& forces) const {
  const Island& island = bodies_.islands[row.island];
  const ConstraintBlock& block = island.problem.blocks[row.block];
  for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int first) {
    const VelocitySlot slot = island.slots[body];
    const Vec6 force = slot.read(forces) + times * J.row(first + row.row - block.first_row).transpose();
    slot.write(force, forces);
  });
}

double ReducedMechanism::along(const Row& row, const VecX& udot) {
  const Island& island = bodies_.islands[row.island];
  const ConstraintBlock& block = island.problem.blocks[row.block];
  double out = 0;
  for_each_body(island.problem, block, [&](int body, const JacobianRows& J, int first) {
    out += J.row(first + row.row - block.first_row).dot(island.slots[body].read(udot));
  });
  return out;
}

void ReducedMechanism::free_accelerations(const VecX& forces, const double* u, VecX& udot, VecX& body_udot) {
  const Model& model = bodies_.model;
  articulated_.accelerations(tree_, poses_, Vec3::Zero(), u, nullptr, forces.data(), udot.data());
  articulated_.write_accelerations(tree_, poses_, u != nullptr, body_udot);
  for (int k = 0; k < model.particle_count(); ++k) {
    const Vec3 a = model.particles.inverse_mass[k] * forces.segment<3>(6 * model.body_count() + 3 * k);
    udot.segment<3>(tree_.velocities + 3 * k) = a;
    body_udot.segment<3>(6 * model.body_count() + 3 * k) = a;
  }
}

void ReducedMechanism::respond(MatX& A) {
  const auto count = static_cast<Eigen::Index>(rows_.size());
  A.resize(count, count);
  for (Eigen::Index k = 0; k < count; ++k) {
    response_.setZero(bodies_.model.velocity_count());
    push(rows_[k], 1, response_);
    free_accelerations(response_, nullptr, none_, response_udot_);
    for (Eigen::Index i = 0; i < count; ++i) A(i, k) = along(rows_[i], response_udot_);
  }
}

void ReducedMechanism::begin_step(const State& r, double t) {
  find_rows();
  rows_ = all_;
  if (all_.empty()) return;
  write(r, s_);
  bodies_.kinematics.update(bodies_.model, s_, t);
  evaluate_rows(t);
  articulated_.factor(tree_, poses_);
  respond(elimination_);
  const auto count = static_cast<Eigen::Index>(all_.size());
  free_.resize(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const ConstraintProblem& problem = bodies_.islands[all_[k].island].problem;
    free_[k] = diagonal_entry(problem, problem.blocks[all_[k].block], all_[k].row);
  }
  dependent_.find(elimination_, free_);
  rows_.clear();
  for (std::size_t k = 0; k < all_.size(); ++k)
    if (dependent_.dropped[k] == 0) rows_.push_back(all_[k]);
}

void ReducedMechanism::accelerations(double t, const State& r, VecX& udot) {
  Budget::listen();
  ++bodies_.evaluations;
  write(r, s_);
  forces_ = bodies_.applied_forces(t, s_);
  const StageClock::Scope stage(bodies_.clock, Stage::solve);
  udot.resize(r.u.size());
  articulated_.factor(tree_, poses_);
  free_accelerations(forces_, r.u.data(), udot, body_udot_);
  if (rows_.empty()) return;

  evaluate_rows(t);
  respond(A_);
  const auto rows = static_cast<int>(rows_.size());
  problem_.blocks.clear();
  for (int k = 0; k < rows; ++k) problem_.blocks.push_back({k, 1, -1, -1, k});
  problem_.resize(0, rows);
  SparseRows& A = problem_.matrix;
  A.start.clear();
  A.column.clear();
  A.value.clear();
  for (int i = 0; i < rows; ++i) {
    A.start.push_back(static_cast<int>(A.column.size()));
    for (int k = 0; k < rows; ++k) {
      A.column.push_back(k);
      A.value.push_back(0.5 * (A_(i, k) + A_(k, i)));
    }
    const Row& row = rows_[i];
    problem_.b[i] = -along(row, body_udot_) - bodies_.islands[row.island].values.gamma[row.row];
  }
  A.start.push_back(static_cast<int>(A.column.size()));
  x_.setZero(rows);
  const SolverChoice& solver = bodies_.recipe.solver;
  // Direct solvers of joints read the structure of bodies, which this problem has none of: its matrix is dense.
  if (solver.traits().exact && !solver.traits().bounds)
    rotule::solve(problem_, DenseLdltSettings{}, workspace_, view(x_), report_);
  else
    rotule::solve(problem_, solver, workspace_, view(x_), report_);
  count(report_, bodies_.now.report);
  for (int k = 0; k < rows; ++k) push(rows_[k], x_[k], forces_);
  free_accelerations(forces_, r.u.data(), udot, body_udot_);
}

}  // namespace rotule
