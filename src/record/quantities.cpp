#include "record/quantities.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "record/json_text.h"

namespace rotule {

namespace {

using Column = std::vector<double>;
using Reader = TrajectoryReader;

/// So many numbers per frame, of which some are wanted: one column for each. Read piece by piece, for what is large.
std::vector<Column> columns(const Reader& recording, const std::string& array, std::size_t width,
                            const std::vector<std::size_t>& wanted) {
  if (!recording.contains(array))
    throw Error(recording.path(), fmt::format("does not hold {}: it was recorded by an older program; record it again", array));
  constexpr std::size_t most_numbers = std::size_t{1} << 20;
  const std::size_t piece = std::max<std::size_t>(1, most_numbers / std::max<std::size_t>(1, width));
  std::vector<Column> out(wanted.size());
  for (Column& column : out) column.reserve(recording.frames());
  for (std::size_t first = 0; first < recording.frames(); first += piece) {
    const std::size_t count = std::min(piece, recording.frames() - first);
    const Column numbers = recording.series(array, first, count);
    if (numbers.size() != count * width)
      throw Error(recording.path(),
                  fmt::format("{} must have {} numbers per frame, has {} in {} of them", array, width, numbers.size(), count));
    for (std::size_t k = 0; k < wanted.size(); ++k)
      for (std::size_t i = 0; i < count; ++i) out[k].push_back(numbers[i * width + wanted[k]]);
  }
  return out;
}

std::vector<Column> columns(const Reader& recording, const std::string& array, std::size_t width) {
  std::vector<std::size_t> all(width);
  std::iota(all.begin(), all.end(), 0);
  return columns(recording, array, width, all);
}

Column column(const Reader& recording, const std::string& array) { return columns(recording, array, 1).front(); }

Column length(const std::vector<Column>& parts, std::size_t first, std::size_t count) {
  Column out(parts.at(first).size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < count; ++k) sum += parts[first + k][i] * parts[first + k][i];
    out[i] = std::sqrt(sum);
  }
  return out;
}

/// Collects lines over the recording's time.
struct Lines {
  const Reader& recording;
  Plot plot;
  Column time;
  Lines(const Reader& r, const std::string& title, const std::string& label, const std::string& unit) : recording(r) {
    plot.title = title;
    plot.x.label = "time [s]";
    plot.y.label = unit.empty() ? label : fmt::format("{} [{}]", label, unit);
    time = column(r, "/time");
  }
  void add(std::string name, Column values) {
    if (values.size() != time.size()) throw Error(recording.path(), "its arrays differ in the number of frames");
    plot.series.push_back({std::move(name), time, std::move(values)});
  }
  /// Errors span decades, where there are any at all.
  Plot logarithmic() {
    for (const PlotSeries& series : plot.series)
      for (const double value : series.y) plot.y.logarithmic = plot.y.logarithmic || (std::isfinite(value) && value > 0);
    return std::move(plot);
  }
};

const std::array<const char*, 3> coordinate_names{"x", "y", "z"};

Plot three_axes(Lines lines, const std::string& array) {
  const std::vector<Column> parts = columns(lines.recording, array, 3);
  for (std::size_t k = 0; k < 3; ++k) lines.add(coordinate_names[k], parts[k]);
  return std::move(lines.plot);
}

Plot energy(const Reader& r) {
  Lines lines(r, "Energy", "energy", "J");
  const Column kinetic = column(r, "/energy/kinetic"), potential = column(r, "/energy/potential");
  Column total(kinetic.size());
  std::transform(kinetic.begin(), kinetic.end(), potential.begin(), total.begin(), std::plus<>());
  lines.add("kinetic", kinetic);
  lines.add("potential", potential);
  lines.add("total", total);
  return std::move(lines.plot);
}

/// Against what the run's own summary took, else against the largest kinetic energy.
Plot energy_error(const Reader& r) {
  Lines lines(r, "Relative change of energy", "|E − E₀| / scale", "");
  const Column kinetic = column(r, "/energy/kinetic"), potential = column(r, "/energy/potential");
  const Column shock = r.contains("/energy/shock") ? column(r, "/energy/shock") : Column(kinetic.size(), 0.0);
  double scale = 0;
  for (const double k : kinetic) scale = std::max(scale, k);
  if (const Json summary = parse_if_json(r.summary()); summary.is_object())
    if (const auto given = summary.value(Json::json_pointer("/energy/scale"), 0.0); given > 0) scale = given;
  Column error(kinetic.size());
  for (std::size_t i = 0; i < error.size(); ++i) {
    error[i] = std::abs(kinetic[i] + potential[i] + shock[i] - kinetic[0] - potential[0]);
    if (scale > 0) error[i] /= scale;
  }
  lines.add("energy", error);
  return lines.logarithmic();
}

/// One line per joint where they are few, else those that reach the most, and for errors the largest of all.
Plot of_joints(const Reader& r, Lines lines, const std::string& array, std::size_t components, bool logarithmic) {
  constexpr std::size_t most_lines = 8;
  const std::vector<std::string>& names = r.joint_names();
  if (names.empty()) throw Error(r.path(), "has no joints");
  const std::size_t width = names.size() * components;
  // Only the largest of each joint first, so that a thousand of them do not fill the memory.
  std::vector<double> largest(names.size(), 0.0);
  const std::size_t piece = std::max<std::size_t>(1, (std::size_t{1} << 20) / width);
  Column over_all;
  for (std::size_t first = 0; first < r.frames(); first += piece) {
    const Column numbers = r.series(array, first, std::min(piece, r.frames() - first));
    for (std::size_t i = 0; i + width <= numbers.size(); i += width) {
      double worst = 0;
      for (std::size_t j = 0; j < names.size(); ++j) {
        double sum = 0;
        for (std::size_t k = 0; k < components; ++k) sum += std::pow(numbers[i + j * components + k], 2);
        largest[j] = std::max(largest[j], std::sqrt(sum));
        worst = std::max(worst, std::sqrt(sum));
      }
      over_all.push_back(worst);
    }
  }
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return largest[a] > largest[b]; });
  const bool many = names.size() > (logarithmic ? 3 : most_lines);
  if (many) {
    lines.add(fmt::format("largest of {}", names.size()), over_all);
    order.resize(logarithmic ? 0 : most_lines - 1);  // errors near rounding cover each other
  }
  std::vector<std::size_t> wanted;
  for (const std::size_t j : order)
    for (std::size_t k = 0; k < components; ++k) wanted.push_back(j * components + k);
  const std::vector<Column> parts = columns(r, array, width, wanted);
  for (std::size_t k = 0; k < order.size(); ++k) lines.add(names[order[k]], length(parts, k * components, components));
  return logarithmic ? lines.logarithmic() : std::move(lines.plot);
}

