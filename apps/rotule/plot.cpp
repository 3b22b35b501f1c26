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

/// A recording for as long as it is looked at: the one that was given, or one of the scene that was given, run by its recipe.
class Recorded {
 public:
  explicit Recorded(const std::string& given) : path_(given) {
    if (names_recording(given)) return;
    name_ = find_scene(given, true).name;
    const fs::path folder = fs::temp_directory_path() / fmt::format("rotule_plot_{}", getpid());
    fs::create_directories(folder);
    made_ = folder;
    path_ = (folder / (fs::path(name_).stem().string() + ".h5")).string();
    try {
      RunOptions options;
      options.scene = given;
      options.record = path_;
      options.quiet = true;
      run(options);
    } catch (...) {
      remove();
      throw;
    }
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
  ~Recorded() { remove(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Where a page lies that nobody gave a name.
  [[nodiscard]] std::string page() const {
    return (made_.empty() ? fs::path(path_) : fs::path(name_).filename()).replace_extension(".plot.html").string();
  }

 private:
  void remove() const {
    std::error_code ignored;
    if (!made_.empty()) fs::remove_all(made_, ignored);
  }
  std::string path_, name_;
  fs::path made_;
};

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
  const Recorded recorded(options.file);
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
  if (options.svg.empty() && options.html.empty() && !options.open) return print(to_svg(plots));

  std::string page = options.html;
  if (page.empty() && options.open) page = recorded.page();
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
