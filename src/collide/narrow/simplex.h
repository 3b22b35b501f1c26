#pragma once
// The point of a simplex of one to four points nearest to the origin, and the smallest face that holds it: the signed volumes of
// the origin with each face decide which faces to look at (M. Montanari, N. Petrinic, E. Barbieri, "Improving the GJK algorithm
// for faster and more reliable distance queries between convex objects", ACM TOG 2017). Every face on whose outside the origin
// may lie is tried and the nearest wins, so that a simplex without volume is answered too, up to rounding.
#include <rotule/types.h>

#include <array>

namespace rotule {

/// Points w = a - b of the difference of two convex sets, with where they come from.
struct Simplex {
  int count = 0;
  std::array<Vec3, 4> w, a, b;
  std::array<double, 4> weight{};  // of the nearest point

  void add(const Vec3& on_a, const Vec3& on_b) {
    a[count] = on_a;
    b[count] = on_b;
    w[count++] = on_a - on_b;
  }
  [[nodiscard]] bool has(const Vec3& point) const {
    for (int i = 0; i < count; ++i)
      if (w[i] == point) return true;
    return false;
  }
  [[nodiscard]] Vec3 on_a() const { return mix(a); }
  [[nodiscard]] Vec3 on_b() const { return mix(b); }

 private:
  [[nodiscard]] Vec3 mix(const std::array<Vec3, 4>& x) const {
    Vec3 sum = Vec3::Zero();
    for (int i = 0; i < count; ++i) sum += weight[i] * x[i];
    return sum;
  }
};

/// A face of a simplex by the places of its points, and the point of it nearest to the origin. Four points where the origin is
/// inside.
struct NearestFace {
  int count = 0;
  std::array<int, 4> index{};
  std::array<double, 4> weight{};
  Vec3 point = Vec3::Zero();
  double square = infinity;  // of its distance
};

NearestFace nearest_face(const Simplex& simplex);

/// Leaves only that face's points, with their weights.
void keep(const NearestFace& face, Simplex& simplex);

/// Both; returns the nearest point.
inline Vec3 reduce_to_nearest(Simplex& simplex) {
  const NearestFace face = nearest_face(simplex);
  keep(face, simplex);
  return face.point;
}

}  // namespace rotule
