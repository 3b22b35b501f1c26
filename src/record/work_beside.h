#pragma once
// Work on one thing after the other, in the order in which they are handed over, on a thread beside the caller's. Things are
// copied into places that are used again, of which there are few: who hands over more than is done waits.
#include <pthread.h>

#include <array>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace rotule {

template <class Thing>
class WorkBeside {
 public:
  /// Without a thread the caller does the work when he hands it over.
  WorkBeside(bool thread, std::function<void(const Thing&)> work) : work_(std::move(work)) {
    if (!thread) return;
    // Signals are for the threads that wait for them.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
      thread_ = std::thread([this] { run(); });
    } catch (...) {
      pthread_sigmask(SIG_SETMASK, &before, nullptr);
      throw;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  WorkBeside(const WorkBeside&) = delete;
  WorkBeside& operator=(const WorkBeside&) = delete;
  ~WorkBeside() { stop(); }

  /// fill(thing) writes it into a place whose memory is an older one's. Throws what the work on an older one threw.
  template <class Fill>
  void hand_over(Fill&& fill) {
    if (!thread_.joinable()) {
      fill(places_[0]);
      return work_(places_[0]);
    }
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ < places_.size() || failure_; });
    if (failure_) std::rethrow_exception(failure_);
    Thing& place = places_[(first_ + waiting_) % places_.size()];
    lock.unlock();
    fill(place);
    lock.lock();
    ++waiting_;
    changed_.notify_all();
  }

  /// Waits for all that was handed over; throws what went wrong with it.
  void finish() {
    stop();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return waiting_ > 0 || over_; });
      if (waiting_ == 0 || failure_) return;
      const Thing& thing = places_[first_];
      lock.unlock();
      std::exception_ptr failure;
      try {
        work_(thing);
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      first_ = (first_ + 1) % places_.size();
      --waiting_;
      failure_ = failure;
      changed_.notify_all();
    }
  }
  void stop() {
    if (!thread_.joinable()) return;
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::function<void(const Thing&)> work_;
  std::array<Thing, 4> places_;
  std::size_t first_ = 0, waiting_ = 0;
  bool over_ = false;
  std::exception_ptr failure_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace rotule
