#pragma once
// What random scenes are drawn from, and how many of them: ROTULE_CASES multiplies the counts.
#include <rotule/scene.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>

namespace rotule::testing {

inline int cases(int count) {
  const char* factor = std::getenv("ROTULE_CASES");
  return factor ? count * std::max(1, std::atoi(factor)) : count;
}

/// Everything that a random scene draws from.
struct Dice {
  explicit Dice(int seed) : engine(static_cast<unsigned>(seed)) {}
  double in(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  int below(int count) { return std::uniform_int_distribution<int>(0, count - 1)(engine); }
  Vec3 vector(double most) { return {in(-most, most), in(-most, most), in(-most, most)}; }
  Vec3 direction() {
    for (;;)
      if (const Vec3 d = vector(1); d.norm() < 1 && d.norm() > 0.1) return d.normalized();
  }
  Quat orientation() { return Quat(Eigen::AngleAxisd(in(0, 2 * std::numbers::pi), direction())); }
  Shape shape(double size) {
    switch (below(4)) {
      case 0:
        return Sphere{size};
      case 1:
        return Box{Vec3(2 * size, 1.4 * size, size)};
      case 2:
        return Capsule{0.5 * size, 1.5 * size};
      default:
        return Cylinder{0.7 * size, 1.5 * size};
    }
  }
  std::mt19937 engine;
};

}  // namespace rotule::testing
