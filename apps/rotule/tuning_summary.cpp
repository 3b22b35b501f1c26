#include "tuning_summary.h"

#include <algorithm>
#include <cmath>

namespace rotule::app {

using tune::TunedFrame;

Spread spread_of(const std::vector<double>& values) {
  Spread out;
  if (values.empty()) return out;
  out.least = *std::min_element(values.begin(), values.end());
  out.most = *std::max_element(values.begin(), values.end());
  for (const double v : values) out.mean += v / static_cast<double>(values.size());
  for (const double v : values) out.deviation += (v - out.mean) * (v - out.mean);
  out.deviation = values.size() > 1 ? std::sqrt(out.deviation / static_cast<double>(values.size() - 1)) : 0;
  return out;
}

LinearFit linear_fit(const std::vector<double>& x, const std::vector<double>& y) {
  LinearFit out{.points = static_cast<int>(x.size())};
  if (x.empty()) return out;
  const double mean_x = spread_of(x).mean, mean_y = spread_of(y).mean;
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
    yy += (y[i] - mean_y) * (y[i] - mean_y);
  }
  out.a = xx > 0 ? xy / xx : 0;
  out.b = mean_y - out.a * mean_x;
  out.explained = xx > 0 && yy > 0 ? xy * xy / (xx * yy) : 0;
  return out;
}

std::vector<FrameRow> better_rows(const std::vector<FrameRow>& rows) {
  std::vector<FrameRow> out;
  for (const FrameRow& row : rows)
    if (row.tuned.fitness_after < row.tuned.fitness_before) out.push_back(row);
  return out;
}

TuningSummary summary_of(const std::vector<FrameRow>& rows, double error) {
  TuningSummary out;
  out.frames = static_cast<int>(rows.size());
  if (rows.empty()) return out;
  const auto spread = [&](const auto& value) { return spread_of(column(rows, value)); };
  out.contacts = spread([](const TunedFrame& t) { return double(t.contacts); });
  out.joints = spread([](const TunedFrame& t) { return double(t.joints); });
  out.error_before = spread([](const TunedFrame& t) { return t.before.error; });
  out.error_after = spread([](const TunedFrame& t) { return t.after.error; });
  out.least_before = spread([](const TunedFrame& t) { return t.before.least_error; });
  out.least_after = spread([](const TunedFrame& t) { return t.after.least_error; });
  std::vector<double> ratios;
  const double n = out.frames;
  for (const FrameRow& row : rows) {
    const TunedFrame& t = row.tuned;
    out.reached_before += t.before.least_error <= error;
    out.reached_after += t.after.least_error <= error;
    out.worse += t.after.error > t.before.error && t.after.error > error;
    out.sweeps_before += t.before.sweeps;
    out.sweeps_after += t.after.sweeps;
    out.residual_before += std::log(std::max(t.residual_before, 1e-16)) / n;
    out.residual_after += std::log(std::max(t.residual_after, 1e-16)) / n;
    out.generations += t.generations / n;
    out.solved += static_cast<double>(t.solved) / n;
    ratios.push_back(t.before.error > 0 ? t.after.error / t.before.error : 1);
    // Below the rounding of the sums themselves two codes need not agree.
    const double floor = 1e-9 * (1 + t.norm_b);
    out.worst_disagreement =
        std::max(out.worst_disagreement, std::abs(t.judged_after - t.after.error) / std::max(t.after.error, floor));
  }
  out.residual_before = std::exp(out.residual_before);
  out.residual_after = std::exp(out.residual_after);
  std::nth_element(ratios.begin(), ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2), ratios.end());
  out.median_ratio = ratios[ratios.size() / 2];
  const std::vector<FrameRow> better = better_rows(rows);
  out.better = static_cast<int>(better.size());
  for (const FrameRow& row : better) out.without_kappa += row.tuned.parameters.regularisation == 0;
  const std::vector<double> alpha = column(better, [](const TunedFrame& t) { return t.parameters.relaxation; });
  out.alpha = spread_of(alpha);
  out.kappa = spread_of(column(better, [](const TunedFrame& t) { return t.parameters.regularisation; }));
  out.fit = linear_fit(column(better, [](const TunedFrame& t) { return std::log10(t.conditioning.condition); }), alpha);
  return out;
}

}  // namespace rotule::app
