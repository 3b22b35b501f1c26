#pragma once
// What limits of elastic elements do where a step has ended. Beyond the yield stress an element flows: with the principal
// Kirchhoff stresses tau_i = s_i dW/ds_i and their von Mises equivalent q, its rest is stretched by exp(d n_i) along the
// principal directions, n = 3/2 dev(tau)/q, d such that q = yield + hardening (flowed + d) (radial return, M. L. Wilkins 1964; in
// logarithmic strains J. C. Simo 1992). Volume at rest does not change; of a sheet in plane stress it is the thickness that
// gives. Beyond the tear stretch, measured against the shape at the start, it tears: nothing of it is left but its mass.
#include "model/wear.h"

namespace rotule {

struct Worn {
  double yield = 0, tearing = 0;  // J, taken out
  double pumped = 0;              // J, that pumps have brought into what has burst now
  int flowed = 0, torn = 0;       // elements
};

/// Looks at all elements with limits, and changes the model.
Worn wear_out(Model& model, const State& s);

}  // namespace rotule
