#include "base/gang.h"

#include <algorithm>
#include <ctime>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rotule {
namespace {

constexpr int most_gang_threads = 1024;
/// Looks at what is waited for before a core is offered to others, and after the end of a shift before a worker sleeps.
constexpr int patient_looks = 4000, lingering_looks = 1000;

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Of CPU, of this thread: what else the machine does is not counted.
double seconds_now() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::atomic<bool> watched = false;
std::atomic<double> busy_seconds = 0, stage_seconds = 0;

int cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace

Gang::Gang(int threads)
    : threads_(threads <= 0 ? cores() : std::min(threads, most_gang_threads)),
      crowded_(threads_ > cores()),
      shares_(std::make_unique<Share[]>(static_cast<std::size_t>(threads_))) {}

Gang::~Gang() {
  duty_.store(over, std::memory_order_release);
  duty_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void Gang::begin_shift() {
  in_shift_ = true;
  if (threads_ <= 1) return;
  while (static_cast<int>(workers_.size()) < threads_ - 1)
    workers_.emplace_back([this, worker = static_cast<int>(workers_.size()) + 1] { work(worker); });
  duty_.store(on, std::memory_order_release);
  duty_.notify_all();
}

void Gang::end_shift() {
  in_shift_ = false;
  if (threads_ > 1) duty_.store(off, std::memory_order_release);
}

void Gang::work(int worker) {
  std::uint32_t seen = 0;
  for (int looks = 0;; ++looks) {
    const std::uint32_t round = round_.load(std::memory_order_acquire);
    if (round != seen) {
      seen = round;
      take_part(round, worker);
      looks = 0;
      continue;
    }
    const int duty = duty_.load(std::memory_order_acquire);
    if (duty == over) return;
    if (duty == off && (crowded_ || looks > lingering_looks)) {
      duty_.wait(off, std::memory_order_acquire);
      looks = 0;
    } else if (crowded_ || looks > patient_looks) {
      std::this_thread::yield();
    } else {
      pause_briefly();
    }
  }
}

// A worker that comes late may look at a round that is over, or at the next one being written. It finds out before it does
// anything: who takes an index says which round it means, and while that index is not done the round stays.
void Gang::take_part(std::uint32_t round, int worker) {
  const void* callable = callable_.load(std::memory_order_relaxed);
  void (*const call)(const void*, int, int) = call_.load(std::memory_order_relaxed);
  const bool timed = watched.load(std::memory_order_relaxed);
  const double began = timed ? seconds_now() : 0;
  int done = 0;
  for (int k = 0; k < threads_; ++k) {
    Share& share = shares_[static_cast<std::size_t>((worker + k) % threads_)];
    std::uint64_t left = share.left.load(std::memory_order_acquire);
    while (left >> 32 == round && static_cast<std::uint32_t>(left) > 0) {
      if (!share.left.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel)) continue;
      const int index = share.end.load(std::memory_order_relaxed) - static_cast<int>(static_cast<std::uint32_t>(left));
      --left;
      try {
        call(callable, index, worker);
      } catch (...) {
        const std::scoped_lock lock(mutex_);
        if (!error_ || index < error_index_) {
          error_ = std::current_exception();
          error_index_ = index;
        }
      }
      ++done;
    }
  }
  if (done == 0) return;
  if (timed) busy_seconds += seconds_now() - began;
  done_.fetch_add(done, std::memory_order_acq_rel);
}

void Gang::run(int count, StageFunction body) {
  const bool timed = watched.load(std::memory_order_relaxed);
  const double began = timed ? seconds_now() : 0;
  if (threads_ <= 1 || count <= 1 || !in_shift_) {
    for (int i = 0; i < count; ++i) body.call(body.callable, i, 0);
    if (timed) {
      const double taken = seconds_now() - began;
      busy_seconds += taken;
      stage_seconds += taken;
    }
    return;
  }
  const std::uint32_t round = round_.load(std::memory_order_relaxed) + 1;
  callable_.store(body.callable, std::memory_order_relaxed);
  call_.store(body.call, std::memory_order_relaxed);
  done_.store(0, std::memory_order_relaxed);
  for (int k = 0; k < threads_; ++k) {
    const auto begin = static_cast<int>(std::int64_t(count) * k / threads_),
               end = static_cast<int>(std::int64_t(count) * (k + 1) / threads_);
    shares_[static_cast<std::size_t>(k)].end.store(end, std::memory_order_relaxed);
    shares_[static_cast<std::size_t>(k)].left.store(std::uint64_t(round) << 32 | static_cast<std::uint32_t>(end - begin),
                                                    std::memory_order_release);
  }
  round_.store(round, std::memory_order_release);
  take_part(round, 0);
  for (int looks = 0; done_.load(std::memory_order_acquire) != count; ++looks)
    if (crowded_ || looks > patient_looks) {
      std::this_thread::yield();
    } else {
      pause_briefly();
    }
  if (timed) stage_seconds += seconds_now() - began;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Gang::watch(bool on) {
  if (on) busy_seconds = stage_seconds = 0;
  watched = on;
}

Gang::Effort Gang::effort() { return {busy_seconds, stage_seconds}; }

}  // namespace rotule
