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

Column column(const Reader& recording, const Quantity& q) { return columns(recording, std::string(q.dataset), 1).front(); }
Column column(const Reader& recording, QuantityKey key) { return column(recording, quantity(key)); }

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
    time = column(r, "time");
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

std::string in_lower_case(std::string_view label) {
  std::string out(label);
  out[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(out[0])));
  return out;
}

/// As it is printed.
std::string unit_of(const Quantity& q) {
  std::string out(q.unit);
  if (const std::size_t two = out.find("^2"); two != out.npos) out.replace(two, 2, "²");
  return out;
}

Lines lines_of(const Reader& r, const Quantity& q) {
  return {r, std::string(q.title.empty() ? q.label : q.title), in_lower_case(q.label), unit_of(q)};
}

/// What the run's own summary took, else the largest kinetic energy.
double energy_scale_of(const Reader& r) {
  if (const Json summary = parse_if_json(r.summary()); summary.is_object())
    if (const auto given = summary.value(Json::json_pointer("/energy/scale"), 0.0); given > 0) return given;
  const Column kinetic = column(r, "kinetic_energy");
  return kinetic.empty() ? 0 : *std::max_element(kinetic.begin(), kinetic.end());
}

bool is_some(const Column& values) {
  return std::any_of(values.begin(), values.end(), [](double x) { return std::isfinite(x) && x != 0; });
}

/// All work and losses that there were, and what is left over.
Plot energy_balance(const Reader& r) {
  Lines lines(r, "Where the energy came from and went to", "energy", "J");
  for (const Quantity& q : quantities) {
    const bool work = q.key.starts_with("work_"), lost = q.key.starts_with("lost_");
    if ((!work && !lost && q.key != quantity("energy_left_over").key) || !r.holds(q)) continue;
    if (Column values = column(r, q); is_some(values)) lines.add(in_lower_case(q.label), std::move(values));
  }
  if (lines.plot.series.empty()) throw Error(r.path(), "has no work, losses or energy left over to show");
  return std::move(lines.plot);
}

Plot energy_error(const Reader& r) {
  if (const Quantity& q = quantity("energy_left_over"); r.holds(q)) {
    Column left = column(r, q);
    if (std::all_of(left.begin(), left.end(), [](double x) { return std::isfinite(x); })) {
      Lines lines(r, "Energy left over", "left over / scale", "");
      const double scale = energy_scale_of(r);
      for (double& x : left) x = std::abs(x) / (scale > 0 ? scale : 1);
      lines.add("left over", left);
      return lines.logarithmic();
    }
  }
  // Without books: a change by shocks alone is accounted for.
  Lines lines(r, "Relative change of energy", "|E − E₀| / scale", "");
  const Column kinetic = column(r, "kinetic_energy"), potential = column(r, "potential_energy");
  const Column shock = r.holds(quantity("shock_energy")) ? column(r, "shock_energy") : Column(kinetic.size(), 0.0);
  const double scale = energy_scale_of(r);
  Column error(kinetic.size());
  for (std::size_t i = 0; i < error.size(); ++i) {
    error[i] = std::abs(kinetic[i] + potential[i] + shock[i] - kinetic[0] - potential[0]);
    if (scale > 0) error[i] /= scale;
  }
  lines.add("energy", error);
  return lines.logarithmic();
}

