#pragma once
// What may end a computation before its own end. A bell, which any thread or signal handler may ring, ends it at once: loops
// that can last listen, and throw Interrupted. A budget of time or of iterations ends it well: iterative loops ask whether it is
// spent, and give the best answer that they have.
//
// A Budget belongs to the thread that made it for as long as it lives, and parallel loops take it along to theirs (parallel.h),
// so that loops at any depth need nothing handed down to them. Budgets nest: bells and deadlines of the outer ones hold inside.
// Without a budget of time nothing depends on the clock, and results are the same to the bit.
#include <rotule/error.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <limits>

namespace rotule {

class Bell {
 public:
  void ring() noexcept { rung_.store(true, std::memory_order_relaxed); }
  void silence() noexcept { rung_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool rung() const noexcept { return rung_.load(std::memory_order_relaxed); }

 private:
  static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may ring it");
  std::atomic<bool> rung_ = false;
};

/// s, that this thread has had of the processor.
inline double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// What seconds of a budget are: of the clock; or what a thread that works alone has of the processor, so that what other
/// programs take is not counted.
enum class BudgetTime : std::uint8_t { clock, processor };

class Budget {
 public:
  using Clock = std::chrono::steady_clock;

  /// In force on this thread until it goes. `seconds` for all that is done meanwhile, and `iterations` for each solve
  /// (SolveBudget); 0: without end.
  explicit Budget(const Bell& bell, double seconds = 0, int iterations = 0, BudgetTime time = BudgetTime::clock)
      : bell_(&bell), outer_(current_), timed_(seconds > 0), time_(time), iterations_(iterations), seconds_(seconds), share_(1) {
    if (timed_) {
      begin_ = Clock::now();
      if (time == BudgetTime::processor) processor_begin_ = processor_seconds();
    }
    current_ = this;
  }
  ~Budget() { current_ = outer_; }
  Budget(const Budget&) = delete;
  Budget& operator=(const Budget&) = delete;

  /// Whether some loop ended for want of time or iterations.
  [[nodiscard]] bool cut() const { return cut_.load(std::memory_order_relaxed); }

  /// The one in force on this thread; null where there is none.
  static Budget* current() { return current_; }

  /// Throws Interrupted where the bell of a budget in force has rung.
  static void listen() {
    for (const Budget* budget = current_; budget; budget = budget->outer_)
      if (budget->bell_->rung()) [[unlikely]]
        throw Interrupted();
  }

  /// Listens, and tells whether time is up.
  static bool out_of_time() {
    bool up = false;
    for (const Budget* budget = current_; budget; budget = budget->outer_) {
      if (budget->bell_->rung()) [[unlikely]]
        throw Interrupted();
      up = up || (budget->timed_ && budget->left() <= 0);
    }
    return up;
  }

  /// What is left of the time; without end where none is set.
  [[nodiscard]] static double seconds_left() {
    double left = std::numeric_limits<double>::infinity();
    for (const Budget* budget = current_; budget; budget = budget->outer_)
      if (budget->timed_) left = std::min(left, budget->left());
    return left;
  }

  /// Listens, and tells whether an iterative loop should end: time is up, or this solve has had its iterations.
  static bool over() { return out_of_time() || out_of_iterations(); }
  /// The same, for who then ends: the budget remembers that it cut something short.
  static bool spent() {
    const bool spent = over();
    if (spent)
      for (Budget* budget = current_; budget; budget = budget->outer_) budget->cut_.store(true, std::memory_order_relaxed);
    return spent;
  }
  [[nodiscard]] static bool out_of_iterations() { return limited_ && iterations_left_ <= 0; }
  /// Iterations that were made.
  static void count(int iterations = 1) { iterations_left_ -= iterations; }

 private:
  /// s. A thread has no more of the processor than of the clock: who asks the latter need not ask further before it is up.
  [[nodiscard]] double left() const {
    const double limit = share_ * seconds_, by_clock = limit - std::chrono::duration<double>(Clock::now() - begin_).count();
    if (by_clock > 0 || time_ == BudgetTime::clock) return by_clock;
    return limit - (processor_seconds() - processor_begin_);
  }

  friend class TimeShare;
  friend class SolveBudget;
  friend class BudgetOnThread;
  static inline constinit thread_local Budget* current_ = nullptr;
  static inline constinit thread_local std::int64_t iterations_left_ = 0;
  static inline constinit thread_local bool limited_ = false;

  const Bell* bell_;
  Budget* outer_;
  bool timed_;
  BudgetTime time_;
  int iterations_;
  double seconds_, share_, processor_begin_ = 0;
  Clock::time_point begin_;
  std::atomic<bool> cut_ = false;
};

/// For as long as it lives, time of the budget in force is up after a share of it (0 to 1): what comes later gets the rest.
class TimeShare {
 public:
  explicit TimeShare(double part) : budget_(Budget::current()) {
    if (budget_) budget_->share_ = part;
  }
  ~TimeShare() {
    if (budget_) budget_->share_ = 1;
  }
  TimeShare(const TimeShare&) = delete;
  TimeShare& operator=(const TimeShare&) = delete;

 private:
  Budget* budget_;
};

/// One solve: counts its iterations, those of the solvers that it calls included.
class SolveBudget {
 public:
  SolveBudget() : limited_before_(Budget::limited_), left_before_(Budget::iterations_left_) {
    const Budget* const budget = Budget::current_;
    Budget::limited_ = budget != nullptr && budget->iterations_ > 0;
    Budget::iterations_left_ = Budget::limited_ ? budget->iterations_ : 0;
  }
  ~SolveBudget() {
    Budget::limited_ = limited_before_;
    Budget::iterations_left_ = left_before_;
  }
  SolveBudget(const SolveBudget&) = delete;
  SolveBudget& operator=(const SolveBudget&) = delete;

 private:
  bool limited_before_;
  std::int64_t left_before_;
};

/// Another thread's budget, in force here while that one waits.
class BudgetOnThread {
 public:
  explicit BudgetOnThread(Budget* budget) : before_(Budget::current_) { Budget::current_ = budget; }
  ~BudgetOnThread() { Budget::current_ = before_; }
  BudgetOnThread(const BudgetOnThread&) = delete;
  BudgetOnThread& operator=(const BudgetOnThread&) = delete;

 private:
  Budget* before_;
};

/// Thrown out of one long piece of work (a factorisation) where time is up and somebody further out (Dispensable) has said that
/// he has an answer without it.
struct OutOfTime {};

class Dispensable {
 public:
  Dispensable() : before_(in_force_) { in_force_ = true; }
  ~Dispensable() { in_force_ = before_; }
  Dispensable(const Dispensable&) = delete;
  Dispensable& operator=(const Dispensable&) = delete;

  /// For pieces of such work, each of microseconds: listens to all, and looks at the clock now and then.
  static void pause(std::int64_t piece) {
    constexpr std::int64_t pieces_per_look = 32;
    if (piece % pieces_per_look != 0) return;
    if (in_force_ ? Budget::out_of_time() : (Budget::listen(), false)) throw OutOfTime();
  }

 private:
  static inline constinit thread_local bool in_force_ = false;
  bool before_;
};

}  // namespace rotule
