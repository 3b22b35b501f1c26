#include "record/beside_file.h"

#include <fmt/format.h>
#include <rotule/error.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace rotule {

BesideFile::BesideFile(const std::string& path) : path_(path), beside_(fmt::format("{}.tmp-{}", path, ::getpid())) {
  if (std::error_code error; std::filesystem::is_directory(path, error)) throw Error(path, "is a folder; give a file");
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
