#pragma once
// The distance between the cores of two convex shapes (E. G. Gilbert, D. W. Johnson, S. S. Keerthi 1988): the point v of A - B
// nearest to the origin, by simplices of support points, each in the direction -v. The distance is known from both sides: |v|
// from above, v . w / |v| from below; it stops when they agree to 1e-10. On curved shapes that takes long, so once they agree to
// a tenth the end is looked for directly (stationary.h); after 100 rounds the best is taken. Cores that touch or overlap (|v|
// below 1e-9 of their size, where the direction of v would be noise) are left to epa.h.
#include "collide/frame.h"
#include "collide/narrow/simplex.h"
#include "collide/shape/convex.h"

namespace rotule {

struct CoreDistance {
  enum class Status { beyond, apart, overlapping };
  Status status = Status::beyond;
  double distance = 0;         // between cores; where beyond, no more than the true one
  Vec3 normal = Vec3::Zero();  // unit, from A to B
  Vec3 on_a, on_b;             // points of the cores, where apart
  Simplex simplex;             // around the origin, where overlapping
};

/// In A's frame. `axis` (any length, not zero) is where to look first: the last normal, or from centre to centre. Where cores are
/// farther apart than `limit` it stops early.
CoreDistance core_distance(const Convex& a, const Convex& b, const Frame& X_AB, const Vec3& axis, double limit);

}  // namespace rotule
