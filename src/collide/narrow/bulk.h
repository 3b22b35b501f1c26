#pragma once
// Many pairs of one kind at once: one kernel per kind, for L = double (the reference) or FloatLanes (four pairs at a time, for
// the real-time path). Pairs are structures of arrays of differences, so that floats lose nothing far from the origin. What comes
// out is the signed gap and the unit normal from A to B, as separation.h defines them; for boxes a bound alone: the largest
// separation along their fifteen axes, which is positive where they are apart.
//
// Where two centres or cores coincide there is no direction to tell: the normal is +z then, and the gap still minus the radii.
#include <vector>

#include "base/lanes.h"

namespace rotule {

/// Scalars by coordinate.
template <class Scalar>
struct Array3 {
  std::vector<Scalar> x, y, z;
  void resize(std::size_t count) { x.resize(count), y.resize(count), z.resize(count); }
};

/// How long arrays for `count` pairs must be: whole lanes, whatever the lane type.
constexpr std::size_t padded(std::size_t count) {
  return (count + FloatLanes::count - 1) / FloatLanes::count * FloatLanes::count;
}

/// Spheres and capsules: B's middle seen from A's, unit axes and half lengths of the cores, the sum of the radii.
template <class Scalar>
struct RoundPairs {
  Array3<Scalar> between, axis_a, axis_b;
  std::vector<Scalar> half_a, half_b, radii;
  void resize(std::size_t count) {
    for (auto* array : {&between, &axis_a, &axis_b}) array->resize(padded(count));
    for (auto* array : {&half_a, &half_b, &radii}) array->resize(padded(count));
  }
};

/// A sphere A and a box B: the sphere's centre in the box's frame, half extents, radius. The normal is in the box's frame.
template <class Scalar>
struct SphereBoxPairs {
  Array3<Scalar> center, size;
  std::vector<Scalar> radius;
  void resize(std::size_t count) { center.resize(padded(count)), size.resize(padded(count)), radius.resize(padded(count)); }
};

/// Two boxes: B's centre and axes in A's frame, half extents of both.
template <class Scalar>
struct BoxPairs {
  Array3<Scalar> between, axis[3], size_a, size_b;
  void resize(std::size_t count) {
    for (auto* array : {&between, &axis[0], &axis[1], &axis[2], &size_a, &size_b}) array->resize(padded(count));
  }
};

template <class Scalar>
struct BulkGaps {
  std::vector<Scalar> gap;
  Array3<Scalar> normal;
  void resize(std::size_t count) { gap.resize(padded(count)), normal.resize(padded(count)); }
};

template <class L>
using ScalarOf = typename LaneTraits<L>::Scalar;

/// Instantiated for double and FloatLanes. `out` is resized; entries past the last pair mean nothing.
template <class L>
void sphere_sphere_gaps(const RoundPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out);
template <class L>
void sphere_capsule_gaps(const RoundPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out);
template <class L>
void capsule_capsule_gaps(const RoundPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out);
template <class L>
void sphere_box_gaps(const SphereBoxPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out);
template <class L>
void box_box_separations(const BoxPairs<ScalarOf<L>>& pairs, std::vector<ScalarOf<L>>& out);

}  // namespace rotule
