#pragma once
// What gradient methods do besides their steps: they minimise over a law that is held (convex_law.h), are judged by the true one,
// and let the held law follow x where its own problem has been solved well enough.
#include <rotule/problem.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "solve/gradient/convex_law.h"
#include "solve/iteration.h"

namespace rotule {

/// How many products with A at most pass between two words of the judge.
inline constexpr int products_per_check = 200;

/// `psi` is scratch, as long as x.
template <class Blocks>
class HeldLaw {
 public:
  HeldLaw(Blocks& blocks, ConvexLaw& law, BestAnswer& answer, Iteration& loop, std::vector<double>& psi)
      : blocks_(blocks), law_(law), answer_(answer), loop_(loop), psi_(psi) {}

  /// w of x, and the law as they have it.
  void start(std::span<double> x, std::span<double> w) {
    blocks_.op().residual(x, w);
    law_.follow(x, w);
  }

  /// After a step: whether x is good enough by the judge, who is asked where the residual of the true law promises it.
  bool ends(std::span<const double> x, std::span<const double> w) {
    true_error_ = answer_.estimate(x, w);
    if (!loop_.due(true_error_)) return false;
    // Sizes of boxes may lag behind their normals: what is judged, and returned, obeys them.
    std::copy(x.begin(), x.end(), psi_.begin());
    blocks_.local().make_feasible(psi_);
    return loop_.solved(true_error_, psi_);
  }

  /// Lets the law follow x where the error of the convex problem, the length of its natural map, has fallen well below that of
  /// the true one, and otherwise after so many steps. True where it did: x and w are others then.
  bool follows(std::span<double> x, std::span<double> w) {
    constexpr int most_steps = 200;
    std::copy(w.begin(), w.end(), psi_.begin());
    law_.add_shift(psi_);
    const std::span<const double> d = law_.metric();
    for (std::size_t i = 0; i < x.size(); ++i) psi_[i] = x[i] - psi_[i] / d[i];
    law_.project(psi_);
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += d[i] * (x[i] - psi_[i]) * (x[i] - psi_[i]);
    if (++steps_ < most_steps && std::sqrt(squares) / loop_.scale() > 0.3 * true_error_) return false;
    steps_ = 0;
    law_.follow(x, w);
    law_.project(x);  // sizes of boxes have changed
    blocks_.op().residual(x, w);
    return true;
  }

 private:
  Blocks& blocks_;
  ConvexLaw& law_;
  BestAnswer& answer_;
  Iteration& loop_;
  std::vector<double>& psi_;
  double true_error_ = 0;
  int steps_ = 0;
};

}  // namespace rotule
