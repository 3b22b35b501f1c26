#pragma once
// A recording to look at: the one that is given, or one of the scene that is given.
#include <filesystem>
#include <string>

namespace rotule::app {

/// Where a scene is given, it is run by its recipe, and the recording lasts as long as this.
class RecordingOf {
 public:
  explicit RecordingOf(const std::string& given);
  RecordingOf(const RecordingOf&) = delete;
  RecordingOf& operator=(const RecordingOf&) = delete;
  ~RecordingOf() { remove(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Where a page with that ending lies which nobody gave a name: beside the recording that was given, else in the present
  /// folder.
  [[nodiscard]] std::string page(const std::string& ending) const;

 private:
  void remove() const;
  std::string path_, name_;
  std::filesystem::path made_;
};

}  // namespace rotule::app
