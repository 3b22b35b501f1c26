#pragma once
// CMA-ES begun again, where a search may end in a local optimum.
//   ipop:  every restart has twice the population of the last (Auger and Hansen 2005).
//   bipop: such restarts take turns with small populations and small first steps, whichever of both has spent less so far
//          (Hansen 2009).
#include <functional>
#include <optional>

#include "tune/cma_es.h"

namespace rotule::tune {

enum class RestartRule { none, ipop, bipop };

struct RestartSettings {
  RestartRule rule = RestartRule::ipop;
  int restarts = 9;                  // of the growing kind, at most
  std::int64_t max_evaluations = 0;  // of all searches together; 0: no limit
  Eigen::VectorXd from, to;          // a restart begins anywhere between these, else within the bounds, else where the first did
};

struct SearchResult {
  Eigen::VectorXd best;
  double value = std::numeric_limits<double>::infinity();
  std::int64_t evaluations = 0;
  int searches = 0;
  int generations = 0;     // of all searches
  Stop stop = Stop::none;  // of the last one
};

/// A generation's points in columns -> their values.
using GenerationValues = std::function<void(const Eigen::MatrixXd& points, Eigen::VectorXd& values)>;
/// Told after each generation.
using GenerationWatch = std::function<void(const CmaEs& search)>;

SearchResult search(const SearchSpace& space, const CmaSettings& settings, const RestartSettings& restarts, std::uint64_t seed,
                    const GenerationValues& evaluate, const GenerationWatch& watch = {});

}  // namespace rotule::tune
