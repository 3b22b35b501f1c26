#include "model/icosphere.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace rotule {

Icosphere::Icosphere(int subdivisions) {
  constexpr double golden = std::numbers::phi;
  for (const double s : {-1.0, 1.0})
    for (const double t : {-golden, golden}) {
      points.emplace_back(0, s, t);
      points.emplace_back(s, t, 0);
      points.emplace_back(t, 0, s);
    }
  for (Vec3& p : points) p.normalize();
  // Neighbours are nearest to each other; three of them make a triangle.
  const double length = 2 / std::sqrt(1 + golden * golden);
  const auto edge = [&](std::size_t a, std::size_t b) { return (points[a] - points[b]).norm() < 1.1 * length; };
  for (std::size_t a = 0; a < points.size(); ++a)
    for (std::size_t b = a + 1; b < points.size(); ++b)
      for (std::size_t c = b + 1; c < points.size(); ++c)
        if (edge(a, b) && edge(b, c) && edge(c, a)) {
          const bool outwards = points[a].dot(points[b].cross(points[c])) > 0;
          triangles.push_back({static_cast<int>(a), static_cast<int>(outwards ? b : c), static_cast<int>(outwards ? c : b)});
        }
  for (int n = 0; n < subdivisions; ++n) {
    std::map<std::array<int, 2>, int> middles;
    const auto middle = [&](int a, int b) {
      const auto [at, is_new] = middles.try_emplace({std::min(a, b), std::max(a, b)}, static_cast<int>(points.size()));
      if (is_new) points.push_back((points[static_cast<std::size_t>(a)] + points[static_cast<std::size_t>(b)]).normalized());
      return at->second;
    };
    std::vector<std::array<int, 3>> finer;
    for (const auto& [a, b, c] : triangles) {
      const int ab = middle(a, b), bc = middle(b, c), ca = middle(c, a);
      finer.insert(finer.end(), {{a, ab, ca}, {ab, b, bc}, {ca, bc, c}, {ab, bc, ca}});
    }
    triangles = std::move(finer);
  }
}

}  // namespace rotule
