// rotule plot: quantities of a recording over time, as a picture or a page.
#include <fmt/format.h>
#include <rotule/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "commands.h"
#include "record/html_page.h"
#include "record/json_text.h"
#include "record/quantities.h"

namespace rotule::app {

namespace fs = std::filesystem;

void require_other_file(const std::string& out, const std::string& in) {
  std::error_code error;
  if (out == in || fs::equivalent(out, in, error)) throw Error(out, "is what is read; give another file to write");
}

void open_in_browser(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    // Whatever it has to say is not this program's output.
    if (std::freopen("/dev/null", "w", stdout) == nullptr || std::freopen("/dev/null", "w", stderr) == nullptr) ::_exit(127);
    ::execlp("xdg-open", "xdg-open", path.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw Error(path, "is written, but xdg-open (package xdg-utils) could not show it; open it in a browser by hand");
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
  if (options.open) open_in_browser(page);
}

}  // namespace rotule::app