Plot momentum(const Reader& r) { return three_axes(Lines(r, "Linear momentum", "momentum", "kg m/s"), "/momentum/linear"); }
Plot angular_momentum(const Reader& r) {
  return three_axes(Lines(r, "Angular momentum about the origin", "angular momentum", "kg m²/s"), "/momentum/angular");
}
Plot joint_error(const Reader& r) {
  return of_joints(r, Lines(r, "Joint error", "position error", "m, rad"), "/joint_error", 1, true);
}
Plot joint_force(const Reader& r) { return of_joints(r, Lines(r, "Joint forces", "force", "N"), "/joint_force", 3, false); }

Plot single(const Reader& r, const std::string& title, const std::string& label, const std::string& unit, const char* array,
            bool logarithmic = false) {
  Lines lines(r, title, label, unit);
  lines.add(label, column(r, array));
  return logarithmic ? lines.logarithmic() : std::move(lines.plot);
}
Plot residual(const Reader& r) {
  return single(r, "Residual of the constraint solve", "relative residual", "", "/residual", true);
}
Plot contacts(const Reader& r) { return single(r, "Contacts", "contact points", "", "/contacts"); }
Plot penetration(const Reader& r) { return single(r, "Deepest penetration", "penetration", "m", "/penetration", true); }
Plot shock_energy(const Reader& r) { return single(r, "Energy taken out by shocks", "energy", "J", "/energy/shock"); }
Plot iterations(const Reader& r) { return single(r, "Solver iterations per step", "iterations", "", "/iterations"); }

