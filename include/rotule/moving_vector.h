#pragma once
// Vectors of numbers that know how they change (moving_number.h), component by component.
#include <rotule/moving_number.h>

namespace rotule {

/// Three of them as a vector.
struct MovingVec3 {
  std::array<Moving, 3> e;

  MovingVec3() = default;
  MovingVec3(const Moving& x, const Moving& y, const Moving& z) : e{x, y, z} {}
  MovingVec3(const Vec3& v) : e{v.x(), v.y(), v.z()} {}  // NOLINT: those that do not change are vectors too

  [[nodiscard]] const Moving& x() const { return e[0]; }
  [[nodiscard]] const Moving& y() const { return e[1]; }
  [[nodiscard]] const Moving& z() const { return e[2]; }
  [[nodiscard]] Moving dot(const MovingVec3& o) const {
    return Moving::sum_of_products<3>({&e[0], &e[1], &e[2]}, {&o.e[0], &o.e[1], &o.e[2]});
  }
  [[nodiscard]] Moving dot(const Vec3& o) const { return e[0] * o.x() + e[1] * o.y() + e[2] * o.z(); }
  [[nodiscard]] MovingVec3 cross(const MovingVec3& o) const {
    return made([&](std::size_t k) {
      const std::size_t i = (k + 1) % 3, j = (k + 2) % 3;
      return Moving::difference_of_products(e[i], o.e[j], e[j], o.e[i]);
    });
  }
  [[nodiscard]] Moving squared_norm() const { return Moving::sum_of_squares(e); }
  [[nodiscard]] Moving norm() const { return Moving::length(e); }
  [[nodiscard]] Vec3 value() const { return {e[0].value, e[1].value, e[2].value}; }

  friend MovingVec3 operator+(const MovingVec3& a, const MovingVec3& b) {
    return made([&](std::size_t k) { return a.e[k] + b.e[k]; });
  }
  friend MovingVec3 operator-(const MovingVec3& a, const MovingVec3& b) {
    return made([&](std::size_t k) { return a.e[k] - b.e[k]; });
  }
  friend MovingVec3 operator-(const MovingVec3& a) {
    return made([&](std::size_t k) { return -a.e[k]; });
  }
  friend MovingVec3 operator*(const Moving& s, const MovingVec3& a) {
    return made([&](std::size_t k) { return s * a.e[k]; });
  }
  friend MovingVec3 operator*(double s, const MovingVec3& a) {
    return made([&](std::size_t k) { return s * a.e[k]; });
  }

 private:
  /// Each component where it is to stand: nothing is copied.
  template <class Component>
  static MovingVec3 made(Component&& component) {
    return MovingVec3(Made{}, component);
  }
  struct Made {};
  template <class Component>
  MovingVec3(Made, Component&& component) : e{component(0), component(1), component(2)} {}
};

}  // namespace rotule
