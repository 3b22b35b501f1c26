#include "base/free_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace rotule {

namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();

/// The first number of a file; infinite where there is none ("max").
double number_in(const char* path) {
  double number = no_limit;
  std::ifstream file(path);
  return file >> number ? number : no_limit;
}

double free_of_machine() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    double kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return 1024 * kilobytes;
  }
  return no_limit;
}

double free_of_group() {
  const double most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  return most < no_limit && used < no_limit ? most - used : no_limit;
}

double free_of_process() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return no_limit;
  const double pages = number_in("/proc/self/statm");
  return pages < no_limit ? static_cast<double>(limit.rlim_cur) - pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : no_limit;
}

}  // namespace

double free_memory() { return std::max(0.0, std::min({free_of_machine(), free_of_group(), free_of_process()})); }

}  // namespace rotule
