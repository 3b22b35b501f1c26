#include "collide/narrow/box_box.h"

// Once for what every processor has and once for four doubles per instruction (AVX2); the choice is made at run time. Nothing
// is fused, so both give the same bits.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "collide/narrow/box_box.cpp"  // NOLINT: how Highway compiles this file once per target
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3 | HWY_AVX3_DL)
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if HWY_ARCH_X86
#include <immintrin.h>
#endif

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "collide/narrow/closed_forms.h"
#include "collide/narrow/patch_lever.h"
#include "collide/narrow/pick_four.h"
#include "collide/narrow/separation.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::HWY_NAMESPACE {
namespace {

constexpr double nearly_flat = 0.985;  // cosine of 10 degrees
constexpr std::uint32_t edges_feature = 0xfffffffe;
constexpr std::array<int, 3> after{1, 2, 0};

/// Four lanes: x, y, z and one that is not looked at, or the four corners of a rectangle.
using Four = double __attribute__((vector_size(32)));
using Mask = std::int64_t __attribute__((vector_size(32)));

HWY_INLINE Four all(double v) { return Four{v, v, v, v}; }
HWY_INLINE Four from(const Vec3& v) { return Four{v.x(), v.y(), v.z(), 0}; }
HWY_INLINE Four magnitude(Four v) {
  return reinterpret_cast<Four>(reinterpret_cast<Mask>(v) & std::numeric_limits<std::int64_t>::max());
}
HWY_INLINE Four with_sign_of(Four v, Four sign) {
  return reinterpret_cast<Four>(reinterpret_cast<Mask>(magnitude(v)) |
                                (reinterpret_cast<Mask>(sign) & std::numeric_limits<std::int64_t>::min()));
}
HWY_INLINE Four smaller(Four a, Four b) { return a < b ? a : b; }
HWY_INLINE Four larger(Four a, Four b) { return a > b ? a : b; }

/// Bit i tells of lane i.
HWY_INLINE unsigned bits(Mask m) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  return unsigned(_mm256_movemask_pd(reinterpret_cast<__m256d>(m)));
#else
  return unsigned((m[0] & 1) | (m[1] & 2) | (m[2] & 4) | (m[3] & 8));
#endif
}

/// Lane `index` in all lanes.
template <int index>
HWY_INLINE Four spread(Four v) {
  return __builtin_shufflevector(v, v, index, index, index, index);
}
/// The coordinates after x, y, z, cyclically, and those after them.
HWY_INLINE Four next(Four v) { return __builtin_shufflevector(v, v, 1, 2, 0, 3); }
HWY_INLINE Four last(Four v) { return __builtin_shufflevector(v, v, 2, 0, 1, 3); }

HWY_INLINE double sum(Four v) { return v[0] + v[1] + v[2]; }

/// Three columns of a matrix.
struct Columns {
  Four c[3];
  HWY_INLINE Four times(const double* v) const { return c[0] * v[0] + c[1] * v[1] + c[2] * v[2]; }
  HWY_INLINE Four operator*(Four v) const { return c[0] * spread<0>(v) + c[1] * spread<1>(v) + c[2] * spread<2>(v); }
  [[nodiscard]] HWY_INLINE Columns transpose() const {
    const Four even = __builtin_shufflevector(c[0], c[1], 0, 4, 2, 6), odd = __builtin_shufflevector(c[0], c[1], 1, 5, 3, 7);
    return {{__builtin_shufflevector(even, c[2], 0, 1, 4, 5), __builtin_shufflevector(odd, c[2], 0, 1, 5, 4),
             __builtin_shufflevector(even, c[2], 2, 3, 6, 7)}};
  }
};

HWY_INLINE Columns magnitude(const Columns& m) { return {{magnitude(m.c[0]), magnitude(m.c[1]), magnitude(m.c[2])}}; }

