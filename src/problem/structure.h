#pragma once
// When what was found out about a problem's structure may be used again: same rows and bodies, block by block; who wrote them
// does not matter.
#include <rotule/problem.h>

#include <algorithm>
#include <span>
#include <vector>

namespace rotule {

class Structure {
 public:
  /// Whether these blocks of the problem are those that were kept.
  [[nodiscard]] bool matches(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks) const {
    return bodies_ == problem.bodies() && std::equal(blocks_.begin(), blocks_.end(), blocks.begin(), blocks.end(), same) &&
           more_ == problem.more;
  }
  [[nodiscard]] bool matches(const ConstraintProblem& problem) const { return matches(problem, problem.blocks); }

  void keep(const ConstraintProblem& problem, std::span<const ConstraintBlock> blocks) {
    blocks_.assign(blocks.begin(), blocks.end());
    more_ = problem.more;
    bodies_ = problem.bodies();
  }
  void keep(const ConstraintProblem& problem) { keep(problem, problem.blocks); }

  [[nodiscard]] const std::vector<ConstraintBlock>& blocks() const { return blocks_; }

 private:
  static bool same(const ConstraintBlock& p, const ConstraintBlock& q) {
    return p.first_row == q.first_row && p.rows == q.rows && p.body_a == q.body_a && p.body_b == q.body_b &&
           p.more_count == q.more_count && (p.more_count == 0 || p.first_more == q.first_more);
  }

  std::vector<ConstraintBlock> blocks_;
  std::vector<BlockPartner> more_;
  int bodies_ = 0;  // those that no block has count too: solvers have room for each
};

}  // namespace rotule
