#pragma once
// Contacts for small motions about rest. Those that press stay closed, as in textbooks: where the surfaces are soft, or a
// stiffness is given, by springs,
//   K = k J_n^T J_n - N H,   D = d J_n^T J_n,
// else by rows J_n sigma = 0, with -N H alone. N is the force with which they press, J_n the gradient of the gap and H its second
// derivative, which knows how surfaces roll on each other: with T two tangents, d the relative displacement of the touching
// points, omega = T^T (theta x n) and W the radii of curvature of each surface, the normal leans by the nu that is greatest in
//   gap (1 - nu . nu / 2) + n . d + nu . T^T d - (nu - omega_a) W_a (nu - omega_a)/2 - (nu - omega_b) W_b (nu - omega_b)/2,
// W being 0 at a corner, r on a ball, and without bound on a flat side, to which nu is pinned.
// Where there is friction, what sticks stays where it is: two rows, or springs of a share of k; and the turning of what sticks by
// torsional and rolling friction likewise. Forces of friction act where the surfaces touch, wherever that rolls to.
#include <rotule/analyse.h>

#include <vector>

#include "constraint/geometric_stiffness.h"
#include "constraint/pool/contact.h"
#include "mechanism/jointed_mechanism.h"

namespace rotule {

/// One contact's share, over the small motions of its two bodies.
struct ContactShare {
  int a = world_body, b = world_body;
  Mat12 K = Mat12::Zero(), D = Mat12::Zero();
  Eigen::Matrix<double, Eigen::Dynamic, 12, Eigen::RowMajor, 6, 12> J;  // rows that hold it
};

/// At this state, which is at rest. Leaves the contacts' forces with the mechanism, and its accelerations in `udot`; counts what
/// is pressed, open or beyond its friction in `out`.
std::vector<ContactShare> linearise_contacts(JointedMechanism& mechanism, const State& s, double t,
                                             const LinearisationSettings& settings, VecX& udot, Linearisation& out);

}  // namespace rotule
