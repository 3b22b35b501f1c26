#pragma once
// What benchmarks with a main of their own share: CPU time, medians, the machine's name, and where figures go. They take
// --json (figures on standard output as JSON, nothing else) and, as Google Benchmark's programs do, --benchmark_out=FILE.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace rotule::bench {

/// Seconds of CPU that this process has had.
inline double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

inline std::string machine() {
  std::ifstream file("/proc/cpuinfo");
  std::string model = "unknown processor";
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) {
      model = line.substr(line.find(':') + 2);
      break;
    }
  return fmt::format("{}, {} cores", model, std::thread::hardware_concurrency());
}

struct Options {
  bool json = false;
  std::string file;  // where a copy of the JSON goes, if anywhere
};

inline Options parse(int argc, char** argv) {
  Options out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    constexpr std::string_view out_flag = "--benchmark_out=";
    if (argument == "--json")
      out.json = true;
    else if (argument.starts_with(out_flag))
      out.file = argument.substr(out_flag.size());
    else if (!argument.starts_with("--benchmark_")) {
      fmt::print(stderr, "usage: {} [--json] [--benchmark_out=FILE]\n", argv[0]);
      std::exit(2);
    }
  }
  return out;
}

inline void publish(const Options& options, const std::string& json) {
  if (options.json) fmt::print("{}\n", json);
  if (!options.file.empty()) std::ofstream(options.file) << json << '\n';
}

}  // namespace rotule::bench
