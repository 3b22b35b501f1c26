// rotule flutter: the damping of every mode against the speed of the wind, and the speed from which one of them grows.
#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/flutter.h>

#include <algorithm>
#include <cmath>

#include "base/printable.h"
#include "base/text.h"
#include "commands.h"
#include "record/json_text.h"
#include "record/svg_plot.h"

namespace rotule::app {
namespace {

/// "5..60", "5..60:12" or "10,20,40".
std::vector<double> speeds_of(const std::string& text) {
  const auto bad = [&] {
    return Error(fmt::format(
        "--wind {}: must be two speeds in m/s, 5..60, with how many to look at, 5..60:12, or a list, 10,20,40", in_quotes(text)));
  };
  std::vector<double> out;
  if (const auto dots = text.find(".."); dots != text.npos) {
    const auto colon = text.find(':', dots);
    const auto low = to_double(text.substr(0, dots)), high = to_double(text.substr(dots + 2, colon - dots - 2));
    const auto count = colon == text.npos ? std::optional<long long>(12) : to_integer(text.substr(colon + 1));
    if (!low || !high || !count || !(*low >= 0) || !(*high > *low) || !std::isfinite(*high) || *count < 2 || *count > 100000)
      throw bad();
    for (long long k = 0; k < *count; ++k)
      out.push_back(*low + (*high - *low) * static_cast<double>(k) / static_cast<double>(*count - 1));
    return out;
  }
  for (std::size_t first = 0; first <= text.size();) {
    const std::size_t comma = std::min(text.find(',', first), text.size());
    const auto speed = to_double(text.substr(first, comma - first));
    if (!speed || !(*speed >= 0) || (!out.empty() && !(*speed > out.back()))) throw bad();
    out.push_back(*speed);
    first = comma + 1;
  }
  return out;
}

Json json_of(const FlutterReport& report, const std::string& name) {
  Json points = Json::array();
  for (const FlutterPoint& point : report.points) {
    Json modes = Json::array();
    for (const DampedMode& mode : point.modes)
      modes.push_back({{"real", mode.eigenvalue.real()},
                       {"imaginary", mode.eigenvalue.imag()},
                       {"frequency", mode.frequency},
                       {"damping_ratio", mode.damping_ratio}});
    points.push_back({{"speed", point.speed}, {"unbalance", point.unbalance}, {"modes", std::move(modes)}});
  }
  Json out = {{"scene", name}, {"flow", report.flow}, {"leaders", report.leaders}, {"left_out", report.left_out}};
  out["critical_speed"] = report.critical_speed ? Json(*report.critical_speed) : Json(nullptr);
  out["critical_frequency"] = report.critical_speed ? Json(report.critical_frequency) : Json(nullptr);
  out["points"] = std::move(points);
  return out;
}

/// Modes that swing, or grow, at some speed. Others, wakes most of all, only decay.
std::vector<std::size_t> modes_of_interest(const FlutterReport& report) {
  constexpr double swings = 0.999;
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < report.leaders.size(); ++k)
    if (std::any_of(report.points.begin(), report.points.end(),
                    [k](const FlutterPoint& point) { return k < point.modes.size() && point.modes[k].damping_ratio < swings; }))
      out.push_back(k);
  return out;
}

/// Damping ratios above, frequencies below, of these modes.
std::string picture(const FlutterReport& report, const std::string& name, const std::vector<std::size_t>& modes) {
  Plot damping{.title = fmt::format("{}: damping in the wind", name), .x = {"speed [m/s]"}, .y = {"damping ratio"}, .series = {}};
  Plot frequency{.title = "Frequencies", .x = {"speed [m/s]"}, .y = {"frequency [Hz]"}, .series = {}};
  for (const std::size_t k : modes) {
    const std::string label = fmt::format("{} {}", damping.series.size() + 1, report.leaders[k]);
    PlotSeries of_damping{.name = label, .x = {}, .y = {}, .markers = true};
    PlotSeries of_frequency{.name = label, .x = {}, .y = {}, .markers = true};
    for (const FlutterPoint& point : report.points) {
      if (k >= point.modes.size()) continue;
      of_damping.x.push_back(point.speed);
      of_damping.y.push_back(point.modes[k].damping_ratio);
      of_frequency.x.push_back(point.speed);
      of_frequency.y.push_back(point.modes[k].frequency);
    }
    damping.series.push_back(std::move(of_damping));
    frequency.series.push_back(std::move(of_frequency));
  }
  return to_svg({damping, frequency});
}

}  // namespace

void flutter(const FlutterOptions& options) {
  const NamedScene named = find_scene(options.scene);
  if (!options.svg.empty()) require_other_file(options.svg, options.scene);
  FlutterReport report;
  try {
    report = rotule::flutter(named.scene, {.speeds = speeds_of(options.wind), .flow = options.flow});
  } catch (const Error& error) {
    throw Error(named.origin, error.what());
  }
  std::vector<std::size_t> modes = modes_of_interest(report);
  const std::size_t all = modes.size(), decaying = report.leaders.size() - all;
  modes.resize(std::min(static_cast<std::size_t>(options.modes), all));
  if (!options.svg.empty()) write_text_file(options.svg, picture(report, named.name, modes));
  if (options.json) {
    print(json_of(report, named.name).dump(2) + "\n");
    return;
  }
  std::string text = fmt::format("{}: damping ratio (frequency in Hz) of the slowest modes in flow {}\n", shown(named.name),
                                 in_quotes(shown(report.flow)));
  text += fmt::format("{:>9}", "m/s");
  for (const std::size_t k : modes) text += fmt::format(" {:>20}", shown(report.leaders[k]));
  text += "\n";
  double unbalance = 0;
  for (const FlutterPoint& point : report.points) {
    text += fmt::format("{:>9.4g}", point.speed);
    for (const std::size_t k : modes)
      if (k < point.modes.size())
        text += fmt::format(" {:>20}", fmt::format("{:.4f} ({:.4g})", point.modes[k].damping_ratio, point.modes[k].frequency));
    text += "\n";
    unbalance = std::max(unbalance, point.unbalance);
  }
  if (all > modes.size()) text += fmt::format("{} faster modes are not shown; --modes shows more\n", all - modes.size());
  if (decaying > 0) text += fmt::format("{} modes that only decay, at all these speeds, are left out\n", decaying);
  if (!report.critical_speed)
    text += fmt::format("nothing grows up to {:.4g} m/s\n", report.points.back().speed);
  else if (report.critical_frequency > 0)
    text += fmt::format("flutter from {:.5g} m/s on, at {:.4g} Hz\n", *report.critical_speed, report.critical_frequency);
  else
    text += fmt::format("divergence from {:.5g} m/s on: it grows without oscillating\n", *report.critical_speed);
  if (report.critical_speed && *report.critical_speed == report.points.front().speed)
    text += "it grows at the lowest speed already; begin lower\n";
  for (const std::string& name : report.left_out)
    text += fmt::format("flow {} comes and goes, and is left out\n", in_quotes(shown(name)));
  constexpr double balanced_in_wind = 1e-3;
  if (unbalance > balanced_in_wind)
    text += fmt::format("no equilibrium was found at some speeds: at rest it would accelerate by up to {:.3g} m/s^2, rad/s^2\n",
                        unbalance);
  print(text);
}

}  // namespace rotule::app
