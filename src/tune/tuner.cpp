#include "tune/tuner.h"

#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/budget.h"

namespace rotule::tune {

int tuned_parameter(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < tuned_parameters.size(); ++i) {
    if (tuned_parameters[i].name == name) return static_cast<int>(i);
    known += (i ? ", " : "") + std::string(tuned_parameters[i].name);
  }
  throw Error(std::string(name) + ": is not a parameter that can be tuned; there are " + known);
}

double fitness(const TuneSettings& settings, const SweepOutcome& outcome, double log_kappa) {
  const SweepLimits& limits = settings.limits;
  const double sweeps = limits.max_sweeps > 1 ? (outcome.sweeps - 1.0) / (limits.max_sweeps - 1.0) : 0.0;
  const double least = limits.error > 0 ? limits.error : 1e-300;
  const double short_of = same_log10(std::max(outcome.least_error, least) / least);
  if (settings.objective == Objective::time) return sweeps + short_of;
  return sweeps + 0.5 * (log_kappa + 16) / 15 + 1.2 * short_of;
}

namespace {

constexpr double least_log_kappa = -16;

/// Coordinates of the search -> what a sweep is given.
class Reading {
 public:
  explicit Reading(const TuneSettings& settings) : settings_(settings) {
    const auto n = static_cast<Eigen::Index>(settings.parameters.size());
    space.start.resize(n);
    space.deviation.resize(n);
    space.lower.resize(n);
    space.upper.resize(n);
    space.least_deviation = Eigen::VectorXd::Zero(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      const TunedParameter& p = parameter(i);
      const double half = p.choice ? 0.5 : 0;  // a choice reaches half a number beyond its last one
      space.start[i] = p.start;
      space.lower[i] = p.lower - half;
      space.upper[i] = p.upper + half;
      space.deviation[i] = 0.3 * (space.upper[i] - space.lower[i]);
      // Whole numbers stay within reach (as the tutorial's author does it in pycma), until all else has come to rest.
      if (p.choice) space.least_deviation[i] = 0.2;
    }
  }

  /// As it is tried, in steps of the resolution.
  [[nodiscard]] std::vector<double> rounded(const Eigen::VectorXd& x) const {
    std::vector<double> out(x.size());
    for (Eigen::Index i = 0; i < x.size(); ++i) {
      const TunedParameter& p = parameter(i);
      const double unit = p.choice ? 1 : settings_.resolution * p.resolution;
      const double value = unit > 0 ? unit * std::nearbyint(x[i] / unit) : x[i];
      out[i] = std::clamp(value, p.lower, p.upper);
    }
    return out;
  }

  [[nodiscard]] SweepParameters parameters(std::span<const double> x, double& log_kappa) const {
    SweepParameters out = settings_.before;
    log_kappa = out.regularisation > 0 ? same_log10(out.regularisation) : least_log_kappa;
    bool apart = false;
    for (std::size_t i = 0; i < x.size(); ++i) {
      switch (settings_.parameters[i]) {
        case 0:
          out.relaxation = x[i];
          break;
        case 1:
          log_kappa = x[i];
          out.regularisation = x[i] > least_log_kappa ? same_pow10(x[i]) : 0.0;
          break;
        case 2:
          out.friction_relaxation = x[i];
          apart = true;
          break;
        case 3:
          out.warm = x[i];
          break;
        case 4:
          out.staggered = x[i] > 0.5;
          break;
        default:
          out.direction = static_cast<Direction>(static_cast<int>(x[i]));
          break;
      }
    }
    if (!apart) out.friction_relaxation = out.relaxation;
    return out;
  }

  SearchSpace space;

 private:
  [[nodiscard]] const TunedParameter& parameter(Eigen::Index i) const { return tuned_parameters[settings_.parameters[i]]; }
  const TuneSettings& settings_;
};

}  // namespace

