#pragma once
// A gang of threads for loops of microseconds, one after the other: the stages of a real-time step, some two hundred in a
// millisecond or two, for which a fork and join of the thread library (parallel.h) is too dear. Within a shift the workers wait
// awake, and a stage costs a few hundred nanoseconds; between shifts they sleep.
//
// A stage is cut into shares, one per thread; whoever has done its own takes from the others'. So the same thread meets the same
// memory from stage to stage, and nobody waits for a worker that the machine has given no core: the caller, who works too, can do
// all of it. As in parallel.h a round may write only what belongs to its index, and results do not depend on the number of
// threads.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace rotule {

/// A call f(index, worker) without owning f; workers count from 0, the caller. It must not outlive the callable it was made from.
class StageFunction {
 public:
  template <class F>
  requires(std::is_invocable_v<const F&, int, int> && !std::is_same_v<std::remove_cvref_t<F>, StageFunction>)
      StageFunction(const F& f)  // NOLINT: made in passing, where a function is handed to a stage
      : callable(std::addressof(f)),
        call([](const void* of, int index, int worker) { (*static_cast<const F*>(of))(index, worker); }) {}

  const void* callable;
  void (*call)(const void*, int, int);
};

class Gang {
 public:
  /// 0: as many threads as the machine has cores; 1: the caller alone. Workers begin with the first shift.
  explicit Gang(int threads);
  Gang(const Gang&) = delete;
  Gang& operator=(const Gang&) = delete;
  ~Gang();

  /// The caller included.
  [[nodiscard]] int threads() const { return threads_; }

  /// Workers are awake from here to the end of the block.
  class Shift {
   public:
    explicit Shift(Gang& gang) : gang_(gang) { gang_.begin_shift(); }
    ~Shift() { gang_.end_shift(); }
    Shift(const Shift&) = delete;
    Shift& operator=(const Shift&) = delete;

   private:
    Gang& gang_;
  };

  /// body(0, worker) ... body(count - 1, worker), in any order; outside a shift, or with one thread, by the caller, in order. Of
  /// rounds that throw, the first by index is heard of, after all.
  void run(int count, StageFunction body);

  /// What all gangs of the program did while they were watched, for measurements, in seconds of CPU: work in stages, of all
  /// threads together, and what the callers spent in stages, waiting included.
  struct Effort {
    double busy = 0, stages = 0;
  };
  static void watch(bool on);
  [[nodiscard]] static Effort effort();

 private:
  enum Duty : int { off, on, over };

  void begin_shift();
  void end_shift();
  void work(int worker);
  void take_part(std::uint32_t round, int worker);

  /// One thread's share: in one word the round that it belongs to (high half) and how many indices before its end are left.
  struct alignas(64) Share {
    std::atomic<std::uint64_t> left = 0;
    std::atomic<int> end = 0;
  };

  int threads_;
  bool crowded_;  // more threads than cores: waiting must not keep others from working
  std::unique_ptr<Share[]> shares_;
  std::vector<std::thread> workers_;
  bool in_shift_ = false;
  alignas(64) std::atomic<std::uint32_t> round_ = 0;
  std::atomic<const void*> callable_ = nullptr;
  std::atomic<void (*)(const void*, int, int)> call_ = nullptr;
  alignas(64) std::atomic<int> done_ = 0;
  alignas(64) std::atomic<int> duty_ = off;
  std::mutex mutex_;  // of the two below
  std::exception_ptr error_;
  int error_index_ = 0;
};

/// Who may help with what works in a Workspace (workspace.h), which keeps this for it: null where the caller works alone.
struct Helpers {
  Gang* gang = nullptr;
};

/// Loops shorter than twice this are not worth sharing out; a power of two, so that pieces begin at cache lines.
inline constexpr int shared_piece = 64;

/// A stage by a gang, or, where there is none, by the caller alone, in order.
inline void share_out(Gang* gang, int count, StageFunction body) {
  if (gang) return gang->run(count, body);
  for (int i = 0; i < count; ++i) body.call(body.callable, i, 0);
}

/// A loop over `count` things in pieces: work(first, the one after the last). Rounds may write only what belongs to their things.
template <class Work>
void share_pieces(Gang* gang, int count, Work&& work) {
  if (!gang || count < 2 * shared_piece) return work(0, count);
  gang->run((count + shared_piece - 1) / shared_piece,
            [&](int piece, int) { work(shared_piece * piece, std::min(count, shared_piece * (piece + 1))); });
}

}  // namespace rotule
