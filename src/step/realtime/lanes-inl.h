// Vectors of lanes and the transposes that fetch bodies into them, once per kind of processor (Highway includes this repeatedly).
// No fused operations: those without them would get other bits.
#if defined(ROTULE_REALTIME_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)  // NOLINT: as Highway wants it
#ifdef ROTULE_REALTIME_LANES_INL_H
#undef ROTULE_REALTIME_LANES_INL_H
#else
#define ROTULE_REALTIME_LANES_INL_H
#endif

#include <hwy/highway.h>

#include "step/realtime/body_lines.h"

HWY_BEFORE_NAMESPACE();
namespace rotule::realtime::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, row_lanes>;
using WholeTag = hn::RebindToSigned<Tag>;
using Lanes = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;
inline constexpr int width = static_cast<int>(hn::MaxLanes(Tag()));

HWY_INLINE Lanes all(float x) { return hn::Set(Tag(), x); }
HWY_INLINE Lanes none() { return hn::Zero(Tag()); }
HWY_INLINE Lanes load(const Row& row, int first) { return hn::Load(Tag(), row.lane + first); }
HWY_INLINE void store(Lanes x, Row& row, int first) { hn::Store(x, Tag(), row.lane + first); }
HWY_INLINE Lanes largest(Lanes a, Lanes b) { return hn::Max(a, b); }
HWY_INLINE Lanes least(Lanes a, Lanes b) { return hn::Min(a, b); }
HWY_INLINE Lanes root(Lanes a) { return hn::Sqrt(a); }
HWY_INLINE Lanes choose(Mask m, Lanes yes, Lanes no) { return hn::IfThenElse(m, yes, no); }

