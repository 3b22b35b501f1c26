#pragma once
// Constraint problems (problem.h) solved outside of any world: those that a world keeps (World::keep_problems), or one's own.
//
//   w = A x - b,   A = J M^-1 J^T + C,   lower <= x <= upper, friction cones or boxes.
//
// Every answer can be judged by `residual` (problem.h), whoever gave it.
#include <rotule/problem.h>
#include <rotule/solver_choice.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rotule {

/// Why this solver cannot take this problem, in a few words, such as "knows no cones"; empty where it can.
std::string why_not(const ConstraintProblem& problem, const SolverChoice& solver);

/// A solver with its memory: factors, orders and arrays are kept from call to call, so that problems of the same structure
/// (bodies, blocks and rows) cost no allocation and no new symbolic work. One thread at a time.
class Solver {
 public:
  /// Throws Error where a setting is out of its range.
  explicit Solver(const SolverChoice& settings);
  Solver(Solver&&) noexcept;
  Solver& operator=(Solver&&) noexcept;
  ~Solver();

  [[nodiscard]] const SolverChoice& settings() const;

  /// Writes x, one number per row; iterations start at problem.x0. The report is valid until the next call. Throws Error where
  /// the problem is not sound (`validate`), x has another length, or the solver cannot take such a problem (`why_not`).
  const SolveReport& solve(const ConstraintProblem& problem, std::span<double> x);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// The same for a single problem.
SolveReport solve(const ConstraintProblem& problem, const SolverChoice& settings, std::span<double> x);

}  // namespace rotule
