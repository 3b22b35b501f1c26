#include "collide/narrow/bulk.h"

#include "collide/narrow/closed_forms.h"

namespace rotule {
namespace {

template <class L>
L load(const std::vector<ScalarOf<L>>& from, std::size_t i) {
  return LaneTraits<L>::load(from.data() + i);
}
template <class L>
Point3<L> load(const Array3<ScalarOf<L>>& from, std::size_t i) {
  return {load<L>(from.x, i), load<L>(from.y, i), load<L>(from.z, i)};
}

/// Calls kernel(i, gap, normal) for each lane's worth of pairs and stores what it finds.
template <class L, class Kernel>
void for_lanes(std::size_t count, BulkGaps<ScalarOf<L>>& out, const Kernel& kernel) {
  out.resize(count);
  for (std::size_t i = 0; i < count; i += LaneTraits<L>::count) {
    L gap;
    Point3<L> normal;
    kernel(i, gap, normal);
    LaneTraits<L>::store(gap, out.gap.data() + i);
    LaneTraits<L>::store(normal.x, out.normal.x.data() + i);
    LaneTraits<L>::store(normal.y, out.normal.y.data() + i);
    LaneTraits<L>::store(normal.z, out.normal.z.data() + i);
  }
}

/// From the vector between the nearest points of two cores.
template <class L>
void from_cores(const Point3<L>& apart, const L& radii, L& gap, Point3<L>& normal) {
  const L zero(0), one(1), distance = root(dot(apart, apart));
  const auto met = zero < distance;
  const L inverse = one / select(met, distance, one);
  gap = distance - radii;
  normal = {inverse * apart.x, inverse * apart.y, select(met, inverse * apart.z, one)};
}

/// The largest separation of two boxes along their fifteen axes.
template <class L>
L box_separation(const L (&t)[3], const L (&R)[3][3], const L (&a)[3], const L (&b)[3]) {  // R[m]: axis m of B
  const L one(1);
  L size[3][3];
  for (int m = 0; m < 3; ++m)
    for (int k = 0; k < 3; ++k) size[m][k] = magnitude(R[m][k]);
  L best = magnitude(t[0]) - a[0] - (size[0][0] * b[0] + size[1][0] * b[1] + size[2][0] * b[2]);
  for (int k = 1; k < 3; ++k)
    best = most(best, magnitude(t[k]) - a[k] - (size[0][k] * b[0] + size[1][k] * b[1] + size[2][k] * b[2]));
  for (int m = 0; m < 3; ++m) {
    const L along = R[m][0] * t[0] + R[m][1] * t[1] + R[m][2] * t[2];
    best = most(best, magnitude(along) - b[m] - (size[m][0] * a[0] + size[m][1] * a[1] + size[m][2] * a[2]));
  }
  for (int k = 0; k < 3; ++k) {
    const int k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    for (int m = 0; m < 3; ++m) {
      const int m1 = (m + 1) % 3, m2 = (m + 2) % 3;
      const L along = t[k2] * R[m][k1] - t[k1] * R[m][k2];
      const L reach = a[k1] * size[m][k2] + a[k2] * size[m][k1] + b[m1] * size[m2][k] + b[m2] * size[m1][k];
      // Edges in parallel make no axis.
      const L square = one - R[m][k] * R[m][k];
      const auto parallel = square < parallel_limit(one);
      const L over = (magnitude(along) - reach) / root(select(parallel, one, square));
      best = most(best, select(parallel, best, over));
    }
  }
  return best;
}

}  // namespace

template <class L>
void sphere_sphere_gaps(const RoundPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out) {
  for_lanes<L>(pairs.radii.size(), out, [&](std::size_t i, L& gap, Point3<L>& normal) {
    from_cores(load<L>(pairs.between, i), load<L>(pairs.radii, i), gap, normal);
  });
}

template <class L>
void sphere_capsule_gaps(const RoundPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out) {
  for_lanes<L>(pairs.radii.size(), out, [&](std::size_t i, L& gap, Point3<L>& normal) {
    const Point3<L> between = load<L>(pairs.between, i), e = load<L>(pairs.axis_b, i);
    const L zero(0), m = load<L>(pairs.half_b, i), t = clamped(zero - dot(e, between), zero - m, m);
    from_cores(between + t * e, load<L>(pairs.radii, i), gap, normal);
  });
}

template <class L>
void capsule_capsule_gaps(const RoundPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out) {
  for_lanes<L>(pairs.radii.size(), out, [&](std::size_t i, L& gap, Point3<L>& normal) {
    const L zero(0);
    const Point3<L> between = load<L>(pairs.between, i), d = load<L>(pairs.axis_a, i), e = load<L>(pairs.axis_b, i),
                    none{zero, zero, zero};
    const auto [s, t] = nearest_on_segments(none - between, d, load<L>(pairs.half_a, i), e, load<L>(pairs.half_b, i));
    from_cores(between + t * e - s * d, load<L>(pairs.radii, i), gap, normal);
  });
}

template <class L>
void sphere_box_gaps(const SphereBoxPairs<ScalarOf<L>>& pairs, BulkGaps<ScalarOf<L>>& out) {
  for_lanes<L>(pairs.radius.size(), out, [&](std::size_t i, L& gap, Point3<L>& normal) {
    const L zero(0), one(1), radius = load<L>(pairs.radius, i);
    const Point3<L> c = load<L>(pairs.center, i), h = load<L>(pairs.size, i);
    const Point3<L> apart{clamped(c.x, zero - h.x, h.x) - c.x, clamped(c.y, zero - h.y, h.y) - c.y,
                          clamped(c.z, zero - h.z, h.z) - c.z};
    from_cores(apart, radius, gap, normal);
    // The centre inside: out through the nearest face, so the normal looks back in.
    const L dx = h.x - magnitude(c.x), dy = h.y - magnitude(c.y), dz = h.z - magnitude(c.z);
    const L depth = least(dx, least(dy, dz));
    const auto inside = zero < depth;
    const auto out_x = dx < least(dy, dz), out_y = dy < dz;
    const auto inward = [&](const L& at) { return select(at < zero, one, zero - one); };
    gap = select(inside, zero - depth - radius, gap);
    normal = {select(inside, select(out_x, inward(c.x), zero), normal.x),
              select(inside, select(out_x, zero, select(out_y, inward(c.y), zero)), normal.y),
              select(inside, select(out_x, zero, select(out_y, zero, inward(c.z))), normal.z)};
  });
}

template <class L>
void box_box_separations(const BoxPairs<ScalarOf<L>>& pairs, std::vector<ScalarOf<L>>& out) {
  const std::size_t count = pairs.between.x.size();
  out.resize(count);
  const auto fill = [](L(&to)[3], const Array3<ScalarOf<L>>& from, std::size_t i) {
    to[0] = load<L>(from.x, i), to[1] = load<L>(from.y, i), to[2] = load<L>(from.z, i);
  };
  for (std::size_t i = 0; i < count; i += LaneTraits<L>::count) {
    L t[3], R[3][3], a[3], b[3];
    fill(t, pairs.between, i);
    for (int m = 0; m < 3; ++m) fill(R[m], pairs.axis[m], i);
    fill(a, pairs.size_a, i);
    fill(b, pairs.size_b, i);
    LaneTraits<L>::store(box_separation(t, R, a, b), out.data() + i);
  }
}

template void sphere_sphere_gaps<double>(const RoundPairs<double>&, BulkGaps<double>&);
template void sphere_sphere_gaps<FloatLanes>(const RoundPairs<float>&, BulkGaps<float>&);
template void sphere_capsule_gaps<double>(const RoundPairs<double>&, BulkGaps<double>&);
template void sphere_capsule_gaps<FloatLanes>(const RoundPairs<float>&, BulkGaps<float>&);
template void capsule_capsule_gaps<double>(const RoundPairs<double>&, BulkGaps<double>&);
template void capsule_capsule_gaps<FloatLanes>(const RoundPairs<float>&, BulkGaps<float>&);
template void sphere_box_gaps<double>(const SphereBoxPairs<double>&, BulkGaps<double>&);
template void sphere_box_gaps<FloatLanes>(const SphereBoxPairs<float>&, BulkGaps<float>&);
template void box_box_separations<double>(const BoxPairs<double>&, std::vector<double>&);
template void box_box_separations<FloatLanes>(const BoxPairs<float>&, std::vector<float>&);

}  // namespace rotule
