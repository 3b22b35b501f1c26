#include "tune/restarts.h"

#include <algorithm>
#include <cmath>

namespace rotule::tune {

SearchResult search(const SearchSpace& space, const CmaSettings& settings, const RestartSettings& restarts, std::uint64_t seed,
                    const GenerationValues& evaluate, const GenerationWatch& watch) {
  SearchResult result;
  Random random(seed, 0x7e57);
  Eigen::VectorXd values;
  const auto run = [&](const SearchSpace& from, CmaSettings how) -> std::int64_t {
    if (restarts.max_evaluations > 0) {
      const std::int64_t left = restarts.max_evaluations - result.evaluations;
      how.max_evaluations = how.max_evaluations > 0 ? std::min(how.max_evaluations, left) : left;
    }
    CmaEs cma(from, how, seed, static_cast<std::uint64_t>(result.searches) + 1);
    values.resize(cma.population());
    while (cma.stop() == Stop::none) {
      evaluate(cma.ask(), values);
      cma.tell(values);
      if (watch) watch(cma);
    }
    if (cma.best_value() < result.value || result.best.size() == 0) {
      result.value = cma.best_value();
      result.best = cma.best();
    }
    result.evaluations += cma.evaluations();
    result.generations += cma.generation();
    ++result.searches;
    result.stop = cma.stop();
    return cma.evaluations();
  };
  const auto ended = [&] {
    return result.stop == Stop::fitness || (restarts.max_evaluations > 0 && result.evaluations >= restarts.max_evaluations);
  };
  const Eigen::VectorXd& low = restarts.from.size() > 0 ? restarts.from : space.lower;
  const Eigen::VectorXd& high = restarts.to.size() > 0 ? restarts.to : space.upper;
  const auto elsewhere = [&](SearchSpace from) {
    if (low.size() != from.start.size() || high.size() != from.start.size()) return from;
    for (int i = 0; i < from.start.size(); ++i) from.start[i] = low[i] + random.uniform() * (high[i] - low[i]);
    return from;
  };

  const std::int64_t first = run(space, settings);
  if (restarts.rule == RestartRule::none) return result;
  const int n = static_cast<int>(space.start.size());
  const int small = settings.population > 0 ? settings.population : 4 + static_cast<int>(std::floor(3 * same_log(n)));
  std::int64_t spent_large = 0, spent_small = 0, last_large = first;
  for (int k = 1; k <= restarts.restarts && !ended();) {
    CmaSettings how = settings;
    SearchSpace from = elsewhere(space);
    const int large = small << k;
    if (restarts.rule == RestartRule::bipop && spent_small < spent_large) {
      // Population between the default and half of the last large one, first step down to a hundredth, half its evaluations.
      const double u = random.uniform(), u2 = u * u, v = random.uniform();
      how.population = static_cast<int>(std::floor(small * same_exp(u2 * same_log(0.5 * (large / 2.0) / small))));
      how.population = std::max(how.population, small);
      how.parents = 0;
      from.deviation *= same_pow10(-2 * v);
      how.max_evaluations = std::max<std::int64_t>(last_large / 2, how.population);
      spent_small += run(from, how);
      continue;
    }
    how.population = large;
    how.parents = 0;
    last_large = run(from, how);
    spent_large += last_large;
    ++k;
  }
  return result;
}

}  // namespace rotule::tune
