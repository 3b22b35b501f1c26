// rotule plot: quantities of a recording over time, as a picture or a page.
#include <fmt/format.h>
#include <rotule/error.h>

#include <unistd.h>

#include <filesystem>

#include "base/printable.h"
#include "commands.h"
#include "record/html_page.h"
#include "record/json_text.h"
#include "record/quantities.h"
#include "recording_of.h"
#include "view/process.h"

namespace rotule::app {

namespace fs = std::filesystem;

void require_other_file(const std::string& out, const std::string& in) {
  std::error_code error;
  if (out == in || fs::equivalent(out, in, error)) throw Error(out, "is what is read; give another file to write");
}

void show_page(const std::string& path) {
  if (!open_in_browser(path)) throw Error(path, "is written, but there is no xdg-open (package xdg-utils) to show it");
}

namespace {

std::string listed(const std::string& title, const std::vector<QuantityName>& names) {
  std::string text = title + "\n";
  for (const QuantityName& quantity : names)
    text += fmt::format("  {:<32}  {}{}\n", shown(quantity.name), quantity.meaning,
                        quantity.unit.empty() ? "" : fmt::format(" [{}]", quantity.unit));
  return text;
}

}  // namespace

void plot(const PlotOptions& options) {
  if (options.list && options.file.empty())
    return print(listed("quantities of a recording", quantity_names()) +
                 "BODY and JOINT are names, or patterns such as *.speed\n");
  const bool no_file = options.svg.empty() && options.html.empty() && !options.open;
  if (no_file && !options.list && isatty(STDOUT_FILENO) != 0)
    throw Error("plot",
                "a picture is no text for a terminal; --open shows the plots in a browser, --html F.html or --svg F.svg "
                "writes them");
  const RecordingOf recorded(options.file);
  if (options.list)
    return print(listed("what there is to plot", quantities_in(TrajectoryReader(recorded.path()))) +
                 "components by .x, .y, .z, lengths by .magnitude; names may be patterns such as *.speed\n");
  for (const std::string& out : {options.svg, options.html})
    if (!out.empty()) require_other_file(out, options.file);
  const TrajectoryReader recording(recorded.path());
  const std::string name = fs::path(recorded.path()).stem().string();
  std::vector<Plot> plots;
  for (const std::string& quantity : options.quantities.empty() ? usual_quantities(recording) : options.quantities) {
    plots.push_back(plot_quantity(recording, quantity));
    try {
      if (options.quantities.empty()) static_cast<void>(to_svg(plots.back()));
    } catch (const Error&) {
      plots.pop_back();  // of the usual ones, those without a number to show are left out
    }
  }
  if (no_file) return print(to_svg(plots));

  std::string page = options.html;
  if (page.empty() && options.open) page = recorded.page(".plot.html");
  std::string html, svg;
  if (!options.svg.empty()) svg = to_svg(plots);
  if (!page.empty()) {
    std::string body = fmt::format("<h1>{}</h1>\n<p class=\"quiet\">{} frames of {}</p>\n", markup_escaped(name),
                                   recording.frames(), markup_escaped(fs::path(recorded.path()).filename().string()));
    for (const Plot& each : plots) body += to_figure(each);
    html = html_page(name, body);
  }
  if (!options.svg.empty()) write_text_file(options.svg, svg);
  if (!page.empty()) write_text_file(page, html);
  if (options.open) show_page(page);
}

}  // namespace rotule::app
