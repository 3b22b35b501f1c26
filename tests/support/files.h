#pragma once
// A folder of its own for a test that writes files.
#include <unistd.h>

#include <filesystem>
#include <string>

namespace rotule::testing {

struct Folder {
  explicit Folder(const std::string& name)
      : path(std::filesystem::temp_directory_path() / ("rotule_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  [[nodiscard]] std::ptrdiff_t files() const { return std::distance(std::filesystem::directory_iterator(path), {}); }
  std::filesystem::path path;
};

}  // namespace rotule::testing
