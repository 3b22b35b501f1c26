#include "record/report_page.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <rotule/scene.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/text.h"
#include "record/html_page.h"
#include "record/json_text.h"
#include "record/quantities.h"
#include "record/tally.h"

namespace rotule {

namespace {

using Column = std::vector<double>;

/// What a number means: its class in the page's style, and a sentence.
struct Verdict {
  const char* grade;  // good, fair, bad, or nothing
  std::string words;
};

struct Finding {
  std::string what, number;
  Verdict verdict;
};

/// Everything that the page speaks of, read once.
struct Run {
  Scene scene;
  Json summary, recipe;
  std::size_t frames = 0, bodies = 0, fixed = 0, joints = 0, particles = 0;
  Column time, energy, kinetic, contacts, penetration, residual, iterations, seconds;  // seconds: of each step
  std::array<double, stage_count> stages{};                                            // s, over the run
  double shock_energy = 0, worst_joint_error = 0, worst_joint_time = 0;
  double left_over = std::nan("");                          // J, where books were kept
  bool agents = false;                                      // whether anybody brought energy in or took it out
  std::vector<std::pair<const Quantity*, double>> balance;  // work and losses at the end, those that there are
  std::string worst_joint;

  [[nodiscard]] double duration() const { return time.back() - time.front(); }
  [[nodiscard]] std::size_t steps() const { return frames - 1; }
};

/// Frame by frame; zero where the file lacks it.
Column course_of(const TrajectoryReader& r, QuantityKey key) {
  const Quantity& q = quantity(key);
  return q.age == Age::first || r.holds(q) ? r.series(std::string(q.dataset)) : Column(r.frames(), 0.0);
}

double largest(const Column& values) { return values.empty() ? 0 : *std::max_element(values.begin(), values.end()); }

Run read(const TrajectoryReader& r) {
  if (r.frames() == 0) throw Error(r.path(), "has no frames");
  Run run;
  run.scene = parse_scene(r.scene(), r.path());
  run.summary = parse_if_json(r.summary());
  if (!run.summary.is_object()) run.summary = Json::object();
  run.recipe = parse_if_json(r.recipe());
  if (!run.recipe.is_object()) run.recipe = Json::object();
  run.frames = r.frames();
  run.bodies = r.body_names().size();
  run.joints = r.joint_names().size();
  run.particles = r.particles();
  for (const BodyDef& body : run.scene.bodies) run.fixed += body.fixed ? 1 : 0;
  run.time = course_of(r, "time");
  run.kinetic = course_of(r, "kinetic_energy");
  const Column potential = course_of(r, "potential_energy");
  run.residual = course_of(r, "residual");
  run.contacts = course_of(r, "contacts");
  run.penetration = course_of(r, "penetration");
  run.iterations = course_of(r, "iterations");
  const Column shock = course_of(r, "shock_energy");
  for (const std::size_t size : {run.time.size(), run.kinetic.size(), potential.size(), run.residual.size(), run.contacts.size(),
                                 run.penetration.size(), shock.size()})
    if (size != run.frames) throw Error(r.path(), "its arrays differ in the number of frames");
  for (std::size_t i = 0; i < run.frames; ++i) run.energy.push_back(run.kinetic[i] + potential[i]);
  run.shock_energy = shock.back();
  for (const Quantity& q : quantities) {
    if (!r.holds(q)) continue;
    const bool agent = q.key.starts_with("work_") || q.key.starts_with("lost_"), left = q.key == quantity("energy_left_over").key;
    if (!agent && !left) continue;
    const double value = r.series(std::string(q.dataset), run.frames - 1, 1).back();
    if (left) run.left_over = value;
    if (agent && value != 0) run.balance.emplace_back(&q, value);
  }
  run.agents = !run.balance.empty();
  if (r.holds(quantity("stage_seconds"))) {
    const Column stages = course_of(r, "stage_seconds");
    for (std::size_t i = 1; i < run.frames && stages.size() == run.frames * stage_count; ++i) {
      const double* row = &stages[i * stage_count];
      for (std::size_t k = 0; k < stage_count; ++k) run.stages[k] += row[k];
      run.seconds.push_back(std::accumulate(row, row + stage_count, 0.0));
    }
  }
  // The worst joint, piece by piece: there may be thousands.
  for (std::size_t first = 0; run.joints > 0 && first < run.frames; first += 64) {
    const Column errors =
        r.series(std::string(quantity("joint_error").dataset), first, std::min<std::size_t>(64, run.frames - first));
    for (std::size_t i = 0; i < errors.size(); ++i)
      if (errors[i] > run.worst_joint_error) {
        run.worst_joint_error = errors[i];
        run.worst_joint = r.joint_names()[i % run.joints];
        run.worst_joint_time = run.time[first + i / run.joints];
      }
  }
  return run;
}

std::string counted(std::size_t n, const char* one, const char* many) { return fmt::format("{} {}", n, n == 1 ? one : many); }

/// A length as people say it.
std::string metres(double x) {
  if (x == 0) return "0";
  if (x < 1e-6) return fmt::format("{:.2g} m", x);
  if (x < 1e-3) return fmt::format("{:.3g} µm", x * 1e6);
  if (x < 1) return fmt::format("{:.3g} mm", x * 1e3);
  return fmt::format("{:.3g} m", x);
}

std::string milliseconds(double seconds) { return fmt::format("{:.3g} ms", 1e3 * seconds); }

std::string recipe_name(const Run& run, const char* key) {
  const Json value = run.recipe.value(key, Json());
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("name") && value["name"].is_string()) return value["name"].get<std::string>();
  return "";
}

/// Where books were kept, what they leave over at the end; else the energy's change, shocks accounted for.
Finding energy_finding(const Run& run) {
  const double change = run.energy.back() + run.shock_energy - run.energy.front();
  const bool booked = std::isfinite(run.left_over);
  const double error = booked ? run.left_over : change;
  double scale = largest(run.kinetic);
  if (const double given = run.summary.value(Json::json_pointer("/energy/scale"), 0.0); given > 0) scale = given;
  const double relative = scale > 0 ? std::abs(error) / scale : std::abs(error);
  const std::string number = fmt::format("{:.6g} J → {:.6g} J", run.energy.front(), run.energy.back());
  const std::string by =
      booked && run.agents
          ? fmt::format("With all work and losses accounted for, {:.2g} J are left over, {:.2g} of the energy that moves",
                        run.left_over, relative)
          : fmt::format("It {} by {:.2g} of the energy that moves", error < 0 ? "fell" : "grew", relative);
  if (relative < 1e-12)
    return {"Energy", number, {"good", booked && run.agents ? "The books close to rounding." : "Kept to rounding."}};
  if (relative < 1e-4) {
    const int digits = static_cast<int>(std::floor(-std::log10(relative)));
    return {"Energy", number, {"good", fmt::format("{}: {} digits are right.", by, digits)}};
  }
  if (recipe_name(run, "formulation") == "velocity")
    return {
        "Energy",
        number,
        {relative < 0.05 ? "fair" : "bad",
         by + ". A step at velocity level errs by about that, damping as a rule; a smaller step, or the acceleration level with "
              "rk4, errs less."}};
  return {"Energy",
          number,
          {relative < 1e-2 ? "fair" : "bad", by + ". Nothing in the scene should do that: take a smaller step or a method of "
                                                  "higher order."}};
}

std::vector<Finding> findings(const Run& run) {
  std::vector<Finding> out{energy_finding(run)};
  if (const Json estimate = run.summary.value("estimated_error", Json()); estimate.is_object()) {
    const double off = estimate.value("position", 0.0);
    out.push_back(
        {"Estimated error",
         metres(off),
         {"", fmt::format("At the end, by a second run with {}: the largest of any body's position; {:.2g} rad and {:.2g} J "
                          "besides.",
                          estimate.value("second_run", std::string()), estimate.value("angle", 0.0),
                          estimate.value("energy", 0.0))}});
  }
  if (run.summary.value(Json::json_pointer("/momentum/conserved"), false)) {
    const double drift = std::max(run.summary.value(Json::json_pointer("/momentum/linear_drift"), 0.0),
                                  run.summary.value(Json::json_pointer("/momentum/angular_drift"), 0.0));
    out.push_back({"Momentum",
                   fmt::format("{:.2g}", drift),
                   {drift < 1e-6   ? "good"
                    : drift < 1e-3 ? "fair"
                                   : "bad",
                    "Largest relative change. Nothing outside acts, so all of it is error."}});
  }
  if (run.joints > 0) {
    const double e = run.worst_joint_error;
    const std::string where =
        e > 0 ? fmt::format(" (joint {}, at {:.4g} s)", in_quotes(run.worst_joint), run.worst_joint_time) : "";
    out.push_back({"Joints",
                   metres(e),
                   {e < 1e-4   ? "good"
                    : e < 1e-2 ? "fair"
                               : "bad",
                    e < 1e-9   ? std::string("Closed to rounding, always.")
                    : e < 1e-4 ? "The most that one stood open" + where + "; nobody will see it."
                    : e < 1e-2 ? "The most that one stood open" + where + "; a smaller step closes it."
                               : "A joint stood open that far" + where +
                                     ": visible. Take a smaller step or a correction (projection), or look for constraints in "
                                     "conflict (rotule check)."}});
  }
  if (largest(run.contacts) > 0) {
    const double p = largest(run.penetration);
    const auto at =
        static_cast<std::size_t>(std::max_element(run.penetration.begin(), run.penetration.end()) - run.penetration.begin());
    out.push_back({"Contacts", fmt::format("{:.0f} at most", largest(run.contacts)), {"", "Points that touch or nearly do."}});
    out.push_back({"Penetration",
                   metres(p),
                   {p < 1e-4   ? "good"
                    : p < 5e-3 ? "fair"
                               : "bad",
                    p < 1e-9 ? "Bodies do not sink into each other."
                             : fmt::format("Deepest overlap, at {:.4g} s{}", run.time[at],
                                           p < 1e-4   ? "; nobody will see it."
                                           : p < 5e-3 ? "; a smaller step makes it less."
                                                      : ": visible. Take a smaller step, or a solver that reaches a smaller "
                                                        "residual.")}});
  }
  if (const double r = largest(run.residual); r > 0)
    out.push_back({"Solver",
                   fmt::format("{:.2g}", r),
                   {r < 1e-6   ? "good"
                    : r < 1e-2 ? "fair"
                               : "bad",
                    fmt::format("Largest relative residual of a step's constraints{}",
                                r < 1e-6   ? ": solved as exactly as anybody needs."
                                : r < 1e-2 ? ": good for motion to look at; forces are right to that share."
                                           : ": forces are far from right. Give the solver more iterations, or take a direct "
                                             "one or prox_newton.")}});
  return out;
}

std::string accuracy(const std::vector<Finding>& found) {
  std::string out = "<h2>How accurate it was</h2>\n<table class=\"findings\">\n";
  for (const Finding& f : found)
    out += fmt::format("<tr><th>{}</th><td class=\"number\">{}</td><td>{}{}</td></tr>\n", markup_escaped(f.what),
                       markup_escaped(f.number),
                       *f.verdict.grade == '\0' ? "" : fmt::format("<span class=\"{0}\">{0}</span> ", f.verdict.grade),
                       markup_escaped(f.verdict.words));
  return out + "</table>\n";
}

std::string in_short(const std::vector<Finding>& found, std::size_t warnings) {
  std::vector<std::string> bad, fair;
  for (const Finding& f : found) {
    std::string what = f.what;
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
    if (std::string_view(f.verdict.grade) == "bad") bad.push_back(what);
    if (std::string_view(f.verdict.grade) == "fair") fair.push_back(what);
  }
  const bool estimated = std::any_of(found.begin(), found.end(), [](const Finding& f) { return f.what == "Estimated error"; });
  std::string out =
      bad.empty() && fair.empty()
          ? fmt::format("<span class=\"good\">Accurate</span> by every measure that {}",
                        estimated ? "there is."
                                  : "a run has of itself; how far off it is at the end, <code>--estimate-error</code> tells.")
      : bad.empty() ? fmt::format("<span class=\"fair\">Fair</span>: look at {}.", fmt::join(fair, ", "))
                    : fmt::format("<span class=\"bad\">Not to be trusted</span>: look at {}.", fmt::join(bad, ", "));
  if (warnings > 0) out += fmt::format(" {} below.", counted(warnings, "warning", "warnings"));
  return "<p>" + out + "</p>\n";
}

/// The books of energy, where anybody worked or took.
std::string where_energy_went(const Run& run) {
  if (!run.agents || !std::isfinite(run.left_over)) return "";
  std::string out = "<h2>Where the energy came from and went to</h2>\n<table class=\"numbers\">\n";
  const auto row = [&](std::string_view what, double value) {
    out += fmt::format("<tr><th>{}</th><td class=\"number\">{:+.6g} J</td></tr>\n", markup_escaped(std::string(what)), value);
  };
  row("At the start", run.energy.front());
  for (const auto& [q, value] : run.balance) row(q->label, q->key.starts_with("lost_") ? -value : value);
  row("Left over", run.left_over);
  row("At the end", run.energy.back());
  return out + "</table>\n";
}

/// The same as `rotule run --json` says of every number, out of the recording.
std::string in_numbers(const TrajectoryReader& r) {
  constexpr std::array<std::pair<std::string_view, const char*>, 3> columns{
      {{"mean", "Mean"}, {"max", "Largest"}, {"final", "At the end"}}};
  std::string rows;
  for (const Quantity& q : quantities) {
    if (q.said == 0 || !r.holds(q) || (q.per == Per::joint && r.joint_names().empty())) continue;
    Tally tally;
    for (std::size_t first = 0; first < r.frames(); first += 64) {  // piece by piece: an array may have thousands per frame
      const std::size_t count = std::min<std::size_t>(64, r.frames() - first);
      const Column values = r.series(std::string(q.dataset), first, count);
      const std::size_t width = values.size() / count;
      for (std::size_t i = 0; i < count && width > 0; ++i)
        if (first + i > 0 || q.from_start)
          tally.add(*std::max_element(values.begin() + static_cast<std::ptrdiff_t>(i * width),
                                      values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width)));
    }
    const auto said = said_of(q, tally);
    if (std::all_of(said.begin(), said.end(), [](const auto& one) { return one.second == 0; })) continue;
    const std::string unit = q.unit.empty() ? "" : fmt::format(" [{}]", q.unit);
    rows += fmt::format("<tr><th>{}{}<br><span class=\"quiet\" style=\"font-weight:400;font-size:.85rem\">{}</span></th>",
                        markup_escaped(q.label), markup_escaped(unit), markup_escaped(q.meaning));
    for (const auto& column : columns) {
      const auto found = std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.first == column.first; });
      rows += fmt::format("<td class=\"number\">{}</td>", found == said.end() ? "" : fmt::format("{:.4g}", found->second));
    }
    rows += "</tr>\n";
  }
  if (rows.empty()) return "";
  std::string head = "<tr><th></th>";
  for (const auto& [name, title] : columns) head += fmt::format("<th class=\"number\">{}</th>", title);
  return "<h2>In numbers</h2>\n<table class=\"numbers\">\n" + head + "</tr>\n" + rows + "</table>\n";
}