struct Vector {
  Lanes x, y, z;
};
HWY_INLINE Vector load(const Rows3& rows, int first) { return {load(rows.x, first), load(rows.y, first), load(rows.z, first)}; }
HWY_INLINE void store(const Vector& v, Rows3& rows, int first) {
  store(v.x, rows.x, first);
  store(v.y, rows.y, first);
  store(v.z, rows.z, first);
}
HWY_INLINE Vector operator+(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
HWY_INLINE Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
HWY_INLINE Vector operator*(const Vector& a, Lanes s) { return {a.x * s, a.y * s, a.z * s}; }
HWY_INLINE Lanes dot(const Vector& a, const Vector& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
HWY_INLINE Vector cross(const Vector& a, const Vector& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
HWY_INLINE Vector times(const Vector& a, const Vector& b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }

/// xx xy xz yy yz zz.
struct Symmetric {
  Lanes at[6];
};
HWY_INLINE Vector operator*(const Symmetric& s, const Vector& v) {
  return {s.at[0] * v.x + s.at[1] * v.y + s.at[2] * v.z, s.at[1] * v.x + s.at[3] * v.y + s.at[4] * v.z,
          s.at[2] * v.x + s.at[4] * v.y + s.at[5] * v.z};
}

struct Rotation {  // as a unit quaternion
  Vector v;
  Lanes w;
};
HWY_INLINE Vector turned(const Rotation& q, const Vector& x) {
  const Vector c = cross(q.v, x), t = c + c;
  return x + t * q.w + cross(q.v, t);
}
HWY_INLINE Vector turned_back(const Rotation& q, const Vector& x) {
  const Vector c = cross(x, q.v), t = c + c;
  return x + t * q.w + cross(t, q.v);
}
/// The turn from q0 to q.
HWY_INLINE Rotation turn_since(const Rotation& q, const Rotation& q0) {
  return {q.v * q0.w - q0.v * q.w - cross(q.v, q0.v), q.w * q0.w + dot(q.v, q0.v)};
}

/// Rows of a rotation matrix.
struct Matrix {
  Vector r0, r1, r2;
};
HWY_INLINE Matrix matrix_of(const Rotation& q) {
  const Lanes x2 = q.v.x + q.v.x, y2 = q.v.y + q.v.y, z2 = q.v.z + q.v.z, one = all(1);
  const Lanes xx = q.v.x * x2, yy = q.v.y * y2, zz = q.v.z * z2, xy = q.v.x * y2, xz = q.v.x * z2, yz = q.v.y * z2;
  const Lanes wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
  return {{one - yy - zz, xy - wz, xz + wy}, {xy + wz, one - xx - zz, yz - wx}, {xz - wy, yz + wx, one - xx - yy}};
}
HWY_INLINE Vector operator*(const Matrix& m, const Vector& v) { return {dot(m.r0, v), dot(m.r1, v), dot(m.r2, v)}; }
HWY_INLINE Vector transposed_times(const Matrix& m, const Vector& v) { return m.r0 * v.x + m.r1 * v.y + m.r2 * v.z; }

/// Four numbers of one line each: v[k] of lane i is number k of line i.
struct Quad {
  Lanes v[4];
};

HWY_INLINE Quad transposed(const Quad& q) {
#if HWY_TARGET == HWY_SCALAR
  return q;
#else
  const Tag d;
  const hn::RepartitionToWide<hn::RebindToUnsigned<Tag> > wide;
  const auto low_01 = hn::BitCast(wide, hn::InterleaveLower(d, q.v[0], q.v[1])),
             high_01 = hn::BitCast(wide, hn::InterleaveUpper(d, q.v[0], q.v[1])),
             low_23 = hn::BitCast(wide, hn::InterleaveLower(d, q.v[2], q.v[3])),
             high_23 = hn::BitCast(wide, hn::InterleaveUpper(d, q.v[2], q.v[3]));
  return {{hn::BitCast(d, hn::InterleaveLower(wide, low_01, low_23)), hn::BitCast(d, hn::InterleaveUpper(wide, low_01, low_23)),
           hn::BitCast(d, hn::InterleaveLower(wide, high_01, high_23)),
           hn::BitCast(d, hn::InterleaveUpper(wide, high_01, high_23))}};
#endif
}

/// `at(i)`: where the four floats of lane i stand, on a boundary of 16 bytes.
template <class At>
HWY_INLINE Quad fetch(const At& at) {
#if HWY_TARGET == HWY_SCALAR
  const float* from = at(0);
  return {{all(from[0]), all(from[1]), all(from[2]), all(from[3])}};
#else
  Quad q;
  const hn::FixedTag<float, 4> four;
  for (int k = 0; k < 4; ++k) {
#if HWY_MAX_BYTES == 16
    q.v[k] = hn::Load(four, at(k));
#elif HWY_MAX_BYTES == 32
    q.v[k] = hn::Combine(Tag(), hn::Load(four, at(k + 4)), hn::Load(four, at(k)));
#else
    const hn::FixedTag<float, 8> eight;
    q.v[k] = hn::Combine(Tag(), hn::Combine(eight, hn::Load(four, at(k + 12)), hn::Load(four, at(k + 8))),
                         hn::Combine(eight, hn::Load(four, at(k + 4)), hn::Load(four, at(k))));
#endif
  }
  return transposed(q);
#endif
}

template <class At>
HWY_INLINE void put_back(const Quad& values, const At& at) {
#if HWY_TARGET == HWY_SCALAR
  float* to = at(0);
  for (int k = 0; k < 4; ++k) to[k] = hn::GetLane(values.v[k]);
#else
  const Quad q = transposed(values);
  const hn::FixedTag<float, 4> four;
  for (int k = 0; k < 4; ++k) {
#if HWY_MAX_BYTES == 16
    hn::Store(q.v[k], four, at(k));
#elif HWY_MAX_BYTES == 32
    hn::Store(hn::LowerHalf(four, q.v[k]), four, at(k));
    hn::Store(hn::UpperHalf(four, q.v[k]), four, at(k + 4));
#else
    const hn::FixedTag<float, 8> eight;
    const auto low = hn::LowerHalf(eight, q.v[k]), high = hn::UpperHalf(eight, q.v[k]);
    hn::Store(hn::LowerHalf(four, low), four, at(k));
    hn::Store(hn::UpperHalf(four, low), four, at(k + 4));
    hn::Store(hn::LowerHalf(four, high), four, at(k + 8));
    hn::Store(hn::UpperHalf(four, high), four, at(k + 12));
#endif
  }
#endif
}

/// Bit i tells of lane i.
HWY_INLINE unsigned bits_of(Mask m) {
  alignas(8) unsigned char bytes[8] = {};
  hn::StoreMaskBits(Tag(), m, bytes);
  return bytes[0] | (width > 8 ? unsigned(bytes[1]) << 8 : 0u);
}

}  // namespace
}  // namespace rotule::realtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
