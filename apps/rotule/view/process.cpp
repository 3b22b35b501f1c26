#include "process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <rotule/error.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace rotule::app {
namespace {

/// In the child: becomes the program, its output going to `log`.
[[noreturn]] void become(const std::vector<std::string>& words, int log, int input) {
  ::setpgid(0, 0);  // a group of its own: ended as one, and not reached by the terminal's interrupts
  if (input >= 0) ::dup2(input, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  ::_exit(127);
}

}  // namespace

std::string find_program(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    std::string_view rest = path != nullptr ? path : "";
    while (!rest.empty()) {
      const std::string_view folder = rest.substr(0, rest.find(':'));
      rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
      std::string file = fmt::format("{}/{}", folder, name);
      std::error_code error;
      if (::access(file.c_str(), X_OK) == 0 && !std::filesystem::is_directory(file, error)) return file;
    }
  }
  return {};
}

bool open_in_browser(const std::string& address) {
  const std::string opener = find_program({"xdg-open", "sensible-browser"});
  if (opener.empty()) return false;
  const pid_t child = ::fork();
  if (child == 0) {  // twice removed, so that nobody has to wait for it
    if (::fork() == 0) become({opener, address}, ::open("/dev/null", O_RDWR | O_CLOEXEC), -1);
    ::_exit(0);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
  return child > 0;
}

Process::Process(const std::vector<std::string>& words, const std::string& log, bool piped)
    : name_(std::filesystem::path(words.front()).filename()) {
  ::signal(SIGPIPE, SIG_IGN);  // a program that ended is noticed by what write says
  int ends[2] = {-1, -1};
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (out < 0) throw Error(log, fmt::format("cannot be written: {}", std::strerror(errno)));
  if (piped && ::pipe2(ends, O_CLOEXEC) != 0) {
    ::close(out);
    throw Error(name_, fmt::format("no pipe to it: {}", std::strerror(errno)));
  }
  id_ = ::fork();
  if (id_ == 0) become(words, out, ends[0]);
  ::close(out);
  if (ends[0] >= 0) ::close(ends[0]);
  pipe_ = ends[1];
  if (id_ < 0) throw Error(name_, fmt::format("cannot be started: {}", std::strerror(errno)));
  ::setpgid(id_, id_);
}

Process::~Process() {
  if (pipe_ >= 0) ::close(pipe_);
  if (id_ <= 0) return;
  ::kill(-id_, SIGKILL);
  ::waitpid(id_, nullptr, 0);
}

void Process::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(pipe_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw Error(name_, "ended before all pictures were there");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

int Process::finish() {
  if (pipe_ >= 0) ::close(std::exchange(pipe_, -1));
  if (id_ > 0) {
    while (::waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
    }
    id_ = -1;
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128;
}

bool Process::ended() {
  if (id_ <= 0) return true;
  if (::waitpid(id_, &status_, WNOHANG) != id_) return false;
  id_ = -1;
  return true;
}

}  // namespace rotule::app