std::string where_time_went(const Run& run) {
  const double sum = std::accumulate(run.stages.begin(), run.stages.end(), 0.0);
  if (run.seconds.empty() || sum <= 0)
    return "<h2>Where the time went</h2>\n<p class=\"quiet\">The recording does not say: it was made by an older program.</p>\n";
  constexpr std::array<const char*, stage_count> meanings{
      "finding who touches whom, and where", "weight, springs, drag: summing forces",
      "constraints: joints, contacts, friction, implicit equations", "closing joints and overlaps again after the step",
      "the rest: moving bodies, integrating, bookkeeping"};
  Column sorted = run.seconds;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(run.steps());
  const auto slowest = static_cast<std::size_t>(std::max_element(run.seconds.begin(), run.seconds.end()) - run.seconds.begin());
  const double pace = run.duration() / sum;
  std::string out = fmt::format(
      "<h2>Where the time went</h2>\n<p>{} per step on average, half of them below {}; the slowest took {}, at {:.4g} s. "
      "Simulating {:.4g} s took {:.3g} s: {}.</p>\n<table>\n",
      milliseconds(sum / n), milliseconds(sorted[sorted.size() / 2]), milliseconds(sorted.back()), run.time[slowest + 1],
      run.duration(), sum,
      pace >= 1 ? fmt::format("{:.3g} times as fast as real time", pace)
                : fmt::format("{:.3g} times slower than real time", 1 / pace));
  for (std::size_t k = 0; k < stage_count; ++k)
    out += fmt::format(
        "<tr><th>{}<br><span class=\"quiet\" style=\"font-weight:400;font-size:.85rem\">{}</span></th><td "
        "class=\"number\">{}</td>"
        "<td class=\"number\">{:.1f} %</td><td style=\"width:35%\"><div class=\"bar\" style=\"width:{:.1f}%\"></div></td></tr>\n",
        stage_names[k], meanings[k], milliseconds(run.stages[k] / n), 100 * run.stages[k] / sum, 100 * run.stages[k] / sum);
  return out + "</table>\n";
}

