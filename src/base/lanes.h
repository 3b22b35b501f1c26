#pragma once
// A lane type: four floats that one instruction works on, with the few functions that kernels written for any scalar need. Four
// lanes are there on every x86-64 and ARM processor without asking at run time. Branches in kernels are selections by masks.
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace rotule {

inline double select(bool condition, double yes, double no) { return condition ? yes : no; }
inline float select(bool condition, float yes, float no) { return condition ? yes : no; }
inline double least(double a, double b) { return b < a ? b : a; }
inline float least(float a, float b) { return b < a ? b : a; }
inline double most(double a, double b) { return a < b ? b : a; }
inline float most(float a, float b) { return a < b ? b : a; }
inline double root(double a) { return std::sqrt(a); }
inline float root(float a) { return std::sqrt(a); }
inline double magnitude(double a) { return std::abs(a); }
inline float magnitude(float a) { return std::abs(a); }
inline double angle_of(double y, double x) { return std::atan2(y, x); }
inline double nearest_whole(double a) { return std::nearbyint(a); }

struct FloatLanes {
  using Floats = float __attribute__((vector_size(16)));
  using Bits = std::int32_t __attribute__((vector_size(16)));
  static constexpr int count = 4;
  struct Mask {
    Bits bits;
  };

  Floats v;
  FloatLanes() = default;
  FloatLanes(Floats lanes) : v(lanes) {}                    // NOLINT: a scalar's kernel reads the same
  FloatLanes(float all) : v(Floats{all, all, all, all}) {}  // NOLINT

  friend FloatLanes operator+(const FloatLanes& a, const FloatLanes& b) { return a.v + b.v; }
  friend FloatLanes operator-(const FloatLanes& a, const FloatLanes& b) { return a.v - b.v; }
  friend FloatLanes operator*(const FloatLanes& a, const FloatLanes& b) { return a.v * b.v; }
  friend FloatLanes operator/(const FloatLanes& a, const FloatLanes& b) { return a.v / b.v; }
  friend FloatLanes operator-(const FloatLanes& a) { return -a.v; }
  FloatLanes& operator+=(const FloatLanes& o) { return *this = *this + o; }
  FloatLanes& operator-=(const FloatLanes& o) { return *this = *this - o; }
  FloatLanes& operator*=(const FloatLanes& o) { return *this = *this * o; }
  FloatLanes& operator/=(const FloatLanes& o) { return *this = *this / o; }
  friend Mask operator<(const FloatLanes& a, const FloatLanes& b) { return {a.v < b.v}; }
  friend Mask operator>(const FloatLanes& a, const FloatLanes& b) { return {a.v > b.v}; }
  friend Mask operator<=(const FloatLanes& a, const FloatLanes& b) { return {a.v <= b.v}; }

  /// Bit i tells of lane i.
  friend unsigned bits(const Mask& m) {
#if defined(__SSE2__)
    return unsigned(_mm_movemask_ps(std::bit_cast<__m128>(m.bits)));
#else
    return (m.bits[0] & 1u) | (m.bits[1] & 2u) | (m.bits[2] & 4u) | (m.bits[3] & 8u);
#endif
  }

  friend FloatLanes select(const Mask& m, const FloatLanes& yes, const FloatLanes& no) {
    return std::bit_cast<Floats>((m.bits & std::bit_cast<Bits>(yes.v)) | (~m.bits & std::bit_cast<Bits>(no.v)));
  }
#if defined(__SSE2__)
  friend FloatLanes least(const FloatLanes& a, const FloatLanes& b) { return Floats(_mm_min_ps(b.v, a.v)); }
  friend FloatLanes most(const FloatLanes& a, const FloatLanes& b) { return Floats(_mm_max_ps(b.v, a.v)); }
#else
  friend FloatLanes least(const FloatLanes& a, const FloatLanes& b) { return select(b < a, b, a); }
  friend FloatLanes most(const FloatLanes& a, const FloatLanes& b) { return select(a < b, b, a); }
#endif
  friend FloatLanes magnitude(const FloatLanes& a) { return std::bit_cast<Floats>(std::bit_cast<Bits>(a.v) & 0x7fffffff); }
#if defined(__SSE2__)
  friend FloatLanes root(const FloatLanes& a) { return Floats(_mm_sqrt_ps(a.v)); }
#else
  friend FloatLanes root(const FloatLanes& a) {
    return Floats{std::sqrt(a.v[0]), std::sqrt(a.v[1]), std::sqrt(a.v[2]), std::sqrt(a.v[3])};
  }
#endif
  friend FloatLanes sqrt(const FloatLanes& a) { return root(a); }  // what Eigen calls it
  friend FloatLanes angle_of(const FloatLanes& y, const FloatLanes& x) {
    FloatLanes out;
    for (int i = 0; i < count; ++i) out.v[i] = std::atan2(y.v[i], x.v[i]);
    return out;
  }
  friend FloatLanes nearest_whole(const FloatLanes& a) {
    FloatLanes out;
    for (int i = 0; i < count; ++i) out.v[i] = std::nearbyint(a.v[i]);
    return out;
  }
};

/// The scalar that a lane is made of, and how many: `load` and `store` go from and to arrays of it.
template <class L>
struct LaneTraits {
  using Scalar = L;
  static constexpr int count = 1;
  static L load(const L* from) { return *from; }
  static void store(const L& lane, L* to) { *to = lane; }
};
template <>
struct LaneTraits<FloatLanes> {
  using Scalar = float;
  static constexpr int count = FloatLanes::count;
  static FloatLanes load(const float* from) { return FloatLanes::Floats{from[0], from[1], from[2], from[3]}; }
  static void store(const FloatLanes& lane, float* to) {
    for (int i = 0; i < count; ++i) to[i] = lane.v[i];
  }
};

}  // namespace rotule
