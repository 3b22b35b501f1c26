#include "study_page.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "record/html_page.h"

namespace rotule::app {

using tune::TunedFrame;

const PublishedScene* published(const std::string& scene) {
  static constexpr PublishedScene all[] = {
      {"brick_wall", "Brick wall", "771 – 832", 0, 1.40, 0.05, 0, 2.52e-18, 0.015, 1.257, 3.22, 3.56, 3.41, 1.32, 3.84, 2.07, 0},
      {"tripods", "Tripods", "7 – 62", 0, 1.41, 0.27, 2.83e-10, 2.35e-9, 0.026, 1.287, 5.67e-5, 0.190, 1.47e-2, 2.83e-5, 9e-2,
       7.2e-3, 22.07},
      {"marble_box", "Marble box", "7 – 479", 0, 1.49, 0.26, 2.07e-9, 3.97e-8, 0.118, 1.037, 4.67e-12, 0.148, 2.65e-2, 8.59e-10,
       8.14e-2, 1.09e-2, 18.60},
      {"chain_fall", "Falling chain", "0 – 101", 99, 1.80, 0.19, 2.87e-10, 4.77e-9, -0.147, 2.469, 9e-3, 22.14, 2.51, 7.37e-5,
       7.77, 0.308, 0.62},
  };
  for (const PublishedScene& p : all)
    if (scene == p.scene) return &p;
  return nullptr;
}

namespace {

std::string title_of(const SceneStudy& s) {
  const PublishedScene* p = published(s.scene);
  return p ? p->title : s.scene;
}

double log_condition(const TunedFrame& t) { return std::log10(t.conditioning.condition); }
double reduction(const TuningSummary& m) { return m.sweeps_before > 0 ? 100 * (1 - m.sweeps_after / m.sweeps_before) : 0; }
double error_ratio(const TuningSummary& m) { return m.error_before.mean > 0 ? m.error_after.mean / m.error_before.mean : 1; }

Plot panel(std::string title, PlotAxis x, PlotAxis y) {
  Plot plot;
  plot.title = std::move(title);
  plot.x = std::move(x);
  plot.y = std::move(y);
  plot.height = 260;
  return plot;
}

/// Points alone: a break after each leaves no line between them.
PlotSeries points(std::string name, const std::vector<double>& x, const std::vector<double>& y) {
  PlotSeries series;
  series.name = std::move(name);
  series.markers = true;
  for (std::size_t i = 0; i < x.size(); ++i) {
    series.x.push_back(x[i]);
    series.y.push_back(y[i]);
    series.x.push_back(std::numeric_limits<double>::quiet_NaN());
    series.y.push_back(std::numeric_limits<double>::quiet_NaN());
  }
  return series;
}

std::vector<double> times(const std::vector<FrameRow>& rows) {
  std::vector<double> out;
  for (const FrameRow& row : rows) out.push_back(row.time);
  return out;
}

using Value = std::function<double(const TunedFrame&)>;

/// One plot per scene, one above the other.
std::vector<Plot> over_time(const std::vector<SceneStudy>& studies, const std::string& label, const Value& value) {
  std::vector<Plot> plots;
  for (const SceneStudy& s : studies) {
    Plot plot = panel(title_of(s), {"time [s]"}, {label});
    const std::vector<FrameRow> better = better_rows(s.rows);
    plot.series.push_back(points("frames", times(better), column(better, value)));
    plots.push_back(std::move(plot));
  }
  return plots;
}

std::vector<Plot> against(const std::vector<SceneStudy>& studies, const PlotAxis& axis, const Value& x, const std::string& label,
                          const Value& y) {
  std::vector<Plot> plots;
  for (const SceneStudy& s : studies) {
    Plot plot = panel(title_of(s), axis, {label});
    const std::vector<FrameRow> better = better_rows(s.rows);
    plot.series.push_back(points("frames", column(better, x), column(better, y)));
    plots.push_back(std::move(plot));
  }
  return plots;
}

/// The line that was fitted, and the published one over the same range.
void add_fits(const std::vector<SceneStudy>& studies, std::vector<Plot>& plots) {
  for (std::size_t i = 0; i < studies.size(); ++i) {
    const Spread range = spread_of(column(better_rows(studies[i].rows), log_condition));
    const auto line = [&](std::string name, double a, double b) {
      plots[i].series.push_back(
          {.name = std::move(name), .x = {range.least, range.most}, .y = {a * range.least + b, a * range.most + b}});
    };
    if (!(range.most > range.least)) continue;
    line("our fit", studies[i].summary.fit.a, studies[i].summary.fit.b);
    if (const PublishedScene* p = published(studies[i].scene)) line("published fit", p->a, p->b);
  }
}

std::vector<Plot> errors(const std::vector<SceneStudy>& studies) {
  std::vector<Plot> plots;
  for (const SceneStudy& s : studies) {
    Plot plot = panel(title_of(s), {"time [s]"}, {"error e", true});
    plot.series.push_back(
        {.name = "before", .x = times(s.rows), .y = column(s.rows, [](const TunedFrame& t) { return t.before.error; })});
    plot.series.push_back(
        {.name = "after", .x = times(s.rows), .y = column(s.rows, [](const TunedFrame& t) { return t.after.error; })});
    plots.push_back(std::move(plot));
  }
  return plots;
}

/// The strategy's course in one frame (annex III): value, step and axis ratio; mean; axes; deviations.
std::vector<Plot> course(const SceneStudy& s) {
  const auto row = std::find_if(s.rows.begin(), s.rows.end(), [](const FrameRow& r) { return !r.tuned.course.empty(); });
  if (row == s.rows.end()) return {};
  const std::vector<tune::GenerationRecord>& g = row->tuned.course;
  std::vector<double> at, best, above, sigma, ratio;
  double least = infinity;
  for (const auto& r : g) least = std::min(least, r.best);
  for (const auto& r : g) {
    at.push_back(static_cast<double>(r.evaluations));
    best.push_back(std::abs(r.best));
    above.push_back(r.best - least);
    sigma.push_back(r.sigma);
    ratio.push_back(r.axis_ratio);
  }
  const auto component = [&](const auto& member, std::size_t k) {
    std::vector<double> out;
    for (const auto& r : g) out.push_back((r.*member)[k]);
    return out;
  };
  const PlotAxis x{"candidates"};
  Plot value = panel(fmt::format("{}, frame {}: value, step size, axis ratio", title_of(s), row->frame), x, {"", true});
  value.series = {{.name = "|f|, best of the generation", .x = at, .y = best},
                  {.name = "f - least f", .x = at, .y = above},
                  {.name = "sigma", .x = at, .y = sigma},
                  {.name = "axis ratio", .x = at, .y = ratio}};
  Plot mean = panel("mean of the distribution", x, {"alpha, log10 kappa"});
  Plot axes = panel("principal axes", x, {"square roots of eigenvalues of C", true});
  Plot deviations = panel("deviations in coordinates", x, {"", true});
  for (std::size_t k = 0; k < g.front().mean.size(); ++k) {
    const std::string name = fmt::format("coordinate {}", k + 1);
    mean.series.push_back({.name = name, .x = at, .y = component(&tune::GenerationRecord::mean, k)});
    axes.series.push_back({.name = fmt::format("axis {}", k + 1), .x = at, .y = component(&tune::GenerationRecord::axes, k)});
    deviations.series.push_back({.name = name, .x = at, .y = component(&tune::GenerationRecord::deviations, k)});
  }
  return {value, mean, axes, deviations};
}

struct Figure {
  std::string file, caption;
  std::vector<Plot> plots;
};

std::vector<Figure> all_figures(const std::vector<SceneStudy>& studies) {
  const Value alpha = [](const TunedFrame& t) { return t.parameters.relaxation; };
  const Value kappa = [](const TunedFrame& t) { return t.log_kappa; };
  const Value sweeps = [](const TunedFrame& t) { return double(t.after.sweeps); };
  const Value size = [](const TunedFrame& t) { return double(t.rows); };
  const Value norm = [](const TunedFrame& t) { return t.norm_b; };
  const std::string k = "log10 κ (−16: none)";
  std::vector<Figure> out;
  out.push_back({"figure_3_2", "Figure 3.2: best relaxation over time", over_time(studies, "α", alpha)});
  out.push_back({"figure_3_3", "Figure 3.3: best regularisation over time", over_time(studies, k, kappa)});
  out.push_back({"figure_3_4", "Figure 3.4: best relaxation against the conditioning of A",
                 against(studies, {"log10 cond(A), eigenvalues that are not zero"}, log_condition, "α", alpha)});
  add_fits(studies, out.back().plots);
  out.push_back({"figure_3_5", "Figure 3.5: best relaxation against sweeps", against(studies, {"sweeps"}, sweeps, "α", alpha)});
  out.push_back({"figure_3_6", "Figure 3.6: best relaxation against size", against(studies, {"rows"}, size, "α", alpha)});
  out.push_back({"figure_3_7", "Figure 3.7: best relaxation against |b|", against(studies, {"|b|"}, norm, "α", alpha)});
  out.push_back({"figure_3_8", "Figure 3.8: best regularisation against the conditioning of A",
                 against(studies, {"log10 cond(A), eigenvalues that are not zero"}, log_condition, k, kappa)});
  out.push_back({"figure_3_9", "Figure 3.9: best regularisation against sweeps", against(studies, {"sweeps"}, sweeps, k, kappa)});
  out.push_back({"figure_3_10", "Figure 3.10: best regularisation against size", against(studies, {"rows"}, size, k, kappa)});
  out.push_back({"figure_3_11", "Figure 3.11: best regularisation against |b|", against(studies, {"|b|"}, norm, k, kappa)});
  out.push_back({"figure_3_12", "Figure 3.12: error before and after", errors(studies)});
  for (std::size_t i = 0; i < studies.size(); ++i)
    out.push_back({"figure_A_III_" + studies[i].scene,
                   fmt::format("Figure A III-{}: the course of the search, {}", i + 1, title_of(studies[i])),
                   course(studies[i])});
  return out;
}

// ---- Tables

struct Table {
  std::string title;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;
};

std::string count_range(const Spread& s) {
  return s.least == s.most ? fmt::format("{:.0f}", s.most) : fmt::format("{:.0f} – {:.0f}", s.least, s.most);
}

std::vector<Table> all_tables(const std::vector<SceneStudy>& studies) {
  Table counts{"Table 3.1: constraints", {"scene", "joints", "published", "contacts", "published"}, {}};
  Table alpha{
      "Table 3.2: best relaxation", {"scene", "mean", "published", "deviation", "published", "frames with a better setting"}, {}};
  Table kappa{"Table 3.3: best regularisation", {"scene", "mean", "published", "deviation", "published", "frames without"}, {}};
  Table fit{"Table 3.4: α ≈ a log10 cond(A) + b", {"scene", "a", "published", "b", "published", "explains", "frames"}, {}};
  Table error{"Table 3.5: error before (first line) and after (second)",
              {"scene", "min", "published", "max", "published", "mean", "published"},
              {}};
  Table ratio{"Error after over before, of the means",
              {"scene", "ours", "published", "by the least error of each solve", "median of frames"},
              {}};
  Table sweeps{"Table 3.6: sweeps saved", {"scene", "per cent", "published", "error asked for reached, before", "after"}, {}};
  for (const SceneStudy& s : studies) {
    const TuningSummary& m = s.summary;
    const PublishedScene* p = published(s.scene);
    const std::string title = title_of(s);
    const auto theirs = [&](const char* format, double value) { return p ? fmt::format(fmt::runtime(format), value) : ""; };
    // Where no setting is better than the one before, none is the best.
    const auto ours = [](const char* format, double value, int points) {
      return points > 0 ? fmt::format(fmt::runtime(format), value) : "–";
    };
    counts.rows.push_back(
        {title, count_range(m.joints), p ? std::to_string(p->joints) : "", count_range(m.contacts), p ? p->contacts : ""});
    alpha.rows.push_back({title, ours("{:.2f}", m.alpha.mean, m.better), theirs("{:.2f}", p ? p->alpha : 0),
                          ours("{:.2f}", m.alpha.deviation, m.better), theirs("{:.2f}", p ? p->alpha_deviation : 0),
                          fmt::format("{} of {}", m.better, m.frames)});
    kappa.rows.push_back({title, ours("{:.2e}", m.kappa.mean, m.better), theirs("{:.2e}", p ? p->kappa : 0),
                          ours("{:.2e}", m.kappa.deviation, m.better), theirs("{:.2e}", p ? p->kappa_deviation : 0),
                          fmt::format("{} of {}", m.without_kappa, m.better)});
    fit.rows.push_back({title, ours("{:.3f}", m.fit.a, m.fit.points), theirs("{:.3f}", p ? p->a : 0),
                        ours("{:.3f}", m.fit.b, m.fit.points), theirs("{:.3f}", p ? p->b : 0),
                        ours("{:.0f} %", 100 * m.fit.explained, m.fit.points), std::to_string(m.fit.points)});
    const auto line = [&](const std::string& name, const Spread& e, double least, double most, double mean) {
      error.rows.push_back({name, fmt::format("{:.2e}", e.least), theirs("{:.2e}", least), fmt::format("{:.2e}", e.most),
                            theirs("{:.2e}", most), fmt::format("{:.2e}", e.mean), theirs("{:.2e}", mean)});
    };
    line(title, m.error_before, p ? p->before_min : 0, p ? p->before_max : 0, p ? p->before_mean : 0);
    line("", m.error_after, p ? p->after_min : 0, p ? p->after_max : 0, p ? p->after_mean : 0);
    ratio.rows.push_back({title, fmt::format("{:.2f}", error_ratio(m)), theirs("{:.2f}", p ? p->after_mean / p->before_mean : 0),
                          fmt::format("{:.2f}", m.least_before.mean > 0 ? m.least_after.mean / m.least_before.mean : 1.0),
                          fmt::format("{:.2f}", m.median_ratio)});
    sweeps.rows.push_back({title, fmt::format("{:.1f}", reduction(m)), theirs("{:.1f}", p ? p->fewer_sweeps : 0),
                           fmt::format("{} of {}", m.reached_before, m.frames),
                           fmt::format("{} of {}", m.reached_after, m.frames)});
  }
  return {counts, alpha, kappa, fit, error, ratio, sweeps};
}

std::string html_of(const Table& table) {
  std::string out = fmt::format("<h2>{}</h2>\n<table class=\"numbers\">\n<tr>", markup_escaped(table.title));
  for (std::size_t k = 0; k < table.head.size(); ++k)
    out += fmt::format("<th{}>{}</th>", k ? " class=\"number\" style=\"width:auto\"" : "", markup_escaped(table.head[k]));
  out += "</tr>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t k = 0; k < row.size(); ++k)
      out += k == 0 ? fmt::format("<th>{}</th>", markup_escaped(row[k]))
                    : fmt::format("<td class=\"number{}\">{}</td>", table.head[k] == "published" ? " quiet" : "",
                                  markup_escaped(row[k]));
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

std::string list_of(const std::vector<std::string>& names) { return fmt::format("{}", fmt::join(names, ", ")); }

}  // namespace

std::vector<std::pair<std::string, std::vector<Plot>>> study_figures(const std::vector<SceneStudy>& studies) {
  std::vector<std::pair<std::string, std::vector<Plot>>> out;
  for (Figure& figure : all_figures(studies))
    if (!figure.plots.empty()) out.emplace_back(figure.file, std::move(figure.plots));
  return out;
}

std::vector<std::string> study_findings(const std::vector<SceneStudy>& studies, const TuningChoices& choices) {
  std::vector<std::string> out, met, missed, unexplained, saturated;
  int frames = 0, better = 0, without = 0, singular = 0;
  double least_alpha = infinity, most_alpha = 0, disagreement = 0;
  for (const SceneStudy& s : studies) {
    const TuningSummary& m = s.summary;
    if (m.frames == 0) continue;
    frames += m.frames;
    better += m.better;
    without += m.without_kappa;
    for (const FrameRow& row : s.rows) singular += row.tuned.conditioning.rank < row.tuned.rows;
    if (m.better > 0) {
      least_alpha = std::min(least_alpha, m.alpha.mean);
      most_alpha = std::max(most_alpha, m.alpha.mean);
    }
    disagreement = std::max(disagreement, m.worst_disagreement);
    if (const PublishedScene* p = published(s.scene)) {
      const double theirs = p->after_mean / p->before_mean;
      (error_ratio(m) <= theirs ? met : missed)
          .push_back(fmt::format("{} ({:.2f}, published {:.2f})", title_of(s), error_ratio(m), theirs));
    }
    if (m.fit.points >= 10 && m.fit.explained < 0.25)
      unexplained.push_back(fmt::format("{} ({:.0f} %)", title_of(s), 100 * m.fit.explained));
    if (m.reached_before < m.frames / 2)
      saturated.push_back(fmt::format("{} ({} of {})", title_of(s), m.frames - m.reached_before, m.frames));
  }
  if (frames == 0) return {"No frame had anything to solve."};
  out.push_back(fmt::format("{} frames were tuned; for {} of them some setting is better than the one before.", frames, better));
  if (better > 0)
    out.push_back(fmt::format("Their best relaxation is {:.2f} to {:.2f} on average by scene (published: 1.40 to 1.80).",
                              least_alpha, most_alpha));
  if (!met.empty()) out.push_back("Tuning lowers the error as much as published, or more, on: " + list_of(met) + ".");
  if (!missed.empty()) out.push_back("It lowers it less than published on: " + list_of(missed) + ".");
  if (!missed.empty() && choices.friction != "fixed")
    out.emplace_back(
        "Bounds of friction follow the normal here, while the published algorithm is given them as numbers: --friction fixed "
        "does the same.");
  if (better > 0)
    out.push_back(fmt::format("{:.0f} % of the best settings are without regularisation.", 100.0 * without / better));
  if (!unexplained.empty())
    out.push_back(
        "The conditioning of A says little about the best relaxation: of its variance a line in log10 cond(A) explains only: " +
        list_of(unexplained) + ".");
  if (singular > 0)
    out.push_back(
        fmt::format("In {} frames A is singular, having more rows than its bodies have coordinates, or rows that repeat others; "
                    "cond(A) is taken over the eigenvalues that are not zero.",
                    singular));
  if (!saturated.empty())
    out.push_back(
        fmt::format("Untuned, {} sweeps do not reach the error of {:g} in most frames of: ", choices.sweeps, choices.error) +
        list_of(saturated) + ". There tuning buys a lower error, not fewer sweeps.");
  out.push_back(fmt::format(
      "Errors of all tuned answers were found again by the judge of all solvers; the largest relative difference is {:.1e}.",
      disagreement));
  return out;
}

std::string study_page(const std::vector<SceneStudy>& studies, const TuningChoices& choices) {
  std::string body = "<h1>Tuning projected Gauss-Seidel</h1>\n";
  body += fmt::format(
      "<p>For every frame of every scene: the relaxation α and the regularisation κ with which projected Gauss-Seidel does best "
      "within {} "
      "sweeps, found by CMA-ES with {} candidates per generation. Solves begin {}, friction is {}, and a solve ends at an error "
      "of {:g}. "
      "Columns named <em>published</em> hold the results of the study that this one repeats. Best settings, in tables and "
      "figures, are of the frames for which some setting is better than α = 1, κ = 0.</p>\n",
      choices.sweeps, choices.population, choices.warm > 0 ? fmt::format("at {:g} of the warm start", choices.warm) : "from zero",
      markup_escaped(choices.friction), choices.error);
  body += "<h2>What was found</h2>\n<ul class=\"plain\">\n";
  for (const std::string& finding : study_findings(studies, choices))
    body += fmt::format("<li>{}</li>\n", markup_escaped(finding));
  body += "</ul>\n";
  for (const Table& table : all_tables(studies)) body += html_of(table);
  for (const Figure& figure : all_figures(studies)) {
    body += fmt::format("<h2>{}</h2>\n", markup_escaped(figure.caption));
    if (figure.plots.empty()) body += "<p class=\"quiet\">No frame with a course was tuned.</p>\n";
    for (const Plot& plot : figure.plots) {
      try {
        body += to_figure(plot);
      } catch (const Error&) {
        body += fmt::format("<p class=\"quiet\">{}: nothing that a plot could show.</p>\n", markup_escaped(plot.title));
      }
    }
  }
  std::vector<std::string> times;
  for (const SceneStudy& s : studies)
    if (s.tuned_now > 0)
      times.push_back(fmt::format("{}: {:.0f} ms per tuned frame, {:.0f} ms per step of the run", title_of(s),
                                  1e3 * s.seconds_tuning / s.tuned_now, 1e3 * s.seconds_running / s.steps));
  body += fmt::format("<footer>{}</footer>\n", markup_escaped(list_of(times)));
  return html_page("Tuning projected Gauss-Seidel", body);
}

std::string study_csv(const std::vector<SceneStudy>& studies) {
  std::string csv = "table,scene,quantity,ours,published\n";
  for (const SceneStudy& s : studies) {
    const TuningSummary& m = s.summary;
    const PublishedScene* p = published(s.scene);
    const auto line = [&](const char* table, const char* quantity, double ours, double theirs) {
      csv += fmt::format("{},{},{},{},{}\n", table, s.scene, quantity, ours, p ? fmt::format("{}", theirs) : "");
    };
    const auto best = [&](const char* table, const char* quantity, double ours, double theirs) {
      if (m.better > 0) line(table, quantity, ours, theirs);
    };
    line("3.1", "joints", m.joints.most, p ? p->joints : 0);
    csv += fmt::format("3.1,{},contacts,{},{}\n", s.scene, count_range(m.contacts), p ? p->contacts : "");
    best("3.2", "alpha mean", m.alpha.mean, p ? p->alpha : 0);
    best("3.2", "alpha deviation", m.alpha.deviation, p ? p->alpha_deviation : 0);
    best("3.3", "kappa mean", m.kappa.mean, p ? p->kappa : 0);
    best("3.3", "kappa deviation", m.kappa.deviation, p ? p->kappa_deviation : 0);
    best("3.4", "a", m.fit.a, p ? p->a : 0);
    best("3.4", "b", m.fit.b, p ? p->b : 0);
    line("3.5", "error before min", m.error_before.least, p ? p->before_min : 0);
    line("3.5", "error before max", m.error_before.most, p ? p->before_max : 0);
    line("3.5", "error before mean", m.error_before.mean, p ? p->before_mean : 0);
    line("3.5", "error after min", m.error_after.least, p ? p->after_min : 0);
    line("3.5", "error after max", m.error_after.most, p ? p->after_max : 0);
    line("3.5", "error after mean", m.error_after.mean, p ? p->after_mean : 0);
    line("3.6", "sweeps saved in per cent", reduction(m), p ? p->fewer_sweeps : 0);
  }
  return csv;
}

}  // namespace rotule::app