std::string what_was_simulated(const TrajectoryReader& r, const Run& run) {
  std::string out = "<h2>What was simulated</h2>\n<table>\n";
  const auto row = [&](const char* what, const std::string& text) {
    if (!text.empty()) out += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", what, markup_escaped(text));
  };
  row("Bodies",
      run.bodies == 0 ? "" : fmt::format("{}{}", run.bodies, run.fixed > 0 ? fmt::format(", {} of them fixed", run.fixed) : ""));
  row("Joints", run.joints == 0 ? "" : std::to_string(run.joints));
  row("Particles", run.particles == 0 ? "" : std::to_string(run.particles));
  const Vec3& g = run.scene.gravity;
  row("Gravity", g.isZero(0) ? "none" : fmt::format("{:.4g} m/s²", g.norm()));
  const double step = run.steps() > 0 ? run.duration() / static_cast<double>(run.steps()) : 0;
  row("Time", fmt::format("{} of {:.4g} s: {:.6g} s", counted(run.steps(), "step", "steps"), step, run.duration()));
  std::vector<std::string> method;
  for (const char* key : {"integrator", "formulation", "correction", "coordinates", "contacts", "solver"})
    if (const std::string name = recipe_name(run, key); !name.empty() && name != "none")
      method.push_back(fmt::format("{} {}", key, name));
  row("Method", fmt::format("{}", fmt::join(method, ", ")));
  if (const Json picked = run.summary.value("picked", Json::object()); picked.is_object() && !picked.empty()) {
    std::vector<std::string> picks;
    for (const auto& [name, count] : picked.items())
      if (count.is_number()) picks.push_back(fmt::format("{} {}", name, count.get<std::int64_t>()));
    row("Solvers picked", fmt::format("{} (islands times steps)", fmt::join(picks, ", ")));
  }
  row("Recorded by", "rotule " + r.program_version());
  if (const Json hash = run.summary.value("state_hash", Json()); hash.is_string()) row("State hash", hash.get<std::string>());
  return out + "</table>\n";
}

