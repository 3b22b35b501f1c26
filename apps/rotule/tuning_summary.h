#pragma once
// What the frames of one run say together: the numbers of D's tables 3.1 to 3.6.
#include <string>
#include <vector>

#include "tuning.h"

namespace rotule::app {

/// Smallest, largest, mean and deviation of what was seen.
struct Spread {
  double least = 0, most = 0, mean = 0, deviation = 0;
};
Spread spread_of(const std::vector<double>& values);

/// y = a x + b by least squares, and the share of y's variance that it explains.
struct LinearFit {
  double a = 0, b = 0, explained = 0;
  int points = 0;
};
LinearFit linear_fit(const std::vector<double>& x, const std::vector<double>& y);

struct TuningSummary {
  int frames = 0;
  int reached_before = 0, reached_after = 0;  // frames in which the error asked for was reached
  int better = 0;         // frames for which some setting is better than the one before; alpha, kappa and the fit are of these
  int without_kappa = 0;  // of them
  int worse = 0;          // frames whose last error is larger than before: fitness looks at the least one (D8)
  Spread contacts, joints, alpha, kappa, error_before, error_after, least_before, least_after;
  double sweeps_before = 0, sweeps_after = 0;      // of all frames
  double residual_before = 0, residual_after = 0;  // scale-free, geometric means
  double median_ratio = 1;                         // of the error of a frame after and before
  double generations = 0, solved = 0;              // means
  double worst_disagreement = 0;                   // of the tuned error and the judge's, relative
  LinearFit fit;                                   // alpha against log10 cond(A)
};
TuningSummary summary_of(const std::vector<FrameRow>& rows, double error);

/// Those for which some setting is better than the one before: a frame that is solved at once, or that nothing helps, has no best
/// setting to speak of.
std::vector<FrameRow> better_rows(const std::vector<FrameRow>& rows);

/// A column of the rows.
template <class Value>
std::vector<double> column(const std::vector<FrameRow>& rows, const Value& value) {
  std::vector<double> out;
  for (const FrameRow& row : rows) out.push_back(value(row.tuned));
  return out;
}

}  // namespace rotule::app
