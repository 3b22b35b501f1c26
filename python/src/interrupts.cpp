#include "interrupts.h"

#include <unistd.h>
#include <csignal>

namespace rotule::python {
namespace {

struct sigaction handler_behind = {};

extern "C" void ring_and_pass_on(int number, siginfo_t* info, void* context) {
  interrupt_bell().ring();
  if ((handler_behind.sa_flags & SA_SIGINFO) != 0)
    handler_behind.sa_sigaction(number, info, context);
  else if (handler_behind.sa_handler != SIG_DFL && handler_behind.sa_handler != SIG_IGN)
    handler_behind.sa_handler(number);
}

/// Before whatever handler there is; a signal that ends the program or is ignored stays as it is.
void stand_in_line() {
  struct sigaction now = {};
  if (sigaction(SIGINT, nullptr, &now) != 0) return;
  const bool plain = (now.sa_flags & SA_SIGINFO) == 0;
  if (!plain && now.sa_sigaction == &ring_and_pass_on) return;
  if (plain && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return;
  handler_behind = now;
  struct sigaction ours = now;
  ours.sa_flags |= SA_SIGINFO;
  ours.sa_sigaction = &ring_and_pass_on;
  sigaction(SIGINT, &ours, nullptr);
}

}  // namespace

Bell& interrupt_bell() {
  static Bell bell;
  return bell;
}

bool on_main_thread() {
  thread_local const bool main = gettid() == getpid();
  return main;
}

void listen_to_signals() {
  stand_in_line();
  interrupt_bell().silence();
  // What came before the bell was silenced has left its note with Python.
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

void answer_interrupt() {
  if (!interrupt_bell().rung()) return;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

}  // namespace rotule::python