/// What to do about a warning of World::warnings, by what it speaks of.
std::string_view advice(const std::string& warning) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> known{{
      {"did not converge", "The solver ran out of iterations there: give it more, a looser tolerance, or take another one."},
      {"out of each other has added", "Overlaps were lifted apart: a smaller step or a more exact solver leaves less to lift."},
      {"closing joints and limits has added",
       "Steps left joints open by a little, and closing them lifted bodies: a smaller step leaves less."},
      {"start in each other", "Move them apart in the scene."},
      {"redundant", "The motion is right; single joint forces are one answer of many."},
      {"starts", "Mend the scene: rotule check says where it stands open."},
      {"bounces have added", "Take a lower restitution, or less friction where it bounces."},
      {"halved", "The equations were hard to solve at that step size."},
      {"too fast to be located", "The bounces come faster than steps: a body is coming to rest, or the step is too large."},
  }};
  for (const auto& [words, text] : known)
    if (warning.find(words) != warning.npos) return text;
  return "";
}

}  // namespace

std::string report_page(const TrajectoryReader& recording, const std::string& name) {
  const Run run = read(recording);
  const std::vector<Finding> found = findings(run);
  std::vector<std::string> warnings;
  for (const Json& warning : run.summary.value("warnings", Json::array()))
    if (warning.is_string()) warnings.push_back(warning.get<std::string>());

  const std::string title = run.scene.name.empty() ? name : run.scene.name;
  std::string body = fmt::format("<h1>{}</h1>\n", markup_escaped(title));
  if (!run.scene.description.empty()) body += fmt::format("<p class=\"quiet\">{}</p>\n", markup_escaped(run.scene.description));
  body += in_short(found, warnings.size());
  body += what_was_simulated(recording, run);
  body += accuracy(found);
  if (!warnings.empty()) {
    body += "<h2>Warnings</h2>\n<ul class=\"plain\">\n";
    for (const std::string& warning : warnings) {
      std::string text = warning;
      text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
      body += fmt::format("<li>{}. <span class=\"quiet\">{}</span></li>\n", markup_escaped(text), advice(warning));
    }
    body += "</ul>\n";
  }
  body += where_energy_went(run);
  body += in_numbers(recording);
  body += where_time_went(run);
  body += "<h2>Plots</h2>\n";
  for (const std::string& quantity : usual_quantities(recording)) {
    try {
      body += to_figure(plot_quantity(recording, quantity));
    } catch (const Error&) {
      body += fmt::format("<p class=\"quiet\">{}: nothing that a plot could show.</p>\n", quantity);
    }
  }
  body += fmt::format("<h2>Recipe</h2>\n<details><summary>every field</summary><pre>{}</pre></details>\n",
                      markup_escaped(run.recipe.dump(2)));
  body += fmt::format("<footer>{} frames in {}</footer>\n", run.frames, markup_escaped(name));
  return html_page(title, body);
}

}  // namespace rotule
