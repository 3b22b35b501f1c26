#include "recording_of.h"

#include <fmt/format.h>
#include <unistd.h>

#include "commands.h"
#include "record/trajectory.h"

namespace rotule::app {

namespace fs = std::filesystem;

RecordingOf::RecordingOf(const std::string& given) : path_(given) {
  if (names_recording(given)) return;
  name_ = find_scene(given, true).name;
  const fs::path folder = fs::temp_directory_path() / fmt::format("rotule_run_{}", getpid());
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

std::string RecordingOf::page(const std::string& ending) const {
  return (made_.empty() ? fs::path(path_) : fs::path(name_).filename()).replace_extension(ending).string();
}

void RecordingOf::remove() const {
  std::error_code ignored;
  if (!made_.empty()) fs::remove_all(made_, ignored);
}

}  // namespace rotule::app
