#pragma once
// Work that all solves of a step share, counted in rows that sweeps go over: with 20 ns each a bound on time that is the same on
// every machine. Where solves may go on side by side, each is a piece with a part of its own of what is left when they begin: so
// results do not depend on which of the others are done already, and are the same on any number of threads.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>

namespace rotule {

class SharedWork {
 public:
  /// In force on this thread until it goes; 0 rows: without end.
  explicit SharedWork(double rows) : rows_(rows), outer_(current_) { current_ = this; }
  ~SharedWork() { current_ = outer_; }
  SharedWork(const SharedWork&) = delete;
  SharedWork& operator=(const SharedWork&) = delete;

  /// The one in force on this thread; null where there is none.
  static SharedWork* current() { return current_; }

  /// Of a share (0 to 1) of the whole: what comes later gets the rest.
  [[nodiscard]] double left(double share = 1) const {
    return rows_ > 0 ? std::max(share * rows_ - static_cast<double>(used_.load(std::memory_order_relaxed)), 0.0)
                     : std::numeric_limits<double>::infinity();
  }
  /// For who then ends: it is remembered that something was cut short.
  [[nodiscard]] bool spent(double share = 1) {
    const bool spent = left(share) == 0;
    if (spent) cut_.store(true, std::memory_order_relaxed);
    return spent;
  }
  /// Whether something ended for want of it.
  [[nodiscard]] bool cut() const { return cut_.load(std::memory_order_relaxed); }

  /// What the solve that asks may still do.
  static double left_here();
  static void use_here(double rows);
  /// Who asks would have gone on.
  static void cut_here();
  [[nodiscard]] static bool spent_here() {
    const bool spent = left_here() == 0;
    if (spent) cut_here();
    return spent;
  }

 private:
  friend class WorkPiece;
  static inline constinit thread_local SharedWork* current_ = nullptr;

  double rows_;
  SharedWork* outer_;
  std::atomic<std::int64_t> used_ = 0;  // integers: sums of pieces in any order are the same
  std::atomic<bool> cut_ = false;
};

/// One of the pieces, in force on the thread that does it.
class WorkPiece {
 public:
  WorkPiece(SharedWork& all, double rows) : all_(all), rows_(rows), outer_(current_) { current_ = this; }
  ~WorkPiece() {
    current_ = outer_;
    all_.used_.fetch_add(used_, std::memory_order_relaxed);
  }
  WorkPiece(const WorkPiece&) = delete;
  WorkPiece& operator=(const WorkPiece&) = delete;

 private:
  friend class SharedWork;
  static inline constinit thread_local WorkPiece* current_ = nullptr;

  SharedWork& all_;
  double rows_;
  std::int64_t used_ = 0;
  WorkPiece* outer_;
};

inline double SharedWork::left_here() {
  if (const WorkPiece* const piece = WorkPiece::current_) return std::max(piece->rows_ - static_cast<double>(piece->used_), 0.0);
  return current_ ? current_->left() : std::numeric_limits<double>::infinity();
}

inline void SharedWork::use_here(double rows) {
  const auto whole = static_cast<std::int64_t>(rows);
  if (WorkPiece::current_)
    WorkPiece::current_->used_ += whole;
  else if (current_)
    current_->used_.fetch_add(whole, std::memory_order_relaxed);
}

inline void SharedWork::cut_here() {
  SharedWork* const all = WorkPiece::current_ ? &WorkPiece::current_->all_ : current_;
  if (all) all->cut_.store(true, std::memory_order_relaxed);
}

}  // namespace rotule
