#pragma once
// Modified Euler (B4), also Heun's method: the trapezoid with an explicit predictor, y + h/2 (f(y) + f(y + h f(y))). Order 2.
#include "integrate/explicit/two_stage.h"

namespace rotule {

template <Mechanism M>
class ModifiedEuler : public TwoStage<M> {
 public:
  ModifiedEuler() : TwoStage<M>(1) {}
};

}  // namespace rotule
