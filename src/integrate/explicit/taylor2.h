#pragma once
// Taylor's series to h^2: u + h a + h^2/2 a'. Order 2, three evaluations (integrate/explicit/taylor.h).
#include "integrate/explicit/taylor.h"

namespace rotule {

template <Mechanism M>
using Taylor2 = Taylor<M, 2>;

}  // namespace rotule
