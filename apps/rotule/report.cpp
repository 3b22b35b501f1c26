// rotule report: one page on a run, recorded or made for it.
#include <filesystem>

#include "commands.h"
#include "record/json_text.h"
#include "record/report_page.h"
#include "recording_of.h"

namespace rotule::app {

void report(const ReportOptions& options) {
  const RecordingOf recorded(options.file);
  const std::string out = options.out.empty() ? recorded.page(".report.html") : options.out;
  require_other_file(out, options.file);
  const TrajectoryReader recording(recorded.path());
  write_text_file(out, report_page(recording, std::filesystem::path(recorded.path()).filename().string()));
  if (options.open) return show_page(out);
  if (options.out.empty()) print(out + "\n");
}

}  // namespace rotule::app