TunedFrame tune_frame(const ConstraintProblem& problem, const TuneSettings& settings, std::uint64_t stream, bool keep_course) {
  if (settings.parameters.empty()) throw Error("there is nothing to tune");
  TunedFrame out;
  out.rows = problem.rows();
  out.contacts = contacts_of(problem);
  out.joints = joints_of(problem);
  out.bodies = problem.bodies();
  out.norm_b = problem.b.norm();
  if (settings.conditioning) out.conditioning = conditioning_of(problem);
  SweepLanes lanes(problem);
  VecX x(problem.rows());
  const std::span<double> answer(x.data(), static_cast<std::size_t>(x.size()));

  out.before = lanes.run(settings.before, settings.limits, answer);
  out.residual_before = residual(problem, answer).scale_free;
  const double before_log_kappa =
      settings.before.regularisation > 0 ? same_log10(settings.before.regularisation) : least_log_kappa;
  out.fitness_before = fitness(settings, out.before, before_log_kappa);

  // What was tried, by its rounded coordinates. Each generation solves what is new in it, in one run of lanes.
  const Reading reading(settings);
  std::map<std::vector<double>, double> tried;
  std::vector<std::vector<double>> points;
  std::vector<SweepParameters> fresh;
  std::vector<double> log_kappas;
  std::vector<SweepOutcome> outcomes;
  const auto evaluate = [&](const Eigen::MatrixXd& generation, Eigen::VectorXd& values) {
    Budget::listen();
    points.clear();
    fresh.clear();
    log_kappas.clear();
    std::vector<std::vector<double>> new_points;
    for (Eigen::Index k = 0; k < generation.cols(); ++k) {
      points.push_back(reading.rounded(generation.col(k)));
      if (!tried.try_emplace(points.back(), 0.0).second) continue;
      double log_kappa = 0;
      fresh.push_back(reading.parameters(points.back(), log_kappa));
      log_kappas.push_back(log_kappa);
      new_points.push_back(points.back());
    }
    outcomes.resize(fresh.size());
    lanes.run(fresh, settings.limits, settings.precision, outcomes);
    for (std::size_t i = 0; i < fresh.size(); ++i) tried[new_points[i]] = fitness(settings, outcomes[i], log_kappas[i]);
    for (Eigen::Index k = 0; k < generation.cols(); ++k) values[k] = tried[points[static_cast<std::size_t>(k)]];
    out.asked += generation.cols();
    out.solved += static_cast<std::int64_t>(fresh.size());
  };
  const auto watch = [&](const CmaEs& search) {
    if (!keep_course) return;
    const auto all = [](const Eigen::VectorXd& v) { return std::vector<double>(v.data(), v.data() + v.size()); };
    out.course.push_back({.evaluations = search.evaluations(),
                          .best = search.generation_best(),
                          .sigma = search.sigma(),
                          .axis_ratio = search.axes().maxCoeff() / search.axes().minCoeff(),
                          .mean = all(search.mean()),
                          .axes = all(search.axes()),
                          .deviations = all(search.deviations())});
  };
  // D's annex II; its TolX and TolUpX are in units of the first deviation.
  const CmaSettings rules{.population = settings.population,
                          .parents = settings.parents,
                          .active = settings.active,
                          .stop_fitness = 1e-9,
                          .tol_fun = 1e-12,
                          .tol_hist_fun = 1e-13,
                          .tol_x = 1e-11,
                          .tol_up_sigma = 1e3};
  Eigen::VectorXd first(1);
  evaluate(reading.space.start, first);  // EvalInitialX
  RestartSettings restarts;
  restarts.rule = settings.restarts;
  const SearchResult found =
      search(reading.space, rules, restarts, settings.seed * 0x9e3779b97f4a7c15ULL + stream, evaluate, watch);
  out.generations = found.generations;
  out.stop = found.stop;

  // The best of all that were tried, then once more in double: never worse than before, by the measure that was asked for.
  const auto best =
      std::min_element(tried.begin(), tried.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  out.parameters = reading.parameters(best->first, out.log_kappa);
  out.after = lanes.run(out.parameters, settings.limits, answer);
  out.fitness_after = fitness(settings, out.after, out.log_kappa);
  if (!(out.fitness_after < out.fitness_before)) {
    out.parameters = settings.before;
    out.log_kappa = before_log_kappa;
    out.after = lanes.run(out.parameters, settings.limits, answer);
    out.fitness_after = out.fitness_before;
  }
  const Residual judged = residual(problem, answer);
  out.residual_after = judged.scale_free;
  out.judged_after = judged.sum;
  return out;
}

}  // namespace rotule::tune
