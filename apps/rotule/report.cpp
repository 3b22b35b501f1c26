// rotule report: one page on a run.
#include <filesystem>

#include "commands.h"
#include "record/json_text.h"
#include "record/report_page.h"

namespace rotule::app {

void report(const ReportOptions& options) {
  namespace fs = std::filesystem;
  std::string out = options.out;
  if (out.empty()) out = fs::path(options.file).replace_extension(".report.html").string();
  require_other_file(out, options.file);
  const TrajectoryReader recording(options.file);
  write_text_file(out, report_page(recording, fs::path(options.file).filename().string()));
  if (options.open) return show_page(out);
  if (options.out.empty()) print(out + "\n");
}

}  // namespace rotule::app
