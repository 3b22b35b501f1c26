#pragma once
// Blows at one instant: what touches, is rigid, and closes fast enough to bounce is thrown back by Newton's law,
//   w = J u+ >= -e J u-   for contacts that close,   w = J u+ >= 0   for those that do not bounce,
// friction and joints acting at the same time; positions stay. Blows follow one another: contacts that could bounce but do not
// close yet take no part until a blow has made them close (a cradle without gaps, a small ball on a big one), with a bound on
// their number, after which everything that touches is held at once.
//
// Newton's law may create energy where several contacts or friction play together. It never does here: with u_0 the velocities of
// a blow without restitution, which takes energy only, the answer is u_0 + s (u+ - u_0) with the largest s <= 1 that leaves no
// more than there was. All bounds on velocities and impulses are convex, so that what lies between two answers respects them.
#include "step/reference/impulses.h"

namespace rotule {

class Impacts {
 public:
  /// Changes the velocities of `s`; `touching` tells which contacts take part. The number of contacts that bounced.
  int resolve(JointedMechanism& mechanism, const ContactRules& rules, std::span<const char> touching, bool cone, State& s,
              double t);
  double given_work = 0;  // J, done by kinematic bodies and belts in the last call

 private:
  /// One island's share of a blow.
  void strike(JointedMechanism& mechanism, const IslandParts& parts, Island& island, double t, VecX& u);

  std::vector<Contact> acting_;  // of the blow at hand
  std::vector<DriveRow> stops_;  // limits of joints that are reached
  std::vector<Island> islands_;
  IslandSearch search_;
  std::vector<char> bouncing_;  // per contact of acting_
  VecX before_, thrown_;        // velocities over an island's bodies: of the start; with all that Newton's law asks for
  VecX thrown_x_;               // impulses of the latter
};

}  // namespace rotule