/// One line per joint where they are few, else those that reach the most, and for errors the largest of all.
Plot of_joints(const Reader& r, const Quantity& q) {
  Lines lines = lines_of(r, q);
  const std::string array(q.dataset);
  const auto components = static_cast<std::size_t>(q.components);
  const bool logarithmic = q.logarithmic;
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

/// The number itself; the parts of a sum, then the sum; the components of a vector.
Plot of_run(const Reader& r, const Quantity& q) {
  Lines lines = lines_of(r, q);
  if (!q.sum_of[0].empty()) {
    Column total(lines.time.size(), 0.0);
    for (const Quantity& part : quantities) {
      if (part.key != q.sum_of[0] && part.key != q.sum_of[1]) continue;
      const Column values = column(r, part);
      std::transform(values.begin(), values.end(), total.begin(), total.begin(), std::plus<>());
      lines.add(std::string(part.key.substr(0, part.key.size() - q.key.size() - 1)), values);  // kinetic_energy: kinetic
    }
    lines.add("total", total);
  } else if (const std::vector<std::string_view> names = component_names(q); !names.empty()) {
    const std::vector<Column> parts = columns(r, std::string(q.dataset), names.size());
    for (std::size_t k = 0; k < names.size(); ++k) lines.add(std::string(names[k]), parts[k]);
  } else {
    lines.add(in_lower_case(q.label), column(r, q));
  }
  return q.logarithmic ? lines.logarithmic() : std::move(lines.plot);
}

Plot step_time(const Reader& r) {
  Lines lines(r, "Time per step", "time", "ms");
  std::vector<Column> stages = columns(r, std::string(quantity("stage_seconds").dataset), stage_count);
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

/// What is plotted of the run as a whole.
struct Whole {
  QuantityName name;
  std::function<Plot(const Reader&)> plot;
};
const std::vector<Whole>& wholes() {
  static const std::vector<Whole> all = [] {
    std::vector<Whole> out;
    for (const Quantity& q : quantities) {
      const QuantityName name{std::string(q.key), unit_of(q), std::string(q.meaning)};
      if (q.per == Per::joint)
        out.push_back({{name.name, name.unit, name.meaning + "; of each joint, or of those that have most"},
                       [&q](const Reader& r) { return of_joints(r, q); }});
      else if (q.per == Per::run && !q.measured && q.key != quantity("time").key)
        out.push_back({name, [&q](const Reader& r) { return of_run(r, q); }});
      // Two more are worked out of several.
      if (q.key == quantity("energy").key)
        out.push_back({{"energy_error", "", "energy left over, work and losses accounted for, relative to the energy that moves"},
                       energy_error});
      if (q.key == quantity("energy_left_over").key)
        out.push_back({{"energy_balance", "J", "work and losses so far, by who did it, and what is left over"}, energy_balance});
      if (q.key == quantity("stage_seconds").key) out.push_back({{"step_time", "ms", "of each step, by stage"}, step_time});
    }
    return out;
  }();
  return all;
}

/// A quantity of a body or a joint, or its length.
struct Part {
  QuantityName name;  // after the dot
  const Quantity& of;
  bool magnitude = false;
};
const std::vector<Part>& parts() {
  static const std::vector<Part> all = [] {
    std::vector<Part> out;
    for (const Quantity& q : quantities) {
      if (q.per != Per::body && q.per != Per::joint) continue;
      const std::string name(part_name(q)), unit = unit_of(q), meaning(q.meaning);
      out.push_back({{name, unit, q.components == 3 && q.length.empty() ? meaning + "; .magnitude for its length" : meaning}, q});
      if (!q.length.empty()) out.push_back({{std::string(q.length), unit, "length of " + name}, q, true});
    }
    return out;
  }();
  return all;
}

std::vector<std::string> components_of(const Part& part) {
  if (part.magnitude) return {};
  const std::vector<std::string_view> names = component_names(part.of);
  return {names.begin(), names.end()};
}

const std::vector<std::string>& names_of(const Reader& r, const Part& part) {
  return part.of.per == Per::joint ? r.joint_names() : r.body_names();
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
  const bool joint = part.of.per == Per::joint;
  const auto width = static_cast<std::size_t>(part.of.components);
  const std::vector<std::string>& names = joint ? r.joint_names() : r.body_names();
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (matches(pattern, names[i])) chosen.push_back(i);
  constexpr std::size_t most_lines = 200;
  const char* kind = joint ? "joint" : "body";
  if (chosen.empty())
    throw Error(r.path(), fmt::format("has no {} {}; {}", kind, in_quotes(pattern), suggestion(pattern, names)));
  const bool length_alone = part.magnitude || component == -2;
  const std::size_t each = component >= 0 || length_alone ? 1 : width;
  if (chosen.size() * each > most_lines)
    throw Error(r.path(),
                fmt::format("{} would be {} lines; at most {} make a plot", in_quotes(asked), chosen.size() * each, most_lines));
  const std::vector<std::string> suffixes = components_of(part);
  std::vector<std::size_t> wanted;
  for (const std::size_t i : chosen)
    for (std::size_t k = 0; k < width; ++k)
      if (component < 0 || static_cast<std::size_t>(component) == k) wanted.push_back(i * width + k);
  const std::vector<Column> read = columns(r, std::string(part.of.dataset), names.size() * width, wanted);

  std::string what = part.name.name;
  if (component >= 0 && !suffixes.empty()) what += " " + suffixes[static_cast<std::size_t>(component)];
  std::replace(what.begin(), what.end(), '_', ' ');
  Lines lines(r, fmt::format("{}: {}", pattern == "*" ? (joint ? "All joints" : "All bodies") : pattern, what), what,
              part.name.unit);
  // Of a joint's axes those that move, or feel something.
  const auto shown = [&](std::size_t i, std::size_t k) {
    const auto first = read.begin() + static_cast<std::ptrdiff_t>(i * each);
    return !part.of.by_axis || is_some(read[i * each + k]) ||
           std::none_of(first, first + static_cast<std::ptrdiff_t>(each), is_some);
  };
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (length_alone) {
      lines.add(names[chosen[i]], length(read, i * width, width));
      continue;
    }
    for (std::size_t k = 0; k < each; ++k) {
      if (!shown(i, k)) continue;
      const std::string suffix = each > 1 ? suffixes[k] : "";
      lines.add(chosen.size() == 1 && each > 1 ? suffix : names[chosen[i]] + (suffix.empty() ? "" : " " + suffix),
                read[i * each + k]);
    }
  }
  return part.of.logarithmic ? lines.logarithmic() : std::move(lines.plot);
}

}  // namespace

