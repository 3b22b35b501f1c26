#pragma once
// Colours for blocks: two that act on the same moving body (or are coupled by the problem's own matrix) get different ones, so
// that blocks of one colour can be solved at the same time. Greedy, in order of the blocks: at most one colour more than the
// largest number of neighbours; a body with a thousand contacts makes a thousand colours.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/structure.h"

namespace rotule {

class Colouring {
 public:
  void assign(const ConstraintProblem& problem);

  [[nodiscard]] int colours() const { return static_cast<int>(start_.size()) - 1; }
  /// The blocks of a colour, in order.
  [[nodiscard]] std::span<const std::int32_t> blocks(int colour) const {
    return {order_.data() + start_[colour], static_cast<std::size_t>(start_[colour + 1] - start_[colour])};
  }

 private:
  Structure structure_;
  std::vector<std::int32_t> matrix_start_, matrix_column_;
  std::vector<bool> fixed_;
  std::vector<std::int32_t> start_, order_;
};

}  // namespace rotule
