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
};

}  // namespace rotule
