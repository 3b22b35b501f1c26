// Solvers for users: the entry of solve/solve.h with its memory hidden and what it is given checked first. Names are looked up in
// model/solver_list.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/recipe.h>
#include <rotule/solve.h>

#include "model/validate.h"
#include "solve/solve.h"

namespace rotule {

std::string why_not(const ConstraintProblem& problem, const SolverChoice& solver) {
  const SolverTraits traits = solver.traits();
  const bool bounds = (problem.lower.array() > -infinity).any() || (problem.upper.array() < infinity).any();
  bool cone = false, box = false;
  for (const FrictionRows& group : problem.friction) (group.cone ? cone : box) = true;
  if (bounds && !traits.bounds) return "knows no bounds";
  if (cone && !traits.cone) return "knows no cones";
  if (box && !traits.box) return "knows no boxes";
  return {};
}

struct Solver::Memory {
  SolverChoice settings;
  Workspace workspace = {};
  SolveReport report = {};
};

Solver::Solver(const SolverChoice& settings) {
  Recipe recipe;
  recipe.solver = settings;
  validate(recipe, Place(""));
  memory_ = std::make_unique<Memory>(Memory{settings});
}
Solver::Solver(Solver&&) noexcept = default;
Solver& Solver::operator=(Solver&&) noexcept = default;
Solver::~Solver() = default;

const SolverChoice& Solver::settings() const { return memory_->settings; }

const SolveReport& Solver::solve(const ConstraintProblem& problem, std::span<double> x) {
  validate(problem);
  if (static_cast<int>(x.size()) != problem.rows())
    throw Error("solve", fmt::format("x must have a number for each of the {} rows, has {}", problem.rows(), x.size()));
  if (const std::string why = why_not(problem, memory_->settings); !why.empty())
    throw Error("solve", fmt::format("this solver {}; `auto` takes every problem", why));
  rotule::solve(problem, memory_->settings, memory_->workspace, x, memory_->report);
  return memory_->report;
}

SolveReport solve(const ConstraintProblem& problem, const SolverChoice& settings, std::span<double> x) {
  return Solver(settings).solve(problem, x);
}

}  // namespace rotule
