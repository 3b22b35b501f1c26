#pragma once
// What threads of a gang share beside stages of things: loops over plain numbers, so cheap each that there is one piece per
// thread, and questions over all.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "base/gang.h"

namespace rotule {

/// A loop over `count` numbers in one piece per thread: work(first, the one after the last).
template <class Work>
void share_evenly(Gang* gang, std::int64_t count, Work&& work) {
  constexpr std::int64_t least = 1024;  // numbers that a thread has done in the time that a meeting takes
  if (!gang || count < 2 * least) return work(std::int64_t{0}, count);
  const int threads = gang->threads();
  gang->run(threads, [&](int k, int) { work(count * k / threads, count * (k + 1) / threads); });
}

/// to = from, an expression of Eigen's, number by number.
template <class To, class From>
void share_numbers(Gang* gang, To& to, const From& from) {
  to.resize(from.size());
  share_evenly(gang, from.size(), [&](std::int64_t first, std::int64_t end) {
    to.segment(first, end - first).noalias() = from.segment(first, end - first);
  });
}

/// Whether holds(first, end) of every piece.
template <class Holds>
bool share_all(Gang* gang, std::int64_t count, Holds&& holds) {
  std::atomic<bool> all = true;
  share_evenly(gang, count, [&](std::int64_t first, std::int64_t end) {
    if (!holds(first, end)) all.store(false, std::memory_order_relaxed);
  });
  return all;
}

/// The largest of(first, end) of the pieces, which is the same however they are cut.
template <class Of>
double share_largest(Gang* gang, std::int64_t count, Of&& of) {
  std::atomic<double> largest = 0;
  share_evenly(gang, count, [&](std::int64_t first, std::int64_t end) {
    const double own = of(first, end);
    for (double known = largest; known < own && !largest.compare_exchange_weak(known, own);) {
    }
  });
  return largest;
}

}  // namespace rotule
