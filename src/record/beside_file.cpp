#include "record/beside_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rotule/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/budget.h"

namespace rotule {

WayToWrite way_to_write(mode_t mode, bool streamed) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return WayToWrite::folder;
    case S_IFBLK:
      return WayToWrite::device;
    case S_IFSOCK:
      return WayToWrite::socket;
    case S_IFIFO:
    case S_IFCHR:
      return streamed ? WayToWrite::through : WayToWrite::pipe;
    default:
      return WayToWrite::beside;
  }
}

namespace {

/// Where links lead, one after the other: their end need not be there yet.
std::string behind_links(const std::string& path) {
  constexpr int most = 40;  // as the system has it
  std::filesystem::path at(path);
  std::error_code error;
  for (int i = 0; i < most; ++i) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(at, error))) return at.string();
    const std::filesystem::path next = std::filesystem::read_symlink(at, error);
    if (error) break;
    at = at.parent_path() / next;  // which is `next` alone where it begins at the root
  }
  throw Error(path, "cannot be written: its links lead nowhere");
}

struct WritingPlace {
  std::string path;
  WayToWrite way = WayToWrite::beside;
};

WritingPlace writing_place(const std::string& path, bool streamed) {
  struct stat status {};
  const bool there = ::stat(path.c_str(), &status) == 0;
  const WayToWrite way = there ? way_to_write(status.st_mode, streamed) : WayToWrite::beside;
  switch (way) {
    case WayToWrite::through:
      return {path, way};  // links such as /dev/stdout have no name behind them
    case WayToWrite::beside:
      return {behind_links(path), way};
    case WayToWrite::folder:
      throw Error(path, "is a folder; give the name of a file");
    case WayToWrite::device:
      throw Error(path, "is a device, which a file would take the place of; give the name of a file");
    case WayToWrite::socket:
      throw Error(path, "is a socket, which a file would take the place of; give the name of a file");
    case WayToWrite::pipe:
      throw Error(path, S_ISCHR(status.st_mode) ? "is a device, and this form is not written in one go; give the name of a file"
                                                : "is a pipe, and this form is not written in one go; give the name of a file");
  }
  return {path, way};
}

/// A new file: neither another's nor what a link of that name leads to. One that an earlier program left is replaced.
int open_new(const std::string& path) {
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
  constexpr mode_t anybody = 0666;  // less what the user's mask takes away
  const int file = ::open(path.c_str(), flags, anybody);
  if (file >= 0 || errno != EEXIST || ::unlink(path.c_str()) != 0) return file;
  return ::open(path.c_str(), flags, anybody);
}

}  // namespace

std::string place_for_file(const std::string& path) { return writing_place(path, false).path; }

BesideFile::BesideFile(const std::string& path) {
  WritingPlace place = writing_place(path, true);
  path_ = std::move(place.path);
  int file = -1;
  if (place.way == WayToWrite::through) {
    file = ::open(path_.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);  // of a pipe: waits for a reader
    if (file < 0 && errno == EINTR) Budget::listen();
  } else {
    beside_ = fmt::format("{}.tmp-{}", path_, ::getpid());
    file = open_new(beside_);
  }
  if (file >= 0) file_ = ::fdopen(file, "wb");
  if (file_ == nullptr) {
    beside_.clear();
    throw Error(path, fmt::format("cannot be written: {}", std::strerror(errno)));
  }
}

BesideFile::~BesideFile() { discard(); }

void BesideFile::discard() {
  if (file_ != nullptr) std::fclose(file_);
  file_ = nullptr;
  if (!beside_.empty()) ::unlink(beside_.c_str());
  beside_.clear();
}

void BesideFile::fail(std::string_view what, int reason) {
  discard();
  throw Error(path_, fmt::format("{}: {}", what, std::strerror(reason)));
}

void BesideFile::write(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("cannot be written", errno);
}

void BesideFile::finish() {
  const bool closed = std::fclose(file_) == 0;
  const int reason = errno;
  file_ = nullptr;
  if (!closed) fail("cannot be written", reason);
  if (!beside_.empty() && std::rename(beside_.c_str(), path_.c_str()) != 0) fail("cannot be put in place", errno);
  beside_.clear();
}

}  // namespace rotule
