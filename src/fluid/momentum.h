#pragma once
// The right-hand side of the momentum equation per mass, on the faces inside of the box:
//   -div(u u) + nu lap u - grad p
// by central differences in the form that moves momentum from cell to cell and, where div u = 0, neither makes nor destroys
// kinetic energy by advection.
#include "fluid/layout.h"

namespace rotule {

void momentum_rates(const GridLayout& layout, const Field3& u, const std::vector<double>& p, double nu, int threads,
                    Field3& rate);

}  // namespace rotule
