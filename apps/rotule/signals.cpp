#include "signals.h"

#include <unistd.h>

#include <csignal>
#include <ctime>

namespace rotule::app {
namespace {

Bell bell;
volatile std::sig_atomic_t first_signal = 0, kept = 0;
timer_t signal_timer;
bool has_timer = false;
/// One press may arrive twice: `timeout` and shells signal the program and then its group.
constexpr double same_press = 0.25;  // s
timespec first_time{};

double since_first() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec - first_time.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - first_time.tv_nsec);
}

void wait_no_longer() {
  if (!has_timer) return;
  itimerspec soon{};
  soon.it_value.tv_nsec = 80'000'000;
  ::timer_settime(signal_timer, 0, &soon, nullptr);
}

/// Only what POSIX allows in handlers.
void hear(int signal) {
  if (first_signal != 0) {
    if (since_first() < same_press) return;
    std::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  ::clock_gettime(CLOCK_MONOTONIC, &first_time);
  first_signal = signal;
  bell.ring();
  if (kept == 0) wait_no_longer();
}

void give_up(int) {
  if (kept != 0) return;
  constexpr char words[] = "rotule: interrupted\n";
  if (::write(STDERR_FILENO, words, sizeof(words) - 1) < 0) ::_exit(128 + first_signal);  // nobody reads it
  ::_exit(128 + first_signal);
}

}  // namespace

void answer_signals() {
  struct sigaction late {};
  late.sa_handler = give_up;
  sigemptyset(&late.sa_mask);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGALRM;
  has_timer = ::sigaction(SIGALRM, &late, nullptr) == 0 && ::timer_create(CLOCK_MONOTONIC, &event, &signal_timer) == 0;
  struct sigaction action {};
  action.sa_handler = hear;
  sigemptyset(&action.sa_mask);
  for (const int other : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&action.sa_mask, other);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) ::sigaction(signal, &action, nullptr);  // nohup and shells' background jobs stay deaf
  }
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its largest is a write that fails, and is told and tidied as a full disk
}

void receive(int signal) {
  if (first_signal == 0) first_signal = signal;
}
int signal_received() { return first_signal; }
Bell& signal_bell() { return bell; }

WorthKeeping::WorthKeeping() { kept = 1; }
WorthKeeping::~WorthKeeping() {
  kept = 0;
  if (first_signal != 0) wait_no_longer();
}

}  // namespace rotule::app