Plot step_time(const Reader& r) {
  Lines lines(r, "Time per step", "time", "ms");
  std::vector<Column> stages = columns(r, "/stage_seconds", stage_count);
  Column sum(lines.time.size(), 0.0);
  for (Column& stage : stages)
    for (std::size_t i = 0; i < stage.size(); ++i) sum[i] += (stage[i] *= 1e3);
  lines.add("all", sum);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const double most = *std::max_element(stages[k].begin(), stages[k].end());
    if (most > 0) lines.add(std::string(stage_names[k]), stages[k]);
  }
  // The start has no step.
  for (PlotSeries& series : lines.plot.series) series.y.front() = std::nan("");
  return lines.logarithmic();
}

struct Whole {
  QuantityName name;
  Plot (*plot)(const Reader&);
};
const std::vector<Whole>& wholes() {
  static const std::vector<Whole> out{
      {{"energy", "J", "kinetic, potential and total energy"}, energy},
      {{"energy_error", "", "change of the energy, shocks accounted for, relative to the energy that moves"}, energy_error},
      {{"momentum", "kg m/s", "linear momentum"}, momentum},
      {{"angular_momentum", "kg m²/s", "about the origin"}, angular_momentum},
      {{"joint_error", "m, rad", "how far joints stand open"}, joint_error},
      {{"joint_force", "N", "what joints exert, the largest eight"}, joint_force},
      {{"residual", "", "how well the constraints were solved for"}, residual},
      {{"contacts", "", "points that touch or nearly do"}, contacts},
      {{"penetration", "m", "deepest overlap of two bodies"}, penetration},
      {{"shock_energy", "J", "taken out by shocks so far"}, shock_energy},
      {{"iterations", "", "of the solver, per step"}, iterations},
      {{"step_time", "ms", "of each step, by stage"}, step_time},
  };
  return out;
}

/// A quantity of a body or a joint: an array, and what of its row is shown.
struct Part {
  QuantityName name;  // after the dot
  bool joint = false;
  const char* array;
  std::size_t width;  // numbers per body or joint
  bool magnitude = false;
  bool logarithmic = false;
};
const std::vector<Part>& parts() {
  static const std::vector<Part> out{
      {{"position", "m", "of the body's frame"}, false, "/position", 3},
      {{"velocity", "m/s", "of the centre of mass"}, false, "/velocity", 3},
      {{"speed", "m/s", "of the centre of mass"}, false, "/velocity", 3, true},
      {{"orientation", "", "quaternion"}, false, "/orientation", 4},
      {{"angular_velocity", "rad/s", "in world axes"}, false, "/angular_velocity", 3},
      {{"angular_speed", "rad/s", "how fast it turns"}, false, "/angular_velocity", 3, true},
      {{"force", "N", "that the joint exerts on its second body; .magnitude for its length"}, true, "/joint_force", 3},
      {{"torque", "N m", "about the joint's point; .magnitude for its length"}, true, "/joint_torque", 3},
      {{"error", "m, rad", "how far the joint stands open"}, true, "/joint_error", 1, false, true},
  };
  return out;
}

std::vector<std::string> components_of(const Part& part) {
  if (part.magnitude || part.width == 1) return {};
  if (part.width == 4) return {"w", "x", "y", "z"};
  return {"x", "y", "z"};
}

/// "*" stands for any characters.
bool matches(std::string_view pattern, std::string_view text) {
  const auto star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (std::size_t at = star; at <= text.size(); ++at)
    if (matches(rest, text.substr(at))) return true;
  return false;
}

