#pragma once
// A bar on a terminal, drawn at most ten times a second; nothing elsewhere.
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace rotule::app {

class ProgressBar {
 public:
  /// `unit` is what is counted: "step", "picture".
  ProgressBar(std::int64_t total, bool wanted, std::string unit = "step")
      : total_(total), shown_(wanted && ::isatty(STDERR_FILENO) == 1), unit_(std::move(unit)) {}
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar() {
    if (drawn_) std::fprintf(stderr, "\r%*s\r", 60, "");
  }
  void at(std::int64_t done) {
    if (!shown_) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    drawn_ = true;
    constexpr int width = 30;
    const int full = static_cast<int>(width * done / total_);
    std::fprintf(stderr, "\r[%s%s] %3d %%  %s %lld", std::string(static_cast<std::size_t>(full), '#').c_str(),
                 std::string(static_cast<std::size_t>(width - full), '.').c_str(), static_cast<int>(100 * done / total_),
                 unit_.c_str(), static_cast<long long>(done));
  }

 private:
  std::int64_t total_;
  bool shown_, drawn_ = false;
  std::string unit_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace rotule::app
