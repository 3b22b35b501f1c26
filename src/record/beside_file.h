#pragma once
// A file that is written beside its place and put there when it is whole: whatever fails leaves nothing behind, and an older file
// of that name stays as it was.
#include <cstdio>
#include <string>
#include <string_view>

namespace rotule {

/// Where a file of this name is to be put: behind links, where they lead to a file. Throws Error where the path leads to
/// something that a file must not take the place of: a folder, a device, a pipe or a socket.
std::string place_for_file(const std::string& path);

class BesideFile {
 public:
  /// Throws Error, as do the others, with the file's name and the reason.
  explicit BesideFile(const std::string& path);
  ~BesideFile();
  BesideFile(const BesideFile&) = delete;
  BesideFile& operator=(const BesideFile&) = delete;

  void write(std::string_view bytes);
  void finish();

 private:
  [[noreturn]] void fail(std::string_view what, int reason);
  void discard();

  std::string path_, beside_;
  std::FILE* file_ = nullptr;
};

}  // namespace rotule
