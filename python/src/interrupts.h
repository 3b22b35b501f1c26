#pragma once
// Work without the interpreter's lock, during which Ctrl-C is heard. Python's own handler of SIGINT only takes a note, which
// nobody reads before the call returns. So a handler of this module stands before it: it rings a bell that the engine's loops
// listen to (base/budget.h), and then calls Python's. Where users install handlers of their own, it takes its place again at the
// next call. Other threads of Python are not told: KeyboardInterrupt is for the main one.
#include <optional>

#include "base/budget.h"
#include "module.h"

namespace rotule::python {

/// The bell that Ctrl-C rings.
Bell& interrupt_bell();
/// Whether this is the thread that KeyboardInterrupt goes to.
bool on_main_thread();
/// With the lock: answers signals that came before, and makes sure that the bell rings for those to come.
void listen_to_signals();
/// With the lock, after Interrupted: raises KeyboardInterrupt, or whatever the user's handler raises. Returns where it raised
/// nothing, or where no signal rang.
void answer_interrupt();

/// Runs work() without the lock. Throws Interrupted where a bell rang.
template <class Work>
decltype(auto) without_lock(Work&& work) {
  const bool main = on_main_thread();
  if (main) listen_to_signals();
  const py::gil_scoped_release released;
  std::optional<Budget> budget;
  if (main) budget.emplace(interrupt_bell());
  return work();
}

/// The same for work that cannot be taken up again: an interrupt always ends it.
template <class Work>
decltype(auto) at_once(Work&& work) {
  try {
    return without_lock(work);
  } catch (const Interrupted&) {
    answer_interrupt();
    throw;
  }
}

}  // namespace rotule::python
