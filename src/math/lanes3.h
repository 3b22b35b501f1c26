#pragma once
// Vectors and matrices of three in four lanes of double, for kernels that do little else: one instruction where there would be
// three. What the fourth lane holds is nobody's business. Compilers spread lanes over as many registers as the processor has
// width for, and results are the same bits on all of them.
#include <rotule/types.h>

// Nothing here is called: it is part of who uses it, and how it would be handed over is no concern.
#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wpsabi"
#endif

#define ROTULE_LANES3_INLINE [[gnu::always_inline]] inline

// A function compiled once more for wide registers, chosen when the program starts. Sanitizers come too late for that choice.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ROTULE_WIDE [[gnu::target_clones("avx2", "default")]]
#else
#define ROTULE_WIDE
#endif

namespace rotule {

using Lanes3 = double __attribute__((vector_size(32)));

ROTULE_LANES3_INLINE Lanes3 lanes3(const Vec3& v) { return Lanes3{v[0], v[1], v[2], 0}; }
ROTULE_LANES3_INLINE Lanes3 all_lanes(double x) { return Lanes3{x, x, x, x}; }
/// Three numbers that lie in memory.
ROTULE_LANES3_INLINE Lanes3 triple(const double* from) { return Lanes3{from[0], from[1], from[2], 0}; }
ROTULE_LANES3_INLINE Vec3 vec3(const Lanes3& v) { return {v[0], v[1], v[2]}; }

/// y, z, x in the place of x, y, z.
ROTULE_LANES3_INLINE Lanes3 yzx(const Lanes3& v) {
#if defined(__clang__)
  return __builtin_shufflevector(v, v, 1, 2, 0, 3);
#else
  using Places = long long __attribute__((vector_size(32)));
  return __builtin_shuffle(v, Places{1, 2, 0, 3});
#endif
}
ROTULE_LANES3_INLINE double dot3(const Lanes3& a, const Lanes3& b) {
  const Lanes3 c = a * b;
  return c[0] + c[1] + c[2];
}
ROTULE_LANES3_INLINE Lanes3 cross3(const Lanes3& a, const Lanes3& b) { return yzx(a * yzx(b) - yzx(a) * b); }

/// By columns. Structs that hold lanes say their alignment: without wide registers compilers would take half of it.
struct alignas(32) Matrix3Lanes {
  Lanes3 x = {}, y = {}, z = {};

  ROTULE_LANES3_INLINE Matrix3Lanes& operator+=(const Matrix3Lanes& o) {
    x += o.x;
    y += o.y;
    z += o.z;
    return *this;
  }
  ROTULE_LANES3_INLINE Matrix3Lanes& operator-=(const Matrix3Lanes& o) {
    x -= o.x;
    y -= o.y;
    z -= o.z;
    return *this;
  }
};

ROTULE_LANES3_INLINE Matrix3Lanes lanes3(const Mat3& m) {
  return {Lanes3{m(0, 0), m(1, 0), m(2, 0), 0}, Lanes3{m(0, 1), m(1, 1), m(2, 1), 0}, Lanes3{m(0, 2), m(1, 2), m(2, 2), 0}};
}
ROTULE_LANES3_INLINE Mat3 mat3(const Matrix3Lanes& m) {
  Mat3 out;
  out << m.x[0], m.y[0], m.z[0], m.x[1], m.y[1], m.z[1], m.x[2], m.y[2], m.z[2];
  return out;
}
ROTULE_LANES3_INLINE Lanes3 operator*(const Matrix3Lanes& m, const Lanes3& v) {
  return m.x * all_lanes(v[0]) + m.y * all_lanes(v[1]) + m.z * all_lanes(v[2]);
}
ROTULE_LANES3_INLINE Matrix3Lanes operator*(const Matrix3Lanes& a, const Matrix3Lanes& b) { return {a * b.x, a * b.y, a * b.z}; }
ROTULE_LANES3_INLINE Matrix3Lanes operator-(const Matrix3Lanes& m) { return {-m.x, -m.y, -m.z}; }
/// By numbers that lie in memory, which need not be taken apart first.
ROTULE_LANES3_INLINE Lanes3 times(const Matrix3Lanes& m, const double* v) {
  return m.x * all_lanes(v[0]) + m.y * all_lanes(v[1]) + m.z * all_lanes(v[2]);
}
ROTULE_LANES3_INLINE Lanes3 times(const Matrix3Lanes& m, const Vec3& v) { return times(m, v.data()); }
ROTULE_LANES3_INLINE Matrix3Lanes times(const Matrix3Lanes& a, const Mat3& b) {
  return {times(a, b.data()), times(a, b.data() + 3), times(a, b.data() + 6)};
}
ROTULE_LANES3_INLINE Lanes3 times(const Mat3& m, const Lanes3& v) { return lanes3(m) * v; }
ROTULE_LANES3_INLINE Matrix3Lanes transposed(const Matrix3Lanes& m) {
  return {Lanes3{m.x[0], m.y[0], m.z[0], 0}, Lanes3{m.x[1], m.y[1], m.z[1], 0}, Lanes3{m.x[2], m.y[2], m.z[2], 0}};
}
/// m^T v.
ROTULE_LANES3_INLINE Lanes3 transposed_times(const Matrix3Lanes& m, const Lanes3& v) { return transposed(m) * v; }
/// a b^T.
ROTULE_LANES3_INLINE Matrix3Lanes outer(const Lanes3& a, const Lanes3& b) {
  return {a * all_lanes(b[0]), a * all_lanes(b[1]), a * all_lanes(b[2])};
}
/// [r] m, and m [r], where [r] v = r x v.
ROTULE_LANES3_INLINE Matrix3Lanes cross3(const Lanes3& r, const Matrix3Lanes& m) {
  return {cross3(r, m.x), cross3(r, m.y), cross3(r, m.z)};
}
ROTULE_LANES3_INLINE Matrix3Lanes cross3(const Matrix3Lanes& m, const Lanes3& r) {
  const Lanes3 x = all_lanes(r[0]), y = all_lanes(r[1]), z = all_lanes(r[2]);
  return {m.y * z - m.z * y, m.z * x - m.x * z, m.x * y - m.y * x};
}
ROTULE_LANES3_INLINE void add_diagonal(Matrix3Lanes& m, double by) {
  m.x += Lanes3{by, 0, 0, 0};
  m.y += Lanes3{0, by, 0, 0};
  m.z += Lanes3{0, 0, by, 0};
}

}  // namespace rotule
