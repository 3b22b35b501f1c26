#include "record/beside_file.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rotule {

std::string place_for_file(const std::string& path) {
  std::error_code error;
  switch (std::filesystem::status(path, error).type()) {
    case std::filesystem::file_type::directory:
      throw Error(path, "is a folder; give the name of a file");
    case std::filesystem::file_type::character:
    case std::filesystem::file_type::block:
      throw Error(path, "is a device, which a file would take the place of; give the name of a file");
    case std::filesystem::file_type::fifo:
    case std::filesystem::file_type::socket:
      throw Error(path, "is a pipe or socket, which a file would take the place of; give the name of a file");
    case std::filesystem::file_type::regular: {
      const std::filesystem::path behind = std::filesystem::canonical(path, error);
      return std::filesystem::is_symlink(path) && !error ? behind.string() : path;
    }
    default:
      return path;
  }
}

BesideFile::BesideFile(const std::string& path)
    : path_(place_for_file(path)), beside_(fmt::format("{}.tmp-{}", path_, ::getpid())) {
  file_ = std::fopen(beside_.c_str(), "wb");
  if (file_ == nullptr) throw Error(path_, fmt::format("cannot be written: {}", std::strerror(errno)));
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
  if (std::rename(beside_.c_str(), path_.c_str()) != 0) fail("cannot be put in place", errno);
  beside_.clear();
}

}  // namespace rotule
