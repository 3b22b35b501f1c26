#pragma once
// Kinetic energies of one island, of velocities over its bodies, six each; and how far a bounce may go before it creates any.
#include "mechanism/jointed_mechanism.h"

namespace rotule {

/// u . M v.
double kinetic_product(const JointedMechanism& mechanism, const Island& island, const VecX& u, const VecX& v);
double kinetic_energy(const JointedMechanism& mechanism, const Island& island, const VecX& u);

/// Along the line from u_0 (s = 0) to u_1 (s = 1): the largest s <= 1 whose kinetic energy is at most `most`.
double share_within_energy(const JointedMechanism& mechanism, const Island& island, const VecX& u_0, const VecX& u_1,
                           double most);

}  // namespace rotule
