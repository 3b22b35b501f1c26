#pragma once
// Sweeps that know when to stop. Who could solve the problem in another way says what that would cost (Rival, in the workspace);
// accelerated sweeps look at how fast their own estimate of the residual falls, and end where they would take longer.
#include <rotule/types.h>

#include <algorithm>
#include <cmath>

namespace rotule {

struct Rival {
  double sweeps = infinity;
};

/// Sets it for as long as this lives.
class RivalInForce {
 public:
  RivalInForce(Rival& rival, double sweeps) : rival_(rival) { rival_.sweeps = sweeps; }
  ~RivalInForce() { rival_.sweeps = infinity; }
  RivalInForce(const RivalInForce&) = delete;
  RivalInForce& operator=(const RivalInForce&) = delete;

 private:
  Rival& rival_;
};

class Outlook {
 public:
  Outlook(const Rival& rival, double tolerance) : rival_(rival.sweeps), tolerance_(tolerance) {}

  /// After each sweep: whether the rest would take longer than the rival, at the rate of the last twenty.
  bool hopeless(double estimate) {
    constexpr int window = 10;
    if (rival_ == infinity) return false;
    least_ = std::min(least_, estimate);
    if (++sweeps_ % window != 0) return false;
    const double before = last_, rate = std::log(before / least_) / window;
    last_ = least_;
    least_ = infinity;
    return before < infinity && !(rate * rival_ >= std::log(last_ / tolerance_));
  }

 private:
  double rival_, tolerance_, least_ = infinity, last_ = infinity;
  int sweeps_ = 0;
};

}  // namespace rotule
