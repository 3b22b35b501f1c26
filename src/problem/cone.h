#pragma once
// Projections on the sets that friction allows: the disk |t| <= r and Coulomb's cone K = { (n, t) : |t| <= mu n }.
#include <algorithm>
#include <cmath>

namespace rotule {

/// The nearest point of the disk of this radius; `t` has `count` numbers.
inline void project_on_disk(double radius, int count, double* t) {
  double squares = 0;
  for (int k = 0; k < count; ++k) squares += t[k] * t[k];
  if (squares <= radius * radius) return;
  const double scale = radius / std::sqrt(squares);
  for (int k = 0; k < count; ++k) t[k] *= scale;
}

/// The nearest point of the cone; `x` is the normal part, then `count` tangential ones.
inline void project_on_cone(double mu, int count, double* x) {
  double squares = 0;
  for (int k = 1; k <= count; ++k) squares += x[k] * x[k];
  const double t = std::sqrt(squares);
  if (t <= mu * x[0]) return;
  if (mu * t <= -x[0]) {  // in the polar cone: the apex is nearest
    for (int k = 0; k <= count; ++k) x[k] = 0;
    return;
  }
  const double n = (x[0] + mu * t) / (1 + mu * mu);
  const double scale = mu * n / t;
  x[0] = n;
  for (int k = 1; k <= count; ++k) x[k] *= scale;
}

}  // namespace rotule
