#pragma once
// Taylor's series to h^3: u + h a + h^2/2 a' + h^3/6 a''. Order 3, five evaluations (integrate/explicit/taylor.h).
#include "integrate/explicit/taylor.h"

namespace rotule {

template <Mechanism M>
using Taylor3 = Taylor<M, 3>;

}  // namespace rotule
