#pragma once
// Recorded constraint problems for `rotule solve` and `rotule tournament`: reading them from rotule's own files or FCLIB's, and
// one solver's errors and times on one of them, measured in a process of its own so that a time limit can be kept.
#include <rotule/recipe.h>

#include <string>
#include <vector>

#include "commands.h"
#include "model/solver_list.h"
#include "record/problem_file.h"

namespace rotule::app {

struct NamedProblem {
  std::string name;  // file, frame and island
  ConstraintProblem problem;
};

/// One problem; frame and island are for rotule's own files.
NamedProblem read_named_problem(const std::string& path, std::int64_t frame, int island);
/// Of a file of rotule's own at most `most` of the frames that hold a problem, evenly spread (one: the last), the largest island
/// of each; of FCLIB's the one that there is.
std::vector<NamedProblem> read_some_problems(const std::string& path, int most);

/// What came of one solver on one problem for one goal.
struct Attempt {
  double goal = 0;                              // scale-free residual asked for; 0: the solver's own settings
  double residual = -1;                         // by the judge; -1: not known
  double natural_map = -1, sum = -1, max = -1;  // FCLIB's over |b|, D4's: in the problem's own units
  int iterations = 0;
  double seconds = 0;
  bool reached = false;
};

struct Trial {
  std::string solver;
  std::string refusal;  // why it was not tried, or how it broke; empty where it ran
  bool out_of_time = false;
  std::vector<Attempt> attempts;
};

/// Solves for each goal from a cold start, coarsest first, each timed by its faster second run; stops after `limit` seconds.
Trial measure(const ConstraintProblem& problem, const NamedSolver& solver, const std::vector<double>& goals, double limit);

/// Names separated by commas, or "all": those that know the laws of some contact.
std::vector<NamedSolver> solvers_by_name(const std::vector<std::string>& names, const std::vector<std::string>& settings);

/// Numbers like 1e-2, strictly positive, coarsest first.
std::vector<double> goals_from(const std::vector<double>& given);

}  // namespace rotule::app
