#pragma once
// Tuning of one frame's projected Gauss-Seidel by CMA-ES (D8): each generation is one run of lanes (sweep_lanes.h).
//
//   error: f = 1.0 (k - 1) / (k_max - 1) + 0.5 (log10 kappa + 16) / 15 + 1.2 log10(max(e_min, eps) / eps)          (D8)
//   time:  f = (k - 1) / (k_max - 1) + log10(max(e_min, eps) / eps): sweeps to the error asked for, or how far it is away
//
// Settings have a resolution: candidates are rounded to it before they are tried, and none is tried twice. A relaxation of 1.4321
// is as good as one of 1.43214857: what the strategy does below that would be most of its work, and ends by the same rules at
// once, where all values are equal.
#include <rotule/problem.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tune/frame.h"
#include "tune/restarts.h"
#include "tune/sweep_lanes.h"

namespace rotule::tune {

/// What can be tuned. Numbers have bounds; a choice is a number from 0 on that is rounded.
struct TunedParameter {
  std::string_view name, meaning;
  double lower = 0, upper = 1, start = 0;
  double resolution = 0;
  bool choice = false;
};
inline constexpr std::array<TunedParameter, 6> tuned_parameters{{
    {"alpha", "relaxation", 0.1, 2, 1, 1e-3, false},
    {"kappa", "regularisation, as log10; -16 is none", -16, -1, -8, 1e-2, false},
    {"friction_alpha", "relaxation of the rows of friction, apart from the others", 0.1, 2, 1, 1e-3, false},
    {"warm", "part of the warm start that is taken", 0, 1, 0.5, 1e-3, false},
    {"order", "0: block by block, 1: friction after all else", 0, 1, 0, 1, true},
    {"direction", "0: forward, 1: reverse, 2: to and fro", 0, 2, 0, 1, true},
}};
/// Throws Error with the names that there are.
int tuned_parameter(std::string_view name);

enum class Objective { error, time };

struct TuneSettings {
  std::vector<int> parameters{0, 1};  // indices of tuned_parameters
  Objective objective = Objective::error;
  SweepLimits limits;
  SweepParameters before;  // what tuning is compared with, and the value of what is not tuned
  int population = 24, parents = 12;
  bool active = false;  // D's program had no negative weights
  std::uint64_t seed = 1;
  Precision precision = Precision::double_precision;
  double resolution = 1;  // times each parameter's own; 0: none
  RestartRule restarts = RestartRule::none;
  bool conditioning = true;
};

/// One generation, for plots of the strategy's course (D's annex III).
struct GenerationRecord {
  std::int64_t evaluations = 0;
  double best = 0, sigma = 0, axis_ratio = 1;
  std::vector<double> mean, axes, deviations;
};

struct TunedFrame {
  int rows = 0, contacts = 0, joints = 0, bodies = 0;
  double norm_b = 0;
  Conditioning conditioning;
  SweepParameters parameters;
  double log_kappa = -16;
  SweepOutcome before, after;
  double fitness_before = 0, fitness_after = 0;
  double residual_before = 0, residual_after = 0;  // scale-free, by the judge
  double judged_after = 0;                         // e of the tuned x by the judge: after.error, found by other code
  std::int64_t asked = 0, solved = 0;              // candidates, and those that had not been tried before
  int generations = 0;
  Stop stop = Stop::none;
  std::vector<GenerationRecord> course;  // where asked for
};

double fitness(const TuneSettings& settings, const SweepOutcome& outcome, double log_kappa);

/// The same answer on every machine and thread; `stream` tells frames with one seed apart.
TunedFrame tune_frame(const ConstraintProblem& problem, const TuneSettings& settings, std::uint64_t stream,
                      bool keep_course = false);

}  // namespace rotule::tune
