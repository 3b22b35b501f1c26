#pragma once
// From one normal to up to four points. What of both surfaces faces the other (a face, a straight side, the edge that it may
// stand on, or nothing but the point) is seen along n, cut with each other in that view (I. E. Sutherland, G. W. Hodgman 1974),
// and every corner of what they share is lifted back onto both surfaces: so points lie on both, and swapping the bodies changes
// nothing. A corner is named by the two edges that meet there, which makes its feature id last. The deepest point is always among
// those kept.
#include "collide/frame.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/convex.h"

namespace rotule {

/// A candidate for a manifold and where it is in the view along n.
struct Candidate {
  ContactPoint point;
  double x = 0, y = 0;
};

struct CandidateList {
  static constexpr int capacity = 2 * SurfacePatch::capacity + 12;
  int count = 0;
  double lever = 0;  // of a round patch, which corners do not tell (patch_lever.h); 0 where they do
  std::array<Candidate, capacity> items;
};

/// All points with a gap of at most `margin`, in A's frame. Where the patches do not reach the depth of the separation, its own
/// point is added if `with_deepest`.
void clip_patches(const Convex& a, const Convex& b, const Frame& X_AB, const Separation& s, double margin, bool with_deepest,
                  CandidateList& out);

/// The deepest, the one farthest from it, and those that make the largest quadrangle. They are moved by X into the world. Where
/// more than four lie flat, the lever of all of them is kept too, unless `lever` is known already.
void keep_four(const Candidate* items, int count, double lever, const Frame& X, Manifold& out);

}  // namespace rotule
