#pragma once
// A file that is written beside its place and put there when it is whole: whatever fails leaves nothing behind, and an older file
// of that name stays as it was. Devices and pipes keep their place: what is written from its beginning to its end goes through
// them, and what is not is refused.
#include <sys/types.h>

#include <cstdio>
#include <string>
#include <string_view>

namespace rotule {

/// How something is written where there is nothing yet, or a thing of some type.
enum class WayToWrite {
  beside,   // a new file takes the place when it is whole
  through,  // byte by byte into what is there
  folder,   // refused, as are the following
  device,   // of blocks: disks
  pipe,     // or device of characters, for what cannot go through it
  socket,   // to which files are not written
};
/// By the type in the `st_mode` of what is there; `streamed`: whether the form is written from its beginning to its end.
WayToWrite way_to_write(mode_t mode, bool streamed);

/// Where a file of this name is to be put: behind links, whether or not there is something yet where they lead. Throws Error
/// where the path leads to something that a file must not take the place of: a folder, a device, a pipe or a socket.
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

  std::string path_, beside_;  // beside_ is empty where it is written through
  std::FILE* file_ = nullptr;
};

}  // namespace rotule
