// Block-sparse LDL^T of A = J M^-1 J^T + C (A10), one node per constraint block: leaves first where the bodies and joints form a
// forest (no fill, linear time), approximate minimum degree otherwise. Baraff, "Linear-time dynamics using Lagrange
// multipliers", SIGGRAPH 1996, on A itself.
//
// Rows whose pivot vanishes are redundant: set aside and listed. Refinement runs only where a row was set aside or a pivot lost
// half its digits; report.residual is computed only then (it costs a product with A) and is 0 otherwise.
#include <rotule/error.h>

#include <algorithm>

#include "linalg/block_ldlt.h"
#include "linalg/ordering.h"
#include "solve/refine.h"
#include "solve/solve.h"

namespace rotule {

namespace {

/// Below this ratio of a pivot to its diagonal entry, half the digits are gone: refinement brings them back.
constexpr double suspicious_ratio = 1e-7;

/// t = J W for one side of a block.
template <int S, bool coupled>
inline void multiply_rows(const double* J, const double* W, double* t, int size) {
  const int s = S ? S : size;
  for (int i = 0; i < s; ++i, J += 6, t += 6) {
    if constexpr (coupled) {
      for (int c = 0; c < 6; ++c) {
        double sum = J[0] * W[c];
        for (int k = 1; k < 6; ++k) sum += J[k] * W[6 * k + c];
        t[c] = sum;
      }
    } else {
      for (int c = 0; c < 3; ++c) {
        t[c] = J[0] * W[c] + J[1] * W[6 + c] + J[2] * W[12 + c];
        t[3 + c] = J[3] * W[21 + c] + J[4] * W[27 + c] + J[5] * W[33 + c];
      }
    }
  }
}

inline double dot6(const double* a, const double* b) {
  return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

class SparseSystem {
 public:
  [[nodiscard]] bool matches(const ConstraintProblem& problem) const {
    return bodies_ == problem.bodies() && std::ranges::equal(blocks_, problem.blocks, [](const auto& p, const auto& q) {
             return p.first_row == q.first_row && p.rows == q.rows && p.body_a == q.body_a && p.body_b == q.body_b;
           });
  }

  void analyse(const ConstraintProblem& problem);
  void assemble(const ConstraintProblem& problem);

  BlockLdlt factor;
  RefinementScratch refinement;

 private:
  template <int S, bool coupled>
  void assemble_bodies(const ConstraintProblem& problem);

  int bodies_ = -1;
  std::vector<ConstraintBlock> blocks_;
  // For every body with joints: its index, their count k; per joint, in order of elimination, 2 first_row + side and its rows;
  // then, for the first joint with itself and each later one, for the second likewise ..., where their product is added.
  std::vector<std::int32_t> program_;
};

void SparseSystem::analyse(const ConstraintProblem& problem) {
  const int n = static_cast<int>(problem.blocks.size());
  std::vector<GraphEdge> edges(n);
  std::vector<BlockLdlt::Node> nodes(n);
  for (int i = 0; i < n; ++i) {
    const ConstraintBlock& block = problem.blocks[i];
    edges[i] = {block.body_a, block.body_b};
    nodes[i] = {.first_row = block.first_row, .size = block.rows};
  }
  const Graph joints = incident_edges(edges, problem.bodies());

  // Two blocks are adjacent in A where they share a body.
  Graph adjacency;
  adjacency.start.assign(1, 0);
  std::vector<int> mark(n, -1);
  for (int i = 0; i < n; ++i) {
    mark[i] = i;
    for (const int body : {edges[i].a, edges[i].b})
      if (body >= 0)
        for (const int j : joints.of(body))
          if (mark[j] != i) {
            mark[j] = i;
            adjacency.neighbours.push_back(j);
          }
    adjacency.start.push_back(static_cast<int>(adjacency.neighbours.size()));
  }

  std::vector<int> order;
  if (!leaves_first(edges, problem.bodies(), order)) minimum_degree(adjacency, order);
  factor.analyse(nodes, adjacency, order);

  // The assembly visits bodies in the order in which their first joints are eliminated, for locality.
  program_.clear();
  std::vector<char> visited(problem.bodies(), 0);
  std::vector<int> around;
  for (const int first : order)
    for (const int body : {edges[first].a, edges[first].b}) {
      if (body < 0 || visited[body]) continue;
      visited[body] = 1;
      const auto incident = joints.of(body);
      around.assign(incident.begin(), incident.end());
      std::ranges::sort(around, {}, [&](int i) { return factor.position(i); });
      program_.push_back(body);
      program_.push_back(static_cast<std::int32_t>(around.size()));
      for (const int i : around) {
        program_.push_back(2 * nodes[i].first_row + (edges[i].b == body));
        program_.push_back(nodes[i].size);
      }
      for (std::size_t i = 0; i < around.size(); ++i)
        for (std::size_t j = i; j < around.size(); ++j)
          program_.push_back(i == j ? factor.offset(around[i]) : factor.offset(around[j], around[i]));
    }
  program_.shrink_to_fit();
  bodies_ = problem.bodies();
  blocks_ = problem.blocks;
}

void SparseSystem::assemble(const ConstraintProblem& problem) {
  std::fill(factor.values().begin(), factor.values().end(), 0.0);
  const auto with_size = [&]<bool coupled>() {
    switch (factor.uniform_size()) {
      case 3:
        return assemble_bodies<3, coupled>(problem);
      case 5:
        return assemble_bodies<5, coupled>(problem);
      case 6:
        return assemble_bodies<6, coupled>(problem);
      default:
        return assemble_bodies<0, coupled>(problem);
    }
  };
  problem.coupled ? with_size.operator()<true>() : with_size.operator()<false>();

  // Compliance, on the diagonal.
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const ConstraintBlock& block = blocks_[i];
    double* const D = factor.values().data() + factor.offset(static_cast<int>(i));
    for (int r = 0; r < block.rows; ++r) D[r * (block.rows + 1)] += problem.C[block.first_row + r];
  }
}

template <int S, bool coupled>
void SparseSystem::assemble_bodies(const ConstraintProblem& problem) {
  double* const values = factor.values().data();
  const double* const J[2] = {problem.J_a.data(), problem.J_b.data()};
  const std::int32_t* at = program_.data();
  const std::int32_t* const end = at + program_.size();
  while (at != end) {
    const double* const W = problem.inverse_mass[at[0]].data();
    const int count = at[1];
    const std::int32_t* const sides = at + 2;
    const std::int32_t* target = sides + 2 * count;
    for (int i = 0; i < count; ++i) {
      const int s = S ? S : sides[2 * i + 1];
      const double* const J_i = J[sides[2 * i] & 1] + 6 * (sides[2 * i] >> 1);
      double t[6 * (S ? S : 6)];
      multiply_rows<S, coupled>(J_i, W, t, s);
      double* const D = values + *target++;
      for (int r = 0; r < s; ++r)
        for (int c = 0; c <= r; ++c) D[r * s + c] += dot6(J_i + 6 * r, t + 6 * c);
      for (int j = i + 1; j < count; ++j) {
        const int rows = S ? S : sides[2 * j + 1];
        const double* const J_j = J[sides[2 * j] & 1] + 6 * (sides[2 * j] >> 1);
        double* const A = values + *target++;
        for (int r = 0; r < rows; ++r)
          for (int c = 0; c < s; ++c) A[r * s + c] += dot6(J_j + 6 * r, t + 6 * c);
      }
    }
    at = target;
  }
}

}  // namespace

void solve(const ConstraintProblem& problem, const LdltSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& system = workspace.get<SparseSystem>();
  if (!system.matches(problem)) system.analyse(problem);
  report.iterations = 0;
  report.residual = 0;
  report.converged = true;
  report.redundant_rows.clear();

  system.assemble(problem);
  const BlockLdlt::Outcome outcome = system.factor.factor(settings.pivot_tolerance, report.redundant_rows);
  std::copy(problem.b.data(), problem.b.data() + problem.rows(), x.begin());
  system.factor.solve(x.data());
  if (!all_finite(x)) throw Error("solver ldlt", "the answer is not finite; check masses, Jacobians and right-hand side");

  if (outcome.redundant > 0 || outcome.smallest_ratio < suspicious_ratio)
    refine(
        problem, settings.max_refinements, [&](std::span<double> r) { system.factor.solve(r.data()); }, x, system.refinement,
        report);
  std::ranges::sort(report.redundant_rows);
}

}  // namespace rotule
