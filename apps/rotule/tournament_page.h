#pragma once
// What a tournament of solvers says to people: performance profiles (Dolan and Moré 2002), and a page around them.
//
//   rho_s(tau) = share of the problems that solver s solves within tau times the time of the fastest on that problem
//
// rho_s(1) is how often s is the fastest, its height at the right how much it solves at all.
#include <string>
#include <vector>

#include "record/svg_plot.h"
#include "recorded.h"

namespace rotule::app {

struct Bout {
  const NamedProblem* problem;
  std::vector<Trial> trials;  // one per solver
};

/// Why the goal with index k was missed; empty where it was reached.
std::string shortfall(const Trial& trial, std::size_t k);
/// Seconds of the fastest for each goal; infinite where nobody reached it.
std::vector<double> fastest(const Bout& bout, std::size_t goals);
std::string file_name(const std::string& path);

/// One profile per goal, over the problems that somebody solved; at most as many solvers as colours, the best ones.
std::vector<Plot> performance_profiles(const std::vector<Bout>& bouts, const std::vector<double>& goals);

/// A page that stands alone.
std::string tournament_page(const std::vector<Bout>& bouts, const std::vector<double>& goals, double limit);

}  // namespace rotule::app
