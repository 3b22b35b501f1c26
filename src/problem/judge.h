#pragma once
// When is an answer good enough? The judge of all solvers, whose number depends neither on units nor on sizes nor on what else is
// in the island (docs/decisions/0012-the-judge-has-no-units.md).
//
// Each law (a row, or a contact's normal and its cone together) is judged by the velocity that it has wrong:
//
//   psi = d x - P(d x - w),   d its own entry of A, the mean of them for rows under one cone,
//
// against the velocity that is at stake there:
//
//   s = |d P(b / d)| + sum over its bodies |J| |Delta u| + min(gamma sum |J| |delta u|, sqrt(d) E) + delta sqrt(d) E
//
// What the row would do alone against b (a motor no more than its strength allows); the change of velocity Delta u that its
// bodies get from all impulses together; a small part gamma of what they get from each impulse taken by itself (a body squeezed
// between jaws gets none together), up to the island's largest of the first two over sqrt(d), E, since impulses of equations that
// contradict each other grow without end; and what rounding leaves of E. The answer is as bad as its worst law: max |psi| / s.
// What is at stake grows with x, so that a wild answer may pass; one that is far too long along itself is as bad as it is too
// long.
#include <rotule/problem.h>

#include <span>
#include <vector>

namespace rotule {

class BlocksOfBodies;
class Gang;

class Judge {
 public:
  /// Sizes of the problem's rows: once per problem, before any word.
  void begin(const ConstraintProblem& problem) { begin(problem, nullptr, nullptr); }
  /// With threads that help, who are to know the blocks of every body.
  void begin(const ConstraintProblem& problem, const BlocksOfBodies* of_bodies, Gang* gang);

  /// The scale-free residual of x.
  double judge(std::span<const double> x);
  /// What rounding alone may leave of the x judged last.
  [[nodiscard]] double rounding() const { return rounding_; }

  /// d, per row.
  [[nodiscard]] std::span<const double> diagonal() const { return d_; }
  /// sqrt(sum psi^2 / d), in units of the square root of energy, for the w = A x - b given: costs no product with A.
  double energy_norm(std::span<const double> x, std::span<const double> w);
  /// What such norms are compared with: that of what rows would do alone against b; 1 where there is nothing to do.
  [[nodiscard]] double energy_scale() const { return energy_scale_; }

 private:
  struct Reach {
    double linear_a, angular_a, linear_b, angular_b;  // lengths of the row's parts of J
  };
  struct Motion {
    double linear = 0, angular = 0;
  };

  template <class Visit>
  void for_each_block(Visit&& visit) const;
  void velocities(std::span<const double> x);
  void psi(std::span<const double> x, std::span<double> w) const;
  [[nodiscard]] double excess(std::span<const double> x) const;
  [[nodiscard]] double alone(int r) const;
  [[nodiscard]] double friction_alone(int first, int count, double limit) const;
  [[nodiscard]] double cone_alone(const FrictionRows& f, double x_normal) const;

  const ConstraintProblem* problem_ = nullptr;
  const BlocksOfBodies* of_bodies_ = nullptr;
  Gang* gang_ = nullptr;
  std::vector<double> d_, w_, stake_, size_, u_;
  std::vector<Reach> reach_;
  std::vector<Motion> whole_, single_;  // per body
  double energy_scale_ = 1, rounding_ = 0;
};

}  // namespace rotule
