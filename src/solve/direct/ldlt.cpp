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
#include "solve/structure.h"

namespace rotule {

namespace {

/// Below this ratio of a pivot to its diagonal entry, half the digits are gone: refinement brings them back.
constexpr double suspicious_ratio = 1e-7;

/// What is known of a body: nothing; its inverse mass is two 3x3 blocks; a scalar and a 3x3 block (a plain rigid body); that,
/// and all its joints are balls, whose three rows begin with plus or minus the identity.
enum class BodyKind { coupled, uncoupled, isotropic, balls };

inline bool is_isotropic(const Mat6& W) {
  return W(0, 0) == W(1, 1) && W(0, 0) == W(2, 2) && W(1, 0) == 0 && W(2, 0) == 0 && W(2, 1) == 0;
}

inline bool is_ball(const double* J) {
  return (J[0] == 1 || J[0] == -1) && J[7] == J[0] && J[14] == J[0] && J[1] == 0 && J[2] == 0 && J[6] == 0 && J[8] == 0 &&
         J[12] == 0 && J[13] == 0;
}

/// t = J W for one side of a block.
template <int S, BodyKind kind>
inline void multiply_rows(const double* J, const double* W, double* t, int size) {
  const int s = S ? S : size;
  for (int i = 0; i < s; ++i, J += 6, t += 6) {
    if constexpr (kind == BodyKind::coupled) {
      for (int c = 0; c < 6; ++c) {
        double sum = J[0] * W[c];
        for (int k = 1; k < 6; ++k) sum += J[k] * W[6 * k + c];
        t[c] = sum;
      }
    } else {
      for (int c = 0; c < 3; ++c) {
        if constexpr (kind == BodyKind::uncoupled) t[c] = J[0] * W[c] + J[1] * W[6 + c] + J[2] * W[12 + c];
        if constexpr (kind == BodyKind::isotropic) t[c] = J[c] * W[0];
        t[3 + c] = J[3] * W[21 + c] + J[4] * W[27 + c] + J[5] * W[33 + c];
      }
    }
  }
}

/// A += J t^T, or its lower triangle. Summed in a local block: the compiler cannot know that writing A leaves J alone.
/// Between balls the linear part is `linear` times the identity.
template <int S, BodyKind kind, bool square>
inline void add_product(double* A, const double* J, const double* t, double linear, int row_count, int col_count) {
  const int rows = S ? S : row_count, cols = S ? S : col_count;
  double sum[S ? S * S : 36];
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < (square ? r + 1 : cols); ++c) {
      const double* const p = J + 6 * r;
      const double* const q = t + 6 * c;
      const double angular = p[3] * q[3] + p[4] * q[4] + p[5] * q[5];
      if constexpr (kind == BodyKind::balls)
        sum[r * cols + c] = r == c ? linear + angular : angular;
      else
        sum[r * cols + c] = (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]) + angular;
    }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < (square ? r + 1 : cols); ++c) A[r * cols + c] += sum[r * cols + c];
}

class SparseSystem {
 public:
  [[nodiscard]] bool matches(const ConstraintProblem& problem) const {
    return bodies_ == problem.bodies() && same_structure(blocks_, problem.blocks);
  }

  void analyse(const ConstraintProblem& problem);
  void assemble(const ConstraintProblem& problem);

  BlockLdlt factor;
  RefinementScratch refinement;

 private:
  template <int S>
  void assemble_bodies(const ConstraintProblem& problem);
  template <int S>
  static BodyKind kind_of(const ConstraintProblem& problem, const std::int32_t* at);
  static const double* side(const ConstraintProblem& problem, std::int32_t code) {
    return (code & 1 ? problem.J_b : problem.J_a).data() + 6 * (code >> 1);
  }
  template <int S, BodyKind kind>
  const std::int32_t* assemble_body(const ConstraintProblem& problem, const std::int32_t* at);

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
  switch (factor.uniform_size()) {
    case 3:
      assemble_bodies<3>(problem);
      break;
    case 5:
      assemble_bodies<5>(problem);
      break;
    case 6:
      assemble_bodies<6>(problem);
      break;
    default:
      assemble_bodies<0>(problem);
      break;
  }

  // Compliance, on the diagonal.
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const ConstraintBlock& block = blocks_[i];
    double* const D = factor.values().data() + factor.offset(static_cast<int>(i));
    for (int r = 0; r < block.rows; ++r) D[r * (block.rows + 1)] += problem.C[block.first_row + r];
  }
}

template <int S, BodyKind kind>
const std::int32_t* SparseSystem::assemble_body(const ConstraintProblem& problem, const std::int32_t* at) {
  double* const values = factor.values().data();
  const double* const W = problem.inverse_mass[at[0]].data();
  const int count = at[1];
  const std::int32_t* const sides = at + 2;
  const std::int32_t* target = sides + 2 * count;
  for (int i = 0; i < count; ++i) {
    const int s = S ? S : sides[2 * i + 1];
    const double* const J_i = side(problem, sides[2 * i]);
    double t[6 * (S ? S : 6)];
    multiply_rows<S, kind>(J_i, W, t, s);
    add_product<S, kind, true>(values + *target++, J_i, t, W[0], s, s);
    for (int j = i + 1; j < count; ++j) {
      const double* const J_j = side(problem, sides[2 * j]);
      add_product<S, kind, false>(values + *target++, J_j, t, J_j[0] * J_i[0] * W[0], sides[2 * j + 1], s);
    }
  }
  return target;
}

template <int S>
BodyKind SparseSystem::kind_of(const ConstraintProblem& problem, const std::int32_t* at) {
  if (problem.coupled) return BodyKind::coupled;
  if (!is_isotropic(problem.inverse_mass[at[0]])) return BodyKind::uncoupled;
  if (S != 3) return BodyKind::isotropic;
  for (int i = 0; i < at[1]; ++i)
    if (!is_ball(side(problem, at[2 + 2 * i]))) return BodyKind::isotropic;
  return BodyKind::balls;
}

template <int S>
void SparseSystem::assemble_bodies(const ConstraintProblem& problem) {
  const std::int32_t* at = program_.data();
  const std::int32_t* const end = at + program_.size();
  while (at != end) switch (kind_of<S>(problem, at)) {
      case BodyKind::coupled:
        at = assemble_body<S, BodyKind::coupled>(problem, at);
        break;
      case BodyKind::uncoupled:
        at = assemble_body<S, BodyKind::uncoupled>(problem, at);
        break;
      case BodyKind::isotropic:
        at = assemble_body<S, BodyKind::isotropic>(problem, at);
        break;
      case BodyKind::balls:
        at = assemble_body<S, BodyKind::balls>(problem, at);
        break;
    }
}

}  // namespace

void solve(const ConstraintProblem& problem, const LdltSettings& settings, Workspace& workspace, std::span<double> x,
           SolveReport& report) {
  auto& system = workspace.get<SparseSystem>();
  if (!system.matches(problem)) system.analyse(problem);
  clear(report);

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
