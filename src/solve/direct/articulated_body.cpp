#include "solve/direct/articulated_body.h"

#include <rotule/error.h>
#include <rotule/solvers/articulated_body.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "linalg/decompositions.h"
#include "linalg/dense_ldlt.h"
#include "linalg/ordering.h"
#include "problem/operators.h"
#include "solve/refine.h"
#include "solve/solve.h"
#include "solve/structure.h"

namespace rotule {

namespace {

/// Rows of one joint that depend on each other are told by pivots this small.
constexpr double dependent_tolerance = 1e-12;

}  // namespace

void ArticulatedBody::analyse(const ConstraintProblem& problem) {
  const int bodies = problem.bodies();
  // Semidefinite: the trace is zero where all is.
  const auto fixed = [&](int body) { return problem.inverse_mass[body].diagonal().maxCoeff() <= 0; };
  bool same = static_cast<int>(immovable_.size()) == bodies && structure_.matches(problem);
  for (int body = 0; same && body < bodies; ++body) same = immovable_[body] == static_cast<char>(fixed(body));
  if (same) return;

  immovable_.resize(bodies);
  for (int body = 0; body < bodies; ++body) immovable_[body] = static_cast<char>(fixed(body));
  structure_.keep(problem);
  links_.clear();
  closures_.clear();
  loose_.clear();

  // Blocks over more than two bodies are no edges of the tree.
  const std::vector<ConstraintBlock>& blocks = problem.blocks;
  const int n = static_cast<int>(blocks.size());
  std::vector<GraphEdge> edges(n);
  const auto vertex = [&](int body) { return movable(body) ? body : -1; };
  for (int i = 0; i < n; ++i)
    if (blocks[i].more_count == 0) edges[i] = {vertex(blocks[i].body_a), vertex(blocks[i].body_b)};
  const auto moves = [&](int i) {
    bool any = false;
    for_each_body(problem, blocks[i], [&](int body, const JacobianRows&, int) { any = any || movable(body); });
    return any;
  };
  const Graph joints = incident_edges(edges, bodies);

  // Each tree grows from a joint to what does not move, if it has one, else from any body.
  std::vector<char> seen(bodies, 0), used(n, 0);
  const auto grow = [&](int root, int block) {
    if (seen[root]) return;
    seen[root] = 1;
    if (block >= 0) used[block] = 1;
    std::size_t next = links_.size();
    links_.push_back({root, -1, block, block >= 0 && edges[block].a == root});
    for (; next < links_.size(); ++next)
      for (const int e : joints.of(links_[next].body)) {
        const int child = edges[e].a == links_[next].body ? edges[e].b : edges[e].a;
        if (child < 0 || seen[child]) continue;
        seen[child] = used[e] = 1;
        links_.push_back({child, static_cast<int>(next), e, edges[e].a == child});
      }
  };
  for (int i = 0; i < n; ++i) {
    if (!moves(i))
      loose_.push_back(i);
    else if (blocks[i].more_count > 0)
      continue;
    else if (edges[i].a < 0 || edges[i].b < 0)
      grow(std::max(edges[i].a, edges[i].b), i);
  }
  for (int body = 0; body < bodies; ++body)
    if (movable(body)) grow(body, -1);
  for (int i = 0; i < n; ++i)
    if (!used[i] && moves(i)) closures_.push_back(i);

  factors_.resize(links_.size());
  inertia_.resize(links_.size());
  impulse_.resize(links_.size());
}

const double* ArticulatedBody::child_rows(const ConstraintProblem& problem, const Link& link) const {
  return (link.child_is_a ? problem.J_a : problem.J_b).data() + 6 * structure_.blocks()[link.block].first_row;
}

const double* ArticulatedBody::parent_rows(const ConstraintProblem& problem, const Link& link) const {
  return (link.child_is_a ? problem.J_b : problem.J_a).data() + 6 * structure_.blocks()[link.block].first_row;
}

void ArticulatedBody::factor(const ConstraintProblem& problem, std::vector<std::int32_t>& redundant_rows, const char* solver) {
  const auto refuse = [&](const Link& link) {
    throw Error(solver, "body " + std::to_string(link.body) + " has a singular inverse mass; use ldlt");
  };
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Mat6& W = problem.inverse_mass[links_[i].body];
    if (problem.coupled) {
      inertia_[i] = inverse_of(W);
    } else {
      inertia_[i].setZero();
      inertia_[i].topLeftCorner<3, 3>() = W.topLeftCorner<3, 3>().inverse();
      inertia_[i].bottomRightCorner<3, 3>() = W.bottomRightCorner<3, 3>().inverse();
    }
    if (!inertia_[i].allFinite()) refuse(links_[i]);
  }

