#include "base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <map>
#include <mutex>

#include "base/budget.h"

// ThreadSanitizer does not see the hand-overs inside libtbb, which is not instrumented, and so suspects TBB's own templates and
// every round of every loop. This file alone includes TBB and is compiled without the sanitizer (ROTULE_TSAN says that the
// rest is not); what it must know is told here: the loop's start happens before every round, every round before its end.
// What libtbb does with its own memory is its own affair.
#ifdef ROTULE_TSAN
#include <sanitizer/tsan_interface.h>
extern "C" const char* __tsan_default_suppressions();  // asked for by the sanitizer's run time
const char* __tsan_default_suppressions() { return "called_from_lib:libtbb.so\n"; }
#define ROTULE_HAPPENS_BEFORE(address) __tsan_release(address)
#define ROTULE_HAPPENS_AFTER(address) __tsan_acquire(address)
#else
#define ROTULE_HAPPENS_BEFORE(address) static_cast<void>(address)
#define ROTULE_HAPPENS_AFTER(address) static_cast<void>(address)
#endif

namespace rotule {
namespace {

constexpr int most_threads = 1024;

/// One arena per number of threads, kept for the life of the program: to make one costs more than many a loop.
tbb::task_arena& arena(int threads) {
  static std::mutex mutex;
  static std::map<int, tbb::task_arena> arenas;
  const std::scoped_lock lock(mutex);
  // Left alone, TBB cuts a request for more threads than cores down, with a warning; who asks for them shall have them.
  if (threads > tbb::info::default_concurrency()) {
    static const tbb::global_control allow_more(tbb::global_control::max_allowed_parallelism, most_threads);
  }
  return arenas.try_emplace(threads, threads).first->second;
}

}  // namespace

void parallel_for(int count, int threads, IndexFunction body) {
  threads = threads <= 0 ? tbb::info::default_concurrency() : std::min(threads, most_threads);
  if (threads <= 1 || count <= 1) {
    for (int i = 0; i < count; ++i) body(i);
    return;
  }

  // Of the rounds that throw, the first by index is the one that is heard of, whatever the threads did.
  std::mutex mutex;
  std::exception_ptr error;
  int error_index = count;
  Budget* const budget = Budget::current();
  const auto guarded = [&](int i) {
    const BudgetOnThread here(budget);
    try {
      body(i);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (i < error_index) error = std::current_exception();
      error_index = std::min(error_index, i);
    }
  };

  char started = 0, ended = 0;  // only their addresses count
  ROTULE_HAPPENS_BEFORE(&started);
  arena(threads).execute([&] {
    tbb::parallel_for(tbb::blocked_range<int>(0, count), [&](const tbb::blocked_range<int>& range) {
      ROTULE_HAPPENS_AFTER(&started);
      for (int i = range.begin(); i < range.end(); ++i) guarded(i);
      ROTULE_HAPPENS_BEFORE(&ended);
    });
  });
  ROTULE_HAPPENS_AFTER(&ended);
  if (error) std::rethrow_exception(error);
}

}  // namespace rotule
