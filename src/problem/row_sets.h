#pragma once
// What binds the rows of each block: nothing (a joint), bounds (a limit, a motor, dry friction in a joint), or the laws of
// contact. Solvers that treat these differently ask here, once per solve.
#include <rotule/problem.h>

#include <algorithm>
#include <span>
#include <vector>

#include "problem/cone.h"
#include "problem/laws.h"

namespace rotule {

enum class RowSet : std::uint8_t { bilateral, bounded, contact };

struct BlockSet {
  RowSet kind = RowSet::bilateral;
  std::int32_t first_friction = 0;  // the contact's groups, in problem.friction
  std::int32_t friction_count = 0;
};

/// One entry per block; keeps its memory.
inline void classify(const ConstraintProblem& problem, std::vector<BlockSet>& sets) {
  sets.clear();
  FrictionCursor friction(problem);
  std::int32_t next = 0;
  for (const ConstraintBlock& block : problem.blocks) {
    const auto count = static_cast<std::int32_t>(friction.next(block).size());
    BlockSet set{.kind = RowSet::bilateral, .first_friction = next, .friction_count = count};
    next += count;
    if (set.friction_count > 0) {
      set.kind = RowSet::contact;
    } else {
      for (int r = block.first_row; r < block.first_row + block.rows; ++r)
        if (problem.lower[r] > -infinity || problem.upper[r] < infinity) set.kind = RowSet::bounded;
    }
    sets.push_back(set);
  }
}

/// The groups of friction of a contact; none elsewhere.
inline std::span<const FrictionRows> friction_of(const ConstraintProblem& problem, const BlockSet& set) {
  return {problem.friction.data() + set.first_friction, static_cast<std::size_t>(set.friction_count)};
}

/// Puts x back within the bounds of one block, as sweeps do: the normal first, then each group of friction by the normal found.
inline void clamp(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set, std::span<double> x) {
  if (set.kind == RowSet::bilateral) return;
  for (int r = block.first_row; r < block.first_row + block.rows; ++r)
    x[r] = std::clamp(x[r], problem.lower[r], problem.upper[r]);
  for (const FrictionRows& f : friction_of(problem, set)) {
    const double limit = f.mu * x[f.normal_row];
    if (f.cone)
      project_on_disk(limit, f.count, x.data() + f.first_row);
    else
      for (int r = f.first_row; r < f.first_row + f.count; ++r) x[r] = std::clamp(x[r], -limit, limit);
  }
}

/// Whether a block is a contact with one cone over all its other rows: Coulomb's law in its plain form.
inline bool is_plain_cone(const ConstraintProblem& problem, const ConstraintBlock& block, const BlockSet& set) {
  if (set.friction_count != 1) return false;
  const FrictionRows& f = problem.friction[set.first_friction];
  return f.cone && f.first_row == block.first_row + 1 && f.count == block.rows - 1;
}

}  // namespace rotule
