#pragma once
// Gauss-Legendre collocation with three stages: order 6 (integrate/implicit/gauss.h).
#include "integrate/implicit/gauss.h"

namespace rotule {

template <ImplicitMechanism M>
using Gauss6 = Gauss<M, 3>;

}  // namespace rotule
