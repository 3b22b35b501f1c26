#include "model/surface_volume.h"

#include <fmt/format.h>
#include <rotule/error.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace rotule {

void close_surface(std::vector<std::array<int, 3>>& triangles, const Particles& particles, const std::string& place) {
  std::map<std::array<int, 2>, std::vector<std::size_t>> sides;
  for (std::size_t n = 0; n < triangles.size(); ++n)
    for (std::size_t k = 0; k < 3; ++k) {
      const int a = triangles[n][k], b = triangles[n][(k + 1) % 3];
      sides[{std::min(a, b), std::max(a, b)}].push_back(n);
    }
  for (const auto& [edge, meeting] : sides)
    if (meeting.size() != 2)
      throw Error(place,
                  fmt::format("the surface is not closed: {} of its triangles meet between {} and {}, where there must be two",
                              meeting.size(), in_quotes(particles.name(edge[0])), in_quotes(particles.name(edge[1]))));
  const auto goes = [&](std::size_t n, int a, int b) {
    for (std::size_t k = 0; k < 3; ++k)
      if (triangles[n][k] == a && triangles[n][(k + 1) % 3] == b) return true;
    return false;
  };
  std::vector<char> seen(triangles.size(), 0);
  std::vector<std::size_t> next;
  const auto turned_inside_out = [&] {
    throw Error(place, "the surface has one side only, so that there is no inside; mend the mesh");
  };
  for (std::size_t first = 0; first < triangles.size(); ++first) {
    if (seen[first]) continue;
    if (first > 0) throw Error(place, "the surface has several pieces; give each a group of its own");
    seen[first] = 1;
    next.assign(1, first);
    while (!next.empty()) {
      const std::size_t n = next.back();
      next.pop_back();
      for (std::size_t k = 0; k < 3; ++k) {
        const int a = triangles[n][k], b = triangles[n][(k + 1) % 3];
        const std::vector<std::size_t>& meeting = sides.at({std::min(a, b), std::max(a, b)});
        const std::size_t other = meeting[0] == n ? meeting[1] : meeting[0];
        const bool same = goes(other, b, a);
        if (seen[other]) {
          if (!same) turned_inside_out();
          continue;
        }
        if (!same) std::swap(triangles[other][1], triangles[other][2]);
        seen[other] = 1;
        next.push_back(other);
      }
    }
  }
}

double enclosed_volume(std::span<const std::array<int, 3>> triangles, const State& s) {
  if (triangles.empty()) return 0;
  const Vec3 origin = s.particle_position(triangles[0][0]);
  double sum = 0;
  for (const auto& [a, b, c] : triangles)
    sum += (s.particle_position(a) - origin).dot((s.particle_position(b) - origin).cross(Vec3(s.particle_position(c) - origin)));
  return sum / 6;
}

}  // namespace rotule
