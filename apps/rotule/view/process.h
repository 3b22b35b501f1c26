#pragma once
// Other programs: a browser to look with, and the ones that make films.
#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rotule::app {

/// Where the first of these programs is found along PATH; empty where none is.
std::string find_program(const std::vector<std::string>& names);

/// Hands an address to the desktop's browser and forgets about it; false where there is no program for that.
bool open_in_browser(const std::string& address);

/// A program that runs beside this one. What it says goes into a file of its own, to be shown where it fails.
class Process {
 public:
  Process() = default;
  /// `piped`: whether `write` feeds its standard input. Throws Error where it cannot be started.
  Process(const std::vector<std::string>& words, const std::string& log, bool piped);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  /// Ends it and all that it started, if it still runs.
  ~Process();

  /// Throws Error where it does not take it.
  void write(std::span<const std::uint8_t> bytes);
  /// Closes its input and waits; its exit status.
  int finish();
  /// Whether it has ended by itself.
  [[nodiscard]] bool ended();

 private:
  pid_t id_ = -1;
  int pipe_ = -1, status_ = 0;
  std::string name_;
};

}  // namespace rotule::app
