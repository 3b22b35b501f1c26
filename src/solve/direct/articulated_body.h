#pragma once
// Featherstone's articulated-body recursion in constraint form: M u = J^T x + p, J u + C x = b over a tree, in O(n) for any
// number of joints per body. From the leaves to the root, for a body c with articulated inertia M_c, impulse p_c, and joint rows
// J_c, J_p to its parent:
//
//   S = (J_c M_c^-1 J_c^T + C)^-1,   M_p += J_p^T S J_p,   p_p += J_p^T S (b - J_c M_c^-1 p_c),
//
// then from the root to the leaves x = S (b - J_c M_c^-1 p_c - J_p u_p), u_c = M_c^-1 (p_c + J_c^T x).
// Featherstone, "Rigid Body Dynamics Algorithms" (2008), chapter 7.
//
// Bodies of zero inverse mass count as immovable. Blocks that close a loop over the tree, and those over more than two bodies,
// are listed, not used: the caller refuses them (articulated_body) or adds them by their Schur complement (schur). Fails, with an
// Error, on an inverse mass that is singular but not zero.
#include <rotule/problem.h>

#include <span>
#include <vector>

#include "problem/structure.h"

namespace rotule {

class ArticulatedBody {
 public:
  /// Finds the tree, unless the structure and the immovable bodies are the same as last time.
  void analyse(const ConstraintProblem& problem);

  /// Articulated inertias and their factors. Rows of a joint that depend on each other are set aside and listed.
  void factor(const ConstraintProblem& problem, std::vector<std::int32_t>& redundant_rows, const char* solver);

  /// x for the blocks of the tree (others are left alone) and the velocities u of all bodies, given b by rows and impulses p,
  /// six per body, on bodies that can move. Needs `factor`.
  void solve(const ConstraintProblem& problem, std::span<const double> b, std::span<const double> p, std::span<double> x,
             std::span<double> u);

  /// Indices of the blocks that close loops or have more than two bodies.
  [[nodiscard]] const std::vector<int>& closures() const { return closures_; }
  [[nodiscard]] bool movable(int body) const { return body >= 0 && !immovable_[body]; }

 private:
  struct Link {
    int body;
    int parent;  // link index, or -1
    int block;   // joint towards the parent or what does not move, or -1 for the root of a free tree
    bool child_is_a;
  };
  struct Factor {
    Mat6 L;        // Cholesky factor of M_c
    Mat6 H;        // L^-1 J_c^T, one column per row of the joint
    double S[36];  // LDL^T of J_c M_c^-1 J_c^T + C
    Vec6 p;        // L^-1 p_c, then
    double b[6];   // b - J_c M_c^-1 p_c
  };

  const double* child_rows(const ConstraintProblem& problem, const Link& link) const;
  const double* parent_rows(const ConstraintProblem& problem, const Link& link) const;

  Structure structure_;
  std::vector<char> immovable_;
  std::vector<Link> links_;  // parents first
  std::vector<int> closures_;
  std::vector<int> loose_;  // blocks between bodies that never move: only their compliance answers
  std::vector<Factor> factors_;
  std::vector<Mat6> inertia_;
  std::vector<Vec6> impulse_;
};

}  // namespace rotule