  for (std::size_t i = links_.size(); i-- > 0;) {
    const Link& link = links_[i];
    Factor& f = factors_[i];
    const Eigen::LLT<Mat6> llt(inertia_[i]);
    if (llt.info() != Eigen::Success) refuse(link);
    f.L = llt.matrixL();
    if (link.block < 0) continue;

    // S from H^T H + C, which cannot lose its sign.
    const ConstraintBlock& block = structure_.blocks()[link.block];
    const int s = block.rows;
    const double* const J_c = child_rows(problem, link);
    for (int r = 0; r < s; ++r) {
      f.H.col(r) = Eigen::Map<const Vec6>(J_c + 6 * r);
      f.L.triangularView<Eigen::Lower>().solveInPlace(f.H.col(r));
    }
    double scale[6], work[6];
    for (int r = 0; r < s; ++r) {
      for (int c = 0; c <= r; ++c) f.S[r * s + c] = f.H.col(r).dot(f.H.col(c));
      f.S[r * s + r] += problem.C[block.first_row + r];
      scale[r] = f.S[r * s + r];
    }
    factor_dense_ldlt(f.S, s, dependent_tolerance, scale, work, [&](int r) { redundant_rows.push_back(block.first_row + r); });

    // M_p += J_p^T S J_p = Z^T D^-1 Z with L_S Z = J_p.
    if (link.parent < 0) continue;
    Eigen::Matrix<double, 6, 6, Eigen::RowMajor> Z;
    const double* const J_p = parent_rows(problem, link);
    for (int r = 0; r < s; ++r) {
      Z.row(r) = Eigen::Map<const Eigen::Matrix<double, 1, 6>>(J_p + 6 * r);
      for (int c = 0; c < r; ++c) Z.row(r) -= f.S[r * s + c] * Z.row(c);
    }
    Mat6& M_p = inertia_[link.parent];
    for (int r = 0; r < s; ++r) M_p.noalias() += (f.S[r * s + r] * Z.row(r).transpose()) * Z.row(r);
  }
  for (const int i : loose_)
    for (int r = 0; r < structure_.blocks()[i].rows; ++r)
      if (problem.C[structure_.blocks()[i].first_row + r] <= 0) redundant_rows.push_back(structure_.blocks()[i].first_row + r);
}

void ArticulatedBody::solve(const ConstraintProblem& problem, std::span<const double> b, std::span<const double> p,
                            std::span<double> x, std::span<double> u) {
  for (std::size_t i = 0; i < links_.size(); ++i) impulse_[i] = Eigen::Map<const Vec6>(p.data() + 6 * links_[i].body);

  // Towards the roots.
  for (std::size_t i = links_.size(); i-- > 0;) {
    const Link& link = links_[i];
    Factor& f = factors_[i];
    f.p = impulse_[i];
    f.L.triangularView<Eigen::Lower>().solveInPlace(f.p);
    if (link.block < 0) continue;
    const ConstraintBlock& block = structure_.blocks()[link.block];
    for (int r = 0; r < block.rows; ++r) f.b[r] = b[block.first_row + r] - f.H.col(r).dot(f.p);
    if (link.parent < 0) continue;
    double y[6];
    std::copy(f.b, f.b + block.rows, y);
    solve_dense_ldlt(f.S, block.rows, y);
    const double* const J_p = parent_rows(problem, link);
    for (int r = 0; r < block.rows; ++r) impulse_[link.parent] += y[r] * Eigen::Map<const Vec6>(J_p + 6 * r);
  }

  // Towards the leaves.
  std::fill(u.begin(), u.end(), 0.0);
  for (std::size_t i = 0; i < links_.size(); ++i) {
    const Link& link = links_[i];
    const Factor& f = factors_[i];
    Vec6 v = f.p;
    if (link.block >= 0) {
      const ConstraintBlock& block = structure_.blocks()[link.block];
      double* const y = x.data() + block.first_row;
      std::copy(f.b, f.b + block.rows, y);
      if (link.parent >= 0) {
        const Eigen::Map<const Vec6> u_p(u.data() + 6 * links_[link.parent].body);
        const double* const J_p = parent_rows(problem, link);
        for (int r = 0; r < block.rows; ++r) y[r] -= Eigen::Map<const Vec6>(J_p + 6 * r).dot(u_p);
      }
      solve_dense_ldlt(f.S, block.rows, y);
      for (int r = 0; r < block.rows; ++r) v += f.H.col(r) * y[r];
    }
    f.L.transpose().triangularView<Eigen::Upper>().solveInPlace(v);
    Eigen::Map<Vec6>(u.data() + 6 * link.body) = v;
  }
  for (const int i : loose_)
    for (int r = structure_.blocks()[i].first_row; r < structure_.blocks()[i].first_row + structure_.blocks()[i].rows; ++r)
      x[r] = problem.C[r] > 0 ? b[r] / problem.C[r] : 0.0;
}

namespace {

struct ArticulatedBodySystem {
  ArticulatedBody tree;
  std::vector<double> no_impulse, velocities, answer;
  RefinementScratch refinement;
};

}  // namespace

void solve(const ConstraintProblem& problem, const ArticulatedBodySettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& system = workspace.get<ArticulatedBodySystem>();
  clear(report, problem.rows());
  system.tree.analyse(problem);
  if (!system.tree.closures().empty()) {
    const ConstraintBlock& block = problem.blocks[system.tree.closures().front()];
    if (block.more_count > 0)
      throw Error("solver articulated_body", "constraint " + std::to_string(system.tree.closures().front()) +
                                                 " ties more than two bodies, which no tree does; use ldlt or schur");
    throw Error("solver articulated_body",
                "the mechanism has a loop through constraint " + std::to_string(system.tree.closures().front()) + " (bodies " +
                    std::to_string(block.body_a) + " and " + std::to_string(block.body_b) + "); use ldlt or schur");
  }
  system.no_impulse.assign(6 * problem.bodies(), 0.0);
  system.velocities.resize(6 * problem.bodies());
  system.answer.resize(problem.rows());
  system.tree.factor(problem, report.redundant_rows, "solver articulated_body");
  const auto solve_tree = [&](std::span<const double> b, std::span<double> out) {
    system.tree.solve(problem, b, system.no_impulse, out, system.velocities);
  };
  solve_tree({problem.b.data(), static_cast<std::size_t>(problem.rows())}, x);
  if (!all_finite(x))
    throw Error("solver articulated_body", "the answer is not finite: the motion has blown up; take a smaller step");
  refine(
      problem, settings.max_refinements,
      [&](std::span<double> r) {
        solve_tree(r, system.answer);
        std::copy(system.answer.begin(), system.answer.end(), r.begin());
      },
      x, system.refinement, report);
  std::sort(report.redundant_rows.begin(), report.redundant_rows.end());
}

}  // namespace rotule