/// A column and what stands behind it, the next column or the position, in one piece.
HWY_INLINE Columns columns_of(const Frame& X) {
  static_assert(sizeof(Frame) == 12 * sizeof(double));
  Columns out;
  for (int k = 0; k < 3; ++k)
    __builtin_memcpy(&out.c[k], X.R.data() + 3 * k, sizeof(Four));  // frames are aligned to doubles only
  return out;
}

/// The largest of x, y, z, and the first place where it is; by selections, for which it is, is as good as random.
struct Largest {
  double value;
  int at;
  HWY_INLINE explicit Largest(Four v) : value(most(most(v[0], v[1]), v[2])) {
    const int second = v[1] > v[0];
    at = v[2] > most(v[0], v[1]) ? 2 : second;
  }
};

/// What a box knows of a pair, in its own frame.
struct Side {
  Four size;       // half its edges
  Columns others;  // c[k][m]: the coordinate k of the other's axis m
  Four to_other;   // from its own centre
  Four n;          // the contact normal, towards the other
};

/// The axis of largest separation.
struct BestAxis {
  int face_of;  // the box that has the face, or `edges`
  int i, j;     // the face's axis, or the edges of A and of B
  double gap;
  double scale;  // makes the sides' normals unit vectors
};
constexpr int edges = 2;