/// The lines of one part of all that the pattern names; component: which one, or -1 for all, or -2 for the length.
Plot plot_part(const Reader& r, const Part& part, const std::string& pattern, int component, const std::string& asked) {
  const std::vector<std::string>& names = part.joint ? r.joint_names() : r.body_names();
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (matches(pattern, names[i])) chosen.push_back(i);
  constexpr std::size_t most_lines = 200;
  const char* kind = part.joint ? "joint" : "body";
  if (chosen.empty())
    throw Error(r.path(), fmt::format("has no {} {}; {}", kind, in_quotes(pattern), suggestion(pattern, names)));
  const bool length_alone = part.magnitude || component == -2;
  const std::size_t each = component >= 0 || length_alone ? 1 : part.width;
  if (chosen.size() * each > most_lines)
    throw Error(r.path(),
                fmt::format("{} would be {} lines; at most {} make a plot", in_quotes(asked), chosen.size() * each, most_lines));
  const std::vector<std::string> suffixes = components_of(part);
  std::vector<std::size_t> wanted;
  for (const std::size_t i : chosen)
    for (std::size_t k = 0; k < part.width; ++k)
      if (component < 0 || static_cast<std::size_t>(component) == k) wanted.push_back(i * part.width + k);
  const std::vector<Column> read = columns(r, part.array, names.size() * part.width, wanted);

  std::string what = part.name.name;
  if (component >= 0 && !suffixes.empty()) what += " " + suffixes[static_cast<std::size_t>(component)];
  std::replace(what.begin(), what.end(), '_', ' ');
  Lines lines(r, fmt::format("{}: {}", pattern == "*" ? (part.joint ? "All joints" : "All bodies") : pattern, what), what,
              part.name.unit);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (length_alone) {
      lines.add(names[chosen[i]], length(read, i * part.width, part.width));
      continue;
    }
    for (std::size_t k = 0; k < each; ++k) {
      const std::string suffix = each > 1 ? suffixes[k] : "";
      lines.add(chosen.size() == 1 && each > 1 ? suffix : names[chosen[i]] + (suffix.empty() ? "" : " " + suffix),
                read[i * each + k]);
    }
  }
  return part.logarithmic ? lines.logarithmic() : std::move(lines.plot);
}

}  // namespace

const std::vector<QuantityName>& quantity_names() {
  static const std::vector<QuantityName> all = [] {
    std::vector<QuantityName> out;
    for (const Whole& whole : wholes()) out.push_back(whole.name);
    for (const Part& part : parts()) {
      std::string name = fmt::format("{}.{}", part.joint ? "JOINT" : "BODY", part.name.name);
      if (const auto suffixes = components_of(part); !suffixes.empty()) name += fmt::format("[.{}]", fmt::join(suffixes, "|."));
      out.push_back({name, part.name.unit, part.name.meaning});
    }
    return out;
  }();
  return all;
}

Plot plot_quantity(const TrajectoryReader& recording, const std::string& name) {
  if (recording.frames() == 0) throw Error(recording.path(), "has no frames");
  for (const Whole& whole : wholes())
    if (whole.name.name == name) return whole.plot(recording);
  // Names may hold dots: what counts is how the text ends.
  for (const Part& part : parts()) {
    std::vector<std::string> endings = components_of(part);
    for (std::size_t k = 0; k < endings.size(); ++k)
      if (const std::string end = fmt::format(".{}.{}", part.name.name, endings[k]); name.ends_with(end))
        return plot_part(recording, part, name.substr(0, name.size() - end.size()), static_cast<int>(k), name);
    if (const std::string end = fmt::format(".{}.magnitude", part.name.name); part.width == 3 && name.ends_with(end))
      return plot_part(recording, part, name.substr(0, name.size() - end.size()), -2, name);
    if (const std::string end = "." + part.name.name; name.ends_with(end))
      return plot_part(recording, part, name.substr(0, name.size() - end.size()), -1, name);
  }
  std::vector<std::string> known;
  for (const QuantityName& quantity : quantity_names()) known.push_back(quantity.name);
  std::string hint;
  if (const auto near = nearest(name, known)) hint = fmt::format("did you mean \"{}\"? ", *near);
  throw Error(fmt::format("unknown quantity {}; {}known are: {}", in_quotes(name), hint, fmt::join(known, ", ")));
}

std::vector<std::string> usual_quantities(const TrajectoryReader& recording) {
  std::vector<std::string> out{"energy", "energy_error"};
  const auto some = [&](const char* array) {
    if (!recording.contains(array)) return false;
    const Column values = recording.series(array);
    return std::any_of(values.begin(), values.end(), [](double v) { return v > 0; });
  };
  if (!recording.joint_names().empty()) out.insert(out.end(), {"joint_error", "joint_force"});
  if (some("/contacts")) out.insert(out.end(), {"contacts", "penetration"});
  if (some("/residual")) out.emplace_back("residual");
  if (some("/iterations")) out.emplace_back("iterations");
  if (recording.frames() > 1 && some("/stage_seconds")) out.emplace_back("step_time");
  return out;
}

}  // namespace rotule
