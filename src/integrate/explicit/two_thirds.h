#pragma once
// The two-thirds method (B4): y + h/4 (f(y) + 3 f(y + 2/3 h f(y))). Order 2, with the smallest bound on the local error among
// the explicit methods of two stages (Ralston 1962).
#include "integrate/explicit/two_stage.h"

namespace rotule {

template <Mechanism M>
class TwoThirds : public TwoStage<M> {
 public:
  TwoThirds() : TwoStage<M>(2.0 / 3) {}
};

}  // namespace rotule
