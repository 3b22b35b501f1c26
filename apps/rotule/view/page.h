#pragma once
// The built page inside the program: files as the build packed them, each compressed by gzip.
#include <cstdint>
#include <span>
#include <string_view>

namespace rotule::app {

struct PageFile {
  std::string_view path;  // "/index.html", "/assets/index-4fz.js"
  std::span<const std::uint8_t> bytes;
};

/// Empty where the program was built without the viewer.
std::span<const PageFile> page_files();

}  // namespace rotule::app
