#pragma once
// A = J M^-1 J^T + C over some of a problem's blocks (its joints, say), assembled and factored block by block: LDL^T, one node
// per block; leaves first where bodies and blocks form a forest (no fill, linear time), approximate minimum degree otherwise.
// Baraff, "Linear-time dynamics using Lagrange multipliers", SIGGRAPH 1996, on A itself.
//
// A body with many joints would make a clique of them, cubic in their number. It stays in the matrix as a node of its own,
//
//   [ A_0      J_h W ]     with W its inverse mass and A_0 what A is without it: eliminating the node gives A back.
//   [ W J_h^T    -W  ]
//
// after the joints of all that hangs from it alone, whose A_0 is definite, and before all others: a star of k joints costs O(k).
// Joints whose compliance is far above all that the matrix has for them (rows that follow from others, redundant_rows.h) come
// first of all. Only joints that tie such a body to the ground or to another one still form cliques, and all of them where some
// block ties more than two bodies.
//
// Over several threads bodies and joints go with the branches of the elimination that they are in (block_ldlt.h); a body between
// a branch and the trunk adds to both, each where nobody else does. Systems with such bodies as nodes are left to one thread.
//
// Rows whose pivot vanishes are set aside and listed. Fails on problems that have a matrix and no bodies.
#include <rotule/problem.h>

#include <span>
#include <utility>
#include <vector>

#include "linalg/block_ldlt.h"
#include "solve/refine.h"
#include "solve/structure.h"

namespace rotule {

/// What is known of a body: nothing; its inverse mass is two 3x3 blocks; a scalar and a 3x3 block (a plain rigid body); that,
/// and all its joints are balls, whose three rows begin with plus or minus the identity.
enum class BodyKind { coupled, uncoupled, isotropic, balls };

/// How a body can move: a body of zero inverse mass is ground, one that some of its inverse masses are zero for is fixed in part.
enum class Mobility : char { none, partial, full };

inline Mobility mobility_of(const Mat6& W) {
  const auto inverse_masses = W.diagonal();
  if (inverse_masses.minCoeff() > 0) return Mobility::full;
  return inverse_masses.maxCoeff() > 0 ? Mobility::partial : Mobility::none;
}

class SparseSystem {
 public:
  /// Whether the order and places found for these blocks serve again.
  [[nodiscard]] bool matches(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, int threads = 1) const {
    if (threads != threads_ || !structure_.matches(problem, blocks)) return false;
    if (has_hubs() && rows_ != problem.rows()) return false;
    for (std::size_t body = 0; body < mobility_.size(); ++body)
      if (mobility_[body] != mobility_of(problem.inverse_mass[body])) return false;
    for (std::size_t i = 0; i < loose_.size(); ++i)
      if ((loose_[i] != 0) != is_loose(problem, blocks[i])) return false;
    return true;
  }

  void analyse(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks, int threads = 1);
  void assemble(const ConstraintProblem& problem, Gang* gang = nullptr);
  [[nodiscard]] bool has_hubs() const { return !hub_scratch_.empty(); }
  /// Replaces a right-hand side by the answer; `x` has all rows of the problem, those of other blocks are left alone.
  void solve(std::span<double> x, Gang* gang = nullptr);

  BlockLdlt factor;
  RefinementScratch refinement;

 private:
  /// Whether the block's compliance leaves it next to nothing to carry.
  static bool is_loose(const ConstraintProblem& problem, const ConstraintBlock& block);
  void analyse_further(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks);
  /// One side of a block, as `program_` has it.
  struct Side {
    int block;
    std::int32_t code;
  };
  /// Writes the program of all bodies, in this order; each with its sides by order of elimination.
  void write_program(std::span<const ConstraintBlock> blocks, std::span<const std::pair<int, std::vector<Side>>> bodies);
  void assemble_hubs(const ConstraintProblem& problem);
  template <int S>
  void assemble_bodies(const ConstraintProblem& problem, int part);
  template <int S>
  static BodyKind kind_of(const ConstraintProblem& problem, const std::int32_t* at);
  static const double* side(const ConstraintProblem& problem, std::int32_t code) {
    if (code < 0) [[unlikely]]
      return problem.J_more.data() + 6 * (-1 - code);
    return (code & 1 ? problem.J_b : problem.J_a).data() + 6 * (code >> 1);
  }
  template <int S, BodyKind kind>
  const std::int32_t* assemble_body(const ConstraintProblem& problem, const std::int32_t* at);

  int rows_ = 0, threads_ = 1;
  Structure structure_;
  // Part by part of the factor, for every body with joints there: its index, their count k and how many of them are in this part;
  // per joint, in order of elimination, 2 first_row + side (or -1 minus the first row of J_more, of a body beyond the joint's
  // first two) and its rows; then, for the first joint with itself and each later one, for the second likewise ..., as long as
  // they are in this part, where their product is added.
  std::vector<std::int32_t> program_;
  std::vector<std::size_t> program_start_;  // of each part
  // For every hub: its index, where its own block stands, the count of its joints; per joint, 2 first_row + side, its rows
  // (negative where it comes after the hub), and where their block stands.
  std::vector<std::int32_t> hub_program_;
  std::vector<Mobility> mobility_;   // per body, where hubs were looked for: what hangs from one must be able to move by itself
  std::vector<char> loose_;          // per block, likewise: those that come first
  std::vector<double> hub_scratch_;  // x and the hubs' unknowns, where there are hubs
};

}  // namespace rotule
