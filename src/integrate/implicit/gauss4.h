#pragma once
// Gauss-Legendre collocation with two stages: order 4 (integrate/implicit/gauss.h).
#include "integrate/implicit/gauss.h"

namespace rotule {

template <ImplicitMechanism M>
using Gauss4 = Gauss<M, 2>;

}  // namespace rotule
