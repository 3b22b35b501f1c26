#pragma once
// The direction in which two convex cores are locally nearest to being parted: a local minimum over unit vectors n of the support
// function h(n) of A - B. Minus h is the distance of cores that are apart; h is the depth of cores that overlap. h is smooth but
// where the support of A or B is an edge, a straight side or a flat face, so the places that a simplex of support points tells of
// are tried: a flat face of one (n is its normal), an edge or side of both (n is normal to both), of one (Newton's method on the
// circle of directions normal to it), of none (Newton's method on the sphere, with the second derivative of h: for a rim of
// radius r about z it is r / |n_xy| t t^T, t along the rim).
//
// A result counts as found only if the point h n itself is in A - B: the condition for a minimum, up to rounding. Then no
// direction at an angle x to n has h below h(n) cos x. It fails where the start is not near such a minimum; gjk.h and epa.h go on
// then.
#include "collide/frame.h"
#include "collide/narrow/simplex.h"
#include "collide/shape/convex.h"

namespace rotule {

struct StationaryDirection {
  Vec3 normal = Vec3::Zero();  // unit, from A to B
  double height = 0;
  Vec3 on_a = Vec3::Zero(), on_b = Vec3::Zero();  // of the cores: on_a - on_b = height normal
  // Tangents towards which the surface of A - B next to the point is told best by few support points: the axes of its
  // curvature, or the corners that two edges make. Zero on a flat face.
  Vec3 first = Vec3::Zero(), second = Vec3::Zero();
};

/// Whether h is worth looking at so closely: something is curved.
bool has_curvature(const Convex& a, const Convex& b);

/// In A's frame, starting at the unit vector n with the support points found near it. True where `out` is a local minimum no
/// higher than `limit`.
bool stationary_direction(const Convex& a, const Convex& b, const Frame& X_AB, const Simplex& near, const Vec3& n, double limit,
                          StationaryDirection& out);

}  // namespace rotule
