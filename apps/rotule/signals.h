#pragma once
// Ctrl-C and its like (SIGINT, SIGTERM, SIGHUP). The first one rings a bell that all loops listen to (base/budget.h): what was
// begun is ended in order, temporary files go, and the status is 128 + the signal's number. Where nobody has heard it within a
// tenth of a second (a library's own long loop), the program ends all the same, unless it has been told that there is something
// to keep. A second one, a quarter of a second later or more, ends it at once. A file that reaches the largest size that is
// allowed (SIGXFSZ) is a full disk.
#include "base/budget.h"

namespace rotule::app {

/// From here on signals are answered as above.
void answer_signals();
/// Which one came first; 0: none yet.
int signal_received();
/// One that somebody else has caught (the viewer's server): the program ends with its status.
void receive(int signal);
/// What it rings.
Bell& signal_bell();

/// As long as it lives, whoever does not hear the bell is waited for: a recording is worth it.
class WorthKeeping {
 public:
  WorthKeeping();
  ~WorthKeeping();
  WorthKeeping(const WorthKeeping&) = delete;
  WorthKeeping& operator=(const WorthKeeping&) = delete;
};

/// `work()`, which may be interrupted: Interrupted passes through.
template <class Work>
decltype(auto) heeding_signals(Work&& work) {
  const Budget listening(signal_bell());
  return work();
}

}  // namespace rotule::app
