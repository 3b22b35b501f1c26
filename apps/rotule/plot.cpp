// rotule plot: quantities of a recording over time, as a picture or a page.
#include <fmt/format.h>
#include <rotule/error.h>

#include <filesystem>

#include "commands.h"
#include "record/html_page.h"
#include "record/json_text.h"
#include "record/quantities.h"
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

void plot(const PlotOptions& options) {
  if (options.list) {
    std::string text = "quantities of a recording\n";
    for (const QuantityName& quantity : quantity_names())
      text += fmt::format("  {:<32}  {}{}\n", quantity.name, quantity.meaning,
                          quantity.unit.empty() ? "" : fmt::format(" [{}]", quantity.unit));
    return print(text + "BODY and JOINT are names, or patterns such as *.speed\n");
  }
  for (const std::string& out : {options.svg, options.html})
    if (!out.empty()) require_other_file(out, options.file);
  const TrajectoryReader recording(options.file);
  const std::string name = fs::path(options.file).stem().string();
  std::vector<Plot> plots;
  for (const std::string& quantity : options.quantities.empty() ? usual_quantities(recording) : options.quantities) {
    plots.push_back(plot_quantity(recording, quantity));
    try {
      if (options.quantities.empty()) static_cast<void>(to_svg(plots.back()));
    } catch (const Error&) {
      plots.pop_back();  // of the usual ones, those without a number to show are left out
    }
  }
  if (options.svg.empty() && options.html.empty() && !options.open) return print(to_svg(plots));

  std::string page = options.html;
  if (page.empty() && options.open) page = fs::path(options.file).replace_extension(".plot.html").string();
  std::string html, svg;
  if (!options.svg.empty()) svg = to_svg(plots);
  if (!page.empty()) {
    std::string body = fmt::format("<h1>{}</h1>\n<p class=\"quiet\">{} frames of {}</p>\n", html_escaped(name),
                                   recording.frames(), html_escaped(fs::path(options.file).filename().string()));
    for (const Plot& each : plots) body += to_figure(each);
    html = html_page(name, body);
  }
  if (!options.svg.empty()) write_text_file(options.svg, svg);
  if (!page.empty()) write_text_file(page, html);
  if (options.open) show_page(page);
}

}  // namespace rotule::app