const std::vector<QuantityName>& quantity_names() {
  static const std::vector<QuantityName> all = [] {
    std::vector<QuantityName> out;
    for (const Whole& whole : wholes()) out.push_back(whole.name);
    for (const Part& part : parts()) {
      std::string name = fmt::format("{}.{}", part.of.per == Per::joint ? "JOINT" : "BODY", part.name.name);
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
    if (const std::string end = fmt::format(".{}.magnitude", part.name.name); part.of.components == 3 && name.ends_with(end))
      return plot_part(recording, part, name.substr(0, name.size() - end.size()), -2, name);
    if (const std::string end = "." + part.name.name; name.ends_with(end))
      return plot_part(recording, part, name.substr(0, name.size() - end.size()), -1, name);
  }
  std::vector<std::string> known;
  for (const QuantityName& quantity : quantity_names()) known.push_back(quantity.name);
  std::string hint;
  // A name of this very recording is the better guess.
  constexpr std::size_t most_guesses = 20000;
  std::vector<std::string> here;
  for (const Part& part : parts())
    for (const std::string& thing : names_of(recording, part))
      if (here.size() < most_guesses) here.push_back(thing + "." + part.name.name);
  if (const auto near = nearest(name, here))
    throw Error(fmt::format("unknown quantity {}; did you mean \"{}\"? rotule plot --list {} tells what there is",
                            in_quotes(name), *near, recording.path()));
  if (const auto near = nearest(name, known)) hint = fmt::format("did you mean \"{}\"? ", *near);
  throw Error(fmt::format("unknown quantity {}; {}known are: {}", in_quotes(name), hint, fmt::join(known, ", ")));
}

std::vector<QuantityName> quantities_in(const TrajectoryReader& recording) {
  std::vector<QuantityName> out;
  if (recording.frames() == 0) throw Error(recording.path(), "has no frames");
  for (const Whole& whole : wholes()) {
    try {
      const Plot plot = whole.plot(recording);
      if (std::any_of(plot.series.begin(), plot.series.end(), [](const PlotSeries& line) { return is_some(line.y); }))
        out.push_back(whole.name);
    } catch (const Error&) {  // what the recording has not got
    }
  }
  constexpr std::size_t most_names = 12;  // of a kind, before a pattern stands for them
  for (const Part& part : parts()) {
    const std::vector<std::string>& names = names_of(recording, part);
    if (names.empty() || !recording.holds(part.of)) continue;
    const auto width = static_cast<std::size_t>(part.of.components);
    const std::vector<Column> read = columns(recording, std::string(part.of.dataset), names.size() * width);
    std::vector<std::string> having;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto first = read.begin() + static_cast<std::ptrdiff_t>(i * width);
      if (std::any_of(first, first + static_cast<std::ptrdiff_t>(width), is_some)) having.push_back(names[i]);
    }
    if (having.size() > most_names) having = {"*"};
    for (const std::string& name : having)
      out.push_back({fmt::format("{}.{}", name, part.name.name), part.name.unit, part.name.meaning});
  }
  return out;
}

std::vector<std::string> usual_quantities(const TrajectoryReader& recording) {
  std::vector<std::string> out{"energy"};
  const auto has = [&](QuantityKey key) { return recording.holds(quantity(key)) && is_some(column(recording, key)); };
  bool agents = false;
  for (const Quantity& q : quantities)
    if (q.key.starts_with("work_") || q.key.starts_with("lost_"))
      agents = agents || (recording.holds(q) && is_some(column(recording, q)));
  if (agents && has("energy_left_over")) out.emplace_back("energy_balance");
  out.emplace_back("energy_error");
  const auto some = [&](const Quantity& q, auto&& worth) {
    if (!is_recorded(q) || !recording.holds(q)) return false;
    const Column values = recording.series(std::string(q.dataset));
    return std::any_of(values.begin(), values.end(), [&](double v) { return worth(v, values.front()); });
  };
  if (!recording.joint_names().empty()) out.insert(out.end(), {"joint_error", "joint_force"});
  // Of the other numbers those that change, but for what the energy's plot shows already.
  const auto& shown = quantity("energy").sum_of;
  for (const Quantity& q : quantities)
    if (q.per == Per::run && is_number(q) && std::find(shown.begin(), shown.end(), q.key) == shown.end() &&
        some(q, [](double v, double first) { return v != first; }))
      out.emplace_back(q.key);
  if (recording.frames() > 1 && some(quantity("stage_seconds"), [](double v, double) { return v > 0; }))
    out.emplace_back("step_time");
  return out;
}

}  // namespace rotule
