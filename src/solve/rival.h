#pragma once
// Sweeps that know when to stop. Who could solve the problem in another way says what that would cost (Rival, in the workspace);
// accelerated sweeps look at how fast their own estimate of the residual falls, and end where they would take longer.
#include <rotule/types.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace rotule {

struct Rival {
  double sweeps = infinity;
  std::vector<double> least;  // of all estimates so far, after every tenth sweep
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
  explicit Outlook(Rival& rival) : rival_(rival) { rival_.least.clear(); }

  /// After each sweep: whether the rest would take longer than the rival, at the rate since the first third of all sweeps (sets
  /// of contacts settle in jumps, and a few sweeps say little), `goal` being the estimate at which the judge should be content.
  /// Who has had twice the rival's time has promised too much.
  bool hopeless(double estimate, double goal) {
    constexpr int window = 10;
    if (rival_.sweeps == infinity) return false;
    least_ = std::min(least_, estimate);
    if (++sweeps_ % window != 0) return false;
    rival_.least.push_back(least_);
    const std::size_t now = rival_.least.size(), before = std::max<std::size_t>(1, 3 * now / 10);
    if (now == before) return false;
    const double rate = std::log(rival_.least[before - 1] / least_) / static_cast<double>(window * (now - before));
    return sweeps_ >= 2 * rival_.sweeps || !(rate * rival_.sweeps >= std::log(least_ / goal));
  }

 private:
  Rival& rival_;
  double least_ = infinity;
  int sweeps_ = 0;
};

}  // namespace rotule
