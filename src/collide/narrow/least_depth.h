#pragma once
// The depth of two overlapping cores, curved ones among them, where a direction near its normal is known: stationary.h goes to
// the minimum of the support function h of A - B there, and ten support points may prove that it is the least, to 1e-3 of the
// depth and 1e-6 of the size. No search for the overlap is needed then.
//
// The proof: a closed surface of triangles between points of A - B, all running one way around the origin, is met by every ray
// from there, nowhere nearer than the plane of a triangle. As A - B is convex and has the origin inside, a ball of that radius is
// inside, and h is nowhere less. Next to a minimum of depth h with a curvature of radius r the planes through support points at
// angles x and y to its normal are h + r x y / 2 away or more, up to h (x + y)^2 / 8: four points at an angle where that term
// is below what is asked for, and four more well outside, are enough where r is much larger than h. It fails for deep overlaps,
// flat faces and minima near an edge; epa.h goes on then.
#include "collide/narrow/difference.h"
#include "collide/narrow/stationary.h"

namespace rotule {

/// By how much the lower bound may be below a minimum of the support function, where `scale` is the size of A - B.
inline double slack_below(double depth, double scale) { return std::max(std::min(1e-3 * depth, 1e-6 * scale), 1e-10 * scale); }

/// An angle to the normal of a minimum within which planes through its point are far enough from the origin.
inline double near_angle(double depth, double scale) { return std::min(std::sqrt(2 * slack_below(depth, scale) / depth), 0.1); }

/// Whether few points show that no direction is less deep than this minimum, up to the slack.
bool is_least(Difference& difference, const StationaryDirection& minimum);

struct DepthNear {
  bool found = false, proven = false;
  StationaryDirection minimum;  // if found
};

/// From the unit vector `hint`.
DepthNear depth_near(Difference& difference, const Vec3& hint);

}  // namespace rotule
