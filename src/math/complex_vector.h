#pragma once
// Vectors of complex numbers, for methods whose linear systems have complex eigenvalues.
#include <rotule/types.h>

#include <complex>

namespace rotule {

using VecXc = Eigen::VectorXcd;

}  // namespace rotule