alignas(32) constexpr double units[3][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
HWY_INLINE Four unit(int k) { return Four{units[k][0], units[k][1], units[k][2], units[k][3]}; }

/// Numbers with their lane and `group` in the last five bits: the largest of many brings its place along.
HWY_INLINE Four numbered(Four v, std::int64_t group) {
  return reinterpret_cast<Four>((reinterpret_cast<Mask>(v) & ~std::int64_t(31)) | Mask{group, group + 8, group + 16, group + 24});
}

/// Sets the sides' normals, too.
HWY_INLINE BestAxis best_axis(std::array<Side, 2>& sides, double margin, double tie) {
  const Four a = sides[0].size, b = sides[1].size, t = sides[0].to_other;
  const Columns &R = sides[1].others, &rows = sides[0].others;  // B's axes in A's frame are the columns of R
  const Columns absolute = magnitude(R), turned = magnitude(rows);
  std::array<Four, 2> gap;
  gap[0] = magnitude(t) - a - absolute * b;
  gap[1] = magnitude(sides[1].to_other) - b - turned * a;
  // Squares with their signs are compared. A tie goes to A's face, and any face wins over edges that are no better up to
  // rounding: contact keeps its kind.
  const auto square = [](Four v) HWY_ATTR { return v * magnitude(v); };
  Four best = larger(numbered(square(gap[0] + 2 * tie), 0), numbered(square(gap[1] + tie), 1));
  std::array<Four, 3> along, over, lengths;  // lengths squared
  if ((bits((gap[0] > margin) | (gap[1] > margin)) & 7u) == 0) {
    // Lane k: along e_k x R_m, which is (0, -R(k2, m), R(k1, m)) in the axes k, k1, k2. Edges in parallel make no axis.
    const Four t1 = next(t), t2 = last(t), a1 = next(a), a2 = last(a);
    std::array<Four, 3> score;
    for (int m = 0; m < 3; ++m) {
      const int m1 = after[m], m2 = after[m1];
      const Four r1 = next(R.c[m]), r2 = last(R.c[m]), size = absolute.c[m], length = r1 * r1 + r2 * r2;
      lengths[m] = length;
      along[m] = t2 * r1 - t1 * r2;
      over[m] = magnitude(along[m]) - (a1 * last(size) + a2 * next(size) + b[m1] * absolute.c[m2] + b[m2] * absolute.c[m1]);
      score[m] = numbered(length > 1e-14 ? square(over[m]) / length : all(-1e300), 2 + m);
    }
    best = larger(larger(best, score[0]), larger(score[1], score[2]));
  }
  const auto place = std::bit_cast<std::uint64_t>(most(most(best[0], best[1]), best[2])) & 31u;
  const int group = int(place & 7u), lane = int(place >> 3u);
  if (group < edges) {
    Side &own = sides[group], &other = sides[1 - group];
    const double side = std::copysign(1.0, own.to_other[lane]);
    own.n = side * unit(lane);
    other.n = -side * own.others.c[lane];
    return {group, lane, lane, gap[group][lane], 1};
  }
  const int m = group - 2;
  const Four r = R.c[m], e = unit(lane), axis = next(e) * last(r) - last(e) * next(r);
  sides[0].n = std::copysign(1.0, along[m][lane]) * axis;
  sides[1].n = -(rows * sides[0].n);
  const double per_length = 1 / std::sqrt(lengths[m][lane]);
  return {edges, lane, m, over[m][lane] * per_length, per_length};
}

/// Where two edges that face each other along the normal are nearest, in A's frame.
struct NearestOnEdges {
  Four on_a, on_b;
  HWY_INLINE NearestOnEdges(const std::array<Side, 2>& sides, int i, int j) {
    const Columns& R = sides[1].others;
    const Four a = sides[0].size, b = sides[1].size, d = unit(i), e = R.c[j];
    const Four p = (1 - d) * with_sign_of(a, sides[0].n);
    const Four q = sides[0].to_other + R * ((1 - unit(j)) * with_sign_of(b, sides[1].n)), r = p - q;
    const double c = e[i], er = sum(e * r), sine = 1 - c * c;
    const double along_a = clamped((c * er - r[i]) / sine, -a[i], a[i]);
    const double along_b = clamped(c * along_a + er, -b[j], b[j]);
    on_a = p + along_a * d;
    on_b = q + along_b * e;
  }
  /// They are nearest within both edges: the distance is the gap, not more.
  [[nodiscard]] HWY_INLINE bool cross(double gap, double rounding) const {
    const Four apart = on_b - on_a;
    return std::sqrt(sum(apart * apart)) <= gap + rounding;
  }
};

/// Points of contact where a face of one box, the reference, meets the face of the other that looks back most: that one, seen
/// along the normal onto the reference's plane, is a parallelogram and the reference a rectangle, and what they share has
/// corners of four sorts: the parallelogram's within the rectangle, where its edges enter the rectangle and where they leave
/// it, and the rectangle's within the parallelogram. Each is made for all four edges or corners at once; the gap is carried
/// along as a third coordinate.
struct FacePoints {
  static constexpr int deepest = 16;  // one more, put in by the caller
  alignas(32) std::array<double, 20> x, y, gap;
  std::array<int, 9> at;  // which of them are points
  int count = 0;
  std::uint32_t name;  // of both faces; a point's place comes on top

  [[nodiscard]] std::uint32_t feature(int place) const { return place == deepest ? edges_feature : name + std::uint32_t(place); }

  /// `own` is the box with the face; its normal is that of the face or near it.
  HWY_INLINE FacePoints(const Side& own, const Side& other, int face, double margin) {
    const int k = face, i = after[k], j = after[i];
    const Four normal = own.n, seen = other.n, reference = own.size, size = other.size;
    const double side = std::copysign(1.0, normal[k]), along = side / normal[k];
    const int m = Largest(magnitude(seen)).at, m1 = after[m], m2 = after[m1];
    const double back = std::copysign(1.0, seen[m]);
    name = 16 * std::uint32_t(m + 3 * k + 9 * (back > 0) + 18 * (side > 0));

    // The middle of the other's face and its half edges, in lanes: their coordinates k, i, j.
    const Four scale{back * size[m], size[m1], size[m2], 0};
    const auto coordinate = [&](int q) HWY_ATTR {
      const Four& axis = own.others.c[q];
      return Four{own.to_other[q], 0, 0, 0} + scale * Four{axis[m], axis[m1], axis[m2], 0};
    };
    const Four g_of = (side * coordinate(k) - Four{reference[k], 0, 0, 0}) * along;
    const Four x_of = coordinate(i) - normal[i] * g_of, y_of = coordinate(j) - normal[j] * g_of;  // down onto the face
    const Four x0 = spread<0>(x_of), xu = spread<1>(x_of), xv = spread<2>(x_of);
    const Four y0 = spread<0>(y_of), yu = spread<1>(y_of), yv = spread<2>(y_of);
    const Four g0 = spread<0>(g_of), gu = spread<1>(g_of), gv = spread<2>(g_of);

    constexpr Four u{-1, 1, 1, -1}, v{-1, -1, 1, 1};
    const Four px = x0 + u * xu + v * xv, py = y0 + u * yu + v * yv, pg = g0 + u * gu + v * gv;
    const Four x_limit = all(reference[i] * (1 + 1e-9)), y_limit = all(reference[j] * (1 + 1e-9)), far = all(margin);
    unsigned found = bits((magnitude(px) <= x_limit) & (magnitude(py) <= y_limit) & (pg <= far));
    put(0, px, py, pg);

    // Edges from each corner to the next, p + s d: they are in the rectangle from the last side entered to the first left.
    const auto to_next = [](Four p) HWY_ATTR { return __builtin_shufflevector(p, p, 1, 2, 3, 0) - p; };
    const auto inverse = [](Four d) HWY_ATTR { return 1 / with_sign_of(larger(magnitude(d), all(1e-200)), d); };
    const Four dx = to_next(px), dy = to_next(py), dg = to_next(pg), per_x = inverse(dx), per_y = inverse(dy);
    const Four x_low = (-x_limit - px) * per_x, x_high = (x_limit - px) * per_x;
    const Four y_low = (-y_limit - py) * per_y, y_high = (y_limit - py) * per_y;
    const Four enters = larger(smaller(x_low, x_high), smaller(y_low, y_high));
    const Four leaves = smaller(larger(x_low, x_high), larger(y_low, y_high));
    const Four from_s = larger(enters, all(0)), to_s = smaller(leaves, all(1));
    const Four enter_gap = pg + from_s * dg, leave_gap = pg + to_s * dg;
    found |= bits((from_s <= to_s) & (enters > all(0)) & (enter_gap <= far)) << 4;
    found |= bits((from_s < to_s) & (leaves < all(1)) & (leave_gap <= far)) << 8;
    put(4, px + from_s * dx, py + from_s * dy, enter_gap);
    put(8, px + to_s * dx, py + to_s * dy, leave_gap);

    // The rectangle's corners, in terms of the parallelogram's half edges.
    const Four rx = u * x_limit, ry = v * y_limit, per_area = 1 / (xu * yv - xv * yu);
    const Four alpha = ((rx - x0) * yv - (ry - y0) * xv) * per_area, beta = ((ry - y0) * xu - (rx - x0) * yu) * per_area;
    const Four r_gap = g0 + alpha * gu + beta * gv;
    found |= bits((magnitude(alpha) <= all(1)) & (magnitude(beta) <= all(1)) & (r_gap <= far)) << 12;
    put(12, rx, ry, r_gap);

    for (; found != 0 && count < 8; found &= found - 1) at[count++] = std::countr_zero(found);
  }

  [[nodiscard]] HWY_INLINE double least_gap() const {
    double out = infinity;
    for (int c = 0; c < count; ++c) out = least(out, gap[at[c]]);
    return out;
  }

  HWY_INLINE void add_deepest(double at_x, double at_y, double its_gap) {
    x[deepest] = at_x, y[deepest] = at_y, gap[deepest] = its_gap;
    at[count++] = deepest;
  }

 private:
  HWY_INLINE void put(int place, Four px, Four py, Four pg) {
    std::memcpy(&x[place], &px, sizeof(Four));
    std::memcpy(&y[place], &py, sizeof(Four));
    std::memcpy(&gap[place], &pg, sizeof(Four));
  }
};

/// Of all points, where they lie flat.
HWY_NOINLINE double lever_of(const FacePoints& points) {
  std::array<PatchPoint, 9> at;
  double low = infinity, high = -infinity, extent = 0;
  for (int c = 0; c < points.count; ++c) {
    const int place = points.at[c];
    at[c] = {points.x[place], points.y[place]};
    low = least(low, points.gap[place]), high = most(high, points.gap[place]);
    extent = most(extent, most(std::abs(at[c].x - at[0].x), std::abs(at[c].y - at[0].y)));
  }
  return high - low <= flat_patch * extent ? patch_lever(at.data(), points.count).lever : 0;
}

HWY_INLINE void store(Four v, Vec3& out) { out.x() = v[0], out.y() = v[1], out.z() = v[2]; }

/// Apart, and nearest at a corner: the axes do not tell.
HWY_NOINLINE void collide_corners(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin,
                                  PairMemory& memory, CandidateList& list, std::vector<Manifold>& found) {
  const Frame X = relative(X_WA, X_WB);
  const Separation nearest = general_separation(a, b, X, margin, memory);
  if (!nearest.near) return;
  clip_patches(a, b, X, nearest, margin, true, list);
  Manifold& out = found.emplace_back();
  out.normal = X_WA.R * nearest.normal;
  keep_four(list.items.data(), list.count, list.lever, X_WA, out);
}

void collide_boxes_in_lanes(const Convex& box_a, const Frame& X_WA, const Convex& box_b, const Frame& X_WB, double margin,
                            PairMemory& memory, CandidateList& list, std::vector<Manifold>& found) {
  const std::array<Columns, 2> world{columns_of(X_WA), columns_of(X_WB)};
  const std::array<Four, 2> position{from(X_WA.p), from(X_WB.p)};
  std::array<Side, 2> sides;
  sides[0].size = from(box_a.size);
  sides[1].size = from(box_b.size);
  const Columns into_a = world[0].transpose();
  for (int m = 0; m < 3; ++m) sides[1].others.c[m] = into_a.times(X_WB.R.data() + 3 * m);
  sides[0].others = sides[1].others.transpose();
  const Vec3 between = X_WB.p - X_WA.p;
  sides[0].to_other = into_a.times(between.data());
  sides[1].to_other = -world[1].transpose().times(between.data());
  const Four sizes = larger(sides[0].size, sides[1].size);
  const double rounding = 2e-9 * most(most(sizes[0], sizes[1]), sizes[2]);
  const BestAxis axis = best_axis(sides, margin, rounding);
  // Only an axis that parts is worth trying again.
  if (axis.gap > margin) return store(axis.scale * sides[0].n, memory.axis);
  memory.axis.setZero();
  const Four normal = axis.scale * (world[0] * sides[0].n);

  // The face nearest to the normal is where points are found; for edges only if the boxes lie nearly flat on each other, where
  // one point would not hold them.
  int reference = axis.face_of, face = axis.i;
  if (reference == edges) {
    const Largest on_a(magnitude(sides[0].n)), on_b(magnitude(sides[1].n));
    reference = on_b.value > on_a.value;
    face = reference == 1 ? on_b.at : on_a.at;
    if (!(most(on_a.value, on_b.value) * axis.scale > nearly_flat)) {
      const NearestOnEdges nearest(sides, axis.i, axis.j);
      if (axis.gap > 0 && !nearest.cross(axis.gap, rounding))
        return collide_corners(box_a, X_WA, box_b, X_WB, margin, memory, list, found);
      Manifold& out = found.emplace_back();
      store(normal, out.normal);
      out.count = 1;
      store(position[0] + world[0] * nearest.on_a, out.points[0].on_a);
      store(position[0] + world[0] * nearest.on_b, out.points[0].on_b);
      out.points[0].gap = axis.gap;
      out.points[0].feature = edges_feature;
      return;
    }
    for (Side& side : sides) side.n *= axis.scale;
  }

  const Side &own = sides[reference], &other = sides[1 - reference];
  FacePoints points(own, other, face, margin);
  const int i = after[face], j = after[i];
  std::array<Four, 2> deepest{all(0), all(0)};  // on A and on B, in A's frame
  bool with_deepest = points.least_gap() > axis.gap + rounding;
  if (with_deepest) {
    // The deepest point, in the same view as the others.
    bool sure = axis.gap <= 0;
    if (axis.face_of == edges) {
      const NearestOnEdges nearest(sides, axis.i, axis.j);
      deepest = {nearest.on_a, nearest.on_b};
      sure |= nearest.cross(axis.gap, rounding);
    } else if (reference == 1) {
      deepest[0] = with_sign_of(sides[0].size, sides[0].n);
      deepest[1] = deepest[0] + axis.gap * sides[0].n;
    } else {
      deepest[1] = sides[0].to_other + sides[1].others * with_sign_of(sides[1].size, sides[1].n);
      deepest[0] = deepest[1] - axis.gap * sides[0].n;
    }
    if (!sure) return collide_corners(box_a, X_WA, box_b, X_WB, margin, memory, list, found);
    const Four p = reference == 1 ? sides[0].others * (deepest[1] - sides[0].to_other) : deepest[0];
    // A corner that reaches beyond the face is not on it; by how much it is deeper there is next to nothing, or edges were
    // chosen.
    const bool on_face =
        axis.face_of == edges || (std::abs(p[i]) <= own.size[i] * (1 + 1e-9) && std::abs(p[j]) <= own.size[j] * (1 + 1e-9));
    with_deepest = on_face || points.count == 0;
    if (with_deepest) points.add_deepest(p[i], p[j], axis.gap);
  }

  Manifold& out = found.emplace_back();
  std::array<int, 4> kept{0, 1, 2, 3};
  out.count = points.count <= 4
                  ? points.count
                  : pick_four(
                        points.count, [&](int c) { return points.x[points.at[c]]; },
                        [&](int c) { return points.y[points.at[c]]; }, [&](int c) { return points.gap[points.at[c]]; }, kept);
  if (points.count > 4) out.lever = lever_of(points);
  store(normal, out.normal);
  const Columns& axes = world[reference];
  const Four base = position[reference] + std::copysign(own.size[face], own.n[face]) * axes.c[face];
  const Four x_axis = axes.c[i], y_axis = axes.c[j], beyond = reference == 1 ? -normal : normal;
  for (int c = 0; c < out.count; ++c) {
    const int place = points.at[kept[c]];
    ContactPoint& point = out.points[c];
    const double gap = points.gap[place];
    const Four here = base + points.x[place] * x_axis + points.y[place] * y_axis, there = here + gap * beyond;
    const std::array<Vec3*, 2> on{&point.on_a, &point.on_b};
    store(here, *on[reference]);
    store(there, *on[1 - reference]);
    point.gap = gap;
    point.feature = points.feature(place);
  }
  if (!with_deepest) return;
  for (int c = 0; c < out.count; ++c)
    if (points.at[kept[c]] == FacePoints::deepest) {
      store(position[0] + world[0] * deepest[0], out.points[c].on_a);
      store(position[0] + world[0] * deepest[1], out.points[c].on_b);
    }
}

}  // namespace
}  // namespace rotule::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rotule {

HWY_EXPORT(collide_boxes_in_lanes);

void collide_boxes(const Convex& a, const Frame& X_WA, const Convex& b, const Frame& X_WB, double margin, PairMemory& memory,
                   CandidateList& list, std::vector<Manifold>& found) {
  HWY_DYNAMIC_DISPATCH(collide_boxes_in_lanes)(a, X_WA, b, X_WB, margin, memory, list, found);
}

}  // namespace rotule
#endif
