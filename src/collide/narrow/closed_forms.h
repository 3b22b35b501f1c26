#pragma once
// Distances that need no search, for any scalar. Branches are selections, so that lanes (base/lanes.h) could take them too.
//
// Two segments p + s d, |s| <= l and q + t e, |t| <= m about their middles, d and e unit: with c = d . e and r = p - q, the
// distance is least where s (1 - c^2) = c (e . r) - d . r, clamped; then t from s, clamped; then s from t (C. Ericson, "Real-Time
// Collision Detection", 5.1.9). Parallel segments (1 - c^2 below rounding) take the middle of what they share.
#include "base/lanes.h"

namespace rotule {

/// 1 - cos^2 of an angle up to which two directions count as parallel: a few roundings.
inline double parallel_limit(double) { return 1e-15; }

template <class L>
L clamped(const L& x, const L& low, const L& high) {
  return least(most(x, low), high);
}

template <class L>
struct Point3 {
  L x, y, z;
};
template <class L>
Point3<L> operator+(const Point3<L>& a, const Point3<L>& b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
template <class L>
Point3<L> operator-(const Point3<L>& a, const Point3<L>& b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
template <class L>
Point3<L> operator*(const L& k, const Point3<L>& a) {
  return {k * a.x, k * a.y, k * a.z};
}
template <class L>
L dot(const Point3<L>& a, const Point3<L>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

/// Where on both segments, from their middles.
template <class L>
struct NearestOnSegments {
  L s, t;
};

/// r = p - q. A sphere is a segment of half length 0 and any direction.
template <class L>
NearestOnSegments<L> nearest_on_segments(const Point3<L>& r, const Point3<L>& d, const L& l, const Point3<L>& e, const L& m) {
  const L c = dot(d, e), dr = dot(d, r), er = dot(e, r);
  const L zero = c - c, one = zero + L(1);
  const L sine = most(one - c * c, zero);
  // Parallel: e . (d s + r) runs over the stretch of t that they share; its middle.
  const L sign = select(c < zero, zero - one, one);
  const L low = most(zero - l, (zero - er) * sign - m), high = least(l, (zero - er) * sign + m);
  const L shared = clamped(L(0.5f) * (low + high), zero - l, l);
  const auto parallel = sine < parallel_limit(one);
  const L crossing = (c * er - dr) / select(parallel, one, sine);
  L s = clamped(select(parallel, shared, crossing), zero - l, l);
  const L t = clamped(c * s + er, zero - m, m);
  s = clamped(c * t - dr, zero - l, l);
  return {select(parallel, shared, s), select(parallel, clamped(c * shared + er, zero - m, m), t)};
}

}  // namespace rotule
