#pragma once
// Two boxes by their fifteen separating axes: three face normals each and the nine cross products of their edges (S. Gottschalk,
// M. C. Lin, D. Manocha, "OBBTree", 1996). The separation along the best axis is the depth where they overlap; where they are
// apart it is the distance only if a face or two edges are what is nearest, else less, and gjk.h has the last word. The axis that
// parted them last time is tried first.
#include <vector>

#include "collide/frame.h"
#include "collide/narrow/clip.h"
#include "collide/narrow/manifold.h"
#include "collide/shape/convex.h"

namespace rotule {

/// Whether the axis that parted them last time still does.
inline bool still_parted(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin,
                         const PairMemory& memory) {
  const Vec3& last = memory.axis;
  if (!(last.squaredNorm() > 0)) return false;
  const Vec3 n = X_WA.R * last;
  return n.dot(X_WB.p - X_WA.p) - a.size.dot(last.cwiseAbs()) - b.size.dot((X_WB.R.transpose() * n).cwiseAbs()) > margin;
}

/// Appends the contact of two boxes without rounding, if there is one; see collide_convex.
void collide_boxes(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                   CandidateList& list, std::vector<Manifold>& found);

}  // namespace rotule
