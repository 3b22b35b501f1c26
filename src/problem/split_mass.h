#pragma once
// Masses that couple bodies, in problems whose masses are one block per body. Of bodies 1 to n with a common M^-1,
//   M^-1 = L D L^T,   L unit lower triangular and D diagonal, by blocks of six:
// in velocities w = L^-1 u every body has a mass of its own, D's, and a row J u is J L w: a row on body k lies on bodies 1 to k.
// A, b and x are what they were, so that solvers, judge and files need not know.
#include <rotule/problem.h>

#include <span>
#include <vector>

namespace rotule {

class SplitMass {
 public:
  struct Group {
    int source = -1;          // whose it is, for who wrote it
    std::vector<int> places;  // of its bodies in the problem, rising
    MatX inverse;             // M^-1 over them
  };

  /// Who is coupled; none where nothing is. `form` is to be told where rows or masses are others, or blocks, too.
  std::vector<Group> groups;
  [[nodiscard]] bool in_use() const { return !groups.empty(); }
  void forget_blocks() { structured_ = known_ = false; }
  void forget_matrix() { known_ = false; }

  /// The same problem with a mass for every body.
  const ConstraintProblem& form(const ConstraintProblem& whole);
  /// velocities += M^-1 J^T x, for bodies as they were; after `form`.
  void apply_impulses(std::span<const double> x, VecX& velocities);

 private:
  void find_bodies(const ConstraintProblem& whole);
  void split_groups();
  void write_rows(const ConstraintProblem& whole);

  /// Of a body: its group and its place there.
  struct Home {
    int group = -1, place = 0;
  };
  ConstraintProblem problem_;
  std::vector<Home> homes_;
  std::vector<MatX> lower_;       // L of each group
  std::vector<MatX> own_;         // D of each, one block below the other
  std::vector<std::int32_t> on_;  // bodies of a block
  VecX moved_;
  bool structured_ = false, known_ = false;
};

}  // namespace rotule
